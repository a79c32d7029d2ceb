//! Points in time as people read them, in UTC: a table from one host is compared with the log of another.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use std::time::Duration;

/// The time of day: `12:14:05`.
pub fn clock_time(real_ns: u64) -> String {
    at(real_ns).strftime("%H:%M:%S").to_string()
}

/// As RFC 3339 writes it, with milliseconds: `2026-11-20T12:14:05.120Z`.
pub fn timestamp(real_ns: u64) -> String {
    format!("{:.3}", at(real_ns))
}

/// `real_ns` ends in 2554, long before a `Timestamp` does.
fn at(real_ns: u64) -> Timestamp {
    Timestamp::UNIX_EPOCH + Duration::from_nanos(real_ns)
}

/// Nanoseconds since 1970 of an RFC 3339 timestamp, which names its offset; `None` where it is none, or before.
pub fn parse_timestamp(text: &str) -> Option<u64> {
    let (date, time) = text.split_once('T')?;
    let (time, offset) = match time.strip_suffix('Z') {
        Some(time) => (time, Offset::UTC),
        None => split_offset(time)?,
    };
    let midnight = offset.to_timestamp(parse_date(date)?.at(0, 0, 0, 0)).ok()?.as_nanosecond();
    let of_day = (time.split(':').count() == 3).then(|| parse_clock_time(time))??;
    u64::try_from(midnight + i128::from(of_day)).ok()
}

/// The day, as in `2026-11-20`.
pub fn date(real_ns: u64) -> String {
    at(real_ns).strftime("%Y-%m-%d").to_string()
}

/// Whether a text is a day of the calendar as [`date`] writes it, so that texts compare as the days do.
pub fn is_date(text: &str) -> bool {
    text.len() == "2026-11-20".len() && parse_date(text).is_some()
}

/// The day of `2026-11-20`.
fn parse_date(text: &str) -> Option<Date> {
    let mut parts = text.split('-').map(digits);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let [month, day] = [month, day].map(|it| i8::try_from(it).ok());
    let date = Date::new(i16::try_from(year).ok()?, month?, day?).ok()?;
    parts.next().is_none().then_some(date)
}

/// Nanoseconds since midnight of `12:14`, `12:14:05` or `12:14:05.120`.
pub fn parse_clock_time(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = whole.split(':').map(digits);
    let (hours, minutes, seconds) =
        (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    let is_time = parts.next().is_none() && hours < 24 && minutes < 60 && seconds < 60;
    let ns: u64 = format!("{:0<9}", fraction.get(..fraction.len().min(9))?).parse().ok()?;
    digits(fraction)?;
    is_time.then_some((hours * 3600 + minutes * 60 + seconds) * 1_000_000_000 + ns)
}

/// The time of day before an offset such as `+01:00`, and the offset.
fn split_offset(time: &str) -> Option<(&str, Offset)> {
    let (time, offset) = time.split_at_checked(time.rfind(['+', '-'])?)?;
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    let minutes = (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?;
    Some((time, Offset::from_seconds(sign * i32::try_from(minutes).ok()? * 60).ok()?))
}

/// A number of at most nine digits, without a sign.
fn digits(text: &str) -> Option<u64> {
    let is_number = (1..10).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_one_of_the_calendar_in_ten_characters() {
        assert_eq!(date(951_782_400_000_000_000), "2000-02-29");
        assert!(is_date("2000-02-29") && is_date(&date(u64::MAX)));
        for text in [
            "2001-02-29",
            "2027-1-31",
            "2027-01-32",
            "tomorrow",
            "",
            "2027-01-010",
            "20270101xx",
            "-027-01-01",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        let of = |seconds: u64| timestamp(seconds * 1_000_000_000);
        assert_eq!(of(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(of(951_782_400), "2000-02-29T00:00:00.000Z");
        assert_eq!(of(1_767_225_599), "2025-12-31T23:59:59.000Z");
        assert_eq!(timestamp(u64::MAX), "2554-07-21T23:34:33.709Z");
    }

    #[test]
    fn what_is_written_is_read() {
        for text in [
            "1970-01-01T00:00:00.000Z",
            "2000-02-29T23:59:59.999Z",
            "2026-11-20T12:14:05.120Z",
            "2553-12-31T00:00:00.000Z",
        ] {
            assert_eq!(parse_timestamp(text).map(timestamp).as_deref(), Some(text));
        }
        assert_eq!(
            parse_timestamp("2026-11-20T00:30:00+01:00"),
            parse_timestamp("2026-11-19T23:30:00Z")
        );
        assert_eq!(parse_clock_time("00:01"), Some(60_000_000_000));
    }

    #[test]
    fn days_that_no_calendar_has_are_none() {
        for text in [
            "2026-02-29T00:00:00Z",
            "1969-12-31T00:00:00Z",
            "2026-11-20T24:00:00Z",
            "2026-11-20T1é:00:00Z",
            "2026-11-20T00:00:00",
        ] {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
        assert_eq!(parse_clock_time("12:14:05.x"), None);
        assert_eq!(parse_clock_time("12:14:05.00000000é"), None);
    }
}
