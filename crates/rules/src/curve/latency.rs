//! Latency by message size: it should never fall while messages grow.

use facts::links::perftest::Latency;

/// What a curve of latencies says.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// Of the smallest message: what a message takes at least.
    pub smallest: Latency,
    /// Of the largest.
    pub largest: Latency,
    /// Sizes that take longer than a larger one.
    pub bumps: Vec<Bump>,
    /// How much longer that has to be.
    pub threshold: f64,
}

/// A size that takes longer than a larger one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bump {
    /// The size.
    pub at: Latency,
    /// The fastest of the larger sizes.
    pub larger: Latency,
    /// How much longer it takes, 1 being as long again.
    pub longer: f64,
}

/// A tenth is beyond what runs of one size differ by in their typical value.
const CLEAR: f64 = 0.1;

/// Reads a curve, ascending by size; `None` where it is empty.
pub fn latencies(points: &[Latency]) -> Option<Latencies> {
    let (smallest, largest) = (*points.first()?, *points.last()?);
    let mut bumps = Vec::new();
    let mut fastest = largest;
    for &point in points.iter().rev() {
        let longer = point.typical.as_secs_f64() / fastest.typical.as_secs_f64().max(1e-9) - 1.0;
        if longer > CLEAR {
            bumps.push(Bump { at: point, larger: fastest, longer });
        }
        if point.typical <= fastest.typical {
            fastest = point;
        }
    }
    bumps.reverse();
    Some(Latencies { smallest, largest, bumps, threshold: CLEAR })
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::links::perftest::{Curve, Figures};

    fn read(rows: &str) -> Option<Latencies> {
        let text = format!("#bytes #iterations t_min[usec] t_max[usec] t_typical[usec]\n{rows}");
        match Curve::parse(&text).unwrap().figures {
            Figures::Latency(points) => latencies(&points),
            Figures::Bandwidth(_) => panic!("{text}"),
        }
    }

    #[test]
    fn a_size_that_takes_longer_than_a_larger_one_is_named() {
        let latencies = read(
            "2 9 1.0 9.0 1.10\n64 9 1 9 1.20\n128 9 1 9 1.90\n256 9 1 9 1.50\n512 9 1 9 2.00\n",
        );
        let latencies = latencies.unwrap();
        let [bump] = &latencies.bumps[..] else { panic!("{latencies:?}") };
        assert_eq!((bump.at.message.0, bump.larger.message.0), (128, 256));
        assert_eq!(format!("{:.2}", bump.longer), "0.27");
        assert_eq!(latencies.smallest.typical.as_nanos(), 1100);
    }

    #[test]
    fn a_curve_that_rises_has_no_bump_and_zeros_are_no_division() {
        assert_eq!(read("2 9 1 9 1.10\n4 9 1 9 1.05\n8 9 1 9 3.00\n").unwrap().bumps, []);
        assert_eq!(read("2 9 0 0 0.00\n4 9 0 0 0.00\n").unwrap().bumps, []);
        assert_eq!(latencies(&[]), None);
    }
}
