//! The ledger of one end: which counters it is made from, and the few lines that the server sends and the client shows.
//!
//! The largest parts of each loss have a line of their own and the others share one, so that the ledger of a machine with a
//! thousand processes can be read, and sent in one line of the protocol.

use super::figures::Ran;
use crate::bench::{Recorder, Work};
use crate::known::Known;
use facts::counters::Family;
use facts::probe::{ClockReading, EventCosts};
use facts::{CpuSet, Fact, HostView};
use host::counters::Wanted;
use host::probe::{Windows, clock, pinned};
use rules::check::Check;
use rules::finding::Finding;
use rules::ledger::{Explanation, Line};
use serde::{Deserialize, Serialize};

/// Parts of a loss that have a line of their own.
const MOST_PARTS: usize = 8;

/// What the line of all other parts is called.
const OTHERS: &str = "others";

/// Where the time of the CPUs that worked went, from before the first message size to after the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// The CPUs, as the kernel writes lists.
    pub cpus: String,
    /// How long, in nanoseconds.
    pub wall_ns: u64,
    /// In the order of a ledger.
    pub lines: Vec<Entry>,
    /// What no line accounts for, as a share of the CPUs' time.
    pub unexplained: f64,
    /// What has to be said with it.
    pub notes: Vec<String>,
}

/// A line of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The loss's id.
    pub loss: String,
    /// Which part of it; empty where it is one thing.
    pub part: String,
    /// Its share of the CPUs' time, 1 being all of it, or why it is not known.
    pub share: Known<f64>,
    /// How far off that may be either way.
    pub uncertainty: f64,
    /// The least sure way in which it was obtained: `counter`, `probe`, `derived`.
    pub method: String,
    /// Findings of an audit that explain it.
    pub causes: Vec<Cause>,
}

/// A finding that explains a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// The check's id.
    pub check: String,
    /// The first command that fixes it until the next boot.
    pub fix: Option<String>,
}

impl Ledger {
    /// In few lines.
    pub(super) fn of(ledger: &rules::ledger::Ledger) -> Ledger {
        let capacity = ledger.capacity_ns().max(1) as f64;
        let of_one_loss = |a: &Line, b: &Line| a.loss.id == b.loss.id;
        let lines = ledger.lines.chunk_by(of_one_loss).flat_map(|it| entries(it, capacity));
        Ledger {
            cpus: ledger.cpus.to_string(),
            wall_ns: ledger.wall_ns,
            lines: lines.collect(),
            unexplained: ledger.unexplained_ns as f64 / capacity,
            notes: ledger.notes.clone(),
        }
    }
}

/// The lines of one loss, of which the first are the largest.
fn entries(lines: &[Line], capacity: f64) -> Vec<Entry> {
    // One more part needs no more room than the line of all others.
    let most = if lines.len() > MOST_PARTS + 1 { MOST_PARTS } else { lines.len() };
    let (shown, others) = lines.split_at(most);
    let mut entries: Vec<Entry> = shown.iter().map(|it| entry(it, capacity)).collect();
    if let [first, rest @ ..] = others {
        let all = rest.iter().fold(entry(first, capacity), |all, it| all.with(entry(it, capacity)));
        entries.push(Entry { part: OTHERS.to_owned(), ..all });
    }
    entries
}

fn entry(line: &Line, capacity: f64) -> Entry {
    let cause = |it: &Explanation| Cause { check: it.check.to_owned(), fix: it.fix.clone() };
    Entry {
        loss: line.loss.id.to_owned(),
        part: line.part.clone(),
        share: line.ns.clone().map(|ns| ns as f64 / capacity).into(),
        uncertainty: line.uncertainty_ns as f64 / capacity,
        method: line.method.name().to_owned(),
        causes: line.findings.iter().map(cause).collect(),
    }
}

impl Entry {
    /// Both together. Their errors may add up.
    fn with(mut self, other: Entry) -> Entry {
        self.share = match (self.share, other.share) {
            (Known::Value(a), Known::Value(b)) => Known::Value(a + b),
            (known @ Known::Value(_), _) | (_, known) => known,
        };
        self.uncertainty += other.uncertainty;
        for cause in other.causes {
            if !self.causes.contains(&cause) {
                self.causes.push(cause);
            }
        }
        self
    }
}

/// The counters of one end.
///
/// Nothing is traced, and no event of perf counts what a round trip is made of: a tracepoint costs every switch and interrupt
/// some tenths of a microsecond, and an event that counts context switches as much (measured: round trips over loopback
/// take 1.8 % longer while each end has one on both CPUs, see benches/README.md). Interrupts are counted by the kernel anyway,
/// and priced by what a probe found one to cost on this machine before the test. What runs on a CPU between the two readings,
/// and has ended, is known only of this program.
pub struct Accounts<'a> {
    recorder: Recorder<'a>,
    /// What the clock probe read after each message size.
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

    /// Adds the clocks that were read after a message size.
    pub fn note(&mut self, clocks: &[ClockReading]) {
        self.clocks.extend_from_slice(clocks);
    }

    /// Adds a program that ran for a message size, and has ended.
    pub fn note_program(&mut self, ran: &Ran) {
        self.programs_ns = self.programs_ns.saturating_add(ran.work.cpu_ns);
        self.clocks.extend(ran.clock.iter());
    }

    /// Asks the clocks of those of `cpus` that no message size ended on, and that have no reading for that: right after the last
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

    /// Reads them after the last message size, and makes the ledger of the CPUs that worked. `after` is the host as it is then,
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
            server: None,
            cpu_ns: None,
            clocks: std::mem::take(&mut self.clocks),
        };
        let ledger = self.recorder.ledger(work, self.programs_ns, after, findings);
        ledger.map(|it| Ledger::of(&it)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::CpuSet;
    use rules::loss::Method;
    use rules::losses::LOSSES;

    fn line(loss: &str, part: &str, ns: i64) -> Line {
        Line {
            loss: LOSSES.iter().find(|it| it.id == loss).unwrap(),
            part: part.to_owned(),
            ns: Ok(ns),
            method: Method::Counter,
            source: String::new(),
            uncertainty_ns: 1_000_000,
            interrupted_ns: None,
            party: None,
            cpus: Vec::new(),
            missing: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn ledger(lines: Vec<Line>) -> rules::ledger::Ledger {
        rules::ledger::Ledger {
            cpus: [3].into_iter().collect::<CpuSet>(),
            wall_ns: 1_000_000_000,
            reference: Err(facts::Missing::not_collected("a clock")),
            references: facts::PerCpu::default(),
            lines,
            unexplained_ns: 20_000_000,
            unexplained: vec![(3, 20_000_000)],
            waiting: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn many_parts_of_a_loss_are_told_together_and_nothing_is_left_out() {
        let parts = (0..12).map(|it| line("other-tasks", &format!("task{it}"), 20_000_000 - it));
        let whole = ledger([line("idle", "", 500_000_000)].into_iter().chain(parts).collect());
        let told = Ledger::of(&whole);
        assert_eq!((told.lines.len(), told.lines[9].part.as_str()), (1 + MOST_PARTS + 1, OTHERS));
        let sum: f64 = told.lines.iter().filter_map(|it| it.share.value()).sum();
        assert!((sum - 0.74).abs() < 1e-6 && (told.unexplained - 0.02).abs() < 1e-9, "{told:?}");
        assert!((told.lines[9].uncertainty - 0.004).abs() < 1e-9);
    }

    #[test]
    fn what_explains_several_parts_that_are_told_together_is_named_once() {
        let entry = |checks: &[&str]| Entry {
            causes: checks.iter().map(|it| Cause { check: (*it).to_owned(), fix: None }).collect(),
            ..entry(&line("other-tasks", "", 1), 1e9)
        };
        let all = entry(&["a"]).with(entry(&["a", "b"])).with(entry(&["b"]));
        let checks: Vec<&str> = all.causes.iter().map(|it| it.check.as_str()).collect();
        assert_eq!(checks, ["a", "b"]);
    }

    #[test]
    fn what_is_not_known_keeps_its_reason() {
        let mut stolen = line("stolen", "", 0);
        stolen.ns = Err(facts::Missing::absent("/proc/stat"));
        let told = Ledger::of(&ledger(vec![stolen]));
        assert_eq!(told.lines[0].share.reason(), Some("/proc/stat does not exist"));
    }
}
