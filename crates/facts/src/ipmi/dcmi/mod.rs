//! The Data Center Manageability Interface (DCMI), which adds the power of the board, and a limit on it, to IPMI.
//!
//! Source: DCMI specification, version 1.5, section 6 (section 6.1.1 for the capabilities); lib/ipmi_dcmi.c of ipmitool and the templates of
//! libfreeipmi. DCMI commands are group extensions: each question and each answer begins with the number of the
//! group. A limit that is set in another way (Intel Node Manager, a chassis, a redundancy policy of the power
//! supplies) does not show here.

mod power;

pub use power::{ExceptionAction, PowerLimit, PowerReading};

use super::Question;
use crate::{Expected, Microwatts};

/// The network function of group extensions (IPMI 2.0, table 5-1).
const GROUP_EXTENSION: u8 = 0x2c;

/// The number of the DCMI group (DCMI 1.5, section 6).
const DCMI: u8 = 0xdc;

/// A DCMI question: its data follows the number of the group.
fn question<T>(
    name: &'static str,
    command: u8,
    asked: &[u8],
    read: fn(&[u8], &[u8]) -> Result<T, Expected>,
) -> Question<T> {
    let data = [&[DCMI], asked].concat();
    Question { name, function: GROUP_EXTENSION, command, data, read }
}

/// Watts, lowest byte first; `None` for FFFFh, which controllers without a value answer.
fn watts(bytes: [u8; 2]) -> Option<Microwatts> {
    let watts = Some(u16::from_le_bytes(bytes)).filter(|it| *it != u16::MAX)?;
    Some(Microwatts(u64::from(watts) * 1_000_000))
}

/// What a controller supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DcmiCapabilities {
    /// The version of DCMI.
    pub version: (u8, u8),
    /// Whether it can report and limit the power of the board.
    pub manages_power: bool,
}

impl DcmiCapabilities {
    /// The question for it (parameter 1, "Supported DCMI Capabilities").
    pub fn question() -> Question<DcmiCapabilities> {
        const SUPPORTED: u8 = 1;
        let read = |_: &[u8], data: &[u8]| DcmiCapabilities::parse(data);
        question("Get DCMI Capabilities Info", 0x01, &[SUPPORTED], read)
    }

    fn parse(data: &[u8]) -> Result<DcmiCapabilities, Expected> {
        // Bit 0 of the platform capabilities is power management; the other capabilities are not used.
        let &[DCMI, major, minor, _revision, _, platform, _access] = data else {
            return Err(Expected("0xdc and six bytes after the completion code"));
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
        assert!(text.ends_with("expected 0xdc and six bytes after the completion code"), "{text}");
    }
}
