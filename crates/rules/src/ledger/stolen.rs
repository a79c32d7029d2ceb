//! Time that a hypervisor gave to others.

use super::amount::Amount;
use super::evidence::Evidence;
use facts::{Fact, USER_TICK_NS};

/// What the hypervisor says that it took.
pub(super) fn stolen(evidence: &Evidence<'_>, cpu: u32, wall_ns: u64) -> Fact<Amount> {
    let delta = evidence.interval.steal(cpu)?;
    if delta.by == 0 {
        evidence.interval.host.platform.tells_of_steal()?;
    }
    Amount::of(delta, USER_TICK_NS, wall_ns, "/proc/stat steal").within(wall_ns)
}
