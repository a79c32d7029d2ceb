//! Baselines as JSON: `schemas/baseline-1.json`, `baseline-list-1.json` and `baseline-diff-1.json`.

use super::list::{changed, unseen};
use super::words::{odd, said, sentence};
use super::{Boots, Kept, Report, Window};
use crate::bench::verdict_view::{AllowanceView, VerdictView};
use crate::json::{Head, Opening, Time, pretty};
use facts::baseline::{Changed, Part};
use lab::baseline::{Change, Judged};
use lab::verdict::Verdict;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The baseline of this boot, and the last change of the machine.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TakenDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    /// now: it was taken; before: this boot had one; without-speed: the settings are kept, and the machine was not idle.
    #[schemars(extend("enum" = ["now", "before", "without-speed"]))]
    kept: &'static str,
    baseline: Option<BaselineView<'a>>,
    /// The settings of the machine by name, in words; null where they are lost.
    settings: Option<&'a BTreeMap<String, String>>,
    /// null where there is none that can be judged.
    last_change: Option<ChangeView<'a>>,
    /// What could not be read of the history, and numbers and times that cannot be.
    notes: Vec<String>,
}

/// The baselines of a machine, the latest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ListDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    baselines: Vec<BaselineView<'a>>,
    /// What could not be read of the history, and numbers and times that cannot be.
    notes: Vec<String>,
}

/// What changed from boot to boot and what that did to the speed, the latest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiffDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    /// As it was given; null where the last change was requested.
    since: Option<&'a str>,
    /// How many boots have a speed.
    boots: usize,
    changes: Vec<ChangeView<'a>>,
    /// What could not be read of the history, and numbers and times that cannot be.
    notes: Vec<String>,
}

/// One baseline.
#[derive(Serialize, JsonSchema)]
struct BaselineView<'a> {
    /// Counts the baselines of this history.
    number: u64,
    /// The boot, as in /proc/sys/kernel/random/boot_id.
    boot: &'a str,
    /// null where the line has no time that can be.
    at: Option<Time<'static>>,
    /// For how long the machine was up.
    up_s: u64,
    /// From the baseline before to the start of the boot; null of the first one, of a second one in a boot, and where clocks do not tell.
    unseen_s: Option<f64>,
    /// The settings that differ from those of the baseline before.
    changed: Vec<ChangedView<'a>>,
    /// Why nothing was measured; null where something was.
    not_measured: Option<&'a str>,
    parts: Vec<PartView<'a>>,
}

/// What was measured of one part.
#[derive(Serialize, JsonSchema)]
struct PartView<'a> {
    #[schemars(extend("enum" = ["single-core", "all-cores", "wake-up", "memory"]))]
    part: &'static str,
    /// million operations a second (M/s), microseconds (us) or nanoseconds (ns).
    unit: &'static str,
    /// The typical trial; null where there is none.
    typical: Option<f64>,
    trials: &'a [f64],
    /// Why there are no trials.
    missing: Option<&'a str>,
}

/// A setting with another value than before.
#[derive(Serialize, JsonSchema)]
struct ChangedView<'a> {
    /// As in results of bench.
    name: Cow<'a, str>,
    /// null where it is not recorded.
    before: Option<Cow<'a, str>>,
    after: Option<Cow<'a, str>>,
}

/// A change of the machine, or of its speed alone.
#[derive(Serialize, JsonSchema)]
struct ChangeView<'a> {
    /// In words.
    text: String,
    /// The number of the first baseline after it.
    number: u64,
    /// When that was taken; null where its line has no time that can be.
    at: Option<Time<'static>>,
    /// Of how many boots before it the speed is known.
    boots_before: usize,
    boots_after: usize,
    /// Empty where nothing changed that is recorded.
    changed: Vec<ChangedView<'a>>,
    parts: Vec<JudgedView>,
}

/// What may be said of one part.
#[derive(Serialize, JsonSchema)]
struct JudgedView {
    #[schemars(extend("enum" = ["single-core", "all-cores", "wake-up", "memory"]))]
    part: &'static str,
    unit: &'static str,
    /// The typical value of the boots before.
    before: f64,
    after: f64,
    /// Whether it is shown to be slower.
    is_slower: bool,
    /// In words.
    text: String,
    /// Of the value after against that before.
    verdict: VerdictView,
}

/// The baseline of this boot.
///
/// Errors: it cannot be written as JSON, which is a bug.
pub fn taken(head: &Head, report: &Report<'_>, kept: Kept<'_>) -> Result<String> {
    let entries = &report.history.entries;
    let boots = Boots::of(report.history);
    let changes = boots.changes(None);
    pretty(&TakenDocument {
        opening: head.opening(),
        kept: match kept {
            Kept::Now => "now",
            Kept::Before => "before",
            Kept::WithoutSpeed(_) => "without-speed",
        },
        baseline: entries.len().checked_sub(1).map(|at| baseline(report, at)),
        settings: entries.last().and_then(|it| it.settings.as_deref()).map(|it| &it.0),
        last_change: changes.last().map(change),
        notes: odd(report),
    })
}

/// The last so many baselines.
///
/// Errors: they cannot be written as JSON, which is a bug.
pub fn list(head: &Head, report: &Report<'_>, most: usize) -> Result<String> {
    let entries = &report.history.entries;
    let last = (0..entries.len()).rev().take(most);
    pretty(&ListDocument {
        opening: head.opening(),
        baselines: last.map(|at| baseline(report, at)).collect(),
        notes: odd(report),
    })
}

/// The changes of this time, or the last one.
///
/// Errors: they cannot be written as JSON, which is a bug.
pub fn diff(head: &Head, report: &Report<'_>, window: Option<Window<'_>>) -> Result<String> {
    let boots = Boots::of(report.history);
    let changes = boots.changes(window);
    pretty(&DiffDocument {
        opening: head.opening(),
        since: window.as_ref().map(|it| it.text),
        boots: boots.n_measured(),
        changes: changes.iter().rev().map(change).collect(),
        notes: odd(report),
    })
}

fn baseline<'a>(report: &Report<'a>, at: usize) -> BaselineView<'a> {
    let entries = &report.history.entries;
    let entry = &entries[at];
    let record = &entry.record;
    let part = |part: Part| {
        let known = record.speed.value()?.0.get(&part)?;
        Some(PartView {
            part: part.name(),
            unit: part.unit(),
            typical: entry.typical(part),
            trials: record.trials(part),
            missing: known.reason(),
        })
    };
    BaselineView {
        number: record.number,
        boot: &record.boot,
        at: entry.taken_ns().map(Time::of_ns),
        up_s: record.up_s,
        unseen_s: unseen(report, at).map(|it| it.as_secs_f64()),
        changed: changed(entries, at).into_iter().map(owned).collect(),
        not_measured: record.speed.reason(),
        parts: Part::ALL.into_iter().filter_map(part).collect(),
    }
}

fn owned(it: Changed) -> ChangedView<'static> {
    let own = |it: Option<String>| it.map(Cow::Owned);
    ChangedView { name: Cow::Owned(it.name), before: own(it.before), after: own(it.after) }
}

fn change<'a>(it: &'a Change<'a>) -> ChangeView<'a> {
    let first = &it.after.first().record;
    ChangeView {
        text: sentence(it),
        number: first.number,
        at: it.after.first().taken_ns().map(Time::of_ns),
        boots_before: it.n_before,
        boots_after: it.n_after,
        changed: it.changed.iter().cloned().map(owned).collect(),
        parts: it.parts.iter().map(judged).collect(),
    }
}

fn judged(it: &Judged) -> JudgedView {
    let allowance = match &it.verdict {
        Verdict::NotClear { allowance, .. } => Some(AllowanceView::of(allowance)),
        _ => None,
    };
    JudgedView {
        part: it.part.name(),
        unit: it.part.unit(),
        before: it.before,
        after: it.after,
        is_slower: it.is_slower(),
        text: said(it),
        verdict: VerdictView::of(&it.verdict).cleared(allowance),
    }
}
