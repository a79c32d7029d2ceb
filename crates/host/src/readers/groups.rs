//! Walks control groups.

use crate::Source;
use facts::Missing;
use facts::system::cgroup::Version;
use std::collections::VecDeque;

/// How far a walk goes.
pub(super) struct Limits {
    /// How many levels below its roots.
    pub(super) deepest: usize,
    /// How many groups.
    pub(super) most: usize,
    /// What the groups are called where there are more.
    pub(super) what: &'static str,
}

/// A group that a walk comes to.
pub(super) struct Place {
    pub(super) version: Version,
    pub(super) folder: String,
    /// 0 at a root.
    pub(super) depth: usize,
}

/// Visits the groups at `roots` and below, those above before those in them, breadth first. A visit is told what that of the group
/// above returned, or the default at a root; where it returns `None`, the groups below are left out.
///
/// `missing` is the first reason for which something is unknown: a visit's own, too.
pub(super) fn walk<T: Clone + Default>(
    source: &dyn Source,
    roots: impl IntoIterator<Item = (Version, String)>,
    limits: &Limits,
    missing: &mut Option<Missing>,
    mut visit: impl FnMut(&Place, T, &mut Option<Missing>) -> Option<T>,
) {
    let root = |(version, folder)| (Place { version, folder, depth: 0 }, T::default());
    let mut waiting: VecDeque<(Place, T)> = roots.into_iter().map(root).collect();
    let mut n_groups = 0;
    while let Some((place, from_above)) = waiting.pop_front() {
        n_groups += 1;
        if n_groups > limits.most {
            // Listed, so that a capture has one more than the limit, too.
            folders(source, &place.folder, missing);
            let too_many = Missing::too_many("/sys/fs/cgroup", limits.what, limits.most);
            missing.get_or_insert(too_many);
            return;
        }
        let Some(for_below) = visit(&place, from_above, missing) else { continue };
        if place.depth == limits.deepest {
            continue;
        }
        let Place { version, folder, depth } = place;
        let below = folders(source, &folder, missing).into_iter().map(|name| {
            let place = Place { version, folder: format!("{folder}/{name}"), depth: depth + 1 };
            (place, for_below.clone())
        });
        waiting.extend(below);
    }
}

fn folders(source: &dyn Source, folder: &str, missing: &mut Option<Missing>) -> Vec<String> {
    match source.folders(folder) {
        Ok(names) => names,
        Err(reason) => {
            // A group that has gone since has none.
            if !reason.is_absence() {
                missing.get_or_insert(reason);
            }
            Vec::new()
        }
    }
}
