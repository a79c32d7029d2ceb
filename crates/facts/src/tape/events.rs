//! Measurements other than counters as bytes: the clocks that the probe measured, and the totals of each CPU from a
//! trace. Both describe the time since the sample before, so they are written in full.

use super::wire::{Bytes, at_difference, difference, put_missing, put_number, take_missing};
use crate::parse::Expected;
use crate::probe::ClockReading;
use crate::trace::{Cause, CauseTime, Comm, CpuTotals, TaskTime, TickStop};
use crate::{Fact, Hertz, PerCpu};
use std::collections::BTreeMap;

/// Appends an answer per CPU; nothing if there is none.
pub(super) fn put<T>(out: &mut Vec<u8>, facts: &PerCpu<T>, put_one: impl Fn(&mut Vec<u8>, &T)) {
    if facts.is_empty() {
        return;
    }
    put_number(out, facts.len() as u64);
    for (cpu, fact) in facts.iter() {
        put_number(out, u64::from(cpu));
        put_number(out, u64::from(fact.is_ok()));
        match fact {
            Ok(one) => put_one(out, one),
            Err(missing) => put_missing(out, missing),
        }
    }
}

/// Twice the largest CONFIG_NR_CPUS of Linux.
const MOST_CPUS: usize = 1 << 14;

/// Parses the answers of a section.
pub(super) fn take<T>(
    bytes: &mut Bytes,
    take_one: impl Fn(&mut Bytes, u32) -> Result<T, Expected>,
) -> Result<PerCpu<T>, Expected> {
    let n_cpus = bytes.count()?;
    if n_cpus > MOST_CPUS {
        return Err(Expected("no more than 16,384 CPUs"));
    }
    let mut one = || {
        let cpu = bytes.small()?;
        let fact: Fact<T> = match bytes.number()? {
            0 => Err(take_missing(bytes)?),
            _ => Ok(take_one(bytes, cpu)?),
        };
        Ok((cpu, fact))
    };
    (0..n_cpus).map(|_| one()).collect()
}

pub(super) fn put_clock(out: &mut Vec<u8>, clock: &ClockReading) {
    put_number(out, clock.best.0);
    put_number(out, difference(clock.best.0, clock.median.0));
    put_number(out, difference(clock.best.0, clock.mean.0));
    out.extend((clock.spread as f32).to_le_bytes());
    out.extend((clock.disagreement as f32).to_le_bytes());
    put_number(out, u64::from(clock.windows));
    put_number(out, u64::from(clock.rejected));
    put_number(out, clock.at_ns);
    put_number(out, clock.took_ns);
}

pub(super) fn take_clock(bytes: &mut Bytes, cpu: u32) -> Result<ClockReading, Expected> {
    let best = bytes.number()?;
    Ok(ClockReading {
        cpu,
        best: Hertz(best),
        median: Hertz(at_difference(best, bytes.number()?)),
        mean: Hertz(at_difference(best, bytes.number()?)),
        spread: share(bytes)?,
        disagreement: share(bytes)?,
        windows: bytes.small()?,
        rejected: bytes.small()?,
        at_ns: bytes.number()?,
        took_ns: bytes.number()?,
    })
}

/// 24 bits are more than a probe knows of its own error.
fn share(bytes: &mut Bytes) -> Result<f64, Expected> {
    let share = bytes.take(4)?.try_into().map(f32::from_le_bytes);
    share.ok().map(f64::from).filter(|it| it.is_finite()).ok_or(Expected("a share"))
}

pub(super) fn put_totals(out: &mut Vec<u8>, totals: &CpuTotals) {
    for number in [totals.wall_ns, totals.unknown_ns, totals.idle_ns, totals.switches, totals.lost]
    {
        put_number(out, number);
    }
    put_number(out, totals.tasks.len() as u64);
    for (tid, task) in &totals.tasks {
        put_number(out, difference(0, i64::from(*tid) as u64));
        [task.run_ns, task.interrupts, task.interrupted_ns]
            .iter()
            .for_each(|it| put_number(out, *it));
        put_comm(out, task.comm);
    }
    put_number(out, totals.causes.len() as u64);
    for (cause, time) in &totals.causes {
        put_cause(out, *cause);
        [time.count, time.from_tasks, time.in_idle_ns, time.in_task_ns]
            .iter()
            .for_each(|it| put_number(out, *it));
    }
    put_number(out, totals.tick_stops.len() as u64);
    for (stop, count) in &totals.tick_stops {
        put_number(out, u64::from(stop.dependency));
        put_number(out, u64::from(stop.success));
        put_number(out, *count);
    }
}

pub(super) fn take_totals(bytes: &mut Bytes, _cpu: u32) -> Result<CpuTotals, Expected> {
    Ok(CpuTotals {
        wall_ns: bytes.number()?,
        unknown_ns: bytes.number()?,
        idle_ns: bytes.number()?,
        switches: bytes.number()?,
        lost: bytes.number()?,
        tasks: take_map(bytes, take_task)?,
        causes: take_map(bytes, |bytes| Ok((take_cause(bytes)?, take_cause_time(bytes)?)))?,
        softirq_tasks: BTreeMap::new(),
        tick_stops: take_map(bytes, take_tick_stop)?,
    })
}

fn take_map<K: Ord, V>(
    bytes: &mut Bytes,
    entry: impl Fn(&mut Bytes) -> Result<(K, V), Expected>,
) -> Result<BTreeMap<K, V>, Expected> {
    (0..bytes.count()?).map(|_| entry(bytes)).collect()
}

fn take_task(bytes: &mut Bytes) -> Result<(i32, TaskTime), Expected> {
    let tid = i32::try_from(at_difference(0, bytes.number()?) as i64);
    let tid = tid.map_err(|_| Expected("a thread's number"))?;
    let mut number = || bytes.number();
    let (run_ns, interrupts, interrupted_ns) = (number()?, number()?, number()?);
    Ok((tid, TaskTime { comm: take_comm(bytes)?, run_ns, interrupts, interrupted_ns }))
}

fn take_cause_time(bytes: &mut Bytes) -> Result<CauseTime, Expected> {
    let mut number = || bytes.number();
    Ok(CauseTime {
        count: number()?,
        from_tasks: number()?,
        in_idle_ns: number()?,
        in_task_ns: number()?,
    })
}

fn take_tick_stop(bytes: &mut Bytes) -> Result<(TickStop, u64), Expected> {
    let stop = TickStop { dependency: bytes.small()?, success: bytes.number()? != 0 };
    Ok((stop, bytes.number()?))
}

/// A name may contain any byte, NUL included, so it is not a text.
fn put_comm(out: &mut Vec<u8>, comm: Comm) {
    let length = comm.0.iter().rposition(|&it| it != 0).map_or(0, |last| last + 1);
    put_number(out, length as u64);
    out.extend(comm.0.iter().take(length));
}

fn take_comm(bytes: &mut Bytes) -> Result<Comm, Expected> {
    let mut comm = Comm::default();
    let length = bytes.count()?;
    let room = comm.0.get_mut(..length).ok_or(Expected("a name of at most 16 bytes"))?;
    room.copy_from_slice(bytes.take(length)?);
    Ok(comm)
}

/// The numbers of the causes never change.
fn put_cause(out: &mut Vec<u8>, cause: Cause) {
    let (kind, number) = match cause {
        Cause::LocalTimer => (0, 0),
        Cause::Reschedule => (1, 0),
        Cause::CallFunction => (2, 0),
        Cause::IrqWork => (3, 0),
        Cause::PlatformIpi => (4, 0),
        Cause::Thermal => (5, 0),
        Cause::Threshold => (6, 0),
        Cause::DeferredError => (7, 0),
        Cause::Error => (8, 0),
        Cause::Spurious => (9, 0),
        Cause::Device(number) => (10, number),
        Cause::Softirq(number) => (11, u32::from(number)),
    };
    put_number(out, kind);
    put_number(out, u64::from(number));
}

fn take_cause(bytes: &mut Bytes) -> Result<Cause, Expected> {
    const CAUSE: Expected = Expected("a kind of interrupt");
    let (kind, number) = (bytes.number()?, bytes.small()?);
    Ok(match kind {
        0 => Cause::LocalTimer,
        1 => Cause::Reschedule,
        2 => Cause::CallFunction,
        3 => Cause::IrqWork,
        4 => Cause::PlatformIpi,
        5 => Cause::Thermal,
        6 => Cause::Threshold,
        7 => Cause::DeferredError,
        8 => Cause::Error,
        9 => Cause::Spurious,
        10 => Cause::Device(number),
        11 => Cause::Softirq(u8::try_from(number).map_err(|_| CAUSE)?),
        _ => return Err(CAUSE),
    })
}
