//! `fullclock audit`: judges a host.

use crate::cli::Arguments;
use crate::config;
use crate::head::head;
use crate::output::{self, NobodyReads};
use crate::result::AuditResultArguments;
use anyhow::{Error, Result, bail};
use clap::Args;
use engine::advised::{self, Look};
use engine::interrupt::Interrupt;
use facts::watched::{Cost, LONGEST, SHORTEST};
use facts::{HostView, quantity, secrets};
use report::document::Format;
use report::monitoring::{Audited, FORMATS, Plugin, State};
use rules::audit::Audit;
use std::process::ExitCode;
use std::time::Duration;

/// The options of `fullclock audit`.
#[derive(Args, Debug, Default)]
pub(crate) struct AuditOptions {
    /// Look for that long (50ms to 60s) at the clocks, and at what may hold them down: a count that rises and a signal that comes
    ///
    /// Says first what it reads: the counters of each CPU's clock twice, and registers ten times a second and at least six times, each of
    /// which interrupts its CPU. Isolated and nohz_full CPUs are not interrupted. Nothing is cleared. Ctrl-C ends the look, and the audit goes on.
    #[arg(long, value_name = "TIME", value_parser = look)]
    look: Option<Duration>,
    #[command(flatten)]
    result: AuditResultArguments,
}

/// A time that a look can take.
fn look(text: &str) -> Result<Duration, String> {
    let time = quantity::duration(text)?;
    if time < SHORTEST || time > LONGEST {
        return Err(format!("{text:?} is out of range: a look takes 50ms to 60s"));
    }
    Ok(time)
}

pub(super) fn run(arguments: &Arguments, options: &AuditOptions) -> Result<ExitCode> {
    match (judge(arguments, options), options.result.plugin()) {
        (Err(error), Some(plugin)) if !error.is::<NobodyReads>() => fail_as(plugin, &error),
        (judged, _) => judged,
    }
}

fn judge(arguments: &Arguments, options: &AuditOptions) -> Result<ExitCode> {
    let (destination, of_programs) = options.result.destination(&arguments.output)?;
    let (host, audit, name) = match options.look {
        Some(time) => watch(arguments, time)?,
        None => read(arguments)?,
    };
    let fail_on = arguments.audit.fail_on();
    let head = head(arguments);
    let verbose = arguments.audit.verbose;
    if let Some(format) = of_programs {
        let audited = Audited { head: &head, host: &host, audit: &audit, fail_on, verbose };
        destination.print(&(format.write)(&audited)?)?;
        if let Some(plugin) = &format.plugin {
            return Ok(ExitCode::from((plugin.exit_code)(audited.state())));
        }
    } else {
        let text = match destination.format() {
            None => report::json::audit(&head, &host, &audit)?,
            Some(format) => shown(arguments, &name, &host, &audit, format),
        };
        destination.print(&text)?;
    }
    if audit.judged_nothing() {
        bail!("{name}: no check found what it needs, so nothing could be judged");
    }
    Ok(if fail_on.is_in(&audit) { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn read(arguments: &Arguments) -> Result<(HostView, Audit, String)> {
    let config = config::of_host(arguments)?;
    output::with_progress(&arguments.output, "reading the host ...", || {
        let (source, name) = super::open_with_controller(arguments, &config)?;
        let today = config::today(arguments.began);
        let (host, audit) = advised::looked_at(&*source, &name, &config, &today)?;
        anyhow::Ok((host, audit, name))
    })
}

/// The same after a look. A copy stands still.
fn watch(arguments: &Arguments, time: Duration) -> Result<(HostView, Audit, String)> {
    if let Some(path) = arguments.host.root.as_ref().or(arguments.host.host.as_ref()) {
        let path = path.display();
        bail!(
            "--look watches a running machine, and the counters of {path} stand still: audit it without --look, or run `fullclock audit \
             --look` on the host itself"
        );
    }
    let config = config::of_host(arguments)?;
    let (source, name) = super::open_with_controller(arguments, &config)?;
    let today = config::today(arguments.began);
    let mut begin = |cost: &Cost| {
        output::note(&arguments.output, &report::look::cost(cost));
        Interrupt::listen()
    };
    let look = Look { time, begin: &mut begin };
    let (host, audit) = advised::watched(&*source, &name, &config, &today, look)?;
    Ok((host, audit, name))
}

fn shown(
    arguments: &Arguments,
    name: &str,
    host: &HostView,
    audit: &Audit,
    format: Format,
) -> String {
    let detail = report::audit::Detail {
        quiet: arguments.output.quiet,
        // Who is sent a page cannot ask for more.
        verbose: arguments.audit.verbose || matches!(format, Format::Html),
    };
    report::audit::document(name, host, audit, detail).render(format)
}

/// Says as this plugin that the audit could not run.
fn fail_as(plugin: &Plugin, error: &Error) -> Result<ExitCode> {
    let why = format!("{error:#}");
    output::print(&(plugin.failed)(&secrets::masked(&why)))?;
    Ok(ExitCode::from((plugin.exit_code)(State::Unknown)))
}

/// What a plugin says and exits with where its command line, in `words`, makes no sense; `None` where no plugin is named.
pub(super) fn plugin_failure(words: &[String], why: &str) -> Option<(String, u8)> {
    let is_audit = words.iter().any(|it| it == "audit");
    let named = |name: &str| {
        let after = words.iter().skip_while(|it| *it != "--format").nth(1);
        after.is_some_and(|it| it == name)
            || words.iter().any(|it| it.strip_prefix("--format=") == Some(name))
    };
    let format = FORMATS.iter().find(|it| is_audit && named(it.name))?;
    let plugin = format.plugin.as_ref()?;
    Some(((plugin.failed)(why), (plugin.exit_code)(State::Unknown)))
}

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock audit                           this machine
  fullclock audit --root sosreport.tar.xz   a bundle that holds proc/ and sys/
  fullclock audit --host db7.host           made by `fullclock capture`
  fullclock audit --look 5s                 what holds the clock down just now?
  fullclock audit -o audit.html   one page to send
  fullclock audit --json --fail-on medium,unknown   for a pipeline
  fullclock audit --format nagios   a plugin's line; exits with 0, 1, 2 or 3";
