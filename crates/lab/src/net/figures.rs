//! What threads and programs found, as the figures of one message size.
//!
//! Peak and average as perftest has them (src/perftest_resources.c, print_report_bw): the average is all of it by the time from
//! begin to end, the peak the best of any part of the run, the whole included. Its parts are ranges of messages; a stream has
//! none, and what a reader finds in a full buffer is no speed of the wire, so parts are tenths of a second here.

use crate::known::Known;
use facts::links::perftest::{Bandwidth, MessagesPerSecond};
use facts::probe::ClockReading;
use facts::{Bytes, BytesPerSecond};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The length of the parts of which the best is the peak: half a dozen times what a full receive buffer of 6 MiB takes over
/// a wire of 400 MB/s, so that a thread which slept and then finds its buffer full has not seen a faster wire.
const PART: Duration = Duration::from_millis(100);

/// What arrived over one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Received {
    /// When START was there.
    pub(super) began: Instant,
    /// When the last byte that counts was.
    pub(super) ended: Instant,
    /// Without START and END.
    pub(super) bytes: u64,
    /// By [`PART`] since the beginning.
    pub(super) parts: Vec<u64>,
}

/// What arrived over all streams together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throughput {
    /// How many bytes arrived.
    pub bytes: u64,
    /// In which time, in nanoseconds: from the first stream's beginning to the last one's end.
    pub elapsed_ns: u64,
    /// The best of any tenth of a second, or of the whole.
    #[serde(with = "rate")]
    pub peak: BytesPerSecond,
}

/// Half of each round trip of a message size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latencies {
    /// How many there were.
    pub count: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The longest latency, in nanoseconds.
    pub max_ns: u64,
    /// Half of them took no longer.
    pub median_ns: u64,
    /// 99 of 100 took no longer.
    pub p99_ns: u64,
    /// 999 of 1000.
    pub p999_ns: u64,
    /// The mean latency, in nanoseconds.
    pub mean_ns: f64,
    /// How far they lie from it: the root of the mean square.
    pub deviation_ns: f64,
}

/// What a thread did for one message size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Its time on a CPU, in nanoseconds. Where the kernel accounts interrupts apart, theirs is not in it.
    pub cpu_ns: u64,
    /// Wall time, in nanoseconds.
    pub elapsed_ns: u64,
    /// The CPU that it was on at the end.
    pub cpu: u32,
    /// All that it was seen on, as the kernel writes lists.
    pub cpus: String,
    /// The clock of that CPU right after the work, in hertz.
    pub clock_hz: Known<f64>,
}

/// What a program did, and the clock of its CPU right after it.
#[derive(Clone, Debug)]
pub struct Ran {
    /// From its start to its end.
    pub work: Work,
    /// `None` where it could not be seen.
    pub clock: Option<ClockReading>,
}

impl Received {
    pub(super) fn begin(time: Instant) -> Received {
        Received { began: time, ended: time, bytes: 0, parts: Vec::new() }
    }

    /// Counts what was there at `time`, unless that is beyond the window.
    pub(super) fn add(&mut self, bytes: u64, time: Instant, window: Option<Duration>) {
        let since = time.saturating_duration_since(self.began);
        if let Some(window) = window.filter(|it| since > *it) {
            self.ended = self.began + window;
            return;
        }
        self.bytes += bytes;
        self.ended = time;
        let part = (since.as_nanos() / PART.as_nanos()) as usize;
        if part >= self.parts.len() {
            self.parts.resize(part + 1, 0);
        }
        if let Some(it) = self.parts.get_mut(part) {
            *it += bytes;
        }
    }
}

impl Throughput {
    /// `None` where there is no stream.
    pub(super) fn of(received: &[Received]) -> Option<Throughput> {
        let began = received.iter().map(|it| it.began).min()?;
        let ended = received.iter().map(|it| it.ended).max()?;
        let elapsed = ended.saturating_duration_since(began);
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let bytes = received.iter().map(|it| it.bytes).sum();
        // The last part is no whole one.
        let n_parts = (elapsed.as_nanos() / PART.as_nanos()) as usize;
        let part = |at: usize| received.iter().filter_map(|it| it.parts.get(at)).sum::<u64>();
        let best = (0..n_parts).map(part).max().unwrap_or_default();
        let part_ns = u64::try_from(PART.as_nanos()).unwrap_or(u64::MAX);
        let peak = per_second(best, part_ns).max(per_second(bytes, elapsed_ns));
        Some(Throughput { bytes, elapsed_ns, peak: BytesPerSecond(peak) })
    }

    /// As a line of perftest's table.
    pub fn bandwidth(&self, message: Bytes) -> Bandwidth {
        let iterations = self.bytes / message.0.max(1);
        Bandwidth {
            message,
            iterations: Some(iterations),
            peak: Some(self.peak),
            average: BytesPerSecond(per_second(self.bytes, self.elapsed_ns)),
            rate: Some(MessagesPerSecond(per_second(iterations, self.elapsed_ns))),
        }
    }
}

impl Latencies {
    /// `None` where there is none.
    pub fn of(mut halves_ns: Vec<u64>) -> Option<Latencies> {
        halves_ns.sort_unstable();
        let (min_ns, max_ns) = (*halves_ns.first()?, *halves_ns.last()?);
        // The shortest that this share of all is no longer than.
        let rank = |share: f64| {
            let rank = (share * halves_ns.len() as f64).ceil() as usize;
            halves_ns.get(rank.saturating_sub(1)).copied().unwrap_or(max_ns)
        };
        let count = halves_ns.len() as f64;
        let mean_ns = halves_ns.iter().map(|it| *it as f64).sum::<f64>() / count;
        let squares = halves_ns.iter().map(|it| (*it as f64 - mean_ns).powi(2));
        Some(Latencies {
            count: halves_ns.len() as u64,
            min_ns,
            max_ns,
            median_ns: rank(0.5),
            p99_ns: rank(0.99),
            p999_ns: rank(0.999),
            mean_ns,
            deviation_ns: (squares.sum::<f64>() / count).sqrt(),
        })
    }
}

impl Work {
    /// How much of its time it was on a CPU, 1 being all.
    pub fn share(&self) -> f64 {
        self.cpu_ns as f64 / self.elapsed_ns.max(1) as f64
    }
}

/// Rounded; 0 of no time.
fn per_second(count: u64, ns: u64) -> u64 {
    let per_second =
        (u128::from(count) * 1_000_000_000 + u128::from(ns / 2)).checked_div(ns.into());
    per_second.map_or(0, |it| u64::try_from(it).unwrap_or(u64::MAX))
}

/// A rate in JSON: its number.
mod rate {
    use facts::BytesPerSecond;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        rate: &BytesPerSecond,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        rate.0.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BytesPerSecond, D::Error> {
        u64::deserialize(from).map(BytesPerSecond)
    }
}

#[cfg(test)]
mod tests {
    use super::super::channel::now;
    use super::*;

    #[test]
    fn streams_are_added_and_the_best_tenth_of_a_second_is_the_peak() {
        let began = now();
        let ms = Duration::from_millis;
        let received = |from, to, parts: &[u64]| Received {
            began: began + ms(from),
            ended: began + ms(to),
            bytes: parts.iter().sum(),
            parts: parts.to_vec(),
        };
        // 230 ms: two whole parts, and the best of both streams together is the second one.
        let both = [received(0, 220, &[100, 300, 900]), received(10, 230, &[200, 50, 0])];
        let moved = Throughput::of(&both).unwrap();
        assert_eq!((moved.bytes, moved.elapsed_ns), (1550, 230_000_000));
        assert_eq!(moved.peak, BytesPerSecond(6739));
        let steady = [received(0, 250, &[700, 300, 10])];
        assert_eq!(Throughput::of(&steady).unwrap().peak, BytesPerSecond(7000));
        assert_eq!(Throughput::of(&[]), None);
    }

    #[test]
    fn a_run_without_a_whole_part_has_the_average_for_a_peak() {
        let began = now();
        let ended = began + Duration::from_millis(2);
        let moved =
            Throughput::of(&[Received { began, ended, bytes: 2001, parts: vec![2001] }]).unwrap();
        let line = moved.bandwidth(Bytes(2));
        assert_eq!((line.average.0, line.peak), (1_000_500, Some(BytesPerSecond(1_000_500))));
        assert_eq!((line.iterations, line.rate), (Some(1000), Some(MessagesPerSecond(500_000))));
    }

    #[test]
    fn no_time_is_no_rate_and_a_great_one_does_not_wrap() {
        assert_eq!((per_second(5, 0), per_second(u64::MAX, 1)), (0, u64::MAX));
        assert_eq!(per_second(1 << 40, 1_000_000_000), 1 << 40);
    }

    #[test]
    fn latencies_are_told_by_rank_and_one_alone_is_all_of_them() {
        let latencies = Latencies::of((1..=2000).rev().collect()).unwrap();
        let Latencies { count, min_ns, max_ns, median_ns, p99_ns, p999_ns, .. } = latencies;
        assert_eq!((count, min_ns, max_ns), (2000, 1, 2000));
        assert_eq!((median_ns, p99_ns, p999_ns), (1000, 1980, 1998));
        assert!(
            (latencies.mean_ns - 1000.5).abs() < 1e-9
                && (latencies.deviation_ns - 577.35).abs() < 0.01
        );
        let one = Latencies::of(vec![7]).unwrap();
        assert_eq!((one.min_ns, one.median_ns, one.p999_ns, one.max_ns), (7, 7, 7, 7));
        assert!(one.deviation_ns.abs() < f64::EPSILON);
        assert_eq!(Latencies::of(Vec::new()), None);
    }
}
