//! Moments by a controller's clock.
//!
//! Source: IPMI 2.0, section 37. The clock has no time zone: most are set to UTC, some to the local time of whoever
//! set them, and nothing tells which.

/// A moment, as a controller counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timestamp {
    /// Seconds since 1970.
    Date(u32),
    /// Seconds since the controller started: its clock was not set yet.
    SinceStart(u32),
}

/// The last number that counts from a controller's start.
const LAST_SINCE_START: u32 = 0x2000_0000;

impl Timestamp {
    /// Parses one, lowest byte first. None where it is unspecified: FFFFFFFFh by the specification, and 0 by the
    /// controllers that have nothing to tell.
    pub(super) fn parse(bytes: [u8; 4]) -> Option<Timestamp> {
        match u32::from_le_bytes(bytes) {
            0 | u32::MAX => None,
            seconds @ 1..=LAST_SINCE_START => Some(Timestamp::SinceStart(seconds)),
            seconds => Some(Timestamp::Date(seconds)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unspecified_is_no_moment() {
        assert_eq!(Timestamp::parse([0xff; 4]), None);
        assert_eq!(Timestamp::parse([0; 4]), None);
    }

    #[test]
    fn a_clock_that_was_not_set_counts_from_the_start() {
        assert_eq!(Timestamp::parse([0x10, 0, 0, 0]), Some(Timestamp::SinceStart(16)));
        let last = Some(Timestamp::SinceStart(0x2000_0000));
        assert_eq!(Timestamp::parse([0, 0, 0, 0x20]), last);
        let date = Some(Timestamp::Date(0x2000_0001));
        assert_eq!(Timestamp::parse([1, 0, 0, 0x20]), date);
    }
}
