//! In which form a result is shown, and where it goes.

use crate::new_file::{self, Readers};
use crate::output::{self, OutputArguments};
use anyhow::Result;
use clap::{Args, ValueEnum};
use report::document::Format;
use report::harmless::harmless_page;
use std::path::{Path, PathBuf};

/// In which form a result is shown.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct FormatArguments {
    /// How to print the result: text for a terminal, JSON, Markdown for a ticket, or one HTML page that loads nothing [default:
    /// text]
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<FormatName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatName {
    Text,
    Json,
    Markdown,
    Html,
}

impl FormatArguments {
    /// The form of a document; `None` for JSON, which is none.
    pub(crate) fn chosen(self, output: &OutputArguments) -> Option<Format> {
        form(self.format.unwrap_or(FormatName::Text), output)
    }
}

fn form(name: FormatName, output: &OutputArguments) -> Option<Format> {
    match name {
        FormatName::Json => None,
        _ if output.json => None,
        FormatName::Text => Some(Format::Text(output::style(output.color))),
        FormatName::Markdown => Some(Format::Markdown),
        FormatName::Html => Some(Format::Html),
    }
}

/// In which form a result is shown, and in which file it is kept.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ResultArguments {
    #[command(flatten)]
    format: FormatArguments,
    /// Write the result to FILE; without --format its ending chooses the format: .html, .md, .json
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "output")]
    force: bool,
}

impl ResultArguments {
    /// Where the result goes. Fails where the file could not be written, before anything is measured.
    pub(crate) fn destination(&self, output: &OutputArguments) -> Result<Destination> {
        let file = self.output.as_deref();
        file.map_or(Ok(()), |it| new_file::check(it, self.force))?;
        let by_ending = file.and_then(format_of).unwrap_or(FormatName::Text);
        let format = form(self.format.format.unwrap_or(by_ending), output);
        // Colours are for terminals.
        let format = match (format, file) {
            (Some(Format::Text(style)), Some(_)) => {
                Some(Format::Text(report::Style { color: false, ..style }))
            }
            (format, _) => format,
        };
        Ok(Destination { format, file: self.output.clone(), force: self.force })
    }
}

/// The format that a file's ending names.
fn format_of(path: &Path) -> Option<FormatName> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "html" | "htm" => Some(FormatName::Html),
        "md" | "markdown" => Some(FormatName::Markdown),
        "json" => Some(FormatName::Json),
        _ => None,
    }
}

/// Where a result goes.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// The form of a document; `None` for JSON, which is none.
    pub(crate) format: Option<Format>,
    file: Option<PathBuf>,
    force: bool,
}

impl Destination {
    /// Prints the result, or writes the user's file.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        match &self.file {
            None => output::print(text),
            Some(file) => new_file::write(file, &harmless_page(text), Readers::Usual, self.force),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_file_is_its_format() {
        let named = |it: &str| format_of(Path::new(it));
        assert_eq!(named("/tmp/db7.html"), Some(FormatName::Html));
        assert_eq!(named("CHG-4711.MD"), Some(FormatName::Markdown));
        assert_eq!(named("audit.json"), Some(FormatName::Json));
        assert_eq!((named("audit.txt"), named("html"), named(".json")), (None, None, None));
    }
}
