//! The sensors of a management controller: such as there might be in a server, of every kind that is read in its own way.
//!
//! Layout and numbers are those of IPMI 2.0, table 43-1 (full records), table 43-2 (compact ones), 42-3 (kinds of sensors) and
//! 43-15 (units).

/// One kind of sensors; those that measure a number do so in multiples of `step`, in tens to the power of `exponent`.
struct Kind {
    name: &'static str,
    /// 01h temperature, 02h voltage, 03h current, 04h fan, 08h power supply, 0Bh what its unit says.
    sensor_type: u8,
    /// 1 degrees Celsius, 4 volts, 5 amperes, 6 watts, 18 revolutions per minute; None for states.
    unit: Option<u8>,
    /// 00h unsigned, 80h two's complement.
    format: u8,
    /// 0 linear, 7 one over it, 10 the root of it.
    linearisation: u8,
    step: u8,
    exponent: i8,
    /// The processor 03h, a disk 04h, the board 07h, the power supply 0Ah, the fan 1Dh.
    entity: u8,
    /// What the first of them reads; for states, which they are.
    raw: u8,
    /// The raw readings at which it is in danger: from below and from above.
    critical: [u8; 2],
}

/// A temperature, of which the others differ.
const TEMPERATURE: Kind = Kind {
    name: "CPU Temp",
    sensor_type: 1,
    unit: Some(1),
    format: 0,
    linearisation: 0,
    step: 1,
    exponent: 0,
    entity: 3,
    raw: 41,
    critical: [0, 95],
};

const KINDS: [Kind; 8] = [
    TEMPERATURE,
    // Below zero: 246 is -10.
    Kind {
        name: "Disk Temp",
        format: 0x80,
        entity: 4,
        raw: 246,
        critical: [0x80, 60],
        ..TEMPERATURE
    },
    Kind {
        name: "P12V",
        sensor_type: 2,
        unit: Some(4),
        step: 6,
        exponent: -2,
        entity: 7,
        raw: 199,
        critical: [180, 220],
        ..TEMPERATURE
    },
    Kind {
        name: "FAN",
        sensor_type: 4,
        unit: Some(18),
        step: 100,
        entity: 0x1d,
        raw: 80,
        critical: [5, 250],
        ..TEMPERATURE
    },
    Kind {
        name: "Power",
        sensor_type: 0x0b,
        unit: Some(6),
        step: 5,
        entity: 0x0a,
        raw: 70,
        critical: [0, 200],
        ..TEMPERATURE
    },
    Kind {
        name: "Phase",
        sensor_type: 3,
        unit: Some(5),
        linearisation: 10,
        entity: 7,
        raw: 17,
        critical: [0, 225],
        ..TEMPERATURE
    },
    Kind {
        name: "Leakage",
        sensor_type: 3,
        unit: Some(5),
        linearisation: 7,
        exponent: -1,
        entity: 7,
        raw: 3,
        critical: [1, 250],
        ..TEMPERATURE
    },
    // Present.
    Kind { name: "PSU", sensor_type: 8, unit: None, entity: 0x0a, raw: 1, ..TEMPERATURE },
];

/// Bytes of the header, which the length in it does not count.
const HEADER: usize = 5;

/// One in that many sensors that measure is beyond its upper critical threshold.
const CRITICAL: u8 = 45;

/// A sensor, by its number.
pub(super) struct Sensor(pub(super) u8);

impl Sensor {
    fn kind(&self) -> &'static Kind {
        &KINDS[usize::from(self.0 - 1) % KINDS.len()]
    }

    /// Which one of its kind it is, from 1 on.
    fn instance(&self) -> u8 {
        (self.0 - 1) / KINDS.len().to_le_bytes()[0] + 1
    }

    fn name(&self) -> String {
        format!("{} {}", self.kind().name, self.instance())
    }

    /// Its record, with the header, of that number.
    pub(super) fn record(&self, number: u16) -> Vec<u8> {
        let &Kind { sensor_type, unit, entity, .. } = self.kind();
        let [low, high] = number.to_le_bytes();
        let kind = if unit.is_some() { 1 } else { 2 };
        let header = [low, high, 0x51, kind, 0];
        // Owner and its unit, sensor, entity and which of them; initialized and scanning; thresholds that can be read.
        let who = [0x20, 0, self.0, entity, self.instance(), 0x7f];
        let body = match unit {
            Some(unit) => self.of_measure(unit),
            // Readings of states that its type has; any may be there; no unit; one sensor; the rest is not in use.
            None => [&[0, sensor_type, 0x6f, 1, 0, 1, 0, 1, 0, 0xc0], &[0; 10][..]].concat(),
        };
        let name = self.name();
        // The name is in eight-bit characters.
        let length = [0xc0 | name.len().to_le_bytes()[0]];
        let mut record = [&header[..], &who, &body, &length, name.as_bytes()].concat();
        record[4] = (record.len() - HEADER).to_le_bytes()[0];
        record
    }

    fn of_measure(&self, unit: u8) -> Vec<u8> {
        let &Kind { sensor_type, format, linearisation, step, exponent, .. } = self.kind();
        let [low, high] = self.kind().critical;
        // Thresholds are supported. Events and thresholds: lower and upper critical are asserted, deasserted and readable.
        let masks = [0x68, sensor_type, 0x01, 0x04, 0x02, 0x04, 0x02, 0x12, 0x12];
        // The unit; factor, offset, accuracy; both exponents, the upper one of the result.
        let scale =
            [format, unit, 0, linearisation, step, 0, 0, 0, 0, exponent.to_le_bytes()[0] << 4];
        // No nominal reading; from 0 to 255; non-recoverable, critical, non-critical from above, and the same from below.
        let limits = [0, 0, 0, 0, 255, 0, 0, high, 0, 0, low, 0];
        // Hysteresis, two reserved bytes, one of the maker's.
        [&masks[..], &scale, &limits, &[1, 1, 0, 0, 0]].concat()
    }

    /// What Get Sensor Reading answers.
    pub(super) fn reading(&self) -> Vec<u8> {
        // Events are sent, and it is scanned.
        const SCANNED: u8 = 0xc0;
        let &Kind { unit, raw, critical: [_, upper], .. } = self.kind();
        match unit {
            None => vec![0, SCANNED, raw, 0x80],
            // Non-critical and critical from above.
            Some(_) if self.0.is_multiple_of(CRITICAL) => vec![upper, SCANNED, 0xd8],
            Some(_) => vec![raw.wrapping_add(self.instance() % 8), SCANNED, 0xc0],
        }
    }

    /// What Get Sensor Thresholds answers; None where it has none.
    pub(super) fn thresholds(&self) -> Option<Vec<u8>> {
        let [lower, upper] = self.kind().critical;
        self.kind().unit.map(|_| vec![0x12, 0, lower, 0, 0, upper, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::ipmi::{RecordHeader, SensorRecord};

    #[test]
    fn every_record_is_as_long_as_it_says_and_can_be_read() {
        for number in 1..=200 {
            let sensor = Sensor(number);
            let record = sensor.record(u16::from(number));
            let header = RecordHeader::parse(&record).unwrap();
            assert_eq!((header.id, header.record_length()), (u16::from(number), record.len()));
            let read = SensorRecord::parse(&record).unwrap().into_sensors();
            let [read] = &read[..] else { panic!("{read:?}") };
            assert_eq!((&read.name, read.number), (&sensor.name(), number));
            assert_eq!(read.analog.is_some(), sensor.thresholds().is_some());
        }
    }
}
