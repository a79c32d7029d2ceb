//! Get Device GUID and Get System GUID: the numbers that no other controller, and no other system, has.
//!
//! Source: IPMI 2.0, sections 20.8 and 22.14. Controllers differ in the order of the bytes, and nothing tells which
//! order one has: so they are compared, and not printed.

use super::Question;
use crate::Expected;

/// Sixteen bytes, in the order in which the controller gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// Asks for the controller's own.
    pub fn of_device() -> Question<Guid> {
        Guid::question("Get Device GUID", 0x08)
    }

    /// Asks for that of the system which the controller manages.
    pub fn of_system() -> Question<Guid> {
        Guid::question("Get System GUID", 0x37)
    }

    fn question(name: &'static str, command: u8) -> Question<Guid> {
        let read = |_: &[u8], data: &[u8]| match <[u8; 16]>::try_from(data) {
            Ok(bytes) => Ok(Guid(bytes)),
            Err(_) => Err(Expected("16 bytes behind the completion code")),
        };
        Question { name, function: 0x06, command, data: Vec::new(), read }
    }

    /// Whether it tells anything apart: who was never given one answers zeros, or all bits set.
    pub fn is_given(self) -> bool {
        self.0 != [0; 16] && self.0 != [0xff; 16]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bytes_are_one_and_no_other_number_of_bytes_is() {
        let answer: Vec<u8> = (0..=16).collect();
        let guid = Guid::of_system().answered(0x07, 0x37, &answer).unwrap();
        assert_eq!((guid.0[0], guid.0[15], guid.is_given()), (1, 16, true));
        assert!(Guid::of_device().answered(0x07, 0x08, &answer[..16]).is_err());
        assert!(Guid::of_device().answered(0x07, 0x08, &[0; 18]).is_err());
    }

    #[test]
    fn one_that_was_never_given_is_known_as_such() {
        assert!(!Guid([0; 16]).is_given() && !Guid([0xff; 16]).is_given());
    }
}
