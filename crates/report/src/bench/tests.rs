//! Whole documents of `fullclock bench`, `fullclock race` and `fullclock compare`.

use super::fixture::{Pattern, QUIET, interleaved, kept, moment, raced, sweep};
use super::{Report, comparisons, document};
use crate::Style;
use crate::document::{Document, Format};
use crate::schemas::head;
use lab::compare::{Side, Terms};
use lab::comparison::{between, of_each, sides_of_each};
use lab::doubt::Doubt;
use lab::known::Known;
use lab::record::Record;
use lab::trial::Mark;
use lab::verdict::BetweenRuns;
use std::path::Path;

fn text(document: &Document, width: usize) -> String {
    document.render(Format::Text(Style { color: false, width }))
}

fn of(record: &Record) -> Document {
    let file = Path::new("/var/lib/fullclock/20261120T154305Z-cpu-loop.json");
    document(&Report::of(record, Some(file)))
}

fn screen(record: &Record) -> String {
    text(&of(record), 80)
}

fn between_moments(a: &Record, b: &Record) -> Document {
    let sides = [("A", a), ("B", b)].map(|(name, record)| Side { name, record, arm: 0 });
    let given = ["before.json", "20261121T0900"].map(str::to_owned);
    comparisons(&[between(sides[0], sides[1], &Terms::of(1)).unwrap()], &sides, &given)
}

fn compared(a: &Record, b: &Record) -> String {
    text(&between_moments(a, b), 80)
}

/// A result with every doubt.
fn doubtful() -> Record {
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
        Doubt::OtherLoad { share: 0.3, by: Vec::new(), server: None },
        Doubt::Warming { trials: 1, share: 0.04 },
        Doubt::Drifted { at: 2, share: 0.02 },
        Doubt::TooFewTrials { trials: 3, needed: 5 },
        Doubt::Unpinned,
        Doubt::CutShort,
        Doubt::Failures { trials: 1 },
    ]
    .map(Doubt::into)
    .to_vec();
    record
}

/// Two nodes, the second slower, with what changed on their machine.
fn race() -> Record {
    let mut record = raced(["a", "b"], 0.7);
    let quota =
        Mark::Quota { group: "/sys/fs/cgroup/quarter".to_owned(), from: None, to: Some(0.25) };
    record.trials[8].marks = vec![quota.clone()];
    record.trials[9].marks = vec![quota, Mark::Note { text: "checkpoint".to_owned() }];
    record
}

#[test]
fn one_arm_is_shown_with_its_results_its_clock_and_what_was_lost() {
    insta::assert_snapshot!(screen(&kept()));
}

#[test]
fn every_doubt_is_told() {
    insta::assert_snapshot!(screen(&doubtful()));
}

#[test]
fn two_arms_that_differ_are_said_to_in_the_first_sentence() {
    let record = interleaved(QUIET, Pattern { seconds: 12.31, ..QUIET }, 10);
    insta::assert_snapshot!(screen(&record));
}

#[test]
fn two_arms_that_do_not_differ_are_not() {
    insta::assert_snapshot!(screen(&interleaved(QUIET, QUIET, 10)));
}

#[test]
fn trials_whose_pieces_took_turns_say_so() {
    let record = Record { pieces: 20, ..interleaved(QUIET, QUIET, 10) };
    assert_eq!(screen(&record).matches("20 in 20 pieces").count(), 2, "{}", screen(&record));
}

#[test]
fn of_many_arms_the_slow_one_stands_out() {
    insta::assert_snapshot!(screen(&sweep()));
}

#[test]
fn nodes_of_a_race_are_compared_by_their_rates_and_what_changed_is_listed() {
    insta::assert_snapshot!(screen(&race()));
}

#[test]
fn a_race_of_three_has_a_ranking() {
    let text = screen(&raced(["a", "b", "c"], 0.7));
    assert!(text.starts_with("fullclock race of a, b and c\n"), "{text}");
    assert!(text.contains("than the median of all 3"), "{text}");
}

#[test]
fn what_arms_say_of_themselves_stands_once_where_it_is_the_same() {
    let mut record = race();
    for (arm, sessions) in record.arms.iter_mut().zip(["8", "2"]) {
        let said = [("log", "in /dev/shm, in memory: nothing is durable"), ("sessions", sessions)];
        arm.about = said.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    }
    let text = screen(&record);
    assert_eq!(text.matches("nothing is durable").count(), 1, "{text}");
    assert!(text.contains("sessions  8  2\n"), "{text}");
}

/// The same work of 2.7 GHz and of 3.5 GHz, on machines whose settings differ.
fn moments() -> (Record, Record) {
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
    (a, b)
}

#[test]
fn two_moments_are_compared_by_clock_and_settings() {
    let (a, b) = moments();
    insta::assert_snapshot!(compared(&a, &b));
}

#[test]
fn a_comparison_is_a_ticket_and_a_page() {
    let (a, b) = moments();
    let document = between_moments(&a, &b);
    insta::assert_snapshot!("comparison_markdown", document.render(Format::Markdown));
    insta::assert_snapshot!("comparison_html", main_of(&document.render(Format::Html)));
}

#[test]
fn a_result_and_a_race_are_tickets_and_pages() {
    insta::assert_snapshot!("bench_markdown", of(&kept()).render(Format::Markdown));
    insta::assert_snapshot!("bench_html", main_of(&of(&kept()).render(Format::Html)));
    insta::assert_snapshot!("race_markdown", of(&race()).render(Format::Markdown));
    insta::assert_snapshot!("race_html", main_of(&of(&race()).render(Format::Html)));
}

/// A page without what every page has, an element a line.
fn main_of(page: &str) -> String {
    let (_, body) = page.split_once("<body>").unwrap();
    body.replace("><", ">\n<")
}

#[test]
fn doubts_forbid_no_claim_and_are_listed() {
    let (a, mut b) = (kept(), moment(Pattern { seconds: 9.57, ..QUIET }));
    b.doubts = vec![
        Doubt::Unpinned.into(),
        Doubt::OtherLoad { share: 0.3, by: Vec::new(), server: None }.into(),
    ];
    insta::assert_snapshot!(compared(&a, &b));
}

#[test]
fn of_several_results_each_is_compared_with_the_first() {
    let records = [QUIET, Pattern { seconds: 9.57, ..QUIET }, QUIET].map(moment);
    let names = ["x", "y", "z"];
    let sides: Vec<Side<'_>> =
        names.iter().zip(&records).map(|(name, record)| Side { name, record, arm: 0 }).collect();
    let found: Vec<_> =
        [1, 2].map(|it| between(sides[0], sides[it], &Terms::of(2)).unwrap()).to_vec();
    let given = ["x.json", "y.json", "z.json"].map(str::to_owned);
    insta::assert_snapshot!(text(&comparisons(&found, &sides, &given), 80));
}

/// Three results of each, from run to run 0.2 % apart; those of B take as much longer.
fn several_of_each(longer: f64, margin: Option<f64>) -> Document {
    let of = |longer: f64| {
        [0.0, 0.002, 0.004].map(|it| {
            moment(Pattern { seconds: QUIET.seconds * (1.0 + it) * (1.0 + longer), ..QUIET })
        })
    };
    let (a, b) = (of(0.0), of(longer));
    let names = |arm| [1, 2, 3].map(|it| format!("results/{arm}{it}.json"));
    let (of_a, of_b) = (names("a"), names("b"));
    let (a, b) = (sides_of_each(&a, &of_a), sides_of_each(&b, &of_b));
    let terms = Terms { margin, ..Terms::of(1) };
    super::of_each(&of_each(&a, &b, &terms).unwrap(), &a, &b)
}

#[test]
fn several_results_of_each_are_runs_in_every_form() {
    let document = several_of_each(0.06, None);
    insta::assert_snapshot!("runs", text(&document, 80));
    insta::assert_snapshot!("runs_markdown", document.render(Format::Markdown));
    insta::assert_snapshot!("runs_html", main_of(&document.render(Format::Html)));
}

/// The verdict, and what is said of the margin: the first paragraphs.
fn beginning(document: &Document) -> String {
    let text = document.render(Format::Markdown);
    let paragraphs = text.split("\n\n").skip(1);
    let is_said = |it: &&str| !it.starts_with(['#', '|', '-']);
    paragraphs.take_while(is_said).collect::<Vec<_>>().join("\n")
}

#[test]
fn whether_it_is_the_same_within_a_margin_is_answered() {
    let of = |longer, margin| beginning(&several_of_each(longer, Some(margin)));
    insta::assert_snapshot!(
        [of(0.0, 0.05), of(0.0, 0.001), of(0.06, 0.2), of(0.06, 0.01), of(0.06, 0.06)].join("\n\n")
    );
}

#[test]
fn what_earlier_results_differ_by_is_weighed_and_said() {
    let (a, b) = (kept(), moment(Pattern { seconds: 12.5, ..QUIET }));
    let of = |limit, known_of, margin| {
        let sides = [("A", &a), ("B", &b)].map(|(name, record)| Side { name, record, arm: 0 });
        let given = ["a.json", "b.json"].map(str::to_owned);
        let between_runs = Some(BetweenRuns { limit, known_of });
        let terms = Terms { between_runs, margin, ..Terms::of(1) };
        let found = between(sides[0], sides[1], &terms).unwrap();
        beginning(&comparisons(&[found], &sides, &given))
    };
    let all = [
        of(0.001, Some(7), None),
        of(0.02, Some(3), None),
        of(0.02, Some(3), Some(0.05)),
        of(0.02, Some(3), Some(0.01)),
        of(0.014, None, None),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn a_plan_says_how_many_trials_and_for_how_long() {
    let mut record = interleaved(QUIET, QUIET, 10);
    for (at, trial) in record.trials.iter_mut().enumerate() {
        trial.began_ns = Known::Value(at as u64 * 200_000_000);
    }
    let text = beginning(&of(&record));
    assert!(text.ends_with("\nTo tell 0.044 %, about 431 blocks (-n 862), 6 min."), "{text}");
}

#[test]
fn every_document_fits_its_terminal() {
    let (a, b) = moments();
    let documents = [
        of(&kept()),
        of(&doubtful()),
        of(&interleaved(QUIET, QUIET, 10)),
        of(&sweep()),
        of(&race()),
        between_moments(&a, &b),
        several_of_each(0.06, Some(0.01)),
        super::workloads::document(),
    ];
    for document in &documents {
        for width in [60, 80, 110] {
            let text = text(document, width);
            // A path stays in one piece.
            let wide = |it: &&str| it.chars().count() > width && !it.contains("/var/lib/");
            assert_eq!(text.lines().find(wide), None, "{text}");
        }
    }
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
