//! Small words that many documents share.

/// A label for the first of several lines, and none for those that follow.
pub(crate) fn once_then_nothing(label: &str) -> impl Iterator<Item = &str> {
    std::iter::once(label).chain(std::iter::repeat(""))
}

/// The text with a capital at its beginning.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
}

/// `a, b or c`.
pub(crate) fn listed(names: &[&str], last: &str) -> String {
    match names.split_last() {
        Some((end, before)) if !before.is_empty() => format!("{} {last} {end}", before.join(", ")),
        _ => names.concat(),
    }
}

/// Nanoseconds as milliseconds: `0.48 ms`.
pub(crate) fn milliseconds(ns: f64) -> String {
    format!("{:.2} ms", ns / 1e6)
}

/// A number with four digits that count.
pub(crate) fn four_digits(value: f64) -> String {
    let places = (3.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.places$}")
}

/// A number with so many decimals; what rounds to nothing has no minus sign, as the sum of no numbers has one (`f64: Sum`).
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|it| matches!(it, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

/// The same of a change, with its sign; none where it rounds to nothing.
pub(crate) fn fixed_change(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    let is_more = text.bytes().any(|it| matches!(it, b'1'..=b'9')) && !text.starts_with('-');
    if is_more { format!("+{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_sign() {
        let sum_of_none: f64 = [0.0; 0].iter().sum();
        assert_eq!([sum_of_none, -0.04, 0.04].map(|it| fixed(it, 1)), ["0.0", "0.0", "0.0"]);
        assert_eq!([-0.04, 0.04].map(|it| fixed_change(it, 1)), ["0.0", "0.0"]);
        assert_eq!([-0.06, 0.06].map(|it| fixed_change(it, 1)), ["-0.1", "+0.1"]);
        assert_eq!(fixed(-12.34, 1), "-12.3");
    }
}
