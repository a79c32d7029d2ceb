//! From when on changes are wanted.

use super::history::Entry;
use facts::utc;
use std::str::FromStr;

/// From when on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// From the beginning of this day, in nanoseconds since 1970.
    Day(u64),
    /// So many nanoseconds before now.
    Ago(u64),
    /// From the baseline of this number on.
    Number(u64),
}

/// Nanoseconds of a day.
const DAY: u64 = 86_400_000_000_000;

/// The units of a time that lies back, with their nanoseconds.
const UNITS: [(char, u64); 4] = [('h', DAY / 24), ('d', DAY), ('w', 7 * DAY), ('y', 365 * DAY)];

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Since, String> {
        if utc::is_date(text) {
            return utc::parse_timestamp(&format!("{text}T00:00:00Z"))
                .map(Since::Day)
                .ok_or_else(|| format!("{text} is before 1970"));
        }
        if let Ok(number) = text.parse() {
            return Ok(Since::Number(number));
        }
        let ago = UNITS.iter().find_map(|(unit, ns)| {
            let count: u64 = text.strip_suffix(*unit)?.parse().ok()?;
            count.checked_mul(*ns)
        });
        ago.map(Since::Ago).ok_or_else(|| {
            format!("{text:?} is neither a day (2026-05-12), a time (12h, 30d, 8w, 1y) nor the number of a baseline (41)")
        })
    }
}

impl Since {
    /// Whether a baseline was taken since, `now_ns` being the nanoseconds since 1970. One without a time was, as far as is known.
    pub fn contains(self, entry: &Entry, now_ns: u64) -> bool {
        let from = match self {
            Since::Number(number) => return entry.record.number >= number,
            Since::Day(from) => from,
            Since::Ago(ns) => now_ns.saturating_sub(ns),
        };
        entry.taken_ns().is_none_or(|it| it >= from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::history;
    use super::*;

    #[test]
    fn a_day_a_time_and_a_number_are_told_apart() {
        let of = |text: &str| text.parse::<Since>();
        assert_eq!(of("1970-01-02"), Ok(Since::Day(DAY)));
        assert_eq!((of("30d"), of("2w")), (Ok(Since::Ago(30 * DAY)), Ok(Since::Ago(14 * DAY))));
        assert_eq!(of("41"), Ok(Since::Number(41)));
        for text in ["", "yesterday", "d", "-3d", "2026-02-30", "99999999999999y"] {
            assert!(of(text).unwrap_err().contains("number of a baseline"), "{text}");
        }
    }

    #[test]
    fn baselines_are_those_from_then_on() {
        let history = history(&[("2.1", 1.0), ("2.1", 1.0), ("2.1", 1.0)]);
        let now = history.entries[2].taken_ns().unwrap() + DAY / 2;
        let since = |text: &str| -> Vec<u64> {
            let since: Since = text.parse().unwrap();
            let found = history.entries.iter().filter(|it| since.contains(it, now));
            found.map(|it| it.record.number).collect()
        };
        assert_eq!(since("2026-05-02"), [2, 3]);
        assert_eq!(since("12h"), [3]);
        assert_eq!(since("2"), [2, 3]);
        assert_eq!(since("1y"), [1, 2, 3]);
    }
}
