//! `fullclock status`: what is applied, who has changed it since, and what the next boot will do.

use super::{opened, program};
use crate::cli::{Arguments, StatusArguments};
use crate::output::{self, Style};
use crate::render;
use anyhow::Result;
use facts::change::{Aim, Target, Write};
use host::Live;
use host::change::{Access, Fate, Journal, Machine, Overdue, Recorded, State, overdue};
use std::process::ExitCode;

/// A change, and what its places hold.
pub(crate) struct Shown {
    /// What the journal has of it.
    pub(crate) recorded: Recorded,
    /// Whether it was made in this boot, so that its runtime places still have it.
    pub(crate) is_of_this_boot: bool,
    /// Its writes that were made, each with the id of its setting.
    pub(crate) places: Vec<Place>,
    /// Whether it will be reverted, where it awaits confirmation.
    pub(crate) guard: Option<Guarding>,
}

/// What is known of the guard of a change that awaits confirmation.
pub(crate) enum Guarding {
    /// The deadline is to come.
    InTime {
        /// Whether a guard will revert the change then.
        is_running: bool,
    },
    /// The deadline is over.
    Overdue(Overdue),
}

/// A place that was written.
pub(crate) struct Place {
    /// The id of the setting.
    pub(crate) setting: String,
    /// What was planned.
    pub(crate) write: Write,
    /// How it stands.
    pub(crate) standing: Standing,
}

/// How a place stands that was written.
pub(crate) enum Standing {
    /// It holds what it was given.
    InForce,
    /// Somebody else has changed it.
    Changed {
        /// What it holds.
        found: Option<String>,
    },
    /// It cannot be read, for this reason.
    Unknown(String),
    /// It went with an earlier boot, or was reverted.
    Gone,
}

pub(crate) fn run(arguments: &Arguments, options: &StatusArguments) -> Result<ExitCode> {
    let journal = opened(arguments, &options.state.state_dir, Access::Read)?;
    let machine = Machine::this(program()?);
    let shown = shown(&machine, &journal, options.all)?;
    let is_changed = |it: &Place| matches!(it.standing, Standing::Changed { .. });
    let has_changed = shown.iter().flat_map(|it| &it.places).any(is_changed);
    let suspects = if has_changed { suspects() } else { Vec::new() };
    let text = if arguments.output.json {
        render::change::status_json(&shown, &suspects)?
    } else {
        let style = Style::of_stdout(&arguments.output);
        render::change::status(&shown, &suspects, arguments.audit.verbose, style)
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Programs that are running and set such things all the time. The kernel does not keep who wrote to a file of its own.
fn suspects() -> Vec<String> {
    let host = host::view(&Live::this_machine());
    let processes = host.processes.as_deref().unwrap_or_default();
    let running = host.tuners.running(processes).into_iter();
    running.filter(|(it, _)| it.is_setter).map(|(it, _)| it.name.to_owned()).collect()
}

/// Every change that is not reverted, or every one; the oldest first.
pub(in crate::commands) fn shown(
    machine: &Machine,
    journal: &Journal,
    all: bool,
) -> Result<Vec<Shown>> {
    let boot = machine.boot()?;
    let mut shown = Vec::new();
    for recorded in journal.changes() {
        if !all && matches!(recorded.state, State::Reverted) {
            continue;
        }
        let is_of_this_boot = recorded.boot == boot;
        let mut places = Vec::new();
        for group in journal.groups(&recorded.id)? {
            let setting = &group.group.setting;
            for (write, fate) in group.group.writes.iter().zip(&group.fates) {
                let is_made =
                    matches!(fate, Fate::Done { .. } | Fate::LeftAlone { .. } | Fate::Intended);
                if is_made && write.aim != Aim::Forgotten {
                    let standing = match write.target {
                        Target::LatencyRequest if journal.holds_latency(&recorded.id) => {
                            Standing::InForce
                        }
                        _ => standing(machine, write, is_of_this_boot, &recorded.state),
                    };
                    places.push(Place { setting: setting.clone(), write: write.clone(), standing });
                }
            }
        }
        // Of an earlier boot only what lasts is left, and what went wrong.
        let is_over = !is_of_this_boot
            && recorded.state == State::Kept
            && places.iter().all(|it| matches!(it.standing, Standing::Gone));
        if all || !is_over {
            let guard = guarding(machine, journal, recorded)?;
            shown.push(Shown { recorded: recorded.clone(), is_of_this_boot, places, guard });
        }
    }
    mark_superseded(&mut shown);
    Ok(shown)
}

fn guarding(machine: &Machine, journal: &Journal, change: &Recorded) -> Result<Option<Guarding>> {
    if !matches!(change.state, State::Awaiting { .. }) {
        return Ok(None);
    }
    Ok(Some(match overdue(machine, journal, change)? {
        Some(overdue) => Guarding::Overdue(overdue),
        None => Guarding::InTime { is_running: journal.is_guarded(&change.id)? },
    }))
}

fn standing(machine: &Machine, write: &Write, is_of_this_boot: bool, state: &State) -> Standing {
    if matches!(state, State::Reverted) || (write.target.ends_with_boot() && !is_of_this_boot) {
        return Standing::Gone;
    }
    match machine.holds(&write.target, write.to.as_deref()) {
        Ok(true) => Standing::InForce,
        Ok(false) => match machine.read(&write.target) {
            Ok(found) => Standing::Changed { found },
            Err(trouble) => Standing::Unknown(trouble.to_string()),
        },
        Err(trouble) => Standing::Unknown(trouble.to_string()),
    }
}

/// What a later write has written over an earlier one is no drift.
fn mark_superseded(shown: &mut [Shown]) {
    let mut later: Vec<Target> = Vec::new();
    let places = shown.iter_mut().rev().flat_map(|change| change.places.iter_mut().rev());
    for place in places {
        if later.contains(&place.write.target) && matches!(place.standing, Standing::Changed { .. })
        {
            place.standing = Standing::Gone;
        }
        if !matches!(place.standing, Standing::Gone) {
            later.push(place.write.target.clone());
        }
    }
}
