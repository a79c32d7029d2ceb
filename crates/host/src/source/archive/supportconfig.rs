//! The files of a host in a supportconfig of SUSE, which has them as sections of text files.
//!
//! Source: supportutils, bin/supportconfig.rc (`conf_files`, `_log_cmd`). A section begins with `#==[ Configuration File ]`, and a line
//! `# PATH`, or `# PATH - File not found`. Comments and empty lines of the file are left out. It takes /proc/cpuinfo, /proc/cmdline and
//! what is below /proc/sys; of /sys it holds the vulnerabilities of the processor, as `grep` prints them.

use super::tree::{Node, Tree, components};
use facts::limits;
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Its text files in which something may be asked for. Every supportconfig has the first.
pub(super) const FILES: [&str; 5] =
    ["basic-environment.txt", "basic-health-check.txt", "boot.txt", "hardware.txt", "proc.txt"];

/// How a section begins, what it holds, and the end of that line.
const SECTION: &str = "#==[ ";
const FILE: &str = "Configuration File ]";
/// The command that prints a file in each line.
const GREP: &str = "grep -H . /sys/";

/// What a supportconfig says of files.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// The files that it holds.
    pub(super) tree: Tree,
    /// Those of which it says that the host has none.
    pub(super) absent: BTreeSet<String>,
}

/// What the text files of `bundle` hold; `None` where it is no supportconfig.
pub(super) fn sections(bundle: &Tree) -> Option<Sections> {
    let text = |name: &str| match bundle.find(name, false) {
        Ok(Node::File(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    };
    text(FILES[0])?;
    let mut sections = Sections::default();
    for text in FILES.iter().filter_map(|name| text(name)) {
        sections.add(&text);
    }
    Some(sections)
}

/// The text files of the supportconfig in `folder` or a folder in it, and where they are.
#[expect(
    clippy::disallowed_methods,
    reason = "the folder is the user's, and only regular files in it are read"
)]
pub(super) fn in_folder(folder: &Path) -> Option<(Tree, PathBuf)> {
    let is_file = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.is_file());
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
    let mut places: Vec<PathBuf> = folders.map(|it| it.path()).collect();
    places.sort_unstable();
    places.insert(0, folder.to_owned());
    let root = places.into_iter().find(|it| is_file(&it.join(FILES[0])))?;
    let mut tree = Tree::default();
    for name in FILES {
        let path = root.join(name);
        let longest = limits::longest(&format!("/{name}")) as u64;
        let is_short = |it: &Metadata| it.is_file() && it.len() <= longest;
        if path.symlink_metadata().is_ok_and(|it| is_short(&it))
            && let Ok(bytes) = std::fs::read(&path)
        {
            tree.insert(&[name], Node::File(bytes.into()));
        }
    }
    Some((tree, root))
}

impl Sections {
    fn add(&mut self, text: &str) {
        for section in text.split(SECTION).skip(1) {
            let (kind, rest) = section.split_once('\n').unwrap_or((section, ""));
            let (head, body) = rest.split_once('\n').unwrap_or((rest, ""));
            let Some(name) = head.strip_prefix("# ") else { continue };
            if kind.starts_with(FILE) {
                match name.strip_suffix(" - File not found") {
                    Some(path) if path.starts_with('/') => {
                        self.absent.insert(path.to_owned());
                    }
                    _ => self.file(name, body.trim_end_matches('\n')),
                }
            } else if name.contains(GREP) {
                for (path, value) in body.lines().filter_map(|line| line.split_once(':')) {
                    self.file(path, value);
                }
            }
        }
    }

    fn file(&mut self, path: &str, text: &str) {
        let names: Vec<&str> = components(path).collect();
        let is_place = path.starts_with('/') && !path.contains(' ') && !names.contains(&"..");
        if is_place && matches!(names.first(), Some(&("proc" | "sys"))) {
            self.tree.insert(&names, Node::File(format!("{text}\n").into_bytes().into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HARDWARE: &str = "\
=============================================================================
                     Support Utilities - Supportconfig
=============================================================================

#==[ Configuration File ]===========================#
# /proc/cpuinfo
processor\t: 0
model name\t: Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz

#==[ Configuration File ]===========================#
# /proc/bus/usb/devices - File not found

#==[ Command ]======================================#
# /usr/bin/grep -H . /sys/devices/system/cpu/vulnerabilities/l1tf
/sys/devices/system/cpu/vulnerabilities/l1tf:Mitigation: PTE Inversion

#==[ Command ]======================================#
# /bin/cat /etc/shadow
/proc/stat:not a file
";

    #[test]
    fn sections_become_the_files_that_they_name() {
        let mut bundle = Tree::default();
        let file = |text: &str| Node::File(text.as_bytes().into());
        bundle.insert(&["hardware.txt"], file(HARDWARE));
        assert!(sections(&bundle).is_none());
        bundle.insert(&["basic-environment.txt"], file("#==[ Command ]==#\n# /bin/date\nnow\n"));
        let Sections { tree, absent } = sections(&bundle).unwrap();
        let text = |path: &str| match tree.find(path, false) {
            Ok(Node::File(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            other => format!("{other:?}"),
        };
        assert!(text("/proc/cpuinfo").ends_with("CPU @ 2.10GHz\n"));
        let l1tf = "/sys/devices/system/cpu/vulnerabilities/l1tf";
        assert_eq!(text(l1tf), "Mitigation: PTE Inversion\n");
        assert!(tree.find("/proc/stat", false).is_err());
        assert!(absent.contains("/proc/bus/usb/devices"));
    }

    #[test]
    fn a_section_of_another_place_is_no_file() {
        let mut found = Sections::default();
        for path in ["/etc/shadow", "/proc/../etc/shadow", "proc/stat", "/sys/a b"] {
            found.add(&format!("#==[ Configuration File ]==#\n# {path}\nx\n"));
        }
        found.add("#==[ Configuration File ]==#");
        assert_eq!(found.tree.n_files(), 0);
    }
}
