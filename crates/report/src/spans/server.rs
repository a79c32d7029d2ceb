//! What was seen of a database server in each piece: what its active sessions waited for, and what its log took.

use super::{from, number, percent, text};
use crate::document::{Align, Table, Text};
use crate::harmless::harmless;
use facts::Fact;
use rules::spans::{ServerSeen, Span, WaitShare};

/// The largest shares of wait events that a row has room for.
const MOST_WAITS: usize = 3;

/// Shares below this are not worth a word.
const SMALLEST: f64 = 0.005;

/// A row for each piece; `None` where no server was watched.
pub(super) fn table(spans: &[Span]) -> Option<Table> {
    if !is_watched(spans) {
        return None;
    }
    let headings = [
        ("from", Align::Left),
        ("active sessions", Align::Right),
        ("commits/s", Align::Right),
        ("log writes/s", Align::Right),
        ("each", Align::Right),
        ("wait events of active sessions", Align::Left),
    ];
    let row = |span: &Span| {
        let of = |words: &dyn Fn(&ServerSeen) -> Fact<String>| {
            text(&span.server.as_ref().map_err(Clone::clone).and_then(words), Clone::clone)
        };
        vec![
            from(span),
            of(&|it| Ok(format!("{:.1}", it.active))),
            of(&|it| per_second(it, &it.log.commits)),
            of(&|it| per_second(it, &it.log.durable())),
            of(&|it| it.log.each_ns().map(ms)),
            of(&|it| Ok(waits(it))),
        ]
    };
    Some(Table::new(&headings, spans.iter().map(row)))
}

/// Whether a server was watched in any of them: also one that never answered.
pub(super) fn is_watched(spans: &[Span]) -> bool {
    let is_of = |it: &Span| it.server.is_ok() || !it.phases.is_empty();
    spans.iter().any(is_of)
}

/// A count as a rate.
pub(super) fn rate(seen: &ServerSeen, count: &Fact<u64>) -> Fact<f64> {
    let count = count.as_ref().map_err(Clone::clone)?;
    if seen.elapsed_ns == 0 {
        let why = "there was one answer of the server, and it takes two";
        return Err(facts::Missing::not_here("a rate of the server", why));
    }
    Ok(*count as f64 * 1e9 / seen.elapsed_ns as f64)
}

fn per_second(seen: &ServerSeen, count: &Fact<u64>) -> Fact<String> {
    rate(seen, count).map(number)
}

/// `WALWrite 40.0 %, none 35.0 %`.
pub(super) fn waits(seen: &ServerSeen) -> String {
    if seen.waits.is_empty() {
        return "no session was active".to_owned();
    }
    let shown = seen.waits.iter().filter(|it| it.share >= SMALLEST).take(MOST_WAITS);
    let words = |it: &WaitShare| format!("{} {}", event(it), percent(&it.share));
    shown.map(words).collect::<Vec<_>>().join(", ")
}

fn event(wait: &WaitShare) -> String {
    if wait.event.is_empty() { "none".to_owned() } else { harmless(&wait.event).into_owned() }
}

/// Nanoseconds as milliseconds.
pub(super) fn ms(ns: f64) -> String {
    format!("{:.2} ms", ns / 1e6)
}

/// All of it in one sentence, as a note of a ledger.
pub fn sentence(seen: &ServerSeen) -> String {
    let known = |fact: Fact<String>| fact.unwrap_or_else(|_| "unknown".to_owned());
    format!(
        "the database server: {:.1} active sessions; their wait events: {}; {} commits/s, {} log writes/s of {}",
        seen.active,
        waits(seen),
        known(per_second(seen, &seen.log.commits)),
        known(per_second(seen, &seen.log.durable())),
        known(seen.log.each_ns().map(ms)),
    )
}

/// The text under a table of wait events.
pub(super) fn explained() -> Text {
    "Wait events are shares of the active sessions that one look a second saw; \"none\" is a session that ran, or was runnable and had \
     no CPU. Commits and log writes are of the whole server."
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::database::LogCounters;

    #[test]
    fn a_server_is_one_sentence_with_its_waits_and_its_log() {
        let log = |n: u64| {
            let rows = [
                format!("wal_sync {n}"),
                format!("xact_commit {}", 2 * n),
                format!("wal_sync_us {}", 500 * n),
                "wal_write_us 0".to_owned(),
                "track_wal_io_timing on".to_owned(),
            ];
            LogCounters::parse(&rows)
        };
        let wait = |event: &str, share| WaitShare {
            kind: "LWLock".to_owned(),
            event: event.to_owned(),
            share,
        };
        let seen = ServerSeen {
            looks: 10,
            active: 4.0,
            waits: vec![wait("WALWrite", 0.6), wait("", 0.399), wait("x", 0.001)],
            log: log(200).since(&log(100)),
            elapsed_ns: 10_000_000_000,
        };
        assert_eq!(
            sentence(&seen),
            "the database server: 4.0 active sessions; their wait events: WALWrite 60.0 %, none 39.9 %; 20.00 commits/s, \
             10.00 log writes/s of 0.50 ms"
        );
    }
}
