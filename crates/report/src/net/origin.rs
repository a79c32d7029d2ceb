//! How a result of the network came to be.

use crate::bench::quoted;
use crate::document::{Block, Document};

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

/// Words quoted for a shell.
pub fn command_line(words: &[String]) -> String {
    words.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
}
