//! `fullclock ipmi power`: what the board draws against the controller's limit, and PROCHOT# at the same moments.

mod registers;
mod session;

use crate::cli::{Arguments, PowerArguments};
use crate::output::{self};
use anyhow::{Result, ensure};
use engine::clock::now;
use engine::interrupt::Interrupt;
use host::Live;
use host::ipmi::Patience;
use registers::Registers;
use report::ipmi::power::{json, text};
use session::Session;
use std::process::ExitCode;
use std::time::Duration;

/// No controller measures more often.
const SHORTEST: Duration = Duration::from_millis(100);

pub(super) fn run(arguments: &Arguments, options: &PowerArguments) -> Result<ExitCode> {
    ensure!(
        options.interval >= SHORTEST,
        "--interval {:?} is too short: no controller measures more often than every 100ms",
        options.interval
    );
    let live = Live::this_machine();
    let host = host::view(&live);
    let interrupt = Interrupt::listen()?;
    let controller = lab::ipmi::open(&host)?;
    let patience = Patience::begin(options.timeout, interrupt.flag());
    let registers = Registers::of(&host, &live);
    let mut session = Session::begin(controller, patience, registers, options.interval)?;
    let told = format!("asking for {:?}; Ctrl-C ends it earlier ...", options.duration);
    let ended = output::with_progress(&arguments.output, &told, || {
        sampled(&mut session, options, &interrupt)
    });
    let power = session.finish();
    if !power.samples.is_empty() {
        output::print(&if arguments.output.json {
            json(&power)?
        } else {
            text(&power, output::style(arguments.output.color))
        })?;
    }
    // What there is was shown; that it is not all is no success.
    ended.map(|()| ExitCode::SUCCESS)
}

/// Samples until the time is over, or the user wants to stop, or the controller does not answer any more.
fn sampled(
    session: &mut Session<'_>,
    options: &PowerArguments,
    interrupt: &Interrupt,
) -> Result<()> {
    let began = now();
    let n_samples = options.duration.as_nanos() / options.interval.as_nanos();
    for n in 1..=n_samples.max(1) {
        if !session.sample(now().saturating_duration_since(began))? {
            return Ok(());
        }
        let due = options.interval.saturating_mul(u32::try_from(n).unwrap_or(u32::MAX));
        let left = due.saturating_sub(now().saturating_duration_since(began));
        if n < n_samples && interrupt.wait(left) {
            return Ok(());
        }
    }
    Ok(())
}
