//! The files of an archive, kept in memory, with links resolved as the host would have resolved them.

use std::cell::Cell;
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
    /// About how much memory the entries take, in bytes; those of a replaced file count too.
    pub(super) memory: usize,
    /// Names in targets of links that may still be looked up.
    steps_left: Cell<u32>,
}

/// Names in targets of links, all questions together. The questions about a host of 4,096 CPUs take some ten millions.
const MOST_STEPS: u32 = 32 << 20;

/// What an entry takes beside its name and content: its place in a list or map that is half full, and two allocations.
const ENTRY: usize = 104;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Folder(Folder),
    File(Arc<[u8]>),
    /// A symbolic link with its target.
    Link(Box<str>),
    /// An entry that was left out, and why.
    Refused(&'static str),
    /// A file that was left out, because it has more bytes than its limit.
    TooLong {
        length: u64,
        limit: usize,
    },
    /// A file that was left out, because the archive's limits leave no room for it.
    NoRoom {
        length: usize,
    },
}

/// Why a path leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfound {
    /// Nothing of that name, or nothing where a link points.
    Nothing,
    /// Links that point at each other.
    Loop,
    /// All links together took more steps than those of a host.
    TooManySteps,
}

/// The names in a path that mean something.
pub(super) fn components(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|it| !it.is_empty() && *it != ".")
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { root: Node::Folder(Folder::new()), memory: 0, steps_left: Cell::new(MOST_STEPS) }
    }
}

impl Tree {
    /// Puts `node` at `path`, with the folders that lead there; as in unpacking, a later entry replaces an
    /// earlier one. `false` where the path leads through something that is no folder.
    pub(super) fn insert(&mut self, path: &[&str], node: Node) -> bool {
        let Some((name, folders)) = path.split_last().filter(|_| path.len() <= DEEPEST) else {
            return false;
        };
        let memory = &mut self.memory;
        let mut count = |name: &str, more: usize| *memory += ENTRY + name.len() + more;
        let mut at = &mut self.root;
        for folder in folders {
            let Node::Folder(entries) = at else { return false };
            at = entries.entry(folder, || {
                count(folder, 0);
                Node::Folder(Folder::new())
            });
        }
        let Node::Folder(entries) = at else { return false };
        match entries.get(name) {
            Some(Node::Folder(_)) => matches!(node, Node::Folder(_)),
            _ => {
                count(name, node.memory());
                *entries.entry(name, || Node::Refused("")) = node;
                true
            }
        }
    }

    /// How many files there are.
    #[cfg(test)]
    pub(super) fn n_files(&self) -> usize {
        self.root.n_files()
    }

    /// What `path` leads to, through links; a link at its end is followed where `follow` says so.
    pub(super) fn find(&self, path: &str, follow: bool) -> Result<&Node, Unfound> {
        // Steps still to take, the next one last.
        let mut steps: Vec<&str> = components(path).rev().collect();
        let mut way = vec![&self.root];
        let mut n_links = 0;
        while let Some(name) = steps.pop() {
            if name == ".." {
                way.truncate(way.len().saturating_sub(1).max(1));
                continue;
            }
            let Some(Node::Folder(entries)) = way.last() else { return Err(Unfound::Nothing) };
            match entries.get(name) {
                Some(Node::Link(target)) if follow || !steps.is_empty() => {
                    n_links += 1;
                    if n_links > MOST_LINKS {
                        return Err(Unfound::Loop);
                    }
                    if target.starts_with('/') {
                        way.truncate(1);
                    }
                    let before = steps.len();
                    steps.extend(components(target).rev());
                    self.count_steps(steps.len() - before)?;
                }
                Some(node) => way.push(node),
                None => return Err(Unfound::Nothing),
            }
        }
        way.last().copied().ok_or(Unfound::Nothing)
    }

    /// Takes `n` from the steps that are left.
    fn count_steps(&self, n: usize) -> Result<(), Unfound> {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        let left = self.steps_left.get().checked_sub(n).ok_or(Unfound::TooManySteps)?;
        self.steps_left.set(left);
        Ok(())
    }
}

impl Node {
    /// What it takes beside the place of an entry.
    fn memory(&self) -> usize {
        match self {
            Node::File(bytes) => bytes.len(),
            Node::Link(target) => target.len(),
            _ => 0,
        }
    }

    #[cfg(test)]
    fn n_files(&self) -> usize {
        match self {
            Node::Folder(entries) => {
                entries.names().iter().filter_map(|it| entries.get(it)).map(Node::n_files).sum()
            }
            Node::File(_) => 1,
            _ => 0,
        }
    }
}

/// The number of entries up to which a list is as fast as a map.
const SMALL: usize = 16;

/// The entries of one folder, sorted by name.
///
/// Most folders of sysfs have few files, and a map takes some 500 bytes for its first entry, so small folders are a
/// sorted list.
#[derive(Clone, Debug)]
pub(super) enum Folder {
    Small(Vec<(Box<str>, Node)>),
    Large(BTreeMap<Box<str>, Node>),
}

impl Folder {
    /// An empty folder.
    pub(super) const fn new() -> Folder {
        Folder::Small(Vec::new())
    }

    /// The node of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        match self {
            Folder::Small(list) => {
                let at = list.binary_search_by(|(it, _)| (**it).cmp(name)).ok()?;
                list.get(at).map(|(_, node)| node)
            }
            Folder::Large(map) => map.get(name),
        }
    }

    /// The node of this name, which is made with `make` where there is none.
    pub(super) fn entry(&mut self, name: &str, make: impl FnOnce() -> Node) -> &mut Node {
        if let Folder::Small(list) = self
            && list.len() >= SMALL
            && list.binary_search_by(|(it, _)| (**it).cmp(name)).is_err()
        {
            *self = Folder::Large(std::mem::take(list).into_iter().collect());
        }
        match self {
            Folder::Small(list) => {
                let at = match list.binary_search_by(|(it, _)| (**it).cmp(name)) {
                    Ok(at) => at,
                    Err(at) => {
                        if list.len() == list.capacity() {
                            list.reserve_exact(list.len().max(1));
                        }
                        list.insert(at, (Box::from(name), make()));
                        at
                    }
                };
                &mut list[at].1
            }
            Folder::Large(map) => map.entry(Box::from(name)).or_insert_with(make),
        }
    }

    /// Whether nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Folder::Small(list) => list.is_empty(),
            Folder::Large(map) => map.is_empty(),
        }
    }

    /// Every name, in order.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Folder::Small(list) => list.iter().map(|(name, _)| name.to_string()).collect(),
            Folder::Large(map) => map.keys().map(ToString::to_string).collect(),
        }
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
                (*entry, Node::Folder(Folder::new()))
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
    fn links_of_all_questions_together_take_a_limited_number_of_steps() {
        let tree = tree(&["sys/value=1", "sys/a>../sys/../sys/value"]);
        tree.steps_left.set(9);
        assert_eq!(text(&tree, "/sys/a"), Ok("1".to_owned()));
        assert_eq!(text(&tree, "/sys/a"), Err(Unfound::TooManySteps));
        assert_eq!(text(&tree, "/sys/value"), Ok("1".to_owned()));
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found_where_it_is_not_followed() {
        let tree = tree(&["sys/cpu/online=0", "sys/cpu/cpu0/cpufreq>../cpufreq/policy0"]);
        for path in ["/proc", "/sys/cpu/offline", "/sys/cpu/online/x", "/sys/cpu/cpu0/cpufreq"] {
            assert_eq!(text(&tree, path), Err(Unfound::Nothing), "{path}");
        }
        assert!(tree.find("/sys/cpu/cpu0/cpufreq", false).is_ok());
    }

    #[test]
    fn an_entry_below_a_file_is_refused_and_a_folder_stays() {
        let mut tree = tree(&["sys/a=1", "sys/b/c=2"]);
        assert!(!tree.insert(&["sys", "a", "x"], Node::Refused("")));
        assert!(!tree.insert(&["sys", "b"], Node::Refused("")));
        assert!(!tree.insert(&["x"; 100], Node::Refused("")));
        assert_eq!(text(&tree, "/sys/b/c"), Ok("2".to_owned()));
    }

    #[test]
    fn names_are_in_order_and_found_however_many_there_are() {
        let mut folder = Folder::new();
        for n in (0..100).rev() {
            folder.entry(&format!("{n:03}"), || Node::Refused("a pipe"));
            let names = folder.names();
            assert!(names.is_sorted() && names.len() == 100 - n);
            assert!(names.iter().all(|it| folder.get(it).is_some()));
            assert!(folder.get("x").is_none());
        }
        *folder.entry("000", || unreachable!()) = Node::Refused("a device");
        assert!(matches!(folder.get("000"), Some(Node::Refused("a device"))));
        assert_eq!(folder.names().len(), 100);
    }
}
