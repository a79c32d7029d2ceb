//! The machine of a small group that is far below all of the others: too few to test it, and too far to overlook.

use crate::peers::Members;

/// Healthy processors of one model differ by up to 16 % under turbo (Acun et al., "Variation Among Processors Under Turbo Boost in HPC
/// Systems", ICS 2016): 20 % is more than that, as a logarithm.
const FAR: f64 = 0.223_143_551;

/// Of two machines that differ, either may be the one that is wrong.
const LEAST: usize = 3;

/// The slowest machine of a group that cannot be judged, where it is far below the next one and the others agree; with what it lacks of
/// the middle one of the others, as a share.
pub(crate) fn far_below(group: &Members, values: &[f64]) -> Option<(usize, f64)> {
    if group.is_enough() || group.ascending.len() < LEAST {
        return None;
    }
    let (&slowest, others) = group.ascending.split_first()?;
    let value = |it: usize| values.get(it).copied();
    let (lowest, highest) = (value(*others.first()?)?, value(*others.last()?)?);
    if lowest - value(slowest)? < FAR || highest - lowest >= FAR {
        return None;
    }
    let middle = value(*others.get(others.len() / 2)?)?;
    Some((slowest, -(value(slowest)? - middle).exp_m1()))
}

#[cfg(test)]
mod tests {
    use crate::answer::{Answer, Subject};
    use crate::fixture;
    use crate::judge::judge;
    use crate::machine::{Figure, Kind, Machine};
    use crate::question::Question;

    fn machine(figure: f64) -> Machine {
        let mut attributes = vec![(Kind::Label, "cpu_model", "X")];
        if figure < 0.5 {
            attributes.push((Kind::Finding, "slow-governor", "high"));
        }
        Machine { figures: vec![(Figure::Speed, figure)], ..fixture::machine(&attributes) }
    }

    fn judged(figures: &[f64]) -> Answer {
        let machines: Vec<Machine> = figures.iter().map(|it| machine(*it)).collect();
        judge(&machines, &Question::of(Figure::Speed))
    }

    #[test]
    fn the_one_of_three_or_four_that_is_far_below_is_named_with_what_only_it_has() {
        for figures in [&[1.0, 0.25, 1.02][..], &[1.0, 0.25, 1.1, 0.98]] {
            let answer = judged(figures);
            let [suspect] = &answer.suspects[..] else { panic!("{:?}", answer.suspects) };
            assert_eq!((suspect.machine, suspect.group, suspect.value), (1, 0, 0.25));
            assert!((0.74..0.78).contains(&suspect.lost), "{suspect:?}");
            assert_eq!(answer.contrasts[0].of, Subject::Machine(1));
            assert_eq!(&*answer.contrasts[0].telling[0].attribute.name, "slow-governor");
            assert!(answer.slow.is_empty() && answer.tested == 0, "nothing is tested");
        }
    }

    #[test]
    fn nobody_is_where_two_differ_where_the_others_do_or_where_all_are_near() {
        for figures in [
            &[1.0][..],
            &[1.0, 0.25],
            &[1.0, 0.25, 0.26],
            &[1.0, 0.5, 0.25],
            &[1.0, 0.85, 1.0],
            &[1.0, 1.0, 0.25, 0.25],
        ] {
            assert!(judged(figures).suspects.is_empty(), "{figures:?}");
        }
        // A group that can be judged has slow machines, and no suspects.
        let answer = judged(&[1.0, 0.25, 1.01, 0.99, 1.0, 1.0]);
        assert_eq!((answer.suspects.len(), answer.slow.len()), (0, 1));
    }
}
