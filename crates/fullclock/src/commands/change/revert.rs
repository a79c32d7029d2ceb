//! `fullclock revert`: takes changes back.

use super::{code, refuse_other_host};
use crate::cli::Arguments;
use crate::commands::change::options::RevertArguments;
use crate::output;
use crate::tell::tell;
use anyhow::{Error, Result, anyhow};
use engine::change::revert::{Which, revert};
use engine::change::reverted::{Reverted, in_short};
use host::change::Force;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments, options: &RevertArguments) -> Result<ExitCode> {
    refuse_other_host(arguments)?;
    let which = match &options.change {
        Some(id) => Which::Id(id),
        None if options.all => Which::All,
        None => Which::Latest,
    };
    let force = if options.force { Force::Yes } else { Force::No };
    let (reverted, stopped) = revert(&options.state.state_dir, which, force, &mut tell(arguments))?;
    print(arguments, &reverted, stopped.as_ref())?;
    let is_refused = stopped.is_some()
        || reverted.not_recorded.is_some()
        || reverted.undone.iter().any(|it| !it.fate.is_clean());
    if let Some(error) = stopped {
        output::complain(&error);
    }
    Ok(code(is_refused))
}

/// `stopped`: why not everything was reverted that the options name.
fn print(arguments: &Arguments, reverted: &Reverted, stopped: Option<&Error>) -> Result<()> {
    let Reverted { undone, not_recorded } = reverted;
    let text = if arguments.output.json {
        let error = stopped.map(|it| format!("{it:#}"));
        report::change::undone_json(undone, not_recorded.as_deref(), error.as_deref())?
    } else {
        let style = output::style(arguments.output.color);
        format!(
            "{}{}\n",
            report::change::undone(undone, arguments.audit.verbose, style),
            in_short(undone)
        )
    };
    output::print(&text)?;
    if let Some(why) = not_recorded {
        output::complain(&anyhow!(
            "{why}; `fullclock status` goes on to show the change until `fullclock revert` can record it"
        ));
    }
    Ok(())
}
