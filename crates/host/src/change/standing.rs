//! The journal against the host: what of each change is in force, what somebody else has changed, and what is gone.

use super::deadline::{holds_latency, overdue};
use super::journal::Journal;
use super::machine::same;
use super::{ChangeError, Machine};
use facts::change::ChangeStanding;
use facts::change::Guarding;
use facts::change::Standing;
use facts::change::WriteOutcome;
use facts::change::WrittenPlace;
use facts::change::{Aim, FirmwarePlace, Target, Write};
use facts::change::{ChangeState, Recorded};

/// How every change stands that is not reverted, or every one; the oldest first. Of an earlier boot, only what lasts is left.
///
/// Errors: the boot, the journal or the lock of a guard cannot be read.
pub fn standing(
    machine: &Machine,
    journal: &Journal,
    all: bool,
) -> Result<Vec<ChangeStanding>, ChangeError> {
    let boot = machine.boot()?;
    let mut shown = Vec::new();
    for recorded in journal.changes() {
        if !all && matches!(recorded.state, ChangeState::Reverted) {
            continue;
        }
        let is_of_this_boot = recorded.boot == boot;
        let mut places = Vec::new();
        for group in journal.groups(&recorded.id)? {
            let setting = &group.group.setting;
            for (write, fate) in group.group.writes.iter().zip(&group.fates) {
                let is_made = matches!(
                    fate,
                    WriteOutcome::Done { .. }
                        | WriteOutcome::LeftAlone { .. }
                        | WriteOutcome::Intended
                );
                if is_made && write.aim != Aim::Forgotten {
                    let standing = match write.target {
                        Target::LatencyRequest if holds_latency(journal, &recorded.id) => {
                            Standing::InForce
                        }
                        _ => of_place(machine, write, is_of_this_boot, &recorded.state),
                    };
                    places.push(WrittenPlace {
                        setting: setting.clone(),
                        write: write.clone(),
                        standing,
                    });
                }
            }
        }
        // Of an earlier boot only what lasts is left, and what went wrong.
        let is_over = !is_of_this_boot
            && recorded.state == ChangeState::Kept
            && places.iter().all(|it| matches!(it.standing, Standing::Gone));
        if all || !is_over {
            let guard = guarding(machine, journal, recorded)?;
            shown.push(ChangeStanding {
                recorded: recorded.clone(),
                is_of_this_boot,
                places,
                guard,
            });
        }
    }
    mark_superseded(&mut shown);
    Ok(shown)
}

/// The requests of a latency that processes of this boot's changes keep.
///
/// Errors: the boot or the journal cannot be read.
pub fn held_requests(machine: &Machine, journal: &Journal) -> Result<Vec<Write>, ChangeError> {
    let boot = machine.boot()?;
    // A process of another boot is none of ours, whatever its id.
    let holds = |it: &&Recorded| it.boot == boot && holds_latency(journal, &it.id);
    let mut held = Vec::new();
    for change in journal.changes().iter().filter(holds) {
        held.extend(journal.groups(&change.id)?.into_iter().flat_map(|it| it.group.writes));
    }
    held.retain(|it| it.target == Target::LatencyRequest);
    Ok(held)
}

fn guarding(
    machine: &Machine,
    journal: &Journal,
    change: &Recorded,
) -> Result<Option<Guarding>, ChangeError> {
    if !matches!(change.state, ChangeState::Awaiting { .. }) {
        return Ok(None);
    }
    Ok(Some(match overdue(machine, journal, change)? {
        Some(overdue) => Guarding::Overdue(overdue),
        None => Guarding::InTime { is_running: journal.is_guarded(&change.id)? },
    }))
}

fn of_place(
    machine: &Machine,
    write: &Write,
    is_of_this_boot: bool,
    state: &ChangeState,
) -> Standing {
    if matches!(state, ChangeState::Reverted) || (write.target.ends_with_boot() && !is_of_this_boot)
    {
        return Standing::Gone;
    }
    if let Target::Firmware(place) = &write.target {
        return of_firmware(machine, place, write);
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

/// Whether settings of the firmware were taken, are yet to be, or were taken otherwise.
fn of_firmware(machine: &Machine, place: &FirmwarePlace, write: &Write) -> Standing {
    let is_given = |it: &str| same(&write.target, Some(it), write.to.as_deref());
    match machine.held(place) {
        Err(trouble) => Standing::Unknown(trouble.why),
        Ok(held) if !is_given(&held.next) => Standing::Changed { found: Some(held.next) },
        Ok(held) if is_given(&held.now) => Standing::InForce,
        Ok(held) => Standing::Waiting { now: held.now },
    }
}

/// What a later write has written over an earlier one is no drift.
fn mark_superseded(shown: &mut [ChangeStanding]) {
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
