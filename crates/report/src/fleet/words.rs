//! The sentences of a fleet.

use super::losses::Losses;
use super::{Report, short};
use crate::bench::{grouped, quantity};
use crate::document::Text;
use crate::wording::{fixed, four_digits};
use fleet::{
    Answer, Attribute, Explanation, Figure, Group, Kind, Measured, Suspect, Telling, TooFew,
};
use rules::settings::SETTINGS;
use std::collections::HashSet;
use std::sync::Arc;

/// From here on a machine runs at a part of what its peers do; below, it is some percent slower.
const LARGE: f64 = 0.2;

/// How many of how many machines are slow, what explains most of it, and what it costs.
pub(super) fn verdict(report: &Report<'_>, losses: &Losses) -> String {
    let Answer { slow, explanations, tested, .. } = report.answer;
    if report.machines.is_empty() {
        return "No machine was found.".to_owned();
    }
    if *tested == 0 {
        let n = grouped(report.machines.len() as u64);
        if let Some(suspects) = suspects(report) {
            return format!("None of {n} machines has enough peers to be judged. {suspects}");
        }
        let figure = figure(report.answer.figure);
        let why = match (report.answer.silent.len(), report.answer.unusable.len()) {
            (0, 0) => "they have too few peers".to_owned(),
            (silent, _) if silent == report.machines.len() => format!("{figure} is unknown"),
            _ => format!("{figure} is unknown, or they have too few peers"),
        };
        let why = format!("None of {n} machines can be judged: {why}.");
        return sentences([Some(why), differing(report)]);
    }
    if slow.is_empty() && explanations.is_empty() {
        let healthy = format!("No machine is slower than its peers: {} compared.", were(*tested));
        return sentences([Some(healthy), suspects(report).or_else(|| differing(report))]);
    }
    let of = grouped(*tested as u64);
    let mut sentences = vec![match slow.len() {
        0 => format!("None of {of} machines is slow by itself."),
        1 => format!("1 of {of} machines is slower than its peers."),
        n => format!("{} of {of} machines are slower than their peers.", grouped(n as u64)),
    }];
    let best = explanations.first().zip(losses.explained.first());
    if let Some((it, explained)) = best.filter(|_| losses.total > 0.0) {
        let share = percent(explained / losses.total);
        let what = attributes(&it.attributes);
        sentences.push(if it.explains == 0 {
            let n = machines(it.inside.len());
            format!("{what} explains {n} that are slower as a group, {share} of what is lost.")
        } else {
            let n = grouped(it.explains as u64);
            format!("{what} explains {n} of them, {share} of what is lost.")
        });
    }
    sentences.push(format!("Together they lack {}.", equivalent(losses.total)));
    sentences.extend(suspects(report));
    sentences.join(" ")
}

fn sentences(of: [Option<String>; 2]) -> String {
    of.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// `2 machines run far below the few peers that they have: db1, db7.`; `None` where there is none.
fn suspects(report: &Report<'_>) -> Option<String> {
    let of: Vec<usize> = report.answer.suspects.iter().map(|it| it.machine).collect();
    let (n, names) = (machines(of.len()), report.names(&of));
    match of.len() {
        0 => None,
        1 => Some(format!("{n} runs far below the few peers that it has: {names}.")),
        _ => Some(format!("{n} run far below the few peers that they have: {names}.")),
    }
}

/// `7 machines have something that few peers have: a difference, and no sign of being slow.`; `None` where there is none.
fn differing(report: &Report<'_>) -> Option<String> {
    let all: HashSet<usize> =
        report.answer.minorities.iter().flat_map(|it| &it.machines).copied().collect();
    let n = machines(all.len());
    let have = if all.len() == 1 { "has" } else { "have" };
    (!all.is_empty()).then(|| {
        format!(
            "{n} {have} something that few peers have: a difference, and no sign of being slow."
        )
    })
}

/// `runs at 25 % of its 2 peers, which are too few to say how unusual that is: it takes 5 machines`.
pub(super) fn suspicion(report: &Report<'_>, it: &Suspect) -> String {
    let at = percent(1.0 - it.lost);
    let few = report.answer.groups.get(it.group).and_then(|it| it.too_few);
    few.map_or_else(
        || format!("runs at {at} of its peers"),
        |TooFew { has, needs }| {
            let peers = has.saturating_sub(1);
            format!(
                "runs at {at} of its {peers} peers, which are too few to say how unusual that is: it takes {needs} machines"
            )
        },
    )
}

/// A loss in healthy machines: `as much as 405 machines do`.
fn equivalent(machines: f64) -> String {
    let n = if machines < 10.0 { fixed(machines, 1) } else { grouped(machines.round() as u64) };
    let noun = if n == "1.0" { "healthy machine does" } else { "healthy machines do" };
    format!("as much as {n} {noun}")
}

/// `331 of 331 machines of CPU model X with BIOS 12010303 run at 25 % of their peers; no other slow peer is unexplained.`
pub(super) fn explanation(report: &Report<'_>, it: &Explanation) -> String {
    let of = group_of(report, it).map_or_else(String::new, |it| format!(" of {it}"));
    let with = attributes(&it.attributes);
    let how = if it.lost >= LARGE {
        format!("run at {} of their peers", percent(1.0 - it.lost))
    } else {
        format!("are {} slower than their peers", percents(it)[0])
    };
    let (n, slow) = (it.inside.len(), it.slow_inside);
    let who = format!("{} of {} machines", grouped(slow as u64), grouped(n as u64));
    let first = if it.partly {
        format!(
            "{who}{of} with {with} are slow, and the others are not, so it takes something else as well"
        )
    } else if slow * 2 >= n {
        format!("{who}{of} with {with} {how}")
    } else {
        let machines = machines(n);
        format!("{machines}{of} with {with} {how}; {slow} of them are clearly below by themselves")
    };
    let others = match it.slow_outside {
        0 => "no other slow peer is unexplained".to_owned(),
        1 => "1 other slow peer is unexplained".to_owned(),
        n => format!("{} other slow peers are unexplained", grouped(n as u64)),
    };
    format!("{first}; {others}.")
}

/// What the machines of an explanation share by being peers; `None` where it holds across groups.
fn group_of(report: &Report<'_>, it: &Explanation) -> Option<String> {
    let group = report.answer.groups.get(it.group?)?;
    let said = |(name, value): (&Arc<str>, &Option<Arc<str>>)| {
        let is_said = it.attributes.iter().any(|it| it.kind == Kind::Label && it.name == *name);
        (!is_said).then(|| labelled(name, value.as_deref()))
    };
    let parts: Vec<String> =
        report.answer.peers_by.iter().zip(&group.values).filter_map(said).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `CPU model X, rack r17`; all machines where peers share nothing.
pub(super) fn group(report: &Report<'_>, group: &Group) -> String {
    peers(report, &group.values)
}

/// The same of the values of the labels that peers share.
pub(super) fn peers(report: &Report<'_>, values: &[Option<Arc<str>>]) -> String {
    let pairs = report.answer.peers_by.iter().zip(values);
    let parts: Vec<String> = pairs.map(|(name, value)| labelled(name, value.as_deref())).collect();
    if parts.is_empty() { "all machines".to_owned() } else { parts.join(", ") }
}

fn labelled(name: &str, value: Option<&str>) -> String {
    match value {
        Some("") => format!("empty {}", label(name)),
        Some(value) => format!("{} {}", label(name), short(value)),
        None => format!("unknown {}", label(name)),
    }
}

/// What is lost by it, with its interval; where only some of its machines are slow, by these.
pub(super) fn lost(it: &Explanation, explained: f64) -> String {
    if it.partly {
        let mean = percent(explained / it.explains.max(1) as f64);
        return format!("{mean} on average by those that are slow, {}", equivalent(explained));
    }
    let [lost, low, high] = percents(it);
    let machines = equivalent(it.lost * it.inside.len() as f64);
    format!("{lost} (99 % interval {low} to {high}), {machines}")
}

/// How many are slow inside and outside, and how many it accuses that are not slow by themselves.
pub(super) fn shares(it: &Explanation) -> String {
    let [slow_in, inside, slow_out, outside] =
        [it.slow_inside, it.inside.len(), it.slow_outside, it.outside].map(|it| grouped(it as u64));
    let accused = match it.inside.len().saturating_sub(it.slow_inside) {
        0 => "each is slow by itself".to_owned(),
        1 => "1 may be accused wrongly".to_owned(),
        n => format!("up to {} may be accused wrongly", grouped(n as u64)),
    };
    let has = share(it.slow_inside, it.inside.len());
    let lacks = share(it.slow_outside, it.outside);
    format!(
        "{slow_in} of {inside} that have it ({has}), {slow_out} of {outside} peers that lack it are slow and unexplained ({lacks}); {accused}"
    )
}

fn share(n: usize, of: usize) -> String {
    if of == 0 { "no peer".to_owned() } else { percent(n as f64 / of as f64) }
}

/// What else exactly the same machines have.
pub(super) fn same(of: &[Attribute]) -> String {
    let words = attributes(of);
    format!("{words}: exactly the same machines have it, so either may be the cause")
}

/// `clock-modulation (high): 331 of 331; 0 of 6,302 peers`.
pub(super) fn telling(it: &Telling) -> String {
    let what = attribute(&it.attribute);
    let [inside, of_inside, outside, of_outside] =
        [it.inside, it.of_inside, it.outside, it.of_outside].map(|it| grouped(it as u64));
    format!("{what}: {inside} of {of_inside}; {outside} of {of_outside} peers")
}

/// What fixes the finding of a check.
pub(crate) fn fix(id: &str) -> Text {
    if rules::checks::find(id).is_none() {
        return Text::from(format!("{id}: a finding that this version does not have"));
    }
    let is_planned = SETTINGS.iter().any(|it| it.fixes.contains(&id));
    Text::sentence(&if is_planned {
        format!("`fullclock plan {id}` on such a machine; `fullclock explain {id}` says why")
    } else {
        format!("no setting changes it: `fullclock explain {id}` says what does")
    })
}

/// Why nothing is said of a group.
pub(super) fn too_few(it: TooFew) -> String {
    let TooFew { has, needs } = it;
    let n = machines(has);
    format!("{n}, {needs} are needed to say which of them is slow")
}

/// `BIOS 12010303 and microcode 0x2b`.
pub(super) fn attributes(of: &[Attribute]) -> String {
    of.iter().map(attribute).collect::<Vec<_>>().join(" and ")
}

pub(super) fn attribute(it: &Attribute) -> String {
    let (name, value) = (&*it.name, &*it.value);
    match it.kind {
        Kind::Label => labelled(name, Some(value)),
        Kind::Finding => format!("{name} ({value})"),
        Kind::Setting | Kind::Fact => format!("{} = {}", short(name), short(value)),
    }
}

/// What a label is called.
pub(crate) fn label(name: &str) -> &str {
    match name {
        "cpu_model" => "CPU model",
        "bios_vendor" => "BIOS vendor",
        "bios_version" => "BIOS",
        "bios_date" => "BIOS date",
        "bmc_firmware" => "BMC firmware",
        "cpufreq_driver" => "cpufreq driver",
        name => name,
    }
}

/// What machines are compared by.
pub(super) fn figure(figure: Figure) -> &'static str {
    match figure {
        Figure::Clock => "the clock of busy CPUs",
        Figure::Speed => "the speed of the probe",
        Figure::Result => "a result",
    }
}

/// The value of a figure: a clock and a speed are shares of what is nominal, a result is what was measured.
pub(crate) fn value(figure: Figure, measured: Option<&Measured>, value: f64) -> String {
    match (figure, measured) {
        (Figure::Clock | Figure::Speed, _) => format!("{} %", fixed(value * 100.0, 1)),
        (Figure::Result, Some(it)) => quantity(it.turned(value), &it.unit, None),
        (Figure::Result, None) => four_digits(value),
    }
}

/// `Results of cpu-loop are compared: elapsed, less is better.`
pub(super) fn measured(it: &Measured) -> String {
    let Measured { workload, name, .. } = it;
    format!("Results of {workload} are compared: {name}, {} is better.", better(it))
}

/// `less`, `more`.
pub(crate) fn better(it: &Measured) -> &'static str {
    if it.is_less_better { "less" } else { "more" }
}

/// How many machines no audit judged; `None` where each was.
pub(super) fn unaudited(report: &Report<'_>) -> Option<String> {
    let of = |it: &usize| !report.machines[*it].audit.is_made();
    let unaudited: Vec<usize> = (0..report.machines.len()).filter(of).collect();
    if unaudited.is_empty() {
        return None;
    }
    if unaudited.len() == report.machines.len() {
        return Some("No machine was audited: findings are unknown.".to_owned());
    }
    let (n, names) = (machines(unaudited.len()), report.names(&unaudited));
    Some(format!(
        "Not audited: {n}, {names}. Their findings are unknown, and they are no peers without a finding."
    ))
}

/// `1 machine`, `20,000 machines`.
pub(super) fn machines(n: usize) -> String {
    let noun = if n == 1 { "machine" } else { "machines" };
    format!("{} {noun}", grouped(n as u64))
}

/// `1 was`, `20,000 were`.
pub(super) fn were(n: usize) -> String {
    let verb = if n == 1 { "was" } else { "were" };
    format!("{} {verb}", grouped(n as u64))
}

/// A share with one decimal below 10 %.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = usize::from(percent.abs() < 9.95 && percent != 0.0);
    format!("{} %", fixed(percent, decimals))
}

/// What is lost and its interval, with the digits that the interval allows.
fn percents(it: &Explanation) -> [String; 3] {
    let (low, high) = it.interval;
    let half = ((high - low) * 50.0).max(0.01);
    let decimals = (-half.log10()).ceil().clamp(0.0, 2.0) as usize;
    [it.lost, low, high].map(|it| format!("{} %", fixed(it * 100.0, decimals)))
}
