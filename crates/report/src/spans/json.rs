//! A recording in pieces: `schemas/ledger-by-1.json`.

use super::Course;
use crate::json::{Answer, Head, Machine, Opening, Time, pretty, seconds};
use rules::spans::{ServerSeen, Span, Worker};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// What each piece of a recording was spent on: the client's number, who ran, who waited.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CourseDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    machine: Machine<'a>,
    /// What the client's numbers are; null where none was listened to.
    client: Option<Client<'a>>,
    /// Whether a command was recorded, whose tasks are the client.
    has_command: bool,
    pieces: Vec<Piece<'a>>,
    /// What has to be said of all of it.
    notes: &'a [String],
}

/// What a client's numbers are.
#[derive(Serialize, JsonSchema)]
struct Client<'a> {
    /// Empty where the user gave an expression.
    name: &'a str,
    /// Empty where the user gave an expression.
    unit: &'a str,
}

/// A piece of the recording.
#[derive(Serialize, JsonSchema)]
struct Piece<'a> {
    from: Time<'static>,
    length_s: f64,
    /// The mean of the client's numbers.
    client: Answer<'a, f64>,
    /// Shares of the time of all CPUs, by the id of the loss; null where unknown.
    idle: Answer<'a, f64>,
    slow_clock: Answer<'a, f64>,
    /// Users' tasks by name, the one that ran longest first.
    tasks: Answer<'a, Vec<Tasks<'a>>>,
    /// What the client marked.
    marks: Vec<Mark<'a>>,
    /// What was seen of a database server (`watch --dsn`).
    server: Answer<'a, Server<'a>>,
    /// Where the server's main activity changed.
    phases: Vec<Mark<'a>>,
}

/// What was seen of a database server in a piece.
#[derive(Serialize, JsonSchema)]
struct Server<'a> {
    /// How many looks there were, one a second.
    looks: usize,
    /// The mean number of sessions that ran a statement; null where the server hides some.
    active_sessions: Option<f64>,
    /// What these waited for, the largest share first; empty where the server hides some.
    wait_events: Vec<WaitEvent<'a>>,
    /// Between the first look and the last one.
    length_s: f64,
    /// Transactions that were committed; null where unknown.
    commits: Option<u64>,
    /// Log writes that were made durable; null where unknown.
    log_writes: Option<u64>,
    /// Bytes that were added to the log; null where unknown.
    log_bytes: Option<u64>,
    /// The mean time of a log write; null where the server does not time them.
    log_write_s: Option<f64>,
}

/// A wait event of active sessions.
#[derive(Serialize, JsonSchema)]
struct WaitEvent<'a> {
    /// The kind of event; empty where the server has none.
    kind: &'a str,
    /// Empty of sessions that ran, or were runnable.
    event: &'a str,
    /// Of the active sessions that were seen.
    share: f64,
}

/// Tasks of one name.
#[derive(Serialize, JsonSchema)]
struct Tasks<'a> {
    #[schemars(extend("enum" = ["client", "server", "other"]))]
    who: &'static str,
    /// The database product, null for tasks of none.
    product: Option<&'static str>,
    /// The role in the product, or the name of the tasks.
    name: &'a str,
    /// Of the time of all CPUs.
    share: f64,
    run_s: f64,
    /// How long they were runnable and waited for a CPU, all together.
    wait_s: f64,
}

/// A moment that was marked.
#[derive(Serialize, JsonSchema)]
struct Mark<'a> {
    /// Since the beginning of the piece.
    after_s: f64,
    text: &'a str,
}

/// The whole document.
///
/// Errors: it cannot be written as JSON, which is a bug.
pub fn json(head: &Head, course: &Course<'_>) -> Result<String> {
    let shares: Vec<[facts::Fact<f64>; 2]> =
        course.spans.iter().map(|span| ["idle", "slow-clock"].map(|id| span.share(id))).collect();
    pretty(&CourseDocument {
        opening: head.opening(),
        machine: Machine::of(course.host),
        client: course.metric.map(|it| Client { name: &it.client, unit: &it.unit }),
        has_command: course.has_command,
        pieces: course
            .spans
            .iter()
            .zip(&shares)
            .map(|(span, shares)| piece(span, shares))
            .collect(),
        notes: course.notes,
    })
}

fn piece<'a>(span: &'a Span, [idle, slow_clock]: &'a [facts::Fact<f64>; 2]) -> Piece<'a> {
    let tasks = |it: &'a Worker| Tasks {
        who: it.who.name(),
        product: it.product,
        name: &it.name,
        share: it.run_ns as f64 / span.capacity_ns(),
        run_s: seconds(it.run_ns),
        wait_s: seconds(it.wait_ns),
    };
    let mark = |it: &'a facts::client::MarkText| Mark {
        after_s: seconds(it.at.saturating_sub(span.from.raw_ns)),
        text: &it.text,
    };
    Piece {
        from: Time::of_ns(span.from.real_ns),
        length_s: seconds(span.elapsed_ns()),
        client: Answer::of(&span.client, |it| *it),
        idle: Answer::of(idle, |it| *it),
        slow_clock: Answer::of(slow_clock, |it| *it),
        tasks: Answer::of(&span.workers, |it| it.iter().map(tasks).collect()),
        marks: span.marks.iter().map(mark).collect(),
        server: Answer::of(&span.server, server),
        phases: span.phases.iter().map(mark).collect(),
    }
}

fn server(seen: &ServerSeen) -> Server<'_> {
    let wait_events =
        seen.waits.iter().map(|it| WaitEvent { kind: &it.kind, event: &it.event, share: it.share });
    Server {
        looks: seen.looks,
        active_sessions: seen.active.as_ref().ok().copied(),
        wait_events: wait_events.collect(),
        length_s: seconds(seen.elapsed_ns),
        commits: seen.log.commits.as_ref().ok().copied(),
        log_writes: seen.log.durable().ok(),
        log_bytes: seen.log.bytes.as_ref().ok().copied(),
        log_write_s: seen.log.each_ns().ok().map(|ns| ns / 1e9),
    }
}
