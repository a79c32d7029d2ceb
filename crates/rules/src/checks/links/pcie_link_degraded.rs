//! Looks for network, storage and graphics devices whose PCIe link is slower or narrower than both of its ends.
//!
//! Source: drivers/pci/pci-sysfs.c. A port may be able to do more than
//! is wired to its slot, which no file tells; hence the confidence.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::links::pcie::{Kind, PcieLink, Speed};
use facts::{HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "pcie-link-degraded",
    title: "a PCIe device runs slower than it and its slot can",
    doc: "\
## What it looks at
`current_link_speed`, `current_link_width` and their maxima, of every network, storage, graphics and accelerator
device and of the port above it. A link is degraded only where the device *and* the port can do better.

## Why it matters
A card that is not seated well, a tired riser or a firmware setting brings a link up with half of its lanes
or an older generation's speed. It works, so nobody looks: the adapter delivers a half or a quarter of what it was
bought for, and CPUs wait for it.

## When to leave it alone
A slot that is wired narrower than its port can be: the board's manual says so. A graphics processor lowers
its speed when it is idle, so only its width is judged. What shows no speed or width is asleep, or inside of a
chip. A guest sees slots that its hypervisor made up, so nothing is said there.
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
    if host.platform.is_guest() {
        return Err(Missing::not_here("PCIe slots", "a guest sees those its hypervisor made up"));
    }
    let links = host.pcie.links.as_ref()?;
    let mut findings = Vec::new();
    let mut absent =
        Missing::not_here("PCIe link to judge", "no network or storage device is in a slot");
    let mut unknown = None;
    let mut n_judged = 0;
    for link in links {
        match judge(link) {
            Ok(finding) => {
                n_judged += 1;
                findings.extend(finding);
            }
            Err(missing) if missing.is_absence() => absent = missing.clone(),
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match unknown {
        _ if !findings.is_empty() => Ok(findings),
        Some(missing) => Err(missing.into()),
        None if n_judged == 0 => Err(absent),
        None => Ok(findings),
    }
}

fn judge(link: &PcieLink) -> Result<Option<Finding>, &Missing> {
    let current = link.current.as_ref()?;
    let (device, slot) = (link.device_max.as_ref()?, link.slot_max.as_ref()?);
    let mut possible = device.speed.common(slot.speed);
    if link.kind == Kind::Graphics {
        possible.gigatransfers_10 = current.speed.gigatransfers_10;
    }
    let is_slow = current.speed.gigatransfers_10 < possible.gigatransfers_10;
    let is_narrow = current.speed.lanes < possible.lanes;
    if !is_slow && !is_narrow {
        return Ok(None);
    }
    let mut finding = degraded(link, current.speed, possible);
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
    let address = link.address();
    let (got, bought) = (current.megabytes(), possible.megabytes());
    let (severity, confidence) = match link.kind {
        Kind::Graphics => (Severity::Low, Confidence::Low),
        _ if got.saturating_mul(MOST_IS_LOST) <= bought => (Severity::High, Confidence::Medium),
        _ => (Severity::Medium, Confidence::Medium),
    };
    let message = format!(
        "{} {address} runs at {current}, and it and the port above it can do {possible}",
        noun(link.kind)
    );
    Finding::new(severity, confidence, message)
        .cost(
            format!("{} of {bought} MB/s in each direction", bought.saturating_sub(got)),
            format!("payload of {possible} after line code, less that of {current}"),
        )
        .fix_lasting(format!(
            "reseat the card, or try another slot or riser; look for a link speed or bifurcation setting of the \
             slot in the firmware setup; `lspci -vvs {address}` shows LnkCap and LnkSta"
        ))
}

fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Network => "network device",
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
