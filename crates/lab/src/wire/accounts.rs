//! Who keeps the ledger of one end: counters are read before the first message size and behind the last, and never between.
//!
//! Nothing is traced, and no event of perf counts what a round trip is made of: a tracepoint costs every switch and interrupt
//! some tenths of a microsecond, and an event that counts context switches as much (measured: round trips over loopback
//! take 1.8 % longer while each end has one on both CPUs, see benches/README.md). Interrupts are counted by the kernel anyway,
//! and priced by what a probe found one to cost on this machine before the test. What runs on a CPU between the two readings,
//! and has ended, is known only of this program.

use super::ledger::Ledger;
use super::perftest;
use crate::bench::{Recorder, Work};
use crate::known::Known;
use facts::counters::Family;
use facts::probe::{ClockReading, EventCosts};
use facts::{CpuSet, Fact, HostView};
use host::counters::Wanted;
use host::probe::{Windows, clock, pinned};
use rules::check::Check;
use rules::finding::Finding;

/// The counters of one end.
pub struct Accounts<'a> {
    recorder: Recorder<'a>,
    /// What the clock probe saw behind each message size.
    clocks: Vec<ClockReading>,
    /// How long programs of perftest ran.
    programs_ns: u64,
    is_open: bool,
}

impl<'a> Accounts<'a> {
    /// Opens the counters; `costs` is what an interrupt costs on this host.
    pub fn of(host: &'a HostView, costs: Fact<EventCosts>) -> Accounts<'a> {
        let ledger = Wanted::ledger();
        let is_free = |it: &Family| *it != Family::ContextSwitches;
        let families = ledger.families.iter().copied().filter(is_free).collect();
        let recorder = Recorder::of(host, costs, Wanted { families, ..ledger });
        Accounts { recorder, clocks: Vec::new(), programs_ns: 0, is_open: false }
    }

    /// Reads them, unless that was done before: the first message size begins.
    pub fn begin(&mut self) {
        if !self.is_open {
            self.recorder.begin_apart();
            self.is_open = true;
        }
    }

    /// Notes what was seen of a message size.
    pub fn note(&mut self, clocks: &[ClockReading]) {
        self.clocks.extend_from_slice(clocks);
    }

    /// Notes a program that ran for a message size, and has ended.
    pub fn note_program(&mut self, ran: &perftest::Ran) {
        self.programs_ns = self.programs_ns.saturating_add(ran.work.cpu_ns);
        self.clocks.extend(ran.clock.iter());
    }

    /// Asks the clocks of those of `cpus` that no message size ended on, and that have no reading for that: right behind the last
    /// size, before they have time to fall.
    pub fn look_at_clocks(&mut self, cpus: &CpuSet) {
        for cpu in cpus.iter() {
            if self.clocks.iter().any(|it| it.cpu == cpu) {
                continue;
            }
            // Without one, the time of that CPU's tasks is not known, which the ledger says.
            self.clocks.extend(pinned(cpu, || clock(Windows::SHORT)).and_then(|it| it));
        }
    }

    /// Reads them behind the last message size, and makes the ledger of the CPUs that worked. `after` is the host as it is then,
    /// with what an audit found there.
    pub fn close(
        &mut self,
        cpus: &CpuSet,
        after: &HostView,
        findings: &[(&'static Check, Finding)],
    ) -> Known<Ledger> {
        let work = Work {
            cpus,
            processes: vec![std::process::id()],
            tasks: Vec::new(),
            cpu_ns: None,
            clocks: std::mem::take(&mut self.clocks),
        };
        let ledger = self.recorder.ledger(work, self.programs_ns, after, findings);
        ledger.map(|it| Ledger::of(&it)).into()
    }
}
