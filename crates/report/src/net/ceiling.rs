//! What each adapter can carry, as a document.

use super::{more, rate, word};
use crate::document::{Document, Text};
use facts::Fact;
use facts::links::ethtool::{Duplex, Ethtool, Settings};
use rules::ceiling::{Ceiling, Ceilings, Direction, Named, Part};

/// Every adapter: its wire, its slot, the narrower of the two, and what was taken for granted.
pub fn ceilings(host: &str, ceilings: &Ceilings) -> Document {
    let mut document = Document::new(format!("fullclock net ceiling of {host}"));
    for device in &ceilings.devices {
        adapter(&mut document, device);
    }
    if ceilings.devices.is_empty() {
        document.paragraph("There is no network adapter, as far as could be seen.");
    }
    for missing in &ceilings.missing {
        document.note(Text::sentence(&format!("Unknown: {}.", missing.advice())));
    }
    document
}

fn adapter(document: &mut Document, device: &Named) {
    let place = match &device.address {
        Ok(address) => address.clone(),
        Err(missing) => missing.advice(),
    };
    document.heading(format!("{}  {place}", device.name));
    if let Some(words) = most(&device.ceiling) {
        document.labelled("most", words);
    }
    document.labelled("wire", part(&device.ceiling.wire));
    if let Some(words) = device.ethtool.as_ref().and_then(link) {
        document.labelled("link", words);
    }
    document.labelled("slot", part(&device.ceiling.slot));
    if !device.shared_with.is_empty() {
        let others = device.shared_with.join(", ");
        document.labelled("", format!("the slot is shared with {others}"));
    }
    for (at, it) in assumptions(&device.ceiling).into_iter().enumerate() {
        document.labelled(if at == 0 { "assumed" } else { "" }, it);
    }
}

fn part(part: &Fact<Part>) -> Text {
    match part {
        Ok(part) => shown(part).into(),
        Err(missing) => Text::sentence(&missing.advice()),
    }
}

fn shown(part: &Part) -> String {
    let Part { name, signal, code, data, packet, one_way, both_ways, .. } = part;
    let coded = match code.sent {
        1 => String::new(),
        _ => format!("{signal} signalled, {} after {}; ", data.bits(), code.name),
    };
    let busy = if one_way == both_ways {
        String::new()
    } else {
        format!(", {} each way while both are busy", rate(*both_ways))
    };
    format!(
        "{name}: {coded}{}{busy}, in packets of {} with {} of overhead ({})",
        rate(*one_way),
        packet.payload,
        packet.overhead.0,
        packet.headers
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

/// The narrower part, and how much more the other would carry.
fn most(ceiling: &Ceiling) -> Option<String> {
    let direction = Direction::One;
    let narrowest = ceiling.narrowest(direction)?;
    let (rate, by) = (rate(narrowest.carries(direction)), word(ceiling, narrowest));
    Some(match ceiling.widest(direction) {
        Some(widest) => format!(
            "{rate}, by the {by}; the {} carries {:.0} % more",
            word(ceiling, widest),
            more(widest, narrowest, direction)
        ),
        None => format!("{rate} by the {by}, or less: the other part is unknown"),
    })
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
    use facts::Missing;
    use facts::links::ethtool::text;

    fn of(fec: &str, pause: &str) -> Option<String> {
        let settings = "Settings for eth0:\nDuplex: Full\nAuto-negotiation: on\n";
        let missing = || Missing::not_here("FEC", "its driver does not tell");
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
}
