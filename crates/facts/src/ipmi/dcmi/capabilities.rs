//! Get DCMI Capabilities Info: whether the controller manages power.
//!
//! Source: DCMI 1.5, section 6.1.1, parameter 1, "Supported DCMI Capabilities".

use super::{DCMI, question};
use crate::Expected;
use crate::ipmi::Question;

/// What a controller says that it can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DcmiCapabilities {
    /// The version of the specification that it follows.
    pub version: (u8, u8),
    /// Whether it knows the board's power and may limit it.
    pub manages_power: bool,
}

impl DcmiCapabilities {
    /// Asks for it.
    pub fn question() -> Question<DcmiCapabilities> {
        const SUPPORTED: u8 = 1;
        let read = |_: &[u8], data: &[u8]| DcmiCapabilities::parse(data);
        question("Get DCMI Capabilities Info", 0x01, &[SUPPORTED], read)
    }

    fn parse(data: &[u8]) -> Result<DcmiCapabilities, Expected> {
        // Of the platform's capabilities, bit 0 is power management; what is before and behind them is not looked at.
        let &[DCMI, major, minor, _revision, _, platform, _access] = data else {
            return Err(Expected("0xdc and six bytes behind the completion code"));
        };
        Ok(DcmiCapabilities { version: (major, minor), manages_power: platform & 1 == 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipmi::{Completion, Unanswered};

    fn answered(data: &[u8]) -> Result<DcmiCapabilities, Unanswered> {
        DcmiCapabilities::question().answered(0x2d, 0x01, data)
    }

    #[test]
    fn a_controller_says_whether_it_manages_power() {
        let asked = DcmiCapabilities::question();
        assert_eq!((asked.function, asked.command, &asked.data[..]), (0x2c, 1, &[0xdc, 1][..]));
        let told = answered(&[0, 0xdc, 1, 5, 2, 0, 1, 7]).unwrap();
        assert_eq!((told.version, told.manages_power), ((1, 5), true));
        assert!(!answered(&[0, 0xdc, 1, 0, 1, 0x0f, 0, 7]).unwrap().manages_power);
    }

    #[test]
    fn one_without_the_group_refuses() {
        let refused = Unanswered::Refused(Completion::INVALID_COMMAND);
        assert_eq!(answered(&[0xc1]), Err(refused));
    }

    #[test]
    fn a_wrong_length_and_another_group_are_told() {
        for data in [&[0][..], &[0, 0xdc, 1, 5, 2, 0, 1], &[0, 0xdc, 1, 5, 2, 0, 1, 7, 0]] {
            assert!(answered(data).is_err(), "{data:?}");
        }
        let text = answered(&[0, 0x52, 1, 5, 2, 0, 1, 7]).unwrap_err().to_string();
        assert!(text.ends_with("expected 0xdc and six bytes behind the completion code"), "{text}");
    }
}
