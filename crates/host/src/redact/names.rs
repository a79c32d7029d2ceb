//! Values that are known by what stands before them, and files that are known by their name.

use super::shapes::is_word_byte;
use super::{Kind, Match};

/// Words before `=` or `:` whose value is redacted whatever it looks like, in lower case.
///
/// `uuid` is there because a FAT volume's is two groups of four; `sequence code` and `identification` are
/// the serial numbers of /proc/sysinfo and /proc/cpuinfo on s390, `netroot` holds a password at times.
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

/// What the answer to a question consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Some text.
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
