//! What the screen is told, and what it asks for.

use rules::watch::{Probing, Reading};
use std::sync::Arc;

/// Where readings come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Feed {
    /// This machine.
    Live {
        /// How often, as the user wrote it: `1s`.
        interval: String,
        /// Which CPUs have their clock probed.
        probing: Probing,
    },
    /// A recording.
    Replay {
        /// Whether it stands still.
        paused: bool,
        /// How many times faster than it was recorded.
        speed: f64,
        /// Whether its end is reached.
        ended: bool,
    },
}

/// What the screen is told.
#[derive(Clone)]
pub(crate) enum Message {
    /// Another interval has passed.
    Reading(Arc<Reading>),
    /// The source of readings has changed its ways.
    Feed(Feed),
    /// Something that has to be said.
    Notice(String),
    /// The terminal has this many columns and lines.
    Resize(u16, u16),
    /// A page is wanted, or the table again.
    Open(Page),
    /// The cursor goes by rows.
    Down(isize),
    /// The cursor goes by screens.
    PageDown(isize),
    /// The cursor goes to the first row or the last.
    End(bool),
    /// The cursor goes by columns.
    Right(isize),
    /// The next way to sort by the column under the cursor.
    Sort,
    /// Rows of packages, cores or CPUs.
    Level,
    /// The parts of a metric side by side, or one sum.
    Expand,
    /// The screen stands still, or goes on.
    Freeze,
    /// A filter is to be typed.
    Filter,
    /// A letter of it.
    Typed(char),
    /// The last letter is taken back.
    Erase,
    /// It is complete.
    Enter,
    /// It is given up; a page is closed.
    Escape,
    /// Which CPUs are probed.
    Probe,
    /// The next reading of a recording.
    Step,
    /// A recording runs faster, or slower.
    Faster(bool),
    /// A recording begins again.
    Restart,
    Quit,
}

/// A page that can be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Table,
    /// Every line of the ledger with its source.
    Ledger,
    /// What is not known here, and why.
    Missing,
    Help,
}

/// What the outside has to do about a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    None,
    Quit,
    /// To probe other CPUs.
    Probe(Probing),
    /// To pause a recording or go on with it.
    Pause,
    /// To give one reading of a recording.
    Step,
    /// To run a recording at this speed.
    Speed(f64),
    /// To begin a recording again.
    Restart,
}

impl Message {
    /// Whether the user did it.
    pub(super) fn is_of_a_key(&self) -> bool {
        let is_of_the_outside = matches!(
            self,
            Message::Reading(_) | Message::Feed(_) | Message::Notice(_) | Message::Resize(..)
        );
        !is_of_the_outside
    }
}
