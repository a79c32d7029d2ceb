//! What a look of some seconds at a running host saw: counters at both ends, and registers several times in between.
//!
//! A log bit or a count since boot proves no present. What rises while somebody looks does. Nothing is cleared for it: a log that was set
//! already when the look began tells nothing of the look.

use crate::cpu::delivered::Excursions;
use crate::cpu::throttling::Throttling;
use crate::power::plr;
use crate::quantity::short_span;
use crate::{CpuSet, Hertz, PerCpu};
use std::collections::BTreeMap;
use std::time::Duration;

/// The shortest look that can be requested: that of every audit.
pub const SHORTEST: Duration = crate::cpu::delivered::LOOK;

/// The longest look that can be requested.
pub const LONGEST: Duration = Duration::from_secs(60);

/// Something that a look can watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// The counters in `thermal_throttle` and `throttle_stats`, at both ends.
    Throttling,
    /// Thermal status and limit reasons of Intel's processors, several times: their lower bits are the state of the moment.
    Signals,
    /// The logs that the platform keeps: `perf_limited` and PLR, at both ends.
    Logs,
    /// The count of system management interrupts, at both ends.
    Smis,
}

/// What a look saw. The host's own facts are those of its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    /// How long it took.
    pub time: Duration,
    /// What was watched.
    pub sights: Vec<Sight>,
    /// The counters of throttling when it began.
    pub throttling: Throttling,
    /// Every reading of a register in order, by its address and the CPU that was asked.
    pub registers: BTreeMap<(u32, u32), Vec<u64>>,
    /// `perf_limited` of each policy when it began, by the first CPU of the policy.
    pub excursions: PerCpu<Excursions>,
    /// The log of performance limits when it began.
    pub plr: plr::Domains,
    /// Every clock that the kernel showed of a CPU, in order, where no counter tells the clock.
    pub clocks: BTreeMap<u32, Vec<Hertz>>,
}

impl Watched {
    /// Whether this was watched.
    pub fn has(&self, sight: Sight) -> bool {
        self.sights.contains(&sight)
    }

    /// The middle one of the clocks that the kernel showed of a CPU; `None` where it showed none.
    pub fn clock(&self, cpu: u32) -> Option<Hertz> {
        let mut clocks = self.clocks.get(&cpu)?.clone();
        clocks.sort_unstable();
        clocks.get(clocks.len() / 2).copied()
    }

    /// "in the 2 s that were looked at".
    pub fn within(&self) -> String {
        format!("in the {} that were looked at", time(self.time))
    }
}

/// What a look costs the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// How long it takes.
    pub time: Duration,
    /// So many CPUs have the counters of their clock read twice.
    pub n_clocks: usize,
    /// So many registers are read `n_readings` times each; each reading interrupts the CPU that is asked.
    pub n_registers: usize,
    /// How often each of these registers is read.
    pub n_readings: usize,
    /// So many registers that count are read twice; each reading interrupts the CPU that is asked.
    pub n_counts: usize,
    /// How many times the clocks that the kernel shows are read; 0 where a counter tells them.
    pub n_samples: usize,
    /// So many cores, packages and policies have files that are read twice.
    pub n_files: usize,
    /// CPUs that are kept free of interruptions, and of which no register is read.
    pub left_alone: CpuSet,
}

/// How long a look takes or took: `2 s`, `50 ms`.
pub fn time(time: Duration) -> String {
    short_span(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
