//! Earlier results of what is compared: they tell by how much two runs of the same differ.

use super::{Measure, Side, unlike};
use crate::record::Record;
use crate::stats::Sample;
use crate::verdict::{BetweenRuns, between_runs};

/// So many of the latest earlier runs of a thing tell as much as more would.
pub const MOST_EARLIER: usize = 20;

/// Earlier runs of the arms that are compared.
#[derive(Clone, Debug)]
pub struct EarlierRuns<'a> {
    sides: Vec<Side<'a>>,
    /// Of each side.
    runs: Vec<Vec<Earlier>>,
}

/// An earlier run.
#[derive(Clone, Debug)]
struct Earlier {
    id: String,
    /// The logarithm of the middle of its trials.
    middle: f64,
}

impl<'a> EarlierRuns<'a> {
    /// None yet, for these.
    pub fn of(sides: &[Side<'a>]) -> EarlierRuns<'a> {
        EarlierRuns { sides: sides.to_vec(), runs: vec![Vec::new(); sides.len()] }
    }

    /// Adds a result where it is an earlier run of one of the sides, as [`is_earlier_run`] decides. The latest are to come first.
    pub fn add(&mut self, record: &Record) {
        for (side, runs) in self.sides.iter().zip(&mut self.runs) {
            let is_known = runs.iter().any(|it| it.id == record.id);
            if runs.len() == MOST_EARLIER || is_known || !is_earlier_run(record, side, &self.sides)
            {
                continue;
            }
            let earlier = Side { record, ..*side };
            if let Some(middle) = earlier.middle(Measure::Figure) {
                runs.push(Earlier { id: record.id.clone(), middle });
            }
        }
    }

    /// Whether more are of no use.
    pub fn is_full(&self) -> bool {
        self.runs.iter().all(|it| it.len() == MOST_EARLIER)
    }

    /// By how much two runs of the sides of these places differ, with this confidence; `None` where fewer than three earlier runs
    /// tell.
    pub fn between(&self, a: usize, b: usize, confidence: f64) -> Option<BetweenRuns> {
        let group = |at: usize| {
            let runs = self.runs.get(at)?;
            Sample::new(runs.iter().map(|it| it.middle).collect()).ok()
        };
        let ids = |at: usize| self.runs.get(at)?.first().map(|it| &it.id);
        // Two runs of the same thing have the same earlier runs.
        let of_b = if ids(a) == ids(b) { None } else { group(b) };
        let groups: Vec<Sample> = group(a).into_iter().chain(of_b).collect();
        between_runs(&groups, confidence).ok()
    }
}

/// Whether a result is an earlier run of one of the sides that are compared: of the same workload and settings, on a machine whose
/// settings are all the same, ended as planned, begun before the latest of those that are compared and none of them. A verdict on
/// two results is then the same whenever it is made again.
fn is_earlier_run(record: &Record, side: &Side<'_>, compared: &[Side<'_>]) -> bool {
    let (Some(arm), Some(own)) = (record.arms.get(side.arm), side.record.arms.get(side.arm)) else {
        return false;
    };
    let machine = side.record.machine_of(side.arm);
    let is_one_of_them = compared.iter().any(|it| it.record.id == record.id);
    let is_earlier = compared.iter().any(|it| record.began < it.record.began);
    // An arm that took turns with others is not one that ran alone.
    let is_of_a_kind = record.is_race() == side.record.is_race()
        && record.arms.len() == side.record.arms.len()
        && record.pieces == side.record.pieces
        && record.experiment.is_none();
    let ran_the_same = unlike(arm, own).is_none()
        && (&arm.cpus, arm.is_foreign, &arm.about) == (&own.cpus, own.is_foreign, &own.about)
        && Side { record, ..*side }.shape() == side.shape();
    // Of a machine that nothing is known of it is not known to be the same.
    let is_there = !machine.0.is_empty() && record.machine_of(side.arm) == machine;
    record.is_complete && is_earlier && !is_one_of_them && is_of_a_kind && ran_the_same && is_there
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::moment;

    fn run(id: &str, began: &str, seconds: f64) -> Record {
        let mut record = moment(seconds, 2e9, 0.001);
        (record.id, record.began) = (id.to_owned(), began.to_owned());
        record.machine.0.insert("scaling_governor".to_owned(), "performance".to_owned());
        record
    }

    fn known_of(earlier: &[Record], a: &Record, b: &Record) -> Option<usize> {
        let side = |name, record| Side { name, record, arm: 0 };
        let mut runs = EarlierRuns::of(&[side("A", a), side("B", b)]);
        earlier.iter().for_each(|it| runs.add(it));
        runs.between(0, 1, 0.99)?.known_of
    }

    fn day(at: usize, seconds: f64) -> Record {
        run(&format!("r{at}"), &format!("2026-11-{at:02}T10:00:00Z"), seconds)
    }

    #[test]
    fn three_earlier_runs_of_the_same_tell_and_two_do_not() {
        let (a, b) = (day(20, 1.0), day(21, 1.01));
        let earlier = [3, 2, 1].map(|it| day(it, 1.0 + 0.001 * it as f64));
        assert_eq!(known_of(&earlier, &a, &b), Some(3));
        assert_eq!(known_of(&earlier[..2], &a, &b), None);
        assert_eq!(known_of(&[earlier.clone(), earlier].concat(), &a, &b), Some(3));
        let many: Vec<Record> =
            (0..30).map(|it| run(&format!("m{it}"), "2026-11-01", 1.0)).collect();
        assert_eq!(known_of(&many, &a, &b), Some(MOST_EARLIER));
    }

    #[test]
    fn only_complete_earlier_runs_of_the_same_thing_on_the_same_machine_count() {
        let (a, b) = (day(20, 1.0), day(21, 1.01));
        let spoilt = |spoil: &dyn Fn(&mut Record)| {
            let mut earlier = [4, 3, 2].map(|it| day(it, 1.0));
            spoil(&mut earlier[0]);
            known_of(&earlier, &a, &b)
        };
        assert_eq!(spoilt(&|_| ()), Some(3));
        assert_eq!(spoilt(&|it| it.id = "r20".to_owned()), None);
        assert_eq!(spoilt(&|it| it.id = "20261104T100000Z-race".to_owned()), None);
        assert_eq!(spoilt(&|it| it.began = "2026-11-21T10:00:00Z".to_owned()), None);
        assert_eq!(spoilt(&|it| it.is_complete = false), None);
        assert_eq!(spoilt(&|it| it.trials.clear()), None);
        assert_eq!(spoilt(&|it| it.pieces = 20), None);
        assert_eq!(spoilt(&|it| it.arms[0].settings.iterations = Some(7)), None);
        assert_eq!(spoilt(&|it| it.arms[0].workload = "timer".to_owned()), None);
        assert_eq!(spoilt(&|it| it.arms[0].cpus = Some("2".to_owned())), None);
        assert_eq!(spoilt(&|it| it.arms[0].about.push(("version".into(), "17".into()))), None);
        assert_eq!(spoilt(&|it| it.arms.push(it.arms[0].clone())), None);
        let machine = |name: &'static str, value: &'static str| {
            spoilt(&|it| drop(it.machine.0.insert(name.to_owned(), value.to_owned())))
        };
        assert_eq!(machine("scaling_governor", "powersave"), None);
        assert_eq!(machine("turbo", "0"), None);
        let rate = |it: &mut Record| {
            it.trials
                .iter_mut()
                .for_each(|it| it.outcome.figures.edit(|it| it[0].unit = "1/s".to_owned()));
        };
        assert_eq!(spoilt(&rate), None);
    }

    #[test]
    fn two_different_things_have_each_their_own_earlier_runs() {
        let slow = |at: usize| {
            let mut record = day(at, 9.0 + 0.01 * at as f64);
            record.machine.0.insert("scaling_governor".to_owned(), "powersave".to_owned());
            record
        };
        let earlier = [day(5, 1.0), slow(4), day(3, 1.002), slow(2), day(1, 1.001)];
        assert_eq!(known_of(&earlier, &day(20, 1.0), &slow(21)), Some(5));
        let of_one = known_of(&earlier, &day(20, 1.0), &day(21, 1.0));
        assert_eq!(of_one, Some(3));
        let unnamed =
            |at| Record { machine: crate::record::Fingerprint::default(), ..day(at, 1.0) };
        let earlier = [unnamed(5), unnamed(4), unnamed(3)];
        assert_eq!(known_of(&earlier, &unnamed(20), &unnamed(21)), None);
    }
}
