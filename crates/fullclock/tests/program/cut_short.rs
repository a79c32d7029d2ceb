//! A study that is killed at moments of chance and gone on with, against the same study in one piece.
//!
//! What a trial measures here is a function of the CPU that it runs on and of how many trials the study has kept: a trial that
//! is lost, made twice, out of order or run as another arm changes the figures, and with them the analysis.

use crate::support::needs_same_settings;
use fastrand::Rng;
use lab::record::Record;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::{Builder, TempDir};

/// Relative to the folder of the studies, so that both are of one plan.
const WORK: &str = "command --metric 'figure=([0-9]+)' -- sh -c '\
    n=$(cat */*.trials | wc -l); cpu=$(grep Cpus_allowed_list /proc/self/status | tr -dc 0-9); \
    echo figure=$((10000 + 500 * cpu + n * 7919 % 101))'";

/// A folder of studies, where nobody else may look: the journal of changes is in it, too.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let owned = fs::Permissions::from_mode(0o700);
        Place(Builder::new().permissions(owned).tempdir().unwrap())
    }

    fn start(&self, words: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fullclock"));
        command.args(["experiment", "-q"]).args(words).current_dir(self.0.path());
        command.arg("--results").arg(self.0.path()).arg("--state-dir").arg(self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.spawn().unwrap()
    }

    /// The file of the study whose name has this in it.
    fn file(&self, name: &str) -> Option<PathBuf> {
        let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
        let mut studies = entries(self.0.path().to_owned());
        let study = studies.find(|it| it.file_name().to_string_lossy().ends_with("-cpu"))?;
        let mut files = entries(study.path()).map(|it| it.path());
        files.find(|it| it.to_string_lossy().contains(name))
    }

    /// A line for the study, and one for each trial.
    fn n_lines(&self) -> usize {
        let text = self.file(".trials").and_then(|it| fs::read_to_string(it).ok());
        text.map_or(0, |it| it.lines().count())
    }

    /// Everything that was planned and found but what the machine did meanwhile, which is another every time.
    fn found(&self) -> (Value, Vec<String>) {
        let read = |name| fs::read_to_string(self.file(name).unwrap()).unwrap();
        let mut report: Value = serde_json::from_str(&read("report.json")).unwrap();
        leave_out(&mut report, &["id", "began", "doubts", "doubt_sentences"]);
        for workload in report["workloads"].as_array_mut().unwrap() {
            for part in ["arms", "effects"] {
                for it in workload[part].as_array_mut().unwrap() {
                    leave_out(it, &["clock_hz", "watts", "watts_interval", "ledger"]);
                    leave_out(it, &["by_clock", "clock_part", "in_cycles"]);
                }
            }
            let sentences = workload["effect_sentences"].as_array_mut().unwrap();
            sentences.iter_mut().for_each(without_clock);
        }
        without_clock(&mut report["verdict"]);
        let record: Record = serde_json::from_str(&read("-cpu.json")).unwrap();
        let trials = record.trials.iter();
        let trials = trials.map(|it| {
            let (figures, failed) = (&it.outcome.figures, &it.failed);
            format!("{} {} {} {figures:?} {failed:?}", it.number, it.block, it.arm)
        });
        (report, trials.collect())
    }
}

fn leave_out(value: &mut Value, names: &[&str]) {
    let fields = value.as_object_mut().unwrap();
    fields.retain(|name, _| !names.contains(&&**name));
}

/// What the clock explains is its last clause.
fn without_clock(sentence: &mut Value) {
    let text = sentence.as_str().unwrap();
    *sentence = text.split("; ").next().unwrap().into();
}

#[test]
fn a_study_that_is_killed_at_any_moment_comes_to_what_it_comes_to_in_one_piece() {
    let _settings = needs_same_settings();
    let seed = Rng::new().u64(..1 << 32);
    let mut chance = Rng::with_seed(seed);
    let cpus: Vec<u32> = host::probe::allowed().unwrap().iter().take(2).collect();
    let (levels, seed) = (format!("cpu={},{}", cpus[0], cpus[1]), seed.to_string());
    // What the hypervisor of this machine takes is no part of what is compared.
    let study = [&levels, "-w", WORK, "-n", "12", "--seed", &seed, "--max-stolen", "99%"];
    let whole = Place::new();
    assert!(whole.start(&study).wait().unwrap().success());

    let cut = Place::new();
    let mut n_kills = 0;
    while cut.file("report.json").is_none() {
        let n_before = cut.n_lines();
        let mut run = cut.start(if n_before == 0 { &study } else { &["resume"] });
        let n_wanted = n_before + chance.usize(..6);
        let deadline = Instant::now() + Duration::from_secs(30);
        while cut.n_lines() < n_wanted
            && run.try_wait().unwrap().is_none()
            && Instant::now() < deadline
        {
            sleep(Duration::from_millis(2));
        }
        sleep(Duration::from_millis(chance.u64(..60)));
        match run.try_wait().unwrap() {
            Some(status) => assert!(status.success(), "seed {seed}, after {n_kills} kills"),
            None => n_kills += 1,
        }
        // SIGKILL.
        run.kill().ok();
        run.wait().unwrap();
    }
    println!("seed {seed}, {n_kills} kills");
    assert_eq!(cut.found(), whole.found(), "seed {seed}, {n_kills} kills");
    assert_eq!(whole.found().0["seed"].to_string(), seed);
    assert!(n_kills > 0);
}
