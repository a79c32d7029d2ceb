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

/// Nanoseconds as milliseconds: `0.48 ms`.
pub(crate) fn milliseconds(ns: f64) -> String {
    format!("{:.2} ms", ns / 1e6)
}

/// A number with four digits that count.
pub(crate) fn four_digits(value: f64) -> String {
    let places = (3.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.places$}")
}
