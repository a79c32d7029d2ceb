//! The smallest parsers: one value from one small file.
//!
//! Every parser of this crate has the shape `fn(&str) -> Result<T, Expected>`: the caller knows the path
//! and the text, so the parser only says what it had hoped for.

use crate::Hertz;

/// What a parser had hoped to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct Expected(pub &'static str);

/// The text without the white space and NUL bytes around it.
///
/// sysfs ends lines with a newline, and some kernels (RHEL 7 and 8: `nohz_full`) leave a NUL byte.
pub fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0')
}

/// One non-empty word or line.
pub fn line(text: &str) -> Result<String, Expected> {
    match trimmed(text) {
        "" => Err(Expected("some text")),
        line if line.contains(char::is_control) => Err(Expected("one line of text")),
        line => Ok(line.to_owned()),
    }
}

/// Words separated by white space; none is an answer too.
pub fn words(text: &str) -> Result<Vec<String>, Expected> {
    Ok(trimmed(text).split_whitespace().map(str::to_owned).collect())
}

/// A decimal number that is not negative.
pub fn number(text: &str) -> Result<u64, Expected> {
    trimmed(text).parse().map_err(|_| Expected("a whole number"))
}

/// A decimal number that may be negative.
pub fn signed(text: &str) -> Result<i64, Expected> {
    trimmed(text).parse().map_err(|_| Expected("a whole number"))
}

/// A switch: `0`, `1`, and the kernel's `Y` and `N` for module parameters.
pub fn switch(text: &str) -> Result<bool, Expected> {
    match trimmed(text) {
        "0" | "N" => Ok(false),
        "1" | "Y" => Ok(true),
        _ => Err(Expected("0 or 1")),
    }
}

/// A frequency in kHz, as cpufreq prints it.
pub fn kilohertz(text: &str) -> Result<Hertz, Expected> {
    number(text)
        .ok()
        .and_then(|khz| khz.checked_mul(1000))
        .map(Hertz)
        .ok_or(Expected("a frequency in kHz"))
}

/// Frequencies in kHz, separated by white space, highest first.
pub fn kilohertz_list(text: &str) -> Result<Vec<Hertz>, Expected> {
    let clocks: Result<Vec<Hertz>, Expected> =
        trimmed(text).split_whitespace().map(kilohertz).collect();
    let mut clocks = clocks.map_err(|_| Expected("frequencies in kHz"))?;
    clocks.sort_unstable();
    clocks.reverse();
    Ok(clocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_byte_after_the_value_is_no_part_of_it() {
        assert_eq!(number("42\0\n"), Ok(42));
        assert_eq!(line("\0"), Err(Expected("some text")));
    }

    #[test]
    fn what_goes_on_in_a_second_line_is_no_line() {
        assert_eq!(line("6.1.0\n"), Ok("6.1.0".into()));
        assert_eq!(line("6.1.0\n/../etc"), Err(Expected("one line of text")));
    }

    #[test]
    fn a_frequency_that_does_not_fit_is_not_wrapped() {
        assert_eq!(kilohertz("18446744073709551615"), Err(Expected("a frequency in kHz")));
    }
}
