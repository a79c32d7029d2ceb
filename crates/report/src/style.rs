//! How text is laid out.

/// How to print for whoever reads.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether to use colour.
    pub color: bool,
    /// Columns to fill.
    pub width: usize,
}
