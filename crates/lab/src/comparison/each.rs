//! Several results of A compared with several of B.

use super::{Comparison, Incomparable, same_shape};
use crate::compare::{Side, Terms, Unlike, doubts_of_runs, of_runs, runs, unlike};
use crate::record::Record;
use crate::stats::LEAST_RUNS;

/// The first arm of each of these records, by what the user calls it.
pub fn sides_of_each<'a>(records: &'a [Record], given: &'a [String]) -> Vec<Side<'a>> {
    records.iter().zip(given).map(|(record, name)| Side { name, record, arm: 0 }).collect()
}

/// Compares several results of one thing, called A, with several of another, called B; three or more of each.
///
/// Errors: there are fewer, results have different figures, or those of one side are of different workloads or settings.
pub fn of_each(a: &[Side<'_>], b: &[Side<'_>], terms: &Terms) -> Result<Comparison, Incomparable> {
    if a.len().min(b.len()) < LEAST_RUNS {
        return Err(Incomparable::TooFewRuns(a.len(), b.len()));
    }
    let (Some(first), Some(first_of_b)) = (a.first(), b.first()) else {
        return Err(Incomparable::None);
    };
    for other in a.iter().chain(b) {
        same_shape(*first, *other).map_err(Incomparable::Different)?;
    }
    same_work(a)?;
    same_work(b)?;
    let (side_a, side_b) = (Side { name: "A", ..*first }, Side { name: "B", ..*first_of_b });
    let found = Comparison::of(side_a, side_b, of_runs(a, b, terms), doubts_of_runs(a, b));
    let comparison = found.map_err(Incomparable::Different)?;
    Ok(Comparison { runs: Some([runs(a), runs(b)]), ..comparison })
}

/// Refuses runs that are not of the same workload and settings.
fn same_work(runs: &[Side<'_>]) -> Result<(), Incomparable> {
    let arm = |it: &Side<'_>| it.record.arms.get(it.arm).cloned();
    let Some((first, others)) = runs.split_first() else { return Ok(()) };
    for other in others {
        let differs = arm(first).zip(arm(other)).and_then(|(a, b)| unlike(&a, &b));
        if let Some(Unlike { what, a, b }) = differs {
            return Err(Incomparable::Different(format!(
                "there is nothing to compare: {} is of {what} {a}, {} of {what} {b}, and runs of one side are of the same",
                first.name, other.name
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Design;
    use crate::compare::fixture::moment;

    fn of(seconds: f64) -> Record {
        moment(seconds, 2e9, 0.001)
    }

    fn compared(a: &[Record], b: &[Record]) -> Result<Comparison, String> {
        let given = ["1.json", "2.json", "3.json", "4.json"].map(str::to_owned);
        let [a, b] = [a, b].map(|it| sides_of_each(it, &given));
        of_each(&a, &b, &Terms::of(1)).map_err(|it| it.to_string())
    }

    #[test]
    fn three_results_of_each_are_runs_and_fewer_are_refused() {
        let three = [1.0, 1.001, 1.002].map(of);
        let slower = [2.0, 2.001, 2.002, 2.001].map(of);
        let found = compared(&three, &slower).unwrap();
        assert!(found.difference.verdict.is_claimed(), "{found:?}");
        assert_eq!(found.difference.design, Design::Runs(3, 4));
        let [a, b] = found.runs.unwrap();
        assert_eq!((a.len(), b.len(), &*b[3].name), (3, 4, "4.json"));
        assert_eq!(
            compared(&three[..2], &slower).unwrap_err(),
            "2 results of A and 4 of B: it takes 3 or more of each, or one of each"
        );
        assert!(compared(&three, &[]).unwrap_err().starts_with("3 results of A and 0 of B"));
    }

    #[test]
    fn other_figures_and_other_work_are_refused_by_name() {
        let three = || [1.0, 1.001, 1.002].map(of);
        let mut other = three();
        for trial in &mut other[1].trials {
            trial.outcome.figures.edit(|it| {
                "latency".clone_into(&mut it[0].name);
                "ns".clone_into(&mut it[0].unit);
            });
        }
        let why = "there is nothing to compare: 1.json measures elapsed (s), 2.json measures latency (ns)";
        assert_eq!(compared(&three(), &other).unwrap_err(), why);
        assert_eq!(compared(&other, &three()).unwrap_err(), why);
        let mut other = three();
        other[2].arms[0].settings.iterations = Some(7);
        let why = "there is nothing to compare: 1.json is of iterations none, 3.json of iterations 7, and runs of one side \
                   are of the same";
        assert_eq!(compared(&three(), &other).unwrap_err(), why);
        let timers = three().map(|mut it| {
            it.arms[0].workload = "timer".to_owned();
            it
        });
        assert!(compared(&three(), &timers).is_ok(), "two things may be two workloads");
    }
}
