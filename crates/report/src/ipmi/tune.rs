//! The study of kipmid's limit, as text and as JSON.

mod json;

pub(crate) use json::TuneDocument;
pub use json::json;

use crate::Style;
use crate::bench::doubt_lines;
use crate::experiment::Study;
use crate::lengths::bar;
use crate::page::{BOLD, Page};
use lab::experiment::{Change, Condition, Factor, Tuned, Tuning};
use lab::ipmi::{Forecast, Foretold, Model};

const LABEL: usize = 12;

/// The study of kipmid's limit as text.
pub fn text(tuning: &Tuning, model: &Model, study: &Study<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    page.painted_paragraph(BOLD, &verdict(tuning));
    if let Some(limit) = tuning.advised() {
        page.labelled(
            LABEL,
            "  to do it",
            &format!("fullclock apply --persist kipmid-max-busy={limit}"),
        );
    }
    let n_conditions = tuning.limits.first().map_or(0, |it| it.conditions.len());
    for place in 0..n_conditions {
        page.line("");
        table(&mut page, tuning, place, model);
    }
    front(&mut page, tuning);
    page.line("");
    if !tuning.front.is_empty() {
        page.labelled(LABEL, "  *", "no other limit has both faster answers and less CPU time");
    }
    match model {
        Ok(model) => page.labelled(LABEL, "  model", &modelled(model)),
        Err(why) => page.labelled(LABEL, "  model", &format!("none: {why}")),
    }
    for line in doubt_lines(&study.record.doubts.iter().collect::<Vec<_>>()) {
        page.labelled(LABEL, "  doubt", &line);
    }
    page.labelled(LABEL, "  study", &format!("{}, began {}", study.record.id, study.record.began));
    page.finish()
}

fn verdict(tuning: &Tuning) -> String {
    let first = tuning.limits.first().map_or("", |it| it.limit.as_str());
    let Some(knee) = tuning.knee.and_then(|it| tuning.limits.get(it)) else {
        return match tuning.incomplete() {
            Some(limit) => format!(
                "No knee: under {limit} there is no trial that was answered, or none that tells what kipmi0 took of a CPU."
            ),
            None => "No limit stands out: each spares CPU time only for as much more of waiting, or nothing.".to_owned(),
        };
    };
    match (knee.slower.value(), knee.polled.value()) {
        (Some(slower), Some(polled)) if polled.is_there() => format!(
            "The knee is kipmid_max_busy_us={}: against {first}, answers take {}, and waiting for them {}.",
            knee.limit,
            more(slower, "time"),
            more(polled, "CPU time")
        ),
        (Some(_), Some(polled)) => format!(
            "No limit is worth having: at the knee, kipmid_max_busy_us={}, the CPU time differs from that of {first} by no more \
             than chance makes it, {}.",
            knee.limit,
            more(polled, "CPU time")
        ),
        _ => format!(
            "The knee is kipmid_max_busy_us={}; {}.",
            knee.limit,
            knee.slower.reason().unwrap_or_default()
        ),
    }
}

/// `34 % more time (31 to 37)`.
fn more(change: &Change, what: &str) -> String {
    let percent = |it: f64| it * 100.0;
    let (low, high) = (percent(change.interval.low), percent(change.interval.high));
    let word = if change.change < 0.0 { "less" } else { "more" };
    let (from, to) = if change.change < 0.0 { (-high, -low) } else { (low, high) };
    format!("{:.0} % {word} {what} ({from:.0} to {to:.0})", percent(change.change).abs())
}

fn table(page: &mut Page, tuning: &Tuning, place: usize, model: &Model) {
    let load = tuning.limits.first().and_then(|it| it.conditions.get(place)).map(|it| &*it.load);
    let is_idle = load != Some(Factor::ALL_CORES);
    let heading = if is_idle { "Other CPUs idle" } else { "Other CPUs busy" };
    // The model does not include a load.
    let model = model.as_ref().ok().filter(|_| is_idle);
    let unit = if model.is_some() { "    model CPU time" } else { "" };
    page.line(&page.paint(
        BOLD,
        &format!(
            "{heading:<18}{:>10}{:>10}{:>10}{:>8}{:>10}{unit}",
            "both", "id", "record", "kipmi0", "CPU time"
        ),
    ));
    for (at, tuned) in tuning.limits.iter().enumerate() {
        let Some(condition) = tuned.conditions.get(place) else { continue };
        let mark = if tuning.front.contains(&at) { "*" } else { " " };
        let knee = if tuning.knee == Some(at) { "<- knee" } else { "" };
        let foretold = model.and_then(|it| Some(it.under(tuned.limit.parse().ok()?)));
        let line = row(mark, tuned, condition, foretold);
        page.line(format!("{line}  {knee}").trim_end());
    }
}

fn row(mark: &str, tuned: &Tuned, condition: &Condition, foretold: Option<Foretold>) -> String {
    let ms = |it: Option<f64>| it.map_or_else(|| "-".to_owned(), milliseconds);
    let share = condition.share_percent.map_or_else(|| "-".to_owned(), |it| format!("{it:.1} %"));
    let limit = named(tuned);
    let foretold = foretold.map_or_else(String::new, |it| {
        format!("{:>9}{:>9}", milliseconds(it.both_ms), milliseconds(it.polled_ms))
    });
    format!(
        "  {mark} {limit:<14}{:>10}{:>10}{:>10}{share:>8}{:>10}{foretold}",
        ms(condition.both_ms),
        ms(condition.device_id_ms),
        ms(condition.record_ms),
        ms(condition.polled_ms)
    )
}

fn named(tuned: &Tuned) -> &str {
    if tuned.limit == "0" { "no limit" } else { tuned.limit.as_str() }
}

/// Milliseconds with three digits.
fn milliseconds(ms: f64) -> String {
    let decimals = if ms < 10.0 { 2 } else { usize::from(ms < 100.0) };
    format!("{ms:.decimals$} ms")
}

fn modelled(model: &Forecast) -> String {
    let kernel = &model.kernel;
    let looks = if kernel.pause_us > 0.0 {
        format!("looks every {:.0} us, of {:.1} us each", kernel.pause_us, kernel.look_us)
    } else {
        "looks without a pause".to_owned()
    };
    format!(
        "what the kernel's driver makes of the waits that were seen without a limit: {looks}, {:.0} ticks a second; it is fitted to \
         no row but that without a limit, and knows of no load",
        1e6 / kernel.tick_us
    )
}

fn front(page: &mut Page, tuning: &Tuning) {
    let costs = |at: &usize| {
        let tuned = tuning.limits.get(*at)?;
        tuned.costs().map(|costs| (*at, tuned, costs))
    };
    let front: Vec<_> = tuning.front.iter().filter_map(costs).collect();
    if front.len() < 2 {
        return;
    }
    page.line("");
    let heading = format!("{:<18}{:>10}{:>10}", "Time for CPU time", "both", "CPU time");
    page.line(&page.paint(BOLD, &heading));
    let nanoseconds = |ms: f64| (ms * 1e6) as u64;
    let most = front.iter().map(|(.., (_, polled))| nanoseconds(*polled)).max().unwrap_or_default();
    for (at, tuned, (both, polled)) in front {
        let knee = if tuning.knee == Some(at) { "  <- knee" } else { "" };
        page.line(&format!(
            "    {:<14}{:>10}{:>10}  {}{knee}",
            named(tuned),
            milliseconds(both),
            milliseconds(polled),
            bar(nanoseconds(polled), most)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn shown(tuning: &Tuning, model: &Model) -> String {
        let (record, analysis) = fixture::study();
        let study = Study::of(&record, &analysis).unwrap();
        let text = text(tuning, model, &study, Style { color: false, width: 100 });
        assert!(text.lines().all(|it| it.chars().count() <= 100), "{text}");
        text
    }

    #[test]
    fn each_limit_stands_beside_what_the_model_makes_of_it_and_the_knee_is_marked() {
        insta::assert_snapshot!(shown(&tuning(), &model()));
    }

    #[test]
    fn a_knee_that_chance_may_have_made_is_not_advised() {
        let mut tuning = tuning();
        let interval = Interval { low: -0.4, high: 0.2 };
        tuning.limits[1].polled = Known::Value(Change { change: -0.1, interval });
        let text = shown(&tuning, &Err("a probe of kcs_event may not be read".to_owned()));
        assert!(text.starts_with("No limit is worth having"), "{text}");
        assert!(!text.contains("to do it") && text.contains("none: a probe"), "{text}");
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
