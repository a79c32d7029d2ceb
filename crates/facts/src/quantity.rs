//! Times and shares as people write them, `500ms`, `5s`, `0.3%`, and times as they read them.

use std::time::Duration;

/// The shortest and the longest time that a measurement may take.
///
/// Below a millisecond, reading the counters takes as long as what they count. After days, counters of 32 bits
/// have wrapped: a 1000 Hz tick fills one in 49.
const LIMITS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(86_400));

/// The units, longest first; each with its nanoseconds.
const UNITS: &[(&str, u64)] = &[
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
];

/// A time in the unit in which people wait: `36 s`, `15 min`, `10 h`, `3.9 days`.
pub fn span(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

/// A short time with three digits, in the largest unit up to seconds that fits at least once: `12.3 us`.
pub fn short_span(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} us", three_digits(ns as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", three_digits(ns as f64 / 1e6)),
        _ => format!("{} s", three_digits(ns as f64 / 1e9)),
    }
}

fn three_digits(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// The time that `text` names: decimal numbers with `us`, `ms`, `s`, `m`, `h` or `d`, longest unit first, as in `1h30m`;
/// one number without a unit is in seconds.
///
/// Fails, in words for the user, on anything else and on less than 1 ms or more than 1 day.
pub fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let total =
        nanoseconds(text, 1_000_000_000).or_else(|| sum_of_parts(text)).ok_or_else(|| {
            format!(
                "{text:?} is not a time: expected 500ms, 5s or 1h30m; a number alone is seconds"
            )
        })?;
    let time = Duration::from_nanos(total);
    if time < LIMITS.0 || time > LIMITS.1 {
        return Err(format!("{text:?} is out of range: the shortest time is 1ms, the longest 1d"));
    }
    Ok(time)
}

/// The nanoseconds of `1h30m`: each unit at most once, the longest first.
fn sum_of_parts(text: &str) -> Option<u64> {
    let mut units = UNITS.iter();
    let (mut rest, mut sum) = (text, 0_u64);
    while !rest.is_empty() {
        let number = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let (number, behind) = rest.split_at(number);
        let behind = behind.trim_start();
        let end = behind.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (name, behind) = behind.split_at(end);
        let (_, unit) = units.find(|(it, _)| *it == name)?;
        sum = sum.saturating_add(nanoseconds(number, *unit)?);
        rest = behind.trim_start();
    }
    (!text.is_empty()).then_some(sum)
}

/// A decimal number of `unit` nanoseconds, digit by digit: no rounding, no exponent, no sign, no overflow.
fn nanoseconds(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    // What does not fit is longer than any limit, and is refused for that.
    let count = if whole.is_empty() { 0 } else { whole.parse::<u64>().unwrap_or(u64::MAX) };
    let mut sum = count.saturating_mul(unit);
    let mut worth = unit;
    for digit in fraction.bytes() {
        worth /= 10;
        sum = sum.saturating_add(u64::from(digit - b'0').saturating_mul(worth));
    }
    Some(sum)
}

/// The share that `0.3%` or `0.3` names: 0.003. Fails, in words for the user, on anything else and on what is not between 0 and 1.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err("expected a percentage above 0 and below 100, as in 0.3%".to_owned()),
    }
}

/// How many CPUs `25%`, of one, or `1.5` name: 0.25, 1.5. The kernel counts a quota in milliseconds of each 100 ms.
///
/// Fails, in words for the user, on anything else and on what is not between 0.01 and 4096.
pub fn cpus(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse().map(|it: f64| it / 100.0),
        None => text.parse(),
    };
    match number {
        Ok(cpus) if (0.01..=4096.0).contains(&cpus) => Ok(cpus),
        _ => Err("expected 25% of one CPU, or a number of CPUs like 1.5; at least 1%".to_owned()),
    }
}

/// How many there are: `1 trial`, `20 trials`.
pub fn counted(n: impl Into<u64>, one: &str) -> String {
    match n.into() {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    }
}

/// [`counted`] of as many as there are in memory.
pub fn counted_all<T>(items: &[T], one: &str) -> String {
    counted(items.len() as u64, one)
}

/// A time in seconds, in the unit in which people wait: `99 s`, `3 min`, `2 h`, `days`.
pub fn roughly(seconds: f64) -> String {
    const DAY: f64 = 86_400.0;
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < DAY => format!("{:.0} h", s / 3600.0),
        _ => "days".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_as_people_say_them() {
        let shown = [0, 999, 1000, 2500, 12_340, 999_999, 5_000_000, 1_234_000_000];
        assert_eq!(
            shown.map(short_span),
            ["0 ns", "999 ns", "1 us", "2.5 us", "12.3 us", "1000 us", "5 ms", "1.23 s"]
        );
        let shown = [36, 900, 36_000, 335_400].map(|it| span(Duration::from_secs(it)));
        assert_eq!(shown, ["36 s", "15 min", "10 h", "3.9 days"]);
    }

    #[test]
    fn a_quota_is_a_share_of_one_cpu_or_a_number_of_them() {
        assert_eq!([cpus("25%"), cpus("1.5"), cpus(" 200 % ")], [Ok(0.25), Ok(1.5), Ok(2.0)]);
        for text in ["", "0", "0.5%", "-1", "inf", "nan", "25 percent", "5000"] {
            assert!(cpus(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_and_a_unit_are_a_time() {
        let ns = |text: &str| duration(text).unwrap().as_nanos();
        assert_eq!(ns("500ms"), 500_000_000);
        assert_eq!(ns("5s"), 5_000_000_000);
        assert_eq!(ns(" 2 m "), 120_000_000_000);
        assert_eq!(ns("1h"), 3_600_000_000_000);
        assert_eq!(ns("1d"), 86_400_000_000_000);
        assert_eq!(ns("1000us"), 1_000_000);
        assert_eq!(ns("1h30m"), 5_400_000_000_000);
        assert_eq!(ns("1m 2.5s 3ms"), 62_503_000_000);
    }

    #[test]
    fn without_a_unit_it_is_seconds() {
        assert_eq!(duration("5"), Ok(Duration::from_secs(5)));
        assert_eq!(duration("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(duration(".5"), Ok(Duration::from_millis(500)));
    }

    #[test]
    fn too_short_and_too_long_say_the_limits() {
        let limits = "is out of range: the shortest time is 1ms, the longest 1d";
        for text in ["0", "0s", "0.0001s", "999us", "10d", "86401s", "99999999999999999999999h"] {
            assert_eq!(duration(text), Err(format!("{text:?} {limits}")));
        }
    }

    #[test]
    fn what_is_no_time_says_what_one_looks_like() {
        for text in [
            "",
            "s",
            ".",
            "-5s",
            "+5s",
            "1e3s",
            "5 parsecs",
            "5s5s",
            "30m1h",
            "1h30",
            "1h.",
            "NaN",
            "inf",
            "1.2.3",
            "٣s",
        ] {
            let expected = "is not a time: expected 500ms, 5s or 1h30m; a number alone is seconds";
            assert_eq!(duration(text), Err(format!("{text:?} {expected}")));
        }
    }

    #[test]
    fn what_is_left_is_told_in_a_unit_that_one_can_wait_in() {
        let told: Vec<String> = [3.2, 99.0, 180.0, 7200.0, 1e12].map(roughly).to_vec();
        assert_eq!(told, ["3 s", "99 s", "3 min", "2 h", "days"]);
    }
}
