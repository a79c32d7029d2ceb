//! Sensors that share a record.
//!
//! Source: IPMI 2.0, section 43.2, bytes 24 and 25. Their numbers follow each other, and their names differ in what is
//! put behind them: with the name "Temp", a count of 3 and an offset of 5, they are Temp 5, Temp 6 and Temp 7; with
//! letters and an offset of 26, Temp AA, Temp AB and Temp AC.

use super::Sensor;
use crate::Expected;

/// How sensors share a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    count: u8,
    has_letters: bool,
    offset: u8,
    /// Whether each looks at an instance of its own.
    has_instances: bool,
}

impl Sharing {
    /// Parses the two bytes.
    pub(super) fn parse([first, second]: [u8; 2]) -> Sharing {
        Sharing {
            count: first & 0x0f,
            has_letters: first >> 4 & 0x03 == 1,
            offset: second & 0x7f,
            has_instances: second & 0x80 != 0,
        }
    }

    /// All sensors of the record whose first one this is.
    pub(super) fn sensors(self, first: Sensor) -> Result<Vec<Sensor>, Expected> {
        if self.count < 2 {
            return Ok(vec![first]);
        }
        (0..self.count).map(|index| self.sensor(&first, index)).collect()
    }

    fn sensor(self, first: &Sensor, index: u8) -> Result<Sensor, Expected> {
        let number = first.number.checked_add(index);
        let mut sensor = first.clone();
        sensor.number = number.ok_or(Expected("sensors that share a record up to number 255"))?;
        if self.has_instances {
            // Seven bits, as in the record.
            sensor.entity.instance = sensor.entity.instance.wrapping_add(index) & 0x7f;
        }
        let position = self.offset.saturating_add(index);
        let suffix = if self.has_letters { letters(position) } else { position.to_string() };
        sensor.name = format!("{} {suffix}", first.name).trim_start().to_owned();
        Ok(sensor)
    }
}

/// A to Z, AA to AZ, BA and so on.
fn letters(position: u8) -> String {
    let (before, last) = (position / 26, position % 26);
    let letter = |it: u8| char::from(b'A' + it);
    let first = before.checked_sub(1).map(letter);
    first.into_iter().chain([letter(last)]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{SensorRecord, samples::QEMU_WATCHDOG};
    use super::*;

    /// Numbers, instances and names of the watchdog's record with these two bytes and another number.
    fn shared(first: u8, second: u8, number: u8) -> Result<Vec<(u8, u8, String)>, Expected> {
        let mut record = QEMU_WATCHDOG.to_vec();
        (record[7], record[23], record[24]) = (number, first, second);
        let sensors = SensorRecord::parse(&record)?.into_sensors();
        Ok(sensors.into_iter().map(|it| (it.number, it.entity.instance, it.name)).collect())
    }

    fn names(first: u8, second: u8) -> Vec<String> {
        shared(first, second, 10).unwrap().into_iter().map(|it| it.2).collect()
    }

    #[test]
    fn numbers_follow_each_other_and_stand_behind_the_name() {
        let expected = [(10, "Watchdog 5"), (11, "Watchdog 6"), (12, "Watchdog 7")];
        let sensors = shared(0x03, 0x05, 10).unwrap();
        assert_eq!(sensors.len(), 3);
        for (sensor, (number, name)) in sensors.iter().zip(expected) {
            assert_eq!(*sensor, (number, 1, name.to_owned()));
        }
    }

    #[test]
    fn letters_go_from_z_on_to_two_of_them() {
        assert_eq!(names(0x12, 0x00), ["Watchdog A", "Watchdog B"]);
        assert_eq!(names(0x13, 25), ["Watchdog Z", "Watchdog AA", "Watchdog AB"]);
        assert_eq!(letters(51), "AZ");
        assert_eq!(letters(52), "BA");
        assert_eq!(letters(142), "EM");
    }

    #[test]
    fn each_has_an_instance_of_its_own_where_the_record_says_so() {
        let instances: Vec<u8> =
            shared(0x03, 0x80, 10).unwrap().into_iter().map(|it| it.1).collect();
        assert_eq!(instances, [1, 2, 3]);
    }

    #[test]
    fn one_that_shares_with_nobody_keeps_its_name() {
        assert_eq!(names(0x00, 0x85), ["Watchdog"]);
        assert_eq!(names(0x11, 0x85), ["Watchdog"]);
    }

    #[test]
    fn numbers_that_do_not_exist_are_not_made_up() {
        assert_eq!(shared(0x02, 0x00, 254).unwrap().len(), 2);
        assert!(shared(0x03, 0x00, 254).is_err());
    }
}
