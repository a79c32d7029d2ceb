//! Some seconds of speed: trials of workloads with known answers, as short as tells a percent.

use super::idle::Watcher;
use crate::clock::now;
use crate::interrupt::Interrupt;
use crate::measure::costs::open_to_us;
use anyhow::{Context, Result, bail};
use facts::baseline::Part;
use facts::{CpuSet, HostView, Missing};
use host::probe::allowed;
use host::process::scoped_thread;
use lab::baseline::{Measured, rounded};
use lab::failure::Failure;
use lab::known::Known;
use lab::trial::Outcome;
use lab::workload::{Scene, Settings};
use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// All parts together take no longer.
pub const LIMIT: Duration = Duration::from_secs(5);

/// The CPUs that are measured: the same in each boot of the same machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cpus {
    /// The core that works alone.
    single: CpuSet,
    /// Two that wake each other.
    pair: CpuSet,
    /// All that are open to this process.
    all: CpuSet,
}

/// What is run of each part.
struct Share {
    part: Part,
    workload: &'static str,
    cpus: fn(&Cpus) -> &CpuSet,
    /// How much work a trial is: some hundredths of a second.
    iterations: u64,
    /// For how long there are more trials than [`LEAST`], up to [`MOST`].
    time: Duration,
}

const SHARES: [Share; 4] = [
    Share {
        part: Part::SingleCore,
        workload: "cpu-speed",
        cpus: |it| &it.single,
        iterations: 20_000_000,
        time: Duration::from_millis(600),
    },
    Share {
        part: Part::AllCores,
        workload: "all-cores",
        cpus: |it| &it.all,
        iterations: 4_000_000,
        time: Duration::from_millis(900),
    },
    Share {
        part: Part::WakeUp,
        workload: "wakeup",
        cpus: |it| &it.pair,
        iterations: 25,
        time: Duration::from_millis(800),
    },
    // The buffer has to be filled first, which takes as long as all else.
    Share {
        part: Part::Memory,
        workload: "memory",
        cpus: |it| &it.single,
        iterations: 400_000,
        time: Duration::from_millis(1500),
    },
];

/// Fewer trials have no interval.
const LEAST: usize = 5;
/// More tell no more, as boots differ by more than trials.
const MOST: usize = 8;

/// What came of measuring once.
pub(super) enum Attempt {
    /// The trials of each part.
    Quiet(Measured),
    /// Others had the CPUs meanwhile, in words.
    Disturbed(String),
}

impl Cpus {
    /// Of this machine, without CPUs that somebody has cleared of other work.
    ///
    /// Errors: there are none; nobody says which CPUs are online.
    pub(super) fn of(host: &HostView) -> Result<Cpus> {
        let online = host.topology.online.as_ref().map_err(Missing::clone)?;
        Cpus::among(host, open_to_us(host, online)?)
    }

    fn among(host: &HostView, all: CpuSet) -> Result<Cpus> {
        let first_of_core = |cpu: &u32| host.topology.core_of(*cpu).and(&all).first() == Some(*cpu);
        let cores: Vec<u32> = all.iter().filter(first_of_core).collect();
        let first =
            cores.first().context("no CPU may be measured: all are cleared of other work")?;
        // The first core has the interrupts of devices where nobody spreads them.
        let single = cores.get(1).unwrap_or(first);
        let other = cores.get(2).unwrap_or(first);
        Ok(Cpus {
            single: [*single].into_iter().collect(),
            pair: [*single, *other].into_iter().collect(),
            all,
        })
    }
}

/// `2, and all of 0-15`.
impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, and all of {}", self.single, self.all)
    }
}

/// Measures every part once, in [`LIMIT`] at most.
///
/// Errors: a computation gave a wrong answer; the user wants to stop.
pub(super) fn attempt(
    cpus: &Cpus,
    host: &HostView,
    watcher: &mut Watcher<'_>,
    interrupt: &Interrupt,
) -> Result<Attempt> {
    watcher.begin();
    let own = process_time();
    let (measured, lost) = within(LIMIT, interrupt, |stop| measure(&SHARES, cpus, host, stop))??;
    if interrupt.flag().load(Ordering::Relaxed) {
        bail!("stopped: nothing is kept");
    }
    let load = watcher.load(process_time().saturating_sub(own))?;
    Ok(match lost {
        Some(lost) if lost > MOST_LOST => {
            Attempt::Disturbed(format!("others had {:.0} % of the measured core", 100.0 * lost))
        }
        _ if !load.is_quiet() => Attempt::Disturbed(format!(
            "others had {:.0} % of the CPUs while they were measured",
            100.0 * load.others
        )),
        _ => Attempt::Quiet(measured),
    })
}

/// The time that all threads of this process had.
fn process_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// Does `work` with a flag that is set once the time is up or the user wants to stop.
fn within<T>(
    limit: Duration,
    interrupt: &Interrupt,
    work: impl FnOnce(&AtomicBool) -> T,
) -> Result<T> {
    /// How often it is looked whether the user wants to stop.
    const LOOK: Duration = Duration::from_millis(20);
    let (stop, deadline) = (AtomicBool::new(false), now() + limit);
    let (ended, has_ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let stop = &stop;
        let flag = interrupt.flag();
        let watch = move || {
            while now() < deadline && !flag.load(Ordering::Relaxed) {
                // The other end is gone once the work is done.
                if has_ended.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Disconnected) {
                    return;
                }
            }
            stop.store(true, Ordering::Relaxed);
        };
        scoped_thread(scope, "limit", "the speed of this machine", watch)?;
        let outcome = work(stop);
        drop(ended);
        Ok(outcome)
    })
}

/// More of the measured core, and its speed is not the machine's.
const MOST_LOST: f64 = 0.02;

/// The trials of each part, and which share of a typical trial of the first others had.
fn measure(
    shares: &[Share],
    cpus: &Cpus,
    host: &HostView,
    stop: &AtomicBool,
) -> Result<(Measured, Option<f64>)> {
    let temporary = std::env::temp_dir();
    let scene = Scene { host, allowed: allowed()?, temporary, stop };
    let mut measured = Measured::default();
    let mut lost = None;
    for share in shares {
        let trials = trials(share, cpus, &scene)?;
        if share.part == Part::SingleCore {
            lost = trials.value().and_then(|it| typical(it.iter().filter_map(lost_of)));
        }
        let values = match trials {
            Known::Value(trials) => {
                let values =
                    trials.iter().filter_map(|it| Some(rounded(it.figures.first()?.value)));
                Known::Value(values.collect())
            }
            Known::Missing { missing } => Known::Missing { missing },
        };
        measured.0.insert(share.part, values);
    }
    Ok((measured, lost))
}

/// Of a task that never sleeps.
fn lost_of(outcome: &Outcome) -> Option<f64> {
    let (elapsed, cpu) = (*outcome.elapsed_ns.value()?, *outcome.cpu_ns.value()?);
    Some(1.0 - cpu as f64 / elapsed.max(1) as f64)
}

fn typical(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The trials of one part; or why there are none, as on a machine whose memory does not suffice.
///
/// Errors: an answer is wrong.
fn trials(share: &Share, cpus: &Cpus, scene: &Scene<'_>) -> Result<Known<Vec<Outcome>>> {
    let began = now();
    let workload = lab::workloads::find(share.workload).context("there is no such workload")?;
    let settings = Settings {
        cpus: Some((share.cpus)(cpus).to_string()),
        iterations: Some(share.iterations),
        ..Settings::default()
    };
    let mut ready = match (workload.prepare)(&settings, scene) {
        Ok(ready) => ready,
        Err(failure) => return missing(failure),
    };
    let mut outcomes = Vec::new();
    // The clock rises and caches fill in the first trial.
    for n in 0..=MOST {
        match ready.trial(scene) {
            Ok(outcome) if n > 0 => outcomes.push(outcome),
            Ok(_) => {}
            Err(Failure::Stopped) if outcomes.len() >= LEAST => break,
            Err(failure) => return missing(failure),
        }
        if outcomes.len() >= LEAST && began.elapsed() >= share.time {
            break;
        }
    }
    Ok(Known::Value(outcomes))
}

fn missing<T>(failure: Failure) -> Result<Known<T>> {
    match failure {
        Failure::WrongAnswer { .. } => Err(failure.into()),
        Failure::Stopped => Ok(Known::missing(format!("{} s were not enough", LIMIT.as_secs()))),
        failure => Ok(Known::missing(failure.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::{Captured, Live};

    fn host_of(excerpt: &str) -> HostView {
        host::view(&Captured::excerpt(excerpt).unwrap())
    }

    fn cpus(host: &HostView, all: &str) -> String {
        let cpus = Cpus::among(host, CpuSet::parse_list(all).unwrap()).unwrap();
        format!("{} {} {}", cpus.single, cpus.pair, cpus.all)
    }

    #[test]
    fn the_second_core_is_measured_and_no_two_threads_of_one_wake_each_other() {
        let threads = |cpu: u32, list: &str| {
            format!("//- /sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list\n{list}\n")
        };
        let cores = ["0,4", "1,5", "2,6", "3,7"];
        let files: String = (0..).zip(cores).map(|(cpu, it)| threads(cpu, it)).collect();
        let host = host_of(&format!("//- /sys/devices/system/cpu/online\n0-7\n{files}"));
        assert_eq!(cpus(&host, "0-7"), "1 1-2 0-7");
        assert_eq!(cpus(&host, "0,4"), "0 0 0,4");
        assert_eq!(cpus(&host, "0,3"), "3 0,3 0,3");
        // Where the first thread of a core is not open, the second stands for it.
        assert_eq!(cpus(&host, "4-6"), "5 5-6 4-6");
        assert!(Cpus::among(&host, CpuSet::default()).is_err());
    }

    const SHORT: [Share; 2] = [
        Share { iterations: 1000, time: Duration::ZERO, ..SHARES[0] },
        Share { iterations: 1, time: Duration::ZERO, ..SHARES[2] },
    ];

    #[test]
    fn each_part_has_trials_of_its_main_figure() {
        let host = host::view(&Live::this_machine());
        let cpus = Cpus::of(&host).unwrap();
        let (measured, lost) = measure(&SHORT, &cpus, &host, &AtomicBool::new(false)).unwrap();
        assert_eq!(
            measured.0.keys().copied().collect::<Vec<_>>(),
            [Part::SingleCore, Part::WakeUp]
        );
        for trials in measured.0.values() {
            assert_eq!(trials.value().map(Vec::len), Some(LEAST));
        }
        assert!(lost.is_some());
    }

    #[test]
    fn a_part_for_which_there_was_no_time_says_so() {
        let host = host::view(&Live::this_machine());
        let cpus = Cpus::of(&host).unwrap();
        let (measured, _) = measure(&SHARES[2..], &cpus, &host, &AtomicBool::new(true)).unwrap();
        for trials in measured.0.values() {
            assert_eq!(trials.reason(), Some("5 s were not enough"));
        }
    }

    #[test]
    fn the_main_figure_of_each_workload_is_of_the_part() {
        for share in SHARES {
            let figure = lab::workloads::find(share.workload).unwrap().figure;
            assert_eq!(figure.unit, share.part.unit(), "{}", share.workload);
            let is_rate = figure.better == lab::trial::Better::Higher;
            assert_eq!(is_rate, share.part.is_rate(), "{}", share.workload);
        }
    }

    #[test]
    fn the_time_that_work_may_take_ends_it_and_a_user_does_too() {
        let (interrupt, stop) = Interrupt::by_hand();
        let until_stopped = |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        within(Duration::from_millis(1), &interrupt, until_stopped).unwrap();
        stop.stop();
        within(Duration::from_secs(3600), &interrupt, until_stopped).unwrap();
        within(Duration::from_secs(3600), &interrupt, |_| ()).unwrap();
    }
}
