//! Undoing a change from the journal: backwards, to what was recorded, and nothing that somebody else has changed since.

use super::failure::shown;
use super::journal::{Fates, Journal, RecordedGroup, Step, runs};
use super::machine::{Process, brings_fault_back, end_process, is_running, same};
use super::{Fate, Force, JournalError, Machine, Undone, UndoneFate, fault};
use facts::change::{Aim, Target, Write};
use std::collections::HashMap;

/// Undoes every group of a change, and journals it. What goes wrong with one place keeps no other from being undone, and a
/// journal that cannot be written keeps none: what was there before is in it.
pub(super) fn undo(
    machine: &Machine,
    journal: &mut Journal,
    id: &str,
    force: Force,
) -> (Vec<Undone>, Option<JournalError>) {
    let mut groups = match journal.groups(id) {
        Ok(groups) => groups,
        Err(error) => return (Vec::new(), Some(error)),
    };
    // Where the machine does not tell its boot, what is there is compared all the same.
    let boot = machine.boot().ok();
    let recorded = journal.change(id);
    let is_this_boot = recorded.as_ref().is_ok_and(|it| boot.is_none_or(|boot| boot == it.boot));
    let brings_faults_back =
        force == Force::Yes || recorded.as_ref().is_ok_and(|it| it.brings_faults_back);
    let holders: Vec<Process> =
        journal.holders(id).iter().map(|&(pid, started)| Process { pid, started }).collect();
    let undone = Vec::new();
    let mut undoing =
        Undoing { machine, id, is_this_boot, force, brings_faults_back, holders, undone };
    let mut earlier = Earlier::new();
    for write in groups.iter().flat_map(|it| &it.group.writes) {
        earlier.entry(write.target.clone()).or_default().push(write.from.clone());
    }
    for group in groups.iter_mut().rev() {
        undoing.group(group, &mut earlier);
    }
    let undone = undoing.undone;
    let left = undone.iter().filter(|it| !it.fate.is_clean()).count();
    let body: Fates = (0..).zip(&groups).map(|(number, it)| (number, runs(&it.fates))).collect();
    let left = u32::try_from(left).unwrap_or(u32::MAX);
    let step = Step::Reverted { change: id.to_owned(), left };
    let noted = journal.append(step, &body, true);
    (undone, noted.err())
}

/// What was recorded of each place, by the writes that are not yet undone.
type Earlier = HashMap<Target, Vec<Option<String>>>;

struct Undoing<'a> {
    machine: &'a Machine,
    id: &'a str,
    is_this_boot: bool,
    force: Force,
    brings_faults_back: bool,
    holders: Vec<Process>,
    undone: Vec<Undone>,
}

impl Undoing<'_> {
    /// Undoes a group, and takes what it recorded out of what is left to undo.
    fn group(&mut self, recorded: &mut RecordedGroup, earlier: &mut Earlier) {
        let RecordedGroup { group, fates } = recorded;
        // Backwards, what made the kernel forget comes before what it forgot.
        let mut is_taken_back = false;
        for (write, fate) in group.writes.iter().zip(fates).rev() {
            let before = earlier.entry(write.target.clone()).or_default();
            before.pop();
            // Nothing was done, or it is done with.
            if matches!(fate, Fate::NotMade | Fate::Refused { .. } | Fate::Undone | Fate::Void) {
                continue;
            }
            let came = self.write(write, fate, before, is_taken_back);
            is_taken_back |= matches!(came, UndoneFate::WrittenBack | UndoneFate::AlreadyThere);
            *fate = after(&came);
            self.undone.push(Undone {
                change: self.id.to_owned(),
                setting: group.setting.clone(),
                target: write.target.clone(),
                recorded: write.from.clone(),
                fate: came,
            });
        }
    }

    /// `before` is what earlier writes recorded of the place, `is_taken_back` whether a later one of the group is undone.
    fn write(
        &self,
        write: &Write,
        fate: &Fate,
        before: &[Option<String>],
        is_taken_back: bool,
    ) -> UndoneFate {
        let (machine, target) = (self.machine, &write.target);
        if target.ends_with_boot() && !self.is_this_boot {
            return UndoneFate::Void { why: "it ended with the boot it was made in".to_owned() };
        }
        if *target == Target::LatencyRequest {
            return self.request();
        }
        let found = match machine.read(target) {
            Ok(found) => found,
            Err(trouble) if trouble.is_gone && may_go(write) => {
                return UndoneFate::Void { why: trouble.why };
            }
            Err(trouble) => return UndoneFate::Failed { why: trouble.why },
        };
        let is = |value: Option<&str>| same(target, found.as_deref(), value);
        let recorded = write.from.as_deref();
        // Where it is written more than once, a crash may have come before this write, or after all of them were undone.
        let is_further = before.iter().any(|it| is(it.as_deref()));
        if is(recorded) || is_further {
            return match machine.tidy(target) {
                Ok(()) => UndoneFate::AlreadyThere,
                Err(trouble) => UndoneFate::Failed { why: trouble.why },
            };
        }
        let is_ours = (write.aim == Aim::Forgotten && is_taken_back)
            || (write.aim != Aim::Forgotten && is(write.to.as_deref()))
            || matches!(fate, Fate::DidNotStick { found } if is(found.as_deref()));
        if !is_ours && self.force == Force::No {
            return UndoneFate::LeftAlone { found };
        }
        let brings_fault = matches!((&found, recorded), (Some(found), Some(recorded))
            if brings_fault_back(target, found, recorded));
        if brings_fault && !self.brings_faults_back {
            return UndoneFate::WouldBringFaultBack;
        }
        fault::point();
        let written = machine.write_back(target, recorded);
        fault::point();
        match written.map(|()| self.read_back(target, recorded)) {
            Ok(None) => UndoneFate::WrittenBack,
            Ok(Some(why)) => UndoneFate::Failed { why },
            // The kernel complains of an empty list, and empties it all the same (kernel/params.c, `param_array`).
            Err(_) if self.read_back(target, recorded).is_none() => UndoneFate::WrittenBack,
            Err(trouble) => UndoneFate::Failed { why: trouble.why },
        }
    }

    /// Why a place does not read back what was written; `None` where it does.
    fn read_back(&self, target: &Target, recorded: Option<&str>) -> Option<String> {
        match self.machine.settled(target, recorded) {
            Ok(found) if same(target, found.as_deref(), recorded) => None,
            Ok(found) => {
                let (wrote, found) = (shown(recorded), shown(found.as_deref()));
                Some(format!("was given {wrote} and reads back {found}: it did not stick"))
            }
            Err(trouble) => Some(trouble.why),
        }
    }

    /// Ends the processes that keep a request for this change.
    fn request(&self) -> UndoneFate {
        let mut came = UndoneFate::AlreadyThere;
        for holder in self.holders.iter().filter(|it| is_running(**it)) {
            fault::point();
            match end_process(*holder) {
                Ok(true) => came = UndoneFate::WrittenBack,
                Ok(false) => {}
                Err(trouble) => return UndoneFate::Failed { why: trouble.why },
            }
            fault::point();
        }
        came
    }
}

/// Whether what is written may go, and what was changed with it: a task, an interrupt, the tunables of a governor.
fn may_go(write: &Write) -> bool {
    write.aim != Aim::Sticks || matches!(write.target, Target::Affinity { .. })
}

fn after(came: &UndoneFate) -> Fate {
    let left = |found: &Option<String>, why: &str| Fate::LeftAlone {
        found: found.clone(),
        why: why.to_owned(),
    };
    match came {
        UndoneFate::WrittenBack | UndoneFate::AlreadyThere => Fate::Undone,
        UndoneFate::Void { .. } => Fate::Void,
        UndoneFate::LeftAlone { found } => left(found, "somebody else has changed it since"),
        UndoneFate::WouldBringFaultBack => left(&None, "writing it back would bring a fault back"),
        UndoneFate::Failed { why } => left(&None, why),
    }
}
