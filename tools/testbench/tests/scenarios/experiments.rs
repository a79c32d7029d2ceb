//! Studies of settings on a real kernel: the published cases, what their reports say, and that every setting is as it was
//! afterwards, also where the study was killed or the power went.
//!
//! The bench's CPUs are emulated, and share the host's with others: nobody asks here how large an effect is. What is asked is
//! that a report claims what its figures allow and names what the kernel did; and of a study that was cut short, that it comes
//! to what the same study comes to in one piece.
#![expect(clippy::print_stdout, reason = "verdicts, and the seeds of chance, are to be read")]

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use serde_json::Value;
use testbench::{Boot, Disk, Step, Transcript, machines};

use crate::boots::{bench, change};

/// A step that runs studies, and sees what they leave.
fn studies(name: &str, script: &str) -> Step {
    let shared = include_str!("steps/experiments.sh");
    change(name, &format!("{shared}\n{script}"))
}

/// Ondemand against performance, with less work than the case has where it is not emulated.
const ONDEMAND: &str = "\
settled case:ondemand -n 6 -w 'cpu-loop --iterations 100000' -w 'wakeup --iterations 10'";

/// With and without ticks.
const TICK: &str = "settled case:tick -n 6 -w 'cpu-loop --iterations 1000000'";

/// The ends of the case, in more trials than it has for each limit.
const TWO_LIMITS: &str = "\
settled kipmid-max-busy=0,100 -w 'ipmi-roundtrip --iterations 5'";

/// What waits for the controller are heard, and two limits beside what a model makes of them.
const TUNED: &str = "tuned --no-load --limits 0,100 -n 6 --iterations 5";

/// A boot of its own: those that look at faults are long as they are, and a machine that takes too long is lost to all.
static GOVERNORS: LazyLock<Transcript> =
    LazyLock::new(|| run(&machines::sound(), &[studies("case:ondemand", ONDEMAND)]));

/// A CPU with ticks and one without, and a controller that is slow to answer.
static TICKLESS: LazyLock<Transcript> = LazyLock::new(|| {
    let steps = [
        studies("case:tick", TICK),
        studies("kipmid-max-busy", TWO_LIMITS),
        studies("tune", TUNED),
    ];
    run(&machines::tickless(), &steps)
});

fn run(boot: &Boot, steps: &[Step]) -> Transcript {
    bench(&[]).run(boot, steps).unwrap_or_else(|error| panic!("{error:?}"))
}

/// What a study came to.
struct Settled {
    /// Its trials and all that was around them.
    record: Value,
    /// The report for programs.
    report: Value,
    /// The report for a ticket.
    ticket: String,
}

impl Settled {
    /// Of a study of so many trials.
    #[track_caller]
    fn of(transcript: &Transcript, step: &str, n_trials: u64) -> Settled {
        let output = transcript.step(step).unwrap_or_else(|error| panic!("{error:#}"));
        let (ended, rest) = output.stdout.split_once('\n').unwrap_or_default();
        assert_eq!(ended, "ended: 0, left: ", "{}", output.stderr);
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let mut next =
            || values.next().and_then(Result::ok).unwrap_or_else(|| panic!("{output:#?}"));
        let (record, report) = (next(), next());
        let ticket = rest[values.byte_offset()..].to_owned();
        let verdict = text(&report["verdict"]);
        println!("{step}: {verdict}");
        assert_eq!((&report["n_trials"], &report["is_complete"]), (&n_trials.into(), &true.into()));
        assert!(report["failures"].as_array().is_some_and(Vec::is_empty), "{report:#}");
        assert!(ticket.contains(&format!("**{verdict}**")), "{ticket}");
        Settled { record, report, ticket }
    }

    /// The sentences about every effect on a workload, each printed, and each in the ticket.
    fn effects(&self, workload: usize) -> Vec<String> {
        let workload = &self.report["workloads"][workload];
        let sentences = workload["effect_sentences"].as_array().into_iter().flatten();
        let sentences: Vec<String> = sentences.map(|it| text(it).to_owned()).collect();
        for sentence in &sentences {
            println!("  {sentence}");
            assert!(self.ticket.contains(sentence), "{sentence}: {}", self.ticket);
        }
        sentences
    }

    /// Of one effect, whether it is claimed.
    fn is_claimed(&self, workload: usize, effect: usize) -> bool {
        self.report["workloads"][workload]["effects"][effect]["estimate"]["is_claimed"] == true
    }

    /// What a loss took of the CPUs in the trials of an arm, as a share; nothing where it is not known.
    fn share(&self, arm: usize, loss: &str) -> Option<f64> {
        let lines = self.report["workloads"][0]["arms"][arm]["ledger"].as_array()?;
        let shares: Vec<f64> =
            lines.iter().filter(|it| it[0] == loss).filter_map(|it| it[2].as_f64()).collect();
        (!shares.is_empty()).then(|| shares.iter().sum())
    }

    /// What a figure came to in the trials of an arm.
    fn figures(&self, arm: u64, name: &str) -> Vec<f64> {
        let trials = self.record["trials"].as_array().into_iter().flatten();
        let of_arm = trials.filter(|it| it["arm"] == arm);
        let figures = of_arm.filter_map(|it| it["figures"].as_array()).flatten();
        figures.filter(|it| it["name"] == name).filter_map(|it| it["value"].as_f64()).collect()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value:#} is no text"))
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn study_of_governors_claims_what_its_figures_allow_and_leaves_every_setting_as_it_was() {
    let study = Settled::of(&GOVERNORS, "case:ondemand", 24);
    for (place, workload) in ["cpu-loop", "wakeup"].into_iter().enumerate() {
        let [sentence] = &study.effects(place)[..] else { panic!("{:#}", study.report) };
        let begins = match study.is_claimed(place, 0) {
            true => "governor=ondemand makes ".to_owned(),
            false => format!("governor=ondemand: no effect on {workload} shown; "),
        };
        assert!(sentence.starts_with(&begins) && sentence.contains(workload), "{sentence}");
    }
    let verdict = text(&study.report["verdict"]);
    if !study.is_claimed(0, 0) && !study.is_claimed(1, 0) {
        assert!(verdict.starts_with("No setting here "), "{verdict}");
        assert!(study.report["command"].is_null(), "{:#}", study.report);
    }
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn study_of_the_tick_finds_the_cpu_without_it_in_its_ledger_and_advises_no_setting() {
    let study = Settled::of(&TICKLESS, "case:tick", 12);
    let [sentence] = &study.effects(0)[..] else { panic!("{:#}", study.report) };
    let begins = match study.is_claimed(0, 0) {
        true => "cpu=1 makes cpu-loop ",
        false => "cpu=1: no effect on cpu-loop shown; ",
    };
    assert!(sentence.starts_with(begins), "{sentence}");
    let verdict = text(&study.report["verdict"]);
    let expected = if study.is_claimed(0, 0) { begins } else { "Nothing varied here " };
    assert!(verdict.starts_with(expected), "{verdict}");
    assert!(study.report["command"].is_null(), "{:#}", study.report);
    let ticks = [0, 1].map(|arm| study.share(arm, "ticks"));
    println!("  ticks took {ticks:?} of CPU 2 and of CPU 1");
    // What a tick costs cannot be told where the host takes the machine's CPUs away meanwhile.
    if let [Some(with), Some(without)] = ticks {
        assert!(without < with / 2.0, "{ticks:?}");
    }
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn study_of_a_limit_of_polling_claims_what_the_shortest_does() {
    let study = Settled::of(&TICKLESS, "kipmid-max-busy", 32);
    let [sentence] = &study.effects(0)[..] else { panic!("{:#}", study.report) };
    // Behind the controller's 20 ms an answer waits for the next tick, 4 ms away at most.
    let begins = "kipmid-max-busy=100 makes the device id of ipmi-roundtrip ";
    assert!(sentence.starts_with(begins), "{sentence}");
    assert!(sentence.contains(" % longer than with 0 ("), "{sentence}");
    assert_eq!(study.report["command"], "fullclock apply kipmid-max-busy=0", "{:#}", study.report);
    let shares = [0, 1].map(|arm| mean(&study.figures(arm, "kipmid share")));
    println!("  kipmi0 took {shares:?} % of a CPU");
    assert!(shares[1] > 0.0 && shares[1] < 0.75 * shares[0], "{shares:?}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn limit_of_polling_does_what_the_model_makes_of_the_waits_that_were_heard() {
    let output = TICKLESS.step("tune").unwrap_or_else(|error| panic!("{error:#}"));
    let (ended, tuned) = output.stdout.split_once('\n').unwrap_or_default();
    assert_eq!(ended, "ended: 0, left: ", "{output:#?}");
    let tuned: Value =
        serde_json::from_str(tuned).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
    assert_eq!((&tuned["is_complete"], &tuned["model_missing"]), (&true.into(), &Value::Null));
    assert_eq!(tuned["model"]["tick_s"], 0.004);
    let limits = tuned["limits"].as_array().map_or(&[][..], |it| it);
    let [unlimited, limited] = limits else { panic!("{tuned:#}") };
    let slower = |of: &dyn Fn(&Value) -> Option<f64>| {
        of(limited).zip(of(unlimited)).map_or(f64::NAN, |(limited, unlimited)| limited / unlimited)
    };
    let measured = slower(&|it| it["conditions"][0]["both_s"].as_f64());
    let modelled = slower(&|it| it["model"]["both_s"].as_f64());
    println!("  a limit of 100 us takes {measured:.3} times as long, {modelled:.3} by the model");
    // Behind the controller's 20 ms an answer waits for ticks of 4 ms.
    assert!(measured > 1.0 && modelled > 1.0, "{tuned:#}");
    assert!((modelled / measured - 1.0).abs() < 0.25, "{tuned:#}");
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A study in pieces.
fn interrupted(name: &str, script: &str) -> Step {
    let shared = include_str!("steps/interrupted_experiment.sh");
    studies(name, &format!("{shared}\n{script}"))
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn study_that_is_killed_with_its_guard_takes_back_what_it_left_before_it_goes_on() {
    let script =
        "without_a_guard governor=performance,ondemand -w 'cpu-loop --iterations 3000000' -n 6";
    let transcript = run(&machines::half_isolated(), &[interrupted("without a guard", script)]);
    let output = transcript.step("without a guard").unwrap_or_else(|error| panic!("{error:#}"));
    // The settings were planned for the machine as it was found, so that each of the trials changed them.
    let expected = "a level is left in force\nended 0, 12 trials, 13 changes\nas found\n";
    assert_eq!(output.stdout, expected, "{}", output.stderr);
}

/// What takes minutes of a machine: every limit, and studies that are cut short again and again.
mod sweep {
    use super::*;

    /// Every limit of the case with every load, in as few trials as there may be.
    const KIPMID: &str = "settled case:kipmid -n 6 -w 'ipmi-roundtrip --cpus 0 --iterations 1'";

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn study_of_limits_of_polling_has_every_limit() {
        let transcript = run(&machines::tickless(), &[studies("case:kipmid", KIPMID)]);
        let study = Settled::of(&transcript, "case:kipmid", 96);
        assert_eq!(study.effects(0).len(), 8, "{:#}", study.report);
        assert_eq!(study.report["workloads"][0]["arms"].as_array().map(Vec::len), Some(16));
    }

    /// Two settings in every combination: three blocks of eight short trials, whose figures are a function of the settings in
    /// force and of the trials that were kept.
    fn study(seed: u64) -> String {
        format!(
            "--seed {seed} governor=ondemand,performance stat-interval=10,20 \
             -w 'command --metric figure=([0-9]+) -- figure' -n 6"
        )
    }
    const N_ARMS: usize = 4;
    const N_BLOCKS: usize = 3;

    /// In each of two machines: all of them at once would take one longer than it is given.
    const N_KILLS: u32 = 25;
    /// Each takes a boot.
    const N_POWER_CUTS: u32 = 10;

    /// What chance begins with: another number every time, which the shell's arithmetic and awk's take whole.
    fn seed() -> u64 {
        RandomState::new().hash_one("seed") >> 33
    }

    /// Checks every study that was told: each that was cut short again and again says what the one in one piece says. How many
    /// there are besides that one, and what was told behind them.
    fn same_studies(told: &str) -> (usize, &str) {
        let mut pieces: Vec<&str> = told.split("\nend\n").collect();
        let rest = pieces.pop().unwrap_or_default();
        let parsed = |piece: &&str| {
            let (report, trials) =
                piece.split_once("trials:\n").unwrap_or_else(|| panic!("{piece}"));
            let report: Value =
                serde_json::from_str(report).unwrap_or_else(|why| panic!("{why}: {report}"));
            (without_what_was_around(report), trials.to_owned())
        };
        let studies: Vec<(Value, String)> = pieces.iter().map(parsed).collect();
        let Some(((report, trials), others)) = studies.split_first() else { panic!("{told}") };
        assert_eq!(report["is_complete"], true, "{report:#}");
        assert_eq!(report["n_trials"], 2 * N_ARMS * N_BLOCKS, "{report:#}");
        // Whether the smaller effect is claimed is chance's: the order of trials makes their noise.
        let advice = text(&report["command"]);
        assert!(advice.starts_with("fullclock apply governor=performance"), "{report:#}\n{trials}");
        assert_eq!(report["failures"], Value::Array(Vec::new()), "{report:#}");
        expect_every_block_there_and_back(trials);
        for other in others {
            assert_eq!((&other.0, &other.1), (report, trials));
        }
        (others.len(), rest)
    }

    /// A report without what differs between two studies of one plan and one seed: when they were, and what else the machine did
    /// meanwhile.
    fn without_what_was_around(mut report: Value) -> Value {
        const AROUND: [&str; 5] =
            ["throttled", "clock-drifted", "clock-unknown", "stolen", "other-load"];
        let leave_out = |value: &mut Value, names: &[&str]| {
            let fields = value.as_object_mut().unwrap_or_else(|| panic!("it is no object"));
            fields.retain(|name, _| !names.contains(&&**name));
        };
        leave_out(&mut report, &["id", "host", "began", "doubt_sentences"]);
        if let Some(doubts) = report["doubts"].as_array_mut() {
            doubts.retain(|it| !AROUND.contains(&text(&it["doubt"])));
        }
        let workloads = report["workloads"].as_array_mut().into_iter().flatten();
        for workload in workloads {
            for part in ["arms", "effects"] {
                let of_part = workload[part].as_array_mut().into_iter().flatten();
                of_part.for_each(|it| leave_out(it, &["ledger"]));
            }
        }
        report
    }

    /// A block runs its arms in the order that chance gave it, and back.
    fn expect_every_block_there_and_back(csv: &str) {
        let trial = |line: &str| -> Vec<usize> {
            line.split(',').filter_map(|it| it.parse().ok()).collect()
        };
        let trials: Vec<Vec<usize>> = csv.lines().skip(1).map(trial).collect();
        assert_eq!(trials.len(), 2 * N_ARMS * N_BLOCKS, "{csv}");
        for (block, trials) in trials.chunks(2 * N_ARMS).enumerate() {
            let arms: Vec<usize> = trials.iter().map(|it| it[2]).collect();
            let back: Vec<usize> = arms.iter().rev().copied().collect();
            let mut there = arms[..N_ARMS].to_vec();
            there.sort_unstable();
            assert_eq!((&arms, there), (&back, (0..N_ARMS).collect()), "{csv}");
            let first = 2 * N_ARMS * block + 1;
            assert!(trials.iter().zip(first..).all(|(it, n)| it[..2] == [n, block + 1]), "{csv}");
        }
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn study_that_is_killed_anywhere_leaves_the_settings_as_found_and_goes_on_to_the_same_end() {
        expect_the_same_end_after_kills();
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn study_that_is_killed_at_other_moments_leaves_the_settings_as_found() {
        expect_the_same_end_after_kills();
    }

    fn expect_the_same_end_after_kills() {
        let seed = seed();
        println!("kills by chance, seed {seed}");
        let script = format!("killed_at_random {seed} {} {}", N_KILLS, study(seed));
        let transcript = run(&machines::half_isolated(), &[interrupted("killed", &script)]);
        let output = transcript.step("killed").unwrap_or_else(|error| panic!("{error:#}"));
        println!("{}", output.stderr);
        let (n_whole, rest) = same_studies(&output.stdout);
        println!("{n_whole} studies: {rest}");
        let number = |before: &str| {
            let number = rest.split(before).next().and_then(|it| it.split(' ').next_back());
            number.and_then(|it| it.parse::<u32>().ok()).unwrap_or_else(|| panic!("{output:#?}"))
        };
        let (killed, changed) = (number(" times"), number(" of them"));
        let expected = format!(
            "killed {killed} times, {changed} of them in a change, lost 0, failed 0, left , then Nothing is applied.\n"
        );
        assert_eq!(rest, expected, "{}", output.stderr);
        assert_eq!(killed, N_KILLS, "{}", output.stderr);
        assert!(changed >= N_KILLS / 10, "{rest}");
        assert!(n_whole > 0, "{rest}");
    }

    /// What the boot after the last cut tells of all.
    static CUT: LazyLock<Transcript> =
        LazyLock::new(|| power_cuts().unwrap_or_else(|error| panic!("{error:?}")));

    fn power_cuts() -> anyhow::Result<Transcript> {
        let seed = seed();
        println!("power cuts by chance, seed {seed}");
        let (bench, disk) = (bench(&[]), Disk::new()?);
        let boot = machines::lasting(&disk);
        let step = |name: &str, script: &str| {
            interrupted(
                name,
                &format!("{}\n{script}", include_str!("steps/power_cut_experiment.sh")),
            )
        };
        for cut in 0..u64::from(N_POWER_CUTS) {
            let script = format!("power_cut {} {}", seed + cut, study(seed));
            bench.run_to_power_cut(&boot, &[step("power cut", &script)])?;
        }
        bench.run(
            &boot,
            &[step("after the power cuts", &format!("after_power_cuts {}", study(seed)))],
        )
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn study_that_the_power_goes_in_keeps_its_trials_and_goes_on_to_the_same_end() {
        let output = CUT.step("after the power cuts").unwrap_or_else(|error| panic!("{error:#}"));
        let (n_whole, rest) = same_studies(&output.stdout);
        println!("{n_whole} studies\n{rest}");
        let (boots, last) =
            rest.trim_end().rsplit_once('\n').unwrap_or_else(|| panic!("{output:#?}"));
        assert_eq!(last, "left , then Nothing is applied.", "{}", output.stderr);
        let boots: Vec<&str> = boots.lines().collect();
        assert_eq!(boots.len(), N_POWER_CUTS as usize + 1, "{rest}");
        for boot in boots {
            assert!(boot.starts_with("booted with schedutil schedutil 1, kept "), "{rest}");
            // A study is on the disk before it changes anything.
            assert!(!boot.contains("kept 0 lines: Change "), "{rest}");
        }
        assert!(n_whole > 0, "{rest}");
    }
}
