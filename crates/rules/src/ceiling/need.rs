//! What the wires of a network adapter need of its slot, and what the slot gives.

use super::{Given, Part, Wires, slot_of, wires};
use facts::links::pcie::{Kind, PcieLink};
use facts::{Fact, HostView};

/// The two sides of one slot.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// What the adapter's ports with a link carry.
    pub wires: Wires,
    /// What the slot carries.
    pub slot: Part,
}

/// Both sides of the slot at `link`; `None` where no network is behind it, or no port has a link.
pub fn need(host: &HostView, link: &PcieLink) -> Fact<Option<Need>> {
    if link.kind != Kind::Network {
        return Ok(None);
    }
    let wires = wires(host, link.slot());
    if wires.ports.is_empty() {
        return wires.missing.map_or(Ok(None), Err);
    }
    // The payload is a setting of the function that has the interface.
    let below = |folder: &str| folder.rsplit_once('/').is_some_and(|(slot, _)| slot == link.slot());
    let folders = host.network.adapters.as_ref()?.iter().map(|it| &it.folder);
    let Some(folder) = folders.into_iter().find(|it| below(it)) else { return Ok(None) };
    let slot = slot_of(host, Given::default(), &Ok(folder.clone()))?;
    Ok(Some(Need { wires, slot }))
}
