//! Several arms, each against all others: a sweep over CPUs, a race of many nodes.

use super::arms::{CLOCK, scale};
use super::manner::Manner;
use super::quantity::{decimals, percents};
use crate::document::{Align, Table, Text};
use lab::comparison::Ranked;
use lab::summary::{Spread, Summary};

/// Which arm stands out most, in one sentence: a slow one before a fast one.
pub(super) fn verdict(ranking: &[Ranked], manner: Manner) -> String {
    let claimed = |is_slow: bool| {
        let is_such = move |it: &&Ranked| it.is_claimed && is_slower(it) == is_slow;
        ranking.iter().filter(is_such).collect::<Vec<_>>()
    };
    let (slow, fast) = (claimed(true), claimed(false));
    // The fastest is first, and the slowest last.
    let (arm, alike) = match (slow.last(), fast.first()) {
        (Some(slowest), _) => (*slowest, slow.len()),
        (None, Some(fastest)) => (*fastest, fast.len()),
        (None, None) => return format!("No difference found among {} variants", ranking.len()),
    };
    let Some(against) = against(arm, manner) else { return String::new() };
    let Against { change, way, interval } = against;
    let more =
        if alike > 1 { format!(", the most of {alike} that are {way}") } else { String::new() };
    format!("{} is {change} {way} than the others, 95 % interval {interval}{more}", arm.arm)
}

/// A row for each arm, the fastest first, with medians.
pub(super) fn table(ranking: &[Ranked], summaries: &[Summary], manner: Manner) -> Table {
    let main = summaries.iter().find_map(|it| it.figures.first());
    let clock = summaries.iter().find_map(|it| it.clock.value());
    let name = main.map_or("", |it| &*it.name);
    let (median, probed) = (scale(main).heading(name), scale(clock).heading(CLOCK));
    let columns = [
        ("", Align::Left),
        (&*median, Align::Right),
        (&*probed, Align::Right),
        ("against the others, 95 % interval", Align::Left),
    ];
    let row = |it: &Ranked| {
        let summary = summaries.iter().find(|summary| summary.arm == it.arm);
        let number = |value: f64, of: Option<&Spread>| {
            let value = scale(of).number(value);
            format!("{value:.*}", decimals(value, None))
        };
        let clock = summary.and_then(|it| it.clock.value());
        let clock = clock.map_or("unknown".to_owned(), |it| number(it.median, Some(it)));
        let against = match against(it, manner).filter(|_| it.is_claimed) {
            Some(Against { change, way, interval }) => format!("{change} {way}, {interval}"),
            None => "no difference found".to_owned(),
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

/// How an arm differs from the others, in words.
struct Against {
    change: String,
    way: &'static str,
    interval: String,
}

/// `None` where too few blocks hold it.
fn against(it: &Ranked, manner: Manner) -> Option<Against> {
    let (change, interval) = manner.change(it.against_others.value()?);
    let ends = [interval.low.abs(), interval.high.abs()];
    let shares = [change.abs(), ends[0].min(ends[1]), ends[0].max(ends[1])];
    let [change, low, high] = percents(shares, interval.half_width());
    let way = if is_slower(it) { "slower" } else { "faster" };
    Some(Against { change: format!("{change} %"), way, interval: format!("{low} to {high} %") })
}

fn is_slower(it: &Ranked) -> bool {
    it.against_others.value().is_some_and(|it| it.change > 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{QUIET, interleaved, sweep};
    use super::*;
    use lab::comparison::ranking;

    #[test]
    fn the_slow_one_is_named_before_the_fast_ones() {
        let record = sweep();
        assert_eq!(
            verdict(&ranking(&record), Manner::of(&record)),
            "CPU 2 is 2.99 % slower than the others, 95 % interval 2.83 to 3.15 %"
        );
    }

    #[test]
    fn arms_that_are_alike_are_said_to_be() {
        let record = interleaved(QUIET, QUIET, 10);
        let text = verdict(&ranking(&record), Manner::of(&record));
        assert_eq!(text, "No difference found among 2 variants");
    }
}
