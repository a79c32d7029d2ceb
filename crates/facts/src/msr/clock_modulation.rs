//! On-demand clock modulation: the processor stops its own clock for a part of every few microseconds.
//!
//! Intel SDM vol. 3B, "Software Controlled Clock Modulation". Bit 4 enables it; bits 3:1 are the duty in
//! eighths, bits 3:0 in sixteenths where CPUID.06H:EAX[5] is 1. The field counts only while bit 4 is 1.

use std::fmt;

const ENABLE: u64 = 1 << 4;

/// The share of the time that a clock runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Duty {
    /// The field holds 0, which is reserved: the manual does not say what the clock does.
    Reserved,
    /// In sixteenths, 1 to 15.
    Sixteenths(u8),
}

impl Duty {
    /// The duty that a register value sets; `None` where modulation is off.
    ///
    /// `extended` is CPUID.06H:EAX[5]. The two encodings differ in bit 0 only; where `extended` is not known, a
    /// 1 there shows that it is implemented, because a reserved bit cannot be set.
    pub fn of_register(value: u64, extended: Option<bool>) -> Option<Duty> {
        if value & ENABLE == 0 {
            return None;
        }
        let field = if extended == Some(false) { value & 0b1110 } else { value & 0b1111 };
        match u8::try_from(field) {
            Ok(0) | Err(_) => Some(Duty::Reserved),
            Ok(sixteenths) => Some(Duty::Sixteenths(sixteenths)),
        }
    }

    /// The share of the time that the clock runs, 0 to 1, where the manual defines it.
    pub fn share(self) -> Option<f64> {
        match self {
            Duty::Reserved => None,
            Duty::Sixteenths(n) => Some(f64::from(n) / 16.0),
        }
    }
}

/// "25 %", "6.25 %".
impl fmt::Display for Duty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.share() {
            None => write!(f, "an undefined share (the field is 0, which is reserved)"),
            Some(share) => write!(f, "{} %", 100.0 * share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duty(value: u64, extended: Option<bool>) -> String {
        Duty::of_register(value, extended).map_or("off".into(), |it| it.to_string())
    }

    #[test]
    fn both_encodings_give_the_same_duty_where_bit_0_is_clear() {
        for extended in [None, Some(false), Some(true)] {
            assert_eq!(duty(0x14, extended), "25 %");
            assert_eq!(duty(0x1e, extended), "87.5 %");
        }
    }

    #[test]
    fn bit_0_is_a_sixteenth_unless_the_processor_has_no_such_bit() {
        assert_eq!(duty(0x11, Some(true)), "6.25 %");
        assert_eq!(duty(0x13, None), "18.75 %");
        assert_eq!(duty(0x13, Some(false)), "12.5 %");
    }

    #[test]
    fn a_duty_left_in_the_field_means_nothing_while_modulation_is_off() {
        assert_eq!(duty(0x04, Some(true)), "off");
    }

    #[test]
    fn a_reserved_duty_is_not_given_a_number() {
        assert_eq!(Duty::of_register(0x10, None), Some(Duty::Reserved));
        assert_eq!(Duty::Reserved.share(), None);
    }
}
