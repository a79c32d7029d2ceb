//! Get Power Limit and Get Power Reading: how much the board may draw, and how much it draws.
//!
//! Source: DCMI 1.5, sections 6.6.2 and 6.6.1 (mode 1, "System Power Statistics"). Completion code 80h of Get Power
//! Limit is "No Set Power Limit". Some controllers answer it where no limit was ever set, some where a limit is set
//! but not active, with all the data after the code, and some where no limit can be set (libfreeipmi, ipmi-dcmi.c).
//! In all three cases no limit is active. The period of the minimum, maximum and average power depends on the
//! controller: a second on some, the time since their start on others.

use super::{DCMI, question, watts};
use crate::ipmi::{Completion, Question, Timestamp, Unanswered};
use crate::{Expected, Microwatts};
use std::fmt;
use std::time::Duration;

/// The active limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerLimit {
    /// How much the board may draw.
    pub power: Microwatts,
    /// The correction time: how soon the power must be below the limit again before the action follows.
    pub correction: Duration,
    /// What the controller does otherwise.
    pub action: ExceptionAction,
    /// How often the controller checks the power.
    pub sampling: Duration,
}

/// The exception action: what a controller does where the power stays above the limit; by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExceptionAction(pub u8);

impl PowerLimit {
    /// The question for it; pass its answer to [`PowerLimit::in_force`].
    pub fn question() -> Question<PowerLimit> {
        let read = |_: &[u8], data: &[u8]| PowerLimit::parse(data);
        question("Get Power Limit", 0x03, &[0, 0], read)
    }

    /// The limit in an answer; `None` where no limit is active.
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
            return Err(Expected("0xdc and 13 bytes after the completion code"));
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
    /// Whether it powers off the machine.
    pub fn is_power_off(self) -> bool {
        self.0 == 0x01
    }
}

/// In words that can follow "where it cannot be kept within N s".
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

/// The power of the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerReading {
    /// What the board draws at this moment.
    pub current: Microwatts,
    /// The minimum over the period.
    pub minimum: Microwatts,
    /// The maximum over the period.
    pub maximum: Microwatts,
    /// The average over the period.
    pub average: Microwatts,
    /// When the period ended, by the controller's clock.
    pub at: Option<Timestamp>,
    /// The length of the period.
    pub period: Duration,
}

impl PowerReading {
    /// The question for it.
    pub fn question() -> Question<PowerReading> {
        const SYSTEM_POWER_STATISTICS: u8 = 1;
        let read = |_: &[u8], data: &[u8]| PowerReading::parse(data);
        question("Get Power Reading", 0x02, &[SYSTEM_POWER_STATISTICS, 0, 0], read)
    }

    fn parse(data: &[u8]) -> Result<PowerReading, Expected> {
        const IS_ACTIVE: u8 = 1 << 6;
        let Ok([DCMI, rest @ ..]) = <[u8; 18]>::try_from(data) else {
            return Err(Expected("0xdc and 17 bytes after the completion code"));
        };
        let [c0, c1, l0, l1, m0, m1, a0, a1, t0, t1, t2, t3, p0, p1, p2, p3, state] = rest;
        if state & IS_ACTIVE == 0 {
            return Err(Expected("a power measurement that is active (bit 6 of the last byte)"));
        }
        let power = |bytes| watts(bytes).ok_or(Expected("a power of at most 65534 W"));
        let current = power([c0, c1])?;
        if current.0 == 0 {
            return Err(Expected("a power above 0 W: the machine that asks is running"));
        }
        Ok(PowerReading {
            current,
            minimum: power([l0, l1])?,
            maximum: power([m0, m1])?,
            average: power([a0, a1])?,
            at: Timestamp::parse([t0, t1, t2, t3]),
            period: Duration::from_millis(u32::from_le_bytes([p0, p1, p2, p3]).into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 W, which have to be kept within 6 s, else an event is logged; looked at every second.
    const LIMIT_ANSWER: [u8; 15] =
        [0, 0xdc, 0, 0, 0x11, 0xf4, 0x01, 0x70, 0x17, 0, 0, 0, 0, 0x01, 0x00];

    fn limit_in(data: &[u8]) -> Result<Option<PowerLimit>, Unanswered> {
        PowerLimit::in_force(PowerLimit::question().answered(0x2d, 0x03, data))
    }

    #[test]
    fn a_limit_is_told_with_what_follows_where_it_cannot_be_kept() {
        assert_eq!(PowerLimit::question().data, [0xdc, 0, 0]);
        let limit = limit_in(&LIMIT_ANSWER).unwrap().unwrap();
        assert_eq!(limit.power, Microwatts(500_000_000));
        assert_eq!((limit.correction.as_millis(), limit.sampling.as_secs()), (6000, 1));
        assert_eq!(limit.action.to_string(), "an event is logged");
        assert!(!limit.action.is_power_off() && ExceptionAction(1).is_power_off());
    }

    #[test]
    fn no_limit_in_force_is_an_answer_with_data_and_without() {
        assert_eq!(limit_in(&[0x80]), Ok(None));
        let mut set = LIMIT_ANSWER;
        set[0] = 0x80;
        assert_eq!(limit_in(&set), Ok(None));
    }

    #[test]
    fn another_refusal_stays_one() {
        assert_eq!(limit_in(&[0xd4]), Err(Unanswered::Refused(Completion(0xd4))));
    }

    #[test]
    fn a_limit_that_cannot_be_is_none() {
        for watts in [[0, 0], [0xff, 0xff]] {
            let mut odd = LIMIT_ANSWER;
            [odd[5], odd[6]] = watts;
            let text = limit_in(&odd).unwrap_err().to_string();
            assert!(text.ends_with("expected a limit of 1 to 65534 W"), "{text}");
        }
    }

    #[test]
    fn a_limit_of_a_wrong_length_or_another_group_is_refused() {
        let mut other = LIMIT_ANSWER;
        other[1] = 0;
        for data in
            [&LIMIT_ANSWER[..14], &[&LIMIT_ANSWER[..], &[0]].concat(), &LIMIT_ANSWER[..1], &other]
        {
            let text = limit_in(data).unwrap_err().to_string();
            assert!(
                text.ends_with("expected 0xdc and 13 bytes after the completion code"),
                "{text}"
            );
        }
    }

    #[test]
    fn every_action_has_words() {
        assert!(ExceptionAction(2).to_string().contains("maker's action 0x02"));
        assert!(ExceptionAction(0x12).to_string().contains("reserved"));
    }

    /// 214 W, at least 2, at most 468, 184 on average, over a second.
    const READING_ANSWER: [u8; 19] = [
        0, 0xdc, 0xd6, 0, 2, 0, 0xd4, 0x01, 0xb8, 0, 0x84, 0x83, 0x37, 0x66, 0xe8, 0x03, 0, 0, 0x40,
    ];

    fn reading_in(data: &[u8]) -> Result<PowerReading, Unanswered> {
        PowerReading::question().answered(0x2d, 0x02, data)
    }

    fn expected(data: &[u8]) -> String {
        let text = reading_in(data).unwrap_err().to_string();
        text.split_once("expected ").unwrap().1.to_owned()
    }

    #[test]
    fn a_board_tells_what_it_draws_and_has_drawn() {
        assert_eq!(PowerReading::question().data, [0xdc, 1, 0, 0]);
        let reading = reading_in(&READING_ANSWER).unwrap();
        let powers = [reading.minimum, reading.average, reading.current, reading.maximum];
        assert_eq!(powers.map(|it| it.0 / 1_000_000), [2, 184, 214, 468]);
        assert_eq!(reading.at, Some(Timestamp::Date(0x6637_8384)));
        assert_eq!(reading.period, Duration::from_secs(1));
    }

    #[test]
    fn a_measurement_that_is_off_is_no_power_of_zero() {
        let mut off = READING_ANSWER;
        off[18] = 0;
        assert!(expected(&off).starts_with("a power measurement that is active"));
    }

    #[test]
    fn powers_that_cannot_be_are_told() {
        let (mut nothing, mut everything) = (READING_ANSWER, READING_ANSWER);
        nothing[2] = 0;
        everything[6..8].fill(0xff);
        assert!(expected(&nothing).starts_with("a power above 0 W"));
        assert_eq!(expected(&everything), "a power of at most 65534 W");
    }

    #[test]
    fn a_reading_of_a_wrong_length_or_another_group_is_refused() {
        let mut other = READING_ANSWER;
        other[1] = 0xdd;
        for data in [
            &READING_ANSWER[..18],
            &[&READING_ANSWER[..], &[0]].concat(),
            &READING_ANSWER[..1],
            &other,
        ] {
            assert_eq!(expected(data), "0xdc and 17 bytes after the completion code");
        }
    }
}
