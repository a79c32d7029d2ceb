//! How far the ledger is from the truth: pure arithmetic over two ledgers, one with a theft and one without.

use std::collections::BTreeSet;

use super::books::Books;

/// What may be wrong at most, in percent of the capacity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bars {
    /// Between what was taken and what was found.
    pub(super) error: f64,
    /// The movement of a line that the theft has nothing to do with.
    pub(super) side_effect: f64,
    /// What no line accounts for.
    pub(super) unexplained: f64,
}

/// What came out for one theft, in percent of the capacity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    /// What the thief took, by its own count.
    pub(super) injected: f64,
    /// By how much the theft's lines rose.
    pub(super) found: f64,
    /// The line that moved most without a reason, and by how much.
    pub(super) side_effect: (String, f64),
    /// Of the ledger with the theft, whatever its sign.
    pub(super) unexplained: f64,
}

impl Verdict {
    /// Compares. The lines that the theft goes to and those that it has to come from are expected to move.
    pub(super) fn of(
        injected: f64,
        (with, without): (&Books, &Books),
        to: &[&str],
        from: &[&str],
    ) -> Verdict {
        let names: BTreeSet<&String> = with.lines.keys().chain(without.lines.keys()).collect();
        let losses: Vec<&str> =
            to.iter().chain(from).filter_map(|part| part.split('/').next()).collect();
        let expected = |name: &str| losses.contains(&name);
        let moved = |name: &str| with.share_of(&[name]) - without.share_of(&[name]);
        let side_effect = names
            .into_iter()
            .filter(|name| !expected(name))
            .map(|name| (name.clone(), moved(name)))
            .max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()))
            .unwrap_or_default();
        Verdict {
            injected,
            found: with.share_of(to) - without.share_of(to),
            side_effect,
            unexplained: with.unexplained,
        }
    }

    /// In percentage points, positive where too much was found.
    pub(super) fn error(&self) -> f64 {
        self.found - self.injected
    }

    /// What is beyond its bar, in words; nothing where all is well.
    pub(super) fn misses(&self, bars: Bars) -> Vec<&'static str> {
        let beyond = [
            ("error", self.error(), bars.error),
            ("side effect", self.side_effect.1, bars.side_effect),
            ("unexplained", self.unexplained, bars.unexplained),
        ];
        // So that what is no number is a miss too.
        let misses = |value: f64, bar: f64| value.is_nan() || value.abs() > bar;
        beyond.into_iter().filter(|it| misses(it.1, it.2)).map(|it| it.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const BARS: Bars = Bars { error: 1.0, side_effect: 1.0, unexplained: 0.5 };

    fn books(lines: &[(&str, f64)]) -> Books {
        let sum: f64 = lines.iter().map(|it| it.1).sum();
        let lines = lines.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect();
        Books { lines, parts: BTreeMap::new(), unexplained: 100.0 - sum }
    }

    #[test]
    fn a_theft_that_is_found_where_it_belongs_is_a_pass() {
        let without = books(&[("idle", 99.0), ("useful", 0.5), ("ticks", 0.4)]);
        let with = books(&[("idle", 79.2), ("useful", 20.1), ("ticks", 0.6)]);
        let verdict = Verdict::of(20.0, (&with, &without), &["useful"], &["idle"]);
        assert!((verdict.found - 19.6).abs() < 1e-9);
        assert!((verdict.error() + 0.4).abs() < 1e-9);
        assert_eq!(verdict.side_effect.0, "ticks");
        assert!(verdict.misses(BARS).is_empty(), "{verdict:?}");
    }

    #[test]
    fn each_bar_is_missed_by_itself() {
        let without = books(&[("idle", 99.8), ("ticks", 0.0)]);
        let with = books(&[("idle", 79.0), ("useful", 17.0), ("ticks", 3.0)]);
        let verdict = Verdict::of(20.0, (&with, &without), &["useful"], &["idle"]);
        assert_eq!(verdict.misses(BARS), ["error", "side effect", "unexplained"]);
    }

    #[test]
    fn a_line_that_appears_or_vanishes_moved() {
        let without = books(&[("idle", 95.0), ("steal", 5.0)]);
        let with = books(&[("idle", 95.0), ("quota", 4.0)]);
        let verdict = Verdict::of(0.0, (&with, &without), &["useful"], &["idle"]);
        assert_eq!(verdict.side_effect, ("steal".to_owned(), -5.0));
    }

    #[test]
    fn what_is_no_number_is_no_pass() {
        let all = books(&[("idle", 100.0)]);
        let verdict = Verdict::of(f64::NAN, (&all, &all), &["useful"], &["idle"]);
        assert_eq!(verdict.misses(BARS), ["error"]);
    }
}
