//! How a result of the network came to be, and its page.

use crate::bench::quoted;
use crate::document::{Block, Document, is_page};

/// What the title of every such page begins with.
const TITLE: &str = "fullclock net ";

/// How a result came to be.
pub struct Origin {
    /// The commands that repeat it, one per line.
    pub commands: String,
    /// When it was written.
    pub written: String,
}

impl Origin {
    /// Adds it to a document.
    pub(super) fn put(&self, document: &mut Document) {
        document.heading("How to repeat it");
        document.push(Block::Code(self.commands.clone()));
        document.note(format!("Written {}", self.written));
    }
}

/// Whether `beginning` starts the page of a network test.
pub fn is_report(beginning: &str) -> bool {
    is_page(beginning, TITLE)
}

/// Words quoted for a shell.
pub fn command_line(words: &[String]) -> String {
    words.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
}
