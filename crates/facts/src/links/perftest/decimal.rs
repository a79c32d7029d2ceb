//! Numbers as perftest prints them: digits, a point, digits; no sign, no exponent, no infinity.

use crate::{Bytes, BytesPerSecond};
use std::time::Duration;

/// `text` times `scale`, rounded; `None` where it is no such number or has more digits than any measured one.
pub(super) fn decimal(text: &str, scale: u64) -> Option<u64> {
    const MOST_DIGITS: usize = 12;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number =
        |digits: &str| digits.len() <= MOST_DIGITS && digits.bytes().all(|it| it.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let unit = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    u64::try_from((digits * u128::from(scale) + unit / 2) / unit).ok()
}

/// A whole number of bytes, as message sizes are.
pub(super) fn bytes(text: &str) -> Option<Bytes> {
    decimal(text, 1).filter(|it| *it > 0 && !text.contains('.')).map(Bytes)
}

/// A rate in a unit of so many bytes per second.
pub(super) fn rate(text: &str, unit: u64) -> Option<BytesPerSecond> {
    decimal(text, unit).map(BytesPerSecond)
}

/// A time in microseconds.
pub(super) fn microseconds(text: &str) -> Option<Duration> {
    decimal(text, 1000).map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_places_and_nothing_else_is_one() {
        assert_eq!(decimal("2941.54", 1 << 20), Some(3_084_428_247));
        assert_eq!(decimal("0.00", 1 << 20), Some(0));
        assert_eq!(decimal("7", 1000), Some(7000));
        for text in ["", ".", ".5", "-1", "+1", "inf", "nan", "1e9", "1,5", "1.2.3"] {
            assert_eq!(decimal(text, 1), None, "{text:?}");
        }
        assert_eq!(decimal(&"9".repeat(13), 1), None);
        assert_eq!(decimal(&"9".repeat(12), u64::MAX), None);
        assert_eq!((bytes("0"), bytes("2.5"), bytes("64")), (None, None, Some(Bytes(64))));
    }
}
