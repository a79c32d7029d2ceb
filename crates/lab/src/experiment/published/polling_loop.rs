//! A published table of limits beside what the driver's loop makes of published response times.
//!
//! A question is taken as some handshakes, a byte each, and one wait for the answer. That wait is as long as was published beside
//! the table; how many handshakes there are, how long one takes on average (exponentially distributed) and how many questions
//! there were is not published. These three numbers are found so that the elapsed times of the table come out: that all of its
//! rows do, with a thread and without, is what speaks for the loop.
//!
//! Without handshakes no limit could make reading take twice as long, and ten times as long was measured: under a short limit it
//! is they that take a tick each.

use super::KipmidRow;
use super::kipmid::limit_us;
use crate::ipmi::{Limit, PollingLoop, Taken};
use serde::{Deserialize, Serialize};

/// Ticks a second of the published kernel, which was one before 4.8.
const TICKS_PER_SECOND: f64 = 1000.0;
/// As many questions are followed.
const N_QUESTIONS: usize = 200;
/// Rows that are as many as the numbers to be found say nothing.
const LEAST_ROWS: usize = 5;

/// How many of a hundred waits for an answer took so long, in microseconds: those that were published to be over within 400 us,
/// but not within 200, are 300 us long. The study of the case `kipmid`: none up to 200 us, 21 % up to 400, 39 up to 600, 44 up
/// to 800, 55 up to 1,000, 89 up to 1,200, 94 up to 1,400, 97 up to 1,600.
const RESPONSES: [(f64, usize); 8] = [
    (300.0, 21),
    (500.0, 18),
    (700.0, 5),
    (900.0, 11),
    (1100.0, 34),
    (1300.0, 5),
    (1500.0, 3),
    (1700.0, 3),
];

/// What was found, and what it makes of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelledLoop {
    /// Handshakes of a question.
    pub handshakes: usize,
    /// How long one takes on average, in microseconds.
    pub handshake_us: f64,
    /// How many questions there were.
    pub n_questions: f64,
    /// What it makes of each row of the table; none of an unknown setting.
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

/// Finds what comes closest to the elapsed times of a table, by their ratio. None where too few rows have a limit, or none is
/// without.
pub(super) fn modelled(rows: &[KipmidRow]) -> Option<ModelledLoop> {
    rows.iter().find(|it| limit(it) == Some(Limit::Unlimited))?;
    if rows.iter().filter_map(limit).count() < LEAST_ROWS {
        return None;
    }
    let handshakes = (1..=16).map(|it| it * 2);
    // From 2 to 128 us, four to a doubling.
    let lengths = (4..=28).map(|it| (f64::from(it) / 4.0).exp2());
    let both = handshakes.flat_map(|count| lengths.clone().map(move |us| (count, us)));
    let found = both.map(|(count, us)| of(rows, count, us));
    found.reduce(|a, b| if b.farthest < a.farthest { b } else { a })
}

/// The limit of a row; none of an unknown setting.
fn limit(row: &KipmidRow) -> Option<Limit> {
    match row.setting.as_str() {
        "default" => Some(Limit::Unlimited),
        "force_kipmid=0" => Some(Limit::NoThread),
        other => limit_us(other).filter(|it| *it > 0.0).map(Limit::Microseconds),
    }
}

fn of(rows: &[KipmidRow], handshakes: usize, handshake_us: f64) -> ModelledLoop {
    let questions = questions(handshakes, handshake_us);
    let kernel = PollingLoop::without_pause(TICKS_PER_SECOND);
    let each: Vec<Option<(f64, f64)>> = rows
        .iter()
        .map(|row| Some(together(&kernel.follow(&questions, 0.0, limit(row)?))))
        .collect();
    // What one question takes by what the table says, as logarithms: in the middle of them is their number.
    let ratios: Vec<f64> = rows
        .iter()
        .zip(&each)
        .filter_map(|(row, each)| Some((row.elapsed_s * 1e6 / each.as_ref()?.0).ln()))
        .collect();
    let (low, high) = ratios
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(*it), high.max(*it)));
    let n_questions = f64::midpoint(low, high).exp();
    let predicted = |&(elapsed_us, polled_us): &(f64, f64)| Predicted {
        elapsed_s: elapsed_us * n_questions / 1e6,
        busy_percent: polled_us / elapsed_us * 100.0,
    };
    let differences = ratios.iter().map(|it| (n_questions / it.exp() - 1.0).abs());
    ModelledLoop {
        handshakes,
        handshake_us,
        n_questions,
        rows: each.iter().map(|it| it.as_ref().map(predicted)).collect(),
        farthest: differences.fold(0.0, f64::max),
    }
}

/// What a question takes on average: elapsed, and polled.
fn together(taken: &[Taken]) -> (f64, f64) {
    let sum = |what: fn(&Taken) -> f64| taken.iter().map(what).sum::<f64>() / taken.len() as f64;
    (sum(|it| it.elapsed_us), sum(|it| it.polled_us))
}

/// Questions whose waits are spread evenly over their distributions, in no order.
fn questions(handshakes: usize, handshake_us: f64) -> Vec<Vec<f64>> {
    /// The golden ratio and the square root of two less one, whose multiples fill the unit interval evenly (Weyl), and do so
    /// together, since no sum of them is whole.
    const SEQUENCES: [f64; 2] = [0.618_033_988_749_894_9, std::f64::consts::SQRT_2 - 1.0];
    let place = |of: f64, number: usize| ((number as f64 + 0.5) * of).fract();
    let handshake = |number: usize| -handshake_us * (1.0 - place(SEQUENCES[0], number)).ln();
    let question = |number: usize| {
        let bytes = (0..handshakes).map(|it| handshake(number * handshakes + it));
        bytes.chain([response(place(SEQUENCES[1], number))]).collect()
    };
    (0..N_QUESTIONS).map(question).collect()
}

/// The response time that this share of all is shorter than.
fn response(share: f64) -> f64 {
    /// Half of what the published steps are apart.
    const HALF_A_STEP_US: f64 = 100.0;
    let mut percent = share * 100.0;
    for (us, count) in RESPONSES {
        let count = count as f64;
        if percent < count {
            return us + (percent / count * 2.0 - 1.0) * HALF_A_STEP_US;
        }
        percent -= count;
    }
    RESPONSES[RESPONSES.len() - 1].0
}

#[cfg(test)]
mod tests {
    use super::super::{Published, from_csv};
    use super::*;

    fn published() -> (Vec<KipmidRow>, ModelledLoop) {
        match from_csv(include_str!("../../../fixtures/published-kipmid.csv")).unwrap() {
            Published::Kipmid(table) => (table.rows, table.polling_loop.unwrap()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_published_elapsed_time_is_within_15_percent_with_a_thread_and_without() {
        let (rows, found) = published();
        assert!(found.farthest < 0.15, "{found:#?}");
        assert!(rows.len() == 11 && found.rows.iter().all(Option::is_some), "{found:#?}");
    }

    #[test]
    fn of_the_published_shares_of_a_cpu_that_of_1000_us_alone_cannot_be() {
        let (rows, found) = published();
        // What else ran is in the table's shares: without a thread they are all there is.
        let of = |setting: &str| {
            let at = rows.iter().position(|it| it.setting == setting).unwrap();
            (found.rows[at].unwrap().busy_percent, rows[at].busy_percent)
        };
        let (modelled, measured) = of("kipmid_max_busy=1000");
        assert!(modelled > 2.0 * measured, "{modelled} {measured}");
        for limit in [5000, 2000, 500, 100, 50, 20, 10] {
            let (modelled, measured) = of(&format!("kipmid_max_busy={limit}"));
            assert!(modelled < 1.15 * measured, "{limit}: {modelled} {measured}");
        }
    }

    #[test]
    fn without_handshakes_no_limit_could_take_as_long_as_was_measured() {
        let questions = questions(0, 1.0);
        let kernel = PollingLoop::without_pause(TICKS_PER_SECOND);
        let of = |limit| together(&kernel.follow(&questions, 0.0, limit)).0;
        let (unlimited, limited) = (of(Limit::Unlimited), of(Limit::Microseconds(10.0)));
        assert!(limited < 2.0 * unlimited, "{limited} {unlimited}");
    }

    #[test]
    fn waits_are_distributed_as_they_should_be() {
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let questions = questions(8, 20.0);
        let bytes: Vec<f64> = questions.iter().flat_map(|it| it[..8].to_vec()).collect();
        assert!((mean(&bytes) - 20.0).abs() < 0.2, "{}", mean(&bytes));
        let within = |us: f64| questions.iter().filter(|it| it[8] <= us).count();
        for (us, percent) in [(200.0, 0), (400.0, 21), (800.0, 44), (1200.0, 89), (1600.0, 97)] {
            let n_expected = percent * N_QUESTIONS / 100;
            assert!(within(us).abs_diff(n_expected) <= 2, "{us}: {}", within(us));
        }
    }

    #[test]
    fn a_table_that_has_too_few_limits_is_not_modelled() {
        let (rows, _) = published();
        assert_eq!(modelled(&rows[1..]), None);
        assert_eq!(modelled(&rows[..4]), None);
    }
}
