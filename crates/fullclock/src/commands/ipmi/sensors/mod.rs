//! `fullclock ipmi sensors`: what the sensors read, and what happens to them.

mod exposed;
mod shown;

use crate::cli::Arguments;
use crate::commands::ipmi::options::SensorsArguments;
use crate::output;
use anyhow::Result;
use engine::interrupt::Interrupt;
use engine::ipmi::sensors::{Heard, Rounds, Session, Wanted};
use engine::results_folder::kept_in;
use exposed::Exposed;
use host::Live;
use host::ipmi::Patience;
use shown::Shown;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

pub(super) fn run(arguments: &Arguments, options: &SensorsArguments) -> Result<ExitCode> {
    let exposed = Exposed::begin(options.metrics.as_deref(), &arguments.output)?;
    let mut shown = Shown::new(&arguments.output, options.watch, exposed);
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
