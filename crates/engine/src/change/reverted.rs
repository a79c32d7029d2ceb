//! What undoing changes did.

use anyhow::{Result, anyhow};
use facts::change::Undone;
use host::change::ChangeError;

/// What was undone, and why the journal does not say so.
#[derive(Debug, Default)]
pub struct Reverted {
    /// What undoing did, place by place.
    pub undone: Vec<Undone>,
    /// Why the journal does not record it.
    pub not_recorded: Option<String>,
}

impl Reverted {
    /// Error: why a change was not undone; what came of others before it is added.
    pub(super) fn add(&mut self, reverted: Result<Vec<Undone>, ChangeError>) -> Result<()> {
        match reverted {
            Ok(undone) => self.undone.extend(undone),
            Err(error @ ChangeError::NotRecorded { .. }) => {
                self.not_recorded = Some(error.to_string());
                if let ChangeError::NotRecorded { undone, .. } = error {
                    self.undone.extend(undone);
                }
            }
            Err(error) => {
                let why = anyhow!("{error}");
                if let ChangeError::NotUndone { before, .. } = error {
                    self.add(*before)?;
                }
                return Err(why);
            }
        }
        Ok(())
    }
}

/// In one line: "7 places are as they were, 1 is not".
pub fn in_short(undone: &[Undone]) -> String {
    let n_left = undone.iter().filter(|it| !it.fate.is_clean()).count();
    let n_clean = undone.len() - n_left;
    let places =
        |n: usize| if n == 1 { "1 place is".to_owned() } else { format!("{n} places are") };
    match (n_clean, n_left) {
        (n, 0) => format!("{} as before", places(n)),
        (0, n) => format!("{} not as before: see `fullclock status`", places(n)),
        (n, left) => format!("{} as before, {left} not: see `fullclock status`", places(n)),
    }
}
