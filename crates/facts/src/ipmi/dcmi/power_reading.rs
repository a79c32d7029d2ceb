//! Get Power Reading: what the board draws, and has drawn over a period.
//!
//! Source: DCMI 1.5, section 6.6.1, mode 1, "System Power Statistics". Over which period the least, the most and the
//! mean are is the controller's choice: a second on some, everything since their start on others.

use super::{DCMI, question, watts};
use crate::ipmi::{Question, Timestamp};
use crate::{Expected, Microwatts};
use std::time::Duration;

/// What the board draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerReading {
    /// At the moment, as the controller sees it.
    pub current: Microwatts,
    /// The least over the period.
    pub minimum: Microwatts,
    /// The most.
    pub maximum: Microwatts,
    /// The mean.
    pub average: Microwatts,
    /// When the period ended, by the controller's clock.
    pub at: Option<Timestamp>,
    /// How long it is.
    pub period: Duration,
}

impl PowerReading {
    /// Asks for it.
    pub fn question() -> Question<PowerReading> {
        const SYSTEM_POWER_STATISTICS: u8 = 1;
        let read = |_: &[u8], data: &[u8]| PowerReading::parse(data);
        question("Get Power Reading", 0x02, &[SYSTEM_POWER_STATISTICS, 0, 0], read)
    }

    fn parse(data: &[u8]) -> Result<PowerReading, Expected> {
        const IS_ACTIVE: u8 = 1 << 6;
        let Ok([DCMI, rest @ ..]) = <[u8; 18]>::try_from(data) else {
            return Err(Expected("0xdc and 17 bytes behind the completion code"));
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
    use crate::ipmi::Unanswered;

    /// 214 W, at least 2, at most 468, 184 on average, over a second.
    const ANSWER: [u8; 19] = [
        0, 0xdc, 0xd6, 0, 2, 0, 0xd4, 0x01, 0xb8, 0, 0x84, 0x83, 0x37, 0x66, 0xe8, 0x03, 0, 0, 0x40,
    ];

    fn answered(data: &[u8]) -> Result<PowerReading, Unanswered> {
        PowerReading::question().answered(0x2d, 0x02, data)
    }

    fn expected(data: &[u8]) -> String {
        let text = answered(data).unwrap_err().to_string();
        text.split_once("expected ").unwrap().1.to_owned()
    }

    #[test]
    fn a_board_tells_what_it_draws_and_has_drawn() {
        assert_eq!(PowerReading::question().data, [0xdc, 1, 0, 0]);
        let reading = answered(&ANSWER).unwrap();
        let powers = [reading.minimum, reading.average, reading.current, reading.maximum];
        assert_eq!(powers.map(|it| it.0 / 1_000_000), [2, 184, 214, 468]);
        assert_eq!(reading.at, Some(Timestamp::Date(0x6637_8384)));
        assert_eq!(reading.period, Duration::from_secs(1));
    }

    #[test]
    fn a_measurement_that_is_off_is_no_power_of_zero() {
        let mut off = ANSWER;
        off[18] = 0;
        assert!(expected(&off).starts_with("a power measurement that is active"));
    }

    #[test]
    fn powers_that_cannot_be_are_told() {
        let (mut nothing, mut everything) = (ANSWER, ANSWER);
        nothing[2] = 0;
        everything[6..8].fill(0xff);
        assert!(expected(&nothing).starts_with("a power above 0 W"));
        assert_eq!(expected(&everything), "a power of at most 65534 W");
    }

    #[test]
    fn a_wrong_length_and_another_group_are_told() {
        let mut other = ANSWER;
        other[1] = 0xdd;
        for data in [&ANSWER[..18], &[&ANSWER[..], &[0]].concat(), &ANSWER[..1], &other] {
            assert_eq!(expected(data), "0xdc and 17 bytes behind the completion code");
        }
    }
}
