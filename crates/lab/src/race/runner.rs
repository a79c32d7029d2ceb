//! A node at work: its engine commits without a break, and each interval is a trial.

use super::ns;
use super::protocol::{Ready, Task};
use super::watcher::{FULL_INTERVAL, QUOTA_INTERVAL, QUOTAS, Watcher};
use crate::bench::{Recorder, Work, clocks, refuse_denied, trial_clock};
use crate::commit::{Engine, Sample, Split, open};
use crate::durability::is_in_memory;
use crate::failure::Failure;
use crate::groups::Groups;
use crate::known::Known;
use crate::server::Meter;
use crate::trial::Mark;
use crate::trial::{Outcome, Trial, TrialContext};
use crate::workload::{Scene, Settings};
use crate::workloads::{COMMIT, outcome_of_commits};
use facts::probe::{ClockReading, EventCosts};
use facts::{CpuSet, Fact, Missing};
use host::probe::anchor;
use host::{Live, Source};
use rules::ledger::ServerTasks;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

/// What is left out at the start, in which threads are made and caches are cold.
const LEAD: Duration = Duration::from_millis(500);

/// How often the stop flag is checked.
const GLANCE: Duration = Duration::from_millis(50);

/// An engine that is ready, and the watcher of its host.
pub struct Runner<'a> {
    engine: Box<dyn Engine>,
    recorder: Recorder<'a>,
    /// Reads the server that it works in, where that runs here.
    meter: Option<Meter>,
    watcher: Watcher,
    groups: Groups,
    settings: Settings,
    scene: &'a Scene<'a>,
    interval: Duration,
    /// When the quotas of the host were last polled, and when the whole host was.
    polled_ns: [u64; 2],
}

/// One end of an interval.
struct End {
    at_ns: u64,
    sample: Sample,
    clocks: Fact<Vec<ClockReading>>,
}

impl<'a> Runner<'a> {
    /// Makes the engine ready; `costs` is what an interrupt costs on this host, for the ledgers.
    ///
    /// Errors: what the engine lacks, or why the settings make no sense for it.
    pub fn prepare(
        task: &Task,
        scene: &'a Scene<'a>,
        costs: Fact<EventCosts>,
    ) -> Result<Runner<'a>, Failure> {
        COMMIT.accepts(&task.settings)?;
        refuse_denied(&task.settings)?;
        let engine = open(&task.settings, scene)?;
        // One on another machine is no part of this one's ledger.
        let meter = engine.server().and_then(|it| Meter::of(&it, scene.stop).ok());
        let groups = Groups::of(engine.processes().into_iter().chain(engine.tasks()));
        let host = groups.concerned(host::view(&Live::this_machine()));
        Ok(Runner {
            engine,
            recorder: Recorder::open(scene.host, costs),
            meter,
            watcher: Watcher::of(&host),
            groups,
            settings: task.settings.clone(),
            scene,
            interval: task.interval,
            polled_ns: [0; 2],
        })
    }

    /// What is to be known before it begins.
    pub fn ready(&self) -> Ready {
        let live = Live::this_machine();
        let source: &dyn Source = &live;
        let boot = source.boot_id().unwrap_or_default();
        Ready {
            machine: self.watcher.machine().clone(),
            // As much of it as tells hosts apart.
            host: boot.chars().take(8).collect(),
            in_memory: self.in_memory(),
            about: self.engine.about(),
            cpus: self.engine.cpus().map(CpuSet::to_string),
        }
    }

    /// The folder that it writes to, where that is in memory. Where a server of the user's writes is not known here.
    fn in_memory(&self) -> Option<String> {
        let Settings { dsn, folder, .. } = &self.settings;
        let folder = folder.as_deref().map_or(&*self.scene.temporary, Path::new);
        let is_ours = dsn.is_none() && is_in_memory(folder);
        is_ours.then(|| folder.display().to_string())
    }

    /// Works from `begin_ns` of CLOCK_MONOTONIC_RAW until the scene's stop flag is set, and sends a trial for each interval. The
    /// trials are numbered from 1, and their times are those since `begin_ns`.
    ///
    /// Errors: why it ended before; what is committed is not in the log.
    pub fn run(&mut self, begin_ns: u64, tell: &mut dyn FnMut(Trial)) -> Result<(), Failure> {
        let start_ns = begin_ns.saturating_sub(ns(LEAD));
        let now_ns = anchor().raw_ns;
        // Where the agent was restarted, the race began long ago.
        let first_ns = if now_ns > start_ns {
            next(begin_ns, ns(self.interval), now_ns.saturating_add(ns(LEAD)))
        } else {
            begin_ns
        };
        if !self.wait(start_ns) {
            return Ok(());
        }
        self.engine.start()?;
        let ended = self.intervals(begin_ns, first_ns, tell);
        // What went wrong while it ran comes before what stopping it says of that.
        let stopped = self.engine.stop();
        ended.and(stopped)
    }

    fn intervals(
        &mut self,
        begin_ns: u64,
        first_ns: u64,
        tell: &mut dyn FnMut(Trial),
    ) -> Result<(), Failure> {
        let mut due_ns = first_ns;
        if !self.wait(due_ns) {
            return Ok(());
        }
        self.polled_ns = [due_ns; 2];
        self.recorder.begin_apart();
        self.meter.iter_mut().for_each(|it| it.begin(self.scene.stop));
        self.groups.begin();
        let mut before = self.end()?;
        for number in 1.. {
            let after = loop {
                due_ns = next(due_ns, ns(self.interval), anchor().raw_ns);
                if !self.wait(due_ns) {
                    return Ok(());
                }
                let after = self.end()?;
                // A server may have reported nothing since, or a disk stands still. An interval without a commit has no figures:
                // the node would be compared without what held it up. So it goes on until there is one.
                if after.sample.commits != before.sample.commits {
                    break after;
                }
            };
            let trial = self.trial(&before, &after);
            let throttling = self.groups.throttling();
            let began_ns = Known::Value(before.at_ns.saturating_sub(begin_ns));
            let marks = self.marks();
            tell(Trial { number, began_ns, marks, throttling, ..trial });
            before = after;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<End, Failure> {
        let at_ns = anchor().raw_ns;
        let sample = self.engine.sample()?;
        let unpinned = || {
            let because = "the scheduler chose the node's CPUs; cpus= keeps it on some";
            Missing::not_here("clock of the interval", because)
        };
        let clocks = self.engine.cpus().ok_or_else(unpinned).and_then(clocks);
        Ok(End { at_ns, sample, clocks })
    }

    fn trial(&mut self, before: &End, after: &End) -> Trial {
        let split = Split::between(&before.sample, &after.sample);
        let trial = match &split {
            Ok(split) => {
                let outcome = outcome_of_commits(split, after.sample.sessions);
                Trial { outcome, ..Trial::of_one_task(0, 0, 0.0) }
            }
            Err(why) => {
                let why = Failure::NoFigure(format!("{}: {why}", COMMIT.id));
                let failed = Trial::failed(0, 0, Known::Value(0), &why);
                let elapsed_ns = Known::Value(after.at_ns.saturating_sub(before.at_ns));
                Trial { outcome: Outcome { elapsed_ns, ..failed.outcome }, ..failed }
            }
        };
        let clock = trial_clock(&before.clocks, &after.clocks);
        let (server, tasks) = self.meter.as_mut().map(Meter::end).unzip();
        let surroundings = self.surroundings(before, after, tasks);
        self.meter.iter_mut().for_each(|it| it.begin(self.scene.stop));
        Trial { clock, surroundings, server, ..trial }
    }

    fn surroundings(
        &mut self,
        before: &End,
        after: &End,
        server: Option<ServerTasks>,
    ) -> Known<TrialContext> {
        let readings = [&before.clocks, &after.clocks].into_iter().flatten().flatten();
        let work = Work {
            cpus: self.engine.cpus().unwrap_or(&self.scene.allowed),
            processes: self.engine.processes(),
            tasks: self.engine.tasks(),
            server,
            cpu_ns: None,
            clocks: readings.copied().collect(),
        };
        let surroundings = self.recorder.end(before.at_ns, work);
        self.recorder.forget_past();
        surroundings
    }

    /// What has changed on the host, where it is time to poll it.
    fn marks(&mut self) -> Vec<Mark> {
        let now_ns = anchor().raw_ns;
        let live = Live::this_machine();
        let [quota_ns, full_ns] = &mut self.polled_ns;
        if now_ns.saturating_sub(*full_ns) >= ns(FULL_INTERVAL) {
            [*quota_ns, *full_ns] = [now_ns; 2];
            self.watcher.poll_all(&self.groups.concerned(host::view(&live)))
        } else if now_ns.saturating_sub(*quota_ns) >= ns(QUOTA_INTERVAL) {
            *quota_ns = now_ns;
            self.watcher.poll_quotas(&self.groups.concerned(host::view_of(&live, QUOTAS)))
        } else {
            Vec::new()
        }
    }

    /// Waits until that moment; `false` where the stop flag was set before.
    fn wait(&self, until_ns: u64) -> bool {
        while !self.scene.stop.load(Ordering::Relaxed) {
            match until_ns.checked_sub(anchor().raw_ns) {
                Some(left_ns) if left_ns > 0 => sleep(GLANCE.min(Duration::from_nanos(left_ns))),
                _ => return true,
            }
        }
        false
    }
}

/// The first end of an interval after `now_ns`. Missed intervals are not made up for.
fn next(due_ns: u64, interval_ns: u64, now_ns: u64) -> u64 {
    let missed = now_ns.saturating_sub(due_ns) / interval_ns.max(1);
    due_ns.saturating_add(interval_ns.max(1).saturating_mul(missed + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::texts::{START, sample};
    use std::sync::atomic::AtomicBool;

    /// Tells these numbers of commits, one after the other, and the last one again and again.
    struct Scripted(Vec<u64>);

    impl Engine for Scripted {
        fn start(&mut self) -> Result<(), Failure> {
            Ok(())
        }

        fn sample(&mut self) -> Result<Sample, Failure> {
            let commits = if self.0.len() > 1 { self.0.remove(0) } else { self.0[0] };
            Ok(Sample { at_ns: anchor().raw_ns, commits, ..sample(START) })
        }

        fn stop(&mut self) -> Result<(), Failure> {
            Ok(())
        }

        fn cpus(&self) -> Option<&CpuSet> {
            None
        }

        fn about(&self) -> Vec<(String, String)> {
            Vec::new()
        }
    }

    fn run(settings: Settings, n_intervals: usize) -> Result<Vec<Trial>, String> {
        run_with(settings, n_intervals, |_| {})
    }

    fn run_with(
        settings: Settings,
        n_intervals: usize,
        prepare: impl FnOnce(&mut Runner<'_>),
    ) -> Result<Vec<Trial>, String> {
        let host = host::view(&Live::this_machine());
        let temporary = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let allowed = host::probe::allowed().unwrap();
        let scene =
            Scene { host: &host, allowed, temporary: temporary.path().to_owned(), stop: &stop };
        let task = Task {
            race: "r".to_owned(),
            settings,
            interval: Duration::from_millis(100),
            is_recorded: false,
        };
        let costs = Err(Missing::not_here("costs", "a test"));
        let mut runner = Runner::prepare(&task, &scene, costs).map_err(|it| it.to_string())?;
        prepare(&mut runner);
        let mut trials = Vec::new();
        let mut tell = |trial: Trial| {
            trials.push(trial);
            stop.store(trials.len() >= n_intervals, Ordering::Relaxed);
        };
        let ended = runner.run(anchor().raw_ns, &mut tell);
        ended.map_err(|it| it.to_string()).map(|()| trials)
    }

    #[test]
    fn an_engine_that_works_without_a_break_tells_one_interval_after_the_other() {
        let trials = run(Settings { sessions: Some(2), ..Settings::default() }, 3).unwrap();
        let numbers: Vec<u32> = trials.iter().map(|it| it.number).collect();
        assert_eq!(numbers, [1, 2, 3]);
        let commits = |it: &Trial| it.outcome.figures.first().map(|it| it.value > 0.0);
        assert!(trials.iter().all(|it| commits(it) == Some(true)), "{trials:?}");
        let began: Vec<u64> = trials.iter().filter_map(|it| it.began_ns.value().copied()).collect();
        assert!(began.is_sorted() && began.len() == 3, "{began:?}");
        // One ends where the next begins, but for what the end itself takes.
        for (trial, pair) in trials.iter().zip(began.windows(2)) {
            let length = *trial.outcome.elapsed_ns.value().unwrap();
            assert!((pair[0] + length).abs_diff(pair[1]) < length, "{length} {began:?}");
        }
        assert!(trials.iter().all(|it| it.surroundings.value().unwrap().window_ns > 0));
    }

    #[test]
    fn an_interval_without_a_commit_goes_on_until_there_is_one() {
        let told = Scripted(vec![0, 10, 10, 10, 20, 5, 6]);
        let engine = |runner: &mut Runner<'_>| runner.engine = Box::new(told);
        let trials = run_with(Settings::default(), 4, engine).unwrap();
        let began: Vec<u64> = trials.iter().map(|it| *it.began_ns.value().unwrap()).collect();
        let length = |it: &Trial| *it.outcome.elapsed_ns.value().unwrap();
        assert!(length(&trials[1]) > 200_000_000, "three intervals in one: {trials:?}");
        assert_eq!(began[2] + length(&trials[2]), began[3], "one without figures has a length");
        let failed: Vec<bool> = trials.iter().map(|it| it.failed.is_some()).collect();
        assert_eq!(failed, [false, false, true, false], "the count went backwards once");
    }

    #[test]
    fn settings_that_make_no_sense_are_refused_before_anything_runs() {
        let asked = Settings { rows: Some(5), ..Settings::default() };
        assert!(run(asked, 1).unwrap_err().contains("--rows"));
        let asked = Settings { cpus: Some("4095".to_owned()), ..Settings::default() };
        assert!(run(asked, 1).unwrap_err().contains("4095"));
    }

    #[test]
    fn an_interval_that_was_missed_is_not_made_up_for() {
        assert_eq!([next(100, 10, 95), next(100, 10, 100), next(100, 10, 137)], [110, 110, 140]);
    }
}
