//! Where the adapter of one end is plugged in and which CPUs serve it, compared with the CPUs that worked.
//!
//! It cannot know of memory: a program whose buffers are on another node than its CPUs pays for the way twice.

use crate::known::Known;
use facts::CpuSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the data of a test went over at one end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// `eth0`, the interface that has this end's address, or `mlx5_0/1`.
    pub device: Known<String>,
    /// The adapter of that interface.
    pub adapter: Known<NicLocality>,
    /// The CPUs that worked for the test, as the kernel writes lists.
    pub worked: String,
    /// Those on which the kernel handled the latest packets of its streams (SO_INCOMING_CPU of socket(7)); empty where unknown.
    pub incoming: String,
}

/// Where an adapter is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicLocality {
    /// Its PCI address.
    pub address: String,
    /// Its NUMA node.
    pub node: Known<u32>,
    /// The CPUs of that node, as the kernel writes lists.
    pub near: Known<String>,
    /// How many NUMA nodes there are.
    pub n_nodes: Known<u32>,
    /// The CPUs that serve its interrupts, or may.
    pub serving: Known<String>,
    /// Those that took some during the test, the most first.
    pub interrupted: Known<Vec<Taken>>,
}

/// Interrupts of an adapter on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The CPU.
    pub cpu: u32,
    /// How many.
    pub count: u64,
}

/// Interrupts of one CPU in a second from which on they take time that is worth a word. With the packets that it brings one costs some
/// microseconds, so that fewer cost less than a hundredth of the CPU; and some hundreds come when nothing is sent.
pub const MANY_A_SECOND: u64 = 1000;

/// How near to an adapter CPUs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// There is one NUMA node.
    OnlyNode,
    /// All are of its node.
    Near,
    /// Some are.
    Mixed,
    /// None is.
    Far,
}

impl Placement {
    /// How near to the adapter the CPUs that worked are; `None` where unknown.
    pub fn nearness(&self) -> Option<Nearness> {
        let locality = self.adapter.value()?;
        if locality.n_nodes == Known::Value(1) {
            return Some(Nearness::OnlyNode);
        }
        let near = CpuSet::parse_list(locality.near.value()?).ok()?;
        let worked = self.worked();
        if worked.is_empty() {
            return None;
        }
        Some(match worked.and(&near) {
            own if own.is_empty() => Nearness::Far,
            own if own == worked => Nearness::Near,
            _ => Nearness::Mixed,
        })
    }

    /// The CPUs that worked for the test and served many of the adapter's interrupts; `measured_ns` is the time of the test.
    pub fn competing(&self, measured_ns: u64) -> CpuSet {
        const SECOND: u64 = 1_000_000_000;
        // Interrupts are counted from before the host is first read to when it is read again: that alone is about a second, and the
        // background of it would make a rate of a test of some milliseconds.
        let time = u128::from(measured_ns.max(SECOND));
        let is_many = |it: &&Taken| {
            u128::from(it.count) * u128::from(SECOND) >= u128::from(MANY_A_SECOND) * time
        };
        let locality = self.adapter.value();
        let taken = locality.and_then(|it| it.interrupted.value()).into_iter().flatten();
        let many: CpuSet = taken.filter(is_many).map(|it| it.cpu).collect();
        many.and(&self.worked())
    }

    fn worked(&self) -> CpuSet {
        CpuSet::parse_list(&self.worked).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(n_nodes: u32, near: &str, worked: &str, interrupted: &[(u32, u64)]) -> Placement {
        let taken = interrupted.iter().map(|(cpu, count)| Taken { cpu: *cpu, count: *count });
        let locality = NicLocality {
            address: "0000:05:00.0".to_owned(),
            node: Known::Value(0),
            near: Known::Value(near.to_owned()),
            n_nodes: Known::Value(n_nodes),
            serving: Known::Value("0-3".to_owned()),
            interrupted: Known::Value(taken.collect()),
        };
        Placement {
            device: Known::Value("eth0".to_owned()),
            adapter: Known::Value(locality),
            worked: worked.to_owned(),
            incoming: String::new(),
        }
    }

    #[test]
    fn cpus_are_near_far_or_both_and_with_one_node_neither() {
        let of = |n_nodes, worked| on(n_nodes, "0-1", worked, &[]).nearness();
        assert_eq!(of(2, "0"), Some(Nearness::Near));
        assert_eq!(of(2, "1-2"), Some(Nearness::Mixed));
        assert_eq!(of(2, "2-3"), Some(Nearness::Far));
        assert_eq!(of(1, "2-3"), Some(Nearness::OnlyNode));
        assert_eq!(of(2, ""), None);
    }

    #[test]
    fn only_many_interrupts_a_second_on_a_cpu_that_worked_compete() {
        let placement = on(1, "0-3", "0-2", &[(3, 90_000), (1, 80_000), (0, 999)]);
        let of = |measured_ns| placement.competing(measured_ns).to_string();
        assert_eq!((of(1_000_000_000), of(80_000_000_000)), ("1".to_owned(), "1".to_owned()));
        // What comes when nothing is sent is many in the end, too.
        assert_eq!(of(81_000_000_000), "");
        // A test of a millisecond, and a second in which the host was read.
        assert_eq!(of(1_000_000), "1");
    }
}
