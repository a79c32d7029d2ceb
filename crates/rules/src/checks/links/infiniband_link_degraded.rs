//! Looks at state, width and speed of every InfiniBand port.
//!
//! Source: drivers/infiniband/core/sysfs.c. The kernel shows the rate in use, not the one the adapter could do:
//! a missing lane is certain, a low speed is judged by what the adapter's family is sold with at least.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::links::infiniband::{Port, Rate, phys_state, state};
use facts::{HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "infiniband-link-degraded",
    title: "an InfiniBand port runs with fewer lanes or slower than it can",
    doc: "\
## What it looks at
`state`, `phys_state`, `rate` and `hca_type` of every port below `/sys/class/infiniband` whose link layer is
InfiniBand. Ports with RDMA over Ethernet (RoCE) are left out: `25 Gb/sec (1X EDR)` is how 25 Gb Ethernet is
shown there, and nothing is wrong with it. Their wire is an interface's, and `ethernet-link-degraded` judges it by what that
and the other end can do.

## Why it matters
A cable with one bad pair, a half-seated connector or a dying transceiver does not take the link down: it
comes up with one lane instead of four, or at a lower speed, and every block, log record and message
between the nodes takes that much longer while the CPUs wait. Nothing logs it.

## When to leave it alone
A port runs at its own maximum at `10 Gb/sec (4X SDR)`, `40 Gb/sec (4X QDR)` or `56 Gb/sec (4X FDR)` if that is what
adapter, cable and switch were bought for; so does HDR100 or NDR200, which are two lanes by design. A switch port in split
mode has two lanes at any speed: two lanes of an adapter that is made for it are low, with low confidence. Omni-Path calls
itself InfiniBand here and shows 1 to 3 lanes as one, so how much is lost is unknown. A low
speed is reported only where every adapter of that type is sold with a faster one, and still the switch may be
the older part. Ports without a cable are a note.
",
    references: &[
        Reference {
            title: "Linux: InfiniBand sysfs interface (/sys/class/infiniband)",
            url: "https://docs.kernel.org/infiniband/sysfs.html",
        },
        Reference {
            title: "Linux: drivers/infiniband/hw/hfi1/verbs.c (opa_width_to_ib)",
            url: "https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/drivers/infiniband/hw/hfi1/verbs.c",
        },
        Reference {
            title: "InfiniBand Architecture Specification, Volume 1, 14.2.5.6 PortInfo (LinkWidthActive, LinkSpeedActive)",
            url: "https://www.infinibandta.org/ibta-specification/",
        },
    ],
    run,
};

/// The slowest port that each adapter is sold with, in Gb/s, by `hca_type` (the PCI device id in decimal).
///
/// Source: the adapters' user manuals. Families that were sold with several speeds from QDR on
/// (ConnectX-2 to ConnectX-4) are left out: their model is not in sysfs.
const SLOWEST_SOLD: &[(&str, &str, u32)] = &[
    ("MT4113", "Connect-IB", 56),
    ("MT4119", "ConnectX-5", 100),
    ("MT4121", "ConnectX-5 Ex", 100),
    ("MT4123", "ConnectX-6", 100),
    ("MT4129", "ConnectX-7", 200),
];

/// The lanes of an adapter's port. HDR100 and NDR200 use two of them.
const LANES: u32 = 4;

/// Adapters that a switch port in split mode (two lanes for each of two adapters) may be connected to, by `hca_type`:
/// ConnectX-6, -7 and -8, BlueField-2 and -3.
const SPLIT: &[&str] = &["MT4123", "MT4129", "MT4131", "MT41686", "MT41692"];

fn run(host: &HostView) -> Verdict {
    let ports = host.infiniband.ports.as_ref()?;
    if ports.is_empty() {
        return Err(Missing::not_here("InfiniBand port", "no RDMA device has one"));
    }
    let mut findings = Vec::new();
    let mut unconnected = Vec::new();
    let mut unknown = None;
    for port in ports {
        match judge(port) {
            Ok(Judgement::Fine) => {}
            Ok(Judgement::Unconnected) => unconnected.push(port),
            Ok(Judgement::Fault(finding)) => findings.push(*finding),
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    findings.extend(without_link(&unconnected));
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing.into()),
        _ => Ok(findings),
    }
}

enum Judgement {
    Fine,
    Unconnected,
    Fault(Box<Finding>),
}

fn judge(port: &Port) -> Result<Judgement, &Missing> {
    port.link_layer.as_ref()?;
    let state = port.state.as_ref()?;
    let fault = match state.code {
        state::ACTIVE => slow_or_narrow(port)?,
        state::INIT | state::DOWN => match port.phys_state.as_ref()?.code {
            phys_state::LINK_UP => Some(unmanaged(port)),
            phys_state::TRAINING | phys_state::ERROR_RECOVERY => Some(never_trained(port)),
            phys_state::POLLING => return Ok(Judgement::Unconnected),
            // Disabled or asleep on somebody's request.
            _ => None,
        },
        _ => None,
    };
    Ok(fault.map_or(Judgement::Fine, |finding| Judgement::Fault(Box::new(finding))))
}

fn slow_or_narrow(port: &Port) -> Result<Option<Finding>, &Missing> {
    let rate = port.rate.as_ref()?;
    let adapter = port.adapter.as_deref().unwrap_or_default();
    if is_narrow(rate) {
        return Ok(Some(if port.is_omni_path() {
            narrow_omni_path(port, rate)
        } else if rate.lanes == 2 && SPLIT.contains(&adapter) {
            perhaps_split(port, rate)
        } else {
            narrow(port, rate)
        }));
    }
    let family = SLOWEST_SOLD.iter().find(|(hca_type, _, _)| *hca_type == adapter);
    Ok(family
        .filter(|(_, _, gigabits)| rate.gigabits_10 < gigabits * 10)
        .map(|&(_, family, gigabits)| slow(port, rate, family, gigabits)))
}

/// Two lanes of HDR and later are products: HDR100, NDR200.
fn is_narrow(rate: &Rate) -> bool {
    let is_split = rate.lanes == 2 && matches!(rate.speed.as_str(), "HDR" | "NDR" | "XDR");
    rate.lanes < LANES && !is_split
}

fn narrow(port: &Port, rate: &Rate) -> Finding {
    let (name, lanes) = (&port.name, rate.lanes);
    let lost = 100 * LANES.saturating_sub(lanes) / LANES;
    let message = format!("{name} runs on {lanes} of its {LANES} lanes: {}", rate.text);
    // A split switch port with an adapter that is older than splitting has two lanes, too.
    let confidence = if lanes == 2 { Confidence::Medium } else { Confidence::High };
    Finding::new(Severity::High, confidence, message)
        .evidence(port.path("rate"), &rate.text)
        .cost(
            format!("{lost} % of the link's bandwidth"),
            format!("{lanes} of {LANES} lanes carry data"),
        )
        .fix_lasting(CABLE)
}

/// The driver shows 1, 2 and 3 lanes all as one: InfiniBand has no name for three (drivers/infiniband/hw/hfi1/verbs.c,
/// opa_width_to_ib). A policy of the fabric manager lets a link with fewer lanes stay up.
fn narrow_omni_path(port: &Port, rate: &Rate) -> Finding {
    let message = format!(
        "{} runs on fewer than its {LANES} lanes; how many is unknown, Omni-Path shows 1 to 3 as 1X: {}",
        port.name, rate.text
    );
    Finding::new(Severity::Medium, Confidence::Medium, message)
        .evidence(port.path("rate"), &rate.text)
        .cost("a quarter to three quarters of the link's bandwidth", "1, 2 or 3 of 4 lanes carry data")
        .fix_lasting(
            "`opainfo` shows the lanes in use; reseat or change the cable; the fabric manager's link policy decides whether a \
             link with fewer lanes stays up",
        )
}

/// Two lanes below HDR: what a port in split mode gives an older speed, or what two dead lanes leave.
fn perhaps_split(port: &Port, rate: &Rate) -> Finding {
    let message = format!(
        "{} runs on 2 of its {LANES} lanes: {}; a split switch port does so by design",
        port.name, rate.text
    );
    Finding::new(Severity::Low, Confidence::Low, message)
        .evidence(port.path("rate"), &rate.text)
        .evidence(port.path("../../hca_type"), port.adapter.as_deref().unwrap_or_default())
        .cost(
            "half of the link's bandwidth, unless it was bought so",
            format!("2 of {LANES} lanes carry data"),
        )
        .fix_lasting(format!("none if the switch port is split; otherwise {CABLE}"))
}

fn slow(port: &Port, rate: &Rate, family: &str, gigabits: u32) -> Finding {
    let name = &port.name;
    let message =
        format!("{name} runs at {}, and every {family} can do {gigabits} Gb/s", rate.text);
    Finding::new(Severity::Low, Confidence::Low, message)
        .evidence(port.path("rate"), &rate.text)
        .evidence(port.path("../../hca_type"), port.adapter.as_deref().unwrap_or_default())
        .fix_lasting(CABLE)
}

const CABLE: &str = "reseat the cable at both ends, then change it for one made for this speed, then try another \
                     switch port; `iblinkinfo` shows what both ends can do, `perfquery` their error counters";

fn unmanaged(port: &Port) -> Finding {
    let message = format!("{} has a link, and no subnet manager has brought it up", port.name);
    with_states(Finding::new(Severity::Medium, Confidence::Medium, message), port).fix_lasting(
        "a subnet manager on the fabric: the switch's own, or `systemctl enable --now opensm` on one host",
    )
}

fn never_trained(port: &Port) -> Finding {
    let message = format!("{} does not get past link training", port.name);
    with_states(Finding::new(Severity::Medium, Confidence::Low, message), port).fix_lasting(CABLE)
}

/// One note for all of them: half of the ports of many servers were never cabled.
fn without_link(ports: &[&Port]) -> Option<Finding> {
    let first = ports.first()?;
    let names: Vec<&str> = ports.iter().map(|it| it.name.as_str()).collect();
    let message = format!("no link on {}: no cable, or nothing at its other end", names.join(", "));
    Some(with_states(Finding::new(Severity::Info, Confidence::Low, message), first))
}

fn with_states(mut finding: Finding, port: &Port) -> Finding {
    for (file, fact) in [("state", &port.state), ("phys_state", &port.phys_state)] {
        if let Ok(coded) = fact {
            finding = finding.evidence(port.path(file), &coded.text);
        }
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    fn host(adapter: &str, layer: &str, states: (&str, &str), rate: &str) -> String {
        let device = "//- /sys/class/infiniband/mlx5_0";
        let port = format!("{device}/ports/1");
        let (state, phys_state) = states;
        format!(
            "{device}/hca_type\n{adapter}\n{port}/link_layer\n{layer}\n{port}/state\n{state}\n\
             {port}/phys_state\n{phys_state}\n{port}/rate\n{rate}\n"
        )
    }

    fn active(adapter: &str, rate: &str) -> String {
        verdict(&CHECK, &host(adapter, "InfiniBand", ("4: ACTIVE", "5: LinkUp"), rate))
    }

    fn inactive(state: &str, phys_state: &str) -> String {
        let rate = "10 Gb/sec (4X SDR)";
        verdict(&CHECK, &host("MT4119", "InfiniBand", (state, phys_state), rate))
    }

    #[test]
    fn a_missing_lane_is_high() {
        assert_eq!(
            active("MT4115", "25 Gb/sec (1X EDR)"),
            "high: mlx5_0 port 1 runs on 1 of its 4 lanes: 25 Gb/sec (1X EDR)"
        );
        assert!(active("MT4119", "50 Gb/sec (2X EDR)").starts_with("high: "));
    }

    #[test]
    fn two_lanes_of_an_adapter_for_split_ports_may_be_by_design() {
        assert_eq!(
            active("MT4123", "50 Gb/sec (2X EDR)"),
            "low: mlx5_0 port 1 runs on 2 of its 4 lanes: 50 Gb/sec (2X EDR); a split switch port does so by design"
        );
        assert!(active("MT4123", "25 Gb/sec (1X EDR)").starts_with("high: "));
    }

    #[test]
    fn how_many_lanes_omni_path_has_lost_is_unknown() {
        for device in ["hfi1_0", "opap5s0"] {
            let states = ("4: ACTIVE", "5: LinkUp");
            let narrow = host("!absent", "InfiniBand", states, "25 Gb/sec (1X EDR)");
            assert_eq!(
                verdict(&CHECK, &narrow.replace("mlx5_0", device)),
                format!(
                    "medium: {device} port 1 runs on fewer than its 4 lanes; how many is unknown, Omni-Path shows 1 to 3 as \
                     1X: 25 Gb/sec (1X EDR)"
                )
            );
            let full = host("!absent", "InfiniBand", states, "100 Gb/sec (4X EDR)");
            assert_eq!(verdict(&CHECK, &full.replace("mlx5_0", device)), "clean");
        }
    }

    #[test]
    fn ports_at_their_own_maximum_are_clean() {
        assert_eq!(active("MT23108", "10 Gb/sec (4X)"), "clean");
        assert_eq!(active("MT4099", "40 Gb/sec (4X QDR)"), "clean");
        assert_eq!(active("MT4099", "56 Gb/sec (4X FDR)"), "clean");
        assert_eq!(active("MT4123", "100 Gb/sec (2X HDR)"), "clean");
        assert_eq!(active("MT4129", "400 Gb/sec (4X NDR)"), "clean");
    }

    #[test]
    fn a_speed_below_every_model_of_the_family_is_low() {
        assert_eq!(
            active("MT4119", "10 Gb/sec (4X SDR)"),
            "low: mlx5_0 port 1 runs at 10 Gb/sec (4X SDR), and every ConnectX-5 can do 100 Gb/s"
        );
    }

    #[test]
    fn ethernet_that_calls_itself_one_lane_is_none_of_our_business() {
        let excerpt = host("MT4117", "Ethernet", ("4: ACTIVE", "5: LinkUp"), "25 Gb/sec (1X EDR)");
        assert_eq!(
            verdict(&CHECK, &excerpt),
            "not applicable: no InfiniBand port here: no RDMA device has one"
        );
    }

    #[test]
    fn a_link_that_nobody_manages_is_medium() {
        assert_eq!(
            inactive("2: INIT", "5: LinkUp"),
            "medium: mlx5_0 port 1 has a link, and no subnet manager has brought it up"
        );
        assert!(inactive("1: DOWN", "4: PortConfigurationTraining").starts_with("medium: "));
    }

    #[test]
    fn a_port_without_a_cable_is_a_note() {
        assert_eq!(
            inactive("1: DOWN", "2: Polling"),
            "info: no link on mlx5_0 port 1: no cable, or nothing at its other end"
        );
        assert_eq!(inactive("1: DOWN", "3: Disabled"), "clean");
    }

    #[test]
    fn a_rate_that_cannot_be_read_is_unknown() {
        assert_eq!(
            active("MT4119", "!denied"),
            "unknown: /sys/class/infiniband/mlx5_0/ports/1/rate may not be read"
        );
        assert!(active("MT4119", "fast").starts_with("unknown: "));
    }
}
