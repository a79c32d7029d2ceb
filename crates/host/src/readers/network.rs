//! Reads network interfaces, the adapters behind them, and who serves their interrupts.

use super::{ethtool, links};
use crate::Source;
use facts::limits::MOST_DEVICES;
use facts::links::ethtool::Ethtool;
use facts::links::network::{
    Adapter, HARDWARE_ETHERNET, Interface, Network, Node, RdmaDevice, RdmaPort, Served, distances,
    is_sub_function, is_virtual, last_part, mtu, numa_node, pci_folder, speed,
};
use facts::system::interrupts::Interrupts;
use facts::{CpuSet, Expected, Fact, HostView, Missing, parse};
use std::collections::BTreeSet;

const INTERFACES: &str = "/sys/class/net";
const RDMA: &str = "/sys/class/infiniband";
/// The only file of /sys/class/net that is no interface (drivers/net/bonding/bond_sysfs.c).
const BONDS: &str = "bonding_masters";
const NODES: &str = "/sys/devices/system/node";

pub(super) fn read(source: &dyn Source) -> Network {
    let interfaces = interfaces(source);
    let rdma = rdma(source);
    let adapters = adapters(source, &interfaces, &rdma);
    Network { interfaces, rdma, adapters, nodes: nodes(source) }
}

/// A large machine has thousands of interrupts, most of which never happen; and where all CPUs are of one node it does
/// not matter which of them serves.
pub(super) fn read_interrupts(source: &dyn Source, host: &mut HostView) {
    let network = &mut host.network;
    let asked = match (&network.nodes, &host.interrupts) {
        (Err(missing), _) => Err(missing.clone()),
        (Ok(nodes), _) if nodes.len() < 2 => {
            Err(Missing::not_here("CPU far from an adapter", "all CPUs are of one node"))
        }
        (_, interrupts) => interrupts.as_ref().map_err(Clone::clone),
    };
    for adapter in network.adapters.iter_mut().flatten() {
        adapter.interrupts =
            asked.clone().and_then(|interrupts| served(source, &adapter.folder, interrupts));
    }
}

/// Who serves the interrupts of an adapter, however many NUMA nodes there are.
pub fn serving(
    source: &dyn Source,
    adapter: &Adapter,
    interrupts: &Interrupts,
) -> Fact<Vec<Served>> {
    served(source, &adapter.folder, interrupts)
}

/// Those with hardware: the list of a host with containers is long.
fn interfaces(source: &dyn Source) -> Fact<Vec<Interface>> {
    let names = source.list(INTERFACES)?;
    let names = names.iter().filter(|it| *it != BONDS);
    let places = names.map(|name| (name, place(source, &format!("{INTERFACES}/{name}"))));
    let physical: Vec<_> =
        places.filter(|(_, target)| !target.as_deref().is_ok_and(is_virtual)).collect();
    if physical.len() > MOST_DEVICES {
        return Err(Missing::too_many(INTERFACES, "interfaces with hardware", MOST_DEVICES));
    }
    Ok(physical.into_iter().map(|(name, target)| interface(source, name, target)).collect())
}

/// An interface whose folder in the tree of devices is `target`.
fn interface(source: &dyn Source, name: &str, target: Fact<String>) -> Interface {
    let folder = format!("{INTERFACES}/{name}");
    let is_part = target.as_deref().is_ok_and(|it| is_sub_function(it, "net"));
    let pci = target.and_then(|it| pci_folder(&it, "net"));
    let hardware = source.parsed(&format!("{folder}/type"), parse::number);
    let carrier = carrier(source, &folder);
    let ethtool = wire(source, name, &hardware, &carrier);
    let told = ethtool.settings.as_ref().ok();
    let carrier = carrier.or_else(|missing| told.and_then(|it| it.link).ok_or(missing));
    let is_down = carrier == Ok(false);
    let unlinked = |what: &str| Missing::not_here(format!("{what} of {name}"), "it has no link");
    let known = |it: &str| speed(it)?.ok_or(Expected("a speed that its driver knows"));
    Interface {
        driver: source.link(&format!("{folder}/device/driver")).and_then(|it| {
            last_part(&it).map_err(|Expected(expected)| Missing::malformed(&folder, &it, expected))
        }),
        speed: if is_down {
            Err(unlinked("speed"))
        } else {
            let speed = source.parsed(&format!("{folder}/speed"), known);
            speed.or_else(|missing| told.and_then(|it| it.speed).ok_or(missing))
        },
        duplex: if is_down {
            Err(unlinked("duplex"))
        } else {
            let duplex = source.parsed(&format!("{folder}/duplex"), parse::line);
            let name = || Some(told?.duplex?.name().to_owned());
            duplex.or_else(|missing| name().ok_or(missing))
        },
        shares_wire: is_part || is_virtual_function(source, &pci),
        hardware,
        pci,
        ethtool,
        mtu: source.parsed(&format!("{folder}/mtu"), mtu),
        carrier,
        name: name.to_owned(),
        folder,
    }
}

/// A copy may not say whether there is a link, or what kind it is: then its driver may have.
fn wire(source: &dyn Source, name: &str, hardware: &Fact<u64>, carrier: &Fact<bool>) -> Ethtool {
    if *carrier == Ok(false) {
        return ethtool::not_here(name, "it has no link");
    }
    if hardware.as_ref().is_ok_and(|it| *it != HARDWARE_ETHERNET) {
        return ethtool::not_here(name, "it is no Ethernet");
    }
    // net/wireless/core.c.
    if source.link(&format!("{INTERFACES}/{name}/phy80211")).is_ok() {
        return ethtool::not_here(name, "it is Wi-Fi");
    }
    ethtool::read(source, name)
}

/// Documentation/ABI/testing/sysfs-bus-pci: `physfn`.
fn is_virtual_function(source: &dyn Source, pci: &Fact<String>) -> bool {
    pci.as_ref().is_ok_and(|folder| source.link(&format!("{folder}/physfn")).is_ok())
}

/// What a name in a class leads to. A copy may hold a folder in its place, and a link to the device in that.
fn place(source: &dyn Source, folder: &str) -> Fact<String> {
    source.link(folder).or_else(|missing| {
        let device = source.link(&format!("{folder}/device")).map_err(|_| missing)?;
        let address = device.rsplit('/').next().unwrap_or_default();
        let (_, class_and_name) = folder.rsplit_once("class/").unwrap_or_default();
        let function = source.link(&format!("/sys/bus/pci/devices/{address}"))?;
        Ok(format!("{function}/{class_and_name}"))
    })
}

/// An interface that nobody has brought up refuses to say (EINVAL), and then its state does.
fn carrier(source: &dyn Source, folder: &str) -> Fact<bool> {
    source.parsed(&format!("{folder}/carrier"), parse::switch).or_else(|missing| {
        let state = source.parsed(&format!("{folder}/operstate"), parse::line);
        if state.as_deref() == Ok("down") { Ok(false) } else { Err(missing) }
    })
}

fn rdma(source: &dyn Source) -> Fact<Vec<RdmaDevice>> {
    let device = |name: String| {
        let folder = format!("{RDMA}/{name}");
        let numbers = source.numbered(&format!("{folder}/ports"), "").unwrap_or_default();
        let pci = place(source, &folder).and_then(|it| pci_folder(&it, "infiniband"));
        let ethernet = numbers.into_iter().filter_map(|number| port(source, &folder, number));
        RdmaDevice { ethernet: ethernet.collect(), pci, name }
    };
    let names = source.list(RDMA)?;
    if names.len() > MOST_DEVICES {
        return Err(Missing::too_many(RDMA, "devices", MOST_DEVICES));
    }
    Ok(names.into_iter().map(device).collect())
}

/// The first entry of the table of addresses is the interface's own (drivers/infiniband/core/roce_gid_mgmt.c).
fn port(source: &dyn Source, device: &str, number: u32) -> Option<RdmaPort> {
    let folder = format!("{device}/ports/{number}");
    let layer = source.parsed(&format!("{folder}/link_layer"), parse::line).ok()?;
    let interface = || source.parsed(&format!("{folder}/gid_attrs/ndevs/0"), parse::line);
    (layer == "Ethernet").then(|| RdmaPort { number, interface: interface() })
}

fn adapters(
    source: &dyn Source,
    interfaces: &Fact<Vec<Interface>>,
    rdma: &Fact<Vec<RdmaDevice>>,
) -> Fact<Vec<Adapter>> {
    if let (Err(missing), Err(_)) = (interfaces, rdma) {
        return Err(missing.clone());
    }
    let of_interfaces = interfaces.iter().flatten().map(|it| &it.pci);
    let of_rdma = rdma.iter().flatten().map(|it| &it.pci);
    let folders: BTreeSet<&String> =
        of_interfaces.chain(of_rdma).filter_map(|it| it.as_ref().ok()).collect();
    let adapter = |folder: &String| Adapter {
        numa_node: source.parsed(&format!("{folder}/numa_node"), numa_node),
        payload: links::read_payload(source, folder),
        ..Adapter::unasked(folder.clone())
    };
    Ok(folders.into_iter().map(adapter).collect())
}

fn served(source: &dyn Source, device: &str, interrupts: &Interrupts) -> Fact<Vec<Served>> {
    let numbers = match source.numbered(&format!("{device}/msi_irqs"), "") {
        // An old device has one line, and 0 where it has none.
        Err(missing) if missing.is_absence() => {
            let number = source.parsed(&format!("{device}/irq"), parse::number)?;
            u32::try_from(number).ok().filter(|it| *it > 0).into_iter().collect()
        }
        numbers => numbers?,
    };
    let was_taken =
        |number: &u32| interrupts.named(&number.to_string()).is_some_and(|line| line.total() > 0);
    Ok(numbers.into_iter().filter(was_taken).map(|it| servers(source, it)).collect())
}

/// Where the kernel says who does serve (since Linux 4.15) that counts, else who may.
fn servers(source: &dyn Source, number: u32) -> Served {
    let ask = |file: &str| {
        let path = format!("/proc/irq/{number}/{file}");
        let cpus = source.parsed(&path, CpuSet::parse_list);
        Served { number, path, cpus }
    };
    let effective = ask("effective_affinity_list");
    match &effective.cpus {
        Ok(cpus) if !cpus.is_empty() => effective,
        _ => ask("smp_affinity_list"),
    }
}

fn nodes(source: &dyn Source) -> Fact<Vec<Node>> {
    let node = |number: u32| {
        let folder = format!("{NODES}/node{number}");
        Node {
            number,
            cpus: source.parsed(&format!("{folder}/cpulist"), CpuSet::parse_list),
            distances: source.parsed(&format!("{folder}/distance"), distances),
        }
    };
    Ok(source.numbered(NODES, "node")?.into_iter().map(node).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Captured, Recording, view_of};
    use facts::{BitsPerSecond, Subject, Subjects};

    const PCI: &str = "/sys/devices/pci0000:00/0000:00:03.0/0000:05:00.0";

    #[test]
    fn the_list_of_bonds_is_no_interface() {
        let net = format!("//- {INTERFACES}/eth0 -> ../..{}/net/eth0\n", &PCI["/sys".len()..]);
        let text = format!("{net}//- {INTERFACES}/bonding_masters\nbond0\n");
        let host = Captured::excerpt(&text).unwrap();
        let found = interfaces(&host).unwrap();
        assert_eq!(found.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["eth0"]);
    }

    #[test]
    fn interfaces_with_hardware_are_counted_before_they_are_looked_at_and_virtual_ones_do_not_count()
     {
        let links = |n: usize, place: &str| -> String {
            (0..n)
                .map(|it| format!("//- {INTERFACES}/e{it} -> ../../devices/{place}/net/e{it}\n"))
                .collect()
        };
        let looked_at = |text: &str| {
            let host = Captured::excerpt(text).unwrap();
            let recording = Recording::new(&host);
            let found = interfaces(&recording).map(|it| it.len());
            (found, recording.capture().matches("/carrier\n").count())
        };
        let refused = Missing::too_many(INTERFACES, "interfaces with hardware", MOST_DEVICES);
        let (found, n_looked_at) = looked_at(&links(MOST_DEVICES + 1, "pci0000:00/0000:00:03.0"));
        assert_eq!((found, n_looked_at), (Err(refused), 0));
        assert_eq!(looked_at(&links(MOST_DEVICES + 1, "virtual")), (Ok(0), 0));
    }

    /// eth0 of a server with `n_nodes`, which is up, and wlan0, which nobody has brought up.
    fn host(n_nodes: usize) -> String {
        let node = |number| {
            format!(
                "//- {NODES}/node{number}/cpulist\n{number}\n//- {NODES}/node{number}/distance\n10\n"
            )
        };
        let nodes: String = (0..n_nodes).map(node).collect();
        let place = &PCI["/sys".len()..];
        format!(
            "{nodes}//- {INTERFACES}/eth0 -> ../..{place}/net/eth0\n\
             //- {INTERFACES}/eth0/device/driver -> ../../../../bus/pci/drivers/mlx5_core\n\
             //- {INTERFACES}/eth0/carrier\n1\n//- {INTERFACES}/eth0/speed\n25000\n\
             //- {INTERFACES}/eth0/duplex\nfull\n//- {INTERFACES}/eth0/mtu\n9000\n\
             //- {INTERFACES}/wlan0 -> ../../devices/platform/soc/net/wlan0\n\
             //- {INTERFACES}/wlan0/carrier\n!failed Invalid argument (os error 22)\n\
             //- {INTERFACES}/wlan0/operstate\ndown\n\
             //- {INTERFACES}/lo -> ../../devices/virtual/net/lo\n\
             //- {PCI}/numa_node\n1\n//- {PCI}/msi_irqs/\n40\n41\n\
             //- /proc/irq/40/effective_affinity_list\n1\n\
             //- /proc/interrupts\nCPU0 CPU1\n40: 7 0 PCI-MSI eth0-0\n41: 0 0 PCI-MSI eth0-1\n"
        )
    }

    fn network(excerpt: &str) -> Network {
        let subjects = Subjects::of(&[Subject::AdapterInterrupts]);
        view_of(&Captured::excerpt(excerpt).unwrap(), subjects).network
    }

    #[test]
    fn an_interface_that_is_up_is_read_with_its_place_and_driver() {
        let interfaces = network(&host(2)).interfaces.unwrap();
        assert_eq!(interfaces.len(), 2);
        let eth0 = &interfaces[0];
        assert_eq!(eth0.pci.as_deref(), Ok(PCI));
        assert_eq!(eth0.driver.as_deref(), Ok("mlx5_core"));
        assert_eq!(eth0.speed, Ok(BitsPerSecond::from_megabits(25_000)));
        assert_eq!(eth0.duplex.as_deref(), Ok("full"));
    }

    #[test]
    fn an_interface_that_nobody_brought_up_is_down_and_not_asked_for_its_speed() {
        let source = Captured::excerpt(&host(2)).unwrap();
        let recording = Recording::new(&source);
        let network = read(&recording);
        let wlan0 = &network.interfaces.as_ref().unwrap()[1];
        assert_eq!(wlan0.carrier, Ok(false));
        assert!(wlan0.speed.as_ref().is_err_and(Missing::is_absence));
        assert!(wlan0.pci.as_ref().is_err_and(Missing::is_absence));
        assert!(!recording.capture().contains("wlan0/speed"));
    }

    #[test]
    fn a_copy_that_does_not_say_whether_there_is_a_link_is_asked_for_the_speed() {
        let carrier = format!("//- {INTERFACES}/eth0/carrier\n1\n");
        let network = network(&host(2).replace(&carrier, ""));
        let eth0 = &network.interfaces.as_ref().unwrap()[0];
        assert!(eth0.carrier.is_err());
        assert_eq!(eth0.speed, Ok(BitsPerSecond::from_megabits(25_000)));
    }

    #[test]
    fn a_bundle_that_holds_what_ethtool_printed_says_what_sysfs_would_have() {
        let text = host(2);
        let (before, _) = text.split_once(&format!("//- {INTERFACES}/eth0/carrier")).unwrap();
        let printed = "//- /sos_commands/networking/ethtool_eth0\nSettings for eth0:\n\tSpeed: 1000Mb/s\n\
                       \tDuplex: Half\n\tLink detected: yes\n";
        let of = |text: &str| network(&format!("{before}{text}")).interfaces.unwrap().remove(0);
        let eth0 = of(printed);
        assert_eq!((eth0.carrier, eth0.duplex.as_deref()), (Ok(true), Ok("half")));
        assert_eq!(eth0.speed, Ok(BitsPerSecond::from_megabits(1000)));
        let down = of(&printed.replace("yes", "no"));
        assert_eq!(down.carrier, Ok(false));
        assert!(down.speed.is_err_and(|it| it.is_absence()));
    }

    #[test]
    fn what_has_no_ethernet_wire_of_its_own_is_not_asked() {
        let asked = |more: &str| {
            let source = Captured::excerpt(&format!("{}{more}", host(1))).unwrap();
            let recording = Recording::new(&source);
            let shares_wire = read(&recording).interfaces.unwrap()[0].shares_wire;
            (recording.capture().contains("//- ethtool eth0"), shares_wire)
        };
        assert_eq!(asked(""), (true, false));
        assert_eq!(asked(&format!("//- {INTERFACES}/eth0/phy80211 -> ../phy0\n")), (false, false));
        assert_eq!(asked(&format!("//- {INTERFACES}/eth0/type\n32\n")), (false, false));
        assert_eq!(asked(&format!("//- {PCI}/physfn -> ../0000:05:00.1\n")), (true, true));
    }

    #[test]
    fn a_copy_with_folders_in_place_of_links_leads_to_the_device_all_the_same() {
        let link = format!("{INTERFACES}/eth0 -> ../..{}/net/eth0", &PCI["/sys".len()..]);
        let folder = format!(
            "{INTERFACES}/eth0/device -> ../../../0000:05:00.0\n\
             //- /sys/bus/pci/devices/0000:05:00.0 -> ../../..{}",
            &PCI["/sys".len()..]
        );
        let network = network(&host(2).replace(&link, &folder));
        assert_eq!(network.interfaces.unwrap()[0].pci.as_deref(), Ok(PCI));
    }

    #[test]
    fn interrupts_that_were_never_taken_and_those_of_one_node_are_not_asked_for() {
        let of = |n_nodes| network(&host(n_nodes)).adapters.unwrap().remove(0).interrupts;
        let served = of(2).unwrap();
        assert_eq!(served.len(), 1);
        assert_eq!(
            (served[0].number, served[0].cpus.as_ref().unwrap().to_string()),
            (40, "1".into())
        );
        assert!(of(1).unwrap_err().is_absence());
    }
}
