//! A plan in the words of tools that a site already uses: a profile of TuneD, commands of cpupower, a script for any shell.
//!
//! Each writer goes through every write of the plan; [`Piece`] is either what the tool does for it, or a comment that says what the tool
//! cannot do. Nothing of a plan is left out without a comment.

mod cpupower;
mod shell;
#[cfg(test)]
mod tests;
mod tuned;

use crate::change::{Planned, shown};
use crate::harmless::harmless;
use facts::Fact;
use facts::change::{Aim, Target, Write};
use facts::quantity::counted;
use rules::plan::{Request, Step};
use rules::setting::Refusal;
use std::fmt::{Arguments, Write as _};

/// A tool that can make the changes of a plan.
#[derive(Debug)]
pub struct Tool {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Whether it makes a write of a step.
    makes: fn(&Step, &Write) -> bool,
    /// What makes the writes that it does not.
    others: &'static str,
    write: fn(&Planned<'_>, &Site<'_>) -> String,
}

/// What [`Tool::others`] says of tools that make settings of one kind.
const BY_SHELL: &str = "`--as shell` makes most of them, `fullclock apply` all";

/// What the texts say of the host beside the plan.
#[derive(Debug)]
pub struct Site<'a> {
    /// When the plan was made, UTC (RFC 3339).
    pub began: &'a str,
    /// TuneD's active profiles there, in the order in which they are merged.
    pub tuned_profiles: &'a Fact<Vec<String>>,
}

/// Every tool, in the order of the help.
pub const TOOLS: &[Tool] = &[tuned::TOOL, cpupower::TOOL, shell::TOOL];

/// A plan as a tool takes it.
#[derive(Debug)]
pub struct Written {
    /// What to give to the tool.
    pub text: String,
    /// What of the plan is a comment only, in a sentence without a full stop; `None` where the tool makes every write.
    pub lacking: Option<String>,
}

impl Tool {
    /// The plan as this tool takes it. A text that changes nothing says so.
    pub fn text(&self, planned: &Planned<'_>, site: &Site<'_>) -> Written {
        let mut text = (self.write)(planned, site);
        let steps = &planned.plan.steps;
        let n_writes = steps.iter().map(|it| made(it).count()).sum();
        let n_made =
            steps.iter().map(|it| made(it).filter(|write| (self.makes)(it, write)).count());
        let n_made: usize = n_made.sum();
        let lacking = (n_made < n_writes).then(|| self.lacking(n_made, n_writes));
        if let Some(lacking) = lacking.as_ref().filter(|_| n_made == 0) {
            text.push('\n');
            comment(&mut text, lacking);
        }
        Written { text, lacking }
    }

    fn lacking(&self, n_made: usize, n_writes: usize) -> String {
        let Tool { name, others, .. } = self;
        let of = counted(n_writes as u64, "write");
        format!("{name} makes {n_made} of {of}; lines `NOT BY` name the others: {others}")
    }
}

/// What one write becomes.
enum Piece<T> {
    /// The tool makes it.
    Made(T),
    /// It does not, for this reason.
    Not(&'static str),
}

/// The writes of a step that change something when they are made.
fn made(step: &Step) -> impl Iterator<Item = &Write> {
    step.change.writes.iter().filter(|it| it.aim != Aim::Forgotten)
}

/// The first comment: what this is, of which host, and when it was made.
fn opening(what: &str, planned: &Planned<'_>, site: &Site<'_>) -> String {
    let writes: usize = planned.plan.steps.iter().map(|it| made(it).count()).sum();
    let writes = counted(writes as u64, "write");
    let mut text = String::new();
    comment(
        &mut text,
        &format!("{what}, from `fullclock plan` for {}, {}: {writes}.", planned.name, site.began),
    );
    text
}

/// What is said of a step before its writes.
fn introduce(text: &mut String, step: &Step) {
    text.push('\n');
    comment(text, &step.request.text());
    if !step.request.because.is_empty() {
        comment(text, &format!("why: {}", step.request.because));
    }
    for note in &step.change.notes {
        comment(text, &format!("note: {note}"));
    }
    for write in step.change.writes.iter().filter(|it| it.aim == Aim::Forgotten) {
        let from = shown(&write.target, write.from.as_ref());
        comment(text, &format!("the kernel forgets {} = {from}", write.target));
    }
}

/// A write that the tool does not make.
fn not_made(text: &mut String, tool: &str, write: &Write, why: &str) {
    let value = |value: &Option<String>| shown(&write.target, value.as_ref());
    let (target, from, to) = (&write.target, value(&write.from), value(&write.to));
    comment(text, &format!("NOT BY {tool}: {target}: {from} -> {to} ({why})"));
}

/// What is left to do after a step.
fn then(text: &mut String, step: &Step) {
    if let Some(command) = &step.change.activate {
        comment(text, &format!("then: `{command}` and a reboot: it is in force after both"));
    }
}

/// What the plan does not do.
fn remarks(text: &mut String, planned: &Planned<'_>) {
    let Planned { plan, unfixed, unfound, .. } = planned;
    let idle: Vec<String> = plan
        .steps
        .iter()
        .filter(|it| it.change.writes.is_empty())
        .map(|it| it.request.text())
        .collect();
    let mut remarks = Vec::new();
    if !idle.is_empty() {
        remarks.push(format!("already set: {}", idle.join(", ")));
    }
    let refusal = |what: &str, list: &[(Request, Refusal)]| {
        let line =
            |(request, why): &(Request, Refusal)| format!("{what}: {}: {why}", request.text());
        list.iter().map(line).collect::<Vec<_>>()
    };
    remarks.extend(refusal("not possible on this host", &plan.left_out));
    remarks.extend(refusal("REFUSED", &plan.refused));
    let fixed = |(id, means): &(&str, String)| format!("no setting fixes {id}: {means}");
    remarks.extend(unfixed.iter().map(fixed));
    remarks.extend(unfound.iter().map(|id| format!("no finding of {id} here")));
    if !remarks.is_empty() {
        text.push('\n');
        remarks.iter().for_each(|it| comment(text, it));
    }
}

/// A comment of a shell and of a profile: one line, whatever it says.
fn comment(text: &mut String, words: &str) {
    put(text, format_args!("# {}\n", harmless(words)));
}

/// The path of a file of /proc or /sys and what it is to hold.
fn control(write: &Write) -> Option<(&str, &str)> {
    match (&write.target, &write.to) {
        (Target::Control { path }, Some(to)) => Some((path, to)),
        _ => None,
    }
}

/// A word of a shell.
fn word(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

/// Appends to a text.
#[expect(clippy::let_underscore_must_use, reason = "a String takes everything")]
fn put(text: &mut String, more: Arguments<'_>) {
    let _ = text.write_fmt(more);
}
