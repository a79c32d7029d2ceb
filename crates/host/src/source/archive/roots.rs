//! Which entries of an archive belong to a host, and to which one.
//!
//! Where a host's root is shows only at the first entry below a `proc` or `sys`, and tools sort by name, so
//! that `boot` and `etc` come before. Trees are therefore kept for every folder that may turn out to be a
//! root, and thrown away when it does not.

use super::supportconfig;
use super::tree::{Node, Tree, components};
use crate::readers::is_log;
use std::collections::{BTreeMap, BTreeSet};

/// Folders that show a root.
const MARKS: [&str; 2] = ["proc", "sys"];

/// Folders of a root from which something may be asked.
const BESIDE: [&str; 8] = ["boot", "dev", "etc", "lib", "run", "sos_commands", "usr", "var"];

/// Files of a root that show who made the copy ([`facts::collectors`]).
const MARK_FILES: [&str; 2] = ["machineinfo.json", "version.txt"];

/// A bundle is a folder in a folder or two; a must-gather has a node's name in between.
const DEEPEST_ROOT: usize = 6;

/// So many folders are tried as a root before one has shown itself, and so many other hosts are named.
const MOST_ROOTS: usize = 64;

/// The trees of an archive that is being read.
#[derive(Debug, Default)]
pub(super) struct Roots {
    /// Only roots in this folder count.
    within: Vec<String>,
    /// The root of the host, once it has shown itself.
    host: Option<Vec<String>>,
    /// What is kept, by root.
    trees: BTreeMap<Vec<String>, Tree>,
    others: BTreeSet<Vec<String>>,
    /// Whether the files of other hosts are kept, too.
    all: bool,
    /// Whether there were more other hosts than are named.
    is_full: bool,
}

impl Roots {
    /// No trees; roots at `within` or below it count.
    pub(super) fn new(within: &str) -> Roots {
        Roots { within: components(within).map(str::to_owned).collect(), ..Roots::default() }
    }

    /// The same for the files of every host.
    pub(super) fn of_all() -> Roots {
        Roots { all: true, ..Roots::default() }
    }

    /// How many names of `path` lead to the root of the host that the entry belongs to; `None` where it
    /// belongs to none, or where nothing asks for it.
    pub(super) fn root_of(&mut self, path: &[&str], is_folder: bool) -> Option<usize> {
        let depth = self.place(path, is_folder)?;
        is_asked_for(&path[depth..]).then_some(depth)
    }

    fn place(&mut self, path: &[&str], is_folder: bool) -> Option<usize> {
        if let Some(host) = &self.host
            && starts_with(path, host)
        {
            return Some(host.len());
        }
        if self.all
            && let Some(root) = self.others.iter().find(|it| starts_with(path, it))
        {
            return Some(root.len());
        }
        if !starts_with(path, &self.within) {
            return None;
        }
        let folders = if is_folder { path } else { path.split_last()?.1 };
        let first_of = |names: &[&str]| {
            let shown = folders.iter().take(DEEPEST_ROOT + 1).skip(self.within.len());
            shown.into_iter().position(|it| names.contains(it)).map(|at| at + self.within.len())
        };
        let is_nearer = |depth: usize| self.host.as_ref().is_none_or(|host| depth < host.len());
        let of_mark_file = || {
            let (name, folders) = path.split_last()?;
            let is_below = folders.len() >= self.within.len() && folders.len() <= DEEPEST_ROOT;
            // A must-gather has the log beside the folders of a node.
            let is_mark = is_of_root(name) || *name == "dmesg";
            (!is_folder && is_below && is_mark).then_some(folders.len())
        };
        match (first_of(&MARKS), first_of(&BESIDE).or_else(of_mark_file)) {
            (Some(depth), _) if is_nearer(depth) => {
                self.show(owned(&path[..depth]));
                Some(depth)
            }
            (Some(depth), _) => {
                if self.others.len() >= MOST_ROOTS {
                    self.is_full = true;
                    return None;
                }
                self.others.insert(owned(&path[..depth]));
                self.all.then_some(depth)
            }
            (None, Some(depth)) if self.all || is_nearer(depth) => {
                let is_known = self.trees.contains_key(&owned(&path[..depth]));
                (is_known || self.trees.len() < MOST_ROOTS).then_some(depth)
            }
            _ => None,
        }
    }

    /// `root` is nearer than the host so far: only it, and what may be nearer still, is kept.
    fn show(&mut self, root: Vec<String>) {
        if !self.all {
            self.trees.retain(|it, _| *it == root || it.len() < root.len());
        }
        self.trees.entry(root.clone()).or_default();
        self.others.extend(self.host.replace(root));
    }

    /// Puts `node` at `path`, of which `depth` names lead to the root.
    pub(super) fn insert(&mut self, path: &[&str], depth: usize, node: Node) {
        self.trees.entry(owned(&path[..depth])).or_default().insert(&path[depth..], node);
    }

    /// What was kept at `path`, of which `depth` names lead to the root.
    pub(super) fn get(&self, path: &[&str], depth: usize) -> Option<&Node> {
        let tree = self.trees.get(&owned(path.get(..depth)?))?;
        tree.find(&path[depth..].join("/"), false).ok()
    }

    /// About how much memory everything that is kept takes, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.trees.values().fold(0, |sum, tree| sum.saturating_add(tree.memory))
    }

    /// The host's tree, its root, and the roots of other hosts that are not below it. Where no folder shows a root, a supportconfig is
    /// one.
    pub(super) fn finish(mut self) -> Option<(Tree, Vec<String>)> {
        let is_supportconfig = |tree: &Tree| tree.find(supportconfig::FILES[0], false).is_ok();
        let of_texts = || {
            let mut roots = self.trees.iter().filter(|(_, tree)| is_supportconfig(tree));
            roots.next().map(|(root, _)| root.clone())
        };
        let host = self.host.or_else(of_texts)?;
        let others = self.others.iter().filter(|it| !it.starts_with(&host));
        let roots = std::iter::once(&host).chain(others).map(|it| it.join("/")).collect();
        Some((self.trees.remove(&host)?, roots))
    }

    /// The tree of each host with its root, and whether there were more of them than are kept. Hosts below another one are a part of it.
    pub(super) fn finish_all(mut self) -> (Vec<(Tree, String)>, bool) {
        let Some(host) = self.host.clone() else {
            let of_texts = self.finish().into_iter();
            let first =
                of_texts.filter_map(|(tree, roots)| Some((tree, roots.into_iter().next()?)));
            return (first.collect(), false);
        };
        let others = self.others.into_iter().filter(|it| !it.starts_with(&host));
        let roots: Vec<Vec<String>> = std::iter::once(host.clone()).chain(others).collect();
        let trees = roots.into_iter().filter_map(|root| {
            let tree = self.trees.remove(&root)?;
            Some((tree, root.join("/")))
        });
        (trees.collect(), self.is_full)
    }
}

/// Whether a file of this name is kept that lies in a root itself.
fn is_of_root(name: &str) -> bool {
    MARK_FILES.contains(&name) || supportconfig::FILES.contains(&name)
}

fn starts_with(path: &[&str], root: &[String]) -> bool {
    path.len() >= root.len() && path.iter().zip(root).all(|(name, of_root)| name == of_root)
}

fn owned(path: &[&str]) -> Vec<String> {
    path.iter().map(|it| (*it).to_owned()).collect()
}

/// Whether a reader may ask for `path`: a bundle holds far more than that, above all logs.
fn is_asked_for(path: &[&str]) -> bool {
    match path {
        ["proc" | "sys" | "etc" | "run" | "dev", ..] | [".dockerenv"] => true,
        ["sos_commands" | "sos_logs" | "sos_reports"] | ["sos_commands", _] => true,
        ["sos_commands", "networking", name] => name.starts_with("ethtool_"),
        [name] => is_of_root(name) || is_log(&format!("/{name}")),
        ["sos_commands", "kernel" | "logs", ..] | ["var", "log", ..] => {
            is_log(&format!("/{}", path.join("/")))
        }
        ["boot", name] => name.starts_with("config-"),
        ["usr", "lib", "os-release"] => true,
        ["lib", "modules", _, name] | ["usr", "lib", "modules", _, name] => *name == "config",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers a file of one byte at every path; names the host's root, the other roots and what was kept.
    fn offer(within: &str, paths: &[&str]) -> String {
        let mut roots = Roots::new(within);
        for path in paths {
            let path: Vec<&str> = components(path).collect();
            if let Some(depth) = roots.root_of(&path, false) {
                roots.insert(&path, depth, Node::File([0].into()));
            }
        }
        let host = roots.host.as_ref().map(|it| it.join("/"));
        let Some((tree, roots)) = roots.finish() else { return "none".to_owned() };
        assert_eq!(roots.first(), host.as_ref());
        let others = &roots[1..];
        format!("{:?} and {others:?}, {} kept", host.unwrap_or_default(), tree.n_files())
    }

    #[test]
    fn a_root_may_be_at_any_leading_folder() {
        assert_eq!(offer("", &["./sys/a", "./proc/b"]), r#""" and [], 2 kept"#);
        assert_eq!(
            offer("", &["sos-1/root/proc/b", "sos-1/log"]),
            r#""sos-1/root" and [], 1 kept"#
        );
        assert_eq!(offer("", &["1/2/3/4/5/6/7/sys/a"]), "none");
        assert_eq!(offer("", &["host/pu0", "sys"]), "none");
    }

    #[test]
    fn what_comes_before_the_root_has_shown_itself_is_kept() {
        let paths = ["s/boot/config-6.1", "s/boot/vmlinuz", "s/etc/a", "s/var/etc/b", "s/proc/c"];
        assert_eq!(offer("", &paths), r#""s" and [], 3 kept"#);
        let paths = ["s/usr/lib/os-release", "s/usr/lib/x", "s/sys/a"];
        assert_eq!(offer("", &paths), r#""s" and [], 2 kept"#);
        let commands = "s/sos_commands/networking";
        let paths =
            [&format!("{commands}/ethtool_eth0"), &format!("{commands}/ip_addr"), "s/sys/a"];
        assert_eq!(offer("", &paths), r#""s" and [], 2 kept"#);
    }

    #[test]
    fn what_shows_who_made_the_copy_is_kept_wherever_it_comes() {
        let sysinfo = ["./machineinfo.json", "./proc/cmdline", "./sys/a", "./README"];
        assert_eq!(offer("", &sysinfo), r#""" and [], 3 kept"#);
        let sos = ["s/proc/a", "s/sos_reports/sos.txt", "s/sos_commands/date", "s/version.txt"];
        assert_eq!(offer("", &sos), r#""s" and [], 3 kept"#);
        // A file of this name elsewhere is somebody else's.
        assert_eq!(offer("", &["s/opt/version.txt", "s/proc/a"]), r#""s" and [], 1 kept"#);
    }

    #[test]
    fn of_logs_only_the_kernels_of_this_boot_are_kept() {
        let paths = [
            "s/sos_commands/kernel/dmesg",
            "s/sos_commands/kernel/lsmod",
            "s/sos_commands/logs/journalctl_--no-pager_--boot",
            "s/sos_commands/logs/journalctl_--no-pager_--boot_-1",
            "s/var/log/messages",
            "s/var/log/secure",
            "s/sys/a",
            "s/dmesg",
            "s/uptime",
        ];
        assert_eq!(offer("", &paths), r#""s" and [], 5 kept"#);
        assert_eq!(offer("", &["nodes/b/dmesg", "nodes/b/proc/1"]), r#""nodes/b" and [], 2 kept"#);
    }

    #[test]
    fn the_nearest_root_is_the_host_and_what_is_below_it_is_its_own() {
        let paths = ["usr/include/sys/types.h", "sys/a", "chroot/proc/b"];
        assert_eq!(offer("", &paths), r#""" and [], 1 kept"#);
    }

    #[test]
    fn other_hosts_are_named_and_can_be_chosen() {
        let paths = ["nodes/b/proc/1", "nodes/a/proc/1", "nodes/a/sys/2"];
        assert_eq!(offer("", &paths), r#""nodes/b" and ["nodes/a"], 1 kept"#);
        assert_eq!(offer("nodes/a", &paths), r#""nodes/a" and [], 2 kept"#);
    }
}
