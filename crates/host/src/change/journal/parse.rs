//! Reading a journal: line by line, each with its checksum and its number.

use super::Journal;
use super::entry::{self, Step, VERSION};
use crate::change::JournalError;
use std::io::BufRead;
use std::path::Path;

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
