//! What the kernel's IPMI thread makes of waits for a controller.
//!
//! The thread asks the controller again and again while it waits, for `kipmid_max_busy_us` at most; then it sleeps until the
//! next tick and begins anew. So it was until Linux 5.4 and its stable releases of October 2019 (340ff31ab00b "ipmi_si: Only
//! schedule continuously in the thread in maintenance mode"), since when it sleeps 100 to 200 us between two looks instead
//! (drivers/char/ipmi/ipmi_si_intf.c, `ipmi_thread` and `ipmi_thread_busy_wait`). A wait that ends before the limit costs its
//! own length; a longer one ends with the first tick at which the controller is ready, or while it is asked after that tick.
//!
//! Waits are taken as log-normal, which many service times are: two numbers. They and the number of waits are found so
//! that the elapsed times of a table come out; that all of its rows do is what speaks for the loop.
//!
//! The response times that were published beside such a table (none up to 200 us, 55 % up to 1,000) are not these waits: with
//! them, no limit could take twice as long as the defaults, and ten times as long was measured.

use super::KipmidRow;
use crate::stats::normal;
use serde::{Deserialize, Serialize};

/// Of a kernel with 1000 ticks a second, as the published one was.
const TICK_US: f64 = 1000.0;
/// As many waits are followed.
const N_WAITS: usize = 1000;
/// Rows that are as many as the numbers to be found say nothing.
const LEAST_ROWS: usize = 5;

/// How long waits were, as far as elapsed times tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PollingLoop {
    /// The median of the waits, in microseconds.
    pub median_us: f64,
    /// The standard deviation of their logarithms.
    pub sigma: f64,
    /// How many there were.
    pub n_waits: f64,
    /// What it makes of each row of the table; none without a thread, or of an unknown setting. There each message waits
    /// for a timer of its own, 10 ms, besides; and nobody knows how many messages there were.
    pub rows: Vec<Option<Predicted>>,
    /// The largest difference of a predicted elapsed time from that of the table, by the latter.
    pub farthest: f64,
}

/// What a limit comes to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// In seconds.
    pub elapsed_s: f64,
    /// How much of that the thread polls, in percent.
    pub busy_percent: f64,
}

/// Finds the waits that come closest to the elapsed times of a table, by their ratio. None where too few rows have a limit, or
/// none is without.
pub(super) fn polling_loop(rows: &[KipmidRow]) -> Option<PollingLoop> {
    let unlimited_s = rows.iter().find(|it| limit(it) == Some(f64::INFINITY))?.elapsed_s;
    if rows.iter().filter_map(limit).count() < LEAST_ROWS {
        return None;
    }
    let deviates = deviates();
    let found_by =
        |median_us: f64, sigma: f64| of(rows, unlimited_s, &deviates, (median_us, sigma));
    let nearer = |a: Found, b: Found| if b.distance < a.distance { b } else { a };
    let medians = (0..7).map(|it| 5.0 * f64::from(1 << it));
    let coarse = medians.flat_map(|it| (1..=6).map(move |sigma| (it, f64::from(sigma) * 0.4)));
    let mut found = coarse.map(|(median_us, sigma)| found_by(median_us, sigma)).reduce(nearer)?;
    for step in (1..=6).map(|it| 0.5_f64.powi(it)) {
        // Half of the step before, about the best so far.
        let PollingLoop { median_us, sigma, .. } = found.polling_loop;
        for (by, plus) in [-1.0, 0.0, 1.0].iter().flat_map(|it| [-0.4, 0.0, 0.4].map(|to| (it, to)))
        {
            found = nearer(found, found_by(median_us * (by * step).exp2(), sigma + plus * step));
        }
    }
    Some(found.polling_loop)
}

/// Waits, and how far from a table what the loop makes of them is.
struct Found {
    /// The largest logarithm of a ratio.
    distance: f64,
    polling_loop: PollingLoop,
}

/// The limit of a row in microseconds; none where no thread polls, or nobody knows.
fn limit(row: &KipmidRow) -> Option<f64> {
    if row.setting == "default" {
        Some(f64::INFINITY)
    } else {
        row.max_busy_us.filter(|it| *it > 0.0)
    }
}

/// What log-normal waits of that median and spread make of the rows.
fn of(
    rows: &[KipmidRow],
    unlimited_s: f64,
    deviates: &[f64],
    (median_us, sigma): (f64, f64),
) -> Found {
    let waits: Vec<f64> = deviates.iter().map(|it| median_us * (sigma * it).exp()).collect();
    let n_waits = unlimited_s * 1e6 / (waits.iter().sum::<f64>() / waits.len() as f64);
    let predicted = |row: &KipmidRow| {
        let (elapsed_us, polled_us) = followed(&waits, limit(row)?);
        let elapsed_s = elapsed_us / waits.len() as f64 * n_waits / 1e6;
        Some(Predicted { elapsed_s, busy_percent: polled_us / elapsed_us * 100.0 })
    };
    let predicted: Vec<Option<Predicted>> = rows.iter().map(predicted).collect();
    let ratios = rows
        .iter()
        .zip(&predicted)
        .filter_map(|(row, it)| Some(it.as_ref()?.elapsed_s / row.elapsed_s));
    let (mut distance, mut farthest) = (0.0_f64, 0.0_f64);
    for ratio in ratios {
        distance = distance.max(ratio.ln().abs());
        farthest = farthest.max((ratio - 1.0).abs());
    }
    Found {
        distance,
        polling_loop: PollingLoop { median_us, sigma, n_waits, rows: predicted, farthest },
    }
}

/// Standard normal deviates, spread evenly over their distribution and in no order: multiples of the golden ratio (Weyl).
fn deviates() -> Vec<f64> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    (0..N_WAITS).map(|it| normal::quantile(((it as f64 + 0.5) * GOLDEN).fract())).collect()
}

/// How long they take one after the other, and how much of that is polled, in microseconds.
fn followed(waits: &[f64], limit_us: f64) -> (f64, f64) {
    let (mut now, mut polled) = (0.0_f64, 0.0);
    for wait in waits {
        let ready = now + wait;
        // Asleep until the next tick, the thread has its whole limit again.
        while ready - now > limit_us {
            polled += limit_us;
            now = (((now + limit_us) / TICK_US).floor() + 1.0) * TICK_US;
        }
        polled += (ready - now).max(0.0);
        now = now.max(ready);
    }
    (now, polled)
}

#[cfg(test)]
mod tests {
    use super::super::{Published, from_csv};
    use super::*;

    fn published() -> (Vec<KipmidRow>, PollingLoop) {
        match from_csv(include_str!("../../../fixtures/published-kipmid.csv")).unwrap() {
            Published::Kipmid(table) => (table.rows, table.polling_loop.unwrap()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_wait_within_the_limit_is_polled_and_a_longer_one_ends_with_a_tick() {
        assert_eq!(followed(&[300.0, 200.0], f64::INFINITY), (500.0, 500.0));
        assert_eq!(followed(&[300.0], 400.0), (300.0, 300.0));
        // Polled for 100 us, asleep from then to the tick.
        assert_eq!(followed(&[300.0], 100.0), (1000.0, 100.0));
        // Ready 50 us after the tick, and polled once more until then.
        assert_eq!(followed(&[1050.0], 100.0), (1050.0, 150.0));
        assert_eq!(followed(&[300.0, 300.0], 100.0), (2000.0, 200.0));
    }

    #[test]
    fn deviates_are_those_of_a_normal_distribution() {
        let mut deviates = deviates();
        deviates.sort_by(f64::total_cmp);
        for (place, expected) in [(159, -1.0), (500, 0.0), (841, 1.0), (977, 2.0)] {
            assert!((deviates[place] - expected).abs() < 0.02, "{place}: {}", deviates[place]);
        }
    }

    #[test]
    fn every_published_elapsed_time_of_a_thread_is_within_25_percent() {
        let (rows, found) = published();
        assert!(found.farthest < 0.25, "{found:#?}");
        for (row, predicted) in rows.iter().zip(&found.rows) {
            assert_eq!(predicted.is_none(), row.setting == "force_kipmid=0", "{row:?}");
        }
    }

    #[test]
    fn of_the_published_shares_of_a_cpu_that_of_1000_us_alone_cannot_be() {
        let (rows, found) = published();
        let of = |setting: &str| {
            let at = rows.iter().position(|it| it.setting == setting).unwrap();
            found.rows[at].unwrap().busy_percent / rows[at].busy_percent
        };
        assert!(of("kipmid_max_busy=1000") > 3.0, "{found:#?}");
        for limit in [5000, 2000, 500, 200] {
            let ratio = of(&format!("kipmid_max_busy={limit}"));
            assert!((0.5..2.0).contains(&ratio), "{limit}: {ratio}");
        }
    }

    #[test]
    fn waits_as_long_as_the_published_response_times_would_hardly_be_longer_under_any_limit() {
        // Up to 400 us 21 %, up to 600 39 %, 800 44, 1,000 55, 1,200 89, 1,400 94, 1,600 97.
        let shares = [
            (300.0, 21),
            (500.0, 18),
            (700.0, 5),
            (900.0, 11),
            (1100.0, 34),
            (1300.0, 5),
            (1500.0, 3),
            (1700.0, 3),
        ];
        let waits: Vec<f64> = shares.iter().flat_map(|(us, count)| vec![*us; *count]).collect();
        let [unlimited, limited] = [f64::INFINITY, 10.0].map(|it| followed(&waits, it).0);
        assert!(limited < 2.0 * unlimited, "{limited} {unlimited}");
    }

    #[test]
    fn a_table_that_has_too_few_limits_is_not_modelled() {
        let (rows, _) = published();
        assert_eq!(polling_loop(&rows[1..]), None);
        assert_eq!(polling_loop(&rows[..4]), None);
    }
}
