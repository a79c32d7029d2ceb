//! What a certificate says, and what it does not.

use super::cautions::cautions;
use super::fixture::{MADE, change, data, records, with};
use super::{Certificate, document, json, summary};
use crate::Style;
use crate::bench::fixture::{Pattern, QUIET, interleaved};
use crate::diagnosis::recorded;
use crate::document::Format;
use crate::json::Head;
use crate::schemas::checked;
use facts::change::ChangeState;
use lab::compare::Side;
use lab::comparison::within;
use lab::held::Held;
use lab::known::Known;
use lab::record::Record;
use lab::trial::{Better, Figure, FigureShape};
use std::path::Path;
use std::time::Duration;

fn shown(records: &[Record; 2]) -> String {
    let style = Style { color: false, width: 80 };
    let summary = |it: &Certificate<'_>| {
        summary(it, Path::new("certificate.html")).render(Format::Text(style))
    };
    with(records, Some(&change()), summary)
}

fn page(certificate: &Certificate<'_>) -> String {
    document(certificate).render(Format::Html)
}

#[test]
fn the_text_is_the_verdict_of_compare_and_where_the_page_is() {
    insta::assert_snapshot!(shown(&records()));
}

#[test]
fn a_page_holds_everything_and_asks_for_nothing() {
    let page = with(&records(), Some(&change()), page);
    for part in [
        "<h1>fullclock certificate of change 0007</h1>",
        "<strong>The run after took 55.",
        "2026-11-20T17:00:00.000Z on db7",
        "which explains it",
        "elapsed, median",
        "Every trial",
        "Where the time went",
        "policy{0-1}/scaling_governor (2 places)",
        "<td>powersave</td><td>performance</td><td>in force</td>",
        "firmware version",
        "2.12.1",
        "0x2006e05",
        "fullclock bench cpu-loop --cpus 2 -n 20",
        "fullclock apply governor=performance",
        "elapsed (s)",
        "share of the CPUs' time (%)",
        "sha256sum -c &lt;&lt;'END'",
        "before.json",
        "head -n 42 /var/lib/fullclock/journal | grep -F '&quot;change&quot;:&quot;0007&quot;' | sha256sum",
        "All changes end at the next boot",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<title>trial ").count(), 40);
    for part in ["<script", "<link", "src=", "href=", "url(", "@import"] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn a_line_of_the_ledger_that_nobody_could_measure_says_why() {
    let mut records = records();
    for trial in &mut records[1].trials {
        let Known::Value(around) = &mut trial.surroundings else { continue };
        around.ledger.edit(|it| it[0].share = Known::missing("no counter of ticks"));
    }
    let page = with(&records, None, page);
    assert!(page.contains("<td>0.73\u{a0}%</td><td>unknown: no counter of ticks</td>"), "{page}");
}

#[test]
fn where_there_are_too_few_trials_neither_page_nor_text_makes_a_claim() {
    let [before, mut after] = records();
    after.trials.truncate(4);
    after.doubts.clear();
    after.doubts.extend(lab::doubts::of(&after));
    let records = [before, after];
    let page = with(&records, Some(&change()), page);
    let sentence = "Too few trials to say: 4 of one, and 5 of each are needed";
    assert!(page.contains(&format!("<strong>{sentence}</strong>")), "{page}");
    assert!(!page.contains("less time than"));
    assert!(shown(&records).contains(sentence));
}

#[test]
fn a_difference_that_is_none_is_not_claimed() {
    let [before, after] = records();
    let same = crate::bench::fixture::moment(QUIET);
    let of = |record: Record| Record { trials: same.trials.clone(), doubts: vec![], ..record };
    let text = shown(&[of(before), of(after)]);
    assert!(text.contains("\nNo difference shown: the run after took between "), "{text}");
}

#[test]
fn a_change_that_does_not_lie_between_the_results_is_not_given_the_difference() {
    let shown_with = |when: Duration, state: ChangeState| {
        let mut change = change();
        change.shown.recorded.when = when;
        change.shown.recorded.state = state;
        with(&records(), Some(&change), cautions).remove(0)
    };
    let hour = Duration::from_secs(3600);
    let moments = "Before and after were measured at different times";
    assert!(shown_with(MADE, ChangeState::Kept).starts_with(moments));
    let early = shown_with(MADE - hour, ChangeState::Kept);
    assert!(early.contains("before the trials of before had ended"), "{early}");
    let late = shown_with(MADE + hour, ChangeState::Kept);
    assert!(late.contains("when the trials of after had begun"), "{late}");
    let reverted = shown_with(MADE, ChangeState::Reverted);
    assert!(reverted.starts_with("It was reverted, and the journal does not tell when"));
}

/// A race in which `b` got half of the commits.
fn race() -> Record {
    let mut race = interleaved(QUIET, Pattern { seconds: 24.8, ..QUIET }, 5);
    race.id = "20261120T154305Z-race".to_owned();
    race.doubts.clear();
    for (arm, name) in race.arms.iter_mut().zip(["a", "b"]) {
        (arm.name, arm.workload) = (name.to_owned(), "commit".to_owned());
        arm.settings.engine = Some("postgresql".to_owned());
        arm.settings.sessions = Some(8);
        arm.about = vec![("log".to_owned(), format!("/srv/{name}"))];
    }
    for (at, trial) in race.trials.iter_mut().enumerate() {
        let commits = FigureShape { name: "commits", unit: "commits/s", better: Better::Higher };
        let seconds = *trial.outcome.elapsed_ns.value().unwrap() as f64 / 1e9;
        trial.began_ns = Known::Value((at as u64 / 2) * 1_000_000_000);
        trial.outcome.elapsed_ns = Known::Value(1_000_000_000);
        trial.outcome.figures = vec![Figure::of(commits, 40_000.0 / seconds)].into();
    }
    race
}

#[test]
fn a_certificate_of_a_race_is_of_what_was_run() {
    let record = race();
    let side = |arm: usize| Side { name: &record.arms[arm].name, record: &record, arm };
    let comparison = within(&record).unwrap().pop().unwrap();
    let data = &data()[..1];
    let certificate =
        Certificate::of([side(0), side(1)], &comparison, data, None, String::new(), String::new())
            .unwrap();
    let text = document(&certificate).render(Format::Markdown);
    for part in [
        "# fullclock certificate of a and b\n",
        "Both ran at the same time; each interval of the race is a trial.",
        "| log | /srv/a | /srv/b |",
        "fullclock race --node 'a=postgresql,sessions=8,cpus=2' --node 'b=postgresql,sessions=8,cpus=2' -d 10s\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    for part in ["Before", "cycles", "--prove", "is no time", "In blocks"] {
        assert!(!text.contains(part), "{part} in {text}");
    }
}

#[test]
fn short_trials_are_not_all_that_their_ledger_covers() {
    let note = |seconds: f64| {
        let mut records = records();
        for trial in records.iter_mut().flat_map(|it| &mut it.trials) {
            let Known::Value(around) = &mut trial.surroundings else { continue };
            around.window_ns = 1_000_000_000 + (seconds * 1e9) as u64;
            trial.outcome.elapsed_ns = Known::Value((seconds * 1e9) as u64);
        }
        let text = with(&records, None, |it| document(it).render(Format::Markdown));
        text.contains("they are 5.9 % of the time that the ledger covers")
    };
    assert_eq!([note(0.0625), note(2.0)], [true, false]);
}

#[test]
fn names_of_users_are_words_and_not_markup() {
    const EVIL: &str = "</title></svg><script>alert(1)</script>\"'&";
    let mut records = records();
    records[0].machine.0.insert(EVIL.to_owned(), EVIL.to_owned());
    records[1].arms[0].settings.command = vec![EVIL.to_owned()];
    let mut change = change();
    change.shown.recorded.command = vec![EVIL.to_owned()];
    change.groups[0].group.value = EVIL.to_owned();
    let page = with(&records, Some(&change), page);
    assert!(!page.contains("<script"));
    assert!(page.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn json_is_what_its_schema_says() {
    let change = change();
    for change in [None, Some(&change)] {
        let of = |head: &Head| with(&records(), change, |it| json(head, it, Path::new("c.html")));
        let value = checked("certificate", of);
        assert_eq!(value["data"][1]["size"], 12_345);
    }
}

#[test]
fn who_held_the_clock_down_is_told_of_each_result_and_not_where_no_result_has_it() {
    let held = Held {
        severity: "high".to_owned(),
        findings: vec!["capped-frequency".to_owned()],
        lost: "clock".to_owned(),
        share: Some(0.46),
        bound: Some("at most".to_owned()),
        cpus: Some("all 8 CPUs".to_owned()),
        mechanism: Some("bios_limit (1500 MHz)".to_owned()),
        sign: None,
        party: Some("firmware".to_owned()),
        program: None,
        since_boot: false,
    };
    let mut both = records();
    assert!(!shown(&both).contains("clock held"));
    both[0].held = Some(vec![held.clone()]);
    both[1].held = Some(Vec::new());
    let text = shown(&both).split_whitespace().collect::<Vec<_>>().join(" ");
    let before = "clock held before: Up to 46 % of the clock can be lost on all 8 CPUs: firmware holds it down by bios_limit (1500 MHz).";
    assert!(text.contains(before), "{text}");
    assert!(text.contains("after: no party was seen to hold it down."), "{text}");
    let of = |head: &Head| with(&both, None, |it| json(head, it, Path::new("x.html")));
    let json = checked("certificate", of);
    assert_eq!(json["before"]["held"][0]["party"], "firmware");
    assert_eq!(json["after"]["held"], serde_json::json!([]));
    // An unknown cause, and one that only a log shows.
    let unknown = Held {
        mechanism: None,
        sign: Some("a clock below the request".to_owned()),
        party: None,
        share: None,
        ..held.clone()
    };
    assert_eq!(
        recorded(&unknown),
        "A clock below the request on all 8 CPUs, and the cause is unknown"
    );
    let logged = Held { since_boot: true, ..held };
    assert_eq!(
        recorded(&logged),
        "Firmware held the clock down at some time since boot on all 8 CPUs, by bios_limit (1500 MHz)"
    );
}
