//! What is done to a reading after it was multiplied and shifted.
//!
//! Source: IPMI 2.0, section 43.1, byte 24, and section 36.3.

/// The function of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linearisation {
    /// Nothing.
    Linear,
    /// The natural logarithm.
    Ln,
    /// The logarithm to base 10.
    Log10,
    /// The logarithm to base 2.
    Log2,
    /// e to that power.
    Exp,
    /// 10 to that power.
    Exp10,
    /// 2 to that power.
    Exp2,
    /// One divided by it.
    Reciprocal,
    /// Its square.
    Square,
    /// Its cube.
    Cube,
    /// Its square root.
    SquareRoot,
    /// Its cube root.
    CubeRoot,
    /// None that holds for all readings: the factors of each one are asked for.
    NonLinear,
    /// A number that stands for nothing.
    Reserved(u8),
}

impl Linearisation {
    /// Parses its byte.
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

    /// The function's value, which need not be finite; none where there is no function.
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
