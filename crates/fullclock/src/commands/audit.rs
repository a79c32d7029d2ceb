//! `fullclock audit`: judges a host.

use crate::cli::{Arguments, Level};
use crate::head::head;
use crate::output;
use crate::result::ResultArguments;
use anyhow::{Result, bail};
use clap::Args;
use engine::advised;
use host::Answered;
use report::document::Format;
use rules::audit::Audit;
use std::process::ExitCode;

/// The options of `fullclock audit`.
#[derive(Args, Debug, Default)]
pub(crate) struct AuditOptions {
    #[command(flatten)]
    result: ResultArguments,
}

pub(super) fn run(arguments: &Arguments, options: &AuditOptions) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let what = "reading the host ...";
    let (host, audit, name) = output::with_progress(&arguments.output, what, || {
        let (source, name) = super::open_with_controller(arguments)?;
        let answered = Answered::new(&*source);
        let host = host::view(&answered);
        super::refuse_nothing(&answered, &name)?;
        let audit = advised::audit(&answered, &host);
        anyhow::Ok((host, audit, name))
    })?;
    let text = match destination.format() {
        None => report::json::audit(&head(arguments), &host, &audit)?,
        Some(format) => {
            let detail = report::audit::Detail {
                quiet: arguments.output.quiet,
                // Who is sent a page cannot ask for more.
                verbose: arguments.audit.verbose || matches!(format, Format::Html),
            };
            report::audit::document(&name, &host, &audit, detail).render(format)
        }
    };
    destination.print(&text)?;
    if audit.judged_nothing() {
        bail!("{name}: no check found what it needs, so nothing could be judged");
    }
    Ok(if fails(&audit, &arguments.audit.fail_on) { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Whether the audit has what one of `levels` names.
fn fails(audit: &Audit, levels: &[Level]) -> bool {
    let worst = audit.findings.iter().map(|(_, finding)| finding.severity).max();
    levels.iter().any(|level| match level.severity() {
        Some(severity) => worst >= Some(severity),
        None => !audit.unknown.is_empty(),
    })
}

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock audit                           this machine
  fullclock audit --root sosreport.tar.xz   a bundle that holds proc/ and sys/
  fullclock audit --host db7.host           made by `fullclock capture`
  fullclock audit -o audit.html   one page to send
  fullclock audit --json --fail-on medium,unknown   for a pipeline";
