//! Which single machines are slow.

use crate::chance::believed;
use crate::cohort::FALSE_OF_SINGLE;
use crate::scene::Scene;
use crate::tail::Tail;

/// Smaller losses are no accusation, however certain: figures of a minute move by that much with load and temperature. Healthy
/// processors of one model differ by more in some fleets (Acun et al., ICS 2016: up to 16 % under turbo), which their spread shows.
pub(crate) const LEAST_LOSS: f64 = 0.03;

/// A machine that is tested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tested {
    pub(crate) machine: usize,
    pub(crate) spreads: f64,
    pub(crate) lost: f64,
    /// How far it is below the others, in what that is known to, and with how many degrees of freedom.
    below: (f64, f64),
}

/// Who is slow, and what it takes.
pub(crate) struct Verdicts {
    pub(crate) slow: Vec<Tested>,
    pub(crate) tested: usize,
    /// What another machine that nothing explains would have to reach to be slow, too.
    least_chance: f64,
    tail: Tail,
}

/// Tests every machine of every group that has healthy ones.
///
/// Of those that something explains most are slow; would the rest be believed by a limit of all, most of the false ones would be among
/// the few that nothing explains (Efron, "Simultaneous Inference: When Should Hypothesis Testing Problems Be Combined?", Annals of
/// Applied Statistics 2, 2008). So the limit is that of those that nothing explains, and one of the others is slow by itself where it
/// would be, had nothing explained it.
pub(crate) fn verdicts(scene: &Scene<'_>) -> Verdicts {
    let n_machines = scene.peers.values.len();
    let tested: Vec<Tested> = (0..n_machines).filter_map(|it| test(scene, it)).collect();
    let is_open = |it: &&Tested| scene.is_open[it.machine];
    let open = tested.iter().filter(is_open);
    let tail = Tail::of(open.clone().map(|it| it.below));
    let chance = |it: &Tested| if it.lost < LEAST_LOSS { 1.0 } else { tail.chance(it.below) };
    let mut chances: Vec<f64> = open.map(chance).collect();
    let limit = believed(&mut chances, FALSE_OF_SINGLE).unwrap_or(0.0);
    let n_slow = chances.iter().filter(|it| **it <= limit).count();
    let least_chance = FALSE_OF_SINGLE * (n_slow + 1) as f64 / tested.len().max(1) as f64;
    let is_slow = |it: &&Tested| chance(it) <= if is_open(it) { limit } else { least_chance };
    let mut slow: Vec<Tested> = tested.iter().filter(is_slow).copied().collect();
    slow.sort_by(|a, b| b.lost.total_cmp(&a.lost).then(a.machine.cmp(&b.machine)));
    Verdicts { slow, tested: tested.len(), least_chance, tail }
}

fn test(scene: &Scene<'_>, machine: usize) -> Option<Tested> {
    let group = scene.peers.group_of[machine];
    let healthy = scene.healthy.get(group).copied().flatten()?;
    let value = scene.peers.values[machine];
    let lost = -(value - healthy.centre).exp_m1();
    let below = healthy.below(value, scene.is_reference(machine));
    let spreads = (healthy.centre - value) / healthy.spread;
    Some(Tested { machine, spreads, lost, below })
}

impl Verdicts {
    /// The smallest loss of a single machine that would be told of in a group, as a share.
    pub(crate) fn detectable(&self, scene: &Scene<'_>, group: usize) -> Option<f64> {
        let healthy = scene.healthy[group]?;
        let n = healthy.n as f64;
        let spreads = self.tail.limit(self.least_chance, n - 1.0) * (1.0 + 1.0 / n).sqrt();
        let far = spreads * healthy.spread;
        Some((-(-far).exp_m1()).max(LEAST_LOSS))
    }
}
