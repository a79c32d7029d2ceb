//! The decisions of `lab::verdict` by themselves, in noise of many kinds: how often they claim what is not there, how often their
//! intervals hold the truth, what they find, and that no output contradicts itself.

mod arms;
mod check;
mod noise;
mod races;

use check::Checked;

/// The sections of the page, with so many experiments a cell.
pub(super) fn sections(n_experiments: u32) -> String {
    let mut checked = Checked::default();
    let sections = [
        arms::blocks(n_experiments, &mut checked),
        arms::moments(n_experiments, &mut checked),
        arms::between(n_experiments, &mut checked),
        arms::runs(n_experiments, &mut checked),
        arms::one_arm(n_experiments),
        arms::slow_trials(n_experiments),
        races::races(n_experiments, &mut checked),
        races::throttled(n_experiments, &mut checked),
        races::legs(n_experiments, &mut checked),
    ];
    format!(
        "{HEADING}{n_experiments} experiments a cell, of fixed seeds; shares in percent; with 2000 experiments a share of 1 is known \
         to within 0.2 to 0.5. A claim is right where the interval of 99 % leaves \"no difference\" out and there is \
         one. *Covered* is the share of intervals that hold the truth. Of {} outputs, {} contradict themselves: a claim beside \
         an interval that holds 0 or is printed with it, none beside one that leaves it out, an estimate outside its own interval.\n\n{BARS}{}",
        checked.outputs,
        checked.contradictions,
        sections.join("\n")
    )
}

/// What the tables are held to, and where they cannot be.
const BARS: &str = "Bars: false claims at most 1.5 %, covered at least 97 %, a change found within 2 s of it in 99 %. What lasts as \
     long as what was looked at is seen by no statistic of it, and there the first two are missed: a step between two moments, runs \
     that differ by more than is allowed for them, five trials in modes of ten, one arm of few trials that wander, and races of \
     up to five minutes in which a node wanders (AR(1) 0.9, 0.98) or changes its regime. Several runs and legs are for that.\n\n";

/// The line by which this part of the page is found.
pub(super) const HEADING: &str = "## Verdicts by themselves\n\n";

fn percent(part: u32, of: u32) -> String {
    format!("{:.1}", 100.0 * f64::from(part) / f64::from(of.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What chance does to 300 experiments at a level of 1 %: 10 false claims have a chance of 1 in 1,000; the seeds are fixed.
    #[test]
    fn what_is_the_same_is_hardly_ever_claimed_to_differ() {
        let mut checked = Checked::default();
        for noise in noise::TRIALS {
            for n_blocks in [5, 10, 20] {
                let cell = arms::cell_of_blocks(noise, n_blocks, 300, &mut checked);
                assert!(cell.false_claims <= 10 && cell.covered >= 285, "{}: {cell:?}", noise.name);
            }
        }
        for noise in &noise::NODES[..2] {
            let cell = races::cell(noise, 60, 300, &mut checked);
            assert!(cell.false_claims <= 10, "{}: {cell:?}", noise.name);
        }
        assert!(checked.outputs > 10_000 && checked.contradictions == 0, "{checked:?}");
    }

    #[test]
    fn a_node_that_is_throttled_is_found_where_it_was_throttled() {
        let mut checked = Checked::default();
        let found = races::throttled_cell(&noise::NODES[0], 60, 300, &mut checked);
        assert!(found.within_two >= 297 && found.claimed_whole == 0, "{found:?}");
    }
}
