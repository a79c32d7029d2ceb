//! `timer`: what asking for the time costs.
//!
//! clock_gettime(2) with CLOCK_MONOTONIC. With a clock source that user space can read (tsc, kvm-clock with a stable
//! TSC, hvclock, arch_sys_counter) the vDSO answers it without the kernel (vdso(7)); with hpet or acpi_pm every reading
//! is a system call and an access to a slow device (Documentation/timers/timekeeping.rst). Databases that time every
//! wait and every step of a plan ask millions of times a second.

use crate::failure::Failure;
use crate::threads::{in_steps, on_each, outcome, slowest_ns, timed};
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::{CpuSet, HostView};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::sync::atomic::AtomicBool;

pub(super) const WORKLOAD: Workload = Workload {
    id: "timer",
    title: "the cost of asking for the time",
    help: "\
## What it does
Reads CLOCK_MONOTONIC a million times, one reading after the other; `reading` is the mean of one. Each must be no earlier than
the one before. With several CPUs each reads at the same time, and the figure is that of the slowest: a device is shared by
all of them. The clock source is kept with the result. `--iterations` is the number of readings.

## What changes the result
The clock source. With `tsc` the C library reads the processor's counter without the kernel; `hpet` and `acpi_pm` are slow
devices, and the kernel asks them usually since it found the TSC unstable at boot. Red Hat's Reference Guide of RHEL for Real
Time 7, section 15.2.4, has 57, 1226 and 2552 ns on one machine. A reading that takes as long as a `syscall` asks the kernel.
Servers that time every wait, and `EXPLAIN ANALYZE`, pay this figure twice for each.

## What it cannot know
Whether the clock is right, only that it does not go backwards on one CPU.
",
    figure: FIGURE,
    takes: &[Setting::Cpus, Setting::Iterations],
    placement: Placement::OneCpu,
    preparation: Preparation::Stateless,
    prepare,
};

const FIGURE: FigureShape = FigureShape { name: "reading", unit: "ns", better: Better::Lower };

/// Some hundredths of a second, or seconds with a bad clock source.
const READINGS: u64 = 1_000_000;

/// Minutes.
const MOST_READINGS: u64 = 1_000_000_000;

/// Some milliseconds with a bad clock source.
const STEP: u64 = 1000;

struct Readings {
    cpus: Option<CpuSet>,
    count: u64,
    about: Vec<(String, String)>,
}

fn prepare(settings: &Settings, scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let count = settings.iterations_up_to(MOST_READINGS, READINGS)?;
    Ok(Box::new(Readings { cpus: settings.cpus()?, count, about: clocksource(scene.host) }))
}

impl Ready for Readings {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let runs = on_each(self.cpus.as_ref(), || {
            timed(|| read(self.count, scene.stop, || clock_gettime(ClockId::Monotonic)))
        })?;
        let reading_ns = slowest_ns(&runs) as f64 / self.count as f64;
        let outcome = outcome(&runs, vec![Figure::of(FIGURE, reading_ns)]);
        runs.into_iter().try_for_each(|it| it.answer)?;
        Ok(outcome)
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }

    fn about(&self) -> Vec<(String, String)> {
        self.about.clone()
    }
}

fn clocksource(host: &HostView) -> Vec<(String, String)> {
    let in_words = |fact: Result<String, String>| fact.unwrap_or_else(|why| why);
    let current = host.clocksource.current.clone().map_err(|it| it.to_string());
    let available = host.clocksource.available.as_ref().map(|it| it.join(" "));
    vec![
        ("clocksource".to_owned(), in_words(current)),
        ("available clocksources".to_owned(), in_words(available.map_err(ToString::to_string))),
    ]
}

/// Reads the clock that many times. Errors: it went backwards.
fn read(count: u64, stop: &AtomicBool, now: impl Fn() -> Timespec) -> Result<(), Failure> {
    let mut last = now();
    let mut backwards = None;
    in_steps(count, STEP, stop, |part| {
        for _ in 0..part {
            let this = now();
            if this < last {
                backwards = Some((last, this));
            }
            last = this;
        }
    })?;
    match backwards {
        None => Ok(()),
        Some((before, after)) => Err(Failure::WrongAnswer {
            workload: WORKLOAD.id,
            found: format!("{} after {}", seconds(after), seconds(before)),
            expected: "no time before the one before it".to_owned(),
        }),
    }
}

fn seconds(time: Timespec) -> String {
    format!("{}.{:09} s", time.tv_sec, time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn the_clock_of_this_machine_goes_forward() {
        read(10_000, &AtomicBool::new(false), || clock_gettime(ClockId::Monotonic)).unwrap();
    }

    #[test]
    fn a_clock_that_goes_backwards_is_told_loudly() {
        let nanoseconds = Cell::new(10);
        let backwards = || {
            nanoseconds.set(nanoseconds.get() - 1);
            Timespec { tv_sec: 7, tv_nsec: nanoseconds.get() }
        };
        let text = read(1, &AtomicBool::new(false), backwards).unwrap_err().to_string();
        let expected = "WRONG ANSWER: timer computed 7.000000008 s after 7.000000009 s, and no time before the one";
        assert!(text.starts_with(expected), "{text}");
    }
}
