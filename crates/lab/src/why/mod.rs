//! Why one recorded run of a client is slower than another: two recordings, second by second.
//!
//! ```text
//!   rate = CPU time per second / CPU time per unit of work
//! ```
//!
//! So the logarithm of the change of the rate is that of the CPU time per second less that of the CPU time per unit of work, to the
//! last digit. Whether the rates differ is a verdict of two moments; only then are there causes.

mod causes;
mod loads;
mod second;
#[cfg(test)]
mod tests;

pub use causes::{Cause, LEAST_SHARE, Shares, What};
pub use loads::{ALIKE, LoadTimes, Loads, Shared};
pub use second::{Lines, Second, Task, Totals};

use crate::stats::Sample;
use crate::verdict::{Allowance, BetweenRuns, Moments, Verdict, confidence, of_moments};
use facts::client::ClientMetric;
use facts::{Fact, Missing};
use rules::spans::Who;

/// A recording, in seconds.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The seconds, in order.
    pub seconds: Vec<Second>,
    /// What the client's numbers are.
    pub metric: Option<ClientMetric>,
    /// How often the client reports, in seconds.
    pub every_s: f64,
    /// Whether a command was recorded, whose tasks are the client.
    pub has_command: bool,
}

/// Whose CPU time is counted for a unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// That of the client and of databases.
    ClientAndServer,
    /// That of databases: no command was recorded.
    Server,
    /// That of all users' tasks: no command was recorded, and no database ran.
    All,
}

impl Work {
    /// Whether a task's time is counted.
    pub fn has(self, task: &Task) -> bool {
        match self {
            Work::ClientAndServer => task.who != Who::Other,
            Work::Server => task.who == Who::Server,
            Work::All => true,
        }
    }
}

/// What can be said of recording B against A.
#[derive(Clone, Debug)]
pub struct Why {
    /// What the client's numbers are.
    pub metric: ClientMetric,
    /// Whose CPU time is counted.
    pub work: Work,
    /// The sums of A and of B.
    pub totals: [Totals; 2],
    /// How long the pieces are that the verdict rests on, in seconds.
    pub piece_s: f64,
    /// How many there are of A and of B.
    pub pieces: [usize; 2],
    /// Whether the client's numbers differ.
    pub rate: Moments,
    /// Whether the CPU time per unit of work differs.
    pub cost: Fact<Moments>,
    /// How long loads took.
    pub loads: Loads,
    /// What makes up the change, B over A.
    pub shares: Fact<Shares>,
    /// Only where the numbers differ: what explains the change in its direction, the largest first.
    pub causes: Vec<Cause>,
}

/// Why two recordings cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// One has no numbers of a client.
    #[error("{which} holds no numbers of a client, so there is no rate to compare")]
    NoNumbers {
        /// `A` or `B`.
        which: &'static str,
    },
    /// The numbers are of different things.
    #[error("A has {a} and B has {b}: there is nothing to compare")]
    Different {
        /// What A's are.
        a: String,
        /// What B's are.
        b: String,
    },
}

/// Pieces of a run that a verdict takes at least, as [`two_samples`](crate::stats::two_samples) does.
const LEAST_PIECES: usize = 5;

/// Compares two recordings.
///
/// Errors: one has no numbers of a client, or they are of different things.
pub fn why(a: &Recording, b: &Recording) -> Result<Why, Incomparable> {
    let metric = same_metric(a, b)?;
    let seconds = [(a, "A"), (b, "B")].map(|(it, which)| of_client(it, which));
    let [a_seconds, b_seconds] = seconds;
    let seconds = [a_seconds?, b_seconds?];
    let totals = seconds.map(Totals::of);
    let work = work(a.has_command && b.has_command, &totals);
    let every_s = a.every_s.max(b.every_s);
    let (length, pieces) = pieces(seconds, every_s);
    let logs = |of: fn(&Piece) -> f64| pieces.each_ref().map(|it| it.iter().map(of).collect());
    let rate = judged(logs(|it| it.number.ln()));
    let cost = costs(seconds, length, work).map(judged);
    let loads = Loads::of(seconds);
    let shares = Shares::of(&totals, work);
    let causes = match (&rate.verdict, &shares) {
        (Verdict::Claimed(ratio), Ok(shares)) if ratio.log * shares.total > 0.0 => {
            causes::causes(&totals, work, shares)
        }
        _ => Vec::new(),
    };
    let n_seconds: usize = seconds.iter().map(|it| it.len()).sum();
    let elapsed_s: f64 = seconds.iter().flat_map(|it| it.iter()).map(|it| it.elapsed_s).sum();
    let piece_s = length as f64 * elapsed_s / n_seconds.max(1) as f64;
    let pieces = pieces.each_ref().map(Vec::len);
    Ok(Why { metric, work, totals, piece_s, pieces, rate, cost, loads, shares, causes })
}

fn same_metric(a: &Recording, b: &Recording) -> Result<ClientMetric, Incomparable> {
    let [a, b] = [(a, "A"), (b, "B")]
        .map(|(it, which)| it.metric.as_ref().ok_or(Incomparable::NoNumbers { which }));
    let (a, b) = (a?, b?);
    let named = |it: &ClientMetric| format!("{} of {}", it.unit, it.name());
    if a == b {
        Ok(a.clone())
    } else {
        let of = |it: &ClientMetric| {
            if it.unit.is_empty() { "numbers of an expression".to_owned() } else { named(it) }
        };
        Err(Incomparable::Different { a: of(a), b: of(b) })
    }
}

/// From the first number to the last: before and after, the client made ready or had ended.
fn of_client<'a>(of: &'a Recording, which: &'static str) -> Result<&'a [Second], Incomparable> {
    let is_known = |it: &Second| it.client.is_ok() && it.elapsed_s > 0.0;
    let first = of.seconds.iter().position(is_known);
    let last = of.seconds.iter().rposition(is_known);
    let range = first.zip(last).and_then(|(first, last)| of.seconds.get(first..=last));
    range.ok_or(Incomparable::NoNumbers { which })
}

fn work(has_command: bool, totals: &[Totals; 2]) -> Work {
    let has_server = |it: &Totals| it.tasks.iter().flatten().any(|it| it.who == Who::Server);
    match has_command {
        true => Work::ClientAndServer,
        false if totals.iter().all(has_server) => Work::Server,
        false => Work::All,
    }
}

/// The mean of the client's numbers over some seconds.
struct Piece {
    number: f64,
}

/// The shortest pieces, in seconds, that no report of the client is longer than and in which it did some work: a second in which
/// it did nothing has no logarithm, and counts in a longer piece.
fn pieces(seconds: [&[Second]; 2], every_s: f64) -> (usize, [Vec<Piece>; 2]) {
    // A report that is a little late is none of two seconds.
    const LATE: f64 = 0.1;
    let mut length = ((every_s - LATE).ceil() as usize).max(1);
    loop {
        let pieces = seconds.map(|it| it.chunks_exact(length).map(Piece::of).collect::<Vec<_>>());
        let has_all = pieces.iter().flatten().all(|it| it.number > 0.0);
        if has_all || pieces.iter().any(|it| it.len() < LEAST_PIECES) {
            return (length, pieces);
        }
        length += 1;
    }
}

impl Piece {
    fn of(seconds: &[Second]) -> Piece {
        Piece { number: Totals::of(seconds).number() }
    }
}

/// The logarithms of the CPU time per unit of work of each piece.
fn costs(seconds: [&[Second]; 2], length: usize, work: Work) -> Fact<[Vec<f64>; 2]> {
    let of = |seconds: &[Second]| -> Fact<f64> {
        let totals = Totals::of(seconds);
        Ok((totals.ran(|it| work.has(it))? / totals.number()).ln())
    };
    let [a, b] = seconds.map(|it| it.chunks_exact(length).map(of).collect::<Fact<Vec<f64>>>());
    let (a, b) = (a?, b?);
    if a.iter().chain(&b).all(|it| it.is_finite()) {
        Ok([a, b])
    } else {
        Err(Missing::not_here("CPU time per unit of work", "there are pieces without either"))
    }
}

/// Judges logarithms of the pieces of A and B.
fn judged(logs: [Vec<f64>; 2]) -> Moments {
    judged_within(logs, confidence(1), None)
}

/// The same with a confidence, and with a margin within which both are the same.
fn judged_within(logs: [Vec<f64>; 2], confidence: f64, margin: Option<f64>) -> Moments {
    let have = logs.iter().map(Vec::len).min().unwrap_or_default();
    let [a, b] = logs.map(Sample::new);
    match (a, b) {
        (Ok(a), Ok(b)) => of_moments(&a, &b, confidence, None, margin),
        _ => Moments {
            verdict: Verdict::TooFew { have, needed: LEAST_PIECES, so_far: None },
            allowance: Allowance { largest_move: 0.0, between_runs: BetweenRuns::ASSUMED },
        },
    }
}
