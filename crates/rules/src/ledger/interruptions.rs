//! What interrupts, softirqs and ticks took from what they interrupted.
//!
//! Traced durations where there are any. Else the kernel's own account, where it keeps one
//! (CONFIG_IRQ_TIME_ACCOUNTING; elsewhere /proc/stat's fields are samples of the tick and nearly blind). Else counts
//! times the measured cost of one event. Entry and exit of the kernel are in that cost, and not in traced durations: to
//! those of interrupts that tasks were left for, the measured edge of one is added. Around an idle CPU's interrupts they
//! are part of its leaving and entering idle states. A device line that several handlers share has an edge for each.

use super::amount::{Amount, Method, part};
use super::evidence::Evidence;
use super::run_time::Accounting;
use crate::interval::Delta;
use facts::counters::Family;
use facts::probe::{EventCost, EventCosts};
use facts::trace::{Cause, CauseTime, CpuTotals};
use facts::{Fact, Missing, PerCpu, USER_TICK_NS};

/// One kind of interruption of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Interruption {
    /// Which: the kernel's name; empty where the kinds are not told apart.
    pub(crate) name: String,
    /// All of its time.
    pub(crate) amount: Amount,
    /// The part of it that was taken from tasks, where that is known.
    pub(crate) in_tasks_ns: Option<u64>,
    /// The part of that which entry and exit took: the kernel counts it as the tasks', whatever else it leaves out.
    pub(crate) edges_ns: u64,
}

/// All interruptions of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Interruptions {
    /// The CPU's own timer.
    pub(crate) ticks: Fact<Vec<Interruption>>,
    /// Every other interrupt.
    pub(crate) interrupts: Fact<Vec<Interruption>>,
    pub(crate) softirqs: Fact<Vec<Interruption>>,
    /// Interrupts that were counted and have no cost: how many, and why. They stay with what they interrupted.
    pub(crate) without_cost: Option<(u64, Missing)>,
}

/// The interruptions of `cpu` in `wall_ns`.
pub(crate) fn interruptions(
    evidence: &Evidence<'_>,
    accounting: &Accounting,
    counted: &Counted<'_>,
    cpu: u32,
    wall_ns: u64,
) -> Interruptions {
    let traced = evidence.traced_on(cpu);
    if let Ok(totals) = traced
        && !totals.causes.is_empty()
    {
        return from_trace(evidence, totals, cpu, wall_ns);
    }
    let is_tick = |cause| cause == Cause::LocalTimer;
    let (ticks, _) = counted.times(cpu, wall_ns, is_tick);
    if accounting.leaves_out_interrupts == Ok(true) {
        let interrupts = accounted(evidence, cpu, wall_ns, "irq");
        let softirqs = accounted(evidence, cpu, wall_ns, "softirq");
        let known = ticks.as_ref().map_or(0, |it| total_ns(it));
        let without_ticks = |mut all: Vec<Interruption>| {
            all.iter_mut().for_each(|it| it.amount = it.amount.without(known));
            all
        };
        let interrupts = interrupts.map(without_ticks);
        return Interruptions { ticks, interrupts, softirqs, without_cost: None };
    }
    let (interrupts, without_cost) = counted.times(cpu, wall_ns, |cause| !is_tick(cause));
    let softirqs = Err(match &ticks {
        Ok(_) => Missing::not_here(
            "time of softirqs",
            "it is in the cost of the interrupts that raised them",
        ),
        Err(missing) => missing.clone(),
    });
    Interruptions { ticks, interrupts, softirqs, without_cost }
}

impl Interruptions {
    /// Everything that is known.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Interruption> {
        [&self.ticks, &self.interrupts, &self.softirqs].into_iter().flatten().flatten()
    }
}

/// The line of /proc/interrupts that counts the timer of each CPU: `LOC`, or the architecture's timer on Arm.
fn is_tick(column: &str) -> bool {
    column == "LOC" || column.contains("arch_timer")
}

fn total_ns(list: &[Interruption]) -> u64 {
    list.iter().fold(0, |sum, it| sum.saturating_add(it.amount.ns))
}

fn from_trace(
    evidence: &Evidence<'_>,
    totals: &CpuTotals,
    cpu: u32,
    wall_ns: u64,
) -> Interruptions {
    let (mut ticks, mut interrupts, mut softirqs) = (Vec::new(), Vec::new(), Vec::new());
    for (&cause, time) in &totals.causes {
        let (kind, name) = kind_of(evidence, cause);
        let list = match kind {
            Kind::Tick => &mut ticks,
            Kind::Interrupt => &mut interrupts,
            Kind::Softirq => &mut softirqs,
        };
        let mut one = of_cause(name, time, totals.wall_ns, wall_ns);
        if cause == Cause::LocalTimer {
            add_untraced(&mut one, evidence, totals, cpu);
        }
        if let Ok(edge) = &evidence.edge {
            one.add_edges(time.from_tasks, *edge);
        }
        list.push(one);
    }
    Interruptions {
        ticks: Ok(ticks),
        interrupts: Ok(interrupts),
        softirqs: Ok(softirqs),
        without_cost: None,
    }
}

/// Ticks that were counted and not traced, at what the traced ones took: some kernels keep those of an idle CPU from a
/// trace.
fn add_untraced(tick: &mut Interruption, evidence: &Evidence<'_>, totals: &CpuTotals, cpu: u32) {
    /// The two readings of a count do not lie at the ends of the trace.
    const SLACK: u64 = 10;
    let Some(traced) = totals.causes.get(&Cause::LocalTimer) else { return };
    let Ok(counted) = evidence.interval.delta(Family::Interrupts, cpu, "LOC") else { return };
    let missed = counted.by.saturating_sub(traced.count);
    if missed > SLACK.max(traced.count / 50) && traced.count > 0 {
        let ns = part(tick.amount.ns, missed, traced.count);
        tick.amount.ns = tick.amount.ns.saturating_add(ns);
        tick.amount.uncertainty_ns = tick.amount.uncertainty_ns.saturating_add(ns);
        tick.amount.method = Method::Derived;
        tick.amount.source = "tracepoints irq_vectors:local_timer_*, and LOC for those not traced";
    }
}

/// Which line an interruption belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// That of ticks.
    Tick,
    /// That of other interrupts.
    Interrupt,
    Softirq,
}

/// The line of a cause, and its name there.
pub(super) fn kind_of(evidence: &Evidence<'_>, cause: Cause) -> (Kind, String) {
    let name = name_of(evidence, cause);
    match cause {
        // All ticks are one.
        Cause::LocalTimer => (Kind::Tick, String::new()),
        Cause::Device(_) if is_tick(&name) => (Kind::Tick, String::new()),
        Cause::Softirq(_) => (Kind::Softirq, name),
        _ => (Kind::Interrupt, name),
    }
}

fn of_cause(name: String, time: &CauseTime, over_ns: u64, wall_ns: u64) -> Interruption {
    let delta = Delta { by: time.ns(), over_ns };
    let mut amount = Amount::of(delta, 1, wall_ns, "tracepoints irq:* and irq_vectors:*");
    amount.method = Method::Tracepoint;
    amount.uncertainty_ns = amount.ns.min(amount.uncertainty_ns);
    let in_tasks_ns = Some(part(time.in_task_ns, wall_ns, over_ns));
    Interruption { name, amount, in_tasks_ns, edges_ns: 0 }
}

impl Interruption {
    /// Adds what entry and exit took when tasks were left for it `count` times.
    fn add_edges(&mut self, count: u64, edge: EventCost) {
        let ns = count.saturating_mul(edge.ns);
        if ns == 0 {
            return;
        }
        let off = count.saturating_mul(edge.uncertainty_ns);
        self.amount = Amount {
            ns: self.amount.ns.saturating_add(ns),
            uncertainty_ns: self.amount.uncertainty_ns.saturating_add(off),
            method: Method::Derived,
            source: "tracepoints irq:* and irq_vectors:*, and entry and exit by the gap probe",
        };
        self.in_tasks_ns = self.in_tasks_ns.map(|it| it.saturating_add(ns));
        self.edges_ns = ns;
    }
}

/// The kernel's name of a cause; of a device's number, the device behind it.
fn name_of(evidence: &Evidence<'_>, cause: Cause) -> String {
    let Cause::Device(number) = cause else { return cause.name().to_owned() };
    let number = number.to_string();
    let columns = evidence.interval.after.table(Family::Interrupts).map(|it| it.columns().iter());
    let mut names = columns.into_iter().flatten().map(Box::as_ref);
    let found = names.find(|name: &&str| name.split(' ').next() == Some(number.as_str()));
    found.map_or_else(|| cause.to_string(), str::to_owned)
}

fn accounted(
    evidence: &Evidence<'_>,
    cpu: u32,
    wall_ns: u64,
    column: &'static str,
) -> Fact<Vec<Interruption>> {
    let delta = evidence.interval.delta(Family::CpuTimes, cpu, column)?;
    let amount =
        Amount::of(delta, USER_TICK_NS, wall_ns, "/proc/stat, with CONFIG_IRQ_TIME_ACCOUNTING");
    let amount = amount.within(wall_ns)?;
    Ok(vec![Interruption { name: String::new(), amount, in_tasks_ns: None, edges_ns: 0 }])
}

/// Interrupts by number, for where nothing was traced, matched once for all CPUs.
pub(crate) struct Counted<'a> {
    costs: Fact<&'a EventCosts>,
    lines: Fact<Vec<(&'a str, Cause, PerCpu<Delta>)>>,
}

impl<'a> Counted<'a> {
    /// The lines of /proc/interrupts that moved, where it is known what one interrupt takes.
    pub(crate) fn new(evidence: &'a Evidence<'a>) -> Counted<'a> {
        let costs = evidence.costs.as_ref().map_err(Missing::clone);
        let lines = costs.clone().and_then(|_| {
            let rows = evidence.interval.rows(Family::Interrupts)?;
            let moved = rows.moved_columns().into_iter();
            let known = moved.filter_map(|(name, column)| Some((name, cause_of(name)?, column)));
            Ok(known.map(|(name, cause, column)| (name, cause, rows.deltas(column))).collect())
        });
        Counted { costs, lines }
    }

    /// The wanted interrupts of a CPU, each at the cost of one of its kind; and those of kinds without one.
    fn times(
        &self,
        cpu: u32,
        wall_ns: u64,
        wanted: impl Fn(Cause) -> bool,
    ) -> (Fact<Vec<Interruption>>, Option<(u64, Missing)>) {
        let mut without_cost = None;
        let times = self.with_cost(cpu, wall_ns, wanted, &mut without_cost);
        match (times, &without_cost) {
            (Ok(times), Some((_, missing))) if times.is_empty() => {
                (Err(missing.clone()), without_cost)
            }
            (times, _) => (times, without_cost),
        }
    }

    fn with_cost(
        &self,
        cpu: u32,
        wall_ns: u64,
        wanted: impl Fn(Cause) -> bool,
        without_cost: &mut Option<(u64, Missing)>,
    ) -> Fact<Vec<Interruption>> {
        let costs = self.costs.clone()?;
        let mut list = Vec::new();
        for (name, cause, deltas) in self.lines.as_ref()?.iter().filter(|it| wanted(it.1)) {
            let gone = || Missing::absent(format!("a count of {cpu}"));
            let delta = deltas.get(cpu).ok_or_else(gone)?.clone()?;
            if delta.by == 0 {
                continue;
            }
            match cost_of(costs, *cause) {
                Ok(cost) => {
                    let name = if *cause == Cause::LocalTimer { "" } else { name };
                    list.push(at_cost(name, delta, cost, wall_ns)?);
                }
                Err(missing) => {
                    let (count, _) = without_cost.get_or_insert_with(|| (0, missing.clone()));
                    *count = count.saturating_add(delta.by);
                }
            }
        }
        Ok(list)
    }
}

fn cost_of(costs: &EventCosts, cause: Cause) -> &Fact<EventCost> {
    match cause {
        Cause::LocalTimer => &costs.tick,
        call if call.is_call() => &costs.call,
        _ => &costs.interrupt,
    }
}

fn at_cost(name: &str, delta: Delta, cost: &EventCost, wall_ns: u64) -> Fact<Interruption> {
    const SOURCE: &str = "/proc/interrupts x cost of one by the gap probe";
    let mut amount = Amount::of(delta, cost.ns, wall_ns, SOURCE);
    amount.method = Method::Derived;
    amount.uncertainty_ns = delta.by.saturating_mul(cost.uncertainty_ns);
    Ok(Interruption {
        name: name.to_owned(),
        amount: amount.within(wall_ns)?,
        in_tasks_ns: None,
        edges_ns: 0,
    })
}

/// The cause behind a line of /proc/interrupts; the architecture's timer ticks, whatever its number.
fn cause_of(name: &str) -> Option<Cause> {
    if is_tick(name) { Some(Cause::LocalTimer) } else { Cause::of_line(name) }
}
