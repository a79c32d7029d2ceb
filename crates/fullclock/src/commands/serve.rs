//! `fullclock serve`: this machine in a browser.

use crate::cli::{Arguments, ServeArguments};
use crate::interrupt::Interrupt;
use crate::output;
use crate::results_folder::results_folder;
use crate::secret;
use crate::watch::{self, Probing, View, Watched};
use crate::web::{Gate, Plan, serve};
use anyhow::{Context, Result};
use host::Live;
use lab::record::Fingerprint;
use std::net::TcpListener;
use std::process::ExitCode;

/// The file of a server's token.
const TOKEN: &str = "serve.token";

pub(super) fn run(arguments: &Arguments, options: &ServeArguments) -> Result<ExitCode> {
    let listener = TcpListener::bind(options.listen).with_context(|| {
        format!("cannot listen at {}; --listen takes another address", options.listen)
    })?;
    let is_open = !options.listen.ip().is_loopback();
    let token_file = match &options.token_file {
        None if !is_open => None,
        chosen => Some(secret::path(chosen.as_deref(), TOKEN)?),
    };
    let token = token_file.as_deref().map(secret::read_or_make).transpose()?;
    let interrupt = Interrupt::listen()?;
    let live = Live::this_machine();
    let host = host::view(&live);
    let fingerprint = Fingerprint::of(&host);
    let (interval, view) = (options.interval, View::everything());
    let plan = watch::Plan { interval, cpus: None, view, probing: Probing::Busy };
    let plan = Plan {
        listener,
        gate: Gate::new(&options.host_names, token),
        watched: Watched::begin(live, host, plan, None)?,
        fingerprint,
        interval,
        results: results_folder(options.results.as_deref())?,
    };
    serve(plan, &interrupt, |at| {
        output::print(&format!("serving http://{at}/\n"))?;
        if let Some(file) = token_file {
            let text = format!("any user name, and for a password the token in {}", file.display());
            output::note(&arguments.output, &text);
        }
        if is_open {
            output::note(
                &arguments.output,
                "nothing is encrypted on its way; `ssh -L` would do that",
            );
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}
