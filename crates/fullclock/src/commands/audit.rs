//! `fullclock audit`: judges a host.

use crate::advised;
use crate::cli::Arguments;
use crate::output::{self, Style};
use crate::render;
use anyhow::Result;
use rules::finding::Severity;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let what = "reading the host ...";
    let (host, audit, name) = output::with_progress(&arguments.output, what, || {
        let (source, name) = super::open_with_controller(arguments)?;
        let host = host::view(&*source);
        let audit = advised::audit(&*source, &host);
        anyhow::Ok((host, audit, name))
    })?;
    let text = if arguments.output.json {
        render::json::audit(&host, &audit)?
    } else {
        let style = Style::of_stdout(&arguments.output);
        let detail = render::text::Detail {
            quiet: arguments.output.quiet,
            verbose: arguments.audit.verbose,
        };
        render::text::audit(&name, &host, &audit, detail, style)
    };
    output::print(&text)?;
    let worst = audit.findings.iter().map(|(_, finding)| finding.severity).max();
    let fails = arguments.audit.fail_on.is_some_and(|level| worst >= Some(Severity::from(level)));
    Ok(if fails { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
