//! What is healthy where a large part of a group is not: the faster of its cohorts.

use crate::columns::{Column, counts};
use crate::healthy::LEAST;
use crate::trimmed::{Gap, Trimmed};

/// The smallest part of a group that can be its norm. Of fewer machines, the rest is the norm and they are fast.
const LEAST_SHARE: f64 = 0.2;

/// Smaller losses of a cohort are not worth a word, however certain: about what a processor's temperature moves its turbo clock by.
pub(crate) const LEAST_LOSS: f64 = 0.02;

/// The chance of a false claim in a whole fleet.
pub(crate) const FALSE: f64 = 0.01;

/// The same of single machines. The healthy ones are those that are left when far ones are set aside, so that they look closer together than they
/// are: of 1,000 healthy fleets 17 had a slow machine at twice this.
pub(crate) const FALSE_OF_SINGLE: f64 = FALSE / 2.0;

/// The chance of one of each sort: that machines are slow as a whole, that a part of them is, and that a cohort is faster than the rest
/// of its group. Each is claimed by a test of its own, and the three together are what is promised (Bonferroni).
pub(crate) const FALSE_OF_EACH: f64 = FALSE / 3.0;

/// The column and the code whose machines are faster than the rest of a group, beyond doubt and by more than [`LEAST_LOSS`]; the
/// fastest of several. `open` are machines of the group with their values, in ascending order; of all groups, so many cohorts are
/// looked at.
///
/// The majority is not asked: a microcode that most machines have got can be what slows them.
pub(crate) fn faster_cohort(
    columns: &[Column],
    eligible: &[usize],
    open: &[(usize, f64)],
    looked_at: f64,
) -> Option<(usize, u32)> {
    let least = LEAST.max((open.len() as f64 * LEAST_SHARE).ceil() as usize);
    let mut fastest: Option<(f64, (usize, u32))> = None;
    for at in eligible {
        let column = &columns[*at];
        let first = usize::from(!column.is_finding());
        let counts = counts(column, open.iter().map(|it| it.0));
        let told: u32 = counts[first..].iter().sum();
        for (code, n) in (0_u32..).zip(counts).skip(first) {
            if (n as usize) < least || ((told - n) as usize) < LEAST {
                continue;
            }
            if let Some(at_least) = surely_faster(column, code, open, looked_at)
                && fastest.is_none_or(|it| at_least > it.0)
            {
                fastest = Some((at_least, (*at, code)));
            }
        }
    }
    fastest.map(|it| it.1)
}

/// How many cohorts of a group can be large enough.
pub(crate) fn cohorts_of_group(eligible: &[usize]) -> f64 {
    eligible.len() as f64 / LEAST_SHARE
}

/// The lower end of where the location of a cohort is, if that is faster than the rest.
fn surely_faster(column: &Column, code: u32, open: &[(usize, f64)], looked_at: f64) -> Option<f64> {
    let part = |of_cohort: bool| {
        let told = open.iter().filter(|it| column.is_told(it.0));
        let part = told.filter(|it| (column.codes[it.0] == code) == of_cohort);
        Trimmed::of(&part.map(|it| it.1).collect::<Vec<_>>())
    };
    let (cohort, rest) = (part(true)?, part(false)?);
    let gap = Gap::between(&rest.moderated(cohort.variance), &cohort.moderated(rest.variance));
    let is_sure = gap.size >= LEAST_LOSS && gap.chance() * looked_at <= FALSE_OF_EACH;
    is_sure.then(|| cohort.mean - SURE * cohort.squared_error().sqrt())
}

/// The 99.5 % quantile of the normal distribution.
const SURE: f64 = 2.576;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::columns;
    use crate::fixture::machine;
    use crate::machine::{Audit, Kind, Machine};

    /// A letter for each machine's BIOS, `-` where it has none, `?` where no audit looked, and its value.
    fn found(kind: Kind, machines: &[(char, f64)]) -> Option<String> {
        let of = |it: &(char, f64)| {
            let value = it.0.to_string();
            match it.0 {
                '-' => machine(&[]),
                '?' => Machine { audit: Audit::None, ..machine(&[]) },
                _ => machine(&[(kind, "x", &value)]),
            }
        };
        let columns = columns(&machines.iter().map(of).collect::<Vec<_>>());
        let mut open: Vec<_> = machines.iter().map(|it| it.1).enumerate().collect();
        open.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (column, code) = faster_cohort(&columns, &[0], &open, 5.0)?;
        let name = |code| columns[column].value(code).to_string();
        Some(if code == 0 { "none".to_owned() } else { name(code) })
    }

    fn parts(of: &[(char, usize, f64)]) -> Vec<(char, f64)> {
        let part = |it: &(char, usize, f64)| {
            let (letter, n, centre) = *it;
            (0..n).map(move |at| (letter, centre + 0.01 * (at as f64 / n as f64 - 0.5)))
        };
        of.iter().flat_map(part).collect()
    }

    #[test]
    fn the_faster_one_is_healthy_however_few_it_has_down_to_a_fifth() {
        let label = |of: &[_]| found(Kind::Label, &parts(of));
        assert_eq!(label(&[('a', 30, 0.0), ('b', 70, -0.05)]).as_deref(), Some("a"));
        assert_eq!(
            label(&[('a', 30, -0.3), ('b', 40, 0.0), ('c', 30, -0.05)]).as_deref(),
            Some("b")
        );
        assert_eq!(
            label(&[('a', 10, 0.0), ('b', 90, -0.05)]),
            None,
            "a few are fast, the rest is the norm"
        );
        assert_eq!(label(&[('a', 50, 0.0), ('b', 50, -0.015)]), None, "too little to matter");
    }

    #[test]
    fn what_is_not_told_is_no_cohort_and_machines_without_a_finding_are_one() {
        let of = parts(&[('-', 40, 0.0), ('h', 60, -0.2)]);
        assert_eq!(found(Kind::Label, &of), None);
        assert_eq!(found(Kind::Finding, &of).as_deref(), Some("none"));
        let unaudited = parts(&[('?', 40, 0.0), ('h', 60, -0.2)]);
        assert_eq!(found(Kind::Finding, &unaudited), None);
    }

    /// Ten machines that have one of two speeds each: five of a kind prove nothing.
    #[test]
    fn equal_values_of_few_machines_prove_nothing() {
        let mut machines = parts(&[('b', 50, 0.0), ('b', 50, -0.1)]);
        machines.extend([('a', 0.0); 5]);
        assert_eq!(found(Kind::Label, &machines), None);
    }
}
