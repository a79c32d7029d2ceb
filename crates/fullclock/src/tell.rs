//! Shows what happens while the engine works: results on standard output, all else on standard error.

use crate::cli::Arguments;
use crate::head::head;
use crate::output;
use anyhow::Result;
use engine::clock::since_1970_ns;
use engine::{Event, Progress, StudyPlan};
use facts::quantity::roughly;
use facts::utc;
use indicatif::{ProgressBar as Bar, ProgressDrawTarget, ProgressStyle};
use report::bench::Report;
use report::experiment::Planned;

/// Shows events as the options say. Of JSON there is one document, so that what comes before the result is left out.
pub(crate) fn tell(arguments: &Arguments) -> impl FnMut(Event<'_>) -> Result<()> + '_ {
    let mut bar: Option<ProgressBar> = None;
    move |event| {
        if let Event::Progress(progress) = event {
            let bar = bar.get_or_insert_with(|| ProgressBar::new(!arguments.output.quiet));
            bar.show(&progress);
            return Ok(());
        }
        // The line of the bar is gone before another is written.
        bar = None;
        show(arguments, event)
    }
}

fn show(arguments: &Arguments, event: Event<'_>) -> Result<()> {
    let output = &arguments.output;
    let style = output::style(output.color);
    let is_shown = !output.json && !output.quiet;
    match event {
        Event::Note(text) => output::note(output, &text),
        Event::Trouble(error) => output::complain(&error),
        Event::Planned(plan) if is_shown => {
            output::print(&report::change::plan(plan, arguments.audit.verbose, style))?;
        }
        Event::Files(writes) if is_shown => {
            output::print(&report::change::files(writes, style))?;
        }
        Event::Proven(record, file) if !output.json => {
            output::print(&report::bench::text(&Report::of(record, file), style))?;
        }
        Event::Drift { place, found, writer } => {
            let at = utc::timestamp(since_1970_ns());
            output::print(&if output.json {
                report::change::drift_json(&head(arguments), &at, place, found, writer)?
            } else {
                report::change::drift(&at, place, found, writer)
            })?;
        }
        Event::Study(plan) => study(arguments, plan)?,
        Event::Planned(_) | Event::Files(_) | Event::Proven(..) | Event::Progress(_) => {}
    }
    Ok(())
}

/// What is about to be run. For programs it is told where it is all that there is: a report follows otherwise.
fn study(arguments: &Arguments, plan: &StudyPlan<'_>) -> Result<()> {
    let output = &arguments.output;
    if (output.json && plan.is_run) || (output.quiet && !output.json) {
        return Ok(());
    }
    let planned = Planned {
        design: plan.design,
        arms: plan.arms,
        names: plan.names.clone(),
        length: plan.length,
        trial_seconds: plan.trial_seconds,
    };
    output::print(&if output.json {
        report::experiment::planned_json(&head(arguments), &planned)?
    } else {
        report::experiment::planned(&planned, output::style(output.color))
    })
}

/// A line on standard error that is gone when it is dropped. Shows nothing where standard error is no terminal.
pub(crate) struct ProgressBar(Bar);

const STEPS: u64 = 1000;

impl ProgressBar {
    pub(crate) fn new(is_wanted: bool) -> ProgressBar {
        let target =
            if is_wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = Bar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{bar:30} {msg}");
        ProgressBar(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Shows what has been done, and how long the rest will take.
    pub(crate) fn show(&self, progress: &Progress) {
        let Progress { done, share, elapsed } = progress;
        let left = elapsed.as_secs_f64() * (1.0 / share.max(1e-6) - 1.0);
        self.0.set_message(format!("{done}, {} left, Ctrl-C ends it", roughly(left)));
        self.0.set_position((share * STEPS as f64) as u64);
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
