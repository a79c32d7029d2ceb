//! What the entries of a journal add up to.

use super::entry::Step;
use crate::change::process::Process;
use facts::change::{ChangeState, Recorded};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// The changes of a journal, and where in its text the long parts of them are.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) changes: Vec<Recorded>,
    parts: Vec<Parts>,
}

/// The parts of a change.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Groups, by their number.
    pub(super) groups: BTreeMap<u32, Range<usize>>,
    /// What became of their writes, the latest last.
    pub(super) fates: Vec<Range<usize>>,
    /// The processes that were told to keep requests for it.
    pub(super) holders: Vec<Process>,
}

impl History {
    pub(super) fn parts(&self, id: &str) -> Option<&Parts> {
        self.place(id).and_then(|place| self.parts.get(place))
    }

    pub(super) fn place(&self, id: &str) -> Option<usize> {
        let number: usize = id.parse().ok()?;
        let place = number.checked_sub(1)?;
        (place < self.changes.len()).then_some(place)
    }

    /// The id of the change that would begin next.
    pub(super) fn next_id(&self) -> String {
        format!("{:04}", self.changes.len() + 1)
    }

    /// Adds an entry whose body is at `body` of the text. Error: it does not fit what came before.
    pub(super) fn add(&mut self, step: Step, body: Range<usize>) -> Result<(), String> {
        match step {
            Step::Journal { .. } => return Err("a journal begins a second time".to_owned()),
            Step::Begun { change, milliseconds, boot, command, brings_faults_back } => {
                if change != self.next_id() {
                    return Err(format!("change {change} begins where {} is due", self.next_id()));
                }
                let when = Duration::from_millis(milliseconds);
                let (id, state) = (change, ChangeState::Open);
                self.changes.push(Recorded { id, when, boot, command, brings_faults_back, state });
                self.parts.push(Parts::default());
            }
            Step::Intended { change, group } => {
                let (_, parts) = self.known(&change)?;
                if parts.groups.insert(group, body).is_some() {
                    return Err(format!("group {group} of change {change} is there twice"));
                }
            }
            Step::Held { change, pid, started } => {
                self.known(&change)?.1.holders.push(Process { pid, started });
            }
            Step::Done { change } => self.known(&change)?.1.fates.push(body),
            Step::Kept { change } => self.known(&change)?.0.state = ChangeState::Kept,
            Step::Awaiting { change, until_milliseconds, deadline_milliseconds } => {
                let until = Duration::from_millis(until_milliseconds);
                let deadline = Duration::from_millis(deadline_milliseconds);
                self.known(&change)?.0.state = ChangeState::Awaiting { until, deadline };
            }
            Step::Reverting { change } => self.known(&change)?.0.state = ChangeState::Open,
            Step::Reverted { change, left } => {
                let (recorded, parts) = self.known(&change)?;
                parts.fates.push(body);
                recorded.state = if left == 0 {
                    ChangeState::Reverted
                } else {
                    ChangeState::PartlyReverted { left }
                };
            }
        }
        Ok(())
    }

    fn known(&mut self, id: &str) -> Result<(&mut Recorded, &mut Parts), String> {
        let place = self.place(id).ok_or_else(|| format!("change {id} has not begun"))?;
        match (self.changes.get_mut(place), self.parts.get_mut(place)) {
            (Some(recorded), Some(parts)) if recorded.id == id => Ok((recorded, parts)),
            _ => Err(format!("change {id} has not begun")),
        }
    }
}
