//! The counters, in the order in which they are shown.

use super::{Counter, OfCpus, pool};
use crate::interval::{Delta, Interval};
use crate::metric::{Series, Values, each};
use crate::metrics::ticks::timer;
use crate::metrics::{self, throttling};
use facts::counters::Family;
use facts::msr::intel::SMI_COUNT;
use facts::{Fact, Missing, PerCpu, USER_TICK_NS};
use std::collections::BTreeMap;

const NS_PER_SECOND: f64 = 1e9;

/// Every counter. What the kernel counts by itself is taken from boot on; the rest begins when somebody watches.
pub const COUNTERS: &[Counter] = &[
    Counter {
        name: "ticks",
        help: "Interrupts of the CPUs' own timers, all CPUs together",
        unit: "",
        label: None,
        families: &[Family::Interrupts],
        of_cpus: OfCpus::Sum,
        measure: ticks,
        since_boot: Some(ticks),
    },
    Counter {
        name: "context_switches",
        help: "Switches from task to task, all CPUs together",
        unit: "",
        label: None,
        families: &[Family::Totals],
        of_cpus: OfCpus::Sum,
        measure: context_switches,
        since_boot: Some(context_switches),
    },
    Counter {
        name: "run_queue_wait_seconds",
        help: "Time that runnable tasks waited for a CPU, all tasks together",
        unit: "seconds",
        label: None,
        families: &[Family::RunTime],
        of_cpus: OfCpus::Sum,
        measure: run_queue_wait,
        since_boot: Some(run_queue_wait_of_cpus),
    },
    Counter {
        name: "steal_seconds",
        help: "Time that the hypervisor gave to others while a CPU of this guest had work, all CPUs together",
        unit: "seconds",
        label: None,
        families: &[Family::CpuTimes],
        of_cpus: OfCpus::Sum,
        measure: steal,
        since_boot: Some(steal),
    },
    Counter {
        name: "throttle_events",
        help: "Thermal throttle events, by level: cores or packages, each added up",
        unit: "",
        label: Some("level"),
        families: &[Family::Throttling],
        of_cpus: OfCpus::Sum,
        measure: throttle_events,
        since_boot: Some(throttle_events),
    },
    Counter {
        name: "throttle_seconds",
        help: "Time throttled by heat, by level: cores or packages, each added up; the kernel adds an event's time when it ends",
        unit: "seconds",
        label: Some("level"),
        families: &[Family::Throttling],
        of_cpus: OfCpus::Sum,
        measure: throttle_time,
        since_boot: Some(throttle_time),
    },
    Counter {
        name: "smis",
        help: "System management interrupts of the CPU that had most: one usually stops every CPU",
        unit: "",
        label: None,
        families: &[Family::Clocks],
        of_cpus: OfCpus::Most,
        measure: smis,
        since_boot: Some(smis_since_reset),
    },
    Counter {
        name: "busy_cycles",
        help: "Cycles that busy CPUs ran (APERF); over fullclock_reference_cycles_total it is their clock over the nominal one",
        unit: "",
        label: None,
        families: &[Family::Clocks],
        of_cpus: OfCpus::Sum,
        measure: |interval| cycles(interval, "aperf"),
        since_boot: None,
    },
    Counter {
        name: "reference_cycles",
        help: "Cycles that busy CPUs would have run at the nominal clock (MPERF)",
        unit: "",
        label: None,
        families: &[Family::Clocks],
        of_cpus: OfCpus::Sum,
        measure: |interval| cycles(interval, "mperf"),
        since_boot: None,
    },
    Counter {
        name: "kernel_thread_cpu_seconds",
        help: "CPU time of kernel threads, by the name of their pool",
        unit: "seconds",
        label: Some("thread"),
        families: &[],
        of_cpus: OfCpus::Sum,
        measure: kernel_threads,
        since_boot: None,
    },
    Counter {
        name: "idle_state_seconds",
        help: "Time for which the kernel requested each idle state, all CPUs together",
        unit: "seconds",
        label: Some("state"),
        families: &[Family::IdleTime],
        of_cpus: OfCpus::Sum,
        measure: idle_states,
        since_boot: Some(idle_states),
    },
    Counter {
        name: "core_residency_seconds",
        help: "Time that cores really spent in each C-state, all cores together",
        unit: "seconds",
        label: Some("state"),
        families: &[Family::CoreResidency, Family::Clocks],
        of_cpus: OfCpus::Sum,
        measure: |interval| of_metric(interval, "core-residency", 0.01),
        since_boot: None,
    },
    Counter {
        name: "package_residency_seconds",
        help: "Time that packages really spent in each C-state, all packages together",
        unit: "seconds",
        label: Some("state"),
        families: &[Family::PackageResidency, Family::Clocks],
        of_cpus: OfCpus::Sum,
        measure: |interval| of_metric(interval, "package-residency", 0.01),
        since_boot: None,
    },
    Counter {
        name: "energy_joules",
        help: "Energy, by domain of RAPL: what stands after a slash is a part of its package or beside it",
        unit: "joules",
        label: Some("domain"),
        families: &[Family::Energy],
        of_cpus: OfCpus::Sum,
        measure: |interval| of_metric(interval, "watts", 1.0),
        since_boot: None,
    },
    Counter {
        name: "pressure_seconds",
        help: "Time in which tasks were held up for want of a resource (PSI), by kind",
        unit: "seconds",
        label: Some("kind"),
        families: &[Family::Pressure],
        of_cpus: OfCpus::Sum,
        measure: pressure,
        since_boot: Some(pressure),
    },
];

/// What was counted on each CPU, in steps of `step`.
fn amounts(deltas: &PerCpu<Delta>, step: f64) -> PerCpu<f64> {
    each(deltas, |delta| Ok(delta.by as f64 * step))
}

fn ticks(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Interrupts)?;
    let timer = timer(&rows)?;
    Ok(Series::whole(Values::Cpus(amounts(&rows.deltas(timer), 1.0))))
}

fn context_switches(interval: &Interval) -> Fact<Vec<Series>> {
    let delta = interval.delta(Family::Totals, 0, "ctxt")?;
    Ok(Series::whole(Values::Host(Ok(delta.by as f64))))
}

fn run_queue_wait(interval: &Interval) -> Fact<Vec<Series>> {
    run_queue_wait_of_cpus(interval)
        .or_else(|_| of_metric(interval, "run-queue-wait", 1.0 / 1000.0))
}

fn run_queue_wait_of_cpus(interval: &Interval) -> Fact<Vec<Series>> {
    let waits = interval.deltas(Family::RunTime, "wait")?;
    Ok(Series::whole(Values::Cpus(amounts(&waits, 1.0 / NS_PER_SECOND))))
}

/// Of guests only, and not where every counter reads 0 because the hypervisor tells nothing.
fn steal(interval: &Interval) -> Fact<Vec<Series>> {
    let host = interval.host;
    if host.platform.is_bare_metal() {
        return Err(Missing::not_here("hypervisor", "the kernel runs on the hardware itself"));
    }
    let rows = interval.rows(Family::CpuTimes)?;
    let column = rows.column("steal")?;
    if rows.total(column) == 0 {
        host.platform.tells_of_steal()?;
    }
    if let Some(restarted) = interval.restarted_steal() {
        return Err(restarted);
    }
    let step = USER_TICK_NS as f64 / NS_PER_SECOND;
    Ok(Series::whole(Values::Cpus(amounts(&rows.deltas(column), step))))
}

fn throttle_events(interval: &Interval) -> Fact<Vec<Series>> {
    let columns = ["core_throttle_count", "package_throttle_count"];
    throttling::throttling(interval, columns, |delta| Ok(delta.by as f64))
}

fn throttle_time(interval: &Interval) -> Fact<Vec<Series>> {
    let columns = ["core_throttle_total_time_ms", "package_throttle_total_time_ms"];
    throttling::throttling(interval, columns, |delta| Ok(delta.by as f64 / 1000.0))
}

/// Of each CPU. Bits 31:0 of the register wrap, and perf begins at 0: both show as a count that went backwards.
fn smis(interval: &Interval) -> Fact<Vec<Series>> {
    if let Ok(Some(hypervisor)) = &interval.host.platform.hypervisor {
        return Err(Missing::hidden("the host's SMI count", hypervisor));
    }
    of_each(amounts(&interval.deltas(Family::Clocks, "smi")?, 1.0))
}

/// By the register, as an audit reads it: perf's count begins when it is opened.
fn smis_since_reset(interval: &Interval) -> Fact<Vec<Series>> {
    let counts = interval.host.msrs.of(&SMI_COUNT)?;
    of_each(each(counts, |count| Ok((count & 0xffff_ffff) as f64)))
}

fn of_each(counts: PerCpu<f64>) -> Fact<Vec<Series>> {
    if counts.known().next().is_none() {
        return Err(counts.missing().cloned().unwrap_or_else(|| Missing::absent("an SMI count")));
    }
    Ok(Series::whole(Values::Cpus(counts)))
}

/// A counter that stood still is none: reading it takes cycles of every clock.
fn cycles(interval: &Interval, counter: &str) -> Fact<Vec<Series>> {
    let deltas = interval.deltas(Family::Clocks, counter)?;
    let moved = each(&deltas, |delta| match delta.by {
        0 => Err(Missing::absent(counter)),
        by => Ok(by as f64),
    });
    Ok(Series::whole(Values::Cpus(moved)))
}

fn kernel_threads(interval: &Interval) -> Fact<Vec<Series>> {
    let (tasks, _) = interval.task_deltas()?;
    let mut pools: BTreeMap<String, u64> = BTreeMap::new();
    for delta in tasks.iter().filter(|it| it.task.is_kernel_thread && it.run_ns > 0) {
        let time = pools.entry(pool(delta.task.name.as_str())).or_default();
        *time = time.saturating_add(delta.run_ns);
    }
    let seconds = |(name, ns): (String, u64)| {
        Series::part(&name, Values::Host(Ok(ns as f64 / NS_PER_SECOND)))
    };
    Ok(pools.into_iter().map(seconds).collect())
}

fn idle_states(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::IdleTime)?;
    let series = rows.columns().into_iter().map(|(name, column)| {
        Series::part(name, Values::Cpus(amounts(&rows.deltas(column), 1e-6)))
    });
    Ok(series.collect())
}

fn pressure(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Pressure)?;
    let series = rows.columns().into_iter().map(|(name, column)| {
        let deltas = amounts(&rows.deltas(column), 1e-6);
        let amount = deltas.iter().next().map_or(Err(Missing::absent(name)), |it| it.1.clone());
        Series::part(name, Values::Host(amount))
    });
    Ok(series.collect())
}

/// What a metric's rates come to over the interval, times `factor`.
fn of_metric(interval: &Interval, id: &str, factor: f64) -> Fact<Vec<Series>> {
    let metric = metrics::find(id).ok_or_else(|| Missing::not_collected(id))?;
    let seconds = interval.elapsed_ns()? as f64 / NS_PER_SECOND;
    let amounts = |rows: &PerCpu<f64>| each(rows, |rate| Ok(rate * factor * seconds));
    let series = (metric.measure)(interval)?.into_iter().map(|Series { part, values }| {
        let values = match values {
            Values::Host(rate) => Values::Host(rate.map(|it| it * factor * seconds)),
            Values::Cpus(rows) => Values::Cpus(amounts(&rows)),
            Values::Cores(rows) => Values::Cores(amounts(&rows)),
            Values::Packages(rows) => Values::Packages(amounts(&rows)),
        };
        Series { part, values }
    });
    Ok(series.collect())
}
