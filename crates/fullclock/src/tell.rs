//! Shows what happens while the engine works: results on standard output, all else on standard error.

use crate::cli::Arguments;
use crate::head::head;
use crate::output;
use crate::result::FormatArguments;
use anyhow::Result;
use engine::clock::since_1970_ns;
use engine::{Event, Progress, StudyPlan};
use facts::quantity::roughly;
use facts::utc;
use indicatif::{ProgressBar as Bar, ProgressDrawTarget, ProgressStyle};
use report::bench::Report;
use report::change;
use report::document::{Document, Format};
use report::experiment::Planned;

/// Shows events as the options say.
pub(crate) fn tell(arguments: &Arguments) -> impl FnMut(Event<'_>) -> Result<()> + '_ {
    tell_before(arguments, FormatArguments::default().chosen(&arguments.output))
}

/// The same before a result that is printed in this form, `None` being JSON. What people read first comes before text alone: of
/// other formats there is one document.
pub(crate) fn tell_before(
    arguments: &Arguments,
    format: Option<Format>,
) -> impl FnMut(Event<'_>) -> Result<()> + '_ {
    let mut bar: Option<ProgressBar> = None;
    move |event| {
        if let Event::Progress(progress) = event {
            let bar = bar.get_or_insert_with(|| ProgressBar::new(!arguments.output.quiet));
            bar.show(&progress);
            return Ok(());
        }
        // The line of the bar is gone before another is written.
        bar = None;
        match event {
            Event::Study(plan) => study(arguments, format, plan),
            event => show(arguments, format, event),
        }
    }
}

fn show(arguments: &Arguments, format: Option<Format>, event: Event<'_>) -> Result<()> {
    let output = &arguments.output;
    let text = format.filter(|it| it.is_text());
    match event {
        Event::Note(text) => output::note(output, &text),
        Event::Trouble(error) => output::complain(&error),
        Event::Planned(plan) if !output.quiet => {
            let name = "this machine";
            let planned = change::Planned { name, plan, unfixed: &[], unfound: &[], files: &[] };
            print(text, "\n", || change::plan(&planned, arguments.audit.verbose))?;
        }
        Event::Files(writes) if !output.quiet => print(text, "\n", || change::files(writes))?,
        Event::Proven(record, file) => {
            print(text, "", || report::bench::document(&Report::of(record, file)))?;
        }
        Event::Drift { place, found, writer } => {
            let at = utc::timestamp(since_1970_ns());
            output::print(&if output.json {
                change::drift_json(&head(arguments), &at, place, found, writer)?
            } else {
                change::drift(&at, place, found, writer)
            })?;
        }
        Event::Planned(_) | Event::Files(_) | Event::Study(_) | Event::Progress(_) => {}
    }
    Ok(())
}

/// Prints what comes before a result, if that is text.
fn print(text: Option<Format>, end: &str, document: impl FnOnce() -> Document) -> Result<()> {
    text.map_or(Ok(()), |it| output::print(&(document().render(it) + end)))
}

/// What is about to be run. If a report follows, only a terminal is told: any other form is one document.
fn study(arguments: &Arguments, format: Option<Format>, plan: &StudyPlan<'_>) -> Result<()> {
    let is_text = format.is_some_and(Format::is_text);
    if (plan.is_run && !is_text) || (arguments.output.quiet && format.is_some()) {
        return Ok(());
    }
    let planned = Planned {
        design: plan.design,
        arms: plan.arms,
        names: plan.names.clone(),
        length: plan.length,
        trial_seconds: plan.trial_seconds,
    };
    output::print(&match format {
        None => report::experiment::planned_json(&head(arguments), &planned)?,
        Some(format) => report::experiment::planned(&planned).render(format),
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
