//! Reads a journal line by line, checks checksums and numbers, and keeps what the entries add up to.

use super::Journal;
use super::entry::{self, Step, VERSION};
use crate::change::JournalError;
use crate::change::process::Process;
use facts::change::{ChangeState, Recorded};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::ops::Range;
use std::path::Path;
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

impl Journal {
    /// Reads a text, up to the line that a crash cut.
    pub(super) fn parse(folder: &Path, text: Vec<u8>) -> Result<Journal, JournalError> {
        let mut journal = Journal::empty(folder);
        let mut at = 0;
        for number in 1.. {
            let rest = text.get(at..).unwrap_or_default();
            let length = (&mut &*rest).skip_until(b'\n').unwrap_or(0);
            let line = rest.get(..length).unwrap_or_default();
            let is_last = length == rest.len();
            if line.is_empty() {
                break;
            }
            if is_last && (!line.ends_with(b"\n") || line.contains(&0)) {
                journal.notes.push(format!(
                    "{}, line {number}: a crash cut it after {length} bytes; it is dropped",
                    journal.path.display()
                ));
                break;
            }
            journal.add_line(line.trim_ascii_end(), at, number)?;
            at += length;
        }
        journal.text = text;
        journal.text.truncate(at);
        Ok(journal)
    }

    fn add_line(&mut self, line: &[u8], at: usize, number: usize) -> Result<(), JournalError> {
        let path = self.path.clone();
        let damaged = |why: String| JournalError::Damaged { path, line: number, why };
        let entry = match entry::entry(line) {
            Ok(entry) => entry,
            Err(why) => return Err(damaged(why)),
        };
        if entry.sequence != self.sequence + 1 {
            let (due, found) = (self.sequence + 1, entry.sequence);
            return Err(damaged(format!(
                "its number is {found}, and {due} is due: lines are missing"
            )));
        }
        self.sequence = entry.sequence;
        match entry.step {
            Step::Journal { version } if self.sequence == 1 => {
                if version > VERSION {
                    let path = self.path.clone();
                    return Err(JournalError::Newer { path, found: version, known: VERSION });
                }
                Ok(())
            }
            _ if self.sequence == 1 => {
                Err(damaged("the first line of a journal is missing".into()))
            }
            step => {
                let body = at + entry.body.start..at + entry.body.end;
                self.history.add(step, body).map_err(damaged)
            }
        }
    }
}
