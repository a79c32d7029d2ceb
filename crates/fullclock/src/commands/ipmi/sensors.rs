//! `fullclock ipmi sensors`: what the sensors read, and what happens to them.

use crate::cli::Arguments;
use crate::head::head;
use crate::output::{self, OutputArguments};
use crate::result::FormatArguments;
use anyhow::{Context, Result, bail};
use clap::Args;
use engine::interrupt::Interrupt;
use engine::ipmi::sensors::{Heard, News, Rounds, Session, Wanted};
use engine::results_folder::{folder_of, kept_in};
use facts::quantity;
use host::Live;
use host::ipmi::Patience;
use lab::ipmi::sensors::{Board, Round};
use report::document::Format;
use report::ipmi::sensors::{
    changed, csv, csv_heading, document, event, line, metrics, pretty, untold,
};
use report::json::Head;
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tempfile::Builder;

/// Which sensors' readings are shown, how often, and where.
#[derive(Args, Debug)]
pub(crate) struct SensorsArguments {
    /// Stay, and read them again and again
    #[arg(long)]
    pub(crate) watch: bool,
    /// The time between two rounds of --watch
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = quantity::duration, requires = "watch")]
    pub(crate) interval: Duration,
    /// End after that many rounds
    #[arg(short = 'n', long, value_name = "COUNT", requires = "watch", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Write the readings for Prometheus into FILE, whole in each round, as its node exporter's textfile collector wants it;
    /// - for the terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,
    /// Ask for the thresholds of each sensor, too; once, as long as its records stay the same
    #[arg(long)]
    pub(crate) thresholds: bool,
    /// Print the whole event log, too, not only what is new in it
    #[arg(long)]
    pub(crate) log: bool,
    /// The folder to keep the sensor records in [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cache: Option<PathBuf>,
    /// Fetch the sensor records, and keep none
    #[arg(long, conflicts_with = "cache")]
    pub(crate) no_cache: bool,
    /// How long the controller may take over one answer
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quantity::duration)]
    pub(crate) timeout: Duration,
    /// Print a line of CSV for each sensor of each round
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub(crate) csv: bool,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

pub(super) fn run(arguments: &Arguments, options: &SensorsArguments) -> Result<ExitCode> {
    let exposed = Exposed::begin(options.metrics.as_deref(), &arguments.output)?;
    let shape = Shape::chosen(&arguments.output, options)?;
    let mut shown = Shown::new(arguments, shape, options.watch, exposed);
    let host = host::view(&Live::this_machine());
    let interrupt = Interrupt::listen()?;
    let wanted = Wanted {
        folder: kept_in(options.no_cache, options.cache.as_deref())?,
        thresholds: options.thresholds,
        log: options.log,
        is_watch: options.watch,
        patience: Patience::begin(options.timeout, interrupt.flag()),
    };
    let learning = "learning which sensors there are ...";
    let begin = || Session::begin(&host, wanted);
    let mut session = match output::with_progress(&arguments.output, learning, begin) {
        Err(_) if interrupt.flag().load(Ordering::Relaxed) => return Ok(ExitCode::SUCCESS),
        begun => begun?,
    };
    let rounds = match options.watch {
        true => Rounds::Every { interval: options.interval, count: options.count },
        false => Rounds::Once,
    };
    session.run(&rounds, &interrupt, &mut |heard| match heard {
        Heard::Round(board, round) => shown.round(board, round),
        Heard::News(news) => shown.news(&news),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// In which form readings are printed.
#[derive(Clone, Copy)]
enum Shape {
    Document(Format),
    Json,
    Csv,
}

impl Shape {
    /// Error: what follows a document is lines, which only text can have.
    fn chosen(output: &OutputArguments, options: &SensorsArguments) -> Result<Shape> {
        match options.format.chosen(output) {
            _ if options.csv => Ok(Shape::Csv),
            None => Ok(Shape::Json),
            Some(Format::Markdown | Format::Html) if options.watch => bail!(
                "--format markdown and html are for one round: leave out --watch, or take text, --json or --csv"
            ),
            Some(format) => Ok(Shape::Document(format)),
        }
    }
}

/// Prints what is found, each time what has changed.
struct Shown<'a> {
    output: &'a OutputArguments,
    head: Head,
    shape: Shape,
    /// One round follows another: each is a line.
    is_watch: bool,
    exposed: Exposed,
    before: Option<Round>,
}

impl Shown<'_> {
    fn new(arguments: &Arguments, shape: Shape, is_watch: bool, exposed: Exposed) -> Shown<'_> {
        let (output, head) = (&arguments.output, head(arguments));
        Shown { output, head, shape, is_watch, exposed, before: None }
    }

    fn round(&mut self, board: Board<'_>, round: Round) -> Result<()> {
        self.exposed.write(&metrics(&round))?;
        if self.exposed.is_terminal() {
            return Ok(());
        }
        let text = match (self.shape, &self.before) {
            (Shape::Json, _) if self.is_watch => line(&self.head, board, &round)?,
            (Shape::Json, _) => pretty(&self.head, board, &round)?,
            (Shape::Csv, None) => csv_heading() + &csv(&round),
            (Shape::Csv, Some(_)) => csv(&round),
            (Shape::Document(format), None) => document(board, &round).render(format),
            (Shape::Document(_), Some(before)) => self.news_of(before, &round),
        };
        if let (Shape::Csv, Err(why)) = (self.shape, &round.found) {
            output::note(self.output, why);
        }
        self.before = Some(round);
        output::print(&text)
    }

    /// What has changed since the round before, in lines.
    fn news_of(&self, before: &Round, round: &Round) -> String {
        let style = output::style(self.output.color);
        let mut text = changed(Some(before), round, style);
        // The others were told when they came.
        for it in round.events.iter().filter(|it| !it.is_sent) {
            text += &event(round.at_ns, it, style);
        }
        text + &untold(round, style)
    }

    /// What came by itself between two rounds. Data have it with the next round.
    fn news(&mut self, news: &News) -> Result<()> {
        if !matches!(self.shape, Shape::Document(_)) || self.exposed.is_terminal() {
            return Ok(());
        }
        let style = output::style(self.output.color);
        output::print(&event(news.at_ns, &news.event, style))
    }
}

/// Where the readings are written for Prometheus.
enum Exposed {
    Nowhere,
    Terminal,
    File(PathBuf),
}

impl Exposed {
    /// Errors: two formats are wanted on one output, or the file has no folder.
    fn begin(wanted: Option<&Path>, output: &OutputArguments) -> Result<Exposed> {
        match wanted {
            None => Ok(Exposed::Nowhere),
            Some(path) if path == Path::new("-") && output.json => {
                bail!(
                    "--metrics - and --json are two formats on one output: leave one out, or name a file"
                )
            }
            Some(path) if path == Path::new("-") => Ok(Exposed::Terminal),
            Some(path) if path.is_dir() => bail!(
                "{} is a folder: name a file in it, such as {}",
                path.display(),
                path.join("bmc.prom").display()
            ),
            Some(path) if !folder_of(path).is_dir() => {
                bail!(
                    "{}: there is no such folder to write --metrics to",
                    folder_of(path).display()
                )
            }
            Some(path) => Ok(Exposed::File(path.to_owned())),
        }
    }

    /// Whether it takes standard output.
    fn is_terminal(&self) -> bool {
        matches!(self, Exposed::Terminal)
    }

    /// Writes a round's. Whoever reads a file meets either all of it or all of the one before.
    fn write(&self, text: &str) -> Result<()> {
        match self {
            Exposed::Nowhere => Ok(()),
            Exposed::Terminal => output::print(text),
            Exposed::File(path) => {
                replace(path, text).with_context(|| format!("cannot write {}", path.display()))
            }
        }
    }
}

fn replace(path: &Path, text: &str) -> Result<()> {
    // The collector takes what ends in .prom, which this does not, and runs as another user.
    let mut file =
        Builder::new().prefix(".fullclock-").suffix(".new").tempfile_in(folder_of(path))?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(Permissions::from_mode(0o644))?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test looks at its own files")]

    use super::*;
    use crate::commands::Invocation;
    use clap::Parser as _;

    fn begun(words: &[&str], path: &Path) -> Result<Exposed> {
        let words = [&["fullclock"], words, &["ipmi", "sensors"]].concat();
        let invocation = Invocation::try_parse_from(words).unwrap();
        Exposed::begin(Some(path), &invocation.arguments.output)
    }

    fn why(words: &[&str], path: &Path) -> String {
        begun(words, path).err().map_or_else(|| "none".to_owned(), |it| it.to_string())
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_others_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bmc.prom");
        let exposed = begun(&[], &path).unwrap();
        for text in ["a 1\n", "a 2\n"] {
            exposed.write(text).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_said_before_anything_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        assert!(why(&[], folder.path()).contains("name a file in it, such as"));
        assert!(why(&[], &folder.path().join("a/b")).contains("there is no such folder"));
        assert!(why(&["--json"], Path::new("-")).contains("two formats on one output"));
        assert_eq!(why(&[], Path::new("-")), "none");
        assert_eq!(why(&["--json"], &folder.path().join("b")), "none");
    }
}
