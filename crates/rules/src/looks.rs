//! Which faults a look of some seconds can show at work, and what it has to watch for that.
//!
//! A count that rises while somebody looks, or a state that is there in a reading, is live evidence; a log that was set before is not.

use facts::watched::Sight;

/// A check, and what shows whether its fault acts at the moment.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// The id of the check.
    pub check: &'static str,
    /// What has to be watched.
    pub by: &'static [Sight],
}

const fn shown(check: &'static str, by: &'static [Sight]) -> Shown {
    Shown { check, by }
}

/// The checks that a look can decide.
pub const LOOKS: &[Shown] = &[
    shown("prochot-asserted", &[Sight::Signals, Sight::Throttling, Sight::Logs]),
    shown("thermal-throttling", &[Sight::Throttling, Sight::Signals, Sight::Logs]),
    shown("power-limit-reached", &[Sight::Throttling, Sight::Signals, Sight::Logs]),
    // Whether a limit binds shows in the time that it held the package back.
    shown("low-power-limit", &[Sight::Throttling, Sight::Signals]),
    shown("clock-clipped-by-platform", &[Sight::Logs]),
    shown("smi-storm", &[Sight::Smis]),
];

/// What shows whether the fault of a check acts; nothing where no look does.
pub fn sights_of(check: &str) -> &'static [Sight] {
    LOOKS.iter().find(|it| it.check == check).map_or(&[], |it| it.by)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::CHECKS;

    #[test]
    fn every_look_is_of_a_check_that_has_a_part_in_the_diagnosis() {
        for it in LOOKS {
            assert!(CHECKS.iter().any(|check| check.id == it.check), "{}", it.check);
            assert!(crate::diagnosis::parts::part_of(it.check).is_some(), "{}", it.check);
            assert!(!it.by.is_empty(), "{}", it.check);
        }
    }
}
