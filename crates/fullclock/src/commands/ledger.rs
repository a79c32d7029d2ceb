//! `fullclock ledger`: where the cycles of this machine went.

use crate::cli::{Arguments, cpu_list, trace};
use crate::head::{head, head_of_file};
use crate::output;
use crate::result::{Destination, Form, RowsArguments};
use crate::tell::tell;
use anyhow::{Context, Result, anyhow};
use clap::Args;
use engine::interrupt::Interrupt;
use engine::ledger::{self, Period, Point, Task, point};
use engine::measure::choice::{Trace, within};
use engine::measure::command::exit_code;
use facts::{CpuSet, HostView, quantity};
use host::Live;
use lab::server::ServerSelection;
use report::ledger::{csv, document, json};
use report::spans::{self, Course};
use rules::ledger::Ledger;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// What is accounted for, and how.
#[derive(Args, Debug)]
pub(crate) struct LedgerArguments {
    /// How long to measure: 500ms, 5s, 2m; asks a COMMAND that still runs then to end [default: 5s, or until it ends]
    #[arg(short, long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) duration: Option<Duration>,
    /// The CPUs to account for, a list like 0-3,8 [default: all that are online]
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// Count the cycles of this process as useful; may be given several times
    #[arg(short, long = "pid", value_name = "PID", conflicts_with = "spin")]
    pub(crate) pids: Vec<u32>,
    /// Count the cycles of this server as useful, with its connections that begin later: a product such as postgresql, a connection
    /// string, the number of its main process, or a folder in /sys/fs/cgroup
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["spin", "from"])]
    pub(crate) server: Option<String>,
    /// Occupy the CPUs and ask how much of each one task could get; only out of production
    #[arg(long, conflicts_with = "command")]
    pub(crate) spin: bool,
    /// Whether to trace the scheduler and interrupts: auto does so where it is allowed and costs little; always fails where it cannot
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = trace())]
    pub(crate) trace: Trace,
    /// A recording made by `fullclock watch --record`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pids", "spin", "duration", "command"])]
    pub(crate) from: Option<PathBuf>,
    /// Of a recording, the samples from then on: 90s or 5m after its start, 12:14:05 or 2026-11-20T12:14:05Z in UTC
    #[arg(long, value_name = "WHEN", requires = "from", value_parser = point)]
    pub(crate) since: Option<Point>,
    /// Of a recording, the samples up to then
    #[arg(long, value_name = "WHEN", requires = "from", value_parser = point)]
    pub(crate) until: Option<Point>,
    /// Of a recording, a row for each piece of this length: the client's number, who ran, who waited
    #[arg(long, value_name = "TIME", requires = "from", value_parser = quantity::duration)]
    pub(crate) by: Option<Duration>,
    #[command(flatten)]
    pub(crate) result: RowsArguments,
    /// A command to run and measure
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock ledger                        five seconds of the whole machine
  fullclock ledger -d 30s --pid 4711      one process; its children are others
  fullclock ledger -d 30s --server postgresql   a server, by role
  fullclock ledger --server postgresql -- pgbench -T 60   client and server
  fullclock ledger -- pgbench -T 60       a command and its children
  fullclock ledger --cpus 4-7 --verbose   every part, source and uncertainty
  fullclock ledger --cpus 4-7 --spin      what one task could get; occupies them
  fullclock ledger --from friday.tape     of a recording
  fullclock ledger --from friday.tape --since 12:14 --until 12:20
  fullclock ledger --from friday.tape --by 10s   who ran and who waited";

pub(super) fn run(arguments: &Arguments, options: &LedgerArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    if let Some(file) = &options.from {
        return recorded(arguments, options, &destination, file);
    }
    let host = host::view(&Live::this_machine());
    let online = host.topology.online.as_ref().map_err(Clone::clone)?;
    let task = Task {
        cpus: within(options.cpus.as_ref(), online)?,
        trace: options.trace,
        pids: options.pids.clone(),
        server: options.server.as_deref().map(server).transpose()?,
        command: options.command.clone(),
        beside_results: destination.owns_stdout(),
        duration: options.duration,
    };
    let interrupt = Interrupt::listen()?;
    let gauge = output::gauge(&arguments.output, arguments.audit.verbose);
    let closed = if options.spin {
        ledger::spun(&host, &task, &interrupt, &gauge)?
    } else {
        ledger::measure(&host, &task, &interrupt, &gauge)?
    };
    print(arguments, &destination, None, &host, &closed.ledger)?;
    Ok(closed.status.map_or(ExitCode::SUCCESS, exit_code))
}

/// The server that `--server` names. What cannot be read may hold a password, and is not repeated.
fn server(text: &str) -> Result<ServerSelection> {
    text.parse().map_err(|why| anyhow!("--server: {why}"))
}

fn recorded(
    arguments: &Arguments,
    options: &LedgerArguments,
    destination: &Destination,
    file: &Path,
) -> Result<ExitCode> {
    let period = Period::new(options.since.as_ref(), options.until.as_ref());
    if let Some(every) = options.by {
        let cpus = options.cpus.as_ref();
        let found = ledger::spans(file, cpus, period, every, &mut tell(arguments))?;
        let name = file.display().to_string();
        let course = Course {
            name: &name,
            host: &found.host,
            spans: &found.spans,
            metric: found.metric.as_ref(),
            has_command: found.has_command,
            notes: &found.notes,
        };
        destination.print(&match destination.form {
            Form::Csv => spans::csv::csv(&course),
            Form::Json => spans::json::json(&head_of_file(arguments, file), &course)
                .context("cannot write JSON")?,
            Form::Document(format) => spans::document(&course).render(format),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut found = ledger::recorded(file, options.cpus.as_ref(), period, &mut tell(arguments))?;
    let server = found.server.iter().map(|it| match it {
        Ok(seen) => spans::server_sentence(seen),
        Err(missing) => missing.to_string(),
    });
    found.ledger.notes.extend(server);
    print(arguments, destination, Some(file), &found.host, &found.ledger)?;
    Ok(ExitCode::SUCCESS)
}

fn print(
    arguments: &Arguments,
    destination: &Destination,
    file: Option<&Path>,
    host: &HostView,
    ledger: &Ledger,
) -> Result<()> {
    let text = match destination.form {
        Form::Csv => csv::csv(ledger),
        Form::Json => {
            let head = file.map_or_else(|| head(arguments), |it| head_of_file(arguments, it));
            json::ledger(&head, host, ledger).context("cannot write JSON")?
        }
        Form::Document(format) => {
            let name = file.map_or("this machine".to_owned(), |it| it.display().to_string());
            document::document(&name, host, ledger, arguments.audit.verbose).render(format)
        }
    };
    destination.print(&text)
}
