//! What the device that a user names can carry.

use anyhow::{Result, bail};
use facts::HostView;
use rules::ceiling::{Ceiling, Ceilings, Given, Named, ceilings};

/// Which of the two faces of a wire that does RDMA over Ethernet is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// The RDMA port.
    Rdma,
    /// The interface of the kernel's TCP.
    Interface,
}

/// What the one device of a host that the user calls so can carry, with its name; `host_name` is what to call the host.
pub fn ceiling_of(
    host: &HostView,
    host_name: &str,
    device: &str,
    given: Given,
    face: Face,
) -> Result<(String, Ceiling)> {
    let mut found = ceilings(host, given);
    only(&mut found, device, host_name)?;
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
pub fn only(ceilings: &mut Ceilings, device: &str, host_name: &str) -> Result<()> {
    if !ceilings.devices.iter().any(|it| it.is_called(device)) {
        let names: Vec<&str> = ceilings.devices.iter().map(|it| it.name.as_str()).collect();
        let others = match &names[..] {
            [] => "there is no network adapter".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        let reasons = ceilings.missing.iter().map(|it| format!("; {}", it.advice()));
        bail!(
            "no adapter of {host_name} is called {device:?}: {others}{}",
            reasons.collect::<String>()
        );
    }
    ceilings.devices.retain(|it| it.is_called(device));
    Ok(())
}
