//! Before or after: the trials of one arm in numbers.

use crate::bench::{percent, quantity, range};
use lab::compare::Side;
use lab::experiment::analysis::ledger;
use lab::known::Known;
use lab::record::Arm;
use lab::summary::{Spread, Summary, summary};
use lab::trial::Trial;
use rules::losses::LOSSES;

/// One of the two.
pub(super) struct Moment<'a> {
    pub(super) side: Side<'a>,
    pub(super) arm: &'a Arm,
    pub(super) summary: Summary,
    /// The ledger's lines around its trials, by id of the loss and its part.
    pub(super) ledger: Vec<(String, String, f64)>,
    /// The numbers of its trials and their results.
    pub(super) points: Vec<(u32, f64)>,
}

impl<'a> Moment<'a> {
    /// `None` if no trial has a result.
    pub(super) fn of(side: Side<'a>) -> Option<Moment<'a>> {
        let trials: Vec<&Trial> =
            side.record.trials.iter().filter(|it| it.arm == side.arm).collect();
        let point = |it: &&Trial| Some((it.number, it.outcome.figures.first()?.value));
        let summary = summary(side.record, side.arm)?;
        summary.figures.first()?;
        Some(Moment {
            side,
            arm: side.record.arms.get(side.arm)?,
            summary,
            ledger: ledger(&trials),
            points: trials.iter().filter_map(point).collect(),
        })
    }

    /// The share of CPU time of a loss with all its parts, or why it is unknown; `None` if no ledger has it.
    fn share_text(&self, loss: &str) -> Option<String> {
        if let Some(share) = self.share_of(loss) {
            return Some(format!("{} %", percent(share)));
        }
        let trials = self.side.record.trials.iter().filter(|it| it.arm == self.side.arm);
        let lines = trials.filter_map(|it| it.surroundings.value()).flat_map(|it| &it.ledger);
        lines
            .filter(|it| it.loss == loss)
            .find_map(|it| Some(format!("unknown: {}", it.share.reason()?)))
    }

    fn share_of(&self, loss: &str) -> Option<f64> {
        let mut parts = self.ledger.iter().filter(|it| it.0 == loss).map(|it| it.2).peekable();
        parts.peek()?;
        Some(parts.sum())
    }

    /// The unexplained share; `None` if no ledger has the useful share.
    fn unexplained(&self) -> Option<String> {
        self.share_of("useful")?;
        let share = 1.0 - self.ledger.iter().map(|it| it.2).sum::<f64>();
        Some(format!("{} %", percent(share)))
    }
}

/// Rows for the result and the clock, which have no intervals of their own: name, before, after.
pub(super) fn figures([before, after]: &[Moment<'_>; 2]) -> Vec<(String, Vec<String>)> {
    let both = |of: &dyn Fn(&Moment<'_>) -> String| vec![of(before), of(after)];
    let Some(main) = before.summary.figures.first() else { return Vec::new() };
    let figure = |of: &dyn Fn(&Spread) -> String| {
        both(&|it: &Moment<'_>| it.summary.figures.first().map_or_else(String::new, of))
    };
    let known = |of: &dyn Fn(&Moment<'_>) -> Known<Spread>| {
        both(&|it: &Moment<'_>| match of(it) {
            Known::Value(spread) => shown(&spread, spread.median),
            Known::Missing { missing } => format!("unknown: {missing}"),
        })
    };
    let mut rows = vec![
        (format!("{}, median", main.name), figure(&|it| shown(it, it.median))),
        (format!("{}, min to max", main.name), figure(&all)),
        ("trials".to_owned(), both(&|it| it.summary.trials.to_string())),
        ("clock, median".to_owned(), known(&|it| it.summary.clock.clone())),
    ];
    // Only of a time is there a number of cycles.
    if main.unit == "s" {
        let cycles = known(&|it| it.summary.cycles.clone());
        rows.push(("cycles, median".to_owned(), cycles));
    }
    rows
}

/// That most of what a ledger covers is no trial, where trials are short.
pub(super) fn window_note(moments: &[Moment<'_>; 2]) -> Option<String> {
    let trials = moments.iter().flat_map(|moment| {
        let of_arm = moment.side.record.trials.iter().filter(|it| it.arm == moment.side.arm);
        of_arm.filter_map(|it| Some((*it.outcome.elapsed_ns.value()?, it.surroundings.value()?)))
    });
    let (elapsed, window) = trials.fold((0.0, 0.0), |(elapsed, window), (ns, around)| {
        (elapsed + ns as f64, window + around.window_ns as f64)
    });
    (window > 2.0 * elapsed).then(|| {
        format!(
            "The trials are short: they are {} % of the time that the ledger covers, and in the rest of it the other \
             one may have run.",
            percent(elapsed / window)
        )
    })
}

/// The lines of the ledger in order, one row each; empty if there is no ledger.
pub(super) fn ledgers(moments: &[Moment<'_>; 2]) -> Vec<(String, Vec<String>)> {
    type Cell<'a> = &'a dyn Fn(&Moment<'_>) -> Option<String>;
    let row = |title: &str, of: Cell<'_>| {
        let cells: Vec<Option<String>> = moments.iter().map(of).collect();
        let is_any = cells.iter().any(Option::is_some);
        let cell = |it: Option<String>| it.unwrap_or_else(|| "not in its ledger".to_owned());
        is_any.then(|| (title.to_owned(), cells.into_iter().map(cell).collect()))
    };
    let lines = LOSSES.iter().filter_map(|loss| row(loss.title, &|it| it.share_text(loss.id)));
    lines.chain(row("unexplained", &|it| it.unexplained())).collect()
}

fn shown(spread: &Spread, value: f64) -> String {
    quantity(value, &spread.unit, spread.precision())
}

fn all(spread: &Spread) -> String {
    range(&shown(spread, spread.lowest), &shown(spread, spread.highest))
}
