//! The figures in perftest's table, as those of a test of the wire.

use crate::net::{Latencies, Throughput};
use facts::BytesPerSecond;
use facts::links::perftest::{Bandwidth, Curve, Figures, Latency};
use std::time::Duration;

/// The digits of a table: average in 0.01 MiB/s, messages in one a second.
const AVERAGE_STEP: f64 = 0.01 * 1_048_576.0;

/// The throughput of the one message size of a table; `None` where it has none, or 0.00.
pub fn throughput(curve: &Curve) -> Option<Throughput> {
    let Figures::Bandwidth(lines) = &curve.figures else { return None };
    let [line] = &lines[..] else { return None };
    let Bandwidth { message, iterations, peak, average, .. } = *line;
    let iterations = iterations?;
    let bytes = message.0.checked_mul(iterations)?;
    let (average, rate) = (average.0 as f64, line.messages().0 as f64);
    // Of the two that tell the time, the one with more digits.
    let seconds = if average / AVERAGE_STEP >= rate {
        bytes as f64 / average
    } else {
        iterations as f64 / rate
    };
    let elapsed_ns = (seconds * 1e9) as u64;
    let whole = BytesPerSecond((bytes as f64 / seconds) as u64);
    let peak = peak.map_or(whole, |it| it.max(whole));
    (seconds.is_finite() && elapsed_ns > 0).then_some(Throughput { bytes, elapsed_ns, peak })
}

/// The latency of the one message size of a table; `None` where it has none, or lacks a percentile, as those of old versions do.
pub fn latencies(curve: &Curve) -> Option<Latencies> {
    let Figures::Latency(lines) = &curve.figures else { return None };
    let [line] = &lines[..] else { return None };
    let ns = |it: Duration| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX);
    let Latency {
        iterations,
        min,
        max,
        typical,
        percentile_99,
        percentile_999,
        mean,
        deviation,
        ..
    } = *line;
    Some(Latencies {
        count: iterations?,
        min_ns: ns(min?),
        max_ns: ns(max?),
        median_ns: ns(typical),
        p99_ns: ns(percentile_99?),
        p999_ns: ns(percentile_999?),
        mean_ns: ns(mean?) as f64,
        deviation_ns: ns(deviation?) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Curve {
        Curve::parse(text).unwrap()
    }

    #[test]
    fn of_small_messages_the_rate_tells_the_time_and_of_large_ones_the_average() {
        let heading =
            " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n";
        let of = |line: &str| throughput(&read(&format!("{heading} {line}\n")));
        // 6.06 over an adapter that is software.
        let small =
            of("64         100              0.47               0.16   \t\t   0.002637").unwrap();
        assert_eq!((small.bytes, small.elapsed_ns), (6400, 37_921_880));
        assert_eq!(small.peak, BytesPerSecond(492_831));
        let large =
            of("8388608    1000             3124.07            3112.45 \t\t 0.000389").unwrap();
        assert_eq!(large.bytes, 8_388_608_000);
        assert!((large.elapsed_ns as f64 / 1e9 - 8000.0 / 3112.45).abs() < 1e-6);
        // By time there is no peak, and where clocks differ very old versions have no figure.
        let timed =
            of("64         3576             0.00               0.22   \t\t   0.003553").unwrap();
        assert_eq!(timed.peak.0, (64.0 * 3553.0) as u64);
        assert_eq!(
            of("64         100              0.00               0.00   \t\t   0.000000"),
            None
        );
    }

    #[test]
    fn latency_needs_its_percentiles() {
        let text = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   \
                    99% percentile[usec]   99.9% percentile[usec] \n \
                    64      100          2712.84        4623.32      4008.74  \t       3971.85     \t232.55 \t\t4623.32 \
                    \t\t4623.33\n";
        let found = latencies(&read(text)).unwrap();
        assert_eq!((found.count, found.min_ns, found.median_ns), (100, 2_712_840, 4_008_740));
        assert_eq!((found.p99_ns, found.p999_ns, found.max_ns), (4_623_320, 4_623_330, 4_623_320));
        assert!(
            (found.mean_ns - 3_971_850.0).abs() < 1.0
                && (found.deviation_ns - 232_550.0).abs() < 1.0
        );
        let old = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n 2 1000 1.10 9.00 1.20\n";
        assert_eq!(latencies(&read(old)), None);
    }
}
