//! How the byte that a sensor reads becomes a value.
//!
//! Source: IPMI 2.0, section 36.3: y = L[(M x + B 10^K1) 10^K2], with x in the format that the record names; the unit is
//! that of y. Sensors that are not linear have other factors for each reading, which are asked for (section 35.5).

use super::{Linearisation, SENSOR};
use crate::Expected;
use crate::ipmi::Question;

/// The factors of a record, or of one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factors {
    /// What a reading is multiplied with, M: ten bits with a sign.
    pub multiplier: i16,
    /// What is added then, B: ten bits with a sign.
    pub offset: i16,
    /// The power of ten of what is added, K1: four bits with a sign.
    pub offset_exponent: i8,
    /// The power of ten of the sum, K2: four bits with a sign.
    pub exponent: i8,
    /// What is done to it in the end.
    pub linearisation: Linearisation,
}

/// Which number the byte of a reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalogFormat {
    /// 0 to 255.
    Unsigned,
    /// -127 to 127, where all bits of a negative one are inverted.
    OnesComplement,
    /// -128 to 127.
    TwosComplement,
}

impl AnalogFormat {
    /// Parses the first byte of the units; none for a sensor that reads no numbers.
    pub(super) fn parse(units: u8) -> Option<AnalogFormat> {
        match units >> 6 {
            0 => Some(AnalogFormat::Unsigned),
            1 => Some(AnalogFormat::OnesComplement),
            2 => Some(AnalogFormat::TwosComplement),
            _ => None,
        }
    }

    /// The number that a byte is.
    pub fn number(self, raw: u8) -> i16 {
        match self {
            AnalogFormat::Unsigned => i16::from(raw),
            AnalogFormat::OnesComplement if raw & 0x80 != 0 => -i16::from(!raw),
            AnalogFormat::OnesComplement | AnalogFormat::TwosComplement => {
                i16::from(raw.cast_signed())
            }
        }
    }
}

impl Factors {
    /// Parses the six bytes that a record and an answer have in common (bytes 25 to 30 of a full record). Tolerance and
    /// accuracy, in their remaining bits, are left out.
    pub(super) fn parse(bytes: [u8; 6], linearisation: Linearisation) -> Factors {
        let [m_low, m_high, b_low, b_high, _accuracy, exponents] = bytes;
        Factors {
            multiplier: ten_bits(m_low, m_high),
            offset: ten_bits(b_low, b_high),
            offset_exponent: (exponents << 4).cast_signed() >> 4,
            exponent: exponents.cast_signed() >> 4,
            linearisation,
        }
    }

    /// The value of a reading. None where the factors hold for no reading, or the value is no finite number.
    pub fn value(self, raw: u8, format: AnalogFormat) -> Option<f64> {
        let product = f64::from(self.multiplier) * f64::from(format.number(raw));
        let sum = product + f64::from(self.offset) * power_of_ten(self.offset_exponent);
        let value = self.linearisation.apply(sum * power_of_ten(self.exponent))?;
        value.is_finite().then_some(value)
    }
}

/// The upper two bits of ten stand at the top of the second byte.
fn ten_bits(low: u8, high: u8) -> i16 {
    let bits = u16::from(high & 0xc0) << 2 | u16::from(low);
    (bits << 6).cast_signed() >> 6
}

fn power_of_ten(exponent: i8) -> f64 {
    // Not `powi`, whose last bit is not specified.
    10_f64.powf(f64::from(exponent))
}

/// The factors of one reading of a sensor that is not linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingFactors {
    /// The next reading that has other factors.
    pub next: u8,
    /// The factors, which are linear.
    pub factors: Factors,
}

impl ReadingFactors {
    /// Asks for those of what sensor `number` has read.
    pub fn question(number: u8, raw: u8) -> Question<ReadingFactors> {
        let read = |_: &[u8], data: &[u8]| ReadingFactors::parse(data);
        let (name, data) = ("Get Sensor Reading Factors", vec![number, raw]);
        Question { name, function: SENSOR, command: 0x23, data, read }
    }

    fn parse(data: &[u8]) -> Result<ReadingFactors, Expected> {
        let [next, factors @ ..] = *<&[u8; 7]>::try_from(data)
            .map_err(|_| Expected("7 bytes behind the completion code"))?;
        Ok(ReadingFactors { next, factors: Factors::parse(factors, Linearisation::Linear) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(multiplier: i16, offset: i16, offset_exponent: i8, exponent: i8) -> Factors {
        let linearisation = Linearisation::Linear;
        Factors { multiplier, offset, offset_exponent, exponent, linearisation }
    }

    fn text(factors: Factors, raw: u8, format: AnalogFormat) -> String {
        format!("{:.3}", factors.value(raw, format).unwrap())
    }

    #[test]
    fn signs_are_those_of_ten_and_of_four_bits() {
        // Kontron's record of 12 V: M = 59, K2 = -3.
        let parse = |bytes| Factors::parse(bytes, Linearisation::Linear);
        assert_eq!(parse([0x3b, 0x01, 0x00, 0x01, 0x00, 0xd0]), linear(59, 0, 0, -3));
        // Dell's inlet temperature: B = -128.
        assert_eq!(parse([0x01, 0x02, 0x80, 0xc2, 0x30, 0x00]), linear(1, -128, 0, 0));
        assert_eq!(parse([0xff, 0x7f, 0xff, 0x7f, 0xff, 0x77]), linear(511, 511, 7, 7));
        assert_eq!(parse([0x00, 0x80, 0x00, 0x80, 0x00, 0x88]), linear(-512, -512, -8, -8));
        assert_eq!(parse([0xff, 0xff, 0xff, 0xff, 0x00, 0xff]), linear(-1, -1, -1, -1));
    }

    #[test]
    fn a_reading_is_multiplied_shifted_and_scaled() {
        let unsigned = AnalogFormat::Unsigned;
        assert_eq!(text(linear(75, 0, 0, 0), 72, unsigned), "5400.000");
        assert_eq!(text(linear(59, 0, 0, -3), 0xcc, unsigned), "12.036");
        assert_eq!(text(linear(1, -128, 0, 0), 0x97, unsigned), "23.000");
        assert_eq!(text(linear(5, 25, 2, -1), 10, unsigned), "255.000");
    }

    #[test]
    fn a_byte_is_a_number_in_three_formats() {
        let numbers = |format: AnalogFormat| [0x00, 0x7f, 0x80, 0xff].map(|it| format.number(it));
        assert_eq!(numbers(AnalogFormat::Unsigned), [0, 127, 128, 255]);
        assert_eq!(numbers(AnalogFormat::OnesComplement), [0, 127, -127, 0]);
        assert_eq!(numbers(AnalogFormat::TwosComplement), [0, 127, -128, -1]);
        let formats = [0x00, 0x40, 0x80, 0xc0].map(AnalogFormat::parse);
        let expected = [
            Some(AnalogFormat::Unsigned),
            Some(AnalogFormat::OnesComplement),
            Some(AnalogFormat::TwosComplement),
            None,
        ];
        assert_eq!(formats, expected);
    }

    #[test]
    fn the_function_comes_last() {
        let squared = Factors { linearisation: Linearisation::Square, ..linear(2, 1, 0, 0) };
        assert_eq!(text(squared, 3, AnalogFormat::Unsigned), "49.000");
    }

    #[test]
    fn a_value_that_is_not_finite_is_none() {
        let zero = |linearisation| Factors { linearisation, ..linear(1, 0, 0, 0) };
        for linearisation in [Linearisation::Ln, Linearisation::Reciprocal] {
            assert_eq!(zero(linearisation).value(0, AnalogFormat::Unsigned), None);
        }
        let root = zero(Linearisation::SquareRoot);
        assert_eq!(root.value(0xff, AnalogFormat::TwosComplement), None);
        let power = Factors { exponent: 7, ..zero(Linearisation::Exp10) };
        assert_eq!(power.value(255, AnalogFormat::Unsigned), None);
    }

    #[test]
    fn a_sensor_that_is_not_linear_has_factors_for_each_reading() {
        let of_record = Factors { linearisation: Linearisation::NonLinear, ..linear(1, 0, 0, 0) };
        assert_eq!(of_record.value(16, AnalogFormat::Unsigned), None);
        let question = ReadingFactors::question(0x30, 16);
        assert_eq!(question.data, [0x30, 16]);
        let answer = [0x00, 0x20, 0x3b, 0x01, 0x00, 0x01, 0x00, 0xd0];
        let ReadingFactors { next, factors } = question.answered(0x05, 0x23, &answer).unwrap();
        assert_eq!((next, text(factors, 16, AnalogFormat::Unsigned)), (0x20, "0.944".to_owned()));
        for length in 1..answer.len() {
            assert!(question.answered(0x05, 0x23, &answer[..length]).is_err(), "{length}");
        }
    }
}
