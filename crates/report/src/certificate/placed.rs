//! The change itself: what was written where, and how each place stands.

use crate::change::{join, moment, next_boot, shown, state};
use facts::change::{ChangeLines, ChangeState, RecordedGroup, WriteOutcome};
use facts::change::{ChangeStanding, Standing, WrittenPlace};
use facts::change::{Target, Write};
use std::time::Duration;

/// A change of the journal.
pub struct Change {
    /// What the journal has of it, and how the places that were written stand.
    pub shown: ChangeStanding,
    /// Every write that was planned, with what became of it.
    pub groups: Vec<RecordedGroup>,
    /// Its lines in the journal.
    pub lines: ChangeLines,
    /// When changes by the same command began, since the epoch: the trials of `apply --prove` make one each.
    pub same_command: Vec<Duration>,
}

/// One write of a change, and what is known of it.
pub(super) struct Placed<'a> {
    pub(super) setting: &'a str,
    pub(super) value: &'a str,
    pub(super) write: &'a Write,
    pub(super) standing: String,
}

impl Change {
    /// Which change, when, by which command, and what became of it.
    pub(super) fn about(&self) -> String {
        let recorded = &self.shown.recorded;
        let command = recorded.command.join(" ");
        let made = moment(recorded.when);
        let state = state(&self.shown);
        format!("Change {} was made at {made} by `fullclock {command}`: {state}.", recorded.id)
    }

    /// What the next boot will do; nothing where it is reverted.
    pub(super) fn lasts(&self) -> Option<String> {
        let is_there = !matches!(self.shown.recorded.state, ChangeState::Reverted);
        is_there.then(|| next_boot(std::slice::from_ref(&self.shown)))
    }

    /// Every write, in order.
    pub(super) fn placed(&self) -> Vec<Placed<'_>> {
        let mut placed = Vec::new();
        for RecordedGroup { group, fates } in &self.groups {
            for (write, fate) in group.writes.iter().zip(fates) {
                let standing = outcome_text(fate, self.standing_of(&group.setting, &write.target));
                let (setting, value) = (&*group.setting, &*group.value);
                placed.push(Placed { setting, value, write, standing });
            }
        }
        placed
    }

    /// Places as few rows: what was asked for and where, from what, to what, and how it stands.
    pub(super) fn rows(&self) -> Vec<(String, Vec<String>)> {
        let placed = self.placed();
        let common = |it: &Placed<'_>| {
            let (from, to) = (&it.write.from, &it.write.to);
            let value = |it: &Option<String>| shown(&Target::LatencyRequest, it.as_ref());
            let [from, to] = match it.write.target {
                Target::File { .. } | Target::Firmware(_) => {
                    [from, to].map(|value| shown(&it.write.target, value.as_ref()))
                }
                _ => [value(from), value(to)],
            };
            (format!("{}={}", it.setting, it.value), from, to, it.standing.clone())
        };
        let joined = join(placed.iter().map(|it| (&it.write.target, common(it))));
        let row = |places: &crate::change::Places<(String, String, String, String)>| {
            let (setting, from, to, standing) = &places.common;
            let n = if places.n > 1 { format!(" ({} places)", places.n) } else { String::new() };
            let place = format!("{}{n}", places.name());
            (setting.clone(), vec![place, from.clone(), to.clone(), standing.clone()])
        };
        joined.iter().map(row).collect()
    }

    fn standing_of(&self, setting: &str, target: &Target) -> Option<&WrittenPlace> {
        let places = self.shown.places.iter();
        places.rev().find(|it| it.setting == setting && it.write.target == *target)
    }
}

fn outcome_text(fate: &WriteOutcome, place: Option<&WrittenPlace>) -> String {
    match fate {
        WriteOutcome::Intended => {
            "whether it was written is unknown: a crash came in between".to_owned()
        }
        WriteOutcome::Noted => "not written: kept for going back".to_owned(),
        WriteOutcome::Refused { why } => format!("the kernel refused it: {why}"),
        WriteOutcome::DidNotStick { .. } => "it did not stick".to_owned(),
        WriteOutcome::NotMade => "not written: a failure came first".to_owned(),
        WriteOutcome::Undone => "reverted".to_owned(),
        WriteOutcome::Void => "gone with a reboot".to_owned(),
        WriteOutcome::LeftAlone { why, .. } => format!("not reverted: {why}"),
        WriteOutcome::Done { .. } => match place {
            None => "written".to_owned(),
            Some(place) => match &place.standing {
                Standing::InForce => "in force".to_owned(),
                Standing::Waiting { .. } => "waits for a restart".to_owned(),
                Standing::Changed { found } => {
                    format!("CHANGED since, to {}", shown(&place.write.target, found.as_ref()))
                }
                Standing::Unknown(why) => format!("cannot be read: {why}"),
                Standing::Gone => {
                    "gone: with an earlier boot, or replaced by a later change".to_owned()
                }
            },
        },
    }
}
