//! Whole screens of `fullclock bench` and `fullclock compare`, 80 columns wide.

use super::fixture::{Pattern, QUIET, interleaved, kept, moment, sweep};
use super::{Report, comparisons, text};
use crate::Style;
use crate::schemas::head;
use lab::compare::Side;
use lab::comparison::between;
use lab::doubt::Doubt;
use lab::known::Known;
use lab::record::Record;
use std::path::Path;

const NARROW: Style = Style { color: false, width: 80 };

fn screen(record: &Record) -> String {
    let file = Path::new("/var/lib/fullclock/20261120T154305Z-cpu-loop.json");
    text(&Report::of(record, Some(file)), NARROW)
}

fn compared(a: &Record, b: &Record) -> String {
    let sides = [("A", a), ("B", b)].map(|(name, record)| Side { name, record, arm: 0 });
    let given = ["before.json", "20261121T0900"].map(str::to_owned);
    comparisons(&[between(sides[0], sides[1]).unwrap()], &sides, &given, NARROW)
}

#[test]
fn one_arm_is_shown_with_its_figure_its_clock_and_what_was_lost() {
    insta::assert_snapshot!(screen(&kept()), @r"
    cpu-loop, on CPU 2, 20 trials
      elapsed     12.401 s, 95 % interval 12.390 to 12.412 s (+-0.086 %), min
                  12.375, max 12.425 s
      clock       2.70000 GHz, 95 % interval 2.69994 to 2.70005 GHz (+-0.0021 %),
                  min 2.69986, max 2.70013 GHz
      cycles      33.482 G cycles, 95 % interval 33.454 to 33.510 G cycles
                  (+-0.083 %), min 33.411, max 33.548 G cycles, by the clock around
                  each trial
      lost around timer ticks 0.73 %
      kept in     /var/lib/fullclock/20261120T154305Z-cpu-loop.json
    ");
}

#[test]
fn every_doubt_is_told() {
    let mut record = kept();
    record.trials.truncate(3);
    for trial in &mut record.trials {
        trial.clock =
            Known::Missing { missing: "the scheduler chose its CPUs; --cpus pins it".to_owned() };
    }
    record.arms[0].cpus = None;
    record.doubts = [
        Doubt::Throttled { trials: 2 },
        Doubt::ClockDrifted { share: 0.04 },
        Doubt::ClockUnknown { missing: "the scheduler chose its CPUs; --cpus pins it".to_owned() },
        Doubt::Stolen { share: 0.012 },
        Doubt::OtherLoad { share: 0.3 },
        Doubt::Outliers { trials: 1, of: 3 },
        Doubt::Warming { trials: 1 },
        Doubt::Drifted { at: 2, share: 0.02 },
        Doubt::TooFewTrials { trials: 3, needed: 5 },
        Doubt::Unpinned,
        Doubt::CutShort,
        Doubt::Failures { trials: 1 },
    ]
    .map(Doubt::into)
    .to_vec();
    insta::assert_snapshot!(screen(&record), @r"
    cpu-loop, on any CPU, 3 trials
      elapsed     12.40 s, min 12.38, max 12.42 s
      clock       unknown: the scheduler chose its CPUs; --cpus pins it
      lost around timer ticks 0.73 %
      doubt       the CPUs were throttled in 2 trials
      doubt       the clock moved by 4.0 % between trials
      doubt       the clock was not visible, so it is not taken out: the scheduler
                  chose its CPUs; --cpus pins it
      doubt       the hypervisor took 1.2 % of the CPUs' time around the trials
      doubt       other tasks took 30 % of the CPUs' time around the trials
      doubt       1 of 3 trials lies far from the others; it counts all the same
      doubt       the first trial was slower than the rest
      doubt       from trial 2 on the figures are 2.0 % slower
      doubt       there are too few trials for a claim: 3, and it takes 5
      doubt       it was not pinned: the scheduler could move it from CPU to CPU
                  (--cpus)
      doubt       it was cut short before its plan was done
      doubt       1 trial failed and ended it; those before count
      kept in     /var/lib/fullclock/20261120T154305Z-cpu-loop.json
    ");
}

#[test]
fn two_arms_that_differ_are_told_apart_in_the_first_line() {
    let record = interleaved(QUIET, Pattern { seconds: 12.31, ..QUIET }, 10);
    insta::assert_snapshot!(screen(&record), @r"
    A       cpu-loop, on CPU 2
            elapsed 12.397 s +-0.083 %, 2.69999 GHz +-0.0021 %, 33.471 G cycles
            +-0.082 %, 20 trials
    B       cpu-loop, on CPU 2
            elapsed 12.313 s +-0.080 %, 2.70001 GHz +-0.0020 %, 33.246 G cycles
            +-0.081 %, 20 trials

    B is 0.73 % faster than A, 95 % interval 0.49 to 0.84 %, by elapsed time, from
    20 pairs
      raw         elapsed: -0.73 % time, 95 % interval -0.84 to -0.49 %
      clock out   elapsed in cycles: -0.72 % time, 95 % interval -0.84 to -0.49 %
      clock       the same for A and B within 0.01 %
      effect size of a trial of each, that of B is the slower one in 0 % (Cliff's
                  delta -1.00)
      kept in     /var/lib/fullclock/20261120T154305Z-cpu-loop.json
    ");
}

#[test]
fn two_arms_that_do_not_differ_are_not() {
    let record = interleaved(QUIET, QUIET, 10);
    insta::assert_snapshot!(screen(&record), @r"
    A       cpu-loop, on CPU 2
            elapsed 12.397 s +-0.083 %, 2.69999 GHz +-0.0021 %, 33.471 G cycles
            +-0.082 %, 20 trials
    B       cpu-loop, on CPU 2
            elapsed 12.403 s +-0.080 %, 2.70001 GHz +-0.0020 %, 33.489 G cycles
            +-0.081 %, 20 trials

    No difference found between A and B, by time on the CPU, from 20 pairs; one of
    0.32 % would have been detected
      raw         elapsed: 0.00 % time, 95 % interval -0.12 to +0.23 %: too noisy
                  for a claim below 0.32 %
      clock out   elapsed in cycles: 0.00 % time, 95 % interval -0.12 to +0.23 %
      clock       the same for A and B within 0.01 %
      effect size of a trial of each, that of B is the slower one in 60 % (Cliff's
                  delta +0.20)
      kept in     /var/lib/fullclock/20261120T154305Z-cpu-loop.json
    ");
}

#[test]
fn trials_whose_pieces_took_turns_say_so() {
    let record = Record { pieces: 20, ..interleaved(QUIET, QUIET, 10) };
    let of_each = screen(&record).matches("20 trials in 20 pieces").count();
    assert_eq!(of_each, 2, "{}", screen(&record));
}

#[test]
fn what_colours_a_verdict_is_obeyed_and_not_shown() {
    let record = interleaved(QUIET, QUIET, 10);
    let shown = text(&Report::of(&record, None), Style { color: true, width: 80 });
    assert!(shown.contains("\u{1b}[1mNo difference found"), "{shown:?}");
    assert!(!shown.contains(char::REPLACEMENT_CHARACTER), "{shown:?}");
}

#[test]
fn of_many_arms_the_slow_one_stands_out() {
    insta::assert_snapshot!(screen(&sweep()), @r"
    cpu-loop: median elapsed, 10 trials of each
    CPU 3        12.40 s   1.01 % faster than the others (0.86 to 1.17 %)
    CPU 1        12.40 s   0.97 % faster than the others (0.82 to 1.12 %)
    CPU 0        12.40 s   0.95 % faster than the others (0.79 to 1.10 %)
    CPU 2        12.77 s   2.99 % slower than the others (2.83 to 3.15 %)
      kept in     /var/lib/fullclock/20261120T154305Z-cpu-loop.json
    ");
}

#[test]
fn two_moments_are_compared_by_clock_and_settings() {
    let (mut a, mut b) = (kept(), moment(Pattern { seconds: 9.57, hertz: 3.5e9, noise: 0.001 }));
    for (record, governor, spectre) in [
        (&mut a, "powersave", "Mitigation: Retpolines; IBPB: conditional; STIBP: conditional"),
        (&mut b, "performance on 0-2, powersave on 3", "Vulnerable"),
    ] {
        let settings = [("scaling_governor", governor), ("vulnerability: spectre_v2", spectre)];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        record.machine.0.extend(settings);
    }
    b.machine.0.insert("kernel.timer_migration".to_owned(), "0".to_owned());
    insta::assert_snapshot!(compared(&a, &b), @r"
    A       before.json
            cpu-loop, on CPU 2, began 2026-11-20T15:43:05Z
            elapsed 12.401 s +-0.086 %, 2.70000 GHz +-0.0021 %, 33.482 G cycles
            +-0.083 %, 20 trials
    B       20261121T0900
            cpu-loop, on CPU 2, began 2026-11-20T15:43:05Z
            elapsed 9.5703 s +-0.042 %, 3.50000 GHz +-0.0021 %, 33.496 G cycles
            +-0.042 %, 20 trials

    B is 22.825 % faster than A (takes 0.772 times as long), 95 % interval 22.747 to
    22.902 %, by elapsed time, from 20 trials each
      raw         elapsed: -22.825 % time, 95 % interval -22.902 to -22.747 %
      clock out   elapsed in cycles: +0.04 % time, 95 % interval -0.06 to +0.14 %
      clock       30 % higher for B than for A; which explains the difference: the
                  cycles are the same within 3 %
      effect size of a trial of each, that of B is the slower one in 0 % (Cliff's
                  delta -1.00)
      settings    3 differ, A / B
                  kernel.timer_migration: not recorded / 0
                  scaling_governor: powersave / performance on 0-2, powersave on 3
                  vulnerability: spectre_v2
                    A: Mitigation: Retpolines; IBPB: conditional; STIBP: conditional
                    B: Vulnerable
    ");
}

#[test]
fn doubts_that_forbid_a_claim_are_named_first() {
    let (a, mut b) = (kept(), moment(Pattern { seconds: 9.57, ..QUIET }));
    b.doubts = vec![Doubt::Unpinned.into(), Doubt::OtherLoad { share: 0.3 }.into()];
    insta::assert_snapshot!(compared(&a, &b), @r"
    A       before.json
            cpu-loop, on CPU 2, began 2026-11-20T15:43:05Z
            elapsed 12.401 s +-0.086 %, 2.70000 GHz +-0.0021 %, 33.482 G cycles
            +-0.083 %, 20 trials
    B       20261121T0900
            cpu-loop, on CPU 2, began 2026-11-20T15:43:05Z
            elapsed 9.5705 s +-0.083 %, 2.70000 GHz +-0.0021 %, 25.841 G cycles
            +-0.083 %, 20 trials

    No claim about A and B: a doubt forbids it
      raw         elapsed: -22.823 % time, 95 % interval -22.918 to -22.727 %
      clock out   elapsed in cycles: -22.823 % time, 95 % interval -22.918 to
                  -22.727 %
      clock       the same for A and B within 0.01 %
      effect size of a trial of each, that of B is the slower one in 0 % (Cliff's
                  delta -1.00)
      settings    the same in both
      forbids     B: other tasks took 30 % of the CPUs' time around the trials
      doubt       B: it was not pinned: the scheduler could move it from CPU to CPU
                  (--cpus)
    ");
}

#[test]
fn pieces_of_json_are_one_line_with_every_field_of_the_result_in_the_order_of_keys() {
    for n_trials in [0, 1, 20] {
        let mut record = kept();
        record.trials.truncate(n_trials);
        let report = Report::of(&record, None);
        let line: String = super::json(&head(), &report).unwrap().map(Result::unwrap).collect();
        assert!(line.starts_with(r#"{"arms":["#) && line.ends_with("\"}\n"), "{line}");
        assert_eq!(line.lines().count(), 1);
        let whole = serde_json::to_value(&record).unwrap();
        let mut rest = &*line;
        for (key, value) in whole.as_object().unwrap() {
            let field = format!("{}:{value}", serde_json::Value::from(&**key));
            rest = rest.split_once(&field).unwrap_or_else(|| panic!("{field} in {line}")).1;
        }
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read.as_object().unwrap().len(), whole.as_object().unwrap().len() + 10);
        assert_eq!(read["trials"].as_array().unwrap().len(), n_trials);
    }
}
