//! The numbers that a client printed, over any piece of time.

use facts::client::{ClientMetric, ClientSample, Heard, MarkText};
use facts::{Fact, Missing};

/// All numbers and marks of a client in a recording.
///
/// A progress report describes the time since the one before it: `tps` that pgbench prints at 12:00:10 with `-P 10` are those from
/// 12:00:00 on. So a number counts for that time, and not for the moment at which it was printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientNumbers {
    /// What its numbers are; `None` where none was listened to.
    pub metric: Option<ClientMetric>,
    heard: Vec<Heard>,
    marks: Vec<MarkText>,
}

/// A pause between two reports that is longer than this many usual ones is none that the second describes: the client was
/// started anew, or loaded its data.
const LONGEST_PAUSE: u64 = 3;

/// A piece of which less than this is described has no number.
const LEAST_DESCRIBED: f64 = 0.5;

impl ClientNumbers {
    /// What a sample heard.
    pub fn push(&mut self, sample: &ClientSample) {
        if self.metric.is_none() {
            self.metric.clone_from(&sample.metric);
        }
        self.heard.extend_from_slice(&sample.heard);
        self.marks.extend_from_slice(&sample.marks);
    }

    /// The marks from `from` to before `to`, by CLOCK_MONOTONIC_RAW in nanoseconds.
    pub fn marks(&self, from: u64, to: u64) -> Vec<MarkText> {
        self.marks.iter().filter(|it| (from..to).contains(&it.at)).cloned().collect()
    }

    /// The mean over the time from `from` to `to`, by CLOCK_MONOTONIC_RAW in nanoseconds.
    pub fn mean(&self, from: u64, to: u64) -> Fact<f64> {
        if self.metric.is_none() {
            return Err(Missing::not_collected("numbers of a client"));
        }
        let (mut sum, mut described_ns) = (0.0, 0.0);
        for (began, it) in self.described() {
            let ns = it.at.min(to).saturating_sub(began.max(from)) as f64;
            sum += ns * it.value;
            described_ns += ns;
        }
        if described_ns < LEAST_DESCRIBED * to.saturating_sub(from) as f64 || described_ns <= 0.0 {
            let why = "it printed none for this time, or for less than half of it";
            return Err(Missing::not_here("a number of the client", why));
        }
        Ok(sum / described_ns)
    }

    /// Each number with the beginning of the time that it describes.
    fn described(&self) -> impl Iterator<Item = (u64, Heard)> {
        let usual = self.usual_ns();
        let before = std::iter::once(None).chain(self.heard.iter().map(|it| Some(it.at)));
        before.zip(&self.heard).map(move |(before, it)| {
            let since = before.map_or(usual, |before| it.at.saturating_sub(before));
            let length = if since > usual.saturating_mul(LONGEST_PAUSE) { usual } else { since };
            (it.at.saturating_sub(length), *it)
        })
    }

    /// How often it reports: the median of the times between two numbers in nanoseconds; 0 where there is but one.
    pub fn usual_ns(&self) -> u64 {
        let pairs = self.heard.iter().zip(self.heard.iter().skip(1));
        let mut lengths: Vec<u64> = pairs.map(|(a, b)| b.at.saturating_sub(a.at)).collect();
        lengths.sort_unstable();
        lengths.get(lengths.len() / 2).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn numbers(heard: &[(u64, f64)]) -> ClientNumbers {
        let metric = Some(ClientMetric { client: "pgbench".to_owned(), unit: "tps".to_owned() });
        let heard = heard.iter().map(|&(s, value)| Heard { at: s * S, value }).collect();
        let marks = vec![MarkText { at: 5 * S, text: "vacuum".to_owned() }];
        let mut numbers = ClientNumbers::default();
        numbers.push(&ClientSample { metric, heard, marks });
        numbers
    }

    #[test]
    fn a_number_is_that_of_the_time_before_it_was_printed() {
        let numbers = numbers(&[(20, 100.0), (30, 200.0), (40, 60.0)]);
        assert_eq!(numbers.mean(20 * S, 30 * S), Ok(200.0));
        assert_eq!(numbers.mean(25 * S, 35 * S), Ok(130.0));
        // The first describes as long a time as the others.
        assert_eq!(numbers.mean(12 * S, 18 * S), Ok(100.0));
    }

    #[test]
    fn a_time_that_no_number_describes_has_none() {
        let numbers = numbers(&[(20, 100.0), (30, 200.0), (90, 60.0), (100, 60.0)]);
        assert!(numbers.mean(40 * S, 70 * S).is_err());
        assert_eq!(numbers.mean(80 * S, 90 * S), Ok(60.0));
        // The end of a run: half a second of ten.
        assert!(numbers.mean(99 * S, 110 * S).is_err());
        assert!(ClientNumbers::default().mean(0, S).is_err());
    }

    #[test]
    fn a_mark_is_in_the_piece_in_which_it_was_read() {
        let numbers = numbers(&[]);
        assert_eq!(numbers.marks(5 * S, 6 * S).len(), 1);
        assert!(numbers.marks(4 * S, 5 * S).is_empty());
    }
}
