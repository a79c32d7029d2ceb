//! What might explain slow machines: one value or two, of all machines or of a group.

use crate::columns::{Column, NONE};
use crate::machine::Attribute;

/// A value, or a pair of values, that machines can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Index of a column, and a code in it.
    pub(crate) first: (usize, u32),
    /// The same of another column; both must hold.
    pub(crate) second: Option<(usize, u32)>,
    /// The group that it is about; `None` of all.
    pub(crate) group: Option<usize>,
    /// How much more than one value has to be said: another one, or which group.
    pub(crate) level: u8,
}

impl Candidate {
    fn parts(&self) -> impl Iterator<Item = (usize, u32)> {
        [Some(self.first), self.second].into_iter().flatten()
    }

    /// The columns that it is made of.
    pub(crate) fn uses(&self, column: usize) -> bool {
        self.parts().any(|it| it.0 == column)
    }

    /// Whether it says a part of what another one says.
    pub(crate) fn is_simpler_than(&self, other: &Self) -> bool {
        let is_part = self.parts().all(|it| other.parts().any(|other| other == it));
        is_part && self.level < other.level
    }

    /// Whether a machine has it.
    pub(crate) fn holds(&self, columns: &[Column], machine: usize) -> bool {
        self.parts().all(|(column, code)| columns[column].codes[machine] == code)
    }

    /// Whether a machine is known to lack it.
    pub(crate) fn lacks(&self, columns: &[Column], machine: usize) -> bool {
        self.parts().any(|(column, code)| {
            let column = &columns[column];
            column.codes[machine] != code && column.is_told(machine)
        })
    }

    /// Its attributes.
    pub(crate) fn attributes(&self, columns: &[Column]) -> Vec<Attribute> {
        debug_assert!(self.parts().all(|it| it.1 != NONE), "an absence is not an attribute");
        self.parts().map(|(column, code)| columns[column].attribute(code)).collect()
    }
}
