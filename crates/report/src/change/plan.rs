//! A plan as text: each setting, what it writes where, and what that costs.

use super::places::join;
use crate::Style;
use crate::page::{BOLD, Page};
use facts::change::{Aim, Target, Write};
use rules::plan::{Plan, Request, Step};
use rules::setting::{Effect, Refusal, Risk};

/// Columns before a step's lines.
const MARGIN: usize = 10;

/// What would be written.
pub fn plan(plan: &Plan, verbose: bool, style: Style) -> String {
    let mut page = Page::new(style);
    let (idle, steps): (Vec<&Step>, Vec<&Step>) =
        plan.steps.iter().partition(|it| it.change.writes.is_empty());
    for it in &steps {
        step(&mut page, it, verbose);
    }
    if !idle.is_empty() {
        page.line(&page.paint(BOLD, "Already set"));
        page.paragraph(2, &idle.iter().map(|it| it.request.text()).collect::<Vec<_>>().join(", "));
        for it in idle.iter().flat_map(|it| &it.change.notes) {
            page.paragraph(2, it);
        }
        page.line("");
    }
    without(&mut page, "Refused", &plan.refused);
    without(&mut page, "Not possible on this host", &plan.left_out);
    page.paragraph(0, &summary(plan, &steps));
    page.finish()
}

/// The files that make a change last, whole.
pub fn files(writes: &[Write], style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&page.paint(BOLD, "Files that make it last"));
    for write in writes {
        page.line(&format!("  {}", page.paint(BOLD, &write.target.to_string())));
        for line in write.to.iter().flat_map(|it| it.lines()) {
            page.line(&format!("    {}", crate::harmless::harmless(line)));
        }
    }
    page.line("");
    page.finish()
}

fn step(page: &mut Page, step: &Step, verbose: bool) {
    let setting = step.request.setting;
    let risk = format!("{:MARGIN$}", risk_word(setting.risk));
    page.line(&format!("{risk}{}", page.paint(BOLD, &step.request.text())));
    writes(page, &step.change.writes, verbose);
    let why = &step.request.because;
    let notes = step.change.notes.iter().map(|it| ("  note", it.as_str()));
    let label = if setting.power == "none" { None } else { Some(("  power", setting.power)) };
    let why = (!why.is_empty()).then_some(("  why", why.as_str()));
    for (label, text) in why.into_iter().chain(label).chain([("  lasts", lasts(step))]).chain(notes)
    {
        page.labelled(MARGIN, label, text);
    }
    if let Some(command) = &step.change.activate {
        page.labelled(
            MARGIN,
            "  then",
            &format!("{command}, and a reboot: it is in force after both"),
        );
    }
    page.line("");
}

fn risk_word(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "safe",
        Risk::Medium => "careful",
        Risk::High => "DANGER",
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

fn writes(page: &mut Page, writes: &[Write], verbose: bool) {
    let shown = |it: &Write| {
        (shown(&it.target, it.from.as_ref()), shown(&it.target, it.to.as_ref()), it.aim)
    };
    if verbose {
        for write in writes {
            let (from, to, aim) = shown(write);
            page.paragraph(MARGIN, &format!("{}: {}", write.target, change(&from, &to, aim)));
        }
        return;
    }
    for places in join(writes.iter().map(|it| (&it.target, shown(it)))) {
        let (from, to, aim) = &places.common;
        let n = if places.n > 1 { format!(" ({} places)", places.n) } else { String::new() };
        page.paragraph(MARGIN, &format!("{}: {}{n}", places.name(), change(from, to, *aim)));
    }
}

fn change(from: &str, to: &str, aim: Aim) -> String {
    match aim {
        Aim::Sticks => format!("{from} -> {to}"),
        Aim::IfTaken => format!("{from} -> {to}, if the kernel lets it"),
        Aim::Forgotten => format!("{from} is forgotten by the kernel, and written back by revert"),
    }
}

/// A value for people: of a file the only line that is no comment, or how many there are.
pub(crate) fn shown(target: &Target, value: Option<&String>) -> String {
    match (target, value) {
        (Target::File { .. }, None) => "no file".to_owned(),
        (_, None) => "nothing".to_owned(),
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

fn without(page: &mut Page, heading: &str, requests: &[(Request, Refusal)]) {
    if requests.is_empty() {
        return;
    }
    page.line(&page.paint(BOLD, heading));
    for (request, refusal) in requests {
        page.paragraph(2, &format!("{}: {refusal}", request.text()));
    }
    page.line("");
}

fn summary(plan: &Plan, steps: &[&Step]) -> String {
    let n_writes: usize = steps.iter().map(|it| it.change.writes.len()).sum();
    let counted = |n: usize, one: &str, many: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    };
    let mut text = match n_writes {
        0 => "Nothing to change".to_owned(),
        _ => format!(
            "{} of {}",
            counted(n_writes, "write", "writes"),
            counted(steps.len(), "setting", "settings")
        ),
    };
    if plan.needs_reboot() {
        text.push_str(", in force after a reboot");
    }
    if !plan.refused.is_empty() {
        text.push_str("; what is refused has to go before any of it is applied");
    }
    text + "."
}
