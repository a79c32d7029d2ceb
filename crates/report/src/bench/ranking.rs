//! Several arms, each against the one in the middle: a sweep over CPUs, a race of many nodes.

use super::arms::{CLOCK, scale};
use super::differs::{Words, signed};
use super::manner::Manner;
use super::quantity::{confidence, decimals, percent};
use crate::document::{Align, Table, Text};
use lab::comparison::Ranked;
use lab::summary::{Spread, Summary};
use lab::trial::Better;
use lab::verdict::Verdict;

/// Which arms stand out from the one in the middle, in one sentence: slow ones before fast ones.
pub(super) fn verdict(ranking: &[Ranked], first: Option<&Spread>) -> String {
    let claimed = |is_slow: bool| {
        let is_such = move |it: &&Ranked| is_claimed(it) && is_slower(it, first) == is_slow;
        ranking.iter().filter(is_such).collect::<Vec<_>>()
    };
    let (slow, fast) = (claimed(true), claimed(false));
    // The fastest is first, and the slowest last.
    let arm = match (slow.last(), fast.first()) {
        (Some(slowest), _) => *slowest,
        (None, Some(fastest)) => *fastest,
        (None, None) => return none_stands_out(ranking),
    };
    let ratio = arm.against_middle.as_ref().and_then(Verdict::ratio);
    let (Some(ratio), Some(first)) = (ratio, first) else { return String::new() };
    let middle = format!("the median of all {}", ranking.len());
    let (sentence, interval) =
        Words::between(&middle, &arm.arm, &first.name, &first.unit).claim(ratio);
    let others = match (slow.len(), fast.len()) {
        (0 | 1, 0) | (0, 1) => String::new(),
        (slow, 0) => format!("; {slow} are slower than it"),
        (0, fast) => format!("; {fast} are faster than it"),
        (slow, fast) => format!("; {slow} slower and {fast} faster than it"),
    };
    let rest = farthest(ranking.iter().filter(|it| !is_claimed(it)));
    let rest = rest.map_or(String::new(), |(n, within)| {
        let are = if n == 1 { "1 other is".to_owned() } else { format!("{n} others are") };
        format!(". {are} within {} % of it", percent(within))
    });
    format!("{sentence} ({interval}, {} interval){others}{rest}", confidence(ratio.confidence))
}

fn is_claimed(it: &Ranked) -> bool {
    it.against_middle.is_some_and(|it| it.is_claimed())
}

fn none_stands_out(ranking: &[Ranked]) -> String {
    match farthest(ranking.iter()) {
        // One is the median itself.
        Some((n, within)) if n + 1 >= ranking.len() => format!(
            "No difference shown among {} variants: each is within {} % of the median of all",
            ranking.len(),
            percent(within)
        ),
        Some((n, within)) => format!(
            "No difference shown among {} variants: {n} are within {} % of the median of all, of the others too little is known",
            ranking.len(),
            percent(within)
        ),
        None => format!("Too few blocks to say anything of {} variants", ranking.len()),
    }
}

/// How many of these have an interval, and the farthest end of them, as a share; `None` where none has.
fn farthest<'a>(ranking: impl Iterator<Item = &'a Ranked>) -> Option<(usize, f64)> {
    let ends = ranking.filter_map(|it| {
        let (_, interval) = it.against_middle.as_ref()?.ratio()?.change();
        Some(interval.low.abs().max(interval.high.abs()))
    });
    ends.fold(None, |found: Option<(usize, f64)>, end| {
        let (n, farthest) = found.unwrap_or_default();
        Some((n + 1, farthest.max(end)))
    })
}

/// A row for each arm, the fastest first, with medians.
pub(super) fn table(ranking: &[Ranked], summaries: &[Summary]) -> Table {
    let main = summaries.iter().find_map(|it| it.figures.first());
    let clock = summaries.iter().find_map(|it| it.clock.value());
    let name = main.map_or("", |it| &*it.name);
    let (median, probed) = (scale(main).heading(name), scale(clock).heading(CLOCK));
    let columns = [
        ("", Align::Left),
        (&*median, Align::Right),
        (&*probed, Align::Right),
        ("against the median of all, with its interval", Align::Left),
    ];
    let row = |it: &Ranked| {
        let summary = summaries.iter().find(|summary| summary.arm == it.arm);
        let number = |value: f64, of: Option<&Spread>| {
            let value = scale(of).number(value);
            format!("{value:.*}", decimals(value, None))
        };
        let clock = summary.and_then(|it| it.clock.value());
        let clock = clock.map_or("unknown".to_owned(), |it| number(it.median, Some(it)));
        let against = match &it.against_middle {
            None => "the median of all".to_owned(),
            Some(Verdict::Claimed(ratio)) => {
                let [change, low, high] = signed(ratio);
                format!("{change} %, {low} to {high} %")
            }
            Some(Verdict::TooFew { .. }) => "too few blocks".to_owned(),
            Some(_) => "no difference shown".to_owned(),
        };
        [it.arm.clone(), number(it.median, main), clock, against].map(Text::from).into()
    };
    Table::new(&columns, ranking.iter().map(row))
}

/// What the values of [`table`] are.
pub(super) fn medians(summaries: &[Summary], manner: Manner) -> String {
    let trials = || summaries.iter().map(|it| it.trials);
    let n = match (trials().min().unwrap_or(0), trials().max().unwrap_or(0)) {
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    format!("Values are medians of {n} {}s of each.", manner.one())
}

/// Whether its result lies on the slow side of the one in the middle.
fn is_slower(it: &Ranked, of: Option<&Spread>) -> bool {
    let is_more =
        it.against_middle.as_ref().and_then(Verdict::ratio).is_some_and(|it| it.log > 0.0);
    is_more == of.is_none_or(|it| it.better == Better::Lower)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{QUIET, interleaved, sweep};
    use super::*;
    use lab::comparison::ranking;
    use lab::record::Record;
    use lab::summary::summary;

    fn told(record: &Record) -> String {
        let summary = summary(record, 0).unwrap();
        verdict(&ranking(record), summary.figures.first())
    }

    #[test]
    fn the_slow_one_is_named_and_compared_with_the_middle_one() {
        let text = told(&sweep());
        assert!(text.starts_with("CPU 2 takes 3.0"), "{text}");
        assert!(
            text.contains(" longer than the median of all 4 (2.7 to 3.2 %, 99.6 % interval). 2 others are within 0.40 % of it"),
            "{text}"
        );
        assert!(!text.contains("; 2 are"), "{text}");
    }

    #[test]
    fn arms_that_are_alike_are_said_to_be_within_what() {
        let text = told(&interleaved(QUIET, QUIET, 10));
        assert!(
            text.starts_with("No difference shown among 2 variants: each is within 0."),
            "{text}"
        );
    }
}
