//! Looks for network, storage and graphics devices whose PCIe link is slower or narrower than both of its ends.
//!
//! Source: drivers/pci/pci-sysfs.c. A port may be able to do more than
//! is wired to its slot, which no file tells; hence the confidence. What a network adapter needs of its slot is taken
//! from what its wires run at; what it will need when another port gets a link is not known.

use crate::ceiling::{Need, need};
use crate::check::{Check, Reference, Verdict, of_each};
use crate::finding::{Confidence, Finding, Severity};
use facts::links::pcie::{Kind, PcieLink, Speed};
use facts::{HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "pcie-link-degraded",
    title: "a PCIe device runs slower than it and its slot can",
    doc: "\
## What it looks at
`current_link_speed`, `current_link_width` and their maxima, of every network, storage, graphics and accelerator
device and of the port above it. A link is degraded only where the device *and* the port can do better. Of a network
adapter it also looks at what all of its ports with a link carry together: a slot that still carries that costs nothing,
and the finding is low.

## Why it matters
A card that is not seated well, a tired riser or a firmware setting brings a link up with half of its lanes
or an older generation's speed. It works, so it goes unnoticed: the adapter delivers a half or a quarter of what it was
bought for, and CPUs wait for it.

## When to leave it alone
A slot that is wired narrower than its port can be: the board's manual says so. Graphics processors and other accelerators
lower their speed when they are idle, so only their width is judged. A U.2 drive with two ports in 2x2 mode, as in
enclosures for two servers, has two lanes on each: an NVMe drive with two of four lanes is low, with low confidence. What
shows no speed or width is asleep, or inside of a chip. A guest sees slots that its hypervisor made up, so nothing is said
there.
",
    references: &[
        Reference {
            title: "Linux: drivers/pci/pci-sysfs.c (current_link_speed, max_link_width)",
            url: "https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/drivers/pci/pci-sysfs.c",
        },
        Reference {
            title: "PCI Express Base Specification, 7.5.3.6 Link Capabilities and 7.5.3.8 Link Status",
            url: "https://pcisig.com/specifications",
        },
    ],
    run,
};

/// At this share of the bandwidth, or less, three quarters of what was bought are lost.
const MOST_IS_LOST: u64 = 4;

fn run(host: &HostView) -> Verdict {
    if host.platform.has_virtual_devices() {
        return Err(Missing::not_here("PCIe slots", "a guest sees those its hypervisor made up"));
    }
    let none = Missing::not_here("PCIe link to judge", "no network or storage device is in a slot");
    of_each(host.pcie.links.as_ref()?, none, |link| {
        Ok(Some(judge(host, link)?.into_iter().collect()))
    })
}

fn judge<'a>(host: &HostView, link: &'a PcieLink) -> Result<Option<Finding>, &'a Missing> {
    let current = link.current.as_ref()?;
    let (device, slot) = (link.device_max.as_ref()?, link.slot_max.as_ref()?);
    let mut possible = device.speed.common(slot.speed);
    if matches!(link.kind, Kind::Graphics | Kind::Accelerator) {
        possible.gigatransfers_10 = current.speed.gigatransfers_10;
    }
    let is_slow = current.speed.gigatransfers_10 < possible.gigatransfers_10;
    let is_narrow = current.speed.lanes < possible.lanes;
    if !is_slow && !is_narrow {
        return Ok(None);
    }
    let mut finding = match need(host, link) {
        Ok(Some(need)) if need.wires.missing.is_none() => {
            beside_wires(&need, link, current.speed, possible)
        }
        _ => degraded(link, current.speed, possible),
    };
    let (card, port) = (link.folder.as_str(), link.slot());
    for (folder, which, shown) in
        [(card, "current", current), (card, "max", device), (port, "max", slot)]
    {
        if is_slow {
            finding = finding.evidence(format!("{folder}/{which}_link_speed"), &shown.text);
        }
        if is_narrow {
            finding = finding.evidence(format!("{folder}/{which}_link_width"), shown.speed.lanes);
        }
    }
    Ok(Some(finding))
}

fn degraded(link: &PcieLink, current: Speed, possible: Speed) -> Finding {
    let (got, bought) = (current.megabytes(), possible.megabytes());
    let (severity, confidence) = match link.kind {
        Kind::Graphics => (Severity::Low, Confidence::Low),
        Kind::Nvme if is_half_of_a_dual_port(current, possible) => {
            return dual_port(link, current, possible);
        }
        _ if got.saturating_mul(MOST_IS_LOST) <= bought => (Severity::High, Confidence::Medium),
        _ => (Severity::Medium, Confidence::Medium),
    };
    Finding::new(severity, confidence, message(link, current, possible))
        .cost(
            format!("{} of {bought} MB/s in each direction", bought.saturating_sub(got)),
            format!("payload of {possible} after line code, less that of {current}"),
        )
        .fix_lasting(reseat(link))
}

/// Two of four lanes at full speed: what a U.2 drive with two ports has on each of them (SFF-8639, DualPortEn#).
fn is_half_of_a_dual_port(current: Speed, possible: Speed) -> bool {
    let is_full_speed = current.gigatransfers_10 >= possible.gigatransfers_10;
    is_full_speed && (current.lanes, possible.lanes) == (2, 4)
}

/// The registers do not say which of the two it is.
fn dual_port(link: &PcieLink, current: Speed, possible: Speed) -> Finding {
    let message = message(link, current, possible);
    let message = format!("{message}; a dual-port drive in 2x2 mode runs at x2 by design");
    Finding::new(Severity::Low, Confidence::Low, message)
        .cost(
            "half of the drive's bandwidth, unless its other port carries the other half",
            format!("payload of {possible} after line code, less that of {current}"),
        )
        .fix_lasting(format!(
            "none if the enclosure connects both ports of the drive; otherwise {}",
            reseat(link)
        ))
}

fn message(link: &PcieLink, current: Speed, possible: Speed) -> String {
    let (noun, address) = (noun(link.kind), link.address());
    format!("{noun} {address} runs at {current}, and it and the port above it can do {possible}")
}

fn reseat(link: &PcieLink) -> String {
    let address = link.address();
    format!(
        "reseat the card, or try another slot or riser; look for a link speed or bifurcation setting of the slot in the \
         firmware setup; `lspci -vvs {address}` shows LnkCap and LnkSta"
    )
}

/// The finding of a link whose adapter's wires are known: what the slot leaves of them.
fn beside_wires(need: &Need, link: &PcieLink, current: Speed, possible: Speed) -> Finding {
    let Need { wires, slot } = need;
    let (carried, needed) = (slot.one_way, wires.rate());
    let (message, names) = (message(link, current, possible), wires.names());
    let derivation = format!("{}: {carried} one way; {names}: {needed}", slot.name);
    if carried >= needed {
        let message = format!("{message}; that still carries no less than {names}");
        return Finding::new(Severity::Low, Confidence::Medium, message)
            .cost(format!("nothing of the {needed} that {names} can carry"), derivation)
            .fix_lasting(reseat(link));
    }
    let is_most = carried.0.saturating_mul(MOST_IS_LOST) <= needed.0;
    let severity = if is_most { Severity::High } else { Severity::Medium };
    let lost = 100.0 * (1.0 - carried.share_of(needed));
    Finding::new(severity, Confidence::Medium, message)
        .cost(format!("{lost:.0} % of the {needed} that {names} can carry"), derivation)
        .fix_lasting(reseat(link))
}

fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Network => "network device",
        Kind::Nvme => "NVMe drive",
        Kind::Storage => "storage device",
        Kind::Graphics => "graphics device",
        Kind::Accelerator => "accelerator",
    }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    /// A device and the port above it; each with class or nothing, current and maximal speed and width.
    fn host(class: &str, current: [&str; 2], device_max: [&str; 2], slot_max: [&str; 2]) -> String {
        let slot = "/sys/devices/pci0000:3a/0000:3a:00.0";
        let device = format!("{slot}/0000:3b:00.0");
        let max = |folder: &str, [speed, width]: [&str; 2]| {
            format!("//- {folder}/max_link_speed\n{speed}\n//- {folder}/max_link_width\n{width}\n")
        };
        let [speed, width] = current;
        format!(
            "//- /sys/bus/pci/devices/0000:3a:00.0 -> ../../../devices/pci0000:3a/0000:3a:00.0\n\
             //- /sys/bus/pci/devices/0000:3b:00.0 -> ../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0\n\
             //- {device}/class\n{class}\n//- {device}/current_link_speed\n{speed}\n\
             //- {device}/current_link_width\n{width}\n{}{}",
            max(&device, device_max),
            max(slot, slot_max)
        )
    }

    const GEN3_X8: [&str; 2] = ["8.0 GT/s PCIe", "8"];
    const GEN3_X4: [&str; 2] = ["8.0 GT/s PCIe", "4"];
    const GEN4_X8: [&str; 2] = ["16.0 GT/s PCIe", "8"];
    const GEN1_X4: [&str; 2] = ["2.5 GT/s PCIe", "4"];

    #[test]
    fn half_of_the_lanes_is_medium() {
        assert_eq!(
            verdict(&CHECK, &host("0x010700", GEN3_X4, GEN3_X8, GEN4_X8)),
            "medium: storage device 0000:3b:00.0 runs at 8 GT/s x4, and it and the port above it can do 8 GT/s x8"
        );
    }

    #[test]
    fn evidence_is_what_differs_as_the_kernel_writes_it() {
        let finding = findings(&CHECK, &host("0x010700", GEN1_X4, GEN3_X8, GEN4_X8)).remove(0);
        let values: Vec<_> = finding.evidence.iter().map(|it| it.value.as_str()).collect();
        let speeds = ["2.5 GT/s PCIe", "4", "8.0 GT/s PCIe", "8", "16.0 GT/s PCIe", "8"];
        assert_eq!(values, speeds);
    }

    #[test]
    fn a_quarter_of_the_bandwidth_is_high() {
        assert_eq!(
            verdict(&CHECK, &host("0x020000", GEN1_X4, GEN4_X8, GEN3_X8)),
            "high: network device 0000:3b:00.0 runs at 2.5 GT/s x4, and it and the port above it can do 8 GT/s x8"
        );
    }

    /// An interface with a link at `megabits` on the device of [`host`].
    fn with_wire(excerpt: &str, megabits: u32) -> String {
        let net = "//- /sys/class/net/eth0";
        format!(
            "{excerpt}{net} -> ../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/net/eth0\n\
             {net}/carrier\n1\n{net}/speed\n{megabits}\n"
        )
    }

    #[test]
    fn a_slot_that_still_carries_no_less_than_the_wire_is_low_and_costs_nothing() {
        let excerpt = with_wire(&host("0x020000", GEN3_X4, GEN3_X8, GEN4_X8), 10_000);
        assert_eq!(
            verdict(&CHECK, &excerpt),
            "low: network device 0000:3b:00.0 runs at 8 GT/s x4, and it and the port above it can do 8 GT/s x8; that \
             still carries no less than eth0"
        );
        let cost = findings(&CHECK, &excerpt).remove(0).cost.unwrap();
        assert_eq!(cost.estimate, "nothing of the 1.25 GB/s that eth0 can carry");
        assert_eq!(cost.derivation, "PCIe 3.0 x4: 3.32 GB/s one way; eth0: 1.25 GB/s");
    }

    #[test]
    fn a_slot_that_is_narrower_than_the_wire_says_by_how_much() {
        let narrow = host("0x020000", GEN1_X4, GEN3_X8, GEN4_X8);
        let excerpt = with_wire(&narrow, 10_000);
        assert!(verdict(&CHECK, &excerpt).starts_with("medium: "));
        let cost = findings(&CHECK, &excerpt).remove(0).cost.unwrap();
        assert_eq!(cost.estimate, "33 % of the 1.25 GB/s that eth0 can carry");
        assert!(verdict(&CHECK, &with_wire(&narrow, 40_000)).starts_with("high: "));
    }

    #[test]
    fn a_wire_without_a_link_or_a_speed_changes_nothing() {
        let excerpt = with_wire(&host("0x020000", GEN3_X4, GEN3_X8, GEN4_X8), 10_000);
        let plain = "medium: network device 0000:3b:00.0 runs at 8 GT/s x4, and it and the port above it can do 8 GT/s x8";
        for other in [
            excerpt.replace("carrier\n1\n", "carrier\n0\n"),
            excerpt.replace("speed\n10000\n", "speed\n-1\n"),
        ] {
            assert_eq!(verdict(&CHECK, &other), plain);
        }
    }

    #[test]
    fn a_slot_that_cannot_do_better_is_clean() {
        assert_eq!(verdict(&CHECK, &host("0x010802", GEN3_X4, GEN4_X8, GEN3_X4)), "clean");
        assert_eq!(verdict(&CHECK, &host("0x020000", GEN1_X4, GEN1_X4, GEN4_X8)), "clean");
    }

    #[test]
    fn an_idle_graphics_processor_is_judged_by_its_width() {
        assert_eq!(
            verdict(&CHECK, &host("0x030200", ["2.5 GT/s PCIe", "8"], GEN4_X8, GEN4_X8)),
            "clean"
        );
        assert!(verdict(&CHECK, &host("0x030200", GEN1_X4, GEN4_X8, GEN4_X8)).starts_with("low: "));
    }

    #[test]
    fn an_idle_accelerator_is_judged_by_its_width() {
        let slow = ["2.5 GT/s PCIe", "8"];
        assert_eq!(verdict(&CHECK, &host("0x120000", slow, GEN4_X8, GEN4_X8)), "clean");
        assert_eq!(
            verdict(&CHECK, &host("0x120000", GEN1_X4, GEN4_X8, GEN4_X8)),
            "medium: accelerator 0000:3b:00.0 runs at 2.5 GT/s x4, and it and the port above it can do 2.5 GT/s x8"
        );
    }

    #[test]
    fn a_drive_with_two_of_four_lanes_may_be_in_dual_port_mode() {
        const GEN4_X2: [&str; 2] = ["16.0 GT/s PCIe", "2"];
        const GEN4_X4: [&str; 2] = ["16.0 GT/s PCIe", "4"];
        assert_eq!(
            verdict(&CHECK, &host("0x010802", GEN4_X2, GEN4_X4, GEN4_X4)),
            "low: NVMe drive 0000:3b:00.0 runs at 16 GT/s x2, and it and the port above it can do 16 GT/s x4; a dual-port \
             drive in 2x2 mode runs at x2 by design"
        );
        for degraded in [["8.0 GT/s PCIe", "2"], ["16.0 GT/s PCIe", "1"]] {
            let verdict = verdict(&CHECK, &host("0x010802", degraded, GEN4_X4, GEN4_X4));
            assert!(verdict.starts_with("high: NVMe drive"), "{verdict}");
        }
        assert!(
            verdict(&CHECK, &host("0x010700", GEN4_X2, GEN4_X4, GEN4_X4)).starts_with("medium: ")
        );
    }

    #[test]
    fn what_shows_no_link_is_not_judged() {
        let asleep = host("0x010802", ["Unknown", "63"], GEN4_X8, GEN4_X8);
        assert!(verdict(&CHECK, &asleep).starts_with("not applicable: no PCIe link of "));
        let wifi = host("0x028000", GEN1_X4, GEN4_X8, GEN4_X8);
        assert!(verdict(&CHECK, &wifi).starts_with("not applicable: no PCIe link to judge"));
    }

    #[test]
    fn a_copy_without_links_is_searched_for_folders() {
        let excerpt = host("0x010700", GEN3_X4, GEN3_X8, GEN4_X8);
        let (_, folders) = excerpt.split_once("3b:00.0\n").unwrap();
        assert!(verdict(&CHECK, folders).starts_with("medium: "));
    }

    #[test]
    fn a_guest_has_no_slots_of_its_own() {
        let excerpt = host("0x010700", GEN3_X4, GEN3_X8, GEN4_X8);
        let guest = excerpt + "//- /sys/class/dmi/id/sys_vendor\nQEMU\n";
        assert!(verdict(&CHECK, &guest).starts_with("not applicable: no PCIe slots here"));
    }

    #[test]
    fn a_denied_width_is_unknown() {
        let excerpt = host("0x010700", ["8.0 GT/s PCIe", "!denied"], GEN3_X8, GEN4_X8);
        assert_eq!(
            verdict(&CHECK, &excerpt),
            "unknown: /sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/current_link_width may not be read"
        );
    }
}
