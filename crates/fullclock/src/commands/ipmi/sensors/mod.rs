//! `fullclock ipmi sensors`: what the sensors read, and what happens to them.

mod events;
mod exposed;
mod session;
mod shown;

use crate::cli::{Arguments, SensorsArguments};
use crate::output;
use anyhow::Result;
use engine::clock::now;
use engine::interrupt::Interrupt;
use engine::results_folder::kept_in;
use exposed::Exposed;
use host::Live;
use host::ipmi::Patience;
use session::{Session, Wanted};
use shown::Shown;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

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
    let is_over = || interrupt.flag().load(Ordering::Relaxed);
    let learning = "learning which sensors there are ...";
    let begin = || Session::begin(&host, wanted);
    let begun = output::with_progress(&arguments.output, learning, begin);
    let mut session = match begun {
        Err(_) if is_over() => return Ok(ExitCode::SUCCESS),
        begun => begun?,
    };
    for n in 1.. {
        let began = now();
        let round = session.round();
        if is_over() {
            break;
        }
        // Who stays outlives a controller that hangs or starts anew, and a driver that is loaded anew.
        if let Err(why) = &round.found
            && !options.watch
        {
            anyhow::bail!("{why}");
        }
        shown.round(session.board(), round)?;
        if !options.watch || Some(n) == options.count {
            break;
        }
        let due = (began + options.interval).max(now() + REST);
        while !is_over() && now() < due {
            if let Some(news) = session.wait(due.saturating_duration_since(now()).min(LOOK)) {
                shown.news(&news)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Between two rounds, however short their interval is: events are heard then, and others may ask, too.
const REST: Duration = Duration::from_millis(50);

/// How often the wish to stop is looked at.
const LOOK: Duration = Duration::from_millis(200);
