//! Standard output and standard error: results on one, talk on the other.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use facts::secrets;
use report::Style;
use report::harmless::{harmless, harmless_page};
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc;
use std::time::Duration;

/// Behind the options of any one command.
const LAST: usize = 900;

/// How results are printed.
#[derive(Args, Debug)]
pub(crate) struct OutputArguments {
    /// Print JSON (schemas/ in the source tree describe it)
    #[arg(long, global = true, display_order = LAST)]
    pub(crate) json: bool,
    /// Print results only: no progress and no notes
    #[arg(short, long, global = true, display_order = LAST + 1)]
    pub(crate) quiet: bool,
    /// When to use colour; NO_COLOR=1 has the same effect as never
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, display_order = LAST + 2)]
    pub(crate) color: Color,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// The style of standard output: colour only for a terminal that has not been told otherwise (<https://no-color.org>).
pub(crate) fn style(color: Color) -> Style {
    let refused = variable("NO_COLOR").is_some() || variable("TERM").is_some_and(|it| it == "dumb");
    let color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stdout().is_terminal() && !refused,
    };
    Style { color, width: width() }
}

/// The words that this program was started with, its name first, for results and journals: without passwords.
pub(crate) fn command_line() -> Vec<String> {
    let words: Vec<String> =
        std::env::args_os().map(|it| it.to_string_lossy().into_owned()).collect();
    secrets::masked_words(&words)
}

/// A variable of the environment that is set to something.
#[expect(clippy::disallowed_methods, reason = "the binary is where the environment is read")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|it| !it.is_empty())
}

/// Whether the locale's characters are UTF-8: the first variable that is set decides (locale(7)).
pub(crate) fn speaks_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    locale.is_some_and(|it| {
        let it = it.to_ascii_lowercase();
        it.ends_with("utf-8") || it.ends_with("utf8")
    })
}

/// Lines longer than a page of a book are hard to read, however wide the terminal.
const WIDEST: usize = 110;
const NARROWEST: usize = 60;
/// What a pipe or a file gets.
const PLAIN: usize = 100;

/// Columns that standard output has, within what can be read.
pub(crate) fn width() -> usize {
    let columns =
        terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    columns.unwrap_or(PLAIN).clamp(NARROWEST, WIDEST)
}

/// Lines that standard output has, where it is a terminal.
pub(crate) fn lines() -> Option<usize> {
    let size = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(size.1.0))
}

/// Prints a result. What no reader would see, or a terminal would obey, is escaped here too, whatever made the text; in
/// JSON the escapes mean the same characters.
pub(crate) fn print(text: &str) -> Result<()> {
    print_verbatim(&harmless_page(text))
}

/// Prints a file of ours to the byte.
pub(crate) fn print_verbatim(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let printed = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(NobodyReads.into()),
        printed => printed.context("cannot write to standard output"),
    }
}

/// The reader of standard output has seen enough (`| head`): no other pipe that breaks is this.
#[derive(Debug)]
pub(crate) struct NobodyReads;

impl Display for NobodyReads {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("standard output is closed")
    }
}

impl Error for NobodyReads {}

/// Says on standard error what went wrong, cause by cause.
pub(crate) fn complain(error: &anyhow::Error) {
    talk(&format!("{error:#}"));
}

/// Says something on standard error that is no result.
pub(crate) fn note(arguments: &OutputArguments, text: &str) {
    if !arguments.quiet {
        talk(text);
    }
}

/// What users typed may be repeated in it, and a password with that.
fn talk(text: &str) {
    say(&format!("fullclock: {}\n", harmless(&secrets::masked(text))));
}

/// Writes a text to standard error as it is.
#[expect(
    clippy::let_underscore_must_use,
    reason = "when standard error is closed too, only the exit code is left to tell"
)]
pub(crate) fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Does `work`; if it takes more than a second and somebody watches, says what is being done.
pub(crate) fn with_progress<T>(
    arguments: &OutputArguments,
    what: &str,
    work: impl FnOnce() -> T,
) -> T {
    if arguments.quiet || !io::stderr().is_terminal() {
        return work();
    }
    let (done, waiting) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let wait = move || {
            if waiting.recv_timeout(Duration::from_secs(1)) == Err(mpsc::RecvTimeoutError::Timeout)
            {
                note(arguments, what);
            }
        };
        // Where no thread can be had, the work goes on without a word.
        std::thread::Builder::new().name("progress".to_owned()).spawn_scoped(scope, wait).ok();
        let result = work();
        drop(done);
        result
    })
}

/// Shows how far measurements are, each from its beginning to its end.
pub(crate) fn gauge(
    arguments: &OutputArguments,
    verbose: bool,
) -> impl Fn(Option<Duration>) -> Box<dyn FnMut(Duration)> {
    move |length| {
        let mut progress = Progress::new(arguments, verbose, length);
        Box::new(move |elapsed| progress.show(elapsed))
    }
}

/// A line on standard error that says how far a measurement is, for whoever watches.
pub(crate) struct Progress {
    /// How long it takes; `None` where that is not known.
    length: Option<Duration>,
    is_wanted: bool,
    is_shown: bool,
}

impl Progress {
    /// Of something that begins now and takes `length`, or nobody knows how long; nothing is shown of what is over in a
    /// second. Who does not watch a terminal is told once, where `verbose` asks for it.
    pub(crate) fn new(
        arguments: &OutputArguments,
        verbose: bool,
        length: Option<Duration>,
    ) -> Progress {
        let is_long = length.is_none_or(|it| it > SOON);
        let is_terminal = io::stderr().is_terminal();
        if is_long && verbose && !is_terminal {
            let until = length
                .map_or("until it ends".to_owned(), |it| format!("for {} s", it.as_secs_f64()));
            note(arguments, &format!("measuring {until}, SIGINT ends it"));
        }
        let is_wanted = is_long && is_terminal && !arguments.quiet;
        Progress { length, is_wanted, is_shown: false }
    }

    /// Says that `elapsed` of it is over.
    pub(crate) fn show(&mut self, elapsed: Duration) {
        let is_early = self.length.is_none() && elapsed < SOON;
        if self.is_wanted && !is_early {
            let of = self.length.map_or(String::new(), |it| format!("of {:.1} ", it.as_secs_f64()));
            let elapsed = elapsed.as_secs_f64();
            // Behind it the cursor goes back, so that what a command prints begins a line all the same.
            rewrite_line(&format!("fullclock: measured {elapsed:.1} {of}s, Ctrl-C ends it\r"));
            self.is_shown = true;
        }
    }
}

/// What is over by then needs no progress.
const SOON: Duration = Duration::from_secs(1);

#[expect(
    clippy::let_underscore_must_use,
    reason = "progress that nobody can see is nothing to fail for"
)]
fn rewrite_line(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Leaves the line empty for what comes next.
impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            rewrite_line("\x1b[K");
        }
    }
}
