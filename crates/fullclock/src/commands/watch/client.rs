//! `--client`, `--metric` and `--mark`: what is listened to while the machine is watched.

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use engine::measure::hearing::{Ear, Hearing, Wanted};
use facts::client::ClientMetric;
use lab::client::{CLIENTS, Client, Expression, Mark, find};
use lab::trial::Better;
use std::path::{Path, PathBuf};

/// What is listened to.
#[derive(Args, Debug)]
pub(crate) struct ClientArguments {
    /// Keep the numbers that the command prints while it runs, as this load generator prints them
    ///
    /// Each interval shows the mean of the numbers that were printed in it, in the column "client"; --record keeps each number with
    /// its time. Let the client report as often as the interval: a number is of the time before it was printed. The command's output
    /// stays as it is. It becomes a pipe, in which many programs collect their output before they write it: for one that does, write
    /// `stdbuf -oL` before its name. pgbench, sysbench and fio do not need it.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["metric", "replay"], value_parser = client())]
    client: Option<&'static Client>,
    /// The same by a regular expression with one group around the number: 'rate=([0-9.]+)'
    ///
    /// It is matched line by line; a carriage return ends a line, too. Of several matches in a line the last one counts. Numbers may
    /// be written as 62,687, 31.5k or 1.2e6.
    #[arg(long, value_name = "REGEX", conflicts_with = "replay")]
    metric: Option<String>,
    /// Keep the lines that match as marks, which are notes of their interval: 'CREATING|checkpoint'
    ///
    /// Passwords that are spelled as such are masked, and 120 characters are kept.
    #[arg(long, value_name = "REGEX", conflicts_with = "replay")]
    mark: Option<String>,
    /// Take the lines from FILE instead, from its present end on: a log, a FIFO, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    metric_file: Option<PathBuf>,
}

/// The clients, each with what its number is and what it needs.
fn client() -> impl TypedValueParser<Value = &'static Client> {
    let value = |it: &Client| {
        let direction = match it.better {
            Better::Higher => "more is better",
            Better::Lower => "less is better",
        };
        let Client { id, title, unit, needs, .. } = it;
        PossibleValue::new(*id).help(format!("{title} ({unit}, {direction}); with {needs}"))
    };
    let known = PossibleValuesParser::new(CLIENTS.iter().map(value));
    known.try_map(|it| find(&it).ok_or_else(|| format!("there is no client {it:?}")))
}

/// What listens.
pub(super) struct Listening {
    /// What was heard.
    pub(super) ear: Ear,
    /// Listens to the file; `None` where the command is listened to.
    file: Option<Hearing>,
}

impl Listening {
    /// The ear for the outputs of the command, where those are listened to.
    pub(super) fn of_command(&self) -> Option<&Ear> {
        self.file.is_none().then_some(&self.ear)
    }

    /// Reads what is in the file by now.
    pub(super) fn finish(&mut self) {
        self.file.iter_mut().for_each(Hearing::finish);
    }
}

impl ClientArguments {
    /// Begins to listen; `None` where nothing is requested. `has_command` and `is_screen` say what the options are about.
    ///
    /// Errors: they make no sense together, and what to do; an expression is none; the file cannot be read.
    pub(super) fn listen(&self, has_command: bool, is_screen: bool) -> Result<Option<Listening>> {
        let Some(wanted) = self.wanted()? else {
            if self.metric_file.is_some() {
                bail!("--metric-file needs what to look for: --client, --metric or --mark");
            }
            return Ok(None);
        };
        let ear = Ear::new(wanted);
        let file = match &self.metric_file {
            Some(path) if path == Path::new("-") => {
                if has_command || is_screen {
                    let taken = if has_command { "the command" } else { "the screen" };
                    bail!(
                        "--metric-file -: {taken} reads standard input; give a file or a FIFO \
                         instead, or print lines with --csv or --json and without a command"
                    );
                }
                Some(Hearing::of_input(&ear)?)
            }
            Some(path) => Some(Hearing::of_file(path, &ear)?),
            None if has_command => None,
            None => bail!(
                "there is nothing to listen to: add a command (`-- pgbench -P 1 -T 60`) or \
                 --metric-file FILE"
            ),
        };
        Ok(Some(Listening { ear, file }))
    }

    fn wanted(&self) -> Result<Option<Wanted>> {
        let metric = match (self.client, &self.metric) {
            (Some(client), _) => Some((named(client), Expression::of(client))),
            (None, Some(text)) => Some((unnamed(), Expression::parse(text))),
            (None, None) => None,
        };
        let metric = match metric {
            Some((metric, Ok(expression))) => Some((metric, expression)),
            Some((_, Err(why))) => {
                bail!("--metric {:?}: {why}", self.metric.as_deref().unwrap_or_default())
            }
            None => None,
        };
        let mark = match self.mark.as_deref().map(|it| (it, Mark::parse(it))) {
            Some((_, Ok(mark))) => Some(mark),
            Some((text, Err(why))) => bail!("--mark {text:?}: {why}"),
            None => None,
        };
        let is_nothing = metric.is_none() && mark.is_none();
        Ok((!is_nothing).then_some(Wanted { metric, mark }))
    }
}

fn named(client: &Client) -> ClientMetric {
    ClientMetric { client: client.id.to_owned(), unit: client.unit.to_owned() }
}

fn unnamed() -> ClientMetric {
    ClientMetric { client: String::new(), unit: String::new() }
}
