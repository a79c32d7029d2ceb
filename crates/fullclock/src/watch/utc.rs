//! Points in time as people read them, in UTC: a table from one host is compared with the log of another.

/// The time of day: `12:14:05`.
pub(crate) fn clock_time(real_ns: u64) -> String {
    let (_, of_day) = split(real_ns);
    format!("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

/// As RFC 3339 writes it, with milliseconds: `2026-11-20T12:14:05.120Z`.
pub(crate) fn timestamp(real_ns: u64) -> String {
    let (days, _) = split(real_ns);
    let (year, month, day) = date(days);
    let ms = real_ns / 1_000_000 % 1000;
    format!("{year:04}-{month:02}-{day:02}T{}.{ms:03}Z", clock_time(real_ns))
}

/// Nanoseconds since 1970 of an RFC 3339 timestamp, which names its offset; `None` where it is none, or before.
pub(crate) fn parse_timestamp(text: &str) -> Option<u64> {
    let (date, time) = text.split_once('T')?;
    let mut date = date.split('-').map(digits);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (time, ahead) = match time.strip_suffix('Z') {
        Some(time) => (time, 0),
        None => offset(time)?,
    };
    let is_whole = date.next().is_none() && time.split(':').count() == 3;
    let days = is_whole.then(|| days(year, month, day))??;
    let ns = days.checked_mul(86_400_000_000_000)?.checked_add(parse_clock_time(time)?)?;
    ns.checked_add_signed(-ahead * 60_000_000_000)
}

/// Nanoseconds since midnight of `12:14`, `12:14:05` or `12:14:05.120`.
pub(crate) fn parse_clock_time(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = whole.split(':').map(digits);
    let (hours, minutes, seconds) =
        (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    let is_time = parts.next().is_none() && hours < 24 && minutes < 60 && seconds < 60;
    let ns: u64 = format!("{:0<9}", fraction.get(..fraction.len().min(9))?).parse().ok()?;
    digits(fraction)?;
    is_time.then_some((hours * 3600 + minutes * 60 + seconds) * 1_000_000_000 + ns)
}

/// The time of day before an offset such as `+01:00`, and its minutes.
fn offset(time: &str) -> Option<(&str, i64)> {
    let (time, offset) = time.split_at_checked(time.rfind(['+', '-'])?)?;
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    let ahead = (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?;
    Some((time, sign * i64::try_from(ahead).ok()?))
}

/// A number of at most nine digits, without a sign.
fn digits(text: &str) -> Option<u64> {
    let is_number = (1..10).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// The days from 1970 to a day of the Gregorian calendar; `None` where there is no such day.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    // A year before the one that is meant, so that no day is passed over.
    let years = (1970..2554).contains(&year).then(|| year - 1970)?;
    let from = years * 365;
    (from..from + years / 4 + 367).find(|&days| date(days) == (year, month as usize, day))
}

/// Days since 1970, and seconds of the day.
fn split(real_ns: u64) -> (u64, u64) {
    let seconds = real_ns / 1_000_000_000;
    (seconds / 86_400, seconds % 86_400)
}

/// The Gregorian date of a day since 1970: whole years first, then whole months. `real_ns` ends in 2554.
fn date(mut days: u64) -> (u64, usize, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

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
