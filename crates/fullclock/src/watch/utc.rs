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
}
