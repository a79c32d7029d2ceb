//! Changes of a host: plans, results of applying and reverting, and the state of applied changes.

#[cfg(test)]
mod fixture;
mod json;
mod places;
mod plan;
mod standing;
mod steps;

pub(super) use json::Recorded;
pub(super) use json::{ApplyDocument, DriftDocument, PlanDocument, RevertDocument, StatusDocument};
pub use json::{applied_json, drift_json, plan_json, status_json, undone_json};
pub(super) use places::{Places, join};
pub(super) use plan::shown;
pub use plan::{Planned, files, plan};
pub use standing::{drift, moment, status};
pub(super) use standing::{next_boot, state};
pub(super) use steps::Write;

use crate::document::{Block, Document, Text};
use crate::wording::once_then_nothing;
use facts::change::{RevertOutcome, Target, Undone};
use facts::quantity::counted;
use rules::boot_edit::activation;
use rules::plan::Applied;
use std::collections::BTreeSet;
use std::time::Duration;

/// How much of a change is shown.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// Every place by itself.
    pub verbose: bool,
    /// The plan and its files again: a page that is sent has to stand by itself.
    pub with_plan: bool,
}

/// The result of `fullclock apply`.
pub fn applied(applied: &Applied, detail: Detail) -> Document {
    let mut document = Document::new(outcome(applied));
    if let Some(error) = &applied.error {
        document.paragraph(Text::sentence(error));
        put_undone(&mut document, &applied.undone, detail.verbose);
        document.paragraph(Text::sentence(after_failure(&applied.undone)));
    } else if let Some(id) = &applied.id {
        document.paragraph(Text::sentence(&ends(applied, id)));
        if applied.lasts() {
            document.note(Text::sentence(
                "The next boot applies it again. `systemctl daemon-reload` has it applied after a suspend in this boot, too.",
            ));
        }
    }
    if !applied.not_taken.is_empty() {
        let n = counted(applied.not_taken.len() as u64, "write");
        document.heading(format!("Optional writes that the kernel refused: {n}"));
        let line = |(target, why): &(Target, String)| Text::from(format!("{target}: {why}"));
        document.push(Block::List(applied.not_taken.iter().map(line).collect()));
    }
    if detail.with_plan {
        plan::put(&mut document, &applied.plan, detail.verbose);
        plan::put_files(&mut document, &applied.files);
    }
    document
}

fn outcome(applied: &Applied) -> String {
    let writes = counted(applied.n_writes as u64, "write");
    match (&applied.error, &applied.id) {
        (Some(_), _) => "Not changed.".to_owned(),
        (None, Some(id)) if applied.plan.needs_reboot() => {
            format!("Change {id} is made, and in force after a reboot: {writes}, each read back.")
        }
        (None, Some(id)) => format!("Change {id} is in force: {writes}, each read back."),
        (None, None) => "Nothing was written.".to_owned(),
    }
}

/// How the change ends.
fn ends(applied: &Applied, id: &str) -> String {
    match applied.confirm_within {
        Some(time) => format!(
            "It is reverted in {} unless `fullclock confirm` keeps it, even if this session ends.",
            in_words(time)
        ),
        None => format!("`fullclock revert {id}` reverts it."),
    }
}

/// `5 min`, `90 s`.
fn in_words(time: Duration) -> String {
    match (time.as_secs(), time.subsec_nanos()) {
        (seconds @ 60.., 0) if seconds % 60 == 0 => format!("{} min", seconds / 60),
        _ => format!("{} s", time.as_secs_f64()),
    }
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

/// A change that was confirmed.
pub fn confirmed(id: &str) -> Document {
    let mut document = Document::new(format!("Change {id} is kept."));
    document.paragraph(Text::sentence(&format!("`fullclock revert {id}` reverts it.")));
    document
}

/// The result of a revert, by place. `verdict` says it in short.
pub fn undone(verdict: &str, undone: &[Undone], verbose: bool) -> Document {
    let mut document = Document::new("fullclock revert");
    document.paragraph(Text::sentence(&format!("{verdict}.")));
    put_undone(&mut document, undone, verbose);
    document
}

fn put_undone(document: &mut Document, undone: &[Undone], verbose: bool) {
    let settings = undone.chunk_by(|it, next| it.setting == next.setting);
    for of_setting in settings {
        let setting = of_setting.first().map_or("", |it| &it.setting);
        let lines: Vec<String> = if verbose {
            let line = |it: &Undone| format!("{}: {}", it.target, undone_text(it));
            of_setting.iter().map(line).collect()
        } else {
            let joined = join(of_setting.iter().map(|it| (&it.target, undone_text(it))));
            joined.iter().map(|it| it.line(&it.common)).collect()
        };
        for (line, label) in lines.iter().zip(once_then_nothing(setting)) {
            document.labelled(label, Text::sentence(line));
        }
    }
    for after in afterwards(undone) {
        document.note(Text::sentence(&after));
    }
}

/// Steps that are left until the next boot uses the original settings.
fn afterwards(undone: &[Undone]) -> Vec<String> {
    let written = |it: &&Undone| it.fate == RevertOutcome::WrittenBack;
    let files: Vec<&str> = undone.iter().filter(written).filter_map(file).collect();
    let commands = files.iter().filter_map(|it| activation(it)).collect::<BTreeSet<&str>>();
    let of_boot_loader = |it: &str| {
        format!(
            "The boot loader still has the change: run `{it}`, and the next boot is without it."
        )
    };
    let mut after: Vec<String> = commands.into_iter().map(of_boot_loader).collect();
    let is_set_at_boot =
        |it: &&str| it.starts_with("/etc/sysctl.d/") || it.starts_with("/etc/modprobe.d/");
    let is_firmware = |it: &Undone| {
        matches!(it.target, Target::Firmware(_)) && it.fate == RevertOutcome::WrittenBack
    };
    if undone.iter().any(is_firmware) {
        after.push(
            "The old values of the firmware are requested: a restart of the machine brings them, where it has restarted since the change."
                .to_owned(),
        );
    }
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
            "left alone: it was changed since, to {}; it was {recorded} (`--i-know` writes that back)",
            shown(&undone.target, found.as_ref())
        ),
        RevertOutcome::WouldBringFaultBack => format!(
            "left alone: {recorded} stops the clock of the CPU part of the time, which is a fault (`--i-know` brings it back)"
        ),
        RevertOutcome::Void { why } => format!("nothing to undo: {why}"),
        RevertOutcome::Failed { why } => format!("NOT as before, it was {recorded}: {why}"),
    }
}

#[cfg(test)]
mod tests;
