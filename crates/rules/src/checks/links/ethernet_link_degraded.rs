//! Looks for Ethernet links that are slower than both ends can do, or use one direction at a time.
//!
//! Source: include/uapi/linux/ethtool.h (`struct ethtool_link_settings`). What the switch could do is unknown where the
//! driver does not tell what it advertises, nor, of many adapters, which of the speeds need another transceiver.

mod link;

use crate::check::{Check, Reference, Verdict, of_each};
use crate::finding::Finding;
use facts::links::ethtool::{Duplex, Settings};
use facts::links::network::Interface;
use facts::{HostView, Missing};
use link::Link;

pub(crate) const CHECK: Check = Check {
    id: "ethernet-link-degraded",
    title: "an Ethernet link is slower than it can be, or in half duplex",
    doc: "\
## What it looks at
Speed and duplex of every Ethernet interface that has a link and a wire of its own, and beside them the speeds that the
adapter supports, that this end advertises and that the other end does, as `ethtool IF` shows them: asked of the driver,
or read from `sos_commands/networking` of an sosreport. RDMA over Ethernet (RoCE) is on the same wire, and is named
with it.

## Why it matters
A gigabit cable with one broken pair comes up at 100 Mb/s; a dirty transceiver or a switch port that was set by hand at
a lower speed. Nothing logs it, and every block, log record and message between nodes takes that much longer. Where one
end is set by hand and the other negotiates, the latter falls back to half duplex, and both lose packets under load.

## When to leave it alone
A port for management that runs at 1 Gb/s because its switch does: where the other end does not tell what it can do this
check can only say that the adapter could do more, with low confidence. Some adapters list every speed that they
have with any transceiver. Links that are down, Wi-Fi, virtual interfaces and virtual functions are not judged; neither is a
guest's, whose wire its hypervisor made up. Error correction (FEC) that is off and pause frames that are on are no faults by
themselves: short copper needs no FEC, RoCE often needs pause frames. `fullclock net ceiling` shows both.
",
    references: &[
        Reference {
            title: "Linux: include/uapi/linux/ethtool.h (struct ethtool_link_settings)",
            url: "https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/include/uapi/linux/ethtool.h",
        },
        Reference { title: "ethtool(8)", url: "https://man7.org/linux/man-pages/man8/ethtool.8.html" },
        Reference {
            title: "IEEE 802.3, clause 28 (auto-negotiation) and 28.2.3.1 (parallel detection, which leaves half duplex)",
            url: "https://standards.ieee.org/ieee/802.3/10422/",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    if host.platform.has_virtual_devices() {
        return Err(Missing::not_here("Ethernet wire", "a guest sees one its hypervisor made up"));
    }
    let none = Missing::not_here("Ethernet link to judge", "no interface has one");
    let interfaces = host.network.interfaces.as_ref()?.iter();
    let interfaces = interfaces.filter(|it| !it.is_infiniband() && !it.shares_wire);
    of_each(interfaces, none, |it| judge(host, it).map(Some))
}

fn judge(host: &HostView, interface: &Interface) -> Verdict {
    let settings = interface.ethtool.settings.as_ref()?;
    let link = Link { interface, settings, name: name(host, interface) };
    let slow = settings.speed.and_then(|speed| link.slow(speed));
    let half = (settings.duplex == Some(Duplex::Half)).then(|| link.half());
    let findings: Vec<Finding> = slow.into_iter().chain(half).collect();
    match untold(settings) {
        Some(what) if findings.is_empty() => Err(Missing::not_here(
            format!("{what} of {} to judge", interface.name),
            "its driver does not report it",
        )),
        _ => Ok(findings),
    }
}

/// What a speed cannot be judged without, as virtual drivers leave it out.
fn untold(settings: &Settings) -> Option<&'static str> {
    match settings.speed {
        None => Some("speed"),
        Some(_) if settings.supported.is_empty() => Some("supported speed"),
        Some(_) => None,
    }
}

/// `eth0`, `eth0 (mlx5_0 port 1)`: RDMA over the same wire has no finding of its own.
fn name(host: &HostView, interface: &Interface) -> String {
    let devices = host.network.rdma.iter().flatten();
    let ports = devices.flat_map(|device| device.ethernet.iter().map(move |port| (device, port)));
    let of_interface = ports.filter(|(device, port)| match &port.interface {
        Ok(name) => *name == interface.name,
        Err(_) => device.pci.is_ok() && device.pci == interface.pci && device.ethernet.len() == 1,
    });
    let names: Vec<String> = of_interface
        .map(|(device, port)| format!("{} port {}", device.name, port.number))
        .collect();
    if names.is_empty() {
        interface.name.clone()
    } else {
        format!("{} ({})", interface.name, names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const PLACE: &str = "devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0";

    /// An interface with a link, and what ethtool prints of it.
    fn host(printed: &str) -> String {
        let net = "//- /sys/class/net/eth0";
        format!(
            "{net} -> ../../{PLACE}/net/eth0\n{net}/type\n1\n{net}/carrier\n1\n\
             //- /sys/class/dmi/id/sys_vendor\nDell Inc.\n\
             //- /sos_commands/networking/ethtool_eth0\nSettings for eth0:\n{printed}"
        )
    }

    fn modes(supported: &str, advertised: &str, partner: &str) -> String {
        let of = |what: &str, modes: &str| {
            let modes: Vec<String> =
                modes.split_whitespace().map(|it| format!("{it}baseT/Full")).collect();
            let shown = if modes.is_empty() { "Not reported".to_owned() } else { modes.join(" ") };
            format!("\t{what}: {shown}\n")
        };
        of("Supported link modes", supported)
            + &of("Advertised link modes", advertised)
            + &of("Link partner advertised link modes", partner)
    }

    fn at(speed: &str, modes: &str) -> String {
        host(&format!("{modes}\tSpeed: {speed}\n\tDuplex: Full\n\tAuto-negotiation: on\n"))
    }

    const GIGABIT: &str = "10 100 1000";

    #[test]
    fn a_broken_pair_that_leaves_a_tenth_is_high() {
        let excerpt = at("100Mb/s", &modes(GIGABIT, GIGABIT, GIGABIT));
        assert_eq!(
            verdict(&CHECK, &excerpt),
            "high: eth0 runs at 0.1 Gb/s, and both of its ends offer 1 Gb/s"
        );
        let finding = findings(&CHECK, &excerpt).remove(0);
        assert_eq!(finding.cost.unwrap().estimate, "90 % of the 1 Gb/s that the wire could carry");
        assert_eq!(finding.evidence[0].source, "ethtool eth0 link-settings: Speed");
        assert_eq!(finding.evidence.len(), 5);
    }

    #[test]
    fn less_than_three_quarters_lost_is_medium() {
        let modes = modes("1000 10000 25000", "1000 10000 25000", "10000 25000");
        assert!(verdict(&CHECK, &at("10000Mb/s", &modes)).starts_with("medium: "));
    }

    #[test]
    fn the_best_that_both_ends_can_do_is_clean() {
        assert_eq!(
            verdict(&CHECK, &at("1000Mb/s", &modes("1000 10000", "1000 10000", GIGABIT))),
            "clean"
        );
        assert_eq!(verdict(&CHECK, &at("25000Mb/s", &modes("25000", "25000", ""))), "clean");
    }

    #[test]
    fn what_is_offered_is_said_and_not_what_the_adapter_could_offer() {
        let all = "100 1000 10000";
        let excerpt = at("100Mb/s", &modes(all, "100 1000", all));
        assert_eq!(
            verdict(&CHECK, &excerpt),
            "high: eth0 runs at 0.1 Gb/s, and both of its ends offer 1 Gb/s"
        );
        let cost = findings(&CHECK, &excerpt).remove(0).cost.unwrap();
        assert_eq!(cost.estimate, "90 % of the 1 Gb/s that the wire could carry");
    }

    #[test]
    fn a_driver_that_tells_no_speed_or_none_that_it_could_do_is_not_judged() {
        assert_eq!(
            verdict(&CHECK, &at("10000Mb/s", &modes("", "", ""))),
            "not applicable: no supported speed of eth0 to judge here: its driver does not report it"
        );
        let unknown = at("Unknown!", &modes(GIGABIT, GIGABIT, GIGABIT));
        for duplex in ["Full\n", "Unknown! (255)\n"] {
            assert_eq!(
                verdict(&CHECK, &unknown.replace("Full\n", duplex)),
                "not applicable: no speed of eth0 to judge here: its driver does not report it"
            );
        }
    }

    #[test]
    fn who_advertises_less_is_told_so_in_a_low_voice() {
        assert_eq!(
            verdict(&CHECK, &at("1000Mb/s", &modes("1000 10000", "1000", "1000 10000"))),
            "low: eth0 runs at 1 Gb/s: it advertises less than it can, and both of its ends can do 10 Gb/s"
        );
        assert_eq!(
            verdict(&CHECK, &at("1000Mb/s", &modes("1000 10000", "1000", ""))),
            "low: eth0 runs at 1 Gb/s: it advertises less than it can, and its adapter can do 10 Gb/s"
        );
    }

    #[test]
    fn a_partner_that_does_not_tell_may_be_the_slower_one() {
        let excerpt = at("1000Mb/s", &modes("1000 10000", "1000 10000", ""));
        assert_eq!(
            verdict(&CHECK, &excerpt),
            "low: eth0 runs at 1 Gb/s, and its adapter can do 10 Gb/s; what the other end can is not told"
        );
        assert_eq!(findings(&CHECK, &excerpt)[0].confidence, crate::finding::Confidence::Low);
    }

    #[test]
    fn a_transceiver_that_negotiates_nothing_is_said_to_be_perhaps_the_reason() {
        let printed = format!(
            "{}\tSpeed: 10000Mb/s\n\tDuplex: Full\n\tPort: FIBRE\n\tAuto-negotiation: off\n",
            modes("10000 25000", "", "")
        );
        assert_eq!(
            verdict(&CHECK, &host(&printed)),
            "low: eth0 is set to 10 Gb/s, and its adapter can do 25 Gb/s, perhaps with another transceiver"
        );
    }

    #[test]
    fn negotiation_is_no_advice_for_fibre_and_elsewhere_takes_the_link_down() {
        let fix = |port: &str| {
            let printed = format!(
                "{}\tSpeed: 10000Mb/s\n\tDuplex: Full\n\tPort: {port}\n\tAuto-negotiation: off\n",
                modes("10000 25000", "", "")
            );
            findings(&CHECK, &host(&printed)).remove(0).fix.lasting.unwrap()
        };
        assert!(!fix("FIBRE").contains("autoneg on"), "{}", fix("FIBRE"));
        assert!(fix("Direct Attach Copper").contains("stays down if the port does not"));
        assert!(fix("Twisted Pair").contains("the link goes down while they do"));
    }

    #[test]
    fn half_duplex_is_high() {
        let excerpt = host("\tSpeed: 100Mb/s\n\tDuplex: Half\n");
        assert_eq!(verdict(&CHECK, &excerpt), "high: eth0 runs in half duplex");
    }

    #[test]
    fn rdma_over_the_same_wire_is_named_with_it() {
        let rdma = "//- /sys/class/infiniband/mlx5_0";
        let rdma = format!(
            "{rdma} -> ../../{PLACE}/infiniband/mlx5_0\n{rdma}/ports/1/link_layer\nEthernet\n\
             {rdma}/ports/1/rate\n2.5 Gb/sec (1X SDR)\n"
        );
        let excerpt = rdma + &at("100Mb/s", &modes(GIGABIT, GIGABIT, GIGABIT));
        assert!(
            verdict(&CHECK, &excerpt).starts_with("high: eth0 (mlx5_0 port 1) runs at 0.1 Gb/s")
        );
        let other = verdict(&super::super::infiniband_link_degraded::CHECK, &excerpt);
        assert!(other.starts_with("not applicable: "), "{other}");
    }

    #[test]
    fn no_link_no_wire_and_no_answer_are_never_a_fault() {
        let slow = at("100Mb/s", &modes(GIGABIT, GIGABIT, GIGABIT));
        let net = "/sys/class/net/eth0";
        for other in [
            slow.replace("carrier\n1\n", "carrier\n0\n"),
            slow.replace("/type\n1\n", "/type\n32\n"),
            slow.replace(&format!("../../{PLACE}/net/eth0"), "../../devices/virtual/net/eth0"),
            format!("{slow}//- {net}/phy80211 -> ../phy0\n"),
            format!("{slow}//- /sys/{PLACE}/physfn -> ../0000:3b:00.1\n"),
            slow.replace("Dell Inc.", "QEMU"),
            slow.replace("Settings for eth0:", "netlink error: Operation not supported"),
        ] {
            let verdict = verdict(&CHECK, &other);
            assert!(verdict.starts_with("not applicable: "), "{verdict}\n{other}");
        }
    }

    #[test]
    fn a_driver_that_was_not_asked_or_refuses_is_unknown() {
        let denied = host("")
            .replace("//- /sos_commands", "//- ethtool eth0 link-settings\n!denied\n//- /x");
        assert_eq!(verdict(&CHECK, &denied), "unknown: ethtool eth0 link-settings may not be read");
        let (sysfs, _) = denied.split_once("//- ethtool").unwrap();
        let copy = format!("fullclock capture 1 (imported)\n{sysfs}");
        assert!(
            verdict(&CHECK, &copy).starts_with("unknown: ethtool eth0 link-settings is not in")
        );
    }
}
