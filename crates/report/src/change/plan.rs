//! A plan: each setting, what it writes where, and what that costs.

use super::places::join;
use crate::document::{Block, Document, Text};
use crate::wording::once_then_nothing;
use facts::change::{Aim, Target, Write};
use facts::quantity::counted;
use rules::plan::{Plan, Request, Step};
use rules::setting::{Effect, Refusal, Risk};

/// A plan, and what has to be said with it.
pub struct Planned<'a> {
    /// The host it is for.
    pub name: &'a str,
    /// What would be written.
    pub plan: &'a Plan,
    /// Checks with a finding that no setting fixes, and what does.
    pub unfixed: &'a [(&'static str, String)],
    /// Checks that were named and have no finding here.
    pub unfound: &'a [&'static str],
    /// The files that would make it last.
    pub files: &'a [Write],
}

/// What would be written.
pub fn plan(planned: &Planned<'_>, verbose: bool) -> Document {
    let mut document = Document::new(format!("fullclock plan for {}", planned.name));
    document.paragraph(Text::strong(verdict(planned)));
    if !planned.unfixed.is_empty() {
        let line = |(id, means): &(&str, String)| Text::sentence(&format!("{id}: {means}"));
        document.push(Block::List(planned.unfixed.iter().map(line).collect()));
    }
    put(&mut document, planned.plan, verbose);
    put_files(&mut document, planned.files);
    document
}

/// How many writes there are, and what stays as it is.
fn verdict(Planned { plan, unfixed, unfound, .. }: &Planned<'_>) -> String {
    let n_writes: usize = plan.steps.iter().map(|it| it.change.writes.len()).sum();
    let n_settings = plan.steps.iter().filter(|it| !it.change.writes.is_empty()).count();
    let (writes, settings) =
        (counted(n_writes as u64, "write"), counted(n_settings as u64, "setting"));
    let is_in_vain = !plan.left_out.is_empty() || !plan.refused.is_empty();
    let changes = match (n_writes, unfixed.is_empty()) {
        (0, _) if is_in_vain => "No setting can be changed here.".to_owned(),
        (0, true) if !unfound.is_empty() => {
            format!("Nothing to change: no finding of {} here.", unfound.join(", "))
        }
        (0, true) => "Nothing to change.".to_owned(),
        (0, false) => "No setting to change.".to_owned(),
        (_, _) if plan.needs_reboot() => {
            format!("{writes} of {settings}, in force after a reboot.")
        }
        (_, _) => format!("{writes} of {settings}."),
    };
    match unfixed.len() {
        0 => changes,
        n => {
            let ids: Vec<&str> = unfixed.iter().map(|it| it.0).collect();
            let (found, ids) = (counted(n as u64, "finding"), ids.join(", "));
            format!("{changes} {found} that no setting fixes: {ids}.")
        }
    }
}

/// The steps of a plan, and what is not among them.
pub(super) fn put(document: &mut Document, plan: &Plan, verbose: bool) {
    let (idle, steps): (Vec<&Step>, Vec<&Step>) =
        plan.steps.iter().partition(|it| it.change.writes.is_empty());
    for it in steps {
        step(document, it, verbose);
    }
    if !idle.is_empty() {
        document.heading("Already set");
        document.paragraph(idle.iter().map(|it| it.request.text()).collect::<Vec<_>>().join(", "));
        for it in idle.iter().flat_map(|it| &it.change.notes) {
            document.note(Text::sentence(it));
        }
    }
    without(document, "Not possible on this host", &plan.left_out);
    without(document, "Refused", &plan.refused);
    if !plan.refused.is_empty() {
        document.note(Text::sentence("`fullclock apply` writes nothing until this is left out."));
    }
}

/// The files that make a change last, whole.
pub fn files(writes: &[Write]) -> Document {
    let mut document = Document::new("Files that make it last");
    put_each_file(&mut document, writes);
    document
}

pub(super) fn put_files(document: &mut Document, writes: &[Write]) {
    if !writes.is_empty() {
        document.heading("Files that make it last");
        put_each_file(document, writes);
    }
}

fn put_each_file(document: &mut Document, writes: &[Write]) {
    for write in writes {
        document.labelled("file", Text::from(write.target.to_string()));
        document.push(Block::Code(write.to.clone().unwrap_or_default()));
    }
}

fn step(document: &mut Document, step: &Step, verbose: bool) {
    let setting = step.request.setting;
    document.heading(step.request.text());
    for (write, label) in
        writes(&step.change.writes, verbose).into_iter().zip(once_then_nothing("write"))
    {
        document.labelled(label, write);
    }
    if !step.request.because.is_empty() {
        document.labelled("why", &*step.request.because);
    }
    document.labelled("risk", risk(setting.risk));
    if setting.power != "none" {
        document.labelled("power", setting.power);
    }
    document.labelled("lasts", lasts(step));
    for note in &step.change.notes {
        document.labelled("note", Text::sentence(note));
    }
    if let Some(command) = &step.change.activate {
        let then = format!("run `{command}` and reboot: it is in force after both");
        document.labelled("then", Text::sentence(&then));
    }
}

/// As `fullclock explain SETTING` says it.
fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low: nothing but speed and power change",
        Risk::Medium => "medium: some work may suffer",
        Risk::High => "HIGH: hardware or the kernel may misbehave",
    }
}

fn lasts(step: &Step) -> &'static str {
    let setting = step.request.setting;
    match (setting.effect, setting.survives.hotplug, setting.survives.suspend) {
        (Effect::AtBoot, _, _) => "until it is reverted",
        (Effect::AtOnce, true, true) => "until reboot",
        (Effect::AtOnce, true, false) => "until reboot or suspend",
        (Effect::AtOnce, false, true) => "until reboot, or until the CPU goes offline",
        (Effect::AtOnce, false, false) => "until reboot or suspend, or until the CPU goes offline",
    }
}

/// A line for each place, or for places that change alike.
fn writes(writes: &[Write], verbose: bool) -> Vec<String> {
    let values = |it: &Write| {
        (shown(&it.target, it.from.as_ref()), shown(&it.target, it.to.as_ref()), it.aim)
    };
    if verbose {
        let line = |it: &Write| format!("{}: {}", it.target, change(&values(it)));
        return writes.iter().map(line).collect();
    }
    let joined = join(writes.iter().map(|it| (&it.target, values(it))));
    joined.iter().map(|it| it.line(&change(&it.common))).collect()
}

fn change((from, to, aim): &(String, String, Aim)) -> String {
    match aim {
        Aim::Sticks => format!("{from} -> {to}"),
        Aim::IfTaken => format!("{from} -> {to}, if the kernel takes it"),
        Aim::Forgotten => format!("{from}, which the kernel forgets; `revert` restores it"),
    }
}

/// A value for people: of a file the only line that is no comment, or how many there are.
pub(crate) fn shown(target: &Target, value: Option<&String>) -> String {
    match (target, value) {
        (Target::File { .. }, None) => "no file".to_owned(),
        (_, None) => "nothing".to_owned(),
        (Target::Firmware(place), Some(text)) => place.shown(text),
        (Target::File { .. }, Some(text)) => {
            let lines: Vec<&str> = text.lines().filter(|it| !it.starts_with('#')).collect();
            match lines.as_slice() {
                [line] => format!("{line:?}"),
                lines => format!("a file of {} lines", lines.len()),
            }
        }
        (_, Some(text)) if text.is_empty() => "(empty)".to_owned(),
        (_, Some(text)) => text.clone(),
    }
}

fn without(document: &mut Document, heading: &str, requests: &[(Request, Refusal)]) {
    if requests.is_empty() {
        return;
    }
    document.heading(heading);
    let line = |(request, refusal): &(Request, Refusal)| {
        Text::sentence(&format!("{}: {refusal}", request.text()))
    };
    document.push(Block::List(requests.iter().map(line).collect()));
}
