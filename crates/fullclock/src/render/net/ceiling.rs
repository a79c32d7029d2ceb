//! What each adapter can carry, as text.

use super::{MARGIN, more, word};
use crate::output::Style;
use crate::render::page::{BOLD, DIM, Page};
use facts::Fact;
use rules::ceiling::{Ceiling, Ceilings, Direction, Named, Part};

/// Every adapter: its wire, its slot, the narrower of the two, and what was taken for granted.
pub(crate) fn ceilings(host: &str, ceilings: &Ceilings, style: Style) -> String {
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
        page.paragraph(0, &format!("Not known: {}.", missing.advice()));
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
        "{name}: {coded}{one_way}{busy}, in packets of {} with {} beside it ({})",
        packet.payload, packet.overhead.0, packet.headers
    )
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
        None => format!("{rate} by the {by}, or less: the other part is not known"),
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
