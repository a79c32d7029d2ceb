//! `wakeup`: how late a sleeping thread wakes up, by a timer and by another thread.
//!
//! What an idle CPU takes to wake up is the exit latency of the idle state it was in (Documentation/admin-guide/pm/
//! cpuidle.rst), its way back to a high clock, the interrupt and the scheduler; in a guest also the hypervisor's
//! scheduler. Which share is whose, the figures do not say: `fullclock watch` shows the states beside them.

mod ping_pong;
mod sleep;

use crate::failure::Failure;
use crate::known::Known;
use crate::stats::Sample;
use crate::threads::{Timed, on_each, outcome, timed};
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;

pub(super) const WORKLOAD: Workload = Workload {
    id: "wakeup",
    title: "how late a sleeping thread wakes up",
    help: "\
## What it does
Sleeps 2 ms at a time, 200 times, and looks how long after the time asked for it runs again: `median`, `p99` and `longest` in
microseconds. The kernel's permission to be late (timer slack) is taken away meanwhile. Then two threads wake each other in
turn, ten times as often: `handover` is the middle one-way time, what a commit waits for when it asks the log writer and is
answered.

With `--cpus`, one thread sleeps on each at the same time and all wake-ups count together; the first two hand over to each
other. With one CPU both threads share it, and the handover is a switch between tasks. Without `--cpus` the scheduler
chooses. `--iterations` is the number of sleeps.

## What moves its figures
The idle state that a CPU was in: leaving C1 takes up to 2 us on a Skylake server and leaving C6 up to 133 us, and 2 ms are
enough for C6 to be chosen, from 600 us on (drivers/idle/intel_idle.c; `latency` and `residency` in cpuidle tell what holds
here). A clock that starts low adds to it. Compare runs with deep states disabled or a latency limit set
(`/dev/cpu_dma_latency`), and `cpu-loop` beside them: CPUs that never sleep leave the others less turbo. A `p99` far above
`median` is other work, interrupts or a hypervisor.

## What it cannot know
Which share is the hardware's, the kernel's or a hypervisor's. The handover keeps both CPUs nearly awake, so it sees shallow
states only.
",
    figure: MEDIAN,
    takes: &[Setting::Cpus, Setting::Iterations],
    placement: Placement::Anywhere,
    prepare,
};

const MEDIAN: FigureShape = microseconds("median");
const P99: FigureShape = microseconds("p99");
const LONGEST: FigureShape = microseconds("longest");
const HANDOVER: FigureShape = microseconds("handover");

const fn microseconds(name: &'static str) -> FigureShape {
    FigureShape { name, unit: "us", better: Better::Lower }
}

/// Some tenths of a second.
const SLEEPS: u64 = 200;

/// Half an hour.
const MOST_SLEEPS: u64 = 1_000_000;

/// Round trips for each sleep: about as long, where a handover takes 100 us.
const ROUND_TRIPS: u64 = 10;

struct Wakeup {
    cpus: Option<CpuSet>,
    sleeps: u64,
}

fn prepare(settings: &Settings, _scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    let sleeps = settings.iterations_up_to(MOST_SLEEPS, SLEEPS)?;
    Ok(Box::new(Wakeup { cpus: settings.cpus()?, sleeps }))
}

impl Ready for Wakeup {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        let slept = on_each(self.cpus.as_ref(), || timed(|| sleep::late(self.sleeps, scene.stop)))?;
        let sleeping = outcome(&slept, Vec::new());
        let mut late_ns = Vec::new();
        for run in slept {
            late_ns.extend(run.answer?);
        }
        let round_trips = self.sleeps.saturating_mul(ROUND_TRIPS);
        let played: [Timed<Vec<u64>>; 2] = ping_pong::play(self.pair(), round_trips, scene.stop)?;
        let playing = outcome(&played, Vec::new());
        let [ping, _] = played;
        Ok(Outcome {
            elapsed_ns: Known::sum([sleeping.elapsed_ns, playing.elapsed_ns]),
            cpu_ns: Known::sum([sleeping.cpu_ns, playing.cpu_ns]),
            tasks: sleeping.tasks,
            figures: figures(&late_ns, &ping.answer)?,
        })
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }
}

impl Wakeup {
    /// The CPUs of the two threads that wake each other.
    fn pair(&self) -> Option<[u32; 2]> {
        let cpus = self.cpus.as_ref()?;
        let mut cpus = cpus.iter();
        let first = cpus.next()?;
        Some([first, cpus.next().unwrap_or(first)])
    }
}

fn figures(late_ns: &[u64], round_trips_ns: &[u64]) -> Result<Vec<Figure>, Failure> {
    let late = in_microseconds(late_ns)?;
    let round_trips = in_microseconds(round_trips_ns)?;
    Ok(vec![
        Figure::of(MEDIAN, late.quantile(0.5)),
        Figure::of(P99, late.quantile(0.99)),
        Figure::of(LONGEST, late.quantile(1.0)),
        Figure::of(HANDOVER, round_trips.quantile(0.5) / 2.0),
    ])
}

fn in_microseconds(times_ns: &[u64]) -> Result<Sample, Failure> {
    let times = times_ns.iter().map(|ns| *ns as f64 / 1e3).collect();
    Sample::new(times).map_err(|why| Failure::NoFigure(format!("wakeup: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handover_is_half_a_round_trip_and_the_latest_wake_up_is_in_no_median() {
        let late: Vec<u64> = (1..=100).map(|it| it * 1000).chain([5_000_000]).collect();
        let figures = figures(&late, &[8000, 9000, 80_000]).unwrap();
        let text: Vec<String> =
            figures.iter().map(|it| format!("{} {} {}", it.name, it.value, it.unit)).collect();
        assert_eq!(text, ["median 51 us", "p99 100 us", "longest 5000 us", "handover 4.5 us"]);
    }

    #[test]
    fn the_first_two_cpus_play_and_one_plays_with_itself() {
        let pair = |list: &str| {
            let cpus = Some(CpuSet::parse_list(list).unwrap());
            Wakeup { cpus, sleeps: 1 }.pair()
        };
        assert_eq!((pair("3,5,7"), pair("4")), (Some([3, 5]), Some([4, 4])));
        assert_eq!(Wakeup { cpus: None, sleeps: 1 }.pair(), None);
    }
}
