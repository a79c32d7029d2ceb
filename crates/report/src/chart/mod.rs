//! Charts as SVG, which the pages of documents show.
//!
//! Horizontal positions are percentages, so that a drawing fills any width while text and points keep their size. Every axis has a
//! title with its quantity and its unit, and its numbers have no unit. Colours are classes of the pages' style sheet.

pub(crate) mod curve;
pub(crate) mod losses;
pub(crate) mod parts;
pub(crate) mod scale;
pub(crate) mod trials;
