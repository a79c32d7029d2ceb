//! A fleet: `schemas/fleet-1.json`.

use super::Report;
use super::peers::{Findings, telling};
use crate::json::{Head, Opening, pretty};
use fleet::{
    Answer, Attribute, Explanation, Figure, Group, Kind, Measured, Minority, Slow, Subject,
    Suspect, Telling, Unusual,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which machines of a fleet are slower than their peers, and what explains it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FleetDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    /// Where the machines come from, in words.
    source: &'a str,
    /// What they are compared by: the clock of busy CPUs over the nominal one, the speed of the probe over that at the nominal
    /// clock, or results.
    #[schemars(extend("enum" = ["clock", "speed", "result"]))]
    figure: &'static str,
    /// What the results are, where these are compared.
    result: Option<ResultView<'a>>,
    /// The labels whose values peers share.
    peers_by: Vec<&'a str>,
    n_machines: usize,
    /// Machines that were compared with peers.
    n_tested: usize,
    /// Machines that an audit judged: of the others no finding is known.
    n_audited: usize,
    /// The share of the slow machines that is healthy at most, on average.
    false_share: f64,
    /// What explains them, the one that holds most of the loss first.
    explanations: Vec<ExplanationView<'a>>,
    /// The slow machines, the worst first.
    slow: Vec<SlowView<'a>>,
    /// Machines by 20 % or more below each of the two or three peers that they have. These are too few to test anything: `slow` has none of
    /// them.
    suspects: Vec<SuspectView<'a>>,
    /// Where no machine is slow, a suspect or explained, as where no clock is known: what few machines have and most of their peers do not.
    /// Differences, and no causes. Those with the worst findings first, then settings and labels, then facts; of equals the fewest machines.
    minorities: Vec<MinorityView<'a>>,
    /// The groups of peers, the largest first.
    groups: Vec<GroupView<'a>>,
    /// Machines of which it is unknown what is compared.
    silent: Vec<&'a str>,
    /// Machines with a value that none can have.
    unusable: Vec<&'a str>,
    /// How many values and pairs of values were searched for an explanation. Where there is none, at most one search in 100 finds
    /// one by chance.
    n_searched: usize,
    /// What was named and holds no machine.
    skipped: Vec<SkippedView<'a>>,
    notes: &'a [String],
}

/// A file or a host that is no machine of the fleet.
#[derive(Serialize, JsonSchema)]
struct SkippedView<'a> {
    name: &'a str,
    why: &'a str,
}

/// What results of a fleet measure.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ResultView<'a> {
    /// The workload, with what was requested of it.
    workload: &'a str,
    /// What was measured.
    name: &'a str,
    unit: &'a str,
    #[schemars(extend("enum" = ["less", "more"]))]
    better: &'static str,
}

impl<'a> ResultView<'a> {
    pub(crate) fn of(it: &'a Measured) -> ResultView<'a> {
        let Measured { workload, name, unit, .. } = it;
        ResultView { workload, name, unit, better: super::words::better(it) }
    }
}

/// One value, or a pair, that slow machines have and their peers lack.
#[derive(Serialize, JsonSchema)]
struct ExplanationView<'a> {
    /// One or two; both have to hold.
    attributes: Vec<AttributeView<'a>>,
    /// What exactly the same machines have, too.
    same: Vec<Vec<AttributeView<'a>>>,
    /// The place in `groups` of the peers among which it holds; null where it holds across groups.
    group: Option<usize>,
    n_inside: usize,
    /// Whether only some of those that have it are slow, far more than of those that lack it; a typical one loses nothing then.
    partly: bool,
    /// How many of those that have it are slow, each by itself.
    n_slow_inside: usize,
    /// How many of the slow ones it explains best.
    n_explained: usize,
    /// Peers that lack it.
    n_outside: usize,
    /// How many of these are slow and explained by nothing better.
    n_slow_outside: usize,
    /// What a typical machine that has it loses against its peers, as a share.
    lost: f64,
    /// The 99 % interval of that.
    interval: LossInterval,
    /// The names of those that have it.
    machines: Vec<&'a str>,
    /// What else they have and most of their peers lack.
    contrasts: Vec<ContrastView<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct LossInterval {
    low: f64,
    high: f64,
}

/// Something that machines have in common.
#[derive(Serialize, JsonSchema)]
struct AttributeView<'a> {
    #[schemars(extend("enum" = ["label", "finding", "setting", "fact"]))]
    kind: &'static str,
    /// Of a finding the id of its check.
    name: &'a str,
    /// Of a finding its severity.
    value: &'a str,
}

/// What machines have and their peers lack.
#[derive(Serialize, JsonSchema)]
struct ContrastView<'a> {
    #[serde(flatten)]
    attribute: AttributeView<'a>,
    /// How many of the machines have it.
    n_inside: usize,
    /// Of how many of them it is known.
    of_inside: usize,
    /// How many peers have it.
    n_outside: usize,
    /// Of how many peers it is known.
    of_outside: usize,
}

/// A slow machine.
#[derive(Serialize, JsonSchema)]
struct SlowView<'a> {
    machine: &'a str,
    /// The place of its peers in `groups`.
    group: usize,
    /// In the unit of what is compared.
    value: f64,
    /// What it lacks of the typical value of its peers, as a share.
    lost: f64,
    /// How many standard deviations of its peers it is below them.
    standard_deviations: f64,
    /// The place in `explanations` of what explains it.
    explained_by: Option<usize>,
    /// Whether an audit judged it; else its findings are unknown.
    audited: bool,
    /// Its findings that at most half of its peers have, of those of which it is known.
    findings: Vec<AttributeView<'a>>,
    /// What it has and its peers lack, of the slowest that nothing explains.
    contrasts: Vec<ContrastView<'a>>,
}

/// A machine far below the few peers that it has.
#[derive(Serialize, JsonSchema)]
struct SuspectView<'a> {
    machine: &'a str,
    /// The place of its peers in `groups`.
    group: usize,
    value: f64,
    /// What it lacks of the middle one of its peers, as a share.
    lost: f64,
    /// What it has and its peers lack.
    contrasts: Vec<ContrastView<'a>>,
}

/// Machines that have something which few of their peers have.
#[derive(Serialize, JsonSchema)]
struct MinorityView<'a> {
    /// The value of each label of `peers_by` that they share with their peers; null where it is unknown.
    peers: BTreeMap<&'a str, Option<&'a str>>,
    /// How many machines they and their peers are.
    n_peers: usize,
    machines: Vec<&'a str>,
    /// What exactly these machines have.
    unusual: Vec<UnusualView<'a>>,
}

/// Something that few machines have.
#[derive(Serialize, JsonSchema)]
struct UnusualView<'a> {
    #[serde(flatten)]
    attribute: AttributeView<'a>,
    /// What most have in its place; null where most have no such finding, or no such setting or fact is known of them.
    usual: Option<&'a str>,
    /// How many have that.
    n_usual: usize,
    /// Of how many machines it is known.
    n_known: usize,
}

/// Machines that should be equally fast.
#[derive(Serialize, JsonSchema)]
struct GroupView<'a> {
    /// The value of each label of `peers_by`; null where it is unknown.
    values: BTreeMap<&'a str, Option<&'a str>>,
    n_machines: usize,
    /// How many machines it takes, where it has too few: nothing is said of it then.
    too_few_of: Option<usize>,
    /// The value of a typical healthy machine.
    typical: Option<f64>,
    /// The robust standard deviation of healthy machines, as a share of that.
    spread: Option<f64>,
    /// The smallest loss of a single machine that is seen, as a share.
    detectable: Option<f64>,
}

/// The whole document.
///
/// Errors: it cannot be written as JSON, which is a bug.
pub fn json(head: &Head, report: &Report<'_>) -> Result<String> {
    let answer = report.answer;
    let findings = Findings::of(report);
    let Answer { peers_by, tested, false_share, slow, silent, .. } = answer;
    pretty(&FleetDocument {
        opening: head.opening(),
        source: report.source,
        figure: figure_name(answer.figure),
        result: report.measured().map(ResultView::of),
        peers_by: peers_by.iter().map(|it| &**it).collect(),
        n_machines: report.machines.len(),
        n_tested: *tested,
        n_audited: report.machines.iter().filter(|it| it.audit.is_made()).count(),
        false_share: *false_share,
        explanations: answer
            .explanations
            .iter()
            .enumerate()
            .map(|it| explanation(report, it))
            .collect(),
        slow: slow.iter().map(|it| slow_view(report, &findings, it)).collect(),
        suspects: answer.suspects.iter().map(|it| suspect(report, it)).collect(),
        minorities: answer.minorities.iter().map(|it| minority(report, it)).collect(),
        groups: answer.groups.iter().map(|it| group(report, it)).collect(),
        silent: named(report, silent),
        unusable: named(report, &answer.unusable),
        n_searched: answer.searched,
        skipped: report
            .skipped
            .iter()
            .map(|it| SkippedView { name: it.name, why: it.why })
            .collect(),
        notes: report.notes,
    })
}

fn explanation<'a>(
    report: &'a Report<'a>,
    (at, it): (usize, &'a Explanation),
) -> ExplanationView<'a> {
    let (low, high) = it.interval;
    ExplanationView {
        attributes: it.attributes.iter().map(attribute).collect(),
        same: it.same.iter().map(|it| it.iter().map(attribute).collect()).collect(),
        group: it.group,
        n_inside: it.inside.len(),
        partly: it.partly,
        n_slow_inside: it.slow_inside,
        n_explained: it.explains,
        n_outside: it.outside,
        n_slow_outside: it.slow_outside,
        lost: it.lost,
        interval: LossInterval { low, high },
        machines: named(report, &it.inside),
        contrasts: contrasts(report, Subject::Explanation(at)),
    }
}

fn contrasts<'a>(report: &'a Report<'a>, of: Subject) -> Vec<ContrastView<'a>> {
    let view = |it: &'a Telling| ContrastView {
        attribute: attribute(&it.attribute),
        n_inside: it.inside,
        of_inside: it.of_inside,
        n_outside: it.outside,
        of_outside: it.of_outside,
    };
    telling(report.answer, of).iter().map(view).collect()
}

fn slow_view<'a>(report: &'a Report<'a>, findings: &Findings<'a>, it: &Slow) -> SlowView<'a> {
    SlowView {
        machine: report.name(it.machine).unwrap_or_default(),
        group: it.group,
        value: report.own(it.value),
        lost: it.lost,
        standard_deviations: it.spreads,
        explained_by: it.explained_by,
        audited: report.machines.get(it.machine).is_some_and(|it| it.audit.is_made()),
        findings: findings.rare(it).into_iter().map(attribute).collect(),
        contrasts: contrasts(report, Subject::Machine(it.machine)),
    }
}

fn suspect<'a>(report: &'a Report<'a>, it: &Suspect) -> SuspectView<'a> {
    SuspectView {
        machine: report.name(it.machine).unwrap_or_default(),
        group: it.group,
        value: report.own(it.value),
        lost: it.lost,
        contrasts: contrasts(report, Subject::Machine(it.machine)),
    }
}

fn group<'a>(report: &'a Report<'a>, it: &'a Group) -> GroupView<'a> {
    let known = |value: f64| it.too_few.is_none().then_some(value);
    GroupView {
        values: shared(report, &it.values),
        n_machines: it.machines.len(),
        too_few_of: it.too_few.map(|it| it.needs),
        typical: known(report.own(it.centre)),
        spread: known(it.spread),
        detectable: known(it.detectable),
    }
}

/// The labels that peers share, by name.
fn shared<'a>(
    report: &'a Report<'a>,
    values: &'a [Option<Arc<str>>],
) -> BTreeMap<&'a str, Option<&'a str>> {
    let names = report.answer.peers_by.iter().map(|it| &**it);
    names.zip(values.iter().map(Option::as_deref)).collect()
}

fn minority<'a>(report: &'a Report<'a>, it: &'a Minority) -> MinorityView<'a> {
    let unusual = |it: &'a Unusual| UnusualView {
        attribute: attribute(&it.attribute),
        usual: it.usual.as_deref(),
        n_usual: it.n_usual,
        n_known: it.known,
    };
    MinorityView {
        peers: shared(report, &it.values),
        n_peers: it.of,
        machines: named(report, &it.machines),
        unusual: it.unusual.iter().map(unusual).collect(),
    }
}

fn attribute(it: &Attribute) -> AttributeView<'_> {
    AttributeView { kind: kind_name(it.kind), name: &it.name, value: &it.value }
}

fn named<'a>(report: &'a Report<'a>, machines: &[usize]) -> Vec<&'a str> {
    machines.iter().filter_map(|it| report.name(*it)).collect()
}

/// What JSON calls a kind.
pub(crate) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Label => "label",
        Kind::Finding => "finding",
        Kind::Setting => "setting",
        Kind::Fact => "fact",
    }
}

/// What JSON calls a figure.
pub(crate) fn figure_name(figure: Figure) -> &'static str {
    match figure {
        Figure::Clock => "clock",
        Figure::Speed => "speed",
        Figure::Result => "result",
    }
}
