//! Round trips to the controller, as text and as JSON.

mod json;

pub(crate) use json::LatencyDocument;
pub use json::json;

use crate::Style;
use crate::lengths::{bar, range, span};
use crate::page::{BOLD, Page};
use lab::ipmi::{Condition, Latency, Times, Waits};
use rules::noise::Histogram;

/// The shares of round trips that are no longer than a figure, and what the figure is called.
const SHARES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (1.0, "longest")];

/// Columns of a figure.
const FIGURE: usize = 10;
/// Columns of what is asked.
const NAME: usize = 24;

/// Round trips as text.
pub fn text(latency: &Latency, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&page.paint(BOLD, "The controller"));
    for (name, words) in &latency.about {
        page.labelled(18, &format!("  {name}"), words);
    }
    for condition in &latency.conditions {
        page.line("");
        put(&mut page, condition);
    }
    page.finish()
}

fn put(page: &mut Page, condition: &Condition) {
    let heading = if condition.is_loaded { "Every CPU busy" } else { "Round trips" };
    let names: String = SHARES.iter().map(|(_, name)| format!("{name:>FIGURE$}")).collect();
    page.line(&page.paint(BOLD, &format!("{heading:<NAME$}{:>FIGURE$}{names}", "trips")));
    for (name, times_ns) in kinds(&condition.times) {
        let figures = quantiles(times_ns).into_iter().map(|it| format!("{:>FIGURE$}", span(it)));
        let (n_trips, figures) = (times_ns.len(), figures.collect::<String>());
        page.line(&format!("  {name:<22}{n_trips:>FIGURE$}{figures}"));
    }
    if let Some(polled) = condition.polled {
        let share = polled.as_secs_f64() / condition.elapsed.as_secs_f64() * 100.0;
        let n_trips = condition.times.device_id.len() + condition.times.record.len();
        let each = u64::try_from(polled.as_nanos() / n_trips.max(1) as u128).unwrap_or(u64::MAX);
        let words = format!("{share:.1} % of a CPU, {} a round trip", span(each));
        page.labelled(NAME, "  kipmid", &words);
    }
    match &condition.waits {
        Ok(waits) => page.labelled(NAME, "  interface", &about_waits(waits)),
        // Without a thread that polls there is nothing to be seen, as was said.
        Err(_) if condition.polled.is_none() => {}
        Err(why) => page.labelled(NAME, "  interface", &format!("its waits are not seen: {why}")),
    }
    for (name, times_ns) in kinds(&condition.times) {
        histogram(page, &by_time(name), "trips", times_ns);
    }
    if let Some(waits_ns) = condition.waits.as_ref().ok().map(nanoseconds) {
        histogram(page, "Waits by time", "waits", &waits_ns);
    }
}

fn histogram(page: &mut Page, heading: &str, what: &str, times_ns: &[u64]) {
    if times_ns.is_empty() {
        return;
    }
    page.line("");
    page.line(&page.paint(BOLD, &format!("{heading:<NAME$}{what:>FIGURE$}")));
    let buckets = Histogram::of(times_ns.iter().copied()).buckets();
    let most = buckets.iter().map(|it| it.count).max().unwrap_or_default();
    for bucket in &buckets {
        let (range, count, bar) = (range(bucket), bucket.count, bar(bucket.count, most));
        page.line(&format!("  {range:<22}{count:>FIGURE$}  {bar}"));
    }
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
            0 => "its waits are not seen: no look of kipmi0 was heard".to_owned(),
            n_all => format!("ready at each of {n_all} looks of kipmi0: no wait"),
        };
    };
    let lost = match waits.n_lost {
        0 => String::new(),
        lost => format!("; {lost} looks were not written down, and their questions are left out"),
    };
    format!(
        "kipmi0 waited {n_waits} times in {n_questions} questions, and looked again after {}: a wait is known to half of that{lost}; each look takes a \
         little longer for being written down",
        span((pause_us * 1e3) as u64)
    )
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
        latency.conditions.pop();
        latency.conditions[0].times.record.clear();
        let text = text(&latency, Style { color: false, width: 80 });
        insta::assert_snapshot!(text, @r"
        The controller
          controller      /dev/ipmi0: device 0x20

        Round trips                  trips       p50       p90       p99   longest
          device id                    100      5 ms      5 ms      5 ms     40 ms
          kipmid                25.0 % of a CPU, 5 ms a round trip
          interface             kipmi0 waited 4 times in 2 questions, and looked again
                                after 190 us: a wait is known to half of that; each look
                                takes a little longer for being written down

        Device id by time            trips
          5 ms to 10 ms                 99  ##################################
          10 ms to 20 ms                 0
          20 ms to 50 ms                 1  #

        Waits by time                waits
          100 us to 200 us               2  ##################################
          200 us to 500 us               0
          500 us to 1 ms                 1  #################
          1 ms to 2 ms                   1  #################
        ");
    }
}
