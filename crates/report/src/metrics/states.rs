//! States: what the machine is at this moment, or was in the last minute.

use super::Told;
use crate::openmetrics::{Exposition, Type};
use std::collections::BTreeMap;

/// How it is called, what it is, and how its name ends.
struct State {
    name: &'static str,
    help: &'static str,
    unit: &'static str,
}

const BEGAN: State = State {
    name: "fullclock_start_time_seconds",
    help: "When the counters began that the kernel does not keep, since 1970",
    unit: "seconds",
};
const ONLINE: State = State {
    name: "fullclock_online_cpus",
    help: "CPUs that are online: counts of others are not in the sums of a one-shot run",
    unit: "",
};
const NOMINAL: State = State {
    name: "fullclock_nominal_hertz",
    help: "The clock that ratios of clocks are made by: the nominal one, else the rate of the time-stamp counter",
    unit: "hertz",
};
const CLOCK: State = State {
    name: "fullclock_clock_ratio",
    help: "Clock of busy CPUs in the last 30 to 60 s over the nominal one: the lowest, the median and the highest of them",
    unit: "ratio",
};
const CPU_CLOCK: State = State {
    name: "fullclock_cpu_clock_ratio",
    help: "Clock of a CPU while it was busy in the last 30 to 60 s over the nominal one",
    unit: "ratio",
};
const SPEED: State = State {
    name: "fullclock_speed_ratio",
    help: "Operations a second of a chain of one-cycle instructions on an idle CPU over those at the nominal clock; where the first CPU is below it the middle one of three, of several packages the slowest",
    unit: "ratio",
};
const HOTTEST: State = State {
    name: "fullclock_temperature_celsius",
    help: "Temperature of the hottest core at the end of the last interval",
    unit: "celsius",
};

pub(super) fn tell(page: &mut Exposition, told: &Told<'_>) {
    one(page, &BEGAN, told.began);
    one(page, &ONLINE, Some(told.online.len() as f64));
    one(page, &SPEED, told.speed);
    let Some(recent) = told.totals.map(|it| &it.recent) else { return };
    one(page, &NOMINAL, recent.nominal.map(|it| it.0 as f64));
    one(page, &HOTTEST, recent.hottest);
    let clocks = recent.clock_ratios();
    quantiles(page, &clocks);
    if told.by_cpu && !clocks.is_empty() {
        page.family(CPU_CLOCK.name, CPU_CLOCK.help, CPU_CLOCK.unit);
        for (cpu, ratio) in clocks {
            page.sample(CPU_CLOCK.name, &[("cpu", &cpu.to_string())], ratio);
        }
    }
}

fn one(page: &mut Exposition, state: &State, value: Option<f64>) {
    if let Some(value) = value {
        page.family(state.name, state.help, state.unit);
        page.sample(state.name, &[], value);
    }
}

/// Of the CPUs that were busy; nothing where none was.
fn quantiles(page: &mut Exposition, clocks: &BTreeMap<u32, f64>) {
    let mut sorted: Vec<f64> = clocks.values().copied().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (Some(lowest), Some(highest)) = (sorted.first(), sorted.last()) else { return };
    let half = sorted.len() / 2;
    let upper = sorted.get(half).unwrap_or(highest);
    let median = match sorted.len() % 2 {
        0 => f64::midpoint(*sorted.get(half - 1).unwrap_or(lowest), *upper),
        _ => *upper,
    };
    page.family_of(Type::Summary, CLOCK.name, CLOCK.help, CLOCK.unit);
    for (quantile, ratio) in [("0", *lowest), ("0.5", median), ("1", *highest)] {
        page.sample(CLOCK.name, &[("quantile", quantile)], ratio);
    }
}
