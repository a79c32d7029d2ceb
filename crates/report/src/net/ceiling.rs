//! What each adapter can carry.

use super::{more, word};
use crate::document::{Document, Text};
use facts::Fact;
use facts::links::ethtool::{Duplex, Ethtool, Settings};
use facts::quantity::counted;
use rules::ceiling::{Ceiling, Ceilings, Direction, Named, Part};

/// Every adapter: what it can carry at most, its wire, its slot, and what was assumed.
pub fn ceilings(host: &str, ceilings: &Ceilings) -> Document {
    let mut document = Document::new(format!("fullclock net ceiling of {host}"));
    document.paragraph(Text::strong(verdict(&ceilings.devices)));
    for device in &ceilings.devices {
        adapter(&mut document, device);
    }
    for missing in &ceilings.missing {
        document.note(Text::sentence(&format!("Unknown: {}.", missing.advice())));
    }
    document
}

/// How many adapters there are, and how many of them have a slot that carries less than their wire.
fn verdict(devices: &[Named]) -> String {
    let is_narrow = |it: &&Named| {
        let narrowest = it.ceiling.narrowest(Direction::One);
        it.ceiling.widest(Direction::One).is_some()
            && narrowest.is_some_and(|part| word(&it.ceiling, part) == "slot")
    };
    let adapters = counted(devices.len() as u64, "network adapter");
    match devices.iter().filter(is_narrow).count() {
        _ if devices.is_empty() => "No network adapter was found.".to_owned(),
        0 => format!("{adapters}, none known to be limited by its slot."),
        n => format!("{adapters}, {n} limited by the slot."),
    }
}

fn adapter(document: &mut Document, device: &Named) {
    document.heading(&*device.name);
    document.labelled("at most", Text::strong(most(&device.ceiling)));
    document.labelled("wire", part(&device.ceiling.wire));
    if let Some(words) = device.ethtool.as_ref().and_then(link) {
        document.labelled("link", words);
    }
    document.labelled("slot", part(&device.ceiling.slot));
    if !device.shared_with.is_empty() {
        let others = device.shared_with.join(", ");
        document.labelled("", format!("the slot is shared with {others}"));
    }
    document.labelled(
        "address",
        match &device.address {
            Ok(address) => Text::from(&**address),
            Err(missing) => Text::sentence(&missing.advice()),
        },
    );
    for it in assumptions(&device.ceiling) {
        document.labelled("assumed", it);
    }
}

fn part(part: &Fact<Part>) -> Text {
    match part {
        Ok(part) => Text::from(shown(part)),
        Err(missing) => Text::sentence(&format!("unknown: {}", missing.advice())),
    }
}

fn shown(part: &Part) -> String {
    let Part { name, signal, code, data, packet, one_way, both_ways, .. } = part;
    let coded = match code.sent {
        1 => String::new(),
        _ => format!("{signal} signalled, {data} after {}; ", code.name),
    };
    let busy = if one_way == both_ways {
        String::new()
    } else {
        format!(", {both_ways} each way while both are busy")
    };
    format!(
        "{name}: {coded}{one_way}{busy}, in packets of {} with {} of overhead ({})",
        packet.payload, packet.overhead.0, packet.headers
    )
}

/// What the driver says of the wire, as far as it does: `full duplex, negotiated; FEC RS (Auto); pause frames rx and tx`.
fn link(ethtool: &Ethtool) -> Option<String> {
    let duplex = |it: &Settings| match (it.duplex?, it.autonegotiation) {
        (duplex, Some(true)) => Some(format!("{} duplex, negotiated", duplex.name())),
        (Duplex::Half, _) => Some("half duplex".to_owned()),
        (Duplex::Full, _) => Some("full duplex".to_owned()),
    };
    let settings = ethtool.settings.as_ref().ok().and_then(duplex);
    let fec = ethtool.fec.as_ref().ok().map(|it| match it.active == it.configured {
        true => format!("FEC {}", it.active),
        false => format!("FEC {} ({})", it.active, it.configured),
    });
    let pause = ethtool.pause.as_ref().ok().map(|it| format!("pause frames {it}"));
    let parts: Vec<String> = [settings, fec, pause].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What the narrower part carries, and how much more the other would.
fn most(ceiling: &Ceiling) -> String {
    let direction = Direction::One;
    let Some(narrowest) = ceiling.narrowest(direction) else { return "unknown".to_owned() };
    let (rate, by) = (narrowest.carries(direction), word(ceiling, narrowest));
    match ceiling.widest(direction) {
        Some(widest) => format!(
            "{rate}, by the {by}; the {} carries {:.0} % more",
            word(ceiling, widest),
            more(widest, narrowest, direction)
        ),
        None => format!("{rate} by the {by}, or less: the other part is unknown"),
    }
}

/// What was not read.
pub(super) fn assumptions(ceiling: &Ceiling) -> Vec<String> {
    let parts = [("wire", &ceiling.wire), ("slot", &ceiling.slot)];
    let of_part = |(name, part): (&str, &Fact<Part>)| -> Vec<String> {
        let assumptions = part.iter().flat_map(|it| &it.assumptions);
        assumptions.map(|it| format!("{name}: {it}")).collect()
    };
    parts.into_iter().flat_map(of_part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::every_form::{in_every_form, text as shown_as_text};
    use facts::Missing;
    use facts::links::ethtool::text;
    use facts::links::infiniband::Rate;
    use facts::links::pcie::Speed;
    use rules::ceiling::{Largest, infiniband, slot};

    fn of(fec: &str, pause: &str) -> Option<String> {
        let settings = "Settings for eth0:\nDuplex: Full\nAuto-negotiation: on\n";
        let missing = || Missing::not_here("FEC", "its driver does not report it");
        link(&Ethtool {
            settings: text::settings(settings).unwrap().ok_or_else(missing),
            fec: text::fec(fec).unwrap().ok_or_else(missing),
            pause: text::pause(pause).unwrap().ok_or_else(missing),
        })
    }

    #[test]
    fn what_the_driver_says_of_the_wire_is_one_line() {
        let fec =
            "FEC parameters for eth0:\nConfigured FEC encodings: Auto\nActive FEC encoding: RS\n";
        let pause = "Pause parameters for eth0:\nAutonegotiate: off\nRX: on\nTX: on\n";
        assert_eq!(
            of(fec, pause).unwrap(),
            "full duplex, negotiated; FEC RS (Auto); pause frames rx and tx"
        );
        let refused = "netlink error: Operation not supported\n";
        assert_eq!(of(refused, refused).unwrap(), "full duplex, negotiated");
    }

    fn named(name: &str, ceiling: Ceiling) -> Named {
        Named {
            name: name.to_owned(),
            aliases: Vec::new(),
            is_rdma: true,
            address: Ok("0000:05:00.0".to_owned()),
            shared_with: Vec::new(),
            ceiling,
            ethtool: None,
        }
    }

    #[test]
    fn an_adapter_says_first_what_it_carries_at_most() {
        let wire = infiniband(&Rate::parse("40 Gb/sec (4X QDR)").unwrap(), None);
        let slot = Ok(slot(Speed::parse("5 GT/s x8").unwrap(), Largest::Assumed));
        let unknown = || Missing::not_here("wire", "its driver does not report it");
        let ceiling = Ceiling { wire: Err(unknown()), slot: Err(unknown()) };
        let mut dark = named("eth0", ceiling);
        dark.shared_with = vec!["eth1".to_owned()];
        let devices = vec![named("mlx4_0 port 1", Ceiling { wire, slot }), dark];
        let missing = vec![Missing::not_here("link of mlx4_0 port 2", "1: DOWN")];
        let found = Ceilings { devices, missing };
        insta::assert_snapshot!(in_every_form(&ceilings("db7.host", &found)));
    }

    #[test]
    fn a_host_without_an_adapter_says_so() {
        let none = Ceilings { devices: Vec::new(), missing: Vec::new() };
        assert_eq!(
            shown_as_text(&ceilings("db7", &none), 80),
            "fullclock net ceiling of db7\nNo network adapter was found.\n"
        );
    }
}
