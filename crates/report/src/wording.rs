//! Small words that many documents share.

/// A label for the first of several lines, and none for those that follow.
pub(crate) fn once_then_nothing(label: &str) -> impl Iterator<Item = &str> {
    std::iter::once(label).chain(std::iter::repeat(""))
}
