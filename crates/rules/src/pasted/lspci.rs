//! Links in `lspci -vv` whose upper end the text does not show: a line alone, or a device without the bridge above it.
//!
//! A device with its bridge is judged by the audit.

use super::{Found, SOUND, said, untold};
use crate::finding::Severity;
use facts::HostView;
use facts::links::lspci::{Device, devices, link_of};
use facts::pasted::LSPCI;

/// Classes whose links matter (pci.ids).
const CLASSES: [&str; 9] = [
    "Ethernet controller",
    "Infiniband controller",
    "Network controller",
    "Non-Volatile memory controller",
    "RAID bus controller",
    "SATA controller",
    "Serial Attached SCSI controller",
    "Processing accelerators",
    "3D controller",
];

/// Its speed is lower while it is idle.
const LOWERS_ITS_SPEED: [&str; 2] = ["Processing accelerators", "3D controller"];

pub(super) fn explain(text: &str, _host: &HostView) -> Option<Found> {
    let devices = devices(text);
    if devices.is_empty() {
        return alone(text);
    }
    let has_bridge = |it: &Device<'_>| {
        let bus = it.address.rsplit_once(':').map(|it| it.0.rsplit(':').next().unwrap_or_default());
        devices.iter().any(|other| other.secondary.is_some() && other.secondary == bus)
    };
    let judged: Vec<&Device<'_>> = devices
        .iter()
        .filter(|it| it.current.is_some() && CLASSES.contains(&it.class) && !has_bridge(it))
        .collect();
    let line = judged.first()?.line;
    let mut meaning: Vec<String> = judged.iter().filter_map(|it| judge(it)).collect();
    if meaning.is_empty() {
        meaning.push(format!("{SOUND} Its links run at what the devices can do."));
    }
    Some(Found::new(line, &LSPCI, meaning))
}

fn judge(device: &Device<'_>) -> Option<String> {
    let (current, max) = (device.current?, device.max?);
    let is_narrow = lanes(current.1)? < lanes(max.1)?;
    let is_slow =
        transfers(current.0)? < transfers(max.0)? && !LOWERS_ITS_SPEED.contains(&device.class);
    let severity = match (is_narrow, is_slow) {
        (false, false) => return None,
        // How much the slot has is not in the text.
        _ => Severity::Medium,
    };
    let message = format!(
        "{} {} runs at {} x{}, and can do {} x{}; the slot may have no more: `lspci -vvt` and the port above it show that",
        device.class, device.address, current.0, current.1, max.0, max.1
    );
    Some(said(severity, "pcie-link-degraded", &message))
}

/// Lines of links without a device.
fn alone(text: &str) -> Option<Found> {
    let status = |line: &str| line.trim().strip_prefix("LnkSta:").map(str::to_owned);
    let line = text.lines().position(|it| status(it).is_some_and(|it| link_of(&it).is_some()))?;
    let told = text.lines().find_map(status)?;
    let max = text.lines().find_map(|it| it.trim().strip_prefix("LnkCap:")).and_then(link_of);
    let (speed, width) = link_of(&told)?;
    let is_below = match max {
        Some(max) => lanes(width) < lanes(max.1) || transfers(speed) < transfers(max.0),
        None => told.contains("(downgraded)"),
    };
    let mut meaning = vec![if is_below {
        said(
            Severity::Medium,
            "pcie-link-degraded",
            &format!(
                "the link runs at {speed} x{width}, which is less than the device can do; the slot may have no more, or card and riser \
                 are not seated well"
            ),
        )
    } else {
        format!(
            "{SOUND} The link runs at {speed} x{width}{}.",
            if max.is_some() { ", which is all that the device can do" } else { "" }
        )
    }];
    meaning.push(untold(&LSPCI));
    Some(Found::new(line, &LSPCI, meaning))
}

fn lanes(text: &str) -> Option<u32> {
    text.parse().ok()
}

/// `16GT/s` and `2.5GT/s` in tenths.
fn transfers(text: &str) -> Option<u32> {
    let number: f64 = text.strip_suffix("GT/s")?.parse().ok()?;
    (0.0..1000.0).contains(&number).then_some((number * 10.0).round() as u32)
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    fn meaning(text: &str) -> String {
        tests::meaning(text, &[explain])
    }

    #[test]
    fn a_link_below_what_the_device_can_do_is_told() {
        let line = "\t\tLnkSta:\tSpeed 8GT/s, Width x8 (downgraded)";
        assert!(
            meaning(line).starts_with("Medium, pcie-link-degraded: the link runs at 8GT/s x8"),
            "{}",
            meaning(line)
        );
        let device = "3b:00.0 Ethernet controller: Mellanox Technologies MT2892\n\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported\n\
                      \t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)\n";
        assert!(
            meaning(device).contains("runs at 8GT/s x8, and can do 16GT/s x16"),
            "{}",
            meaning(device)
        );
    }

    #[test]
    fn a_link_at_its_best_is_sound() {
        assert!(meaning("LnkSta: Speed 16GT/s (ok), Width x16 (ok)").starts_with(SOUND));
        let device = "3b:00.0 Ethernet controller: Mellanox\nLnkCap: Port #0, Speed 16GT/s, Width x16\nLnkSta: Speed 16GT/s, Width x16\n";
        assert!(meaning(device).starts_with(SOUND));
        // A processor of graphics that is idle.
        let idle = "3b:00.0 3D controller: NVIDIA\nLnkCap: Port #0, Speed 16GT/s, Width x16\nLnkSta: Speed 2.5GT/s (downgraded), Width x16\n";
        assert!(meaning(idle).starts_with(SOUND));
        assert_eq!(meaning("LnkSta: Speed"), "unknown");
    }
}
