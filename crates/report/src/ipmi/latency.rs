//! Round trips to the controller, as text and as JSON.

mod json;

pub(crate) use json::LatencyDocument;
pub use json::json;

use crate::document::{Align, Block, Cell, Document, Table, Text};
use crate::lengths::{Scale, range, span};
use lab::ipmi::{Condition, Latency, Times, Waits};
use rules::noise::{Bucket, Histogram};

/// The shares of round trips that are no longer than a value, and what the value is called.
const SHARES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (1.0, "longest")];

/// Round trips by quantile and by length, and what waiting for them took of a CPU.
pub fn document(latency: &Latency) -> Document {
    let mut document = Document::new("fullclock ipmi latency");
    document.paragraph(Text::strong(verdict(latency)));
    for (name, words) in &latency.about {
        document.labelled(name, &**words);
    }
    for condition in &latency.conditions {
        put(&mut document, condition);
    }
    document
}

/// How long the controller takes to answer, without load and with it.
fn verdict(latency: &Latency) -> String {
    let times = |is_loaded: bool| {
        let mut conditions = latency.conditions.iter().filter(|it| it.is_loaded == is_loaded);
        let (name, times_ns) = kinds(&conditions.next()?.times).next()?;
        let [p50, _, p99, _] = quantiles(times_ns).map(span);
        Some((name, format!("p50 {p50}, p99 {p99}")))
    };
    match (times(false), times(true)) {
        (Some((name, idle)), Some((_, busy))) => {
            format!("Round trip for a {name}: {idle}; while every CPU is busy {busy}.")
        }
        (Some((name, idle)), None) => format!("Round trip for a {name}: {idle}."),
        (None, Some((name, busy))) => {
            format!("Round trip for a {name} while every CPU is busy: {busy}.")
        }
        (None, None) => "The controller answered nothing.".to_owned(),
    }
}

fn put(document: &mut Document, condition: &Condition) {
    document.heading(match condition.is_loaded {
        true => "Round trips while every CPU is busy",
        false => "Round trips",
    });
    document.push(Block::Table(round_trips(condition)));
    if let Some(polled) = condition.polled {
        let share = polled.as_secs_f64() / condition.elapsed.as_secs_f64() * 100.0;
        let n_trips = condition.times.device_id.len() + condition.times.record.len();
        let each = u64::try_from(polled.as_nanos() / n_trips.max(1) as u128).unwrap_or(u64::MAX);
        let words = format!("{share:.1} % of a CPU, {} for each round trip", span(each));
        document.labelled("kipmid", words);
    }
    match &condition.waits {
        Ok(waits) => document.labelled("interface", about_waits(waits)),
        // Without a thread that polls there is nothing to be seen, as was said.
        Err(_) if condition.polled.is_none() => {}
        Err(why) => document.labelled("interface", format!("its waits are unknown: {why}")),
    }
    for (name, times_ns) in kinds(&condition.times) {
        histogram(document, &by_time(name), "trips", times_ns);
    }
    if let Some(waits_ns) = condition.waits.as_ref().ok().map(nanoseconds) {
        histogram(document, "Waits by time", "waits", &waits_ns);
    }
}

/// A row for each kind of question.
fn round_trips(condition: &Condition) -> Table {
    let names = SHARES.map(|(_, name)| (name, Align::Right));
    let columns = [&[("request", Align::Left), ("trips", Align::Right)][..], &names].concat();
    let row = |(name, times_ns): (&str, &[u64])| -> Vec<Text> {
        let first = [name.to_owned(), times_ns.len().to_string()];
        first.into_iter().chain(quantiles(times_ns).map(span)).map(Text::from).collect()
    };
    Table::new(&columns, kinds(&condition.times).map(row))
}

/// A row for each range of times in which something was, with its bar.
fn histogram(document: &mut Document, heading: &str, what: &str, times_ns: &[u64]) {
    if times_ns.is_empty() {
        return;
    }
    let columns = [(heading, Align::Left), (what, Align::Right), ("", Align::Left)];
    let mut table = Table::new(&columns, []);
    let buckets = Histogram::of(times_ns.iter().copied()).buckets();
    let most = buckets.iter().map(|it| it.count).max().unwrap_or_default();
    let scale = Scale { from: 0.0, to: most as f64 };
    let row = |it: &Bucket| {
        let [range, count] = [range(it), it.count.to_string()].map(|it| Cell::Text(it.into()));
        vec![range, count, Cell::Bar(scale.bar(it.count))]
    };
    table.rows = buckets.iter().map(row).collect();
    document.push(Block::Table(table));
}

/// Every wait, in whole nanoseconds.
fn nanoseconds(waits: &Waits) -> Vec<u64> {
    waits.all_us().map(|us| (us * 1e3) as u64).collect()
}

/// How many there were, and how exactly they are known.
fn about_waits(waits: &Waits) -> String {
    let (n_questions, n_waits) = (waits.questions.len(), waits.all_us().count());
    let Some(pause_us) = waits.pause_us() else {
        return match waits.n_all {
            0 => "its waits are unknown: no poll of kipmi0 was traced".to_owned(),
            n_all => format!("ready at each of {n_all} polls of kipmi0: no wait"),
        };
    };
    let pause = span((pause_us * 1e3) as u64);
    let words = format!(
        "kipmi0 waited {n_waits} times in {n_questions} questions and polled again after {pause}: a wait is known to half of that; \
         tracing makes each poll a little longer"
    );
    match waits.n_lost {
        0 => words,
        lost => {
            format!("{words}; {lost} polls were not recorded, and their questions are left out")
        }
    }
}

fn by_time(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{}{rest} by time", first.to_uppercase())
}

/// What was asked, and how long each took; without what the controller does not have.
fn kinds(times: &Times) -> impl Iterator<Item = (&'static str, &[u64])> {
    let kinds = [("device id", &times.device_id[..]), ("sensor record", &times.record[..])];
    kinds.into_iter().filter(|(_, times_ns)| !times_ns.is_empty())
}

/// The shortest that so many are no longer than, for each of [`SHARES`].
fn quantiles(times_ns: &[u64]) -> [u64; 4] {
    let mut sorted = times_ns.to_vec();
    sorted.sort_unstable();
    SHARES.map(|(share, _)| {
        let rank = (share * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::every_form::{in_every_form, text};
    use lab::ipmi::Question;
    use std::time::Duration;

    pub(super) fn latency() -> Latency {
        let ms = |it: u64| it * 1_000_000;
        let times = Times {
            device_id: (1..=100).map(|it| ms(if it == 100 { 40 } else { 5 })).collect(),
            record: vec![ms(12); 100],
        };
        let condition = |is_loaded, polled| Condition {
            is_loaded,
            times: Times { device_id: times.device_id.clone(), record: times.record.clone() },
            polled,
            elapsed: Duration::from_secs(2),
            waits: polled.ok_or_else(|| "a probe of kcs_event may not be read".to_owned()).map(
                |_| {
                    let question = |us: f64| Question { ended_ns: 0, waits_us: vec![100.0, us] };
                    Waits {
                        questions: vec![question(1500.0), question(900.0)],
                        pauses_us: vec![190.0; 12],
                        n_looks: 16,
                        n_all: 30,
                        n_lost: 0,
                    }
                },
            ),
        };
        let about = vec![("controller".to_owned(), "/dev/ipmi0: device 0x20".to_owned())];
        let conditions =
            vec![condition(false, Some(Duration::from_millis(500))), condition(true, None)];
        Latency { about, conditions }
    }

    #[test]
    fn round_trips_are_shown_by_quantile_and_by_length_and_with_what_they_took() {
        let mut latency = latency();
        insta::assert_snapshot!(in_every_form(&document(&latency)));
        latency.conditions.clear();
        assert!(text(&document(&latency), 80).contains("The controller answered nothing."));
    }
}
