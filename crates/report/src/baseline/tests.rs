//! Histories that are made up, in words.

use super::*;
use crate::Style;
use crate::document::Format;
use crate::schemas::checked;
use facts::baseline::Part;
use lab::baseline::{Measured, Moment, rounded};
use lab::known::Known;
use lab::record::Fingerprint;

const NARROW: Format = Format::Text(Style { color: false, width: 80 });

fn machine(bios: &str) -> Fingerprint {
    let settings = [
        ("firmware version", bios),
        ("kernel release", "6.1.0-44-amd64"),
        ("kernel boot line", "ro quiet"),
    ];
    Fingerprint(settings.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned())).collect())
}

/// A boot a day, of which one core has this speed and the other parts are steady.
fn history(boots: &[(&str, f64)]) -> History {
    let mut history = History::default();
    for (day, (bios, single)) in (1..).zip(boots) {
        let value = |part: Part, trial: u32| {
            let level = match part {
                Part::SingleCore => *single,
                Part::AllCores => 9120.0,
                Part::WakeUp => 61.5,
                Part::Memory => 95.2,
            };
            let wiggle = f64::from((trial * 7 + day * 3) % 5) - 2.0;
            rounded(level * (1.0 + 0.0008 * wiggle))
        };
        let trials = |part| (part, Known::Value((0..8).map(|it| value(part, it)).collect()));
        let measured = Measured(Part::ALL.into_iter().map(trials).collect());
        let moment = Moment {
            boot: format!("boot-{day}"),
            at: format!("2026-05-{day:02}T08:00:00.000Z"),
            up_s: 900,
        };
        history.add(moment, &machine(bios), Known::Value(measured)).unwrap();
    }
    history
}

/// Six boots with 2.1, three with 2.3 that are slower.
fn slower() -> History {
    let levels = [2713.0, 2714.5, 2712.0, 2713.5, 2715.0, 2711.0, 2197.0, 2198.5, 2196.0];
    let boots: Vec<(&str, f64)> =
        (0..).zip(levels).map(|(at, level)| (if at < 6 { "2.1" } else { "2.3" }, level)).collect();
    history(&boots)
}

/// The 10th of May 2026.
const NOW: u64 = 1_778_400_000_000_000_000;

fn report(history: &History) -> Report<'_> {
    let file = Path::new("/var/lib/fullclock/baseline/history.jsonl");
    Report { history, file, now_ns: NOW }
}

fn window(text: &str) -> Window<'_> {
    Window { text, since: text.parse().unwrap(), now_ns: NOW }
}

#[test]
fn firmware_that_made_a_core_slower_is_the_first_sentence() {
    let history = slower();
    let text = diff(&report(&history), None).render(NARROW);
    assert!(text.contains("BIOS 2.1 -> 2.3 on 2026-05-07: single-core speed 19"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn every_change_of_a_time_is_listed_and_without_one_none_is() {
    let mut history = history(&[("2.1", 100.0); 4]);
    let unchanged = diff(&report(&history), None).render(NARROW);
    assert!(
        unchanged.contains("Nothing changed since 2026-05-01: 4 boots with a speed"),
        "{unchanged}"
    );
    let moment = |day: u32| Moment {
        boot: format!("later-{day}"),
        at: format!("2026-05-{day:02}T08:00:00.000Z"),
        up_s: 60,
    };
    let busy = || Known::missing("the CPUs are busy for 34 % of the time");
    history.add(moment(6), &machine("2.2"), busy()).unwrap();
    history.add(moment(7), &machine("2.3"), busy()).unwrap();
    let text = diff(&report(&history), Some(window("2026-05-05"))).render(NARROW);
    assert!(text.contains("2 changes since 2026-05-05: none is shown"), "{text}");
    assert!(text.contains("no speed is known of the boots after it"), "{text}");
    let text = diff(&report(&history), Some(window("2d"))).render(NARROW);
    assert!(text.contains("Nothing changed since 2d"), "{text}");
    assert!(diff(&report(&History::default()), None).render(NARROW).contains("No baselines"));
}

#[test]
fn too_little_history_says_what_it_takes() {
    let history = history(&[("2.1", 100.0), ("2.3", 50.0)]);
    let text = diff(&report(&history), None).render(NARROW);
    let words = "so far 50 % lower; too few boots to say: 1 of 3 with the same settings";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{text}");
}

#[test]
fn baselines_are_listed_with_what_changed_and_what_is_odd() {
    let (mut file, mut history) = (Vec::new(), History::default());
    for (day, bios) in [(3, "2.1"), (9, "2.1"), (1, "2.3")] {
        let moment = Moment {
            boot: format!("boot-{day}"),
            at: format!("2026-05-{day:02}T08:00:00.000Z"),
            up_s: 3600,
        };
        let trials =
            Known::Value(Measured([(Part::SingleCore, Known::Value(vec![2713.0; 8]))].into()));
        file.extend(history.add(moment, &machine(bios), trials).unwrap());
    }
    let moment =
        Moment { boot: "b".to_owned(), at: "2026-05-02T08:00:00.000Z".to_owned(), up_s: 60 };
    let why = "the CPUs are busy for 34 % of the time, CPU 3 for 100 %";
    file.extend(history.add(moment, &machine("2.3"), Known::missing(why)).unwrap());
    file.extend(b"{\"line\":\"baseline\",");
    let history = History::parse(&file);
    insta::assert_snapshot!(list(&report(&history), 20).render(NARROW));
    insta::assert_snapshot!(list_csv(&report(&history), 2));
}

#[test]
fn one_that_was_taken_says_what_is_kept_and_what_was_lost_since() {
    let history = slower();
    let text = taken(&report(&history), Kept::Now).render(NARROW);
    assert!(text.contains("Kept as baseline 9.") && text.contains("BIOS 2.1 -> 2.3"), "{text}");
    insta::assert_snapshot!(text);
    let text = taken(&report(&history), Kept::Before).render(NARROW);
    assert!(text.contains("This boot has baseline 9; `--again` takes another one."), "{text}");
    let text = taken(&report(&history), Kept::WithoutSpeed("34 % busy")).render(NARROW);
    assert!(text.contains("Not measured: 34 % busy."), "{text}");
}

#[test]
fn documents_are_of_their_shapes_and_say_the_same() {
    let history = slower();
    let value = checked("baseline-diff", |head| diff_json(head, &report(&history), None));
    let change = &value["changes"][0];
    assert_eq!((&change["number"], &change["boots_before"]), (&7.into(), &6.into()));
    assert_eq!(change["changed"][0]["after"], "2.3");
    assert_eq!(
        (&change["parts"][0]["is_slower"], &change["parts"][1]["is_slower"]),
        (&true.into(), &false.into())
    );
    assert_eq!(change["parts"][0]["verdict"]["is"], "claimed");
    let since =
        checked("baseline-diff", |head| diff_json(head, &report(&history), Some(window("9"))));
    assert_eq!((&since["since"], since["changes"].as_array().unwrap().len()), (&"9".into(), 0));
    let value = checked("baseline-list", |head| list_json(head, &report(&history), 2));
    assert_eq!(value["baselines"].as_array().unwrap().len(), 2);
    assert_eq!(value["baselines"][0]["parts"][0]["trials"].as_array().unwrap().len(), 8);
    let value = checked("baseline", |head| taken_json(head, &report(&history), Kept::Now));
    assert_eq!((&value["kept"], &value["baseline"]["number"]), (&"now".into(), &9.into()));
    let csv = diff_csv(&report(&history), None);
    assert!(
        csv.lines()
            .nth(1)
            .unwrap()
            .starts_with("7,2026-05-07T08:00:00.000Z,BIOS 2.1 -> 2.3,single-core,M/s,"),
        "{csv}"
    );
}
