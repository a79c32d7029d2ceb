//! Reads the PCI Express links of network, storage, graphics and accelerator devices.
//!
//! A server has hundreds of PCI functions, most of them parts of the processor. Their links in /sys/bus/pci
//! tell by one system call each who has a slot above; only those are asked for their class, and only
//! the kinds that matter for the rest.

use crate::Source;
use facts::limits::MOST_DEVICES;
use facts::links::pcie::{Kind, Pcie, PcieLink, Shown, class, is_address, width};
use facts::{Fact, IfPresent, Missing, parse};
use std::collections::BTreeSet;

const DEVICES: &str = "/sys/bus/pci/devices";
const TREE: &str = "/sys/devices";

pub(super) fn read(source: &dyn Source) -> Pcie {
    Pcie { links: links(source) }
}

fn links(source: &dyn Source) -> Fact<Vec<PcieLink>> {
    let mut links = Vec::new();
    let mut slots = BTreeSet::new();
    for folder in folders(source)? {
        let Some((slot, _)) = folder.rsplit_once('/') else { continue };
        let has_slot = slot.rsplit('/').next().is_some_and(is_address);
        // A port leads to one device; its other functions, virtual ones included, share the link.
        if !has_slot || slots.contains(slot) {
            continue;
        }
        let class = source.parsed(&format!("{folder}/class"), class);
        if let Some(kind) = class.if_present()?.copied().and_then(Kind::of_class) {
            slots.insert(slot.to_owned());
            if links.len() == MOST_DEVICES {
                return Err(Missing::too_many(DEVICES, "links to look at", MOST_DEVICES));
            }
            links.push(link(source, &folder, kind));
        }
    }
    Ok(links)
}

/// The folder of every PCI device below /sys/devices, in order of the addresses. A copy may lack the links and
/// hold the folders.
fn folders(source: &dyn Source) -> Fact<Vec<String>> {
    let linked = source.list(DEVICES).and_then(|names| {
        let links = names.iter().map(|name| source.link(&format!("{DEVICES}/{name}")));
        links.collect::<Fact<Vec<String>>>()
    });
    let below = |target: &String| {
        let (_, below) = target.split_once("devices/")?;
        Some(format!("{TREE}/{below}"))
    };
    match linked {
        Ok(targets) => Ok(targets.iter().filter_map(below).collect()),
        Err(missing) => match walk(source, TREE, 0) {
            found if found.is_empty() => Err(missing),
            found => Ok(found),
        },
    }
}

/// Finds devices by the names of folders. Buses nest as deep as switches are chained.
fn walk(source: &dyn Source, folder: &str, depth: usize) -> Vec<String> {
    const DEEPEST: usize = 12;
    let mut found = Vec::new();
    for name in source.list(folder).unwrap_or_default() {
        let is_device = is_address(&name);
        if (is_device || name.starts_with("pci")) && depth < DEEPEST {
            let below = format!("{folder}/{name}");
            if is_device {
                found.push(below.clone());
            }
            found.extend(walk(source, &below, depth + 1));
        }
    }
    found
}

fn link(source: &dyn Source, folder: &str, kind: Kind) -> PcieLink {
    let slot = folder.rsplit_once('/').map_or("", |(slot, _)| slot);
    let current = shown(source, folder, "current");
    // What does not answer is not asked again.
    let ask = |folder: &str| match &current {
        Ok(_) => shown(source, folder, "max"),
        Err(missing) => Err::<Shown, Missing>(missing.clone()),
    };
    PcieLink {
        folder: folder.to_owned(),
        kind,
        device_max: ask(folder),
        slot_max: ask(slot),
        current,
    }
}

fn shown(source: &dyn Source, folder: &str, which: &str) -> Fact<Shown> {
    let lanes = source.parsed(&format!("{folder}/{which}_link_width"), width)?;
    let text = source.parsed(&format!("{folder}/{which}_link_speed"), parse::line)?;
    Shown::new(folder, text, lanes)
}
