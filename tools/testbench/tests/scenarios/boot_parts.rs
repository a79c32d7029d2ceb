//! A study of what takes a reboot, in as many boots as it takes.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which allow-unwrap-in-tests does not reach"
)]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use testbench::{Disk, Step, machines};

use crate::boots::{bench, change};

/// How often each of two levels is booted: as seldom as it may be.
const N_ROUNDS: usize = 3;
/// One level changes how many idle states there are; the governor is changed around trials.
const STUDY: &str = "part max-cstate=none,1 governor=performance,schedutil --boots 3 -n 6 -w 'cpu-loop --iterations 100000'";

fn part() -> Step {
    let shared = [
        include_str!("steps/disk.sh"),
        include_str!("steps/experiments.sh"),
        include_str!("steps/boot_parts.sh"),
    ];
    change("part", &format!("{}\n{STUDY}", shared.join("\n")))
}

/// What one boot told.
struct Told(String);

impl Told {
    fn line(&self, before: &str) -> &str {
        let found = self.0.lines().find_map(|it| it.strip_prefix(before));
        found.unwrap_or_else(|| panic!("no {before:?} in {}", self.0))
    }
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn study_of_the_boot_line_runs_a_part_in_each_boot_and_leaves_the_line_as_it_was() {
    let (bench, disk) = (bench(&[]), Disk::new().unwrap());
    let mut boot = machines::lasting(&disk);
    let mut n_states: BTreeMap<String, usize> = BTreeMap::new();
    // The first boot may be none of the study's, where chance begins with the other level.
    for _ in 0..=2 * N_ROUNDS {
        let transcript = bench.run(&boot, &[part()]).unwrap_or_else(|error| panic!("{error:?}"));
        let output = transcript.step("part").unwrap_or_else(|error| panic!("{error:#}"));
        let told = Told(output.stdout.clone());
        assert_eq!(told.line("ended: "), "0, left: ", "{}\n{}", told.0, output.stderr);
        let (id, n) = told.line("boot: ").split_once(' ').unwrap();
        n_states.insert(id.to_owned(), n.parse().unwrap());
        if let Some((_, whole)) = told.0.split_once("whole:\n") {
            assert_eq!(told.line("line:"), "", "{}", told.0);
            assert_eq!(told.line("status: "), "Nothing is applied.", "{}", told.0);
            expect_a_boot_for_each_part(whole, &n_states);
            return;
        }
        assert!(
            told.line("said: ").contains("reboot, and then `fullclock experiment resume"),
            "{}",
            told.0
        );
        // What this boot cannot run, it does not run when it is asked once more.
        assert!(told.line("again: ").contains("takes a boot of its own"), "{}", told.0);
        boot.kernel_arguments = told.line("line:").split_whitespace().map(str::to_owned).collect();
    }
    panic!("the study is not whole behind {} boots", 2 * N_ROUNDS + 1);
}

/// Whether every part ran in a boot of its own, with the idle states that its level allows.
fn expect_a_boot_for_each_part(whole: &str, n_states: &BTreeMap<String, usize>) {
    let mut values = serde_json::Deserializer::from_str(whole).into_iter::<Value>();
    let record = values.next().unwrap().unwrap();
    let report = values.next().unwrap().unwrap();
    assert_eq!(record["is_complete"], true);
    let trials = record["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4 * 2 * N_ROUNDS, "{record:#}");
    let mut levels: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for trial in trials {
        let arm = trial["arm"].as_u64().unwrap() as usize;
        let level = record["experiment"]["arms"][arm]["levels"][0].as_u64().unwrap();
        levels.entry(trial["boot"].as_str().unwrap()).or_default().insert(level);
    }
    assert_eq!(levels.len(), 2 * N_ROUNDS, "{levels:?}");
    let deepest = n_states.values().max().unwrap();
    for (boot, levels) in levels {
        let limited = n_states[boot] < *deepest;
        assert_eq!(levels.into_iter().collect::<Vec<_>>(), [u64::from(limited)], "{n_states:?}");
    }
    let workload = &report["workloads"][0];
    assert_eq!(workload["blocks"], N_ROUNDS, "{report:#}");
    assert_eq!(workload["effects"].as_array().map(Vec::len), Some(2), "{report:#}");
}
