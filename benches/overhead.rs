//! What `fullclock bench` adds to the trials that it times: `cargo bench -p xtask --bench overhead`.
//!
//! First the timed part of a trial that does next to nothing: what reading the clocks adds to any trial. Then trials of
//! `cpu-loop` as bench runs them, each with two bare ones right after it: no clock probed, nothing sampled, not cut. The
//! differences to the second are what all that does to a trial: the middle of the pairs, and its 95 % interval.
#![expect(clippy::print_stdout, reason = "the results")]

use anyhow::{Context as _, Result};
use facts::{CpuSet, Missing};
use host::Live;
use host::probe::allowed;
use lab::bench::{Plan, PlannedArm, Watcher, run};
use lab::failure::Failure;
use lab::record::{Fingerprint, Record};
use lab::stats::{Sample, hodges_lehmann, walsh_interval};
use lab::trial::Outcome;
use lab::workload::{Ready, Scene, Settings};
use lab::workloads::find;
use std::sync::atomic::AtomicBool;

fn main() -> Result<()> {
    let host = host::view(&Live::this_machine());
    let stop = AtomicBool::new(false);
    let allowed = allowed()?;
    let cpu: CpuSet = allowed.last().into_iter().collect();
    let scene = Scene { host: &host, allowed, temporary: std::env::temp_dir(), stop: &stop };
    let workload = find("cpu-loop").context("there is no cpu-loop")?;
    let settings = |iterations| Settings {
        cpus: Some(cpu.to_string()),
        iterations: Some(iterations),
        ..Settings::default()
    };
    empty(&mut *(workload.prepare)(&settings(1), &scene)?, &scene)?;
    // Two arms of the last are cut into pieces.
    for (iterations, n_arms, trials) in
        [(1_000_000, 1, 4000), (10_000_000, 1, 3000), (10_000_000, 2, 1500)]
    {
        let arm = |_| PlannedArm { name: String::new(), workload, settings: settings(iterations) };
        let plan = plan((0..n_arms).map(arm).collect(), trials);
        let bare = (workload.prepare)(&settings(iterations), &scene)?;
        compared(plan, bare, &scene)?;
    }
    Ok(())
}

fn empty(ready: &mut dyn Ready, scene: &Scene<'_>) -> Result<()> {
    let trials: Result<Vec<Outcome>, Failure> = (0..2000).map(|_| ready.trial(scene)).collect();
    let trials = trials?;
    let line = |what: &str, of: fn(&Outcome) -> Option<&u64>| {
        let mut all: Vec<&u64> = trials.iter().filter_map(of).collect();
        all.sort_unstable();
        println!("a loop of 1, {what}: lowest {} ns, middle {} ns", all[0], all[all.len() / 2]);
    };
    line("elapsed", |it| it.elapsed_ns.value());
    line("time on the CPU", |it| it.cpu_ns.value());
    Ok(())
}

fn plan(arms: Vec<PlannedArm>, trials: u32) -> Plan {
    Plan {
        arms,
        trials,
        expected: trials,
        seed: 1,
        id: String::new(),
        version: String::new(),
        began: String::new(),
        machine: Fingerprint::default(),
        costs: Err(Missing::absent("the cost of events")),
        is_whole: false,
        warm_up: 0,
        experiment: None,
        so_far: Vec::new(),
        boot: None,
    }
}

fn compared(plan: Plan, bare: Box<dyn Ready>, scene: &Scene<'_>) -> Result<()> {
    let mut beside = Beside { bare, scene, differences: [Vec::new(), Vec::new()] };
    let (record, outcome) = run(plan, scene, &mut beside)?;
    outcome?;
    let (iterations, pieces) = (record.arms[0].settings.iterations.unwrap_or(0), record.pieces);
    for (what, differences) in ["elapsed", "time on the CPU"].into_iter().zip(beside.differences) {
        let sample = Sample::new(differences)?;
        let percent = |it: f64| it.exp_m1() * 100.0;
        let interval = walsh_interval(&sample, 0.95)?.map(percent);
        println!(
            "a loop of {iterations} in {pieces} pieces, {what}: {:+.4} % ({:+.4} to {:+.4} %), {} pairs",
            percent(hodges_lehmann(&sample)),
            interval.low,
            interval.high,
            sample.len()
        );
    }
    Ok(())
}

/// Runs a bare trial after each that bench ran.
struct Beside<'a> {
    bare: Box<dyn Ready>,
    scene: &'a Scene<'a>,
    /// Logarithms of bench's trials by bare ones: elapsed, time on the CPU.
    differences: [Vec<f64>; 2],
}

impl Watcher for Beside<'_> {
    fn begun(&mut self, _record: &mut Record) -> Result<(), Failure> {
        Ok(())
    }

    fn tried(&mut self, record: &Record) -> Result<(), Failure> {
        // Bench has just sampled the machine: of two in a row, the second comes after nothing but a trial.
        self.bare.trial(self.scene)?;
        let bare = self.bare.trial(self.scene)?;
        let Some(trial) = record.trials.last() else { return Ok(()) };
        let times = |it: &Outcome| Some([*it.elapsed_ns.value()?, *it.cpu_ns.value()?]);
        if let Some((bench, bare)) = times(&trial.outcome).zip(times(&bare)) {
            for (at, differences) in self.differences.iter_mut().enumerate() {
                differences.push((bench[at] as f64 / bare[at].max(1) as f64).ln());
            }
        }
        Ok(())
    }

    fn wants_more(&mut self, _record: &Record) -> bool {
        false
    }
}
