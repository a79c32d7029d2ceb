//! The sensor records of a management controller: full records of sensors that there might be in a server.
//!
//! Layout and numbers are those of IPMI 2.0, table 43-1, and of tables 42-3 (kinds of sensors) and 43-15 (units). Nothing
//! measures here: they are there to be fetched.

/// One sensor that measures a number; its readings are multiples of `step`, in tens to the power of `exponent`.
struct Sensor {
    name: &'static str,
    /// 01h temperature, 02h voltage, 04h fan.
    kind: u8,
    /// 1 degrees Celsius, 4 volts, 18 revolutions per minute.
    unit: u8,
    step: u8,
    exponent: i8,
    /// The processor 03h, the board 07h, the fan 1Dh.
    entity: u8,
    /// The raw readings at which it is in danger: from below and from above.
    critical: [u8; 2],
}

const SENSORS: [Sensor; 5] = [
    Sensor {
        name: "CPU1 Temp",
        kind: 1,
        unit: 1,
        step: 1,
        exponent: 0,
        entity: 3,
        critical: [0, 95],
    },
    Sensor {
        name: "CPU2 Temp",
        kind: 1,
        unit: 1,
        step: 1,
        exponent: 0,
        entity: 3,
        critical: [0, 95],
    },
    Sensor {
        name: "P12V",
        kind: 2,
        unit: 4,
        step: 6,
        exponent: -2,
        entity: 7,
        critical: [180, 220],
    },
    Sensor {
        name: "FAN1",
        kind: 4,
        unit: 18,
        step: 100,
        exponent: 0,
        entity: 0x1d,
        critical: [5, 250],
    },
    Sensor {
        name: "FAN2",
        kind: 4,
        unit: 18,
        step: 100,
        exponent: 0,
        entity: 0x1d,
        critical: [5, 250],
    },
];

/// Bytes of the header, which the length in it does not count.
const HEADER: usize = 5;

/// Every record, with its header; they are numbered from 1.
pub(super) fn records() -> Vec<Vec<u8>> {
    (1..).zip(&SENSORS).map(|(number, sensor)| record(number, sensor)).collect()
}

fn record(number: u8, sensor: &Sensor) -> Vec<u8> {
    let &Sensor { name, kind, unit, step, exponent, entity, critical: [low, high] } = sensor;
    let header = [number, 0, 0x51, 0x01, 0];
    // Owner and its unit, sensor, entity and which of them; initialized and scanning; thresholds that can be read.
    let who = [0x20, 0, number, entity, 1, 0x7f, 0x68, kind, 0x01];
    // Events and thresholds: lower and upper critical are asserted, deasserted and readable.
    let masks = [0x04, 0x02, 0x04, 0x02, 0x12, 0x12];
    // Unsigned readings; the unit; linear; factor, offset, accuracy; both exponents, the upper one of the result.
    let scale = [0, unit, 0, 0, step, 0, 0, 0, 0, exponent.to_le_bytes()[0] << 4];
    // No nominal reading; from 0 to 255; non-recoverable, critical, non-critical from above, and the same from below.
    let limits = [0, 0, 0, 0, 255, 0, 0, high, 0, 0, low, 0];
    // Hysteresis, two reserved bytes, one of the maker's; the name in eight-bit characters.
    let end = [1, 1, 0, 0, 0, 0xc0 | name.len().to_le_bytes()[0]];
    let parts: [&[u8]; 7] = [&header, &who, &masks, &scale, &limits, &end, name.as_bytes()];
    let mut record = parts.concat();
    record[4] = (record.len() - HEADER).to_le_bytes()[0];
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::ipmi::RecordHeader;

    #[test]
    fn every_record_is_as_long_as_it_says_and_ends_with_its_name() {
        for (number, (record, sensor)) in (1..).zip(records().iter().zip(&SENSORS)) {
            let header = RecordHeader::parse(record).unwrap();
            assert_eq!((header.id, header.kind, header.record_length()), (number, 1, record.len()));
            // The name begins with byte 49 (table 43-1).
            assert_eq!(&record[48..], sensor.name.as_bytes());
            assert_eq!(usize::from(record[47] & 0x1f), sensor.name.len());
        }
    }
}
