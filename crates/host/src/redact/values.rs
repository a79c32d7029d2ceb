//! Values to redact: known by a name before them, by the name of their file, or by their shape alone.

use super::{Kind, Match};
use std::net::Ipv6Addr;

/// Words before `=` or `:` whose value is always redacted, in lower case.
///
/// `uuid`: that of a FAT volume has only two groups of four digits; `sequence code` and `identification` are
/// the serial numbers of /proc/sysinfo and /proc/cpuinfo on s390, `netroot` may contain a password.
const NAMES: [(&str, Kind); 17] = [
    ("hostname", Kind::Host),
    ("identification", Kind::Serial),
    ("initiator", Kind::Serial),
    ("netroot", Kind::Secret),
    ("nfs", Kind::Server),
    ("nfs4", Kind::Server),
    ("nfsroot", Kind::Server),
    ("partuuid", Kind::Uuid),
    ("passwd", Kind::Secret),
    ("password", Kind::Secret),
    ("password_in", Kind::Secret),
    ("sequence code", Kind::Serial),
    ("serial", Kind::Serial),
    ("serial number", Kind::Serial),
    ("set_credential", Kind::Secret),
    ("token", Kind::Secret),
    ("uuid", Kind::Uuid),
];

/// Folders of links that are named after what they lead to.
const FOLDERS: [(&str, Kind); 3] =
    [("by-id/", Kind::Serial), ("by-partuuid/", Kind::Uuid), ("by-uuid/", Kind::Uuid)];

/// What a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text,
    /// A version, of which four numbers are no address.
    Version,
    /// One value that has to go.
    Whole(Kind),
}

impl Content {
    /// What the file at `path` holds, by its name.
    pub(super) fn of(path: &str) -> Content {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name {
            "hostname" | "nodename" | "domainname" | "node_desc" => Content::Whole(Kind::Host),
            "node_guid" | "sys_image_guid" | "port_guid" => Content::Whole(Kind::Guid),
            "boot_id" | "machine-id" | "uuid" | "product_uuid" => Content::Whole(Kind::Uuid),
            "wwid" | "wwn" | "eui" | "nguid" | "unique_id" | "serial_number" => {
                Content::Whole(Kind::Serial)
            }
            _ if name.ends_with("_serial") || name.ends_with("asset_tag") || name == "serial" => {
                Content::Whole(Kind::Serial)
            }
            _ if ["version", "release", "fw_ver"].iter().any(|it| name.contains(it)) => {
                Content::Version
            }
            _ => Content::Text,
        }
    }
}

/// The value whose name starts at `at`, where a word starts.
pub(super) fn named_value(text: &[u8], at: usize) -> Option<Match> {
    let rest = &text[at..];
    let starts_with = |name: &str| {
        rest.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()))
    };
    if let Some((folder, kind)) = FOLDERS.iter().find(|(folder, _)| starts_with(folder)) {
        return value(text, at + folder.len(), *kind);
    }
    NAMES.iter().filter(|(name, _)| starts_with(name)).find_map(|(name, kind)| {
        let mut behind = at + name.len();
        let skip_blanks = |from: usize| {
            from + text[from..].iter().take_while(|it| matches!(it, b' ' | b'\t')).count()
        };
        behind = skip_blanks(behind);
        if !matches!(text.get(behind), Some(b'=' | b':')) {
            return None;
        }
        value(text, skip_blanks(behind + 1), *kind)
    })
}

fn value(text: &[u8], start: usize, kind: Kind) -> Option<Match> {
    let ends = |it: &u8| it.is_ascii_whitespace() || matches!(it, b',' | b';' | b'"' | b'/' | 0);
    let length = text.get(start..)?.iter().take_while(|it| !ends(it)).count();
    let value = text.get(start..start + length)?;
    // A mark is what an earlier redaction left.
    let is_value = value.iter().any(|it| is_word_byte(*it)) && !value.starts_with(b"<");
    is_value.then_some((kind, start..start + length))
}

/// An IPv6 address with an IPv4 tail: INET6_ADDRSTRLEN of include/linux/inet.h less its NUL byte.
const LONGEST_IPV6: usize = 45;

/// Container and machine identifiers have 32 digits or more; register values have at most 16.
const SHORTEST_ID: usize = 32;

/// Interfaces named after their address (systemd.net-naming-scheme): Ethernet, WLAN, WWAN.
const NAMED_AFTER_MAC: [&[u8]; 3] = [b"enx", b"wlx", b"wwx"];

/// Letters and digits, which must not stand next to a value.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// The value that starts at `at`, found by its shape alone; `is_start` says that a word starts there.
pub(super) fn shape(text: &[u8], at: usize, is_start: bool) -> Option<Match> {
    let rest = &text[at..];
    let found = |kind, length| Some((kind, at..at + length));
    // A UUID may touch the word before it: pod12345678-....
    if let Some(length) = uuid(rest) {
        return found(Kind::Uuid, length);
    }
    let is_first_digit = at == 0 || !text[at - 1].is_ascii_hexdigit();
    if is_first_digit && let Some(length) = identifier(rest) {
        return found(Kind::Id, length);
    }
    if !is_start {
        return None;
    }
    if let Some(length) = mac_in_name(rest) {
        return Some((Kind::Mac, at + length - 12..at + length));
    }
    if let Some((kind, length)) = address(rest) {
        return found(kind, length);
    }
    if let Some(length) = ipv6(rest) {
        return found(Kind::Ip, length);
    }
    if is_behind_version(&text[..at]) {
        return None;
    }
    ipv4(rest).and_then(|length| found(Kind::Ip, length))
}

fn n_hex(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|it| it.is_ascii_hexdigit()).count()
}

fn ends_word(rest: &[u8], length: usize) -> bool {
    rest.get(length).is_none_or(|it| !is_word_byte(*it))
}

/// 8-4-4-4-12 digits. systemd writes `_` for `-` in the names of slices. One of zeros alone names no machine: it is that of
/// Xen's control domain.
fn uuid(rest: &[u8]) -> Option<usize> {
    let separator = *rest.get(8).filter(|it| matches!(it, b'-' | b'_'))?;
    let mut at = 0;
    for (digits, is_last) in [(8, false), (4, false), (4, false), (4, false), (12, true)] {
        let group = rest.get(at..at + digits)?;
        if n_hex(group) < digits {
            return None;
        }
        at += digits;
        if !is_last {
            if *rest.get(at)? != separator {
                return None;
            }
            at += 1;
        }
    }
    let is_zero = rest[..at].iter().all(|it| matches!(it, b'0' | b'-' | b'_'));
    (!is_zero).then_some(at)
}

/// A long run of hexadecimal digits, some of them letters.
fn identifier(rest: &[u8]) -> Option<usize> {
    let length = n_hex(rest);
    let run = &rest[..length];
    let has = |kind: fn(&u8) -> bool| run.iter().any(kind);
    (length >= SHORTEST_ID && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic))
        .then_some(length)
}

fn mac_in_name(rest: &[u8]) -> Option<usize> {
    let prefix = NAMED_AFTER_MAC.iter().find(|it| rest.starts_with(it))?;
    let length = prefix.len() + 12;
    (n_hex(&rest[prefix.len()..]) == 12 && ends_word(rest, length)).then_some(length)
}

/// Groups of hexadecimal digits: Ethernet and InfiniBand hardware addresses (six to twenty pairs), GUIDs
/// (four groups of four), GIDs (eight of them), identifiers of md arrays (four of eight).
fn address(rest: &[u8]) -> Option<(Kind, usize)> {
    for separator in *b":-" {
        let (n_groups, length) = groups(rest, 2, separator);
        if n_groups >= 6 {
            return Some((Kind::Mac, length));
        }
    }
    for (digits, n_wanted, kind) in [(4, 4, Kind::Guid), (4, 8, Kind::Guid), (8, 4, Kind::Uuid)] {
        let (n_groups, length) = groups(rest, digits, b':');
        if n_groups == n_wanted {
            return Some((kind, length));
        }
    }
    None
}

/// How many groups of exactly so many digits there are, and the length of them all.
fn groups(rest: &[u8], digits: usize, separator: u8) -> (usize, usize) {
    let (mut n_groups, mut at) = (0, 0);
    loop {
        if n_hex(rest.get(at..).unwrap_or_default()) != digits || !ends_word(rest, at + digits) {
            break;
        }
        n_groups += 1;
        at += digits;
        if rest.get(at) != Some(&separator) {
            return (n_groups, at);
        }
        at += 1;
    }
    (n_groups, at.saturating_sub(1))
}

/// The longest IPv6 address; `::` alone is a separator in too many texts.
fn ipv6(rest: &[u8]) -> Option<usize> {
    let is_part = |it: &&u8| it.is_ascii_hexdigit() || matches!(it, b':' | b'.');
    let length = rest.iter().take(LONGEST_IPV6).take_while(is_part).count();
    let run = std::str::from_utf8(&rest[..length]).ok()?;
    if !run.contains("::") && run.matches(':').count() < 7 {
        return None;
    }
    let is_address = |length: &usize| {
        let address = run.get(..*length).and_then(|it| it.parse::<Ipv6Addr>().ok());
        ends_word(rest, *length) && address.is_some_and(|it| !it.is_unspecified())
    };
    (3..=length).rev().find(is_address)
}

/// Whether what follows goes on with a version: 5.3.18-24.67.2.1, 1.2.3.4.5.
fn is_behind_version(before: &[u8]) -> bool {
    match before.split_last() {
        Some((b'.', head)) => head.last().is_some_and(|it| is_word_byte(*it)),
        Some((b'-', head)) => {
            let is_part = |it: &&u8| it.is_ascii_digit() || **it == b'.';
            let n_bytes = head.iter().rev().take_while(is_part).count();
            let version = &head[head.len() - n_bytes..];
            // A range of addresses is no version.
            version.contains(&b'.') && ipv4(version) != Some(version.len())
        }
        _ => false,
    }
}

fn ipv4(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        if part > 0 {
            if rest.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let n_digits = rest.get(at..)?.iter().take_while(|it| it.is_ascii_digit()).count();
        let digits = std::str::from_utf8(rest.get(at..at + n_digits)?).ok()?;
        if n_digits > 3 || !digits.parse::<u16>().is_ok_and(|it| it <= 255) {
            return None;
        }
        at += n_digits;
    }
    let goes_on = rest.get(at) == Some(&b'.') && !ends_word(rest, at + 1);
    (ends_word(rest, at) && !goes_on).then_some(at)
}
