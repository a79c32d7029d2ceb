//! Changes of a host: plans, results of applying and reverting, and the state of applied changes.

mod json;
mod places;
mod plan;
mod standing;
mod steps;

pub(super) use json::state as state_word;
pub(super) use json::{ApplyDocument, DriftDocument, PlanDocument, RevertDocument, StatusDocument};
pub use json::{applied_json, drift_json, plan_json, status_json, undone_json};
pub(super) use places::{Places, join};
pub(super) use plan::shown;
pub use plan::{files, plan};
pub use standing::{drift, moment, status};
pub(super) use standing::{next_boot, state};
pub(super) use steps::Write;

use crate::Style;
use crate::page::{BOLD, Page};
use facts::change::{RevertOutcome, Target, Undone};
use rules::boot_edit::activation;
use rules::plan::Applied;
use std::collections::BTreeSet;

/// Indentation of lines about a place.
const MARGIN: usize = 2;

/// The result of `fullclock apply`, shown after the plan.
pub fn applied(applied: &Applied, verbose: bool, style: Style) -> String {
    let mut page = Page::new(style);
    for (target, why) in &applied.not_taken {
        page.paragraph(MARGIN, &format!("not taken: {target}: {why}"));
    }
    if let Some(error) = &applied.error {
        page.paragraph(0, &format!("{} {error}", page.paint(BOLD, "Not changed:")));
        page.line(&undone(&applied.undone, verbose, style));
        page.paragraph(0, after_failure(&applied.undone));
        return page.finish();
    }
    if !applied.plan.refused.is_empty() {
        page.paragraph(0, "Nothing was written.");
    } else if let Some(id) = &applied.id {
        page.paragraph(0, &kept(applied, id));
    }
    page.finish()
}

fn after_failure(undone: &[Undone]) -> &'static str {
    match (undone.is_empty(), undone.iter().all(|it| it.fate.is_clean())) {
        (true, _) => "Nothing had been written.",
        (false, true) => "Everything that had been written is as it was before.",
        (false, false) => {
            "Not everything is as it was before: `fullclock status` shows what is not."
        }
    }
}

fn kept(applied: &Applied, id: &str) -> String {
    let n = applied.n_writes;
    let writes = if n == 1 { "1 write".to_owned() } else { format!("{n} writes") };
    let ends = match applied.confirm_within {
        Some(time) => {
            let seconds = time.as_secs_f64();
            format!(
                "It is reverted in {seconds} s unless `fullclock confirm` comes, even if this session ends."
            )
        }
        None => format!("`fullclock revert {id}` takes it back."),
    };
    let mut text = format!("{writes} made and read back, as change {id}. {ends}");
    if applied.lasts() {
        text.push_str(" The next boot does it again; `systemctl daemon-reload` makes it come back after sleep before that, too.");
    }
    text
}

/// The result of a revert, by place.
pub fn undone(undone: &[Undone], verbose: bool, style: Style) -> String {
    let mut page = Page::new(style);
    let common = |it: &Undone| (it.setting.clone(), undone_text(it));
    if verbose {
        for it in undone {
            page.paragraph(MARGIN, &format!("{}: {}: {}", it.setting, it.target, undone_text(it)));
        }
    } else {
        for places in join(undone.iter().map(|it| (&it.target, common(it)))) {
            let (setting, words) = &places.common;
            let n = if places.n > 1 { format!(" ({} places)", places.n) } else { String::new() };
            page.paragraph(MARGIN, &format!("{setting}: {}: {words}{n}", places.name()));
        }
    }
    for after in afterwards(undone) {
        page.paragraph(MARGIN, &after);
    }
    page.finish()
}

/// Steps that are left until the next boot uses the original settings.
fn afterwards(undone: &[Undone]) -> Vec<String> {
    let written = |it: &&Undone| it.fate == RevertOutcome::WrittenBack;
    let files: Vec<&str> = undone.iter().filter(written).filter_map(file).collect();
    let commands = files.iter().filter_map(|it| activation(it)).collect::<BTreeSet<&str>>();
    let mut after: Vec<String> = commands
        .into_iter()
        .map(|it| {
            format!(
                "The boot loader does not know yet: run `{it}`; it counts from the next boot on."
            )
        })
        .collect();
    let is_set_at_boot =
        |it: &&str| it.starts_with("/etc/sysctl.d/") || it.starts_with("/etc/modprobe.d/");
    let has_void = undone.iter().any(|it| matches!(it.fate, RevertOutcome::Void { .. }));
    if has_void && files.iter().any(is_set_at_boot) {
        after.push(
            "What sysctl or modprobe set from these files at boot stays until the next one."
                .to_owned(),
        );
    }
    after
}

fn file(undone: &Undone) -> Option<&str> {
    match &undone.target {
        Target::File { path } => Some(path),
        _ => None,
    }
}

fn undone_text(undone: &Undone) -> String {
    let recorded = shown(&undone.target, undone.recorded.as_ref());
    match &undone.fate {
        RevertOutcome::WrittenBack => format!("{recorded} again"),
        RevertOutcome::AlreadyThere => format!("{recorded} already"),
        RevertOutcome::LeftAlone { found } => format!(
            "left alone: it has been changed since, to {}; it was {recorded} (--force writes that back)",
            shown(&undone.target, found.as_ref())
        ),
        RevertOutcome::WouldBringFaultBack => format!(
            "left alone: {recorded} stops the clock of the CPU part of the time, which is a fault (--force brings it back)"
        ),
        RevertOutcome::Void { why } => format!("nothing to undo: {why}"),
        RevertOutcome::Failed { why } => format!("NOT as before, it was {recorded}: {why}"),
    }
}
