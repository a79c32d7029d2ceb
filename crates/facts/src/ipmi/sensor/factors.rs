//! How the raw byte of a reading becomes a value.
//!
//! Source: IPMI 2.0, section 36.3: y = L[(M x + B 10^K1) 10^K2], where x is the byte in the format that the record
//! names, and y is in the unit of the record. L is byte 24 of the record (section 43.1). Sensors that are not
//! linear have other factors for each reading, which must be requested (section 35.5).

use super::SENSOR;
use crate::Expected;
use crate::ipmi::Question;

/// The conversion factors of a record, or of one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factors {
    /// M: ten bits, signed.
    pub multiplier: i16,
    /// B: ten bits, signed.
    pub offset: i16,
    /// K1, the exponent of B: four bits, signed.
    pub offset_exponent: i8,
    /// K2, the exponent of the result: four bits, signed.
    pub exponent: i8,
    /// L, the function that is applied last.
    pub linearisation: Linearisation,
}

/// The number format of a raw reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalogFormat {
    /// 0 to 255.
    Unsigned,
    /// -127 to 127: one's complement.
    OnesComplement,
    /// -128 to 127: two's complement.
    TwosComplement,
}

impl AnalogFormat {
    /// Parses the first byte of the units; `None` for a sensor without numeric readings.
    pub(super) fn parse(units: u8) -> Option<AnalogFormat> {
        match units >> 6 {
            0 => Some(AnalogFormat::Unsigned),
            1 => Some(AnalogFormat::OnesComplement),
            2 => Some(AnalogFormat::TwosComplement),
            _ => None,
        }
    }

    /// The number in a raw byte.
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
    /// Parses the six bytes that a full record (bytes 25 to 30) and an answer have in common. Their other bits,
    /// tolerance and accuracy, are ignored.
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

    /// The value of a raw reading. `None` where the factors do not hold for all readings, or the value is not finite.
    pub fn value(self, raw: u8, format: AnalogFormat) -> Option<f64> {
        let product = f64::from(self.multiplier) * f64::from(format.number(raw));
        let sum = product + f64::from(self.offset) * power_of_ten(self.offset_exponent);
        let value = self.linearisation.apply(sum * power_of_ten(self.exponent))?;
        value.is_finite().then_some(value)
    }
}

/// The upper two of the ten bits are bits 7:6 of the second byte.
fn ten_bits(low: u8, high: u8) -> i16 {
    let bits = u16::from(high & 0xc0) << 2 | u16::from(low);
    (bits << 6).cast_signed() >> 6
}

fn power_of_ten(exponent: i8) -> f64 {
    // Not `powi`: the precision of its result is not specified.
    10_f64.powf(f64::from(exponent))
}

/// The factors of one reading of a sensor that is not linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingFactors {
    /// The next raw reading with other factors.
    pub next: u8,
    /// The factors, for a linear conversion.
    pub factors: Factors,
}

impl ReadingFactors {
    /// The question for the factors of one raw reading of sensor `number`.
    pub fn question(number: u8, raw: u8) -> Question<ReadingFactors> {
        let read = |_: &[u8], data: &[u8]| ReadingFactors::parse(data);
        let (name, data) = ("Get Sensor Reading Factors", vec![number, raw]);
        Question { name, function: SENSOR, command: 0x23, data, read }
    }

    fn parse(data: &[u8]) -> Result<ReadingFactors, Expected> {
        let [next, factors @ ..] = *<&[u8; 7]>::try_from(data)
            .map_err(|_| Expected("7 bytes after the completion code"))?;
        Ok(ReadingFactors { next, factors: Factors::parse(factors, Linearisation::Linear) })
    }
}

/// The function that is applied to a reading last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linearisation {
    /// No function.
    Linear,
    /// The natural logarithm.
    Ln,
    /// The logarithm to base 10.
    Log10,
    /// The logarithm to base 2.
    Log2,
    /// e to the power of x.
    Exp,
    /// 10 to the power of x.
    Exp10,
    /// 2 to the power of x.
    Exp2,
    /// 1 / x.
    Reciprocal,
    /// The square of x.
    Square,
    /// The cube of x.
    Cube,
    /// The square root of x.
    SquareRoot,
    /// The cube root of x.
    CubeRoot,
    /// Not linear: the factors of each reading must be requested.
    NonLinear,
    /// A reserved number.
    Reserved(u8),
}

impl Linearisation {
    /// Parses byte 24 of a record.
    pub(super) fn parse(byte: u8) -> Linearisation {
        match byte & 0x7f {
            0x00 => Linearisation::Linear,
            0x01 => Linearisation::Ln,
            0x02 => Linearisation::Log10,
            0x03 => Linearisation::Log2,
            0x04 => Linearisation::Exp,
            0x05 => Linearisation::Exp10,
            0x06 => Linearisation::Exp2,
            0x07 => Linearisation::Reciprocal,
            0x08 => Linearisation::Square,
            0x09 => Linearisation::Cube,
            0x0a => Linearisation::SquareRoot,
            0x0b => Linearisation::CubeRoot,
            0x70..=0x7f => Linearisation::NonLinear,
            other => Linearisation::Reserved(other),
        }
    }

    /// The value of the function, which need not be finite; `None` where there is no function.
    pub(super) fn apply(self, x: f64) -> Option<f64> {
        Some(match self {
            Linearisation::Linear => x,
            Linearisation::Ln => x.ln(),
            Linearisation::Log10 => x.log10(),
            Linearisation::Log2 => x.log2(),
            Linearisation::Exp => x.exp(),
            Linearisation::Exp10 => 10_f64.powf(x),
            Linearisation::Exp2 => x.exp2(),
            Linearisation::Reciprocal => x.recip(),
            Linearisation::Square => x * x,
            Linearisation::Cube => x * x * x,
            Linearisation::SquareRoot => x.sqrt(),
            Linearisation::CubeRoot => x.cbrt(),
            Linearisation::NonLinear | Linearisation::Reserved(_) => return None,
        })
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

    #[test]
    fn each_number_is_its_function() {
        // Numbers, what they are given, and what comes out.
        let cases = [
            (0x00, -7.5, -7.5),
            (0x01, std::f64::consts::E, 1.0),
            (0x02, 1000.0, 3.0),
            (0x03, 16.0, 4.0),
            (0x04, 1.0, std::f64::consts::E),
            (0x05, 2.0, 100.0),
            (0x06, 10.0, 1024.0),
            (0x07, 4.0, 0.25),
            (0x08, -3.0, 9.0),
            (0x09, -3.0, -27.0),
            (0x0a, 16.0, 4.0),
            (0x0b, -27.0, -3.0),
        ];
        for (byte, x, expected) in cases {
            let value = Linearisation::parse(byte).apply(x).unwrap();
            assert!((value - expected).abs() < 1e-12, "{byte:#04x}: {value}");
        }
    }

    #[test]
    fn a_bit_that_is_reserved_changes_nothing() {
        assert_eq!(Linearisation::parse(0x89), Linearisation::Cube);
    }

    #[test]
    fn what_is_not_linear_or_not_known_has_no_value() {
        for byte in [0x0c, 0x6f, 0x70, 0x7f] {
            assert_eq!(Linearisation::parse(byte).apply(1.0), None, "{byte:#04x}");
        }
        assert_eq!(Linearisation::parse(0x71), Linearisation::NonLinear);
        assert_eq!(Linearisation::parse(0x0c), Linearisation::Reserved(0x0c));
    }
}
