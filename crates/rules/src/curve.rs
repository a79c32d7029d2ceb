//! What a curve by message size says: where bandwidth settles, where it dips on the way there, and where latency does not
//! rise with the size as it should.
//!
//! It cannot know why: a dip is where the way of sending changes (data inside of the request, another protocol, more
//! packets), and what changed is the driver's or the library's to tell.

mod dips;
mod latency;
mod plateau;

pub use dips::Dip;
pub use latency::{Bump, Latencies, latencies};
pub use plateau::Plateau;

use facts::Bytes;
use facts::links::perftest::{Bandwidth, MessagesPerSecond};

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
    let plateau = plateau::find(&measured);
    let threshold = dips::threshold(plateau.as_ref());
    Some(Reading {
        best,
        dips: dips::find(&measured, threshold),
        threshold,
        busiest: (busiest.message, busiest.messages()),
        without: points.iter().filter(|it| it.average.0 == 0).map(|it| it.message).collect(),
        plateau,
    })
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
}
