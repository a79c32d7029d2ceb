//! `fullclock ipmi power`: what the board draws against the controller's limit, and PROCHOT# at the same moments.

use crate::cli::Arguments;
use crate::head::head;
use crate::output;
use crate::result::{Form, RowsArguments};
use anyhow::{Result, ensure};
use clap::Args;
use engine::interrupt::Interrupt;
use engine::ipmi::power::Session;
use facts::quantity;
use host::Live;
use report::ipmi::power::{csv, document, json};
use std::process::ExitCode;
use std::time::Duration;

/// For how long, and how often.
#[derive(Args, Debug)]
pub(crate) struct PowerArguments {
    /// For how long; Ctrl-C ends it earlier, with what there is
    #[arg(short, long, value_name = "TIME", default_value = "30s", value_parser = quantity::duration)]
    pub(crate) duration: Duration,
    /// The time between two samples, 100ms at least
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = quantity::duration)]
    pub(crate) interval: Duration,
    /// How long the controller may take over one answer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = quantity::duration)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) result: RowsArguments,
}

/// No controller measures more often.
const SHORTEST: Duration = Duration::from_millis(100);

pub(super) fn run(arguments: &Arguments, options: &PowerArguments) -> Result<ExitCode> {
    ensure!(
        options.interval >= SHORTEST,
        "--interval {:?} is too short: no controller measures more often than every 100ms",
        options.interval
    );
    let live = Live::this_machine();
    let destination = options.result.destination(&arguments.output)?;
    let host = host::view(&live);
    let interrupt = Interrupt::listen()?;
    let times = (options.interval, options.timeout);
    let mut session = Session::begin(&host, &live, times, &interrupt)?;
    let told = format!("asking for {:?}; Ctrl-C ends it earlier ...", options.duration);
    let ended = output::with_progress(&arguments.output, &told, || {
        session.run(options.duration, &interrupt)
    });
    let power = session.finish();
    if !power.samples.is_empty() {
        destination.print(&match destination.form {
            Form::Csv => csv(&power),
            Form::Json => json(&head(arguments), &power)?,
            Form::Document(format) => document(&power).render(format),
        })?;
    }
    // What there is was shown; that it is not all is no success.
    ended.map(|()| ExitCode::SUCCESS)
}
