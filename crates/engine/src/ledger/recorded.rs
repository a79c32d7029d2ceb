//! The ledger of a recording, or of the part of it that `--since` and `--until` select.

use crate::measure::choice::within;
use crate::{Event, Tell};
use anyhow::{Result, bail};
use facts::counters::Moment;
use facts::tape::Sample;
use facts::{CpuSet, Fact, HostView, quantity, utc};
use host::tape::Reader;
use rules::ledger::{Evidence, Ledger, close};
use rules::segment::{Longest, Segment};
use rules::spans::{ServerLooks, ServerSeen};
use std::cmp::Ordering;
use std::fmt;
use std::fs::File;
use std::path::Path;

/// A ledger, and the host that was recorded.
pub struct Recorded {
    /// The host, as it was.
    pub host: HostView,
    /// The ledger of the longest segment.
    pub ledger: Ledger,
    /// What was seen of a database server in that time; `None` where none was watched, or it never answered.
    pub server: Option<Fact<ServerSeen>>,
}

/// Closes the ledger of the longest segment of samples that lies in `period`, of these CPUs or of all.
///
/// Errors: it is no recording, or holds no interval; a CPU was not online.
pub fn recorded(
    file: &Path,
    cpus: Option<&CpuSet>,
    mut period: Period<'_>,
    tell: &mut Tell<'_>,
) -> Result<Recorded> {
    let mut reader = Reader::open(file)?;
    let host = host::view(reader.host());
    let mut longest = Longest::new();
    let mut looks = ServerLooks::default();
    let damages = read(&mut reader, file, &mut period, |sample| {
        sample.server.iter().for_each(|it| looks.push(it));
        longest.push(sample);
    })?;
    let Some(found) = longest.finish() else { bail!(nothing(file, &period, damages)) };
    let interval = found.segment.interval(&host);
    let audit = crate::advised::audit(reader.host(), &host);
    let evidence = Evidence {
        cpus: within(cpus, &interval.cpus())?,
        traced: found.segment.traced(),
        clocks: found.segment.clocks(),
        loads: found.segment.loads(),
        observer: reader.observer().unwrap_or_default(),
        findings: &audit.findings,
        ..Evidence::of(interval)
    };
    let mut ledger = close(&evidence);
    damages.iter().try_for_each(|damage| tell(Event::Note(damage.clone())))?;
    ledger.notes.extend(period.note());
    ledger.notes.extend(damages);
    ledger.notes.extend(found.notes);
    let Segment { before, after, .. } = &found.segment;
    let seen = || looks.seen(before.at.raw_ns, after.at.raw_ns);
    // Of one that never answered, a note says so.
    ledger.notes.extend(looks.silence());
    let server = (looks.is_watched() && looks.silence().is_none()).then(seen);
    Ok(Recorded { host, ledger, server })
}

/// Hands over the samples of a period, and gives what was wrong with the recording.
pub(super) fn read(
    reader: &mut Reader<File>,
    file: &Path,
    period: &mut Period<'_>,
    mut push: impl FnMut(Sample),
) -> Result<Vec<String>> {
    let mut damages = Vec::new();
    for sample in reader {
        match sample {
            Ok(sample) if period.has(sample.counters.at)? => push(sample),
            Ok(_) => {}
            Err(damage) => damages.push(format!("{}: {damage}", file.display())),
        }
    }
    Ok(damages)
}

/// Why a recording has no interval.
pub(super) fn nothing(file: &Path, period: &Period<'_>, mut damages: Vec<String>) -> String {
    let nothing =
        || "it holds no two samples in a row: there is no interval to account for".to_owned();
    let why = period.why_empty().unwrap_or_else(nothing);
    damages.push(format!("{}: {why}", file.display()));
    damages.join("; ")
}

/// A point in time as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    text: String,
    when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// So many nanoseconds after the first sample.
    AfterStart(u64),
    /// So many nanoseconds after midnight UTC, the first time that the recording comes to it.
    OfDay(u64),
    /// So many nanoseconds since 1970.
    Real(u64),
}

/// The point that `text` names: a time from the start (`90s`, `5m`), a time of day as the screen shows it
/// (`12:14:05`) or a timestamp (`2026-11-20T12:14:05Z`), both in UTC.
pub fn point(text: &str) -> Result<Point, String> {
    let text = text.trim();
    let when = if text.contains('T') {
        utc::parse_timestamp(text).map(When::Real)
    } else if text.contains(':') {
        utc::parse_clock_time(text).map(When::OfDay)
    } else if text == "0" || text == "0s" {
        Some(When::AfterStart(0))
    } else {
        let after = quantity::duration(text).ok();
        after.and_then(|it| u64::try_from(it.as_nanos()).ok()).map(When::AfterStart)
    };
    let when = when.ok_or_else(|| {
        format!(
            "{text:?} is not a time: expected a time from its start (90s, 5m), a time of day in UTC \
             (12:14:05) or a timestamp (2026-11-20T12:14:05Z)"
        )
    })?;
    Ok(Point { text: text.to_owned(), when })
}

/// The part of a recording between `--since` and `--until`: selects samples by their time, and counts them.
pub struct Period<'a> {
    since: Option<&'a Point>,
    until: Option<&'a Point>,
    first: Option<Moment>,
    last: Option<Moment>,
    n_samples: usize,
    n_chosen: usize,
}

impl<'a> Period<'a> {
    /// From `since` to `until`, where there are such.
    pub fn new(since: Option<&'a Point>, until: Option<&'a Point>) -> Period<'a> {
        Period { since, until, first: None, last: None, n_samples: 0, n_chosen: 0 }
    }

    /// Whether the next sample, taken at `at`, is in the period. Error: the period is empty.
    pub fn has(&mut self, at: Moment) -> Result<bool> {
        let first = *self.first.get_or_insert(at);
        if self.n_samples == 0
            && let (Some(since), Some(until)) = (self.since, self.until)
            && since.real_ns(first) >= until.real_ns(first)
        {
            bail!("--since {} is not before --until {}", since.text, until.text);
        }
        self.last = Some(at);
        self.n_samples += 1;
        let is_chosen = self.since.is_none_or(|it| it.against(at, first).is_le())
            && self.until.is_none_or(|it| it.against(at, first).is_ge());
        self.n_chosen += usize::from(is_chosen);
        Ok(is_chosen)
    }

    /// A note for the ledger of a part; `None` where the period is the whole recording.
    pub fn note(&self) -> Option<String> {
        self.is_part().then(|| {
            format!("{} of the {} samples were requested: {self}", self.n_chosen, self.n_samples)
        })
    }

    /// Why there is no interval; `None` where the period is not the reason.
    pub fn why_empty(&self) -> Option<String> {
        let (first, last) = (self.first?, self.last?);
        let is_why = self.is_part() && self.n_chosen < 2 && self.n_samples > 1;
        is_why.then(|| {
            format!(
                "{} of the {} samples are in the requested part ({self}), and a ledger needs two; \
                 the recording goes from {} to {}",
                self.n_chosen,
                self.n_samples,
                utc::timestamp(first.real_ns),
                utc::timestamp(last.real_ns),
            )
        })
    }

    fn is_part(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }
}

impl fmt::Display for Period<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.since, self.until) {
            (Some(since), Some(until)) => write!(f, "since {} until {}", since.text, until.text),
            (Some(since), None) => write!(f, "since {}", since.text),
            (None, Some(until)) => write!(f, "until {}", until.text),
            (None, None) => f.write_str("all"),
        }
    }
}

impl Point {
    /// The point against a sample of a recording that began at `first`.
    fn against(&self, sample: Moment, first: Moment) -> Ordering {
        match self.when {
            When::AfterStart(ns) => ns.cmp(&elapsed(first, sample)),
            When::OfDay(_) | When::Real(_) => self.real_ns(first).cmp(&sample.real_ns),
        }
    }

    /// In nanoseconds since 1970, provided that the clock was not set.
    fn real_ns(&self, first: Moment) -> u64 {
        const DAY: u64 = 86_400_000_000_000;
        match self.when {
            When::AfterStart(ns) => first.real_ns.saturating_add(ns),
            When::Real(ns) => ns,
            When::OfDay(ns) => {
                let today = (first.real_ns / DAY * DAY).saturating_add(ns);
                // To the second, as the screen shows it: the first sample is not after its own time of day.
                let has_passed = today / 1_000_000_000 < first.real_ns / 1_000_000_000;
                if has_passed { today.saturating_add(DAY) } else { today }
            }
        }
    }
}

/// The time since the recording began, by the monotonic clock; by the real-time clock after a reboot.
fn elapsed(first: Moment, sample: Moment) -> u64 {
    let by_raw = sample.raw_ns.checked_sub(first.raw_ns);
    by_raw.unwrap_or_else(|| sample.real_ns.saturating_sub(first.real_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// 2026-11-20T12:14:05.5Z and `seconds` later.
    fn at(seconds: u64) -> Moment {
        let real_ns = 1_795_176_845 * SECOND + SECOND / 2 + seconds * SECOND;
        Moment { raw_ns: 77 + seconds * SECOND, boot_ns: 0, real_ns }
    }

    /// The seconds of a recording of ten that are chosen, or what is said.
    fn chosen(since: &str, until: &str) -> Result<Vec<u64>, String> {
        let of = |text: &str| (!text.is_empty()).then(|| point(text).unwrap());
        let (since, until) = (of(since), of(until));
        let mut period = Period::new(since.as_ref(), until.as_ref());
        let mut seconds = Vec::new();
        for second in 0..10 {
            if period.has(at(second)).map_err(|error| error.to_string())? {
                seconds.push(second);
            }
        }
        period.why_empty().map_or(Ok(seconds), Err)
    }

    #[test]
    fn a_part_is_named_from_the_start_by_the_time_of_day_or_by_a_timestamp() {
        assert_eq!(chosen("", ""), Ok((0..10).collect()));
        assert_eq!(chosen("7s", ""), Ok(vec![7, 8, 9]));
        assert_eq!(chosen("0", "2s"), Ok(vec![0, 1, 2]));
        assert_eq!(chosen("12:14:12", ""), Ok(vec![7, 8, 9]));
        assert_eq!(chosen("12:14:05", "12:14:07"), Ok(vec![0, 1]));
        assert_eq!(chosen("", "2026-11-20T12:14:07Z"), Ok(vec![0, 1]));
        assert_eq!(chosen("2026-11-20T13:14:12.500+01:00", ""), Ok(vec![7, 8, 9]));
    }

    #[test]
    fn a_part_that_is_empty_says_what_there_is() {
        assert_eq!(
            chosen("1h", "").unwrap_err(),
            "0 of the 10 samples are in the requested part (since 1h), and a ledger needs two; the recording \
             goes from 2026-11-20T12:14:05.500Z to 2026-11-20T12:14:14.500Z"
        );
        assert!(chosen("9s", "").unwrap_err().starts_with("1 of the 10 samples are"));
        assert!(chosen("12:00", "").unwrap_err().contains("(since 12:00)"));
    }

    #[test]
    fn a_part_that_ends_before_it_begins_is_refused() {
        assert_eq!(chosen("5m", "1m").unwrap_err(), "--since 5m is not before --until 1m");
        assert!(chosen("12:14:09", "2s").unwrap_err().contains("not before"));
    }

    #[test]
    fn what_names_no_time_says_what_does() {
        for text in [
            "",
            "noon",
            "25:00",
            "12:60:00",
            "2026-13-01T00:00:00Z",
            "2026-11-20T12:14:05",
            "-5s",
            "1:2:3:4",
        ] {
            assert!(point(text).unwrap_err().contains("expected a time from its start"), "{text}");
        }
    }

    #[test]
    fn after_another_boot_the_time_from_the_start_goes_on() {
        let since = point("60s").unwrap();
        let mut period = Period::new(Some(&since), None);
        assert!(!period.has(at(0)).unwrap());
        assert!(period.has(Moment { raw_ns: 5, ..at(90) }).unwrap());
    }
}
