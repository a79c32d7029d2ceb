//! The thread that takes traced events out of their rings while an interval goes on.

use facts::trace::timeline::Timeline;
use facts::trace::waits::{Wait, Waits};
use facts::trace::{CpuTotals, Event, What};
use facts::{CpuSet, Fact, Missing, PerCpu};
use host::perf::Tracer;
use host::process;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

/// A ring that fills up sooner ends the wait, so this only bounds how late the end is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Events of at most 80 bytes that are kept while a sample is taken. More stay in their rings, where the kernel counts what is lost.
const MOST_KEPT: usize = 1 << 19;

/// A machine that forks more often than this in an interval is described well enough by them.
const MOST_FORKS: usize = 1 << 20;

/// What the thread that measures tells the one that traces: the moments between which it accounts.
///
/// A sample takes up to half a second on a busy machine, and rings fill up in less. So they are emptied while a sample is taken, and the
/// events are kept until both ends of the interval are known.
#[derive(Default)]
pub(super) struct Signs {
    begins_ns: OnceLock<u64>,
    is_ending: AtomicBool,
    is_over: AtomicBool,
}

impl Signs {
    /// The interval began at this moment of CLOCK_MONOTONIC_RAW.
    pub(super) fn begin(&self, at_ns: u64) {
        self.begins_ns.get_or_init(|| at_ns);
    }

    /// The interval ends at some moment from now on.
    pub(super) fn end_soon(&self) {
        self.is_ending.store(true, Ordering::Release);
    }

    /// Nothing more is to be taken out of the rings.
    pub(super) fn finish(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// The thread that traces.
pub(super) struct Tracing<'scope> {
    thread: ScopedJoinHandle<'scope, Traced>,
}

/// Open tracepoints, and the events that they delivered.
pub(super) struct Traced {
    tracer: Tracer,
    accounts: Option<Accounts>,
    waits: Waits,
    forks: Vec<Fork>,
    /// Each CPU's in their order, of moments of which it is not known yet whether the interval holds them.
    kept: Vec<Event>,
    failed: Option<Missing>,
}

impl<'scope> Tracing<'scope> {
    /// Empties the rings of `tracer` until `signs` end it. Accounts for the interval of `signs`, and follows the tasks `followed` in it.
    /// Error: no thread can be started.
    pub(super) fn start(
        scope: &'scope Scope<'scope, '_>,
        tracer: Tracer,
        followed: &[u32],
        signs: &'scope Signs,
    ) -> Fact<Tracing<'scope>> {
        let mut waits = Waits::default();
        for &tid in followed {
            waits.follow(tid.cast_signed());
        }
        let (forks, kept) = (Vec::new(), Vec::new());
        let mut traced = Traced { tracer, accounts: None, waits, forks, kept, failed: None };
        let work = move || {
            while traced.failed.is_none() && !signs.is_over.load(Ordering::Relaxed) {
                traced.failed = traced.tracer.wait(PATIENCE).err();
                traced.take(host::probe::anchor().raw_ns, signs);
            }
            traced
        };
        let thread = process::scoped_thread(scope, "trace", "trace of the CPUs", work)?;
        Ok(Tracing { thread })
    }

    /// Waits for the thread, which was told that it is over.
    pub(super) fn stop(self) -> Traced {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Traced {
    /// Empties the rings of what happened up to now.
    fn take(&mut self, now_ns: u64, signs: &Signs) {
        // Asked after the clock was: while no end is near, the end is later than `now_ns`.
        let is_ending = signs.is_ending.load(Ordering::Acquire);
        match signs.begins_ns.get() {
            Some(begins_ns) if !is_ending => self.account(*begins_ns, now_ns),
            _ if self.kept.len() < MOST_KEPT => {
                self.tracer.drain(now_ns, |event| self.kept.push(*event));
            }
            _ => {}
        }
    }

    /// Takes in every event up to a moment.
    fn account(&mut self, begins_ns: u64, until_ns: u64) {
        let Traced { tracer, accounts, waits, forks, kept, .. } = self;
        let accounts =
            accounts.get_or_insert_with(|| Accounts::beginning(&tracer.cpus(), begins_ns));
        let mut push = |event: &Event| {
            if let What::Fork { parent, child } = event.what
                && forks.len() < MOST_FORKS
            {
                forks.push(Fork { parent: parent.cast_unsigned(), child: child.cast_unsigned() });
            }
            waits.push(event);
            accounts.push(event);
        };
        within(kept.drain(..), until_ns).for_each(|event| push(&event));
        tracer.drain(until_ns, push);
        waits.settle(until_ns);
    }

    /// Ends the accounts of an interval, and says what was traced.
    pub(super) fn end(mut self, begins_ns: u64, ends_ns: u64) -> Outcome {
        if let Some(why) = &self.failed {
            let none = Outcome::none(&self.tracer.cpus(), why);
            return Outcome { tracer: Some(self.tracer), ..none };
        }
        self.account(begins_ns, ends_ns);
        let refused = self.tracer.refused().to_vec();
        let refused = refused.into_iter().map(|(cpu, why)| (cpu, Err(why)));
        let gone: BTreeMap<u32, Missing> = self.tracer.gone().into_iter().collect();
        let totals = self.accounts.into_iter().flat_map(|it| it.end(ends_ns));
        let totals = totals.map(|(cpu, totals)| match gone.get(&cpu) {
            Some(why) => (cpu, Err(why.clone())),
            None => (cpu, Ok(totals)),
        });
        // Without wake-ups a wait is the smaller part of itself.
        let is_blind = self.tracer.lacking().iter().any(|it| it.what.contains("sched_wakeup"));
        let waits = self.waits.take().filter(|_| !is_blind);
        let kept_off = waits.filter_map(|(tid, wait)| Some((u32::try_from(tid).ok()?, wait)));
        let kept_off = kept_off.collect();
        Outcome {
            totals: totals.chain(refused).collect(),
            kept_off,
            forks: self.forks,
            tracer: Some(self.tracer),
        }
    }
}

/// The events up to a moment. Where events were lost around it, they were lost until then.
fn within(events: impl Iterator<Item = Event>, until_ns: u64) -> impl Iterator<Item = Event> {
    let mut over = BTreeSet::new();
    events.filter_map(move |event| {
        if event.at_ns <= until_ns {
            return Some(event);
        }
        let is_next = over.insert(event.cpu);
        let is_lost = matches!(event.what, What::Lost(_));
        (is_next && is_lost).then_some(Event { at_ns: until_ns, ..event })
    })
}

/// What was traced in an interval.
pub struct Outcome {
    /// Where each CPU's time went.
    pub totals: PerCpu<CpuTotals>,
    /// How long each of the followed tasks was kept from running.
    pub kept_off: BTreeMap<u32, Wait>,
    /// Tasks that came to be.
    pub forks: Vec<Fork>,
    /// The tracepoints, still open: the kernel takes most of a second to close them, so that is best done when the
    /// results are out.
    pub tracer: Option<Tracer>,
}

impl Outcome {
    pub(super) fn none(cpus: &CpuSet, why: &Missing) -> Outcome {
        let totals = cpus.iter().map(|cpu| (cpu, Err(why.clone()))).collect();
        Outcome { totals, kept_off: BTreeMap::new(), forks: Vec::new(), tracer: None }
    }
}

/// Traced events as totals of one interval: one timeline for each CPU.
///
/// Tracing begins before the interval, and the events until then tell what runs on each CPU at its beginning.
pub(super) struct Accounts {
    cpus: BTreeMap<u32, Account>,
    begins_ns: u64,
}

struct Account {
    timeline: Timeline,
    has_begun: bool,
}

impl Accounts {
    /// Accounts of an interval that begins at this moment of CLOCK_MONOTONIC_RAW, in nanoseconds.
    pub(super) fn beginning(cpus: &CpuSet, begins_ns: u64) -> Accounts {
        let account = |cpu| (cpu, Account { timeline: Timeline::new(), has_begun: false });
        Accounts { cpus: cpus.iter().map(account).collect(), begins_ns }
    }

    /// Takes in the next event of its CPU.
    pub(super) fn push(&mut self, event: &Event) {
        let Some(account) = self.cpus.get_mut(&event.cpu) else { return };
        if event.at_ns >= self.begins_ns {
            account.begin(self.begins_ns);
        }
        account.timeline.push(event);
    }

    /// Ends the interval, all events of which have been pushed. The totals of every CPU.
    pub(super) fn end(self, ends_ns: u64) -> impl Iterator<Item = (u32, CpuTotals)> {
        let begins_ns = self.begins_ns;
        self.cpus.into_iter().map(move |(cpu, mut account)| {
            // A CPU without an event, as a busy tickless one is, goes on with what it ran before.
            account.begin(begins_ns);
            (cpu, account.timeline.end(ends_ns))
        })
    }
}

impl Account {
    fn begin(&mut self, at_ns: u64) {
        if !self.has_begun {
            self.timeline.begin(at_ns);
            self.has_begun = true;
        }
    }
}

/// One task made another, by thread id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The one that there was.
    pub parent: u32,
    /// The one that there is too.
    pub child: u32,
}

/// The tasks of `known`, each with the process that it belongs to, and with the same process every task that descends from one of
/// them, in any order of `forks`: those of two CPUs arrive one CPU after the other.
pub(crate) fn kin(forks: &[Fork], known: BTreeMap<u32, u32>) -> BTreeMap<u32, u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for fork in forks {
        children.entry(fork.parent).or_default().push(fork.child);
    }
    let mut open: Vec<(u32, u32)> = known.iter().map(|(task, process)| (*task, *process)).collect();
    let mut kin = known;
    while let Some((parent, process)) = open.pop() {
        for &child in children.get(&parent).into_iter().flatten() {
            if let Entry::Vacant(unknown) = kin.entry(child) {
                unknown.insert(process);
                open.push((child, process));
            }
        }
    }
    kin
}

#[cfg(test)]
mod tests {
    use super::super::Finishing;
    use super::*;
    use facts::trace::tracepoint::Wanted;
    use facts::trace::{Comm, Task, What};
    use host::probe::{allowed, anchor, pinned};
    use host::{Live, Source};
    use std::sync::mpsc;

    fn switch(at_ns: u64, prev: i32, next: i32) -> Event {
        let task = |tid| Task { tid, comm: Comm::new("x") };
        let what = What::Switch { prev: task(prev), prev_state: 0, next: task(next) };
        Event { at_ns, cpu: 0, running: Some(prev), what }
    }

    #[test]
    fn what_ran_before_the_interval_is_known_within_it() {
        let mut accounts = Accounts::beginning(&[0].into_iter().collect(), 100);
        accounts.push(&switch(50, 0, 7));
        accounts.push(&switch(150, 7, 0));
        let (_, totals) = accounts.end(200).next().unwrap();
        assert_eq!((totals.wall_ns, totals.idle_ns, totals.task_ns()), (100, 50, 50));
    }

    #[test]
    fn a_cpu_whose_one_task_never_stops_has_a_total_too() {
        let mut accounts = Accounts::beginning(&[0].into_iter().collect(), 100);
        accounts.push(&switch(50, 0, 7));
        let (_, totals) = accounts.end(200).next().unwrap();
        assert_eq!(totals.task_ns(), 100);
    }

    #[test]
    fn a_loss_around_the_end_is_one_until_then_and_what_follows_an_event_after_it_is_none() {
        let lost = |at_ns, cpu| Event { cpu, what: What::Lost(3), ..switch(at_ns, 0, 7) };
        let later = Event { cpu: 1, ..switch(210, 0, 7) };
        let events = [switch(150, 7, 0), lost(220, 0), switch(230, 0, 7), later, lost(220, 1)];
        let kept: Vec<_> = within(events.into_iter(), 200).map(|it| (it.at_ns, it.cpu)).collect();
        assert_eq!(kept, [(150, 0), (200, 0)]);
    }

    /// A ring holds a fifth of them: without a reader the others are lost.
    const SWITCHES: u32 = 30_000;

    /// Has two threads of this CPU switch to each other.
    fn switch_to_and_fro() {
        let (ask, asked) = mpsc::channel();
        let (answer, answered) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || asked.iter().for_each(|()| answer.send(()).unwrap()));
            for _ in 0..SWITCHES / 2 {
                ask.send(()).unwrap();
                answered.recv().unwrap();
            }
            drop(ask);
        });
    }

    #[test]
    fn rings_are_emptied_while_a_sample_is_taken() {
        let source: &dyn Source = &Live::this_machine();
        let cpus = allowed().unwrap();
        let cpu = cpus.first().unwrap();
        let tracer = Tracer::open_anyway(source, &[cpu].into_iter().collect(), Wanted::SWITCHES);
        // Where nothing may be traced, as in a container.
        let Ok(tracer) = tracer else { return };
        let signs = Signs::default();
        let traced = std::thread::scope(|scope| {
            let finishing = Finishing(&signs);
            let tracing = Tracing::start(scope, tracer, &[], &signs).unwrap();
            pinned(cpu, switch_to_and_fro).unwrap();
            let begins_ns = anchor().raw_ns;
            signs.begin(begins_ns);
            signs.end_soon();
            pinned(cpu, switch_to_and_fro).unwrap();
            let ends_ns = anchor().raw_ns;
            drop(finishing);
            tracing.stop().end(begins_ns, ends_ns)
        });
        let totals = traced.totals.get(cpu).unwrap().as_ref().unwrap();
        // The reader may get its CPU late, so that some are lost all the same.
        assert!(totals.unknown_ns < totals.wall_ns / 2, "{totals:?}");
    }

    #[test]
    fn a_grandchild_is_kin_whatever_order_the_forks_come_in() {
        let forks = [(8, 9), (7, 8), (3, 4), (9, 7)].map(|(parent, child)| Fork { parent, child });
        let of = |known: &[(u32, u32)]| kin(&forks, known.iter().copied().collect());
        assert_eq!(of(&[(7, 7)]), [(7, 7), (8, 7), (9, 7)].into());
        assert_eq!(of(&[(7, 7), (9, 9)]), [(7, 7), (8, 7), (9, 9)].into());
        assert_eq!(of(&[(1, 1)]), [(1, 1)].into());
    }
}
