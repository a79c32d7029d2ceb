//! Whose the time of one gap was.

use super::{Join, Owner, Place, Thief, Untraced};
use std::collections::BTreeMap;

impl Join {
    /// Whose the time of the gap at `index` was, in nanoseconds, who had the most of it first; nobody where there is no
    /// such gap. Together they have all of the gap.
    ///
    /// Gaps without an event that are equally long have the same thief, however few of them the books let it have.
    pub fn takers(&self, index: usize, untraced: Untraced) -> Vec<(Thief, u64)> {
        let mut taken: BTreeMap<Thief, u64> = BTreeMap::new();
        let mut take = |thief, ns| *taken.entry(thief).or_default() += ns;
        match self.places.get(index) {
            None => {}
            Some(&Place::Silent(ns)) => take(self.thief_of_silence_of(ns, untraced), ns),
            Some(&Place::Walk(at)) => {
                let Some(walk) = self.walks.get(at) else { return Vec::new() };
                self.charges(walk).for_each(|(thief, ns)| take(thief, ns));
                for &(owner, ns) in &walk.pieces {
                    let beyond_ns = ns.saturating_sub(self.longest_edge_ns);
                    if matches!(owner, Owner::Edge(_)) && beyond_ns > 0 {
                        take(self.thief_of_silence_of(beyond_ns, untraced), beyond_ns);
                    }
                }
            }
        }
        let mut takers: Vec<(Thief, u64)> = taken.into_iter().filter(|(_, ns)| *ns > 0).collect();
        takers.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
        takers
    }

    fn thief_of_silence_of(&self, ns: u64, untraced: Untraced) -> Thief {
        let n_longer = self.silent.partition_point(|&it| it > ns) as u64;
        self.thief_of_silence(n_longer, ns, untraced)
    }
}
