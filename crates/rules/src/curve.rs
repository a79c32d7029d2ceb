//! What a curve by message size says: where bandwidth settles, where it dips on the way there, and where latency does not rise
//! with the size as it should.
//!
//! A larger message has fewer headers and fewer requests for the same data: its bandwidth should never be lower. A curve does
//! not show why it dips: the way of sending changes there (data inside of the request, another protocol, more packets), and
//! only the driver or the library knows which.

use facts::links::perftest::{Bandwidth, Latency, MessagesPerSecond};
use facts::{Bytes, BytesPerSecond};

/// What a curve of bandwidths says.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Where it settles; `None` where it still rises at the largest message.
    pub plateau: Option<Plateau>,
    /// The message size that moved the most.
    pub best: Bandwidth,
    /// Sizes that are slower than a smaller one.
    pub dips: Vec<Dip>,
    /// By how much a size has to be slower than a smaller one.
    pub threshold: f64,
    /// The size of which the most messages went in a second.
    pub busiest: (Bytes, MessagesPerSecond),
    /// Sizes without a figure: 0.00 is what very old versions of perftest print where the CPUs' clocks differ.
    pub without: Vec<Bytes>,
}

/// Reads a curve, ascending by size; `None` where no size has a figure.
pub fn bandwidths(points: &[Bandwidth]) -> Option<Reading> {
    let has_figure = |it: &&Bandwidth| it.average.0 > 0;
    let measured: Vec<Bandwidth> = points.iter().filter(has_figure).copied().collect();
    let best = *measured.iter().max_by_key(|it| it.average)?;
    let busiest = measured.iter().max_by_key(|it| it.messages())?;
    let plateau = plateau(&measured);
    let threshold = dip_threshold(plateau.as_ref());
    Some(Reading {
        best,
        dips: dips(&measured, threshold),
        threshold,
        busiest: (busiest.message, busiest.messages()),
        without: points.iter().filter(|it| it.average.0 == 0).map(|it| it.message).collect(),
        plateau,
    })
}

/// A run of message sizes that move the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Plateau {
    /// The median of their averages.
    pub rate: BytesPerSecond,
    /// The smallest of them.
    pub from: Bytes,
    /// The largest of them.
    pub to: Bytes,
    /// How far they are apart, 1 being all of the rate.
    pub spread: f64,
}

/// Sizes this near to the best are taken for the same: runs of one size differ by a percent or two, and each doubling
/// on the way up adds far more.
const NEAR: f64 = 0.95;
/// Two sizes may be alike by chance, at the end of a curve that rises.
const FEWEST: usize = 3;

/// The run of sizes around the best one that are near to it. The points are ascending by size, and none is 0.
fn plateau(points: &[Bandwidth]) -> Option<Plateau> {
    let (top, best) = points.iter().enumerate().max_by_key(|(_, it)| it.average)?;
    let is_near = |it: &&Bandwidth| it.average.share_of(best.average) >= NEAR;
    let n_below = points[..top].iter().rev().take_while(is_near).count();
    let n_above = points[top..].iter().take_while(is_near).count();
    let run = &points[top - n_below..top + n_above];
    let mut rates: Vec<BytesPerSecond> = run.iter().map(|it| it.average).collect();
    rates.sort_unstable();
    let (lowest, highest) = (*rates.first()?, *rates.last()?);
    let rate = *rates.get(rates.len() / 2)?;
    (run.len() >= FEWEST).then(|| Plateau {
        rate,
        from: run[0].message,
        to: run[run.len() - 1].message,
        spread: highest.share_of(rate) - lowest.share_of(rate),
    })
}

/// Sizes in a row that move less than a smaller size.
#[derive(Clone, Debug, PartialEq)]
pub struct Dip {
    /// The smallest of them.
    pub first: Bytes,
    /// The largest of them.
    pub last: Bytes,
    /// The one that lost the most.
    pub lowest: Bandwidth,
    /// The fastest of the smaller sizes.
    pub before: Bandwidth,
    /// The next size after them; `None` where bandwidth does not recover.
    pub after: Option<Bandwidth>,
    /// How much of the rate before is lost at the lowest, 1 being all.
    pub lost: f64,
}

/// A tenth is far beyond what runs of one size differ by.
const CLEAR: f64 = 0.1;
/// On the plateau sizes differ by noise alone: a dip is at least three times as deep.
const TIMES_THE_NOISE: f64 = 3.0;

/// How much slower than a smaller size is clearly slower.
fn dip_threshold(plateau: Option<&Plateau>) -> f64 {
    plateau.map_or(CLEAR, |it| CLEAR.max(TIMES_THE_NOISE * it.spread))
}

/// The points are ascending by size, and none is 0.
fn dips(points: &[Bandwidth], threshold: f64) -> Vec<Dip> {
    let mut dips: Vec<Dip> = Vec::new();
    let mut best: Option<Bandwidth> = None;
    let mut is_open = false;
    for &point in points {
        let lost = best.map_or(0.0, |it| 1.0 - point.average.share_of(it.average));
        match (best, dips.last_mut()) {
            (Some(_), Some(dip)) if is_open && lost > threshold => deepen(dip, point, lost),
            (Some(before), _) if lost > threshold => {
                let message = point.message;
                let dip =
                    Dip { first: message, last: message, lowest: point, before, after: None, lost };
                dips.push(dip);
                is_open = true;
            }
            (_, dip) => {
                if let (true, Some(dip)) = (is_open, dip) {
                    dip.after = Some(point);
                }
                is_open = false;
            }
        }
        if best.is_none_or(|it| it.average < point.average) {
            best = Some(point);
        }
    }
    dips
}

fn deepen(dip: &mut Dip, point: Bandwidth, lost: f64) {
    dip.last = point.message;
    if lost > dip.lost {
        (dip.lowest, dip.lost) = (point, lost);
    }
}

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
const CLEARLY_LONGER: f64 = 0.1;

/// Reads a curve, ascending by size; `None` where it is empty.
pub fn latencies(points: &[Latency]) -> Option<Latencies> {
    let (smallest, largest) = (*points.first()?, *points.last()?);
    let mut bumps = Vec::new();
    let mut fastest = largest;
    for &point in points.iter().rev() {
        let longer = point.typical.as_secs_f64() / fastest.typical.as_secs_f64().max(1e-9) - 1.0;
        if longer > CLEARLY_LONGER {
            bumps.push(Bump { at: point, larger: fastest, longer });
        }
        if point.typical <= fastest.typical {
            fastest = point;
        }
    }
    bumps.reverse();
    Some(Latencies { smallest, largest, bumps, threshold: CLEARLY_LONGER })
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::links::perftest::{Curve, Figures};

    /// The shape of a QDR adapter's run: RDMA read, reliable connection, MTU 2048.
    const QDR: &str = "\
bytes,bw_average_mib_s
2,2.25
4,13.86
16,54.09
64,197.08
128,112.79
256,226.16
1024,900.82
4096,2434.48
8192,2915.82
65536,2940.98
1048576,2939.29
8388608,2938.80
";

    fn reading(csv: &str) -> Option<Reading> {
        match Curve::parse(csv).unwrap().figures {
            Figures::Bandwidth(points) => bandwidths(&points),
            Figures::Latency(_) => panic!("{csv}"),
        }
    }

    fn rows(rows: &[(u64, f64)]) -> String {
        let row = |(size, rate): &(u64, f64)| format!("{size},{rate:.2}\n");
        format!("bytes,bw_average_mib_s\n{}", rows.iter().map(row).collect::<String>())
    }

    #[test]
    fn the_plateau_is_where_larger_messages_move_no_more() {
        let plateau = reading(QDR).unwrap().plateau.unwrap();
        assert_eq!((plateau.from, plateau.to), (Bytes(8192), Bytes(8_388_608)));
        assert_eq!(format!("{:.2}", plateau.rate.mebibytes()), "2939.29");
        assert!((0.008..0.009).contains(&plateau.spread), "{plateau:?}");
    }

    #[test]
    fn a_dip_names_its_neighbours_and_its_depth() {
        let reading = reading(QDR).unwrap();
        let [dip] = &reading.dips[..] else { panic!("{:?}", reading.dips) };
        assert_eq!((dip.first, dip.last, dip.lowest.message), (Bytes(128), Bytes(128), Bytes(128)));
        assert_eq!((dip.before.message, dip.after.unwrap().message), (Bytes(64), Bytes(256)));
        assert_eq!(format!("{:.3}", dip.lost), "0.428");
        assert_eq!(dip.before.messages().0, 3_228_958);
        assert_eq!(dip.lowest.messages().0, 923_975);
    }

    #[test]
    fn small_messages_are_counted() {
        assert_eq!(reading(QDR).unwrap().busiest, (Bytes(4), MessagesPerSecond(3_633_315)));
    }

    #[test]
    fn a_curve_that_still_rises_has_no_plateau() {
        let rising = rows(&[(64, 10.0), (128, 20.0), (256, 40.0), (512, 80.0)]);
        let reading = reading(&rising).unwrap();
        assert_eq!((reading.plateau, reading.best.message), (None, Bytes(512)));
        assert_eq!(reading.dips, []);
    }

    #[test]
    fn a_dip_without_an_end_and_one_of_several_sizes_are_one_each() {
        let text = rows(&[
            (1, 10.0),
            (2, 5.0),
            (4, 6.0),
            (8, 20.0),
            (16, 99.0),
            (32, 100.0),
            (64, 100.0),
            (128, 70.0),
        ]);
        let dips = reading(&text).unwrap().dips;
        let ends =
            dips.iter().map(|it| (it.first.0, it.last.0, it.lowest.message.0, it.after.is_some()));
        let ends: Vec<_> = ends.collect();
        assert_eq!(ends, [(2, 4, 2, true), (128, 128, 128, false)]);
    }

    #[test]
    fn a_noisy_plateau_makes_nothing_of_a_difference_like_its_own() {
        let noisy = rows(&[(1, 88.0), (2, 77.0), (4, 96.0), (8, 100.0), (16, 95.5), (32, 99.0)]);
        let reading = reading(&noisy).unwrap();
        assert!(reading.threshold > 0.13, "{reading:?}");
        assert_eq!(reading.dips, []);
    }

    #[test]
    fn sizes_without_a_figure_are_told_apart_and_alone_they_are_no_curve() {
        let reading_of = reading(&rows(&[(2, 0.0), (4, 7.0), (8, 14.0)])).unwrap();
        assert_eq!(reading_of.without, [Bytes(2)]);
        assert_eq!(reading(&rows(&[(2, 0.0), (4, 0.0)])), None);
    }

    fn read_latencies(rows: &str) -> Option<Latencies> {
        let text = format!("#bytes #iterations t_min[usec] t_max[usec] t_typical[usec]\n{rows}");
        match Curve::parse(&text).unwrap().figures {
            Figures::Latency(points) => latencies(&points),
            Figures::Bandwidth(_) => panic!("{text}"),
        }
    }

    #[test]
    fn a_size_that_takes_longer_than_a_larger_one_is_named() {
        let latencies = read_latencies(
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
        assert_eq!(read_latencies("2 9 1 9 1.10\n4 9 1 9 1.05\n8 9 1 9 3.00\n").unwrap().bumps, []);
        assert_eq!(read_latencies("2 9 0 0 0.00\n4 9 0 0 0.00\n").unwrap().bumps, []);
        assert_eq!(latencies(&[]), None);
    }
}
