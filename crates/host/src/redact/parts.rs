//! Files whose readers look for characters that a value may hold: no value reaches across them.
//!
//! An address has colons, and what follows `uuid=` ends at a blank: taken out of the whole text, they would take along
//! what divides a line, and the capture would no longer be read as the file is.

use facts::system::cgroup;

/// The parts of what the file `name` holds, of which each is redacted by itself; together they are all of it.
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
