//! `ibstat` and `ibstatus` as the files of InfiniBand ports.
//!
//! Source: rdma-core, infiniband-diags/ibstat.c and scripts/ibstatus. ibstat prints the rate alone, in Gb/s: how many lanes have it is
//! told by the speeds there are (include/rdma/ib_verbs.h, enum ib_rate).

use super::{Facts, value};

/// Rates in Gb/s, and the link that has them. Where two have, the one with more lanes: it is the healthier.
const RATES: [(&str, &str); 17] = [
    ("2.5", "1X SDR"),
    ("2", "1X SDR"),
    ("5", "1X DDR"),
    ("8", "1X QDR"),
    ("10", "4X SDR"),
    ("14", "1X FDR"),
    ("20", "4X DDR"),
    ("25", "1X EDR"),
    ("28", "2X FDR"),
    ("40", "4X QDR"),
    ("50", "2X EDR"),
    ("56", "4X FDR"),
    ("100", "4X EDR"),
    ("200", "4X HDR"),
    ("400", "4X NDR"),
    ("800", "4X XDR"),
    ("30", "12X SDR"),
];

/// Logical states by number (umad.h; `enum ib_port_state`).
const STATES: [&str; 5] = ["No state change", "Down", "Initializing", "Armed", "Active"];

/// Physical states by number (ibstat.c).
const PHYSICAL: [&str; 8] = [
    "No state change",
    "Sleep",
    "Polling",
    "Disabled",
    "PortConfigurationTraining",
    "LinkUp",
    "LinkErrorRecovery",
    "PhyTest",
];

pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    let (mut device, mut folder) = (None, None);
    let mut first = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = quoted(line, "CA '") {
            device = Some(name);
            folder = None;
        } else if let Some(name) = quoted(line, "Infiniband device '") {
            // "Infiniband device 'mlx5_0' port 1 status:".
            let port = line.rsplit_once(" port ").and_then(|it| super::number(it.1));
            folder = port.map(|it| format!("/sys/class/infiniband/{name}/ports/{it}"));
            first = folder.as_ref().map_or(first, |_| first.or(Some(at)));
        } else if let Some(name) = device
            && let Some(port) =
                line.strip_prefix("Port ").and_then(|it| it.strip_suffix(':')?.parse::<u32>().ok())
        {
            folder = Some(format!("/sys/class/infiniband/{name}/ports/{port}"));
            first = first.or(Some(at));
        } else if let (Some(name), None, Some(kind)) = (device, &folder, value(line, "CA type")) {
            facts.line(&format!("/sys/class/infiniband/{name}/hca_type"), kind);
        } else if let Some(folder) = &folder {
            of_port(line, folder, facts);
        }
    }
    first
}

/// The name of a device in quotes behind `key`.
fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let name = line.strip_prefix(key)?.split_once('\'')?.0;
    (!name.is_empty() && !name.contains(['/', ' ']) && !name.starts_with('.')).then_some(name)
}

fn of_port(line: &str, folder: &str, facts: &mut Facts) {
    let coded = |names: &[&str], text: &str| {
        let number = names.iter().position(|it| it.eq_ignore_ascii_case(text))?;
        Some(format!("{number}: {text}"))
    };
    let is_coded = |text: &str| text.split_once(": ").is_some_and(|it| it.0.parse::<u8>().is_ok());
    let Some((key, text)) = line.split_once(':').map(|(key, text)| (key.trim(), text.trim()))
    else {
        return;
    };
    let told = match key {
        "State" | "state" if is_coded(text) => Some(("state", text.to_owned())),
        "State" => coded(&STATES, text).map(|it| ("state", it)),
        "phys state" if is_coded(text) => Some(("phys_state", text.to_owned())),
        "Physical state" => coded(&PHYSICAL, text).map(|it| ("phys_state", it)),
        "rate" => Some(("rate", text.to_owned())),
        "Rate" => {
            let link = RATES.iter().find(|(rate, _)| *rate == text);
            link.map(|(_, link)| ("rate", format!("{text} Gb/sec ({link})")))
        }
        "Link layer" | "link_layer" => Some(("link_layer", text.to_owned())),
        _ => None,
    };
    if let Some((file, text)) = told {
        facts.line(&format!("{folder}/{file}"), text);
    }
}
