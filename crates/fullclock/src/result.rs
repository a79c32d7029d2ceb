//! In which form a result is shown, and where it goes.

use crate::new_file::{self, Readers};
use crate::output::{self, OutputArguments};
use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use report::Style;
use report::document::Format;
use report::harmless::harmless_page;
use report::monitoring::{self, FORMATS};
use std::path::{Path, PathBuf};

/// In which form a result is shown.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct FormatArguments {
    /// How to print the result: text for a terminal, JSON, Markdown for a ticket, or one HTML page that loads nothing
    #[arg(long, value_name = "FORMAT", conflicts_with = "json", value_parser = format_name(&NAMES[..4]))]
    format: Option<Name>,
}

impl FormatArguments {
    /// The form of a document; `None` for JSON, which is none.
    pub(crate) fn chosen(self, output: &OutputArguments) -> Option<Format> {
        form(self.format, output, output::style(output.color)).format()
    }
}

/// In which form a result is shown, and in which file it is kept: the file's ending chooses the form where nothing else does.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ResultArguments {
    #[command(flatten)]
    format: FormatArguments,
    #[command(flatten)]
    file: FileArguments,
}

/// The same for a result that has rows of data.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RowsArguments {
    /// How to print the result: text for a terminal, JSON, Markdown for a ticket, one HTML page that loads nothing, or CSV [default:
    /// as FILE ends, or text]
    #[arg(long, value_name = "FORMAT", conflicts_with = "json", global = true, value_parser = format_name(&NAMES))]
    format: Option<Name>,
    /// Print CSV: the same as --format csv
    #[arg(long, conflicts_with_all = ["format", "json"], global = true)]
    csv: bool,
    #[command(flatten)]
    file: FileArguments,
}

/// The same for an audit, which also has forms that other programs read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct AuditResultArguments {
    /// How to print the audit: text for a terminal, JSON, Markdown for a ticket, one HTML page that loads nothing; or for another
    /// program: a plugin of Nagios, a local check of Checkmk, JUnit's XML, or SARIF
    #[arg(long, value_name = "FORMAT", conflicts_with = "json", value_parser = audit_format_name())]
    format: Option<AuditFormat>,
    #[command(flatten)]
    file: FileArguments,
}

#[derive(Clone, Copy, Debug)]
enum AuditFormat {
    OfResults(Name),
    OfPrograms(&'static monitoring::Format),
}

#[derive(Args, Clone, Debug, Default)]
struct FileArguments {
    /// Write the result to FILE, in the format that its ending names: .html, .md, .json, and .csv where --format has csv
    #[arg(short, long, value_name = "FILE", global = true)]
    output: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "output", global = true)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Text,
    Json,
    Markdown,
    Html,
    Csv,
}

/// What formats are called on the command line. The last one needs rows.
const NAMES: [(&str, Name); 5] = [
    ("text", Name::Text),
    ("json", Name::Json),
    ("markdown", Name::Markdown),
    ("html", Name::Html),
    ("csv", Name::Csv),
];

fn format_name(names: &'static [(&'static str, Name)]) -> impl TypedValueParser<Value = Name> {
    PossibleValuesParser::new(names.iter().map(|(name, _)| *name)).map(|given| {
        let found = NAMES.iter().find(|(name, _)| *name == given);
        found.map_or(Name::Text, |(_, name)| *name)
    })
}

/// Those of results without rows, and those of programs.
fn audit_format_name() -> impl TypedValueParser<Value = AuditFormat> {
    let of_results = NAMES[..4].iter().map(|(name, _)| *name);
    let names = of_results.chain(FORMATS.iter().map(|it| it.name));
    PossibleValuesParser::new(names).map(|given| {
        let of_programs = FORMATS.iter().find(|it| it.name == given).map(AuditFormat::OfPrograms);
        let of_results = NAMES.iter().find(|(name, _)| *name == given);
        of_programs.unwrap_or(AuditFormat::OfResults(of_results.map_or(Name::Text, |it| it.1)))
    })
}

/// The form of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Document(Format),
    Json,
    Csv,
}

impl Form {
    /// The format of a document; `None` for JSON. A result without rows is one of both.
    fn format(self) -> Option<Format> {
        match self {
            Form::Document(format) => Some(format),
            Form::Json | Form::Csv => None,
        }
    }
}

/// The form that is called `name`, text without one; `--json` is stronger.
fn form(name: Option<Name>, output: &OutputArguments, style: Style) -> Form {
    match name.unwrap_or(Name::Text) {
        _ if output.json => Form::Json,
        Name::Text if output::speaks_utf8() => Form::Document(Format::Text(style)),
        Name::Text => Form::Document(Format::Ascii(style)),
        Name::Json => Form::Json,
        Name::Markdown => Form::Document(Format::Markdown),
        Name::Html => Form::Document(Format::Html),
        Name::Csv => Form::Csv,
    }
}

impl ResultArguments {
    /// Where the result goes. Fails where the file could not be written, before anything is measured.
    pub(crate) fn destination(&self, output: &OutputArguments) -> Result<Destination> {
        Destination::new(self.format.format, &self.file, output, false)
    }
}

impl AuditResultArguments {
    /// Where the result goes. Fails where the file could not be written, before anything is read.
    pub(crate) fn destination(&self, output: &OutputArguments) -> Result<Destination> {
        let format = match self.format {
            Some(AuditFormat::OfResults(name)) => Some(name),
            // No form of a document: what is printed is not coloured.
            Some(AuditFormat::OfPrograms(_)) => Some(Name::Json),
            None => None,
        };
        Destination::new(format, &self.file, output, false)
    }

    /// The format of other programs that is named.
    pub(crate) fn of_programs(&self) -> Option<&'static monitoring::Format> {
        match self.format {
            Some(AuditFormat::OfPrograms(format)) => Some(format),
            Some(AuditFormat::OfResults(_)) | None => None,
        }
    }
}

impl RowsArguments {
    /// Where the result goes. Fails where the file could not be written, before anything is measured.
    pub(crate) fn destination(&self, output: &OutputArguments) -> Result<Destination> {
        let format = if self.csv { Some(Name::Csv) } else { self.format };
        Destination::new(format, &self.file, output, true)
    }
}

/// Where a result goes.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// Its form.
    pub(crate) form: Form,
    file: Option<PathBuf>,
    force: bool,
}

impl Destination {
    fn new(
        format: Option<Name>,
        file: &FileArguments,
        output: &OutputArguments,
        has_rows: bool,
    ) -> Result<Destination> {
        let path = file.output.as_deref();
        path.map_or(Ok(()), |it| new_file::check(it, file.force))?;
        let by_ending = || path.and_then(name_of).filter(|it| has_rows || *it != Name::Csv);
        let style = output::style(output.color);
        // Colours are for terminals.
        let style = Style { color: style.color && path.is_none(), ..style };
        let form = form(format.or_else(by_ending), output, style);
        Ok(Destination { form, file: file.output.clone(), force: file.force })
    }

    /// Standard output.
    pub(crate) fn of(format: FormatArguments, output: &OutputArguments) -> Destination {
        let form = form(format.format, output, output::style(output.color));
        Destination { form, file: None, force: false }
    }

    /// The format of a document; `None` for JSON.
    pub(crate) fn format(&self) -> Option<Format> {
        self.form.format()
    }

    /// Whether it is a file and not standard output.
    pub(crate) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Whether the result is data or a page on standard output, where nothing else may stand.
    pub(crate) fn owns_stdout(&self) -> bool {
        let is_text = matches!(self.form, Form::Document(Format::Text(_) | Format::Ascii(_)));
        self.file.is_none() && !is_text
    }

    /// Prints the result, or writes the user's file.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        match &self.file {
            None => output::print(text),
            Some(file) => new_file::write(file, &harmless_page(text), Readers::Usual, self.force),
        }
    }
}

/// A result that comes in pieces, which a terminal or a pipe gets one by one.
impl Destination {
    /// Prints them, or writes the user's file of all.
    pub(crate) fn print_pieces<E>(
        &self,
        mut pieces: impl Iterator<Item = Result<String, E>>,
    ) -> Result<()>
    where
        anyhow::Error: From<E>,
    {
        if self.file.is_some() {
            return self.print(&pieces.collect::<Result<String, E>>()?);
        }
        pieces.try_for_each(|piece| output::print(&piece?))
    }
}

/// The format that a file's ending names.
fn name_of(path: &Path) -> Option<Name> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "html" | "htm" => Some(Name::Html),
        "md" | "markdown" => Some(Name::Markdown),
        "json" => Some(Name::Json),
        "csv" => Some(Name::Csv),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_file_is_its_format() {
        let named = |it: &str| name_of(Path::new(it));
        assert_eq!(named("/tmp/db7.html"), Some(Name::Html));
        assert_eq!(named("CHG-4711.MD"), Some(Name::Markdown));
        assert_eq!(named("audit.json"), Some(Name::Json));
        assert_eq!((named("audit.txt"), named("html"), named(".json")), (None, None, None));
    }
}
