//! Making the writes of one group: journaled, compared, written, read back.

use super::journal::{Compact, Fates, Step, runs};
use super::machine::{Helper, same};
use super::{Cause, Outcome, Transaction, Trouble, fault};
use crate::probe::{keep_off, pinned};
use facts::CpuSet;
use facts::change::{Aim, ChangeState, Group, Recorded, Target, Write, WriteOutcome};
use std::collections::HashSet;
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::Duration;

impl Transaction<'_> {
    /// Applies a group. Error: what went wrong first; nothing is undone yet.
    pub(super) fn try_apply(&mut self, group: &Group) -> Result<Outcome, Cause> {
        for write in &group.writes {
            self.changer.machine.permits(write)?;
        }
        self.look_first(group)?;
        let number = self.n_groups;
        let step = Step::Intended { change: self.id.clone(), group: number };
        self.changer
            .journal
            .append(step, &Compact::of(group), true)
            .map_err(Cause::NotJournaled)?;
        self.n_groups += 1;
        self.tell_guard()?;
        let mut fates = vec![WriteOutcome::NotMade; group.writes.len()];
        let made = self.make(group, &mut fates);
        let step = Step::Done { change: self.id.clone() };
        let body: Fates = [(number, runs(&fates))].into();
        // A failure is undone at once, and that is written through.
        let noted = self.changer.journal.append(step, &body, made.is_ok());
        made?;
        noted.map_err(Cause::OutcomeNotJournaled)?;
        self.tell_guard()?;
        Ok(Outcome { fates })
    }

    /// Sees that every place still holds what the plan saw, before any is written.
    fn look_first(&self, group: &Group) -> Result<(), Cause> {
        self.not_on_awaiting(group)?;
        let mut seen = HashSet::new();
        for write in &group.writes {
            // What a group writes twice holds something else by the second time.
            if seen.insert(&write.target) && write.aim != Aim::IfTaken {
                self.compare(write)?;
            }
        }
        Ok(())
    }

    /// Sees that no place was written by a change that awaits confirmation: at its deadline that would leave the place alone, and
    /// undoing this change later would bring its unconfirmed value back.
    fn not_on_awaiting(&self, group: &Group) -> Result<(), Cause> {
        let is_awaiting = |it: &&Recorded| matches!(it.state, ChangeState::Awaiting { .. });
        for change in self.changer.journal.changes().iter().filter(is_awaiting) {
            let groups = self.changer.journal.groups(&change.id).map_err(Cause::NotJournaled)?;
            let written = |target: &Target| {
                groups.iter().any(|it| it.made().any(|it| overlap(&it.target, target)))
            };
            if let Some(write) = group.writes.iter().find(|it| written(&it.target)) {
                let why = format!(
                    "change {} wrote it and awaits confirmation; confirm or revert that first",
                    change.id
                );
                return Err(Trouble::new(&write.target, why).into());
            }
        }
        Ok(())
    }

    fn compare(&self, write: &Write) -> Result<(), Cause> {
        let found = self.changer.machine.read(&write.target)?;
        if same(&write.target, found.as_deref(), write.from.as_deref()) {
            return Ok(());
        }
        Err(Cause::Changed { target: write.target.clone(), expected: write.from.clone(), found })
    }

    /// Makes the writes in their order. A place that is written again later is read back at once, the others when all are
    /// made: one write may change what another did.
    fn make(&mut self, group: &Group, fates: &mut [WriteOutcome]) -> Result<(), Cause> {
        let mut later = HashSet::new();
        let mut is_last: Vec<bool> =
            group.writes.iter().rev().map(|it| later.insert(&it.target)).collect();
        is_last.reverse();
        let mut unchecked = Vec::new();
        for (place, ((write, fate), is_last)) in
            group.writes.iter().zip(&mut *fates).zip(is_last).enumerate()
        {
            let earlier = group.writes.get(..place).unwrap_or_default();
            self.make_one(write, earlier, fate)?;
            let is_canary = group.canary && place == 0;
            if is_canary || !is_last {
                self.read_back(write, fate)?;
            } else {
                unchecked.push(place);
            }
            if is_canary && *fate != WriteOutcome::Noted {
                alive(&write.target)?;
            }
        }
        for place in unchecked {
            if let (Some(write), Some(fate)) = (group.writes.get(place), fates.get_mut(place)) {
                self.read_back(write, fate)?;
            }
        }
        Ok(())
    }

    /// Compares and writes. The fate stays [`WriteOutcome::Intended`] until it is read back.
    fn make_one(
        &mut self,
        write: &Write,
        earlier: &[Write],
        fate: &mut WriteOutcome,
    ) -> Result<(), Cause> {
        let refused = |trouble: Trouble, fate: &mut WriteOutcome| match write.aim {
            Aim::IfTaken => {
                *fate = WriteOutcome::Refused { why: trouble.why };
                Ok(())
            }
            // A thread that has ended has nothing to be forgotten.
            Aim::Forgotten if trouble.is_gone => {
                *fate = WriteOutcome::Refused { why: trouble.why };
                Ok(())
            }
            Aim::Sticks | Aim::Forgotten => Err(Cause::Trouble(trouble)),
        };
        match self.compare(write) {
            Ok(()) => {}
            Err(Cause::Trouble(trouble)) => return refused(trouble, fate),
            Err(Cause::Changed { found, .. }) if came_along(write, earlier, found.as_deref()) => {
                *fate = WriteOutcome::Intended;
                return Ok(());
            }
            Err(cause) => return Err(cause),
        }
        if write.aim == Aim::Forgotten {
            *fate = WriteOutcome::Noted;
            return Ok(());
        }
        *fate = WriteOutcome::Intended;
        if same(&write.target, write.from.as_deref(), write.to.as_deref()) {
            return Ok(());
        }
        if write.target == Target::LatencyRequest {
            return self.request(write.to.as_deref().unwrap_or_default());
        }
        self.changer.journal.permits_writes().map_err(Cause::Stopped)?;
        fault::point();
        let written = self.changer.machine.write(&write.target, write.to.as_deref());
        fault::point();
        match written {
            Ok(answer) => {
                self.notes.extend(answer.map(|it| format!("{}: {it}", write.target)));
                Ok(())
            }
            Err(trouble) => refused(trouble, fate),
        }
    }

    /// Starts the process that keeps a request. It asks for nothing before the journal knows of it; the request ends with it,
    /// so the disk need not know.
    fn request(&mut self, microseconds: &str) -> Result<(), Cause> {
        let start = Helper::start(&self.changer.machine, &["hold-latency", microseconds])?;
        self.notes.extend(start.note.clone());
        let step = Step::Held { change: self.id.clone(), pid: start.pid(), started: start.started };
        self.changer.journal.append(step, &(), false).map_err(Cause::NotJournaled)?;
        self.tell_guard()?;
        start.go()?;
        Ok(())
    }

    fn read_back(&self, write: &Write, fate: &mut WriteOutcome) -> Result<(), Cause> {
        if *fate != WriteOutcome::Intended {
            return Ok(());
        }
        if write.target == Target::LatencyRequest {
            // The process has read it back itself, and said that it holds.
            *fate = WriteOutcome::Done { read_back: write.to.clone() };
            return Ok(());
        }
        let found = self.changer.machine.settled(&write.target, write.to.as_deref())?;
        if same(&write.target, found.as_deref(), write.to.as_deref()) {
            // A file holds what was written, to the byte: once is enough in the journal.
            let is_file = matches!(write.target, Target::File { .. });
            let read_back =
                found.map(|it| if is_file { format!("{} bytes", it.len()) } else { it });
            *fate = WriteOutcome::Done { read_back };
            return Ok(());
        }
        *fate = WriteOutcome::DidNotStick { found: found.clone() };
        if write.aim == Aim::IfTaken {
            return Ok(());
        }
        Err(Cause::DidNotStick { target: write.target.clone(), wrote: write.to.clone(), found })
    }
}

/// Whether two writes may change the same. Each request of a latency is of a process of its own.
fn overlap(one: &Target, other: &Target) -> bool {
    match (one, other) {
        (Target::LatencyRequest, _) => false,
        (
            Target::Register { cpu, address, mask },
            Target::Register { cpu: other_cpu, address: other_address, mask: other_mask },
        ) => (cpu, address) == (other_cpu, other_address) && mask & other_mask != 0,
        _ => one == other,
    }
}

/// Whether a register holds what it is meant to because the same was written to that of another CPU: a core or package
/// may have one for all its CPUs.
fn came_along(write: &Write, earlier: &[Write], found: Option<&str>) -> bool {
    let Target::Register { address, mask, .. } = &write.target else { return false };
    let is_shared = |it: &Write| {
        matches!(&it.target, Target::Register { address: other, mask: bits, .. }
            if other == address && bits == mask)
            && same(&write.target, it.to.as_deref(), write.to.as_deref())
    };
    same(&write.target, found, write.to.as_deref()) && earlier.iter().any(is_shared)
}

/// Sees that the CPU of a register still answers.
fn alive(target: &Target) -> Result<(), Cause> {
    match target {
        Target::Register { cpu, .. } if !cpu_answers(*cpu) => {
            let seconds = CANARY_PATIENCE.as_secs();
            Err(Cause::Silent { cpu: *cpu, target: target.clone(), seconds })
        }
        _ => Ok(()),
    }
}

/// How long a CPU may take to run a thread. One at an eighth of its clock under load takes milliseconds.
const CANARY_PATIENCE: Duration = Duration::from_secs(2);

/// Whether `cpu` runs a thread that is pinned to it. Another CPU waits for it, where there is one.
///
/// Asked after a write to a register of the CPU: clearing clock modulation has hung some CPUs until the next reset.
fn cpu_answers(cpu: u32) -> bool {
    let (sender, receiver) = channel();
    let runner = Builder::new().name("canary".to_owned()).spawn(move || {
        // The receiver is gone if it took too long.
        let _late = sender.send(pinned(cpu, || std::hint::black_box(cpu)).is_ok());
    });
    if runner.is_err() {
        return false;
    }
    let waiter = Builder::new().name("canary-watch".to_owned()).spawn(move || {
        let cpu: CpuSet = [cpu].into_iter().collect();
        let _is_the_only_cpu = keep_off(&cpu);
        receiver.recv_timeout(CANARY_PATIENCE).unwrap_or(false)
    });
    waiter.is_ok_and(|it| it.join().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_is_there_answers_and_one_that_is_not_does_not() {
        let cpu = crate::probe::allowed().unwrap().last().unwrap();
        assert!(cpu_answers(cpu));
        assert!(!cpu_answers(8191));
    }
}
