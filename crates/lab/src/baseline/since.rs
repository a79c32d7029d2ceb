//! From when on changes are wanted.

use super::history::{Entry, History};
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
                .ok_or_else(|| format!("{text} is before 1970, or after 2554"));
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
    /// Refuses a time since which there is no baseline, and a number that none has. Of an empty history nothing is said.
    ///
    /// Errors: what there is, in words.
    pub fn check(self, history: &History, now_ns: u64) -> Result<(), String> {
        let mut entries = history.entries.iter();
        let is_there = match self {
            Since::Number(number) => entries.any(|it| it.record.number == number),
            Since::Day(_) | Since::Ago(_) => entries.any(|it| self.contains(it, now_ns)),
        };
        if is_there {
            return Ok(());
        }
        let Some(kept) = kept(history) else { return Ok(()) };
        Err(match self {
            Since::Number(number) => format!("there is no baseline {number}: {kept}"),
            Since::Day(_) | Since::Ago(_) => format!("no baseline was taken since then: {kept}"),
        })
    }

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

/// `baselines 1 to 9 are kept, of 2026-05-01 to 2026-05-09`; `None` where none is.
fn kept(history: &History) -> Option<String> {
    let numbers = history.entries.iter().map(|it| it.record.number);
    let (first, last) = (numbers.clone().min()?, numbers.max()?);
    let mut days: Vec<String> = history.entries.iter().filter_map(|it| it.record.day()).collect();
    days.sort_unstable();
    days.dedup();
    let days = match &*days {
        [] => String::new(),
        [day] => format!(", of {day}"),
        [first, .., last] => format!(", of {first} to {last}"),
    };
    Some(match first == last {
        true => format!("baseline {first} alone is kept{days}"),
        false => format!("baselines {first} to {last} are kept{days}"),
    })
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
    fn what_begins_after_the_last_one_is_refused_with_what_there_is() {
        let three = history(&[("2.1", 1.0), ("2.1", 1.0), ("2.1", 1.0)]);
        let now = three.entries[2].taken_ns().unwrap() + 5 * DAY;
        let refused = |text: &str| text.parse::<Since>().unwrap().check(&three, now).unwrap_err();
        let kept = "baselines 1 to 3 are kept, of 2026-05-01 to 2026-05-03";
        for text in ["0", "4", "99", "18446744073709551615"] {
            assert_eq!(refused(text), format!("there is no baseline {text}: {kept}"));
        }
        for text in ["2026-05-04", "2400-01-01", "12h"] {
            assert_eq!(refused(text), format!("no baseline was taken since then: {kept}"));
        }
        for text in ["1", "3", "2026-05-03", "6d", "1970-01-01"] {
            assert_eq!(text.parse::<Since>().unwrap().check(&three, now), Ok(()), "{text}");
        }
        assert_eq!(Since::Number(9).check(&History::default(), now), Ok(()));
        let one = history(&[("2.1", 1.0)]);
        let why = Since::Number(2).check(&one, now).unwrap_err();
        assert!(why.ends_with("baseline 1 alone is kept, of 2026-05-01"), "{why}");
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
