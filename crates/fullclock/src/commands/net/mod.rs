//! `fullclock net`: what network links can carry, and what is measured over them.

mod ceiling;
mod client;
mod curve;
pub(super) mod options;
mod page;
mod server;

use crate::cli::Arguments;
use crate::commands::net::options::{GivenArguments, NetAction, NetArguments};
use crate::output;
use anyhow::{Result, bail};
use engine::net::ceiling::Face;
use facts::HostView;
use rules::ceiling::{Ceiling, Given};
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
        Ok((engine::net::adapters_of(&*source), name))
    })
}

fn of_arguments(given: GivenArguments) -> Given {
    Given { mtu: given.mtu, payload: given.max_payload }
}

/// What the one device that the user calls so can carry, with its name.
fn ceiling_of(
    arguments: &Arguments,
    device: &str,
    given: Given,
    face: Face,
) -> Result<(String, Ceiling)> {
    let (host, name) = host(arguments)?;
    engine::net::ceiling::ceiling_of(&host, &name, device, given, face)
}
