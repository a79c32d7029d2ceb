//! `fullclock audit`: judges a host.

use crate::cli::{Arguments, Level};
use crate::output::{self};
use anyhow::Result;
use engine::advised;
use host::Answered;
use rules::audit::Audit;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let what = "reading the host ...";
    let (host, audit, name) = output::with_progress(&arguments.output, what, || {
        let (source, name) = super::open_with_controller(arguments)?;
        let answered = Answered::new(&*source);
        let host = host::view(&answered);
        super::refuse_nothing(&answered, &name)?;
        let audit = advised::audit(&answered, &host);
        anyhow::Ok((host, audit, name))
    })?;
    let text = if arguments.output.json {
        report::json::audit(&host, &audit)?
    } else {
        let style = output::style(arguments.output.color);
        let detail = report::text::Detail {
            quiet: arguments.output.quiet,
            verbose: arguments.audit.verbose,
        };
        report::text::audit(&name, &host, &audit, detail, style)
    };
    output::print(&text)?;
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
  fullclock audit --json --fail-on medium,unknown   for a pipeline";
