//! The state of a search: which machines nothing explains yet, and what is healthy among them.

use crate::cohort::{cohorts_of_group, faster_cohort};
use crate::columns::Column;
use crate::healthy::Healthy;
use crate::peers::{NO_GROUP, Peers};

/// Machines that nothing explains yet, and how far each is from the healthy ones of its group.
pub(crate) struct Scene<'a> {
    pub(crate) columns: &'a [Column],
    pub(crate) peers: &'a Peers,
    /// Indices of the columns that may explain something.
    pub(crate) eligible: &'a [usize],
    /// Whether nothing explains a machine yet, of those that can be judged.
    pub(crate) is_open: Vec<bool>,
    /// The healthy ones of each group; `None` where they are too few.
    pub(crate) healthy: Vec<Option<Healthy>>,
    /// How many spreads each open machine is from them, at most [`FARTHEST`] either way.
    pub(crate) distance: Vec<f32>,
    /// Of each group the cohort that its healthy machines are of, where one is faster than the rest.
    cohorts: Vec<Option<(usize, u32)>>,
}

/// A machine counts no more than one that is this many spreads off: else one machine would make a cohort slow.
pub(crate) const FARTHEST: f64 = 6.0;

/// For the search healthy machines are at least this far apart, so that [`FARTHEST`] is more than what matters.
const LEAST_FOR_SEARCH: f64 = 0.005;

impl<'a> Scene<'a> {
    pub(crate) fn new(columns: &'a [Column], peers: &'a Peers, eligible: &'a [usize]) -> Self {
        let judged = |it: &usize| *it != NO_GROUP && peers.groups[*it].is_enough();
        let is_open = peers.group_of.iter().map(judged).collect();
        let healthy = vec![None; peers.groups.len()];
        let cohorts = vec![None; peers.groups.len()];
        let distance = vec![0.0; peers.values.len()];
        let mut scene = Self { columns, peers, eligible, is_open, healthy, distance, cohorts };
        (0..peers.groups.len()).for_each(|it| scene.look_again(it));
        scene
    }

    /// Sets machines aside, and looks again at the rest of their groups.
    pub(crate) fn set_aside(&mut self, machines: &[usize]) {
        let mut touched: Vec<usize> = machines.iter().map(|it| self.peers.group_of[*it]).collect();
        touched.sort_unstable();
        touched.dedup();
        machines.iter().for_each(|it| self.is_open[*it] = false);
        touched.into_iter().for_each(|it| self.look_again(it));
    }

    /// The machines of a group that nothing explains, the slowest first.
    pub(crate) fn open(&self, group: usize) -> impl Iterator<Item = usize> + Clone {
        let members = &self.peers.groups[group].ascending;
        members.iter().copied().filter(|it| self.is_open[*it])
    }

    /// Whether an open machine can be one of the healthy ones of its group.
    pub(crate) fn is_reference(&self, machine: usize) -> bool {
        let cohort = self.cohorts[self.peers.group_of[machine]];
        self.is_open[machine]
            && cohort.is_none_or(|(column, code)| {
                let column = &self.columns[column];
                column.is_told(machine) && column.codes[machine] == code
            })
    }

    fn look_again(&mut self, group: usize) {
        if !self.peers.groups[group].is_enough() {
            return;
        }
        let open: Vec<_> = self.open(group).map(|it| (it, self.peers.values[it])).collect();
        let looked_at = cohorts_of_group(self.eligible) * self.peers.groups.len() as f64;
        self.cohorts[group] = faster_cohort(self.columns, self.eligible, &open, looked_at);
        self.healthy[group] = self.peers.healthy(group, |it| self.is_reference(it));
        let (centre, unit) = (self.healthy[group].map(|it| it.centre), self.unit(group));
        for machine in &self.peers.groups[group].ascending {
            let spreads = centre.map_or(0.0, |it| (self.peers.values[*machine] - it) / unit);
            self.distance[*machine] = spreads.clamp(-FARTHEST, FARTHEST) as f32;
        }
    }

    /// How far a machine is above the healthy ones of its group, as a logarithm.
    pub(crate) fn above_healthy(&self, machine: usize) -> f64 {
        let healthy = self.healthy[self.peers.group_of[machine]];
        healthy.map_or(0.0, |it| self.peers.values[machine] - it.centre)
    }

    /// What a distance of 1 is in a group, as a share.
    pub(crate) fn unit(&self, group: usize) -> f64 {
        self.healthy[group].map_or(LEAST_FOR_SEARCH, |it| it.spread.max(LEAST_FOR_SEARCH))
    }
}
