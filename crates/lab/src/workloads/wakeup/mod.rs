//! `wakeup`: how late a sleeping thread wakes up, by a timer and by another thread.
//!
//! What an idle CPU takes to wake up is the exit latency of the idle state it was in (Documentation/admin-guide/pm/
//! cpuidle.rst), its way back to a high clock, the interrupt and the scheduler; in a guest also the hypervisor's
//! scheduler. Which share is whose, the figures do not say: `fullclock watch` shows the idle states at the same time.

mod ping_pong;

use crate::failure::Failure;
use crate::known::Known;
use crate::stats::Sample;
use crate::threads::{Timed, on_each, outcome, timed};
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;
use rustix::io::Errno;
use rustix::thread::{clock_nanosleep_absolute, current_timer_slack, set_current_timer_slack};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(super) const WORKLOAD: Workload = Workload {
    id: "wakeup",
    title: "how late a sleeping thread wakes up",
    help: "\
## What it does
Sleeps 2 ms at a time, 200 times, and looks how long after the requested time it runs again: `median`, `p99` and `longest` in
microseconds. The kernel's permission to be late (timer slack) is taken away meanwhile. Then two threads wake each other in
turn, ten times as often: `handover` is the middle one-way time, what a commit waits for when it asks the log writer and is
answered.

With `--cpus`, one thread sleeps on each at the same time and all wake-ups count together; the first two hand over to each
other. With one CPU both threads share it, and the handover is a switch between tasks. Without `--cpus` the scheduler
chooses. `--iterations` is the number of sleeps.

## What changes the result
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
    preparation: Preparation::Stateless,
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
        let slept = on_each(self.cpus.as_ref(), || timed(|| late(self.sleeps, scene.stop)))?;
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
            figures: figures(&late_ns, &ping.answer)?.into(),
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

/// Longer than the target residency of the deepest state of common servers' cores, so that an idle CPU chooses it: 600 us
/// for C6 of Skylake and Ice Lake servers, 800 us of Sapphire Rapids (drivers/idle/intel_idle.c).
const PERIOD: Duration = Duration::from_millis(2);

/// How late, in nanoseconds, each of `count` sleeps ended on the calling thread.
///
/// clock_nanosleep(2) sleeps until an absolute time, so the time between reading the clock and going to sleep does not count.
/// By default the kernel may wake a thread up to 50 us late, so that several timers share an interrupt (PR_SET_TIMERSLACK of
/// prctl(2)).
fn late(count: u64, stop: &AtomicBool) -> Result<Vec<u64>, Failure> {
    let _slack = Slack::least().map_err(refused("cannot set the timer slack"))?;
    let mut late_ns = Vec::new();
    for _ in 0..count {
        let due = now().saturating_add(PERIOD);
        sleep_until(due, stop)?;
        late_ns.push(lateness(due, now())?);
    }
    Ok(late_ns)
}

/// CLOCK_MONOTONIC, since boot.
fn now() -> Duration {
    // It is never negative (clock_gettime(2)).
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}

fn sleep_until(due: Duration, stop: &AtomicBool) -> Result<(), Failure> {
    let overflow = |_| Failure::NoFigure("wakeup: the clock is at its end".to_owned());
    let request = Timespec::try_from(due).map_err(overflow)?;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        match clock_nanosleep_absolute(ClockId::Monotonic, &request) {
            // A signal came; the requested time stays the same.
            Err(Errno::INTR) => {}
            result => return result.map_err(refused("cannot sleep")),
        }
    }
}

fn lateness(due: Duration, woke: Duration) -> Result<u64, Failure> {
    match woke.checked_sub(due) {
        Some(late) => Ok(u64::try_from(late.as_nanos()).unwrap_or(u64::MAX)),
        None => Err(Failure::WrongAnswer {
            workload: WORKLOAD.id,
            found: format!("a wake-up {} ns too early", (due.saturating_sub(woke)).as_nanos()),
            expected: "none before its time".to_owned(),
        }),
    }
}

fn refused(what: &'static str) -> impl FnOnce(Errno) -> Failure {
    move |error| Failure::system(what)(error.into())
}

/// The calling thread's timer slack as it was, while it is the least possible.
struct Slack {
    before_ns: u64,
}

impl Slack {
    fn least() -> Result<Slack, Errno> {
        let before_ns = current_timer_slack()?;
        set_current_timer_slack(Some(NonZeroU64::MIN))?;
        Ok(Slack { before_ns })
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        // The kernel takes any value, and has just taken one.
        let _refused = set_current_timer_slack(NonZeroU64::new(self.before_ns)).is_err();
    }
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

    #[test]
    fn no_wake_up_is_early_and_the_slack_is_given_back() {
        let before = current_timer_slack().unwrap();
        assert_eq!(late(3, &AtomicBool::new(false)).unwrap().len(), 3);
        assert_eq!(current_timer_slack().unwrap(), before);
    }

    #[test]
    fn an_early_wake_up_is_told_loudly() {
        let at = Duration::from_nanos;
        assert_eq!(lateness(at(100), at(130)).unwrap(), 30);
        let text = lateness(at(130), at(100)).unwrap_err().to_string();
        assert!(
            text.starts_with("WRONG ANSWER: wakeup computed a wake-up 30 ns too early"),
            "{text}"
        );
    }

    #[test]
    fn a_user_who_wants_to_stop_does_not_wait_for_all_sleeps() {
        let stopped = late(1_000_000, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(Failure::Stopped)));
    }
}
