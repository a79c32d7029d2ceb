//! What the time of the tasks that were asked for was worth: how much of it had no clock, a slow one, or the whole.
//!
//! Only their time is judged. What kernel threads and others took is lost at whatever clock they had.

use super::amount::{part, share};
use super::books::Books;
use super::clock::{COUNTER_SLACK, Clock};
use super::owner::Owner;
use facts::msr::clock_modulation::Duty;
use facts::msr::intel::CLOCK_MODULATION;
use facts::{Fact, Missing};

/// The tasks' time, in parts that add up to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Work {
    /// Time in which MPERF did not count although there was work, in nanoseconds.
    pub(crate) uncounted_ns: u64,
    /// Time in which clock modulation stopped the clock and MPERF did count, or was not there, in nanoseconds.
    pub(crate) modulated_ns: u64,
    /// Time that was lost because the clock was below its reference, in nanoseconds.
    pub(crate) slow_ns: u64,
    /// What is left: time at the reference clock, in nanoseconds.
    pub(crate) useful_ns: u64,
    /// How far off the two above may be, in nanoseconds.
    pub(crate) uncertainty_ns: u64,
    /// How far off the time without a clock may be, in nanoseconds.
    pub(crate) stop_uncertainty_ns: u64,
}

/// The work of one CPU.
pub(crate) fn work(books: &Books<'_>) -> Fact<Work> {
    let tasks = books.tasks.as_ref()?;
    if let Some(missing) = &tasks.without_users {
        return Err(missing.clone());
    }
    let clock = books.clock.as_ref()?;
    let no_reference = || Missing::not_collected(format!("a reference clock of CPU {}", books.cpu));
    let reference = books.reference.as_ref().ok_or_else(no_reference)?;
    let asked = tasks.ns_of(Owner::Asked);

    let (uncounted_ns, stop_uncertainty_ns) = uncounted(books, clock, asked);
    let counted = asked.saturating_sub(uncounted_ns);
    let clock_share = clock.running.share_of(reference.clock);
    let useful_ns = share(counted, clock_share);
    let lost = counted.saturating_sub(useful_ns);
    let modulated_ns = match duty(books) {
        Some(duty) if uncounted_ns == 0 => lost.min(share(counted, 1.0 - duty)),
        _ => 0,
    };
    let by_clock = share(useful_ns, clock.uncertainty);
    Ok(Work {
        uncounted_ns,
        modulated_ns,
        slow_ns: lost.saturating_sub(modulated_ns),
        useful_ns,
        uncertainty_ns: tasks.uncertainty_of(asked).saturating_add(by_clock),
        stop_uncertainty_ns,
    })
}

/// The share of time that modulation leaves the clock of a CPU, where its register says that it is on.
///
/// Where the threads of a core differ the lowest duty counts, since Sandy Bridge (Intel SDM vol. 3B, "Software
/// Controlled Clock Modulation").
pub(crate) fn duty(books: &Books<'_>) -> Option<f64> {
    let host = books.evidence.interval.host;
    let registers = host.msrs.of(&CLOCK_MODULATION).ok()?;
    let extended = host.msrs.extended_duty.as_ref().ok().copied();
    let of_thread = |cpu: u32| {
        let value = registers.get(cpu)?.as_ref().ok()?;
        Duty::of_register(*value, extended)?.share()
    };
    host.topology.core_of(books.cpu).iter().filter_map(of_thread).min_by(f64::total_cmp)
}

/// Time of the tasks that MPERF lacks, and how far off that may be.
///
/// The CPU was busy for as long as both say: what is neither idle nor stolen, and what tasks and interrupts took. So
/// time that no source explains is not taken for a stopped clock.
fn uncounted(books: &Books<'_>, clock: &Clock, asked: u64) -> (u64, u64) {
    let (Some(counted), Ok(tasks)) = (clock.counted_ns, &books.tasks) else { return (0, 0) };
    let interrupted = books.interruptions.all().map(|it| it.amount.ns);
    let ran = interrupted.fold(tasks.ns(), u64::saturating_add);
    let not_idle = books.idle.as_ref().map_or(books.wall_ns, |idle| {
        let stolen = books.stolen.as_ref().map_or(0, |it| it.ns);
        let quota = books.quota.as_ref().map_or(0, |it| it.ns);
        [idle.ns, stolen, quota].into_iter().fold(books.wall_ns, u64::saturating_sub)
    });
    let busy = ran.min(not_idle);
    let unsure_ns = tasks.uncertainty_ns.saturating_add(tasks.misplaced_ns);
    let slack = share(busy, COUNTER_SLACK).saturating_add(unsure_ns);
    let lacking = busy.saturating_sub(counted);
    let mine = |ns| part(ns, asked, busy);
    if lacking > slack { (mine(lacking), mine(slack)) } else { (0, mine(slack)) }
}
