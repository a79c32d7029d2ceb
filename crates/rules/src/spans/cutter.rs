//! Cuts the samples of a recording into pieces of equal length.

use crate::segment::{Gap, Segment};
use facts::tape::Sample;

/// Takes samples one by one and gives each piece as it ends. The last sample of a piece is the first of the next.
#[derive(Debug)]
pub struct Cutter {
    every_ns: u64,
    first_ns: u64,
    current: Option<Segment>,
}

impl Cutter {
    /// Pieces of this many nanoseconds, counted from the first sample.
    pub fn new(every_ns: u64) -> Cutter {
        Cutter { every_ns: every_ns.max(1), first_ns: 0, current: None }
    }

    /// The next sample, and the piece that it ends. A piece ends early where something began again: a CPU that came or went,
    /// another boot, a hole in the recording.
    pub fn push(&mut self, sample: Sample) -> Option<Segment> {
        let Some(current) = &mut self.current else {
            self.first_ns = sample.counters.at.raw_ns;
            self.current = Some(Segment::begin(sample));
            return None;
        };
        if Gap::between(&current.after, &sample.counters, self.first_ns).is_some() {
            if sample.counters.at.raw_ns < self.first_ns {
                // Another boot, whose clock begins again.
                self.first_ns = sample.counters.at.raw_ns;
            }
            return whole(self.current.replace(Segment::begin(sample)));
        }
        let step_ns = sample.counters.at.raw_ns.saturating_sub(current.after.at.raw_ns);
        current.extend(sample);
        // Samples are milliseconds early or late: the one that is nearest to a boundary is it.
        let place = |raw_ns: u64| {
            raw_ns.saturating_sub(self.first_ns).saturating_add(step_ns / 2) / self.every_ns
        };
        let (began, ended) = (place(current.before.at.raw_ns), place(current.after.at.raw_ns));
        if ended <= began {
            return None;
        }
        let next = Segment::begin(Sample::from(current.after.clone()));
        whole(self.current.replace(next))
    }

    /// The last piece, which may be shorter.
    pub fn finish(self) -> Option<Segment> {
        whole(self.current)
    }
}

/// A piece of one sample is none.
fn whole(segment: Option<Segment>) -> Option<Segment> {
    segment.filter(|it| it.samples > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::counters;

    /// The ends of the pieces, in milliseconds.
    fn cut(every_ms: u64, samples: &[&str]) -> Vec<(u64, u64)> {
        let mut cutter = Cutter::new(every_ms * 1_000_000);
        let mut pieces: Vec<Segment> = Vec::new();
        for text in samples {
            pieces.extend(cutter.push(Sample::from(counters(text))));
        }
        pieces.extend(cutter.finish());
        let ms = |ns: u64| ns / 1_000_000;
        pieces.iter().map(|it| (ms(it.before.at.raw_ns), ms(it.after.at.raw_ns))).collect()
    }

    fn at(ms: &[u64]) -> Vec<String> {
        ms.iter().map(|it| format!("at {it}\nCpuTimes user\n0 {it}\n")).collect()
    }

    fn cut_at(every_ms: u64, ms: &[u64]) -> Vec<(u64, u64)> {
        let texts = at(ms);
        cut(every_ms, &texts.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn pieces_follow_each_other_and_the_last_may_be_short() {
        let pieces = cut_at(2000, &[5000, 6000, 7000, 8000, 9000, 10_000]);
        assert_eq!(pieces, [(5000, 7000), (7000, 9000), (9000, 10_000)]);
    }

    #[test]
    fn a_sample_that_is_a_little_early_or_late_is_the_boundary() {
        let pieces = cut_at(2000, &[0, 1003, 1998, 3001, 4004, 4997, 6001]);
        assert_eq!(pieces, [(0, 1998), (1998, 4004), (4004, 6001)]);
    }

    #[test]
    fn pieces_shorter_than_the_samples_are_those_of_the_samples() {
        assert_eq!(cut_at(100, &[0, 1000, 2000]), [(0, 1000), (1000, 2000)]);
        assert_eq!(cut_at(100, &[7]), []);
    }

    #[test]
    fn a_piece_ends_where_a_cpu_came_or_went() {
        let both = |ms: u64| format!("at {ms}\nCpuTimes user\n0 {ms}\n1 {ms}\n");
        let texts = [at(&[0, 1000]), vec![both(2000), both(3000), both(4000)]].concat();
        let pieces = cut(10_000, &texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(pieces, [(0, 1000), (2000, 4000)]);
    }
}
