//! What perf counts on each CPU in one group: APERF, MPERF, TSC, PPERF, SMIs and context switches.
//!
//! One system call reads them all on their CPU. Everybody who may count on a CPU may have them: root,
//! CAP_PERFMON, or kernel.perf_event_paranoid of at most 0.
//!
//! A group is reopened after a failure, which restarts its counts at 0. An interval across a restart has no difference. So that
//! none can be computed, each restart lowers the counts below all earlier ones.

use super::cell_files::TableLayout;
use super::files::Files;
use crate::perf::{Group, counters};
use crate::{Live, Source};
use facts::counters::{Counters, Family};
use facts::pmu::Counter;
use facts::{CpuSet, Fact, HostView, Missing, Origin};

/// The source of [`Family::Clocks`], as messages call it.
const PMU: &str = "PMU msr of perf";

/// The groups of the CPUs.
#[derive(Debug)]
pub(super) struct PerfCounts {
    /// The clocks first, then context switches.
    counters: Vec<Counter>,
    clocks: Fact<TableLayout>,
    /// Clocks that are not to be believed.
    hidden: Vec<(Box<str>, Missing)>,
    switches: Fact<TableLayout>,
    /// Of every CPU that was ever online, ascending: the group of one that went fails until it is back.
    slots: Vec<PerfSlot>,
}

impl PerfCounts {
    /// Opens those of the wanted counters, clocks and context switches, that open on the first CPU, on all of
    /// them.
    pub(super) fn open(
        files: &mut Files,
        host: &HostView,
        wanted: [bool; 2],
        online: &CpuSet,
    ) -> PerfCounts {
        let [wants_clocks, wants_switches] = wanted;
        let first = online.first().unwrap_or(0);
        let mut hidden = Vec::new();
        let mut clocks =
            if wants_clocks { clocks(&files.live, first) } else { unasked(Family::Clocks) };
        if let Ok(clocks) = &mut clocks {
            hidden = hide(clocks, host, first);
        }
        let switches = if wants_switches {
            switches(&files.live, first)
        } else {
            unasked(Family::ContextSwitches)
        };
        let mut counters = clocks.clone().unwrap_or_default();
        counters.extend(switches.clone());
        let mut counts = PerfCounts {
            clocks: clocks.map(|clocks| TableLayout::new([], clocks.iter().map(event_name))),
            switches: switches.map(|_| TableLayout::new([], ["switches"])),
            hidden,
            counters,
            slots: Vec::new(),
        };
        counts.renew(files, online);
        counts
    }

    /// Has a row for each of these CPUs from here on.
    pub(super) fn renew(&mut self, files: &mut Files, online: &CpuSet) {
        for layout in [&mut self.clocks, &mut self.switches].into_iter().flatten() {
            layout.rows = online.iter().collect();
        }
        if self.counters.is_empty() {
            return;
        }
        for cpu in online.iter() {
            if let Err(at) = self.slots.binary_search_by_key(&cpu, PerfSlot::cpu)
                && files.take(self.counters.len()).is_ok()
            {
                self.slots.insert(at, PerfSlot::open(cpu, &self.counters));
            }
        }
    }

    /// Whether [`Family::Clocks`] has this column.
    pub(super) fn has_clock(&self, name: &str) -> bool {
        let has = |layout: &TableLayout| layout.columns.iter().any(|column| **column == *name);
        self.clocks.as_ref().is_ok_and(has)
    }

    /// Begins the table of one of its two families.
    pub(super) fn begin(&self, into: &mut Counters, family: Family, read_at: u64) {
        let table = into.table_mut(family);
        match if family == Family::Clocks { &self.clocks } else { &self.switches } {
            Ok(layout) => layout.begin(table, read_at),
            Err(missing) => *table = Err(missing.clone()),
        }
        if let (Family::Clocks, Ok(table)) = (family, table) {
            table.set_source(PMU);
            for (column, why) in &self.hidden {
                table.blank_column(column, why.clone());
            }
        }
    }

    /// Reads the CPU in one row, after [`PerfCounts::begin`].
    pub(super) fn read_row(&mut self, into: &mut Counters, row: usize, cpu: u32, read_at: u64) {
        if self.counters.is_empty() {
            return;
        }
        let slot = self.slots.binary_search_by_key(&cpu, PerfSlot::cpu);
        let counts = match slot.ok().and_then(|at| self.slots.get_mut(at)) {
            Some(slot) => slot.read(&self.counters),
            None => Err(Missing::not_collected(format!(
                "perf events of CPU {cpu}, for want of descriptors"
            ))),
        };
        let n_clocks = self.clocks.as_ref().map_or(0, |layout| layout.columns.len());
        for (layout, family, n_before) in
            [(&self.clocks, Family::Clocks, 0), (&self.switches, Family::ContextSwitches, n_clocks)]
        {
            let (Ok(_), Ok(table)) = (layout, into.table_mut(family)) else { continue };
            match &counts {
                Ok(counts) => {
                    let cells = table.row_mut(row, read_at).iter_mut();
                    cells
                        .zip(counts.iter().skip(n_before))
                        .for_each(|(cell, count)| *cell = *count);
                }
                Err(missing) => table.blank_row(cpu, missing.clone()),
            }
        }
    }
}

fn unasked<T>(family: Family) -> Fact<T> {
    Err(Missing::not_collected(family.source()))
}

/// The clocks, where they open on `cpu` together.
fn clocks(live: &Live, cpu: u32) -> Fact<Vec<Counter>> {
    if live.origin() != Origin::Live {
        return unasked(Family::Clocks);
    }
    let clocks = counters::clocks(live)?;
    Group::open(cpu, &clocks).map(|_| clocks)
}

/// Takes those clocks out that a hypervisor makes up for its guest: SMIs are the guest's own, and APERF, MPERF
/// and PPERF count only if they move, which reading them would do.
fn hide(clocks: &mut Vec<Counter>, host: &HostView, cpu: u32) -> Vec<(Box<str>, Missing)> {
    let Err(why) = host.platform.hides("register") else { return Vec::new() };
    let moving: Vec<bool> = Group::open(cpu, clocks)
        .and_then(|mut group| {
            let (mut first, mut second) = ([0; MOST_COUNTERS], [0; MOST_COUNTERS]);
            group.read(&mut first)?;
            group.read(&mut second)?;
            Ok(first.iter().zip(second).map(|(first, second)| second > *first).collect())
        })
        .unwrap_or_default();
    let names = clocks.iter().map(event_name).zip(moving);
    let moving: Vec<String> =
        names.filter(|(_, moves)| *moves).map(|(name, _)| name.to_owned()).collect();
    let moves = |name: &str| moving.iter().any(|it| it == name);
    let is_true = |name: &str| match name {
        "tsc" => true,
        "smi" => false,
        _ => moves("aperf") && moves("mperf") && moves(name),
    };
    let hidden = clocks.iter().map(event_name).filter(|name| !is_true(name));
    let hidden =
        hidden.map(|name| (name.into(), Missing { what: name.to_uppercase(), ..why.clone() }));
    let hidden = hidden.collect();
    clocks.retain(|clock| is_true(event_name(clock)));
    hidden
}

fn switches(live: &Live, cpu: u32) -> Fact<Counter> {
    if live.origin() != Origin::Live {
        return unasked(Family::ContextSwitches);
    }
    let switches = counters::context_switches();
    Group::open(cpu, std::slice::from_ref(&switches)).map(|_| switches)
}

/// `aperf` of `msr/aperf/`.
pub(super) fn event_name(counter: &Counter) -> &str {
    counter.name.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// More than any group here has.
pub(super) const MOST_COUNTERS: usize = 16;

/// A group that can fail: its CPU goes offline, or other users take its hardware.
#[derive(Debug)]
pub(super) struct PerfSlot {
    cpu: u32,
    group: Fact<Group>,
    epoch: Epoch,
}

impl PerfSlot {
    /// Opens `counters` on `cpu`; where that fails, reading says why.
    pub(super) fn open(cpu: u32, counters: &[Counter]) -> PerfSlot {
        PerfSlot { cpu, group: Group::open(cpu, counters), epoch: Epoch::first() }
    }

    /// The CPU.
    pub(super) fn cpu(&self) -> u32 {
        self.cpu
    }

    /// The counts, in the order of `counters`. A group that fails is opened again, so that the next reading may
    /// have counts.
    pub(super) fn read(&mut self, counters: &[Counter]) -> Fact<[u64; MOST_COUNTERS]> {
        let mut counts = [0; MOST_COUNTERS];
        let read = match &mut self.group {
            Ok(group) => group.read(&mut counts),
            Err(missing) => Err(missing.clone()),
        };
        if let Err(missing) = read {
            self.group = Group::open(self.cpu, counters);
            self.epoch = self.epoch.next();
            return Err(missing);
        }
        Ok(counts.map(|count| self.epoch.count(count)))
    }
}

/// More than any counter reaches in a year (2^57 cycles at 4 GHz are 417 days); room for 64 restarts.
const STEP: u64 = 1 << 57;

/// The offset of the counts since a restart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch(u64);

impl Epoch {
    /// The offset before any restart.
    pub(super) fn first() -> Epoch {
        Epoch(63 * STEP)
    }

    /// The offset after one more restart. After the 63rd it stays the same, and a difference may be wrong.
    pub(super) fn next(self) -> Epoch {
        Epoch(self.0.saturating_sub(STEP))
    }

    /// A count since the restart, with the offset.
    pub(super) fn count(self, count: u64) -> u64 {
        self.0.saturating_add(count.min(STEP - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_began_again_is_below_what_it_was() {
        let (first, later) = (Epoch::first(), Epoch::first().next());
        assert!(later.count(u64::MAX) < first.count(0));
        assert_eq!(first.count(12) - first.count(5), 7);
    }
}
