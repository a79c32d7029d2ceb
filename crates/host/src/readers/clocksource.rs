//! Reads the clock source.

use crate::Source;
use facts::parse;
use facts::system::clocksource::{Clocksource, FOLDER};

pub(super) fn read(source: &dyn Source) -> Clocksource {
    Clocksource {
        current: source.parsed(&format!("{FOLDER}/current_clocksource"), parse::line),
        available: source.parsed(&format!("{FOLDER}/available_clocksource"), parse::words),
    }
}
