//! Changes that await confirmation: how long they still may be confirmed, and what has become of those whose time is over.

use super::journal::Journal;
use super::process::is_running;
use super::{ChangeError, Machine, Trouble};
use crate::clock::since_boot;
use facts::change::{Aim, ChangeState, Overdue, Recorded, Target, WriteOutcome};
use std::time::Duration;

/// How a change stands that was not confirmed in time; `None` where it does not await confirmation, or still may be confirmed.
///
/// Errors: the boot, its places or the lock of its guard cannot be read.
pub fn overdue(
    machine: &Machine,
    journal: &Journal,
    change: &Recorded,
) -> Result<Option<Overdue>, ChangeError> {
    let is_waiting = matches!(change.state, ChangeState::Awaiting { .. });
    if !is_waiting || time_left(machine, change)? > Duration::ZERO {
        return Ok(None);
    }
    Ok(Some(if is_undone(machine, journal, change)? {
        Overdue::Undone
    } else if journal.is_guarded(&change.id)? {
        Overdue::Guarded
    } else {
        Overdue::Unguarded
    }))
}

/// Whether every place that a change wrote holds what it held before. What cannot be read does not.
fn is_undone(machine: &Machine, journal: &Journal, change: &Recorded) -> Result<bool, ChangeError> {
    let is_of_this_boot = machine.boot()? == change.boot;
    let groups = journal.groups(&change.id)?;
    let writes = groups.iter().flat_map(|it| it.group.writes.iter().zip(&it.fates));
    let made = writes.filter(|(write, fate)| {
        let is_made = !matches!(fate, WriteOutcome::NotMade | WriteOutcome::Refused { .. });
        is_made && write.aim != Aim::Forgotten
    });
    Ok(made.into_iter().all(|(write, _)| {
        let target = &write.target;
        match target {
            _ if target.ends_with_boot() && !is_of_this_boot => true,
            Target::LatencyRequest => !holds_latency(journal, &change.id),
            // Of a place that was written twice, the first value is the one before the change.
            _ => {
                let first = groups.iter().flat_map(|it| &it.group.writes);
                let before = first.into_iter().find(|it| it.target == *target).unwrap_or(write);
                machine.holds(target, before.from.as_deref()).unwrap_or(false)
            }
        }
    }))
}

/// Whether a process keeps a request of a latency for a change.
pub(super) fn holds_latency(journal: &Journal, id: &str) -> bool {
    journal.holders(id).iter().any(|it| is_running(*it))
}

/// How long a change may still be confirmed; nothing in another boot.
pub(super) fn time_left(machine: &Machine, change: &Recorded) -> Result<Duration, Trouble> {
    match &change.state {
        ChangeState::Awaiting { deadline, .. } if machine.boot()? == change.boot => {
            Ok(deadline.saturating_sub(since_boot()))
        }
        _ => Ok(Duration::ZERO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::journal::{Access, Folder, mark_guard};
    use crate::change::tree::{STAT_INTERVAL, Tree, stat_interval};
    use crate::change::{Force, Intent};

    fn standing(tree: &Tree) -> Option<Overdue> {
        let journal = Journal::open(&tree.state(), Access::Read).unwrap();
        let change = journal.change("1").unwrap();
        overdue(&tree.machine(), &journal, change).unwrap()
    }

    fn awaiting(tree: &Tree, within: Duration) {
        let mut changer = tree.changer();
        let mut change = changer.begin(Intent::default()).unwrap();
        change.confirm_without_guard(within);
        change.apply(&stat_interval()).unwrap();
        change.keep().unwrap();
    }

    #[test]
    fn a_change_is_not_overdue_before_its_deadline() {
        let tree = Tree::new();
        awaiting(&tree, Duration::from_secs(600));
        assert_eq!(standing(&tree), None);
    }

    #[test]
    fn an_overdue_change_has_a_guard_or_none_or_is_undone_and_not_recorded() {
        let tree = Tree::new();
        awaiting(&tree, Duration::ZERO);
        assert_eq!(standing(&tree), Some(Overdue::Unguarded));
        let folder = Folder::existing(&tree.state()).unwrap();
        let guard = mark_guard(&folder, "0001").unwrap();
        assert_eq!(standing(&tree), Some(Overdue::Guarded));
        drop(guard);
        assert_eq!(standing(&tree), Some(Overdue::Unguarded));
        tree.set(STAT_INTERVAL, "1\n");
        assert_eq!(standing(&tree), Some(Overdue::Undone));
        tree.changer().recover(Force::No).unwrap();
        assert_eq!(standing(&tree), None);
        assert!(!tree.state().join("guard-0001").exists());
    }
}
