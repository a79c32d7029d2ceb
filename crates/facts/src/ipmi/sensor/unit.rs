//! The unit of a sensor's values.
//!
//! Source: IPMI 2.0, section 43.1, bytes 21 to 23, and section 43.17. The words are those of `ipmitool sdr`, which
//! users and scripts know.

use std::fmt;

/// A unit, with the unit that modifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The number of the base unit.
    pub base: u8,
    /// The modifier unit.
    pub modifier: UnitModifier,
    /// The time that the unit is divided by.
    pub rate: Option<Rate>,
    /// Whether the record calls it a percentage. Some manufacturers set this where it makes no sense.
    pub is_percentage: bool,
}

/// How a second unit modifies the first; with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitModifier {
    /// No second unit.
    None,
    /// The first divided by the second.
    Per(u8),
    /// The first multiplied by the second.
    Times(u8),
}

/// Times that a unit can be divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// A millionth of a second.
    Microsecond,
    /// A thousandth of a second.
    Millisecond,
    /// A second.
    Second,
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    Day,
}

impl Unit {
    /// Degrees Celsius.
    pub const DEGREES_C: u8 = 1;
    /// Volts.
    pub const VOLTS: u8 = 4;
    /// Amperes.
    pub const AMPS: u8 = 5;
    /// Watts.
    pub const WATTS: u8 = 6;
    /// Revolutions per minute.
    pub const RPM: u8 = 18;

    /// Parses the three bytes.
    pub(super) fn parse([flags, base, second]: [u8; 3]) -> Unit {
        Unit {
            base,
            modifier: match flags >> 1 & 0x03 {
                1 => UnitModifier::Per(second),
                2 => UnitModifier::Times(second),
                _ => UnitModifier::None,
            },
            rate: match flags >> 3 & 0x07 {
                1 => Some(Rate::Microsecond),
                2 => Some(Rate::Millisecond),
                3 => Some(Rate::Second),
                4 => Some(Rate::Minute),
                5 => Some(Rate::Hour),
                6 => Some(Rate::Day),
                _ => None,
            },
            is_percentage: flags & 0x01 != 0,
        }
    }

    /// Whether the record names a unit.
    pub(super) fn is_given(self) -> bool {
        self.base != 0 || self.is_percentage || self.modifier != UnitModifier::None
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_percentage, self.base, self.modifier) {
            (true, 0, UnitModifier::None) => f.write_str("percent")?,
            (true, ..) => write!(f, "% {}", Base(self.base))?,
            (false, ..) => write!(f, "{}", Base(self.base))?,
        }
        match self.modifier {
            UnitModifier::None => {}
            UnitModifier::Per(unit) => write!(f, "/{}", Base(unit))?,
            UnitModifier::Times(unit) => write!(f, "*{}", Base(unit))?,
        }
        match self.rate {
            None => Ok(()),
            Some(rate) => write!(f, "/{rate}"),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rate::Microsecond => "microsecond",
            Rate::Millisecond => "millisecond",
            Rate::Second => "second",
            Rate::Minute => "minute",
            Rate::Hour => "hour",
            Rate::Day => "day",
        })
    }
}

/// A unit by its number, in words.
struct Base(u8);

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match WORDS.get(usize::from(self.0)) {
            Some(words) => f.write_str(words),
            None => write!(f, "unit {:#04x}", self.0),
        }
    }
}

/// The words by number.
#[rustfmt::skip]
const WORDS: [&str; 93] = [
    "unspecified", "degrees C", "degrees F", "degrees K", "Volts",
    "Amps", "Watts", "Joules", "Coulombs", "VA",
    "Nits", "lumen", "lux", "Candela", "kPa",
    "PSI", "Newton", "CFM", "RPM", "Hz",
    "microsecond", "millisecond", "second", "minute", "hour",
    "day", "week", "mil", "inches", "feet",
    "cu in", "cu feet", "mm", "cm", "m",
    "cu cm", "cu m", "liters", "fluid ounce", "radians",
    "steradians", "revolutions", "cycles", "gravities", "ounce",
    "pound", "ft-lb", "oz-in", "gauss", "gilberts",
    "henry", "millihenry", "farad", "microfarad", "ohms",
    "siemens", "mole", "becquerel", "PPM", "reserved",
    "Decibels", "DbA", "DbC", "gray", "sievert",
    "color temp deg K", "bit", "kilobit", "megabit", "gigabit",
    "byte", "kilobyte", "megabyte", "gigabyte", "word",
    "dword", "qword", "line", "hit", "miss",
    "retry", "reset", "overflow", "underrun", "collision",
    "packets", "messages", "characters", "error", "correctable error",
    "uncorrectable error", "fatal error", "grams",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: [u8; 3]) -> String {
        Unit::parse(bytes).to_string()
    }

    #[test]
    fn units_have_the_words_that_people_know() {
        let words = [Unit::DEGREES_C, Unit::VOLTS, Unit::AMPS, Unit::WATTS, Unit::RPM]
            .map(|base| text([0x00, base, 0]));
        assert_eq!(words, ["degrees C", "Volts", "Amps", "Watts", "RPM"]);
        let others = [17, 19, 60, 65, 80, 92].map(|base| text([0x00, base, 0]));
        assert_eq!(others, ["CFM", "Hz", "Decibels", "color temp deg K", "retry", "grams"]);
    }

    #[test]
    fn the_format_of_the_readings_is_no_part_of_the_unit() {
        assert_eq!(Unit::parse([0xc0, 1, 0]), Unit::parse([0x00, 1, 0]));
    }

    #[test]
    fn a_unit_is_divided_or_multiplied_by_another() {
        assert_eq!(text([0x02, 6, 23]), "Watts/minute");
        assert_eq!(text([0x04, 46, 24]), "ft-lb*hour");
        assert_eq!(text([0x20, 88, 0]), "error/minute");
        assert_eq!(text([0x1a, 78, 70]), "hit/byte/second");
    }

    #[test]
    fn a_percentage_says_so() {
        assert_eq!(text([0x01, 0, 0]), "percent");
        assert_eq!(text([0x01, Unit::RPM, 0]), "% RPM");
        assert_eq!(text([0x03, 0, 0]), "% unspecified/unspecified");
    }

    #[test]
    fn a_number_that_stands_for_nothing_is_told_as_it_is() {
        assert_eq!(text([0x00, 0, 0]), "unspecified");
        assert_eq!(text([0x02, 0x5d, 0xff]), "unit 0x5d/unit 0xff");
    }

    #[test]
    fn a_record_that_names_no_unit_is_known() {
        assert!(!Unit::parse([0xc0, 0, 5]).is_given());
        assert!(Unit::parse([0x01, 0, 0]).is_given() && Unit::parse([0x00, 1, 0]).is_given());
    }
}
