//! Machines as a monitoring system knows them: whatever answers the HTTP API of Prometheus (Prometheus, VictoriaMetrics, Mimir, Thanos).
//!
//! Five instant queries of vectors, all in what every PromQL has in common; they are joined here, by `instance`, `job` and `cluster`, so that
//! no engine needs to join 20,000 series with each other. Source: prometheus.io/docs/prometheus/latest/querying/api, "Instant queries" and
//! "Expression query result formats".
//!
//! It cannot know what a machine was before: labels are those of the moment, figures the average of a time. Suppressed findings are absent here.

mod advice;
mod half;
mod join;
mod queries;
mod vector;

#[cfg(test)]
mod tests;

use super::Gathered;
use crate::http::pieces::Pieces;
use crate::http::{Client, Failure, shortened};
use anyhow::{Result, bail};
use join::{Fleet, MOST_MACHINES};
use queries::{Holds, Queries, Query};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{panic, thread};
use vector::{Outcome, Series, vector};

pub use queries::{CLOCK_RATIO, FINDING, HOST_INFO, SPEED_RATIO, UNKNOWN_CHECKS};

/// The time over which figures are averaged where none is given.
pub const SINCE: Duration = Duration::from_secs(3600);

/// Series that one answer may have. 100,000 machines with ten findings each have as many.
const MOST_SERIES: usize = 1_000_000;

/// Which machines, over which time.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// What their series must have, as in `cluster="a",rack=~"r1.*"`, with or without braces.
    pub selector: Option<&'a str>,
    /// The time that figures are averaged over, at least a second.
    pub since: Duration,
    /// Whether who asks can choose that time, by `--since`.
    pub is_time_chosen: bool,
}

impl Default for Question<'_> {
    fn default() -> Self {
        Question { selector: None, since: SINCE, is_time_chosen: true }
    }
}

/// The machines that an engine knows of, with their figures, labels and findings.
///
/// Errors: it cannot be asked, refuses a query, knows of no machine, or of more than can be compared.
pub fn gather(client: &Client, question: &Question<'_>) -> Result<Gathered> {
    let queries = Queries::of(question)?;
    let limits = Limits { series: MOST_SERIES, machines: MOST_MACHINES };
    gather_within(client, &queries, limits)
}

/// How much one answer may hold.
#[derive(Clone, Copy)]
struct Limits {
    series: usize,
    machines: usize,
}

fn gather_within(client: &Client, queries: &Queries, limits: Limits) -> Result<Gathered> {
    let fleet = Mutex::new(Fleet::new(limits.machines));
    // One deadline for all of them: who waits, waits for the last one.
    let until = client.until();
    let asking = Asking { client, queries, until, limits, fleet: &fleet };
    let mut outcomes = vec![asking.answer(0, &queries.info)?];
    // Findings are most of all series: an engine answers with the rest while it looks for them.
    let (rest, findings) = thread::scope(|scope| {
        let findings = scope.spawn(|| asking.answer(3, &queries.findings));
        let rest = [(1, &queries.clock), (2, &queries.speed), (4, &queries.audits)];
        let rest = rest.map(|(answer, query)| asking.answer(answer, query));
        (rest, findings.join().unwrap_or_else(|it| panic::resume_unwind(it)))
    });
    let [clock, speed, audits] = rest;
    for outcome in [clock, speed, findings, audits] {
        outcomes.push(outcome?);
    }
    // Masked before it is cut: a part of a secret is one, too.
    let shown = |text: &str| shortened(&client.masked(text));
    let mut told = Vec::new();
    for note in outcomes.into_iter().flat_map(|it| it.notes(shown)) {
        if !told.contains(&note) {
            told.push(note);
        }
    }
    let fleet = fleet.into_inner().unwrap_or_else(PoisonError::into_inner);
    if fleet.is_empty() {
        bail!(no_machine(client, until, queries));
    }
    Ok(fleet.gathered(told))
}

/// What all queries of one question share.
struct Asking<'a> {
    client: &'a Client,
    queries: &'a Queries,
    until: Instant,
    limits: Limits,
    fleet: &'a Mutex<Fleet>,
}

impl Asking<'_> {
    /// Adds what the engine answers to one query to the machines; `answer` is the number of the query.
    fn answer(&self, answer: usize, query: &Query) -> Result<Outcome> {
        let Asking { client, queries, until, limits, .. } = *self;
        let fleet = || self.fleet.lock().unwrap_or_else(PoisonError::into_inner);
        let mut n_series = 0;
        let mut each = |series: &Series<'_>| {
            n_series += 1;
            n_series <= limits.series && fleet().take(query.holds, answer, series)
        };
        let outcome = ask(client, until, query, &mut each);
        let exceeded = fleet().exceeded().map(|most| (most, "machines"));
        let exceeded = exceeded.or((n_series > limits.series).then_some((limits.series, "series")));
        if let Some((most, what)) = exceeded {
            bail!("`{}` has more than {most} {what}: {}", query.text, queries.to_fewer());
        }
        let outcome = outcome.map_err(|it| advice::explained(it, client, query, queries))?;
        if let Some(why) = &outcome.failure {
            let why = shortened(&client.masked(why));
            let next = advice::of_words(&why, queries);
            let next = next.map(|it| format!(": {it}")).unwrap_or_default();
            bail!("{} refuses the query `{}`: {why}{next}", client.address(), query.text);
        }
        Ok(outcome)
    }
}

/// The machines of answers that are there as texts, in the order in which [`gather`] asks: labels, clocks, speeds, findings, audits. For tests
/// of what strangers may answer; where there are fewer, the rest is not told of.
///
/// Errors: one is no answer of this API, or refuses the query.
pub fn answered(answers: &[&[u8]]) -> Result<Gathered> {
    let holds = [Holds::Labels, Holds::Clock, Holds::Speed, Holds::Findings, Holds::Audits];
    let mut fleet = Fleet::new(MOST_MACHINES);
    let mut told = Vec::new();
    for (answer, (holds, text)) in holds.into_iter().zip(answers).enumerate() {
        let mut each = |series: &Series<'_>| fleet.take(holds, answer, series);
        let mut text = *text;
        let mut pieces = Pieces::new(&mut text);
        let outcome = vector(&mut pieces, &mut each)?;
        pieces.end()?;
        if let Some(why) = &outcome.failure {
            bail!("{}", shortened(why));
        }
        told.extend(outcome.notes(shortened));
    }
    Ok(fleet.gathered(told))
}

/// Has an engine answer one query, each series to `each`, which tells whether it takes more.
fn ask(
    client: &Client,
    until: Instant,
    query: &Query,
    each: &mut dyn FnMut(&Series<'_>) -> bool,
) -> Result<Outcome, Failure> {
    let answer = client.get_until(until, "/api/v1/query", &[("query", &query.text)])?;
    answer.pieces(|pieces| vector(pieces, each))
}

/// Why an engine knows of no machine.
fn no_machine(client: &Client, until: Instant, queries: &Queries) -> String {
    let address = client.address();
    if let Some(selector) = &queries.selector
        && is_any(client, until).unwrap_or(false)
    {
        return format!(
            "no machine at {address} has {{{selector}}}: --match takes labels that every series of a machine has, as job, cluster or rack"
        );
    }
    format!(
        "{address} has no {HOST_INFO}, {CLOCK_RATIO} or {SPEED_RATIO}: each machine exports them by `fullclock serve`, or by \
         `fullclock metrics --speed-probe --textfile FILE` for node_exporter; a machine that is scraped less often than every 5 minutes has none"
    )
}

/// Whether an engine knows of any machine, whatever labels it has.
fn is_any(client: &Client, until: Instant) -> Result<bool, Failure> {
    let mut n_series = 0;
    let mut each = |_: &Series<'_>| {
        n_series += 1;
        true
    };
    ask(client, until, &queries::any(), &mut each)?;
    Ok(n_series > 0)
}
