//! What is said of a test, each with its label: text and pages say the same.

use super::MARGIN;
use crate::page::Page;

/// Sentences in their order.
#[derive(Default)]
pub(super) struct Said(Vec<(&'static str, String)>);

impl Said {
    pub(super) fn say(&mut self, label: &'static str, words: &str) {
        self.0.push((label, words.to_owned()));
    }

    /// Onto a page of text.
    pub(super) fn put(&self, page: &mut Page) {
        for (label, words) in &self.0 {
            page.labelled(MARGIN, label, words);
        }
    }

    /// Labels and sentences.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'static str, Vec<String>)> + '_ {
        self.0.iter().map(|(label, words)| (*label, vec![words.clone()]))
    }
}
