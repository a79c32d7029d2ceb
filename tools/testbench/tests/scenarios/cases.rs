//! The published cases of a clock that firmware stops and of turbo, as studies on a real kernel.
//!
//! Emulated CPUs run at one speed whatever is asked of them, so no study may find more than its figures allow; each has a workload that
//! prints what is in force, by which every trial proves its level.
#![expect(clippy::print_stdout, reason = "reports are to be read")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use testbench::{Boot, Step, Transcript, machines};

use crate::boots::{bench, change};

/// A step that runs cases.
fn cases(name: &str, script: &str) -> Step {
    change(name, &format!("{}\n{script}", include_str!("steps/cases.sh")))
}

/// One thread, all of them, and what is in force.
const TURBO: &str = "\
settled case:turbo --shape one-at-a-time -n 6 -w 'cpu-loop --iterations 20000' -w 'all-cores --iterations 20000' \\
    -w \"command --metric 'in force ([0-9]+)' -- sh /tmp/in_force\"";

/// Two CPUs with P-states and C-states, and without turbo.
static SOUND: LazyLock<Transcript> = LazyLock::new(|| {
    let refused = "refused case:tick\nrefused case:clock-modulation\n";
    run(&machines::sound(), &[cases("case:turbo", &format!("{refused}{TURBO}"))])
});

fn run(boot: &Boot, steps: &[Step]) -> Transcript {
    bench(&[]).run(boot, steps).unwrap_or_else(|error| panic!("{error:?}"))
}

/// What a case came to.
struct Settled {
    /// What was said before its report.
    said: Vec<String>,
    /// The figures of the workload that prints what is in force, by the levels of the arm.
    in_force: BTreeMap<String, Vec<u32>>,
    /// The report for a ticket.
    ticket: String,
}

impl Settled {
    #[track_caller]
    fn of(transcript: &Transcript, step: &str) -> Settled {
        let output = transcript.step(step).unwrap_or_else(|error| panic!("{error:#}"));
        let told = output.stdout.split_once("\ntrial,").and_then(|(said, rest)| {
            let (table, ticket) = rest.split_once("\n# ")?;
            Some((said, format!("trial,{table}"), ticket.to_owned()))
        });
        let Some((said, table, ticket)) = told else { panic!("{output:#?}") };
        let said: Vec<String> = said.lines().map(str::to_owned).collect();
        assert!(said.contains(&"ended: 0, left: ".to_owned()), "{said:#?}: {}", output.stderr);
        assert!(!ticket.contains("## Trials that failed"), "{ticket}");
        println!("{step}: {ticket}");
        Settled { said, in_force: in_force(&table), ticket }
    }

    /// What a level makes of a workload is said, claimed or not.
    fn expect_sentence(&self, workload: &str, level: &str) {
        let claimed = format!("- {level} makes ");
        let unclaimed = format!("- {level}: no effect on {workload} shown; ");
        let is_told = |it: &str| {
            it.starts_with(&claimed) && it.contains(workload) || it.starts_with(&unclaimed)
        };
        let told = self.ticket.lines().any(is_told);
        assert!(told, "{level} on {workload}: {}", self.ticket);
    }
}

/// The figures, of the table of trials.
fn in_force(table: &str) -> BTreeMap<String, Vec<u32>> {
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap_or_default();
    let place =
        |name: &str| head.iter().position(|it| *it == name).unwrap_or_else(|| panic!("{head:?}"));
    let (levels, value) = (place("workload") + 1..place("measured"), place("value"));
    let mut figures: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for row in rows {
        let of_levels = figures.entry(row[levels.clone()].join(" ")).or_default();
        of_levels.push(row[value].parse().unwrap_or_else(|why| panic!("{why}: {row:?}")));
    }
    figures
}

/// In all six trials of these levels the same was in force.
fn always(levels: &str, what: u32) -> (String, Vec<u32>) {
    (levels.to_owned(), vec![what; 6])
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn study_of_turbo_leaves_out_what_the_machine_has_not_and_says_so() {
    let study = Settled::of(&SOUND, "case:turbo");
    let [tick, modulation, _] = &study.said[..] else { panic!("{:#?}", study.said) };
    assert!(tick.contains("boot with nohz_full="), "{tick}");
    assert!(tick.contains("`cargo xtask guest --boot tickless -- SCRIPT`"), "{tick}");
    assert!(modulation.contains("`cargo xtask guest --boot throttled -- SCRIPT`"), "{modulation}");
    let name = study.ticket.lines().next().unwrap_or_default();
    assert!(name.contains("; left out: turbo=on: "), "{name}");
    let expected = BTreeMap::from([
        always("as-found performance", 125),
        always("2us performance", 1025),
        always("as-found powersave", 116),
    ]);
    assert_eq!(study.in_force, expected);
    for workload in ["cpu-loop", "all-cores"] {
        for level in ["cpu-dma-latency=2us", "governor=powersave"] {
            study.expect_sentence(workload, level);
        }
    }
}

/// An emulator that holds registers takes minutes for what the others take seconds.
mod sweep {
    use super::*;

    /// Two workloads, the second of which prints the register.
    const CLOCK_MODULATION: &str = "\
    refused case:clock-modulation
    refused case:kipmid
    settled case:clock-modulation --i-know -n 6 -w 'cpu-loop --iterations 20000' \\
        -w \"command --metric 'holds ([0-9]+)' --better lower -- sh /tmp/modulation\"";

    /// A machine of its own: another that took too long would be lost to its other scenarios.
    static THROTTLED: LazyLock<Transcript> = LazyLock::new(|| {
        let steps = [
            cases("case:clock-modulation", CLOCK_MODULATION),
            cases("killed", include_str!("steps/killed_cure.sh")),
        ];
        run(&machines::throttled(), &steps)
    });

    /// It has turbo, and a register that says which clock is asked for.
    static TURBO: LazyLock<Transcript> =
        LazyLock::new(|| run(&machines::throttled(), &[cases("case:turbo", super::TURBO)]));

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn study_of_turbo_asks_the_processor_for_the_clock_of_each_level_and_limits_its_idle_states() {
        let study = Settled::of(&TURBO, "case:turbo");
        // 3.8 GHz with turbo, 3.4 without, 1.6 at the least; C6 entered but where it is forbidden.
        let expected = BTreeMap::from([
            always("as-found on performance", 138),
            always("2us on performance", 1038),
            always("as-found off performance", 10134),
            always("as-found on powersave", 116),
        ]);
        assert_eq!(study.in_force, expected);
        for workload in ["cpu-loop", "all-cores"] {
            for level in ["cpu-dma-latency=2us", "turbo=off", "governor=powersave"] {
                study.expect_sentence(workload, level);
            }
        }
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn study_of_a_modulated_clock_takes_consent_and_has_the_fault_in_every_other_trial_and_at_the_end()
     {
        let study = Settled::of(&THROTTLED, "case:clock-modulation");
        let [unasked, kipmid, _, again] = &study.said[..] else { panic!("{:#?}", study.said) };
        assert!(unasked.starts_with("refused: 2: "), "{unasked}");
        let why = "on-demand-modulation=off: it fixes a fault, and an experiment brings the fault back for every other trial: \
                   say --i-know for that; `fullclock apply on-demand-modulation=off` fixes it without a study";
        assert!(unasked.contains(why), "{unasked}");
        assert!(kipmid.contains("`cargo xtask guest --boot tickless -- SCRIPT`"), "{kipmid}");
        assert_eq!(again, "is in force again: `fullclock apply on-demand-modulation=off` fixes it");
        assert_eq!(study.in_force, BTreeMap::from([always("as-found", 0x14), always("off", 0x4)]));
        study.expect_sentence("cpu-loop", "on-demand-modulation=off");
        // What is in force is a figure without noise, and less of it was said to be better.
        let line = "- **apply**: `fullclock apply on-demand-modulation=off`\n";
        assert!(study.ticket.contains(line), "{}", study.ticket);
        assert!(
            study.ticket.contains("fullclock experiment --i-know plan.toml"),
            "{}",
            study.ticket
        );
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn study_that_is_killed_while_it_mends_a_fault_brings_the_fault_back_and_says_so() {
        let output = THROTTLED.step("killed").unwrap_or_else(|error| panic!("{error:#}"));
        let lines: Vec<&str> = output.stdout.lines().collect();
        let [fixed, guarded, alone, resumed, back, status] = &lines[..] else {
            panic!("{output:#?}")
        };
        let found = [*fixed, guarded, alone, back].map(|it| it.trim_start_matches("register: "));
        assert_eq!(found, ["0x4", "0x14", "0x4", "0x14"], "{output:#?}");
        let told = "1 place is as before; a fault is in force again, as it was found";
        assert!(resumed.contains(told), "{resumed}");
        assert!(resumed.contains("say --i-know"), "{resumed}");
        assert_eq!(*status, "Nothing is applied.");
    }
}
