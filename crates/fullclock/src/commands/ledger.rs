//! `fullclock ledger`: where the cycles of this machine went.

use crate::cli::{Arguments, LedgerArguments};
use crate::output;
use crate::tell::tell;
use anyhow::{Context, Result};
use engine::interrupt::Interrupt;
use engine::ledger::{self, Period, Task};
use engine::measure::choice::within;
use engine::measure::command::exit_code;
use facts::HostView;
use host::Live;
use rules::ledger::Ledger;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &LedgerArguments) -> Result<ExitCode> {
    if let Some(file) = &options.from {
        return recorded(arguments, options, file);
    }
    let host = host::view(&Live::this_machine());
    let online = host.topology.online.as_ref().map_err(Clone::clone)?;
    let task = Task {
        cpus: within(options.cpus.as_ref(), online)?,
        trace: options.trace,
        pids: options.pids.clone(),
        command: options.command.clone(),
        beside_results: arguments.output.json,
        duration: options.duration,
    };
    let interrupt = Interrupt::listen()?;
    let gauge = output::gauge(&arguments.output, arguments.audit.verbose);
    let closed = if options.spin {
        ledger::spun(&host, &task, &interrupt, &gauge)
    } else {
        ledger::measure(&host, &task, &interrupt, &gauge)?
    };
    print(arguments, "this machine", &host, &closed.ledger)?;
    Ok(closed.status.map_or(ExitCode::SUCCESS, exit_code))
}

fn recorded(arguments: &Arguments, options: &LedgerArguments, file: &Path) -> Result<ExitCode> {
    let period = Period::new(options.since.as_ref(), options.until.as_ref());
    let found = ledger::recorded(file, options.cpus.as_ref(), period, &mut tell(arguments))?;
    print(arguments, &file.display().to_string(), &found.host, &found.ledger)?;
    Ok(ExitCode::SUCCESS)
}

fn print(arguments: &Arguments, name: &str, host: &HostView, ledger: &Ledger) -> Result<()> {
    let text = if arguments.output.json {
        report::ledger::json::ledger(host, ledger).context("cannot write JSON")?
    } else {
        let style = output::style(arguments.output.color);
        report::ledger::text::ledger(name, host, ledger, arguments.audit.verbose, style)
    };
    output::print(&text)
}
