//! The board's power and a limit on it, as DCMI tells them.
//!
//! Source: DCMI specification 1.5, sections 6.1.1, 6.6.1 and 6.6.2. The limit is only told: nobody keeps it here.

use super::wire::{INVALID_COMMAND, WRONG_LENGTH};

/// What the board draws and may draw, in watts.
#[derive(Debug)]
pub(super) struct BoardPower {
    draws: u16,
    /// In force where there is one.
    limit: Option<u16>,
}

/// Every question and answer of the group begins with its number.
const GROUP: u8 = 0xdc;

/// Get Power Limit: none is in force.
const NO_SET_POWER_LIMIT: u8 = 0x80;

impl Default for BoardPower {
    fn default() -> BoardPower {
        BoardPower { draws: 214, limit: None }
    }
}

impl BoardPower {
    /// From now on it may draw so much; 0 for as much as it likes.
    pub(super) fn limit(&mut self, watts: u16) {
        self.limit = Some(watts).filter(|it| *it > 0);
    }

    /// From now on it draws so much.
    pub(super) fn draw(&mut self, watts: u16) {
        self.draws = watts;
    }

    /// What follows the completion code; or a completion code alone.
    pub(super) fn answer(&self, command: u8, asked: &[u8]) -> Result<Vec<u8>, u8> {
        let Some((&GROUP, asked)) = asked.split_first() else { return Err(INVALID_COMMAND) };
        let data = match (command, asked) {
            // Get DCMI Capabilities Info: version 1.5, parameter revision 2, power management.
            (0x01, [1]) => vec![1, 5, 2, 0, 1, 1],
            // Get Power Reading, over the last second.
            (0x02, [1, 0, 0]) => self.reading(),
            // Get Power Limit: an event is logged where it cannot be kept within 6 s.
            (0x03, [0, 0]) => {
                let limit = self.limit.ok_or(NO_SET_POWER_LIMIT)?.to_le_bytes();
                [&[0, 0, 0x11][..], &limit, &6000_u32.to_le_bytes(), &[0, 0], &[1, 0]].concat()
            }
            (1..=3, _) => return Err(WRONG_LENGTH),
            _ => return Err(INVALID_COMMAND),
        };
        Ok([&[GROUP], &data[..]].concat())
    }

    fn reading(&self) -> Vec<u8> {
        const IS_ACTIVE: u8 = 0x40;
        let all_the_same = [self.draws.to_le_bytes(); 4].concat();
        let period = 1000_u32.to_le_bytes();
        [&all_the_same[..], &1_600_000_000_u32.to_le_bytes(), &period, &[IS_ACTIVE]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::ipmi::{DcmiCapabilities, PowerLimit, PowerReading, Question, Unanswered};

    /// What the program under test makes of the answer.
    fn told<T>(power: &BoardPower, question: &Question<T>) -> Result<T, Unanswered> {
        let data = match power.answer(question.command, &question.data) {
            Ok(data) => [&[0], &data[..]].concat(),
            Err(code) => vec![code],
        };
        question.parse(&data)
    }

    #[test]
    fn limit_is_told_while_there_is_one() {
        let mut power = BoardPower::default();
        assert!(told(&power, &DcmiCapabilities::question()).unwrap().manages_power);
        let limit = |power: &BoardPower| {
            let limit = PowerLimit::in_force(told(power, &PowerLimit::question())).unwrap();
            limit.map(|it| it.power.to_string())
        };
        assert_eq!(limit(&power), None);
        power.limit(220);
        assert_eq!(limit(&power), Some("220 W".to_owned()));
        power.limit(0);
        assert_eq!(limit(&power), None);
    }

    #[test]
    fn board_draws_what_it_was_told_to() {
        let mut power = BoardPower::default();
        power.draw(90);
        let reading = told(&power, &PowerReading::question()).unwrap();
        assert_eq!(reading.current.to_string(), "90 W");
        assert_eq!(reading.average, reading.maximum);
    }

    #[test]
    fn question_without_the_group_is_not_known() {
        let power = BoardPower::default();
        assert_eq!(power.answer(3, &[0, 0]), Err(INVALID_COMMAND));
        assert_eq!(power.answer(3, &[GROUP]), Err(WRONG_LENGTH));
    }
}
