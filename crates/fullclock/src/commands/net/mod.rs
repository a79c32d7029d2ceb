//! `fullclock net`: what network links can carry, and what is measured over them.

mod ceiling;
mod client;
mod curve;
mod guard;
mod server;

use crate::cli::{Arguments, GivenArguments, NetAction, NetArguments};
use crate::output;
use anyhow::{Result, bail};
use facts::{HostView, Subject, Subjects};
use rules::ceiling::{Ceilings, Given};
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &NetArguments) -> Result<ExitCode> {
    match &options.action {
        NetAction::Ceiling { device, given } => {
            ceiling::run(arguments, device.as_deref(), of_arguments(*given))
        }
        NetAction::Curve(options) => curve::run(arguments, options),
        NetAction::Server(options) => {
            only_live(arguments)?;
            server::run(arguments, options)
        }
        NetAction::Client(options) => {
            only_live(arguments)?;
            client::run(arguments, options)
        }
    }
}

/// The port where a client looks for a server.
const PORT: u16 = 7079;

/// The name of the file of a server's token.
const TOKEN: &str = "net.token";

/// What decides a ceiling, and nothing else of the host: it may have a thousand CPUs.
const LOOKED_AT: &[Subject] =
    &[Subject::Platform, Subject::Infiniband, Subject::Pcie, Subject::Network];

/// A test needs machines that are there.
fn only_live(arguments: &Arguments) -> Result<()> {
    if arguments.host.root.is_some() || arguments.host.host.is_some() {
        bail!(
            "a test has two machines that are there, and no copy of one: leave out --root and --host"
        );
    }
    Ok(())
}

/// The host that the options name, and what to call it.
fn host(arguments: &Arguments) -> Result<(HostView, String)> {
    output::with_progress(&arguments.output, "reading the host ...", || {
        let (source, name) = super::open(arguments)?;
        Ok((host::view_of(&*source, Subjects::of(LOOKED_AT)), name))
    })
}

fn of_arguments(given: GivenArguments) -> Given {
    Given { mtu: given.mtu, payload: given.max_payload }
}

/// Leaves only what the user calls `device`.
fn only(ceilings: &mut Ceilings, device: &str, host: &str) -> Result<()> {
    if !ceilings.devices.iter().any(|it| it.is_called(device)) {
        let names: Vec<&str> = ceilings.devices.iter().map(|it| it.name.as_str()).collect();
        let others = match &names[..] {
            [] => "there is no network adapter".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        let reasons = ceilings.missing.iter().map(|it| format!("; {}", it.advice()));
        bail!("no adapter of {host} is called {device:?}: {others}{}", reasons.collect::<String>());
    }
    ceilings.devices.retain(|it| it.is_called(device));
    Ok(())
}
