//! Looks for network adapters in a PCIe slot that carries less than their ports do.
//!
//! Source: drivers/pci/pci-sysfs.c; PCI Express Base Specification 6.0, section 4.2 (line codes). What a switch above the
//! slot shares with other devices is not looked at, nor what an adapter with a second connector gets there (Socket Direct).

use crate::ceiling::{Need, need};
use crate::check::{Check, Reference, Verdict, of_each};
use crate::finding::{Confidence, Finding, Severity};
use facts::links::pcie::{Kind, PcieLink, Speed};
use facts::{BytesPerSecond, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "slot-narrower-than-ports",
    title: "a network adapter is in a PCIe slot that carries less than its ports",
    doc: "\
## What it looks at
The PCIe link of every network adapter whose ports have a link: what its lanes carry after line code, and what the ports
run at, Ethernet and InfiniBand. A link that could be faster or wider as it is built is `pcie-link-degraded`'s; here
the slot does all that it can. `fullclock net ceiling` shows the arithmetic, with headers and payload.

## Why it matters
An adapter of 100 Gb/s in a slot with eight lanes of PCIe 3.0 delivers at most 63 Gb/s. The port's link is up at full speed,
and of some drivers one line in the kernel's log says so at boot (`63.008 Gb/s available PCIe bandwidth, limited by`). Packets wait
or are dropped in the adapter, and pause frames slow down the switch. CPUs wait for it, or are blamed for it.

It is medium where one port alone is faster than the slot, and low where only all ports together are.

## When to leave it alone
Where no slot would be better, it is low: the adapter itself can do no more, it is part of the board (`eno1`, `em1`), or of a
laptop or a single-board computer. Two ports of a bond of which one is the spare never need both. An adapter that
takes a second slot (Socket Direct, an auxiliary card) has the lanes of both, and partitions of one port (NPAR) look like ports.
A guest sees slots that its hypervisor made up, so nothing is said there.
",
    references: &[
        Reference {
            title: "PCI Express Base Specification, 4.2 (Physical Layer Logical Block: 8b/10b, 128b/130b)",
            url: "https://pcisig.com/specifications",
        },
        Reference {
            title: "Linux: drivers/pci/pci.c (pcie_bandwidth_available, __pcie_print_link_status)",
            url: "https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/drivers/pci/pci.c",
        },
        Reference {
            title: "systemd: Predictable Network Interface Names (eno: on-board)",
            url: "https://www.freedesktop.org/software/systemd/man/latest/systemd.net-naming-scheme.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    if host.platform.has_virtual_devices() {
        return Err(Missing::not_here("PCIe slots", "a guest sees those its hypervisor made up"));
    }
    let none = Missing::not_here("PCIe slot to judge", "no network adapter with a link is in one");
    let links = host.pcie.links.as_ref()?.iter();
    of_each(links.filter(|it| it.kind == Kind::Network), none, |it| judge(host, it))
}

/// `None` where no port has a link.
fn judge(host: &HostView, link: &PcieLink) -> Result<Option<Vec<Finding>>, Missing> {
    let Some(need) = need(host, link)? else { return Ok(None) };
    let current = link.current.as_ref()?.speed;
    let (device, slot) = (link.device_max.as_ref()?.speed, link.slot_max.as_ref()?.speed);
    let possible = device.common(slot);
    let is_degraded =
        current.gigatransfers_10 < possible.gigatransfers_10 || current.lanes < possible.lanes;
    if is_degraded {
        return Ok(Some(Vec::new()));
    }
    if need.wires.rate() <= need.slot.data {
        return need.wires.missing.map_or(Ok(Some(Vec::new())), Err);
    }
    let reason = no_better_slot(host, &need, current, device);
    let mut finding = finding(&need, link, device, reason);
    let (card, port) = (link.folder.as_str(), link.slot());
    for (folder, which, shown) in [
        (card, "current", &link.current),
        (card, "max", &link.device_max),
        (port, "max", &link.slot_max),
    ] {
        let shown = shown.as_ref()?;
        finding = finding
            .evidence(format!("{folder}/{which}_link_speed"), &shown.text)
            .evidence(format!("{folder}/{which}_link_width"), shown.speed.lanes);
    }
    Ok(Some(vec![finding]))
}

/// Why no other slot would help, where none would.
fn no_better_slot(
    host: &HostView,
    need: &Need,
    current: Speed,
    device: Speed,
) -> Option<&'static str> {
    if device.data_rate() <= current.data_rate() {
        return Some("the adapter itself can do no more");
    }
    let is_part_of_board = need.wires.ports.iter().any(|it| is_on_board(&it.name));
    if is_part_of_board || host.is_portable() || is_single_board(host) {
        return Some("the board is made so");
    }
    None
}

/// systemd's names of what firmware calls a part of the board (`eno1`, `eno1np0`), and biosdevname's (`em1`).
fn is_on_board(name: &str) -> bool {
    let number = name.strip_prefix("eno").or_else(|| name.strip_prefix("em"));
    number.is_some_and(|it| it.starts_with(|digit: char| digit.is_ascii_digit()))
}

/// Boards of ARM and RISC-V that a device tree describes have no SMBIOS; servers with such processors do.
fn is_single_board(host: &HostView) -> bool {
    let has_smbios = host.dmi.vendor.is_ok();
    let is_other = host.cpuinfo.as_ref().is_ok_and(|it| it.vendor.is_empty() && !it.is_power());
    is_other && !has_smbios
}

fn finding(need: &Need, link: &PcieLink, device: Speed, reason: Option<&str>) -> Finding {
    let Need { wires, slot } = need;
    let fastest = wires.fastest().filter(|it| it.rate > slot.data);
    let severity = match (fastest, reason) {
        (Some(_), None) => Severity::Medium,
        _ => Severity::Low,
    };
    let (names, needed) = match fastest {
        Some(port) => (format!("its port {} alone", port.name), port.rate),
        None => (format!("its ports {} together", wires.names()), wires.rate()),
    };
    let (address, carried) = (link.address(), gigabits(slot.data));
    let mut message = format!(
        "the slot of network device {address} ({}) carries {carried}, less than {names} ({})",
        slot.name,
        gigabits(needed)
    );
    if let Some(reason) = reason {
        message += "; ";
        message += reason;
    }
    let lost = 100.0 * (1.0 - slot.one_way.share_of(needed));
    let payload = slot.packet.payload;
    let wanted = gigabits(needed.min(device.data_rate()));
    Finding::new(severity, Confidence::Medium, message)
        .cost(
            format!("up to {lost:.0} % of the {needed} that {}", can_carry(fastest.is_some())),
            format!("{}: {} one way, in packets of {payload}", slot.name, slot.one_way),
        )
        .fix_lasting(match reason {
            None => format!(
                "a slot that carries {wanted} or more: the adapter can do {device}; `lspci -vvs {address}` shows LnkCap, and \
                 the board's manual which slot has the lanes of which processor"
            ),
            Some(_) => "none in this slot: an adapter or a board that carries more, if the ports need it".to_owned(),
        })
}

fn can_carry(is_one: bool) -> &'static str {
    if is_one { "this port can carry" } else { "these ports can carry" }
}

/// `63 Gb/s`, `2.5 Gb/s`: as slots and ports are sold, so that both can be compared.
fn gigabits(rate: BytesPerSecond) -> String {
    let text = format!("{:.1}", rate.0 as f64 * 8.0 / 1e9);
    format!("{} Gb/s", text.trim_end_matches(".0"))
}

#[cfg(test)]
mod tests {
    use super::{CHECK, is_on_board};
    use crate::fixture::{findings, verdict};
    use std::fmt::Write;

    const SLOT: &str = "/sys/devices/pci0000:3a/0000:3a:00.0";
    const GEN1_X1: [&str; 2] = ["2.5 GT/s PCIe", "1"];
    const GEN2_X1: [&str; 2] = ["5.0 GT/s PCIe", "1"];
    const GEN3_X4: [&str; 2] = ["8.0 GT/s PCIe", "4"];
    const GEN3_X8: [&str; 2] = ["8.0 GT/s PCIe", "8"];
    const GEN3_X16: [&str; 2] = ["8.0 GT/s PCIe", "16"];
    const GEN4_X16: [&str; 2] = ["16.0 GT/s PCIe", "16"];

    /// An adapter in a slot; each with its maximal speed and width, and what the link runs at.
    fn card(current: [&str; 2], device_max: [&str; 2], slot_max: [&str; 2]) -> String {
        let device = format!("{SLOT}/0000:3b:00.0");
        let shown = |folder: &str, which: &str, [speed, width]: [&str; 2]| {
            format!(
                "//- {folder}/{which}_link_speed\n{speed}\n//- {folder}/{which}_link_width\n{width}\n"
            )
        };
        format!(
            "//- /sys/bus/pci/devices/0000:3a:00.0 -> ../../..{}\n\
             //- /sys/bus/pci/devices/0000:3b:00.0 -> ../../..{}\n\
             //- {device}/class\n0x020000\n{}{}{}",
            &SLOT["/sys".len()..],
            &device["/sys".len()..],
            shown(&device, "current", current),
            shown(&device, "max", device_max),
            shown(SLOT, "max", slot_max)
        )
    }

    /// The card with a port of each name on a function of its own.
    fn with_ports(card: &str, names: &[&str], megabits: u32) -> String {
        let mut text = card.to_owned();
        for (number, name) in names.iter().enumerate() {
            let place = format!("{}/0000:3b:00.{number}", &SLOT["/sys".len()..]);
            let net = format!("//- /sys/class/net/{name}");
            writeln!(
                text,
                "{net} -> ../..{place}/net/{name}\n{net}/type\n1\n{net}/carrier\n1\n{net}/speed\n{megabits}"
            )
            .unwrap();
        }
        text
    }

    const SERVER: &str =
        "//- /sys/class/dmi/id/sys_vendor\nDell Inc.\n//- /sys/class/dmi/id/chassis_type\n23\n";

    #[test]
    fn one_port_that_is_faster_than_the_slot_is_medium() {
        let card = card(GEN3_X8, GEN4_X16, GEN3_X8);
        let excerpt = with_ports(&card, &["ens1f0", "ens1f1"], 100_000) + SERVER;
        assert_eq!(
            verdict(&CHECK, &excerpt),
            "medium: the slot of network device 0000:3b:00.0 (PCIe 3.0 x8) carries 63 Gb/s, less than its port ens1f0 alone \
             (100 Gb/s)"
        );
        let finding = findings(&CHECK, &excerpt).remove(0);
        let cost = finding.cost.unwrap();
        assert_eq!(cost.estimate, "up to 47 % of the 12.50 GB/s that this port can carry");
        assert_eq!(cost.derivation, "PCIe 3.0 x8: 6.63 GB/s one way, in packets of 128 bytes");
        let lasting = finding.fix.lasting.unwrap();
        assert!(lasting.contains("100 Gb/s or more: the adapter can do 16 GT/s x16"), "{lasting}");
        let values: Vec<_> = finding.evidence.iter().map(|it| it.value.as_str()).collect();
        assert_eq!(values, ["8.0 GT/s PCIe", "8", "16.0 GT/s PCIe", "16", "8.0 GT/s PCIe", "8"]);
    }

    #[test]
    fn ports_that_only_together_are_faster_than_the_slot_are_low() {
        let card = card(GEN3_X8, GEN4_X16, GEN3_X8);
        let excerpt = with_ports(&card, &["ens1f0", "ens1f1"], 50_000) + SERVER;
        assert_eq!(
            verdict(&CHECK, &excerpt),
            "low: the slot of network device 0000:3b:00.0 (PCIe 3.0 x8) carries 63 Gb/s, less than its ports ens1f0, ens1f1 \
             together (100 Gb/s)"
        );
        let down = excerpt.replacen("carrier\n1\n", "carrier\n0\n", 1);
        assert_eq!(verdict(&CHECK, &down), "clean");
    }

    #[test]
    fn a_slot_that_carries_all_ports_is_clean() {
        let card = card(GEN3_X8, GEN4_X16, GEN3_X8);
        assert_eq!(verdict(&CHECK, &with_ports(&card, &["a", "b"], 25_000)), "clean");
        // What headers take is not counted against a slot: 56 Gb/s behind eight lanes is how such cards are sold.
        assert_eq!(verdict(&CHECK, &with_ports(&card, &["a"], 56_000)), "clean");
    }

    #[test]
    fn a_card_that_can_do_no_more_is_low() {
        let card = card(GEN3_X16, GEN3_X16, GEN4_X16);
        let excerpt = with_ports(&card, &["ens1f0", "ens1f1"], 100_000) + SERVER;
        let verdict = verdict(&CHECK, &excerpt);
        assert!(verdict.starts_with("low: ") && verdict.contains("126 Gb/s"), "{verdict}");
        assert!(verdict.ends_with("together (200 Gb/s); the adapter itself can do no more"));
        let small = with_ports(&self::card(GEN1_X1, GEN1_X1, GEN2_X1), &["enp3s0"], 2500) + SERVER;
        let lasting = findings(&CHECK, &small).remove(0).fix.lasting.unwrap();
        assert!(lasting.starts_with("none in this slot"), "{lasting}");
    }

    #[test]
    fn what_the_board_is_made_of_is_low() {
        let narrow = card(GEN2_X1, GEN3_X4, GEN2_X1);
        let arm = "//- /proc/cpuinfo\nprocessor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n";
        let power = "//- /proc/cpuinfo\nprocessor\t: 0\ncpu\t\t: POWER9, altivec supported\n";
        let laptop = "//- /sys/class/dmi/id/chassis_type\n10\n";
        for (name, beside) in [("enp1s0", arm), ("enp1s0", laptop), ("eno1", SERVER)] {
            let verdict = verdict(&CHECK, &(with_ports(&narrow, &[name], 10_000) + beside));
            assert_eq!(
                verdict,
                format!(
                    "low: the slot of network device 0000:3b:00.0 (PCIe 2.0 x1) carries 4 Gb/s, less than its port {name} alone \
                     (10 Gb/s); the board is made so"
                )
            );
        }
        let arm_server = format!("{arm}{SERVER}");
        for beside in [SERVER, power, &arm_server] {
            let verdict = verdict(&CHECK, &(with_ports(&narrow, &["enp1s0"], 10_000) + beside));
            assert!(verdict.starts_with("medium: "), "{verdict}");
        }
        assert!(is_on_board("eno1np0") && is_on_board("em2") && !is_on_board("ens1"));
        assert!(!is_on_board("eno") && !is_on_board("emu0"));
    }

    #[test]
    fn a_link_that_could_do_more_is_left_to_the_check_of_links() {
        let card = card(GEN3_X4, GEN4_X16, GEN3_X8);
        assert_eq!(verdict(&CHECK, &with_ports(&card, &["ens1f0"], 100_000)), "clean");
    }

    #[test]
    fn a_port_of_infiniband_is_held_against_the_slot_too() {
        let rdma = format!(
            "//- /sys/class/infiniband/mlx5_0 -> ../..{}/0000:3b:00.0/infiniband/mlx5_0\n\
             //- /sys/class/infiniband/mlx5_0/ports/1/state\n4: ACTIVE\n\
             //- /sys/class/infiniband/mlx5_0/ports/1/rate\n200 Gb/sec (4X HDR)\n\
             //- /sys/class/infiniband/mlx5_0/ports/1/link_layer\nInfiniBand\n",
            &SLOT["/sys".len()..]
        );
        let verdict = verdict(&CHECK, &(card(GEN3_X16, GEN4_X16, GEN3_X16) + &rdma + SERVER));
        assert!(verdict.starts_with("medium: "), "{verdict}");
        assert!(
            verdict
                .ends_with("carries 126 Gb/s, less than its port mlx5_0 port 1 alone (200 Gb/s)")
        );
    }

    #[test]
    fn a_port_that_does_not_say_how_fast_it_is_makes_the_slot_unknown() {
        let card = card(GEN3_X8, GEN4_X16, GEN3_X8);
        let unknown =
            with_ports(&card, &["ens1f0"], 100_000).replace("speed\n100000", "speed\n!denied");
        assert_eq!(
            verdict(&CHECK, &unknown),
            "unknown: /sys/class/net/ens1f0/speed may not be read"
        );
    }

    #[test]
    fn what_is_known_of_the_ports_is_enough_where_it_is_more_than_the_slot() {
        let card = card(GEN3_X8, GEN4_X16, GEN3_X8) + "//- /sys/class/infiniband/\n!denied\n";
        let verdict_of = |megabits| verdict(&CHECK, &with_ports(&card, &["ens1f0"], megabits));
        assert!(verdict_of(100_000).starts_with("medium: "));
        assert_eq!(verdict_of(10_000), "unknown: /sys/class/infiniband may not be read");
    }

    #[test]
    fn without_a_link_or_a_slot_of_its_own_there_is_nothing_to_judge() {
        let card = card(GEN3_X8, GEN4_X16, GEN3_X8);
        let none =
            "not applicable: no PCIe slot to judge here: no network adapter with a link is in one";
        assert_eq!(verdict(&CHECK, &card), none);
        let down = with_ports(&card, &["ens1f0"], 100_000).replace("carrier\n1\n", "carrier\n0\n");
        assert_eq!(verdict(&CHECK, &down), none);
        let guest =
            with_ports(&card, &["ens1f0"], 100_000) + "//- /sys/class/dmi/id/sys_vendor\nQEMU\n";
        assert!(verdict(&CHECK, &guest).starts_with("not applicable: no PCIe slots here"));
    }
}
