//! `fullclock net`: what network links can carry, and what is measured over them.

mod adapter;
mod ceiling;
mod client;
mod curve;
mod guard;
mod page;
mod placement;
mod server;

use crate::cli::{Arguments, GivenArguments, NetAction, NetArguments};
use crate::output;
use anyhow::{Result, bail};
use facts::{HostView, Subject, Subjects};
use rules::ceiling::{Ceiling, Ceilings, Given, Named, ceilings};
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

/// What this machine's own adapters are, for a test over one of them.
fn own_adapters() -> HostView {
    host::view_of(&host::Live::this_machine(), Subjects::of(LOOKED_AT))
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

/// Which of the two faces of a wire that does RDMA over Ethernet is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Face {
    Rdma,
    Interface,
}

/// What the one device that the user calls so can carry, with its name.
fn ceiling_of(
    arguments: &Arguments,
    device: &str,
    given: Given,
    face: Face,
) -> Result<(String, Ceiling)> {
    let (host, name) = host(arguments)?;
    let mut found = ceilings(&host, given);
    only(&mut found, device, &name)?;
    let is_meant = |it: &Named| it.is_rdma == (face == Face::Rdma);
    if found.devices.iter().any(is_meant) {
        found.devices.retain(is_meant);
    }
    match <[Named; 1]>::try_from(found.devices) {
        Ok([only]) => Ok((only.name, only.ceiling)),
        Err(several) => {
            let names: Vec<String> = several.into_iter().map(|it| it.name).collect();
            bail!("{device:?} may be each of {}: name a port, as {device}/1", names.join(", "))
        }
    }
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
