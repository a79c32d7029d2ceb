//! The files of an archive, kept in memory, with links resolved as the host would have resolved them.

use std::collections::BTreeMap;
use std::sync::Arc;

/// As many links as the kernel follows (MAXSYMLINKS, include/linux/namei.h).
const MOST_LINKS: usize = 40;

/// Paths of sysfs have some ten folders; a deeper one is made to be awkward.
const DEEPEST: usize = 64;

/// A root folder and everything in it.
#[derive(Debug)]
pub(super) struct Tree {
    root: Node,
    /// Bytes in files; those of a replaced file count too.
    pub(super) n_bytes: usize,
    /// Entries that were put in, with the folders that lead to them.
    pub(super) n_entries: usize,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Folder(BTreeMap<Box<str>, Node>),
    File(Arc<[u8]>),
    /// A symbolic link with its target.
    Link(Box<str>),
    /// An entry that was left out, and why.
    Refused(&'static str),
}

/// Why a path leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfound {
    /// Its folder is here, the file is not.
    Absent,
    /// Its folder, or what a link points to, is not here.
    NotCollected,
    /// Links that point at each other.
    Loop,
}

/// The names in a path that mean something.
pub(super) fn components(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|it| !it.is_empty() && *it != ".")
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { root: Node::Folder(BTreeMap::new()), n_bytes: 0, n_entries: 0 }
    }
}

impl Tree {
    /// Puts `node` at `path`, with the folders that lead there; as in unpacking, a later entry replaces an
    /// earlier one. `false` where the path leads through something that is no folder.
    pub(super) fn insert(&mut self, path: &[&str], node: Node) -> bool {
        let Some((name, folders)) = path.split_last().filter(|_| path.len() <= DEEPEST) else {
            return false;
        };
        if let Node::File(bytes) = &node {
            self.n_bytes = self.n_bytes.saturating_add(bytes.len());
        }
        let mut at = &mut self.root;
        for folder in folders {
            let Node::Folder(entries) = at else { return false };
            at = entries.entry(Box::from(*folder)).or_insert_with(|| {
                self.n_entries += 1;
                Node::Folder(BTreeMap::new())
            });
        }
        let Node::Folder(entries) = at else { return false };
        match entries.get(*name) {
            Some(Node::Folder(_)) => matches!(node, Node::Folder(_)),
            _ => {
                self.n_entries += 1;
                entries.insert(Box::from(*name), node);
                true
            }
        }
    }

    /// What `path` leads to, through links; a link at its end is followed where `follow` says so.
    pub(super) fn find(&self, path: &str, follow: bool) -> Result<&Node, Unfound> {
        // Steps still to take, the next one last, each with whether it comes from a link's target.
        let mut steps: Vec<(&str, bool)> = components(path).rev().map(|it| (it, false)).collect();
        let mut way = vec![&self.root];
        let mut n_links = 0;
        while let Some((name, of_link)) = steps.pop() {
            if name == ".." {
                way.truncate(way.len().saturating_sub(1).max(1));
                continue;
            }
            let Some(Node::Folder(entries)) = way.last() else { return Err(Unfound::NotCollected) };
            match entries.get(name) {
                Some(Node::Link(target)) if follow || !steps.is_empty() => {
                    n_links += 1;
                    if n_links > MOST_LINKS {
                        return Err(Unfound::Loop);
                    }
                    if target.starts_with('/') {
                        way.truncate(1);
                    }
                    steps.extend(components(target).rev().map(|it| (it, true)));
                }
                Some(node) => way.push(node),
                None if steps.is_empty() && !of_link && way.len() > 1 => {
                    return Err(Unfound::Absent);
                }
                None => return Err(Unfound::NotCollected),
            }
        }
        way.last().copied().ok_or(Unfound::NotCollected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree from `path` for a folder, `path=text` for a file and `path>target` for a link.
    fn tree(entries: &[&str]) -> Tree {
        let mut tree = Tree::default();
        for entry in entries {
            let (path, node) = if let Some((path, text)) = entry.split_once('=') {
                (path, Node::File(text.as_bytes().into()))
            } else if let Some((path, target)) = entry.split_once('>') {
                (path, Node::Link(target.into()))
            } else {
                (*entry, Node::Folder(BTreeMap::new()))
            };
            tree.insert(&components(path).collect::<Vec<_>>(), node);
        }
        tree
    }

    fn text(tree: &Tree, path: &str) -> Result<String, Unfound> {
        tree.find(path, true).map(|node| match node {
            Node::File(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn links_are_followed_as_on_the_host() {
        let tree = tree(&[
            "sys/cpu/cpufreq/policy0/governor=ondemand",
            "sys/cpu/cpu0/cpufreq>../cpufreq/policy0",
            "sys/class/cpu0>/sys/cpu/cpu0",
            "sys/class/upwards>../../../../../../sys/cpu/cpufreq",
        ]);
        let found = Ok("ondemand".to_owned());
        assert_eq!(text(&tree, "/sys/cpu/cpu0/cpufreq/governor"), found);
        assert_eq!(text(&tree, "/sys/class/cpu0/cpufreq/governor"), found);
        assert_eq!(text(&tree, "/sys/class/upwards/policy0/governor"), found);
        assert_eq!(text(&tree, "/sys/../../sys/cpu/./cpu0//cpufreq/governor"), found);
    }

    #[test]
    fn links_in_a_circle_end() {
        let tree = tree(&["sys/a>b", "sys/b>/sys/a", "sys/deeper>deeper/deeper"]);
        assert_eq!(text(&tree, "/sys/a"), Err(Unfound::Loop));
        assert_eq!(text(&tree, "/sys/deeper"), Err(Unfound::Loop));
    }

    #[test]
    fn what_is_missing_is_absent_only_beside_what_is_there() {
        let tree = tree(&["sys/cpu/online=0", "sys/cpu/cpu0/cpufreq>../cpufreq/policy0"]);
        assert_eq!(text(&tree, "/sys/cpu/offline"), Err(Unfound::Absent));
        assert_eq!(text(&tree, "/sys/cpu/cpu1/online"), Err(Unfound::NotCollected));
        assert_eq!(text(&tree, "/proc"), Err(Unfound::NotCollected));
        assert_eq!(text(&tree, "/sys/cpu/online/x"), Err(Unfound::NotCollected));
        assert_eq!(text(&tree, "/sys/cpu/cpu0/cpufreq"), Err(Unfound::NotCollected));
    }

    #[test]
    fn an_entry_below_a_file_is_refused_and_a_folder_stays() {
        let mut tree = tree(&["sys/a=1", "sys/b/c=2"]);
        assert!(!tree.insert(&["sys", "a", "x"], Node::Refused("")));
        assert!(!tree.insert(&["sys", "b"], Node::Refused("")));
        assert!(!tree.insert(&["x"; 100], Node::Refused("")));
        assert_eq!(text(&tree, "/sys/b/c"), Ok("2".to_owned()));
    }
}
