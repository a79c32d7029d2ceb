//! In which form a result is shown, and where it goes.

use crate::new_file::{self, Readers};
use crate::output::{self, OutputArguments};
use anyhow::{Result, bail};
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
    /// Write the result to FILE, in the format that its ending names: .txt, .html, .md, .json, .csv where --format has csv, and of an
    /// audit .xml (JUnit) and .sarif. Without an ending it is text; any name will do with --format
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

/// Which format the ending of a file names. Those of the last one need rows.
const ENDINGS: [(&str, Name); 7] = [
    ("txt", Name::Text),
    ("html", Name::Html),
    ("md", Name::Markdown),
    ("json", Name::Json),
    ("htm", Name::Html),
    ("markdown", Name::Markdown),
    ("csv", Name::Csv),
];

/// The endings of a result without rows.
const ENDINGS_WITHOUT_ROWS: &[(&str, Name)] = ENDINGS.split_at(6).0;

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
        Destination::new(self.format.format, &self.file, output, ENDINGS_WITHOUT_ROWS)
    }

    /// Where a text goes that is in no format of results, such as a script: a file of any name.
    pub(crate) fn destination_of_text(&self, output: &OutputArguments) -> Result<Destination> {
        Destination::new(Some(Name::Text), &self.file, output, ENDINGS_WITHOUT_ROWS)
    }
}

impl AuditResultArguments {
    /// Where the result goes, and the format of other programs that it is in, if it is. Fails where the file could not be written,
    /// before anything is read.
    pub(crate) fn destination(
        &self,
        output: &OutputArguments,
    ) -> Result<(Destination, Option<&'static monitoring::Format>)> {
        let (format, of_programs) = match self.chosen(output)? {
            Some(AuditFormat::OfResults(name)) => (Some(name), None),
            // No form of a document: what is printed is not coloured.
            Some(AuditFormat::OfPrograms(format)) => (Some(Name::Json), Some(format)),
            None => (None, None),
        };
        let destination = Destination::new(format, &self.file, output, ENDINGS_WITHOUT_ROWS)?;
        Ok((destination, of_programs))
    }

    /// What a monitoring system expects of the audit where it starts it.
    pub(crate) fn plugin(&self) -> Option<&'static monitoring::Plugin> {
        match self.format {
            Some(AuditFormat::OfPrograms(format)) => format.plugin.as_ref(),
            Some(AuditFormat::OfResults(_)) | None => None,
        }
    }

    /// The format that is named, or else the one that the file's ending names.
    fn chosen(&self, output: &OutputArguments) -> Result<Option<AuditFormat>> {
        let file = self.file.output.as_deref();
        let (None, false, Some(path)) = (self.format, output.json, file) else {
            return Ok(self.format);
        };
        let of_results =
            ENDINGS_WITHOUT_ROWS.iter().map(|(it, name)| (*it, AuditFormat::OfResults(*name)));
        let of_programs =
            FORMATS.iter().filter_map(|it| Some((it.ending?, AuditFormat::OfPrograms(it))));
        let endings: Vec<(&str, AuditFormat)> = of_results.chain(of_programs).collect();
        by_ending(path, &endings)
    }
}

impl RowsArguments {
    /// Where the result goes. Fails where the file could not be written, before anything is measured.
    pub(crate) fn destination(&self, output: &OutputArguments) -> Result<Destination> {
        let format = if self.csv { Some(Name::Csv) } else { self.format };
        Destination::new(format, &self.file, output, &ENDINGS)
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
        endings: &[(&str, Name)],
    ) -> Result<Destination> {
        let path = file.output.as_deref();
        path.map_or(Ok(()), |it| new_file::check(it, file.force))?;
        let format = match (format, path) {
            (None, Some(path)) if !output.json => by_ending(path, endings)?,
            _ => format,
        };
        let style = output::style(output.color);
        // Colours are for terminals.
        let style = Style { color: style.color && path.is_none(), ..style };
        let form = form(format, output, style);
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

/// What a file's ending names; `None` where it has none.
///
/// Errors: it names nothing that there is. A file that is called as if it were something else would mislead whoever opens it.
fn by_ending<T: Copy>(path: &Path, endings: &[(&str, T)]) -> Result<Option<T>> {
    /// Other spellings are taken, and not listed.
    const UNLISTED: [&str; 2] = ["htm", "markdown"];
    let Some(ending) = path.extension() else { return Ok(None) };
    let ending = ending.to_string_lossy().to_ascii_lowercase();
    if let Some((_, found)) = endings.iter().find(|it| it.0 == ending) {
        return Ok(Some(*found));
    }
    let listed = endings.iter().filter(|it| !UNLISTED.contains(&it.0));
    let listed: Vec<String> = listed.map(|it| format!(".{}", it.0)).collect();
    bail!(
        "{}: .{ending} is no format of this command; name a file that ends in one of {}, or choose with --format",
        path.display(),
        listed.join(", ")
    )
}

/// For a command that writes only `what`: refuses a file whose ending is that of another format.
pub(crate) fn refuse_other_ending(path: &Path, what: &str, own: &[&str]) -> Result<()> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let of_programs = FORMATS.iter().filter_map(|it| it.ending);
    let mut known = ENDINGS.iter().map(|it| it.0).chain(of_programs).chain(["pdf"]);
    if known.any(|it| it == ending) && !own.contains(&&*ending) {
        let own: Vec<String> = own.iter().map(|it| format!(".{it}")).collect();
        let (path, own) = (path.display(), own.join(" or "));
        bail!("{path}: this command writes {what}; name a file that ends in {own}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_file_is_its_format_and_one_that_names_none_is_refused() {
        let named = |it: &str| by_ending(Path::new(it), &ENDINGS).unwrap();
        assert_eq!(named("/tmp/db7.html"), Some(Name::Html));
        assert_eq!(named("CHG-4711.MD"), Some(Name::Markdown));
        assert_eq!((named("audit.json"), named("audit.csv")), (Some(Name::Json), Some(Name::Csv)));
        assert_eq!(
            (named("audit.txt"), named("html"), named(".json")),
            (Some(Name::Text), None, None)
        );
        for (path, ending) in [("x.pdf", "pdf"), ("x.csv", "csv"), ("/a.b/db7.example", "example")]
        {
            let error = by_ending(Path::new(path), ENDINGS_WITHOUT_ROWS).unwrap_err().to_string();
            let expected = format!(
                "{path}: .{ending} is no format of this command; name a file that ends in one of .txt, .html, .md, .json, or choose with --format"
            );
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn a_command_of_one_format_refuses_the_endings_of_others() {
        let refused = |path: &str, own: &[&str]| {
            let refused = refuse_other_ending(Path::new(path), "a page", own);
            refused.map_err(|error| error.to_string()).err()
        };
        for path in ["page.HTML", "page", "CHG-4711.2"] {
            assert_eq!(refused(path, &["html", "htm"]), None);
        }
        let error = refused("page.json", &["html", "htm"]).unwrap();
        assert_eq!(
            error,
            "page.json: this command writes a page; name a file that ends in .html or .htm"
        );
        assert!(
            refused("db7.sarif", &["host"]).is_some() && refused("db7.txt", &["host"]).is_some()
        );
    }
}
