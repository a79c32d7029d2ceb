//! What was seen of a database server in each piece: what its active sessions waited for, and what its log took.

use super::{from, number, percent, text};
use crate::document::{Align, Table, Text};
use crate::harmless::harmless;
use crate::wording::milliseconds as ms;
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
            of(&|it| Ok(format!("{:.1}", it.active.clone()?))),
            of(&|it| per_second(it, &it.log.commits)),
            of(&|it| per_second(it, &it.log.durable())),
            of(&|it| it.log.each_ns().map(ms)),
            of(&waits),
        ]
    };
    Some(Table::new(&headings, spans.iter().map(row)))
}

/// Whether a server answered in any of them; of one that never did, a note says so.
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

/// `WALWrite 40.0 %, none 35.0 %`; missing where the server hides sessions.
fn waits(seen: &ServerSeen) -> Fact<String> {
    seen.active.clone()?;
    if seen.waits.is_empty() {
        return Ok("no session was active".to_owned());
    }
    let shown = seen.waits.iter().filter(|it| it.share >= SMALLEST).take(MOST_WAITS);
    let words = |it: &WaitShare| format!("{} {}", event(it), percent(&it.share));
    Ok(shown.map(words).collect::<Vec<_>>().join(", "))
}

fn event(wait: &WaitShare) -> String {
    if wait.event.is_empty() { "none".to_owned() } else { harmless(&wait.event).into_owned() }
}

/// All of it that is known in one sentence, as a note of a ledger.
pub fn sentence(seen: &ServerSeen) -> String {
    let active = seen.active.clone().and_then(|active| {
        Ok(format!("{active:.1} active sessions; their wait events: {}", waits(seen)?))
    });
    let sessions = active.unwrap_or_else(|missing| missing.to_string());
    let each = seen.log.each_ns().map_or_else(|_| String::new(), |ns| format!(" of {}", ms(ns)));
    let commits = per_second(seen, &seen.log.commits).map(|it| format!("{it} commits/s"));
    let writes = per_second(seen, &seen.log.durable()).map(|it| format!("{it} log writes/s{each}"));
    let log: Vec<String> = [commits, writes].into_iter().flatten().collect();
    let log = if log.is_empty() { String::new() } else { format!("; {}", log.join(", ")) };
    format!("the database server: {sessions}{log}")
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
    fn what_is_unknown_is_left_out_of_the_sentence() {
        let nothing = LogCounters::default();
        let hidden = facts::Missing::not_here("the sessions of other users", "they are hidden");
        let mut seen = ServerSeen {
            looks: 2,
            active: Ok(0.0),
            waits: Vec::new(),
            log: nothing.since(&nothing),
            elapsed_ns: 1_000_000_000,
        };
        assert!(sentence(&seen).ends_with("wait events: no session was active"));
        seen.active = Err(hidden.clone());
        let text = sentence(&seen);
        assert_eq!(text, format!("the database server: {hidden}"));
    }

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
            active: Ok(4.0),
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
