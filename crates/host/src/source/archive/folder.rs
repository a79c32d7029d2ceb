//! The entries of one folder of an archive, in order of their names.
//!
//! A tree of sysfs has a folder for every few files, and a map takes some 500 bytes for the first of them: small folders
//! are a sorted list.

use super::tree::Node;
use std::collections::BTreeMap;

/// Entries up to which a list is as fast as a map.
const SMALL: usize = 16;

/// Nodes by their names.
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
