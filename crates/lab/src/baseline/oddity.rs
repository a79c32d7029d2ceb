//! What is odd in a history: damage, numbers and times that cannot be.

use super::history::{Damage, Entry, History};
use std::collections::BTreeSet;
use std::time::Duration;

/// What has to be known of a history besides its baselines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// A line could not be read.
    Damaged(Damage),
    /// Baselines are missing, which a damaged line may have held.
    Missing {
        /// The number of the first of them.
        first: u64,
        /// The number of the last.
        last: u64,
    },
    /// A baseline has the number of one before it.
    Repeated {
        /// The number of both.
        number: u64,
        /// The line of the second.
        line: usize,
    },
    /// A baseline has a lower number than one before it, and no earlier one has that number.
    Unordered {
        /// Its number.
        number: u64,
        /// Its line.
        line: usize,
    },
    /// A baseline has no time that can be.
    Untimed {
        /// Its number.
        number: u64,
        /// Its line.
        line: usize,
    },
    /// The clock of the machine showed an earlier time than for the baseline before.
    WentBack {
        /// The number of the baseline.
        number: u64,
        /// By how much.
        by: Duration,
    },
    /// A baseline has a time that is yet to come.
    Ahead {
        /// The number of the baseline.
        number: u64,
        /// By how much.
        by: Duration,
    },
}

/// Clocks are set: an hour ahead of now is no oddity.
const TOLERATED_NS: u64 = 3_600_000_000_000;

impl History {
    /// What has to be known of it, `now_ns` being the nanoseconds since 1970: damaged lines, then numbers, then times.
    pub fn oddities(&self, now_ns: u64) -> Vec<Oddity> {
        let damaged = self.damage.iter().cloned().map(Oddity::Damaged);
        damaged.chain(self.missing()).chain(self.unordered()).chain(self.times(now_ns)).collect()
    }

    /// Numbers that no baseline has.
    fn missing(&self) -> Vec<Oddity> {
        let numbers: BTreeSet<u64> = self.entries.iter().map(|it| it.record.number).collect();
        let before = std::iter::once(0).chain(numbers.iter().copied());
        let gap = |(one, next): (u64, &u64)| {
            (one + 1 < *next).then(|| Oddity::Missing { first: one + 1, last: next - 1 })
        };
        before.zip(&numbers).filter_map(gap).collect()
    }

    /// Baselines whose number is not beyond all before them.
    fn unordered(&self) -> Vec<Oddity> {
        let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
        for Entry { record, line, .. } in &self.entries {
            let (number, line) = (record.number, *line);
            if seen.last().is_some_and(|it| number < *it) && !seen.contains(&number) {
                found.push(Oddity::Unordered { number, line });
            }
            if !seen.insert(number) {
                found.push(Oddity::Repeated { number, line });
            }
        }
        found
    }

    /// Times that are none, that lie before the one before, or that are yet to come.
    fn times(&self, now_ns: u64) -> Vec<Oddity> {
        let (mut before, mut found) = (None, Vec::new());
        for entry in &self.entries {
            let number = entry.record.number;
            let Some(taken) = entry.taken_ns() else {
                found.push(Oddity::Untimed { number, line: entry.line });
                continue;
            };
            let back = before.and_then(|it: u64| it.checked_sub(taken)).filter(|it| *it > 0);
            found.extend(back.map(|by| Oddity::WentBack { number, by: Duration::from_nanos(by) }));
            let ahead = taken.checked_sub(now_ns).filter(|it| *it > TOLERATED_NS);
            found.extend(ahead.map(|by| Oddity::Ahead { number, by: Duration::from_nanos(by) }));
            before = Some(taken);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{day, machine, made, moment};
    use super::super::history::Moment;
    use super::*;

    /// After all that the tests made up.
    const NOW: u64 = 1_790_000_000_000_000_000;

    fn numbers(history: &History) -> Vec<u64> {
        history.entries.iter().map(|it| it.record.number).collect()
    }

    #[test]
    fn a_clock_that_went_back_is_told_and_the_order_is_that_of_the_numbers() {
        let mut history = History::default();
        for (boot, at) in [(1, day(20)), (2, day(3)), (3, day(21))] {
            let moment = Moment { at, ..moment(boot) };
            history.add(moment, &machine("2.1"), made(100.0)).unwrap();
        }
        assert_eq!(numbers(&history), [1, 2, 3]);
        let days = Duration::from_secs(17 * 86_400);
        assert_eq!(history.oddities(NOW), [Oddity::WentBack { number: 2, by: days }]);
    }

    /// What an editor, a copy or a bit that flipped may leave.
    #[test]
    fn numbers_and_times_that_cannot_be_are_told_with_their_lines_and_nothing_is_made_of_them() {
        let (mut history, mut file) = (History::default(), Vec::new());
        for boot in 1..=3 {
            file.extend(history.add(moment(boot), &machine("2.1"), made(100.0)).unwrap());
        }
        let text = String::from_utf8(file).unwrap();
        let of = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            History::parse(text.replacen(from, to, 1).as_bytes())
        };
        let odd = |history: &History| history.oddities(NOW);
        let twice = of("\"number\":3", "\"number\":2");
        assert_eq!(numbers(&twice), [1, 2, 2]);
        assert_eq!(odd(&twice), [Oddity::Repeated { number: 2, line: 4 }]);
        let turned = of("\"number\":1", "\"number\":4");
        assert_eq!(
            odd(&turned)[1..],
            [Oddity::Unordered { number: 2, line: 3 }, Oddity::Unordered { number: 3, line: 4 }]
        );
        let huge = of("\"number\":2", "\"number\":18446744073709551615");
        assert_eq!((numbers(&huge), huge.damage[0].line), (vec![1, 3], 3));
        assert!(odd(&huge).contains(&Oddity::Missing { first: 2, last: 2 }));
        let mut long = of("\"number\":3", "\"number\":1000000");
        long.add(moment(9), &machine("2.1"), made(100.0)).unwrap();
        assert_eq!(numbers(&long), [1, 2, 1_000_000, 1_000_000], "it is read again");
        for at in ["1970-01-01T00:00:12.000Z", "tomorrow", "9999-01-01T00:00:00.000Z"] {
            let untimed = of("2026-05-02T08:00:00.000Z", at);
            assert_eq!(odd(&untimed), [Oddity::Untimed { number: 2, line: 3 }], "{at}");
            assert_eq!(
                (untimed.entries[1].taken_ns(), untimed.entries[1].boot_began_ns()),
                (None, None)
            );
        }
        let ahead = odd(&of("2026-05-03T08:00:00.000Z", "2088-05-03T08:00:00.000Z"));
        assert!(matches!(&ahead[..], [Oddity::Ahead { number: 3, .. }]), "{ahead:?}");
        let slow = of("\"single-core\":[100.0", "\"single-core\":[-100.0");
        assert_eq!(
            slow.damage,
            [Damage {
                line: 2,
                why: "its single-core speed has a value that no machine has".to_owned()
            }]
        );
        let flipped = of("\"2.1\"", "\"2.7\"");
        assert_eq!((flipped.damage[0].line, flipped.entries.len()), (1, 3));
        assert!(flipped.entries.iter().all(|it| it.settings.is_none()));
    }
}
