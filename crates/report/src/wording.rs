//! Small words that many documents share.

/// How many there are: `1 check`, `2 checks`.
pub(crate) fn counted(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// A label for the first of several lines, and none for those that follow.
pub(crate) fn once_then_nothing(label: &str) -> impl Iterator<Item = &str> {
    std::iter::once(label).chain(std::iter::repeat(""))
}
