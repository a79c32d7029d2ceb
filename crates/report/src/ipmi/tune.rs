//! The study of kipmid's limit, as a document and as JSON.

mod json;

pub(crate) use json::TuneDocument;
pub use json::json;

use crate::bench::differs::percents;
use crate::bench::{Manner, doubt_lines};
use crate::document::{Align, Block, Cell, Document, Table, Text};
use crate::experiment::Study;
use crate::lengths::Scale;
use crate::wording::once_then_nothing;
use lab::experiment::{Change, Condition, Factor, Tuned, Tuning};
use lab::ipmi::{Forecast, Model};
use lab::verdict::{Ratio, confidence};

/// The study of kipmid's limit: the knee, what each limit takes and spares, and what the kernel's driver would make of it.
pub fn document(tuning: &Tuning, model: &Model, study: &Study<'_>) -> Document {
    let mut document = Document::new("fullclock ipmi tune");
    document.paragraph(Text::strong(verdict(tuning)));
    if let Some(limit) = tuning.advised() {
        let command = format!("fullclock apply --persist kipmid-max-busy={limit}");
        document.labelled("apply", Text::code(command));
    }
    document.note(Text::sentence(
        "`id`, `record` and `both`: how long the controller takes to answer for its device id, for a sensor record, and for both; `kipmi0`: the \
         share of a CPU that waiting takes; `CPU time`: what it takes for both answers.",
    ));
    let n_conditions = tuning.limits.first().map_or(0, |it| it.conditions.len());
    for place in 0..n_conditions {
        condition(&mut document, tuning, place);
    }
    front(&mut document, tuning);
    forecast(&mut document, tuning, model);
    let doubts =
        doubt_lines(&study.record.doubts.iter().collect::<Vec<_>>(), Manner::of(study.record));
    document.heading("About this study");
    for (line, label) in doubts.into_iter().zip(once_then_nothing("doubts")) {
        document.labelled(label, line);
    }
    document.labelled("study", format!("{}, began {}", study.record.id, study.record.began));
    document
}

fn verdict(tuning: &Tuning) -> String {
    let first = tuning.limits.first().map_or_else(String::new, |it| match named(it).as_str() {
        "none" => "no limit".to_owned(),
        limit => format!("a limit of {limit}"),
    });
    let Some(knee) = tuning.knee.and_then(|it| tuning.limits.get(it)) else {
        return match tuning.incomplete() {
            Some((limit, why)) => format!("No knee: with the limit {limit}, {why}."),
            None => "No limit stands out: each spares CPU time only for as much more of waiting, or nothing.".to_owned(),
        };
    };
    match (knee.slower.value(), knee.polled.value()) {
        (Some(slower), Some(polled)) if tuning.advised().is_some() => format!(
            "kipmid_max_busy_us={}: answers take {} than with {first}, waiting for them takes {}.",
            knee.limit,
            longer(slower),
            cpu_time(polled)
        ),
        (Some(_), Some(polled)) => format!(
            "No limit is advised: at the knee, kipmid_max_busy_us={}, waiting for answers takes {} than with {first}.",
            knee.limit,
            cpu_time(polled)
        ),
        _ => format!(
            "The knee is kipmid_max_busy_us={}; {}.",
            knee.limit,
            knee.slower.reason().unwrap_or_default()
        ),
    }
}

/// `11 % longer (8 to 14 %)`.
fn longer(change: &Change) -> String {
    told(change, ["less time", if change.is_there() { "longer" } else { "more time" }])
}

/// `66 % less CPU time (63 to 69 %)`.
fn cpu_time(change: &Change) -> String {
    told(change, ["less CPU time", "more CPU time"])
}

/// A change that is there with its interval; one that is not by its interval alone: `between 3 % less and 8 % more CPU time`.
fn told(change: &Change, [less, more]: [&str; 2]) -> String {
    let Change { change: value, interval } = change;
    let ratio =
        Ratio { log: value.ln_1p(), interval: interval.map(f64::ln_1p), confidence: confidence(1) };
    let [value, low, high] = percents([*value, interval.low, interval.high], &ratio);
    if !change.is_there() {
        return format!("between {low} % {less} and {high} % {more}");
    }
    match change.change < 0.0 {
        true => format!("{value} % {less} ({high} to {low} %)"),
        false => format!("{value} % {more} ({low} to {high} %)"),
    }
}

/// What each limit takes and spares, under one load.
fn condition(document: &mut Document, tuning: &Tuning, place: usize) {
    let load = tuning.limits.first().and_then(|it| it.conditions.get(place)).map(|it| &*it.load);
    document.heading(match load {
        Some(Factor::ALL_CORES) => "Other CPUs busy",
        _ => "Other CPUs idle",
    });
    let columns = [
        ("limit", Align::Left),
        ("both", Align::Right),
        ("id", Align::Right),
        ("record", Align::Right),
        ("kipmi0", Align::Right),
        ("CPU time", Align::Right),
        ("", Align::Left),
    ];
    let rows = tuning.limits.iter().enumerate().filter_map(|(at, tuned)| {
        let condition = tuned.conditions.get(place)?;
        Some(row(tuned, condition, knee(tuning, at)))
    });
    document.push(Block::Table(Table::new(&columns, rows)));
}

fn row(tuned: &Tuned, condition: &Condition, knee: &str) -> Vec<Text> {
    let ms = |it: Option<f64>| it.map_or_else(|| "-".to_owned(), milliseconds);
    let share = condition.share_percent.map_or_else(|| "-".to_owned(), |it| format!("{it:.1} %"));
    let cells = [
        named(tuned),
        ms(condition.both_ms),
        ms(condition.device_id_ms),
        ms(condition.record_ms),
        share,
        ms(condition.polled_ms),
        knee.to_owned(),
    ];
    cells.map(Text::from).into()
}

fn knee(tuning: &Tuning, at: usize) -> &'static str {
    if tuning.knee == Some(at) { "knee" } else { "" }
}

fn named(tuned: &Tuned) -> String {
    if tuned.limit == "0" { "none".to_owned() } else { format!("{} us", tuned.limit) }
}

/// Milliseconds with three digits.
fn milliseconds(ms: f64) -> String {
    let decimals = if ms < 10.0 { 2 } else { usize::from(ms < 100.0) };
    format!("{ms:.decimals$} ms")
}

/// The limits that no other beats in both time and CPU time.
fn front(document: &mut Document, tuning: &Tuning) {
    let costs = |at: &usize| {
        let tuned = tuning.limits.get(*at)?;
        tuning.costs(*at).map(|costs| (*at, tuned, costs))
    };
    let front: Vec<_> = tuning.front.iter().filter_map(costs).collect();
    if front.len() < 2 {
        return;
    }
    document.heading("Answer time against CPU time");
    document.note(
        "No other limit has both faster answers and less CPU time than one of these. Both are means over blocks; all intervals \
         hold together with 99 %.",
    );
    let nanoseconds = |ms: f64| (ms * 1e6) as u64;
    let most = front.iter().map(|(.., (_, polled))| nanoseconds(*polled)).max().unwrap_or_default();
    let scale = Scale { from: 0.0, to: most as f64 };
    let columns = [
        ("limit", Align::Left),
        ("both", Align::Right),
        ("CPU time", Align::Right),
        ("", Align::Left),
        ("", Align::Left),
    ];
    let mut table = Table::new(&columns, []);
    for (at, tuned, (both, polled)) in front {
        let text = |it: String| Cell::Text(Text::from(it));
        let (limit, both) = (text(named(tuned)), text(milliseconds(both)));
        let knee = text(knee(tuning, at).to_owned());
        let bar = Cell::Bar(scale.bar(nanoseconds(polled)));
        table.rows.push(vec![limit, both, text(milliseconds(polled)), bar, knee]);
    }
    document.push(Block::Table(table));
}

/// What the kernel's driver makes of the waits, beside what was measured with idle CPUs: the model includes no load.
fn forecast(document: &mut Document, tuning: &Tuning, model: &Model) {
    document.heading("Model");
    let model = match model {
        Ok(model) => model,
        Err(why) => return document.paragraph(format!("There is no model: {why}")),
    };
    document.note(modelled(model));
    let columns = [
        ("limit", Align::Left),
        ("both", Align::Right),
        ("model", Align::Right),
        ("CPU time", Align::Right),
        ("model", Align::Right),
    ];
    let is_idle = |it: &&Condition| it.load != Factor::ALL_CORES;
    let rows = tuning.limits.iter().filter_map(|tuned| {
        let measured = tuned.conditions.iter().find(is_idle)?;
        let foretold = model.under(tuned.limit.parse().ok()?);
        let ms = |it: Option<f64>| it.map_or_else(|| "-".to_owned(), milliseconds);
        let cells = [
            named(tuned),
            ms(measured.both_ms),
            milliseconds(foretold.both_ms),
            ms(measured.polled_ms),
            milliseconds(foretold.polled_ms),
        ];
        Some(cells.map(Text::from).into())
    });
    document.push(Block::Table(Table::new(&columns, rows)));
}

fn modelled(model: &Forecast) -> String {
    let kernel = &model.kernel;
    let ticks = 1e6 / kernel.tick_us;
    let (pause, poll) = (kernel.pause_us, kernel.look_us);
    let polls = match pause > 0.0 {
        true => format!("a poll every {pause:.0} us that takes {poll:.1} us"),
        false => "polls without a pause".to_owned(),
    };
    format!(
        "What the kernel's driver would make of the waits that were traced without a limit: {polls}, {ticks:.0} ticks a second. It is \
         fitted to the row without a limit alone, and knows of no load."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::every_form::{in_every_form, text};
    use crate::experiment::fixture;
    use crate::schemas::checked;
    use lab::ipmi::{Heard, Question, Waits};
    use lab::known::Known;
    use lab::stats::Interval;
    use std::time::Duration;

    fn tuning() -> Tuning {
        let condition = |load: &str, both: f64, polled: f64| Condition {
            load: load.to_owned(),
            trials: 8,
            both_ms: Some(both),
            device_id_ms: Some(both * 0.3),
            record_ms: Some(both * 0.7),
            share_percent: Some(polled / both * 100.0),
            polled_ms: Some(polled),
        };
        let change = |it: f64| {
            let interval = Interval { low: it - 0.03, high: it + 0.03 };
            Known::Value(Change { change: it, interval })
        };
        let tuned = |limit: &str, both: f64, polled: f64, changes: [Known<Change>; 2]| {
            let [slower, less] = changes;
            let conditions =
                vec![condition("idle", both, polled), condition("all-cores", both * 3.0, polled)];
            Tuned { limit: limit.to_owned(), conditions, slower, polled: less }
        };
        let first = || Known::Missing { missing: "the others are compared with it".to_owned() };
        let limits = vec![
            tuned("0", 27.0, 3.5, [first(), first()]),
            tuned("500", 30.0, 1.2, [change(0.11), change(-0.66)]),
            tuned("100", 90.0, 1.1, [change(2.3), change(-0.69)]),
        ];
        Tuning { limits, front: vec![0, 1, 2], knee: Some(1) }
    }

    fn model() -> Model {
        let question = Question { ended_ns: 0, waits_us: vec![1000.0; 2] };
        let waits = Waits {
            questions: vec![question; 30],
            pauses_us: vec![180.0; 300],
            n_looks: 300,
            n_all: 400,
            n_lost: 0,
        };
        let (elapsed, polled) = (Duration::from_millis(270), Duration::from_millis(35));
        let tick = Duration::from_millis(4);
        Forecast::of(Heard { waits, n_pairs: 10, elapsed, polled, tick, rounds_up: true })
    }

    fn shown(tuning: &Tuning, model: &Model) -> Document {
        let (record, analysis) = fixture::study();
        document(tuning, model, &Study::of(&record, &analysis).unwrap())
    }

    #[test]
    fn each_limit_stands_beside_what_the_model_makes_of_it_and_the_knee_is_marked() {
        insta::assert_snapshot!(in_every_form(&shown(&tuning(), &model())));
    }

    #[test]
    fn a_knee_that_chance_may_have_made_is_not_advised() {
        let mut tuning = tuning();
        let interval = Interval { low: -0.4, high: 0.2 };
        tuning.limits[1].polled = Known::Value(Change { change: -0.1, interval });
        let model = Err("a probe of kcs_event may not be read".to_owned());
        let text = text(&shown(&tuning, &model), 100);
        assert!(text.contains("\nNo limit is advised: at the knee"), "{text}");
        assert!(!text.contains("apply") && text.contains("no model: a probe"), "{text}");
    }

    #[test]
    fn data_are_of_their_schema_whatever_is_known() {
        let (record, analysis) = fixture::study();
        let study = Study::of(&record, &analysis).unwrap();
        let unknown = Tuning { front: vec![], knee: None, ..tuning() };
        for (tuning, model) in [(tuning(), model()), (unknown, Err("nobody listened".to_owned()))] {
            let value = checked("ipmi-tune", |head| json(head, &tuning, &model, &study));
            assert_eq!(value["advised"].as_str(), tuning.advised());
        }
    }
}
