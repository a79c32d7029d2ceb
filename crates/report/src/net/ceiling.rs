//! What each adapter can carry, as text.

use super::{MARGIN, more, word};
use crate::Style;
use crate::page::{BOLD, DIM, Page};
use facts::Fact;
use facts::links::ethtool::{Duplex, Ethtool, Settings};
use rules::ceiling::{Ceiling, Ceilings, Direction, Named, Part};

/// Every adapter: its wire, its slot, the narrower of the two, and what was taken for granted.
pub fn ceilings(host: &str, ceilings: &Ceilings, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&page.paint(BOLD, &format!("fullclock net ceiling of {host}")));
    page.line("");
    for device in &ceilings.devices {
        adapter(&mut page, device);
        page.line("");
    }
    if ceilings.devices.is_empty() {
        page.paragraph(0, "There is no network adapter, as far as could be seen.");
    }
    for missing in &ceilings.missing {
        page.paragraph(0, &format!("Unknown: {}.", missing.advice()));
    }
    page.finish()
}

fn adapter(page: &mut Page, device: &Named) {
    let place = match &device.address {
        Ok(address) => address.clone(),
        Err(missing) => missing.advice(),
    };
    let name = page.paint(BOLD, &device.name);
    page.line(&format!("{name}{}", page.paint(DIM, &format!("  {place}"))));
    part(page, "  wire", &device.ceiling.wire);
    if let Some(words) = device.ethtool.as_ref().and_then(link) {
        page.labelled(MARGIN, "  link", &words);
    }
    part(page, "  slot", &device.ceiling.slot);
    if !device.shared_with.is_empty() {
        let others = device.shared_with.join(", ");
        page.labelled(MARGIN, "", &format!("the slot is shared with {others}"));
    }
    if let Some(words) = most(&device.ceiling) {
        page.labelled(MARGIN, "  most", &words);
    }
    for it in assumptions(&device.ceiling) {
        page.labelled(MARGIN, "  assumed", &it);
    }
}

fn part(page: &mut Page, label: &str, part: &Fact<Part>) {
    let words = match part {
        Ok(part) => shown(part),
        Err(missing) => missing.advice(),
    };
    page.labelled(MARGIN, label, &words);
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

/// The narrower part, and how much more the other would carry.
fn most(ceiling: &Ceiling) -> Option<String> {
    let direction = Direction::One;
    let narrowest = ceiling.narrowest(direction)?;
    let (rate, by) = (narrowest.carries(direction), word(ceiling, narrowest));
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
