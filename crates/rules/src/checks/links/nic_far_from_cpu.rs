//! Looks for network adapters whose interrupts are all served on another NUMA node than the adapter's own.
//!
//! Sources: Documentation/ABI/testing/sysfs-bus-pci (numa_node, msi_irqs); Documentation/core-api/irq/irq-affinity.rst;
//! ACPI 6.5, section 5.2.17 (distances). It cannot know where the work itself runs, nor what polls without interrupts.

use crate::check::{Check, Reference, Verdict, of_each};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::links::infiniband::state;
use facts::links::network::{Adapter, Node, Served};
use facts::system::interrupts::Interrupt;
use facts::{CpuSet, Fact, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "nic-far-from-cpu",
    title: "a network adapter is served by CPUs of another NUMA node",
    doc: "\
## What it looks at
The NUMA node of every network adapter that has a link (`numa_node`), its interrupts that were ever taken
(`msi_irqs`), and which CPUs serve these (`/proc/irq/N/effective_affinity_list`, or `smp_affinity_list` before Linux
4.15). It speaks up only where not one of these CPUs is on the adapter's node.

## Why it matters
An adapter puts a packet into the cache or the memory of the node it is plugged into. A CPU of another node fetches
each of them, with its descriptors, over the link between the processors, and rings the adapter's doorbell the same
long way. Every log record, block and message between nodes of a cluster takes that way twice.

## When to leave it alone
Where the database itself is bound to the other node, and its adapter cannot be moved into a slot there. Where all
CPUs of the adapter's node are isolated, on purpose. An adapter that is polled (busy polling, DPDK, RDMA without
events) hardly interrupts anybody, and is not reported.
",
    references: &[
        Reference {
            title: "Linux: SMP IRQ affinity",
            url: "https://docs.kernel.org/core-api/irq/irq-affinity.html",
        },
        Reference {
            title: "Linux: Scaling in the Linux networking stack (RSS IRQ configuration)",
            url: "https://docs.kernel.org/networking/scaling.html",
        },
    ],
    run,
};

/// Setting up an adapter takes some hundreds of interrupts, wherever they were served.
const OF_SETTING_UP: u64 = 1000;
/// As many as are worth reading.
const SHOWN: usize = 3;

fn run(host: &HostView) -> Verdict {
    let nodes = host.network.nodes.as_ref()?;
    let with_cpus = nodes.iter().filter(|it| it.cpus.as_ref().is_ok_and(|cpus| !cpus.is_empty()));
    if with_cpus.count() < 2 {
        if let Some(missing) = nodes.iter().find_map(|it| it.cpus.as_ref().err()) {
            return Err(missing.clone());
        }
        return Err(Missing::not_here("second NUMA node", "all CPUs are of one"));
    }
    let none = Missing::not_here("network adapter to judge", "none has a link");
    of_each(host.network.adapters.as_ref()?, none, |adapter| {
        Ok(match judge(host, nodes, adapter)? {
            Judgement::NotInUse => None,
            Judgement::Near => Some(Vec::new()),
            Judgement::Far(finding) => Some(vec![*finding]),
        })
    })
}

enum Judgement {
    NotInUse,
    Near,
    Far(Box<Finding>),
}

fn judge(host: &HostView, nodes: &[Node], adapter: &Adapter) -> Result<Judgement, Missing> {
    if !has_link(host, adapter)? {
        return Ok(Judgement::NotInUse);
    }
    let node = node_of(host, nodes, adapter)?;
    let near = node.cpus.as_ref()?;
    let isolated = host.isolation.kept_free().unwrap_or_default();
    let served = adapter.interrupts.as_ref()?;
    let interrupts = host.interrupts.as_ref()?;
    let taken = |it: &Served| interrupts.named(&it.number.to_string()).map_or(0, Interrupt::total);
    let n_taken = served.iter().fold(0u64, |sum, it| sum.saturating_add(taken(it)));
    // What interrupts nobody costs nobody.
    if n_taken <= OF_SETTING_UP || near.minus(&isolated).is_empty() {
        return Ok(Judgement::Near);
    }
    let mut far = CpuSet::default();
    for interrupt in served {
        match &interrupt.cpus {
            Ok(cpus) if cpus.and(near).is_empty() => far.extend(cpus.iter()),
            Ok(_) => return Ok(Judgement::Near),
            // One whose device is gone has no folder any more.
            Err(missing) if missing.is_absence() => {}
            Err(missing) => return Err(missing.clone()),
        }
    }
    if far.is_empty() {
        return Ok(Judgement::Near);
    }
    Ok(Judgement::Far(Box::new(finding(host, adapter, node, near, &far))))
}

/// Whether any of its interfaces or ports has one.
fn has_link(host: &HostView, adapter: &Adapter) -> Fact<bool> {
    let is_its = |pci: &Fact<String>| pci.as_ref() == Ok(&adapter.folder);
    let interfaces = host.network.interfaces.iter().flatten().filter(|it| is_its(&it.pci));
    let carriers: Vec<&Fact<bool>> = interfaces.map(|it| &it.carrier).collect();
    let rdma = host.network.rdma.iter().flatten().filter(|it| is_its(&it.pci));
    let is_active = |device: &str| {
        let ports = host.infiniband.ports.iter().flatten();
        let mut own = ports.filter(|it| it.name.split(' ').next() == Some(device));
        own.any(|it| it.state.as_ref().is_ok_and(|it| it.code == state::ACTIVE))
    };
    if carriers.contains(&&Ok(true)) || rdma.clone().any(|it| is_active(&it.name)) {
        return Ok(true);
    }
    match carriers.iter().find_map(|it| it.as_ref().err()) {
        Some(missing) if !missing.is_absence() => Err(missing.clone()),
        _ => Ok(false),
    }
}

/// Firmware may name no node, which is no proof that the adapter is near to all of them.
fn node_of<'a>(host: &HostView, nodes: &'a [Node], adapter: &Adapter) -> Fact<&'a Node> {
    let path = || format!("{}/numa_node", adapter.folder);
    let Some(number) = *adapter.numa_node.as_ref()? else {
        host.platform.hides(&path())?;
        return Err(Missing::malformed(path(), "-1", "a NUMA node, which firmware does not name"));
    };
    nodes
        .iter()
        .find(|it| it.number == number)
        .ok_or_else(|| Missing::malformed(path(), &number.to_string(), "a NUMA node that is there"))
}

fn finding(
    host: &HostView,
    adapter: &Adapter,
    node: &Node,
    near: &CpuSet,
    far: &CpuSet,
) -> Finding {
    let names: Vec<&str> = host.network.names_of(&adapter.folder).collect();
    let served = adapter.interrupts.as_deref().unwrap_or_default();
    let (address, number) = (adapter.address(), node.number);
    let message = format!(
        "network adapter {address} ({}) is on NUMA node {number}, and other nodes serve all of its interrupts",
        names.join(", ")
    );
    // What was taken on the own node since boot was moved away, and may be moved back.
    let was_near = host.interrupts.as_ref().is_ok_and(|interrupts| {
        let lines = served.iter().filter_map(|it| interrupts.named(&it.number.to_string()));
        lines.map(|it| it.on_all(near)).any(|taken| taken > OF_SETTING_UP)
    });
    let confidence = if was_near { Confidence::Medium } else { Confidence::High };
    let mut finding = Finding::new(Severity::Medium, confidence, message)
        .on(far.clone(), host.topology.n_online())
        .evidence(format!("{}/numa_node", adapter.folder), number)
        .evidence(format!("/sys/devices/system/node/node{number}/cpulist"), near);
    for interrupt in served.iter().take(SHOWN) {
        if let Ok(cpus) = &interrupt.cpus {
            finding = finding.evidence(&interrupt.path, cpus);
        }
    }
    if let Some((farthest, cost)) = distance(host, node, far) {
        finding = finding.cost(
            format!("memory of the adapter's node is {cost} as far for the CPUs that serve it"),
            format!("distance {farthest} of /sys/devices/system/node/node{number}/distance, where 10 is near"),
        );
    }
    fixed(host, near, served, finding)
}

/// The distance to the farthest of these CPUs' nodes, and how many times that is the shortest.
fn distance(host: &HostView, node: &Node, far: &CpuSet) -> Option<(u64, String)> {
    const NEAR: f64 = 10.0;
    let nodes = host.network.nodes.as_deref().ok()?;
    let distances = node.distances.as_deref().ok()?;
    let is_far = |it: &Node| it.cpus.as_ref().is_ok_and(|cpus| !cpus.and(far).is_empty());
    // One for each node that is online, in order.
    let farthest =
        nodes.iter().zip(distances).filter(|(it, _)| is_far(it)).map(|(_, it)| *it).max()?;
    Some((farthest, format!("{:.1} times", farthest as f64 / NEAR)))
}

fn fixed(host: &HostView, near: &CpuSet, served: &[Served], finding: Finding) -> Finding {
    let isolated = host.isolation.kept_free().unwrap_or_default();
    let able = near.minus(&isolated);
    let moved = |finding: Finding, it: &Served| {
        finding.command(
            &commands::IRQ_AFFINITY,
            format!("{able} > /proc/irq/{}/smp_affinity_list", it.number),
        )
    };
    served.iter().take(SHOWN).fold(finding, moved).fix_lasting(format!(
        "irqbalance, which knows the node of an adapter, or the driver's script for affinities with CPUs {able}; and bind \
         what uses the adapter to its node (`numactl --cpunodebind`)"
    ))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const PCI: &str = "/sys/devices/pci0000:80/0000:80:03.0/0000:81:00.0";

    /// Two nodes of two CPUs; eth0 is on `node`, up as `carrier` says, and CPUs `served` take its interrupt, which came
    /// `count` times.
    fn host(node: &str, carrier: &str, served: &str, count: &str) -> String {
        let nodes = "/sys/devices/system/node/node";
        format!(
            "//- /sys/devices/system/cpu/online\n0-3\n\
             //- {nodes}0/cpulist\n0-1\n//- {nodes}0/distance\n10 21\n\
             //- {nodes}1/cpulist\n2-3\n//- {nodes}1/distance\n21 10\n\
             //- /sys/class/net/eth0 -> ../..{}/net/eth0\n//- /sys/class/net/eth0/carrier\n{carrier}\n\
             //- {PCI}/numa_node\n{node}\n//- {PCI}/msi_irqs/\n40\n41\n\
             //- /proc/irq/40/effective_affinity_list\n{served}\n\
             //- /proc/interrupts\nCPU0 CPU1 CPU2 CPU3\n40: {count} 0 0 0 PCI-MSI 1-edge eth0-TxRx-0\n\
             41: 0 0 0 0 PCI-MSI 2-edge eth0-TxRx-1\n",
            &PCI["/sys".len()..]
        )
    }

    #[test]
    fn interrupts_on_the_other_node_are_medium() {
        assert_eq!(
            verdict(&CHECK, &host("1", "1", "0-1", "250000")),
            "medium: network adapter 0000:81:00.0 (eth0) is on NUMA node 1, and other nodes serve all of its \
             interrupts [CPUs 0-1 (2 of 4)]"
        );
        let finding = findings(&CHECK, &host("1", "1", "0-1", "250000")).remove(0);
        assert_eq!(
            finding.cost.unwrap().estimate,
            "memory of the adapter's node is 2.1 times as far for the CPUs that serve it"
        );
        assert_eq!(finding.fix.by_hand[0].command, "echo 2-3 > /proc/irq/40/smp_affinity_list");
        assert_eq!(finding.confidence.name(), "high");
    }

    #[test]
    fn one_interrupt_on_its_own_node_is_clean() {
        assert_eq!(verdict(&CHECK, &host("1", "1", "2", "250000")), "clean");
        assert_eq!(verdict(&CHECK, &host("1", "1", "1-2", "250000")), "clean");
    }

    #[test]
    fn an_adapter_that_interrupts_nobody_is_clean() {
        assert_eq!(verdict(&CHECK, &host("1", "1", "0", "300")), "clean");
    }

    #[test]
    fn an_old_kernel_says_who_may_serve() {
        let old = host("1", "1", "0", "250000").replace("effective_affinity", "smp_affinity");
        assert!(verdict(&CHECK, &old).starts_with("medium: "));
    }

    #[test]
    fn a_node_whose_cpus_are_isolated_is_left_alone_on_purpose() {
        let isolated = host("1", "1", "0", "250000")
            + "//- /sys/devices/system/cpu/isolated\n2-3\n//- /sys/devices/system/cpu/nohz_full\n\n";
        assert_eq!(verdict(&CHECK, &isolated), "clean");
    }

    #[test]
    fn an_infiniband_port_that_is_active_is_a_link() {
        let device = "/sys/class/infiniband/mlx4_0";
        let infiniband = host("1", "0", "0", "250000")
            + &format!(
                "//- {device} -> ../..{}/infiniband/mlx4_0\n//- {device}/ports/1/link_layer\nInfiniBand\n\
                 //- {device}/ports/1/state\n4: ACTIVE\n",
                &PCI["/sys".len()..]
            );
        assert!(verdict(&CHECK, &infiniband).contains("(eth0, mlx4_0)"));
    }

    #[test]
    fn an_adapter_without_a_link_is_not_judged() {
        assert_eq!(
            verdict(&CHECK, &host("1", "0", "0", "250000")),
            "not applicable: no network adapter to judge here: none has a link"
        );
    }

    #[test]
    fn one_node_has_no_far_side() {
        let two = host("0", "1", "0", "250000");
        let (one, _) = two.split_once("//- /sys/devices/system/node/node1").unwrap();
        assert!(verdict(&CHECK, one).starts_with("not applicable: no second NUMA node here"));
        assert!(verdict(&CHECK, "").starts_with("not applicable: /sys/devices/system/node"));
    }

    #[test]
    fn a_node_that_firmware_does_not_name_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("-1", "1", "0", "250000")),
            format!(
                "unknown: {PCI}/numa_node: found \"-1\", expected a NUMA node, which firmware does not name"
            )
        );
    }

    #[test]
    fn who_serves_that_cannot_be_read_is_unknown() {
        let denied =
            host("1", "1", "!denied", "250000") + "//- /proc/irq/40/smp_affinity_list\n!denied\n";
        assert_eq!(
            verdict(&CHECK, &denied),
            "unknown: /proc/irq/40/smp_affinity_list may not be read"
        );
    }
}
