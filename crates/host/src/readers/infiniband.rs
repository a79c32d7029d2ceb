//! Reads the InfiniBand ports.

use crate::Source;
use facts::limits::MOST_DEVICES;
use facts::links::infiniband::{Coded, Infiniband, Port, Rate};
use facts::{Fact, Missing, parse};

const DEVICES: &str = "/sys/class/infiniband";

pub(super) fn read(source: &dyn Source) -> Infiniband {
    Infiniband { ports: ports(source) }
}

fn ports(source: &dyn Source) -> Fact<Vec<Port>> {
    let mut ports = Vec::new();
    for device in source.list(DEVICES)? {
        // A device without ports is one whose link leads out of the copy of the host at hand.
        let numbers = source.numbered(&format!("{DEVICES}/{device}/ports"), "").unwrap_or_default();
        ports.extend(numbers.into_iter().filter_map(|number| port(source, &device, number)));
        if ports.len() > MOST_DEVICES {
            return Err(Missing::too_many(DEVICES, "ports", MOST_DEVICES));
        }
    }
    Ok(ports)
}

/// State and rate are asked of the adapter's firmware, so an Ethernet port is not asked.
fn port(source: &dyn Source, device: &str, number: u32) -> Option<Port> {
    let folder = format!("{DEVICES}/{device}/ports/{number}");
    let link_layer = source.parsed(&format!("{folder}/link_layer"), parse::line);
    if link_layer.as_deref().is_ok_and(|layer| layer != "InfiniBand") {
        return None;
    }
    Some(Port {
        name: format!("{device} port {number}"),
        adapter: source.parsed(&format!("{DEVICES}/{device}/hca_type"), parse::line),
        link_layer,
        state: source.parsed(&format!("{folder}/state"), Coded::parse),
        phys_state: source.parsed(&format!("{folder}/phys_state"), Coded::parse),
        rate: source.parsed(&format!("{folder}/rate"), Rate::parse),
        folder,
    })
}
