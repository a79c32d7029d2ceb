//! Baselines of a machine from boot to boot: one, all of them, and what changed between them.

mod csv;
mod diff;
mod json;
mod list;
mod taken;
#[cfg(test)]
mod tests;
mod words;

pub use csv::{diff as diff_csv, list as list_csv};
pub use diff::document as diff;
pub(crate) use json::{DiffDocument, ListDocument, TakenDocument};
pub use json::{diff as diff_json, list as list_json, taken as taken_json};
pub use list::document as list;
pub use taken::document as taken;

use lab::baseline::{
    Boot, Change, History, Period, Since, boots, changes, comparisons, count_of, periods,
};
use std::path::Path;

/// The baselines of a machine.
pub struct Report<'a> {
    /// All that could be read.
    pub history: &'a History,
    /// The file that has them.
    pub file: &'a Path,
    /// Now, in nanoseconds since 1970.
    pub now_ns: u64,
}

/// From when on changes are shown, and how that was given.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// What the user gave.
    pub text: &'a str,
    /// What that means.
    pub since: Since,
    /// Now, in nanoseconds since 1970.
    pub now_ns: u64,
}

/// What was kept when a baseline was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept<'a> {
    /// The settings and the speed of the machine.
    Now,
    /// Nothing: this boot has a baseline.
    Before,
    /// Its settings only, for this reason.
    WithoutSpeed(&'a str),
}

/// The boots of a history with their periods.
struct Boots<'a> {
    all: Vec<Boot<'a>>,
    periods: Vec<Period>,
}

impl<'a> Boots<'a> {
    fn of(history: &'a History) -> Boots<'a> {
        let all = boots(&history.entries);
        let periods = periods(&all);
        Boots { all, periods }
    }

    /// The changes of this time, or the last one; in order.
    fn changes(&self, window: Option<Window<'_>>) -> Vec<Change<'_>> {
        let last = self.periods.iter().skip(1).next_back().map(|it| it.first);
        let is_wanted = |place: usize| match window {
            Some(Window { since, now_ns, .. }) => since.contains(self.all[place].first(), now_ns),
            None => last == Some(place),
        };
        let n = comparisons(count_of(&self.periods, is_wanted));
        changes(&self.all, &self.periods, is_wanted, n)
    }

    /// How many boots have a speed.
    fn n_measured(&self) -> usize {
        self.all.iter().filter(|it| it.has_speed()).count()
    }
}
