//! What was seen of a database server, as bytes: written in full, since it describes the time since the sample before. Counts are
//! differences from the look before in the same section.

use super::wire::{Bytes, at_difference, difference, put_number, put_text};
use crate::client::{LONGEST_MARK, MOST_MARKS, MarkText};
use crate::database::{
    Count, LONGEST_STATEMENT, LONGEST_WORD, LogCounters, Look, MOST_GROUPS, MOST_LOOKS,
    ServerSample, SessionGroup, Syncing,
};
use crate::parse::Expected;

/// Whether the server times its log writes, in the lowest two bits.
const UNTIMED: u64 = 1;
const TIMED: u64 = 2;
const TIMING: u64 = 3;

/// How it makes its log durable, above these; 0 is unknown. A later fullclock may know more.
const SYNCING_AT: u32 = 2;
const SYNCING: [Syncing; 3] = [Syncing::Off, Syncing::ByWrites, Syncing::ByCalls];

/// Appends what was seen until `at`; nothing where no server was looked at.
pub(super) fn put(out: &mut Vec<u8>, at: u64, sample: Option<&ServerSample>) {
    let Some(ServerSample { looks, phases }) = sample else { return };
    put_number(out, looks.len() as u64);
    let (mut last, mut log) = (at, &LogCounters::default());
    for look in looks {
        put_number(out, difference(last, look.at));
        put_log(out, log, &look.log);
        put_number(out, look.sessions.len() as u64);
        look.sessions.iter().for_each(|it| put_group(out, it));
        (last, log) = (look.at, &look.log);
    }
    put_number(out, phases.len() as u64);
    for MarkText { at, text } in phases {
        put_number(out, difference(last, *at));
        put_text(out, text);
        last = *at;
    }
}

/// A bit for each count that there is, then these, as differences from those before.
fn put_log(out: &mut Vec<u8>, before: &LogCounters, log: &LogCounters) {
    let mut bits = 0;
    for (place, count) in Count::all().enumerate() {
        bits |= u64::from(log.get(count).is_some()) << place;
    }
    put_number(out, bits);
    for count in Count::all() {
        if let Some(value) = log.get(count) {
            put_number(out, difference(before.get(count).unwrap_or(0), value));
        }
    }
    put_text(out, &log.log_reset);
    put_text(out, &log.commits_reset);
    let timing = log.is_timed.map_or(0, |it| if it { TIMED } else { UNTIMED });
    let syncing = SYNCING.iter().position(|it| Some(*it) == log.syncing);
    put_number(out, timing | syncing.map_or(0, |it| (it as u64 + 1) << SYNCING_AT));
}

fn put_group(out: &mut Vec<u8>, group: &SessionGroup) {
    let SessionGroup { backend, state, wait_type, wait, tag, statement, n } = group;
    for text in [backend, state, wait_type, wait, tag, statement] {
        put_text(out, text);
    }
    put_number(out, u64::from(*n));
}

/// What a section holds that was written at `at`.
pub(super) fn take(bytes: &mut Bytes, at: u64) -> Result<ServerSample, Expected> {
    let (mut last, mut log) = (at, LogCounters::default());
    let n_looks = count(bytes, MOST_LOOKS)?;
    let mut looks = Vec::with_capacity(n_looks);
    for _ in 0..n_looks {
        last = at_difference(last, bytes.number()?);
        log = take_log(bytes, &log)?;
        let n_groups = count(bytes, MOST_GROUPS)?;
        let sessions = (0..n_groups).map(|_| take_group(bytes)).collect::<Result<_, _>>()?;
        looks.push(Look { at: last, sessions, log: log.clone() });
    }
    let n_phases = count(bytes, MOST_MARKS)?;
    let mut phases = Vec::with_capacity(n_phases);
    for _ in 0..n_phases {
        last = at_difference(last, bytes.number()?);
        phases.push(MarkText { at: last, text: text(bytes, 4 * LONGEST_MARK)? });
    }
    Ok(ServerSample { looks, phases })
}

fn take_log(bytes: &mut Bytes, before: &LogCounters) -> Result<LogCounters, Expected> {
    let bits = bytes.number()?;
    let mut log = LogCounters::default();
    let mut counts = Count::all();
    for place in 0..u64::BITS {
        // A count that only a later fullclock knows is stepped over.
        let count = counts.next();
        if bits >> place & 1 == 1 {
            let step = bytes.number()?;
            if let Some(count) = count {
                let was = before.get(count).unwrap_or(0);
                log.set(count, Some(at_difference(was, step)));
            }
        }
    }
    log.log_reset = text(bytes, 4 * LONGEST_WORD)?;
    log.commits_reset = text(bytes, 4 * LONGEST_WORD)?;
    let settings = bytes.number()?;
    log.syncing = SYNCING
        .into_iter()
        .enumerate()
        .find(|(place, _)| *place as u64 + 1 == settings >> SYNCING_AT)
        .map(|(_, it)| it);
    log.is_timed = match settings & TIMING {
        0 => None,
        UNTIMED => Some(false),
        TIMED => Some(true),
        _ => return Err(Expected("whether a server times its log writes")),
    };
    Ok(log)
}

fn take_group(bytes: &mut Bytes) -> Result<SessionGroup, Expected> {
    let mut word = || text(bytes, LONGEST_WORD);
    let [backend, state, wait_type, wait, tag] = [word()?, word()?, word()?, word()?, word()?];
    let statement = text(bytes, 4 * LONGEST_STATEMENT)?;
    Ok(SessionGroup { backend, state, wait_type, wait, tag, statement, n: bytes.small()? })
}

fn count(bytes: &mut Bytes, most: usize) -> Result<usize, Expected> {
    let count = bytes.count()?;
    if count > most {
        Err(Expected("no more than a sample can have of a server"))
    } else {
        Ok(count)
    }
}

/// A text of at most `most` bytes.
fn text(bytes: &mut Bytes, most: usize) -> Result<String, Expected> {
    let text = bytes.text()?;
    if text.len() > most {
        Err(Expected("a shorter text of a server"))
    } else {
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(n_groups: usize, name: &str) -> Look {
        let group = SessionGroup { backend: name.to_owned(), n: 3, ..SessionGroup::default() };
        let log = LogCounters::parse(&["wal_sync 7", "xact_commit 9", "track_wal_io_timing off"]);
        Look { at: 900, sessions: vec![group; n_groups], log }
    }

    fn written(looks: Vec<Look>) -> Vec<u8> {
        let phases = vec![MarkText { at: 950, text: "COPY begins".to_owned() }];
        let mut bytes = Vec::new();
        put(&mut bytes, 1000, Some(&ServerSample { looks, phases }));
        bytes
    }

    fn is_refused(looks: Vec<Look>) -> bool {
        take(&mut Bytes::new(&written(looks)), 1000).is_err()
    }

    #[test]
    fn what_no_recorder_writes_is_refused() {
        assert!(!is_refused(vec![look(MOST_GROUPS, "checkpointer")]));
        assert!(is_refused(vec![look(MOST_GROUPS + 1, "checkpointer")]));
        assert!(is_refused(vec![look(1, &"x".repeat(LONGEST_WORD + 1))]));
        assert!(is_refused(vec![look(0, ""); MOST_LOOKS + 1]));
    }

    #[test]
    fn a_section_that_is_cut_is_refused() {
        let bytes = written(vec![look(2, "checkpointer"), look(1, "walwriter")]);
        assert!(take(&mut Bytes::new(&bytes), 1000).is_ok());
        for length in 0..bytes.len() {
            assert!(take(&mut Bytes::new(&bytes[..length]), 1000).is_err(), "{length}");
        }
    }
}
