//! Get Power Limit: how much the board may draw.
//!
//! Source: DCMI 1.5, section 6.6.2. Completion code 80h is "No Set Power Limit", which some controllers answer where
//! none was ever set, some where one is set and not in force, with all the data behind it, and some where none can be
//! set (libfreeipmi's ipmi-dcmi.c tells of them). Whichever it means: no limit is in force.

use super::{DCMI, question, watts};
use crate::ipmi::{Completion, Question, Unanswered};
use crate::{Expected, Microwatts};
use std::fmt;
use std::time::Duration;

/// A limit that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerLimit {
    /// What the board may draw.
    pub power: Microwatts,
    /// How soon it has to be below again before the action follows.
    pub correction: Duration,
    /// What follows where it is not.
    pub action: ExceptionAction,
    /// How often the power is looked at for that.
    pub sampling: Duration,
}

/// What a controller does where the limit cannot be kept: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExceptionAction(pub u8);

impl PowerLimit {
    /// Asks for it; its answer goes through [`PowerLimit::in_force`].
    pub fn question() -> Question<PowerLimit> {
        let read = |_: &[u8], data: &[u8]| PowerLimit::parse(data);
        question("Get Power Limit", 0x03, &[0, 0], read)
    }

    /// The limit that an answer tells of; none where it says that none is in force.
    pub fn in_force(
        answer: Result<PowerLimit, Unanswered>,
    ) -> Result<Option<PowerLimit>, Unanswered> {
        match answer {
            Err(Unanswered::Refused(Completion::NO_SET_POWER_LIMIT)) => Ok(None),
            answer => answer.map(Some),
        }
    }

    fn parse(data: &[u8]) -> Result<PowerLimit, Expected> {
        let &[DCMI, _, _, action, p0, p1, c0, c1, c2, c3, _, _, s0, s1] = data else {
            return Err(Expected("0xdc and 13 bytes behind the completion code"));
        };
        let power = watts([p0, p1]).filter(|it| it.0 > 0);
        Ok(PowerLimit {
            power: power.ok_or(Expected("a limit of 1 to 65534 W"))?,
            correction: Duration::from_millis(u32::from_le_bytes([c0, c1, c2, c3]).into()),
            action: ExceptionAction(action),
            sampling: Duration::from_secs(u16::from_le_bytes([s0, s1]).into()),
        })
    }
}

impl ExceptionAction {
    /// Whether the machine is switched off.
    pub fn is_power_off(self) -> bool {
        self.0 == 0x01
    }
}

/// In words that "where it cannot be kept within so long" can follow.
impl fmt::Display for ExceptionAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0x00 => f.write_str("nothing more happens"),
            0x01 => f.write_str("the machine is switched off"),
            0x11 => f.write_str("an event is logged"),
            0x02..=0x10 => write!(f, "the maker's action {:#04x} follows", self.0),
            _ => write!(f, "action {:#04x} follows, which is reserved", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 W, which have to be kept within 6 s, else an event is logged; looked at every second.
    const ANSWER: [u8; 15] = [0, 0xdc, 0, 0, 0x11, 0xf4, 0x01, 0x70, 0x17, 0, 0, 0, 0, 0x01, 0x00];

    fn answered(data: &[u8]) -> Result<Option<PowerLimit>, Unanswered> {
        PowerLimit::in_force(PowerLimit::question().answered(0x2d, 0x03, data))
    }

    #[test]
    fn a_limit_is_told_with_what_follows_where_it_cannot_be_kept() {
        assert_eq!(PowerLimit::question().data, [0xdc, 0, 0]);
        let limit = answered(&ANSWER).unwrap().unwrap();
        assert_eq!(limit.power, Microwatts(500_000_000));
        assert_eq!((limit.correction.as_millis(), limit.sampling.as_secs()), (6000, 1));
        assert_eq!(limit.action.to_string(), "an event is logged");
        assert!(!limit.action.is_power_off() && ExceptionAction(1).is_power_off());
    }

    #[test]
    fn no_limit_in_force_is_an_answer_with_data_and_without() {
        assert_eq!(answered(&[0x80]), Ok(None));
        let mut set = ANSWER;
        set[0] = 0x80;
        assert_eq!(answered(&set), Ok(None));
    }

    #[test]
    fn another_refusal_stays_one() {
        assert_eq!(answered(&[0xd4]), Err(Unanswered::Refused(Completion(0xd4))));
    }

    #[test]
    fn a_limit_that_cannot_be_is_none() {
        for watts in [[0, 0], [0xff, 0xff]] {
            let mut odd = ANSWER;
            [odd[5], odd[6]] = watts;
            let text = answered(&odd).unwrap_err().to_string();
            assert!(text.ends_with("expected a limit of 1 to 65534 W"), "{text}");
        }
    }

    #[test]
    fn a_wrong_length_and_another_group_are_told() {
        let mut other = ANSWER;
        other[1] = 0;
        for data in [&ANSWER[..14], &[&ANSWER[..], &[0]].concat(), &ANSWER[..1], &other] {
            let text = answered(data).unwrap_err().to_string();
            assert!(
                text.ends_with("expected 0xdc and 13 bytes behind the completion code"),
                "{text}"
            );
        }
    }

    #[test]
    fn every_action_has_words() {
        assert!(ExceptionAction(2).to_string().contains("maker's action 0x02"));
        assert!(ExceptionAction(0x12).to_string().contains("reserved"));
    }
}
