//! The record of a sensor (SDR).
//!
//! Source: IPMI 2.0, sections 43.1 (full record, for sensors with numeric readings) and 43.2 (compact record, for
//! discrete sensors). Fields that readings do not need are ignored: event masks, hysteresis, tolerance, and nominal
//! readings.

use super::names::{self, Sharing};
use super::{
    AnalogFormat, Factors, Linearisation, Reading, ReadingType, SensorOwner, SensorType,
    ThresholdSet, Unit, state,
};
use crate::Expected;
use crate::ipmi::RecordHeader;

/// A sensor data record (SDR): full, compact, or of another type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SensorRecord {
    /// A sensor that may have numeric readings.
    Full(Sensor),
    /// A discrete sensor, or several that share the record.
    Compact(Vec<Sensor>),
    /// A record of something that cannot be read; its type.
    Other(u8),
}

/// A sensor as its record describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensor {
    /// The number of its record.
    pub record: u16,
    /// The owner, which answers questions about it.
    pub owner: SensorOwner,
    /// Its number within its owner's logical unit.
    pub number: u8,
    /// Its name, which need not be unique.
    pub name: String,
    /// The entity that it belongs to.
    pub entity: Entity,
    /// What it measures, such as a temperature or a voltage.
    pub sensor_type: SensorType,
    /// The kind of its readings.
    pub reading_type: ReadingType,
    /// The unit of its values.
    pub unit: Unit,
    /// The thresholds that can be read.
    pub readable_thresholds: ThresholdSet,
    /// How raw readings become values; `None` for a discrete sensor.
    pub analog: Option<Analog>,
}

/// The part of the machine that a sensor belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entity {
    /// The entity ID: 03h is a processor, 07h the system board (section 43.14).
    pub kind: u8,
    /// Which of several entities of the same kind, such as the second processor.
    pub instance: u8,
    /// Whether it is a logical container of several parts.
    pub is_logical: bool,
}

/// How raw readings become values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Analog {
    /// The number format of a raw reading.
    pub format: AnalogFormat,
    /// The conversion factors.
    pub factors: Factors,
}

impl Analog {
    /// The value of a raw reading, in the sensor's unit. `None` for a sensor that is not linear: its factors must be
    /// requested.
    pub fn value(self, raw: u8) -> Option<f64> {
        self.factors.value(raw, self.format)
    }
}

impl Sensor {
    /// The thresholds that the reading has crossed. `None` for a sensor without thresholds, and where the reading has
    /// no states.
    pub fn passed(&self, reading: &Reading) -> Option<ThresholdSet> {
        let states =
            reading.valid_states().filter(|_| self.reading_type == ReadingType::Threshold)?;
        Some(states.thresholds())
    }

    /// The thresholds that the reading has crossed, or the current states, by the specification's names. `None` where
    /// the reading has no states.
    pub fn states(&self, reading: &Reading) -> Option<Vec<String>> {
        if let Some(passed) = self.passed(reading) {
            return Some(passed.iter().map(|it| it.to_string()).collect());
        }
        let words = |offset| match state(self.reading_type, self.sensor_type, offset) {
            Some(words) => words.to_owned(),
            None => format!("state {offset}"),
        };
        Some(reading.valid_states()?.offsets().map(words).collect())
    }
}

/// The type of a full record.
const FULL: u8 = 0x01;
/// The type of a compact record.
const COMPACT: u8 = 0x02;
/// The length of the first part, which both types have in common.
const COMMON: usize = 23;

impl SensorRecord {
    /// Parses a record with its header.
    pub fn parse(bytes: &[u8]) -> Result<SensorRecord, Expected> {
        let header = RecordHeader::parse(bytes)?;
        if bytes.len() != header.record_length() {
            return Err(Expected("a record as long as its header says"));
        }
        match header.kind {
            FULL => full(header.id, bytes).map(SensorRecord::Full),
            COMPACT => compact(header.id, bytes).map(SensorRecord::Compact),
            other => Ok(SensorRecord::Other(other)),
        }
    }

    /// Its sensors, by ascending number.
    pub fn into_sensors(self) -> Vec<Sensor> {
        match self {
            SensorRecord::Full(sensor) => vec![sensor],
            SensorRecord::Compact(sensors) => sensors,
            SensorRecord::Other(_) => Vec::new(),
        }
    }
}

/// After the common part come the linearisation and the factors, bytes 24 to 30 of the specification.
fn full(record: u16, bytes: &[u8]) -> Result<Sensor, Expected> {
    const SHORT: Expected = Expected("a full sensor record of 48 bytes or more");
    let (common, rest) = bytes.split_first_chunk::<COMMON>().ok_or(SHORT)?;
    let (&[linearisation, factors @ .., _flags], rest) =
        rest.split_first_chunk::<8>().ok_or(SHORT)?;
    // Nominal and limit readings, initial thresholds, hysteresis and OEM data.
    let (_, rest) = rest.split_first_chunk::<16>().ok_or(SHORT)?;
    let (&type_and_length, name) = rest.split_first().ok_or(SHORT)?;
    let mut sensor = sensor(record, common, names::parse(type_and_length, name));
    let factors = Factors::parse(factors, Linearisation::parse(linearisation));
    sensor.analog = format(&sensor, common).map(|format| Analog { format, factors });
    Ok(sensor)
}

fn compact(record: u16, bytes: &[u8]) -> Result<Vec<Sensor>, Expected> {
    const SHORT: Expected = Expected("a compact sensor record of 32 bytes or more");
    let (common, rest) = bytes.split_first_chunk::<COMMON>().ok_or(SHORT)?;
    // Hysteresis, reserved bytes and OEM data.
    let (&[first, second, _, _, _, _, _, _], rest) = rest.split_first_chunk::<8>().ok_or(SHORT)?;
    let (&type_and_length, name) = rest.split_first().ok_or(SHORT)?;
    let sensor = sensor(record, common, names::parse(type_and_length, name));
    let sharing = Sharing::parse([first, second]);
    if sharing.count < 2 {
        return Ok(vec![sensor]);
    }
    (0..sharing.count).map(|index| shared(&sensor, sharing, index)).collect()
}

/// One of the sensors that share the record of the first one.
fn shared(first: &Sensor, sharing: Sharing, index: u8) -> Result<Sensor, Expected> {
    let number = first.number.checked_add(index);
    let mut sensor = first.clone();
    sensor.number = number.ok_or(Expected("sensors that share a record up to number 255"))?;
    if sharing.has_instances {
        // Seven bits, as in the record.
        sensor.entity.instance = sensor.entity.instance.wrapping_add(index) & 0x7f;
    }
    sensor.name = format!("{} {}", first.name, sharing.suffix(index)).trim_start().to_owned();
    Ok(sensor)
}

fn sensor(record: u16, common: &[u8; COMMON], name: String) -> Sensor {
    let [_, _, _, _, _, owner, place, number, kind, instance, _, capabilities, rest @ ..] = *common;
    let [sensor_type, reading_type, _, _, _, _, readable, _settable, unit @ ..] = rest;
    let reading_type = ReadingType::parse(reading_type);
    Sensor {
        record,
        owner: SensorOwner::parse([owner, place]),
        number,
        name,
        entity: Entity { kind, instance: instance & 0x7f, is_logical: instance & 0x80 != 0 },
        sensor_type: SensorType(sensor_type),
        reading_type,
        unit: Unit::parse(unit),
        readable_thresholds: match (reading_type, capabilities >> 2 & 0x03) {
            // Readable, or readable and settable. Otherwise there are no thresholds, or they cannot be read.
            (ReadingType::Threshold, 1 | 2) => ThresholdSet::parse(readable),
            _ => ThresholdSet::EMPTY,
        },
        analog: None,
    }
}

/// The number format of the readings. A discrete sensor should not name one, but most have 0 there, which means
/// unsigned. Fans of HPE have numeric readings besides their states, and name a unit.
fn format(sensor: &Sensor, common: &[u8; COMMON]) -> Option<AnalogFormat> {
    let reads_numbers = sensor.reading_type == ReadingType::Threshold || sensor.unit.is_given();
    let [.., flags, _base, _modifier] = *common;
    AnalogFormat::parse(flags).filter(|_| reads_numbers)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{
        DELL_FAN, DELL_INLET, KONTRON_LOCATOR, KONTRON_SLOT, QEMU_WATCHDOG, QUANTA_12_VOLTS,
        QUANTA_DISK,
    };
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn parsed(bytes: &[u8]) -> Sensor {
        SensorRecord::parse(bytes).unwrap().into_sensors().remove(0)
    }

    /// What a reading of such a sensor is printed as.
    fn text(bytes: &[u8], raw: u8) -> String {
        let sensor = parsed(bytes);
        let value = sensor.analog.unwrap().value(raw).unwrap();
        format!("{}: {value} {}", sensor.name, sensor.unit)
    }

    #[test]
    fn readings_of_real_sensors_have_their_values() {
        assert_eq!(text(DELL_FAN, 0x54), "Fan1A: 10080 RPM");
        assert_eq!(text(DELL_FAN, 0x05), "Fan1A: 600 RPM");
        assert_eq!(text(DELL_INLET, 0x97), "Inlet Temp: 23 degrees C");
        assert_eq!(text(DELL_INLET, 0x79), "Inlet Temp: -7 degrees C");
        assert_eq!(text(QUANTA_12_VOLTS, 0xcc), "Volt_P12V: 12.24 % Volts");
        assert_eq!(text(QUANTA_DISK, 0x80), "Temp_SSD0: -128 % degrees C");
    }

    #[test]
    fn a_full_record_says_who_has_the_sensor_and_what_it_is() {
        let sensor = parsed(DELL_INLET);
        assert!(sensor.owner.is_controller());
        assert_eq!((sensor.record, sensor.number, sensor.owner.lun), (0x12, 0x04, 0));
        let entity = Entity { kind: 7, instance: 1, is_logical: false };
        assert_eq!((sensor.entity, sensor.sensor_type), (entity, SensorType::TEMPERATURE));
        assert_eq!(sensor.reading_type, ReadingType::Threshold);
        let readable: Vec<String> =
            sensor.readable_thresholds.iter().map(|it| it.to_string()).collect();
        let expected =
            ["Lower Non-critical", "Lower Critical", "Upper Non-critical", "Upper Critical"];
        assert_eq!(readable, expected);
    }

    #[test]
    fn a_compact_record_says_it_of_a_sensor_that_reads_no_numbers() {
        let sensor = parsed(QEMU_WATCHDOG);
        assert_eq!((&sensor.name[..], sensor.analog), ("Watchdog", None));
        assert_eq!(sensor.sensor_type.to_string(), "Watchdog 2");
        assert_eq!(sensor.reading_type, ReadingType::SensorSpecific);
        assert!(sensor.readable_thresholds.is_empty());
    }

    #[test]
    fn states_are_told_in_words_and_only_where_there_is_a_reading() {
        let told = |bytes: &[u8], answer: &[u8]| {
            let reading = Reading::question(1).answered(0x05, 0x2d, answer).unwrap();
            parsed(bytes).states(&reading)
        };
        let none: Vec<String> = Vec::new();
        assert_eq!(told(DELL_FAN, &[0, 1, 0xc0, 0x02]).unwrap(), ["Lower Critical"]);
        assert_eq!(told(DELL_FAN, &[0, 9, 0xc0, 0xc0]).unwrap(), none);
        assert_eq!(told(DELL_FAN, &[0, 1, 0xe0, 0x02]), None);
        assert_eq!(told(QEMU_WATCHDOG, &[0, 0, 0xc0, 0x02]).unwrap(), ["Hard Reset"]);
        assert_eq!(told(QEMU_WATCHDOG, &[0, 0, 0xc0, 0x10]).unwrap(), ["state 4"]);
        assert_eq!(told(QEMU_WATCHDOG, &[0, 0, 0x40]), None);
    }

    #[test]
    fn a_sensor_of_another_controller_is_known_as_such() {
        let sensor = parsed(KONTRON_SLOT);
        assert_eq!((sensor.owner.is_controller(), sensor.owner.id), (false, 0x82));
        assert_eq!(sensor.name, "A4:Pres SFP-1");
    }

    #[test]
    fn what_is_no_sensor_is_told_by_its_kind() {
        assert_eq!(SensorRecord::parse(KONTRON_LOCATOR), Ok(SensorRecord::Other(0x11)));
        let event_only = SensorRecord::parse(&[1, 0, 0x51, 0x03, 0]);
        assert_eq!(event_only, Ok(SensorRecord::Other(0x03)));
    }

    #[test]
    fn thresholds_that_the_controller_keeps_to_itself_are_not_asked_for() {
        for (access, is_readable) in [(0x00, false), (0x04, true), (0x08, true), (0x0c, false)] {
            let mut record = DELL_FAN.to_vec();
            record[11] = access;
            let thresholds = parsed(&record).readable_thresholds;
            assert_eq!(!thresholds.is_empty(), is_readable, "{access:#04x}");
        }
    }

    #[test]
    fn a_sensor_with_states_reads_numbers_only_where_it_names_a_unit() {
        let mut record = DELL_FAN.to_vec();
        record[13] = 0x0a;
        assert_eq!(parsed(&record).analog.unwrap().value(1), Some(120.0));
        record[21] = 0;
        assert_eq!(parsed(&record).analog, None);
        let mut without = DELL_FAN.to_vec();
        without[20] = 0xc0;
        assert_eq!(parsed(&without).analog, None);
    }

    #[test]
    fn a_record_without_all_its_fields_is_refused() {
        // The header is made to agree with the length.
        let cut = |bytes: &[u8], length: usize| {
            let mut bytes = bytes[..length].to_vec();
            bytes[4] = u8::try_from(length - 5).unwrap();
            SensorRecord::parse(&bytes)
        };
        for length in 5..48 {
            assert!(cut(DELL_FAN, length).is_err(), "{length}");
        }
        for length in 5..32 {
            assert!(cut(QEMU_WATCHDOG, length).is_err(), "{length}");
        }
        let sensor = cut(DELL_FAN, 50).unwrap().into_sensors().remove(0);
        assert_eq!(sensor.name, "Fa");
    }

    #[test]
    fn a_record_of_another_length_than_its_header_says_is_refused() {
        assert!(SensorRecord::parse(&DELL_FAN[..52]).is_err());
        assert!(SensorRecord::parse(&[DELL_FAN, &[0]].concat()).is_err());
        assert!(SensorRecord::parse(&[]).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..80)) {
            SensorRecord::parse(&bytes).ok();
        }

        #[test]
        fn no_body_makes_it_panic(
            kind in 0_u8..4, body in vec(any::<u8>(), 0..=255), raw in any::<u8>(),
        ) {
            let length = u8::try_from(body.len()).unwrap();
            let record = [&[1, 0, 0x51, kind, length][..], &body].concat();
            let sensors = SensorRecord::parse(&record).map(SensorRecord::into_sensors);
            for sensor in sensors.unwrap_or_default() {
                let value = sensor.analog.and_then(|it| it.value(raw));
                prop_assert!(value.is_none_or(f64::is_finite));
                prop_assert!(!sensor.unit.to_string().is_empty());
                prop_assert!(!sensor.sensor_type.to_string().is_empty());
            }
        }
    }
}
