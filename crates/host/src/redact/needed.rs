//! Which part of a file a capture keeps, and how the file is split before its values are redacted.

use crate::readers::{is_log, kernel_config_text};
use facts::log;
use facts::system::cgroup;
use facts::system::distribution::Distribution;
use facts::system::kernel_config::KernelConfig;
use std::borrow::Cow;

/// The mounts that are kept. Others name file servers and users.
const MOUNTS: [&[u8]; 4] = [b"cgroup ", b"cgroup2 ", b"proc ", b"sysfs "];

/// Replaces a list without any of these mounts.
const OTHER_MOUNTS: &[u8] = b"(other mounts)\n";

/// Fields of /proc/PID/stat that are addresses in a process's memory, which root sees and an attacker would
/// like to (proc_pid_stat(5)): code, stack and wait channel; data, heap, arguments and environment.
const ADDRESSES: [std::ops::RangeInclusive<usize>; 3] = [26..=30, 35..=35, 45..=51];

/// The part of the file `name` that an audit needs.
pub(super) fn needed<'a>(name: &str, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    match name {
        "/proc/self/mountinfo" => mounts(bytes).into(),
        "/etc/os-release" | "/usr/lib/os-release" => match std::str::from_utf8(bytes) {
            Ok(text) => Distribution::excerpt(text).into_bytes().into(),
            Err(_) => bytes.into(),
        },
        _ if is_kernel_config(name) => match kernel_config_text(bytes) {
            Some(text) => KernelConfig::excerpt(&text).into_bytes().into(),
            None => bytes.into(),
        },
        _ if name.starts_with("/proc/") && name.ends_with("/stat") => without_addresses(bytes),
        _ if is_log(name) => log::excerpt(&String::from_utf8_lossy(bytes)).into_bytes().into(),
        _ => bytes.into(),
    }
}

/// Whether the file is one that the reader of the kernel configuration reads.
fn is_kernel_config(name: &str) -> bool {
    let of_release = || name.strip_prefix("/lib/modules/")?.strip_suffix("/config");
    name == "/proc/config.gz" || name.starts_with("/boot/config-") || of_release().is_some()
}

fn mounts(bytes: &[u8]) -> Vec<u8> {
    let is_needed = |line: &&[u8]| {
        let kind = line.windows(3).position(|it| it == b" - ").map(|at| &line[at + 3..]);
        kind.is_some_and(|kind| MOUNTS.iter().any(|it| kind.starts_with(it)))
    };
    let needed: Vec<u8> =
        bytes.split_inclusive(|it| *it == b'\n').filter(is_needed).flatten().copied().collect();
    // A list without such mounts is another answer than an empty file.
    if needed.is_empty() && !bytes.trim_ascii().is_empty() { OTHER_MOUNTS.into() } else { needed }
}

fn without_addresses(bytes: &[u8]) -> Cow<'_, [u8]> {
    // A name may hold parentheses, so its end is the last one. /proc/stat has none.
    let Some(end) = bytes.windows(2).rposition(|it| it == b") ") else { return bytes.into() };
    let (name, fields) = bytes.split_at(end + 2);
    let fields = fields.split(|it| *it == b' ').zip(3..).map(|(field, number)| {
        let is_address = ADDRESSES.iter().any(|it| it.contains(&number));
        if is_address { b"0" } else { field }
    });
    [name, &fields.collect::<Vec<_>>().join(&b' ')].concat().into()
}

/// Splits the content of the file `name` into parts, each of which is redacted by itself.
///
/// Some lines are divided by characters that a redacted value may contain: an address has colons, and the value after
/// `uuid=` ends at a blank. If the whole text was redacted, the dividers would be removed with the values.
pub(super) fn parts<'a>(name: &str, bytes: &'a [u8]) -> Vec<&'a [u8]> {
    match name.strip_prefix("/proc/").and_then(|it| it.rsplit_once('/')) {
        Some((_, "cgroup")) => bytes.split_inclusive(|it| *it == b'\n').flat_map(groups).collect(),
        Some((_, "stat")) => process(bytes).into(),
        _ => vec![bytes],
    }
}

/// The hierarchy, its controllers and the path of the group, which may have colons of its own.
fn groups(line: &[u8]) -> [&[u8]; 3] {
    let Some((controllers, path)) = std::str::from_utf8(line).ok().and_then(cgroup::fields) else {
        return [line, b"", b""];
    };
    let (before, path) = line.split_at(line.len() - path.len());
    let (hierarchy, controllers) = before.split_at(before.len() - controllers.len() - 1);
    [hierarchy, controllers, path]
}

/// What stands before the name in `pid (name) state ...` (proc_pid_stat(5)), the name, which may have parentheses of its
/// own, and the rest.
fn process(line: &[u8]) -> [&[u8]; 3] {
    let start = line.windows(2).position(|it| it == b" (").map_or(0, |it| it + 2);
    let (before, rest) = line.split_at(start);
    let end = rest.windows(2).rposition(|it| it == b") ").unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    [before, name, behind]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_that_are_all_of_other_kinds_are_no_empty_file() {
        let nfs = b"31 23 0:54 / /srv rw - nfs db7.example:/srv rw\n";
        assert_eq!(&*needed("/proc/self/mountinfo", nfs), OTHER_MOUNTS);
        assert_eq!(&*needed("/proc/self/mountinfo", b"\n"), b"");
    }
}
