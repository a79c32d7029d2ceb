//! Chores of the project that its tests need too.
#![forbid(unsafe_code)]

pub mod import;
pub mod tree;
