//! A comparison of two arms: the verdict, what explains it, and the numbers that it rests on.

use super::differs::{Words, requested, signed};
use super::manner::Manner;
use super::quantity::{confidence, percent};
use super::race_words::RaceWords;
use super::server_log;
use crate::document::{Align, Block, Document, Table, Text};
use facts::quantity::{counted, roughly};
use lab::compare::{Design, SettingDifference};
use lab::comparison::Comparison;
use lab::known::Known;
use lab::trial::Better;
use lab::verdict::{Allowance, BetweenRuns, Closeness, Ratio, Verdict};

/// Adds the verdict, what is shown of a margin, and what it would take where no difference is shown.
pub(super) fn conclusion(document: &mut Document, it: &Comparison, manner: Manner) {
    document.paragraph(Text::strong(verdict(it, manner)));
    let more = [margin(it), slow_trials(it, manner), planning(it, manner)];
    more.into_iter().flatten().for_each(|it| document.paragraph(it));
}

/// Adds how the clocks differ, and how two runs of the same do.
pub(super) fn explanation(document: &mut Document, it: &Comparison) {
    if let Some(log) = server_log::words(it) {
        document.labelled("database log", log);
    }
    document.labelled("clock", clock(it));
    if let Some(allowance) = &it.difference.allowance {
        document.labelled("run to run", run_to_run(&allowance.between_runs));
    }
}

/// What may be said, in one sentence.
pub(crate) fn verdict(it: &Comparison, manner: Manner) -> String {
    if let Some(race) = RaceWords::of(it) {
        return race.verdict();
    }
    let words = Words::of(it);
    let basis =
        |ratio: &Ratio| format!("{} interval; {}", confidence(ratio.confidence), basis(it, manner));
    let claim = |ratio: &Ratio| {
        let (sentence, interval) = words.claim(ratio);
        let (confidence, basis) = (confidence(ratio.confidence), self::basis(it, manner));
        format!("{sentence} ({confidence} interval {interval}; {basis})")
    };
    match &it.difference.verdict {
        Verdict::Claimed(ratio) => {
            let allowed = it.difference.allowance.map_or(String::new(), |it| cleared(&it));
            claim(ratio) + &allowed
        }
        Verdict::NotShown(ratio) => {
            format!("No difference shown: {} ({})", words.range(ratio), basis(ratio))
        }
        Verdict::Same { ratio, margin } => {
            let allowed = it.difference.allowance.map_or(String::new(), |it| held(&it));
            format!("{} ({}){allowed}", words.same(ratio, *margin), basis(ratio))
        }
        Verdict::TooNoisy(ratio) => {
            format!("Too noisy to say: {} ({})", words.range(ratio), basis(ratio))
        }
        Verdict::NotClear { ratio, allowance } => {
            format!(
                "Not claimed: {}, {}. Give three results of each, or use `bench --vs`",
                claim(ratio),
                unclear(allowance)
            )
        }
        Verdict::TooFew { have, needed, .. } => too_few(it, manner, *have, *needed),
    }
}

/// That neither what moved nor what runs differ by explains a claim of two moments.
pub(crate) fn cleared(allowance: &Allowance) -> String {
    let ([moved, runs], known) = (parts(allowance), known(&allowance.between_runs));
    format!(
        ". Neither what moved within a run ({moved} %) nor what runs usually differ by ({runs} %, {known}) explains that"
    )
}

/// That what moved and what runs differ by lie within the margin, too.
fn held(allowance: &Allowance) -> String {
    let ([moved, runs], known) = (parts(allowance), known(&allowance.between_runs));
    format!(
        ". That holds with what moved within a run ({moved} %) and what runs usually differ by ({runs} %, {known})"
    )
}

/// Where it is known from what two runs of the same differ by.
fn known(runs: &BetweenRuns) -> String {
    match runs.known_of {
        Some(n) => format!("from {n} earlier results"),
        None => "assumed".to_owned(),
    }
}

fn run_to_run(runs: &BetweenRuns) -> String {
    let limit = percent(runs.limit.exp_m1());
    match runs.known_of {
        Some(n) => format!(
            "up to {limit} % between two, from {n} earlier results of the same workload, settings and machine"
        ),
        None => format!(
            "up to {limit} % between two is assumed, 1 % each: there are no three earlier results of the same workload, settings and \
             machine"
        ),
    }
}

/// What could explain a difference that is not claimed.
pub(crate) fn unclear(allowance: &Allowance) -> String {
    let ([moved, runs], known) = (parts(allowance), known(&allowance.between_runs));
    let moved = if allowance.largest_move > 0.0 {
        format!(" and {moved} % is what moved within a run")
    } else {
        String::new()
    };
    format!("and two runs of the same differ by up to {runs} % ({known}){moved}")
}

fn parts(allowance: &Allowance) -> [String; 2] {
    [2.0 * allowance.largest_move, allowance.between_runs.limit].map(|it| percent(it.exp_m1()))
}

/// What was measured, and in how many blocks or trials.
fn basis(it: &Comparison, manner: Manner) -> String {
    let trials = |n: usize| manner.counted(u32::try_from(n).unwrap_or(u32::MAX));
    let n = match it.difference.design {
        Design::Race => trials(it.difference.n),
        Design::Interleaved => counted(it.difference.n as u64, "block"),
        Design::Runs(a, b) if a == b => format!("{a} results of each"),
        Design::Runs(a, b) => format!("{a} results of {} and {b} of {}", it.a, it.b),
        Design::Separate(a, b) if a == b => format!("{} of each", trials(a)),
        Design::Separate(a, b) => format!("{} of {} and {b} of {}", trials(a), it.a, it.b),
    };
    format!("{}, {n}", it.figure)
}

fn too_few(it: &Comparison, manner: Manner, have: usize, needed: usize) -> String {
    match it.difference.design {
        Design::Race => {
            format!("Too few intervals to say: {have}, and {needed} are needed (-d)")
        }
        Design::Interleaved => {
            let trials = needed.saturating_mul(manner.per_block.unwrap_or(1));
            format!("Too few blocks to say: {have}, and {needed} are needed (-n {trials})")
        }
        Design::Runs(..) if have < it.difference.n => {
            format!("Nothing to say: a result has a {} without a value", manner.one())
        }
        Design::Runs(..) => {
            format!("Too few results to say: {have} of one, and {needed} of each are needed")
        }
        Design::Separate(..) => {
            let trials = manner.one();
            format!("Too few {trials}s to say: {have} of one, and {needed} of each are needed")
        }
    }
}

/// `To tell 0.3 %, about 160 blocks (-n 320), 6 min.`
fn planning(it: &Comparison, manner: Manner) -> Option<String> {
    let planning = it.difference.planning?;
    let (sought, blocks) = (percent(planning.sought.exp_m1()), planning.blocks);
    let trials = manner.per_block.and_then(|it| blocks.checked_mul(it as u64));
    let trials = trials.map_or(String::new(), |it| format!(" (-n {it})"));
    let time = planning.seconds.map_or(String::new(), |it| format!(", {}", roughly(it)));
    Some(format!("To tell {sought} %, about {}{trials}{time}.", counted(blocks, "block")))
}

/// What is shown of the margin that was requested, where the verdict does not say it.
pub(super) fn margin(it: &Comparison) -> Option<String> {
    let close = it.difference.close?;
    let margin = requested(close.margin);
    match (close.is, &it.difference.verdict) {
        (_, Verdict::Same { .. }) => None,
        (Closeness::Within, _) => Some(format!("The difference is smaller than {margin} %.")),
        (Closeness::Beyond, _) => Some(format!("The difference is larger than {margin} %.")),
        (Closeness::Open, _) => {
            Some(format!("That the difference is smaller than {margin} % is not shown."))
        }
    }
}

/// Slow trials of which one arm has more, beyond chance of 1 %: a typical trial does not show them.
fn slow_trials(it: &Comparison, manner: Manner) -> Option<String> {
    const CHANCE: f64 = 0.01;
    let slow = it.difference.slow_trials.filter(|it| it.p < CHANCE)?;
    let share = |[slow, of]: [usize; 2]| slow as f64 / of as f64;
    let is_b = share(slow.b) > share(slow.a);
    let (who, [most, fewest]) =
        if is_b { (&it.b, [slow.b, slow.a]) } else { (&it.a, [slow.a, slow.b]) };
    let mean = percent(slow.change_of_mean.exp_m1().abs());
    let more = if slow.change_of_mean > 0.0 { "longer" } else { "less time" };
    Some(format!(
        "{who} has more slow {}s: {} of {} against {} of {}. On average {} takes {mean} % {more}.",
        manner.one(),
        most[0],
        most[1],
        fewest[0],
        fewest[1],
        it.b
    ))
}

/// A row for the main result, for what is left of it without the clock, and for time on the CPU.
pub(super) fn differences(it: &Comparison) -> Table {
    let heading = format!("{} against {}", it.b, it.a);
    let main = it.difference.verdict.ratio();
    let interval =
        main.map_or("interval".to_owned(), |it| format!("{} interval", confidence(it.confidence)));
    let columns = [(&*heading, Align::Left), ("change", Align::Right), (&*interval, Align::Right)];
    let row = |label: String, ratio: Option<&Ratio>| {
        let numbers = ratio.map_or(["unknown".to_owned(), String::new()], |it| {
            let [change, low, high] = signed(it);
            [format!("{change} %"), format!("{low} to {high} %")]
        });
        std::iter::once(label).chain(numbers).map(Text::from).collect()
    };
    let in_cycles = match it.better {
        Better::Higher => format!("{} per cycle", it.figure),
        Better::Lower => format!("{} in cycles", it.figure),
    };
    let mut table = Table::new(&columns, []);
    table.push(row(it.figure.clone(), main));
    table.push(row(in_cycles, it.difference.cycles.value()));
    if let Known::Value(ratio) = &it.difference.cpu_time {
        table.push(row("time on the CPU".to_owned(), Some(ratio)));
    }
    table
}

/// How the clocks differ, and how much of a claimed difference that explains.
pub(crate) fn clock(it: &Comparison) -> String {
    let difference = &it.difference;
    let Some(share) = difference.clock.value() else {
        return format!("unknown: {}", difference.clock.reason().unwrap_or_default());
    };
    if share.clock.abs() < SAME {
        return format!("the same for {} and {} within 0.01 %", it.a, it.b);
    }
    let way = if share.clock < 0.0 { "lower" } else { "higher" };
    let differs = format!("{} % {way} for {} than for {}", percent(share.clock.abs()), it.b, it.a);
    let cycles = difference.cycles.value().filter(|_| difference.verdict.is_claimed());
    let Some(cycles) = cycles else { return differs };
    let [left, low, high] = signed(cycles);
    if share.explains_all {
        return format!("{differs}, which explains it: {low} to {high} % are left in cycles");
    }
    let part = share.part.value().map_or(String::new(), |part| {
        // Without the sign of a 0.
        format!(", which makes {:.0} % of the difference", (part * 100.0).round() + 0.0)
    });
    format!("{differs}{part}; {left} % are left in cycles ({low} to {high} %)")
}

/// The probe disagrees with itself by that much.
const SAME: f64 = 1e-4;

/// Adds the settings in which the machines differ. A result without any says nothing about a machine.
pub(super) fn settings(document: &mut Document, it: &Comparison) {
    let found = &it.difference.settings;
    let lacks = |of: fn(&SettingDifference) -> bool| found.len() > 1 && found.iter().all(of);
    match found.len() {
        0 if matches!(it.difference.design, Design::Interleaved | Design::Race) => {}
        0 => document.labelled("settings", "the same in both"),
        _ if lacks(|it| it.a.is_none()) => {
            document.labelled("settings", format!("unknown: {} names none", it.a));
        }
        _ if lacks(|it| it.b.is_none()) => {
            document.labelled("settings", format!("unknown: {} names none", it.b));
        }
        n => {
            document.heading(if n == 1 {
                "1 setting differs".to_owned()
            } else {
                format!("{n} settings differ")
            });
            document.push(Block::Table(setting_table(it)));
        }
    }
}

fn setting_table(it: &Comparison) -> Table {
    let columns = [("setting", Align::Left), (&*it.a, Align::Left), (&*it.b, Align::Left)];
    let value = |of: &Option<String>| of.clone().unwrap_or("not recorded".to_owned());
    let row = |it: &SettingDifference| {
        [it.name.clone(), value(&it.a), value(&it.b)].map(Text::from).into()
    };
    Table::new(&columns, it.difference.settings.iter().map(row))
}
