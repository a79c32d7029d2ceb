//! Files that hold more than an audit asks for: what else they hold is no part of a capture.

use crate::readers::kernel_config_text;
use facts::system::kernel_config::KernelConfig;
use std::borrow::Cow;

/// Mounts of other kinds name file servers, users and what is mounted where.
const MOUNTS: [&[u8]; 4] = [b"cgroup ", b"cgroup2 ", b"proc ", b"sysfs "];

/// Stands for mounts that are all of other kinds.
const OTHER_MOUNTS: &[u8] = b"(other mounts)\n";

/// Fields of /proc/PID/stat that are addresses in a process's memory, which root sees and an attacker would
/// like to (proc_pid_stat(5)): code, stack and wait channel; data, heap, arguments and environment.
const ADDRESSES: [std::ops::RangeInclusive<usize>; 3] = [26..=30, 35..=35, 45..=51];

/// What an audit needs of the file `name`.
pub(super) fn needed<'a>(name: &str, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    match name {
        "/proc/self/mountinfo" => mounts(bytes).into(),
        _ if is_kernel_config(name) => match kernel_config_text(bytes) {
            Some(text) => KernelConfig::excerpt(&text).into_bytes().into(),
            None => bytes.into(),
        },
        _ if name.starts_with("/proc/") && name.ends_with("/stat") => without_addresses(bytes),
        _ => bytes.into(),
    }
}

/// By the places that its reader looks in.
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
