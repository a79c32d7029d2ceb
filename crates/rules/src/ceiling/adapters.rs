//! The ceilings of the adapters of a host: InfiniBand ports, RDMA over Ethernet, and TCP over Ethernet.

use super::{Ceiling, Largest, Part, infiniband, roce, slot, tcp};
use facts::links::ethtool::Ethtool;
use facts::links::infiniband::{Port, state};
use facts::links::network::{Interface, RdmaDevice, RdmaPort};
use facts::{Bytes, Fact, HostView, Missing};

/// The ceilings of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceilings {
    /// RDMA first, then interfaces, in the kernel's order.
    pub devices: Vec<Named>,
    /// Why others may be missing.
    pub missing: Vec<Missing>,
}

/// The ceiling of one port or interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// `mlx4_0 port 1`, `mlx5_0 port 1 (eth0)`, `eth0`.
    pub name: String,
    /// What else it may be called by: `mlx4_0`, `mlx4_0/1`, `eth0`, and its PCI address.
    pub aliases: Vec<String>,
    /// Whether it does RDMA.
    pub is_rdma: bool,
    /// Its PCI address.
    pub address: Fact<String>,
    /// Other ports and interfaces with a link that share the slot.
    pub shared_with: Vec<String>,
    /// What it can carry.
    pub ceiling: Ceiling,
    /// What the driver says of an Ethernet wire.
    pub ethtool: Option<Ethtool>,
}

/// What is known better than by looking at the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The MTU of RDMA.
    pub mtu: Option<Bytes>,
    /// MaxPayloadSize.
    pub payload: Option<Bytes>,
}

/// The ceiling of every port and interface that has a wire of its own.
pub fn ceilings(host: &HostView, given: Given) -> Ceilings {
    let network = &host.network;
    let mut devices = Vec::new();
    let mut missing = Vec::new();
    match &host.infiniband.ports {
        Ok(ports) => devices.extend(ports.iter().map(|it| of_port(host, given, it))),
        Err(reason) => missing.push(reason.clone()),
    }
    for device in network.rdma.iter().flatten() {
        let ports = device.ethernet.iter();
        devices.extend(ports.map(|port| of_rdma(host, given, device, port)));
    }
    match &network.interfaces {
        Ok(interfaces) => {
            let own = interfaces.iter().filter(|it| !it.is_infiniband());
            devices.extend(own.map(|it| of_interface(host, given, it)));
        }
        Err(reason) => missing.push(reason.clone()),
    }
    missing.retain(|it| !it.is_absence());
    share(&mut devices);
    Ceilings { devices, missing }
}

fn of_port(host: &HostView, given: Given, port: &Port) -> Named {
    let (device, number) = port.name.split_once(" port ").unwrap_or((&port.name, ""));
    let rdma = host.network.rdma.as_deref().unwrap_or_default();
    let pci = rdma.iter().find(|it| it.name == device).map_or_else(
        || Err(Missing::not_here(format!("PCI device of {device}"), "its place is unknown")),
        |it| it.pci.clone(),
    );
    let wire = || -> Fact<Part> {
        let state = port.state.as_ref()?;
        if state.code != state::ACTIVE {
            return Err(Missing::not_here(format!("link of {}", port.name), &state.text));
        }
        infiniband(port.rate.as_ref()?, given.mtu.or_else(|| mtu_beside(host, &pci)))
    };
    Named {
        name: port.name.clone(),
        aliases: vec![device.to_owned(), format!("{device}/{number}")],
        is_rdma: true,
        ceiling: Ceiling { wire: wire(), slot: slot_of(host, given, &pci) },
        address: address(&pci),
        shared_with: Vec::new(),
        ethtool: None,
    }
}

/// The MTU of a port, by the interface that IP has on it: datagrams take all of it but 4 bytes (IPOIB_ENCAP_LEN of
/// drivers/infiniband/ulp/ipoib/ipoib.h). Connected mode has its own, which says nothing.
fn mtu_beside(host: &HostView, pci: &Fact<String>) -> Option<Bytes> {
    const ENCAPSULATION: u64 = 4;
    const MTUS: [u64; 5] = [256, 512, 1024, 2048, 4096];
    let interfaces = host.network.interfaces.as_deref().unwrap_or_default();
    let beside =
        interfaces.iter().filter(|it| it.is_infiniband() && it.pci.is_ok() && it.pci == *pci);
    let mtu = beside.filter_map(|it| Some(it.mtu.as_ref().ok()?.0 + ENCAPSULATION)).min()?;
    MTUS.contains(&mtu).then_some(Bytes(mtu))
}

fn of_rdma(host: &HostView, given: Given, device: &RdmaDevice, port: &RdmaPort) -> Named {
    let interface = interface_of(host, device, port);
    let wire = || -> Fact<Part> {
        let interface = interface.as_ref().map_err(Clone::clone)?;
        roce(*interface.speed.as_ref()?, *interface.mtu.as_ref()?, given.mtu)
    };
    let number = port.number;
    let mut aliases = vec![device.name.clone(), format!("{}/{number}", device.name)];
    let mut name = format!("{} port {number}", device.name);
    if let Ok(interface) = &interface {
        aliases.push(interface.name.clone());
        name = format!("{name} ({})", interface.name);
    }
    Named {
        name,
        aliases,
        is_rdma: true,
        ceiling: Ceiling { wire: wire(), slot: slot_of(host, given, &device.pci) },
        address: address(&device.pci),
        shared_with: Vec::new(),
        ethtool: interface.ok().map(|it| it.ethtool.clone()),
    }
}

/// The interface that the kernel names, or the only one on the same PCI function.
fn interface_of<'a>(
    host: &'a HostView,
    device: &RdmaDevice,
    port: &RdmaPort,
) -> Fact<&'a Interface> {
    let interfaces = host.network.interfaces.as_ref()?;
    let named = port.interface.as_ref().map_err(Clone::clone).and_then(|name| {
        let found = interfaces.iter().find(|it| it.name == *name);
        found.ok_or_else(|| Missing::not_here(name, "it has no device of its own"))
    });
    named.or_else(|missing| {
        let mut beside = interfaces.iter().filter(|it| it.pci.is_ok() && it.pci == device.pci);
        match (beside.next(), beside.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(missing),
        }
    })
}

fn of_interface(host: &HostView, given: Given, interface: &Interface) -> Named {
    let wire = || -> Fact<Part> { tcp(*interface.speed.as_ref()?, *interface.mtu.as_ref()?) };
    Named {
        name: interface.name.clone(),
        aliases: Vec::new(),
        is_rdma: false,
        ceiling: Ceiling { wire: wire(), slot: slot_of(host, given, &interface.pci) },
        address: address(&interface.pci),
        shared_with: Vec::new(),
        ethtool: Some(interface.ethtool.clone()),
    }
}

/// What the slot of the PCI function at `pci` carries.
pub fn slot_of(host: &HostView, given: Given, pci: &Fact<String>) -> Fact<Part> {
    let folder = pci.as_ref()?;
    host.platform.hides_devices("the slot of the adapter")?;
    let above = |folder: &str| folder.rsplit_once('/').map(|(slot, _)| slot.to_owned());
    let links = host.pcie.links.as_ref()?;
    let link = links
        .iter()
        .find(|it| above(&it.folder) == above(folder))
        .ok_or_else(|| Missing::not_here("PCIe slot", format!("{folder} has no port above it")))?;
    let speed = link.current.as_ref()?.speed;
    let read = || match host.network.adapter(folder) {
        Some(adapter) => adapter.payload.clone().map(|it| it.limit),
        None => Err(Missing::unasked("MaxPayloadSize")),
    };
    Ok(match given.payload.map_or_else(read, Ok) {
        Ok(payload) => slot(speed, Largest::Known(payload)),
        Err(missing) => slot(speed, Largest::Assumed).assuming(missing.advice()),
    })
}

fn address(pci: &Fact<String>) -> Fact<String> {
    let last = |it: &String| it.rsplit('/').next().unwrap_or(it).to_owned();
    pci.as_ref().map(last).map_err(Clone::clone)
}

/// Functions of one card share its slot, and the two faces of one wire are no rivals.
fn share(devices: &mut [Named]) {
    let card = |it: &Named| {
        let address = it.address.as_ref().ok()?;
        address.rsplit_once('.').map(|(card, _)| card.to_owned())
    };
    let all: Vec<(Option<String>, String, Vec<String>)> = devices
        .iter()
        .filter(|it| it.ceiling.wire.is_ok())
        .map(|it| (card(it), it.name.clone(), it.aliases.clone()))
        .collect();
    for device in devices {
        let own = card(device);
        let is_same_wire = |name: &String, aliases: &[String]| {
            *name == device.name || aliases.contains(&device.name) || device.aliases.contains(name)
        };
        device.shared_with = all
            .iter()
            .filter(|(other, name, aliases)| {
                own.is_some() && *other == own && !is_same_wire(name, aliases)
            })
            .map(|(_, name, _)| name.clone())
            .collect();
    }
}

impl Named {
    /// Whether a user means this one by `name`.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name
            || self.aliases.iter().any(|it| it == name)
            || self.address.as_deref() == Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::Direction;
    use crate::fixture::host_of;

    /// A port of ConnectX-2, whose class is the old one, in a slot of the second generation.
    const QDR: &str = "\
//- /sys/class/infiniband/mlx4_0 -> ../../devices/pci0000:00/0000:00:03.0/0000:05:00.0/infiniband/mlx4_0
//- /sys/class/infiniband/mlx4_0/ports/1/link_layer
InfiniBand
//- /sys/class/infiniband/mlx4_0/ports/1/state
4: ACTIVE
//- /sys/class/infiniband/mlx4_0/ports/1/rate
40 Gb/sec (4X QDR)
//- /sys/class/net/ib0 -> ../../devices/pci0000:00/0000:00:03.0/0000:05:00.0/net/ib0
//- /sys/class/net/ib0/type
32
//- /sys/class/net/ib0/mtu
2044
//- /sys/devices/pci0000:00/0000:00:03.0/0000:05:00.0/class
0x0c0600
//- /sys/devices/pci0000:00/0000:00:03.0/0000:05:00.0/current_link_speed
5.0 GT/s PCIe
//- /sys/devices/pci0000:00/0000:00:03.0/0000:05:00.0/current_link_width
8
";
    /// Two ports of one Ethernet card, the first of which does RDMA too.
    const ETHERNET: &str = "\
//- /sys/class/net/eth0 -> ../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/net/eth0
//- /sys/class/net/eth0/carrier
1
//- /sys/class/net/eth0/speed
25000
//- /sys/class/net/eth0/mtu
9000
//- /sys/class/net/eth1 -> ../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1/net/eth1
//- /sys/class/net/eth1/carrier
1
//- /sys/class/net/eth1/speed
-1
//- /sys/class/net/lo -> ../../devices/virtual/net/lo
//- /sys/class/infiniband/mlx5_0 -> ../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/infiniband/mlx5_0
//- /sys/class/infiniband/mlx5_0/ports/1/link_layer
Ethernet
//- /sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/class
0x020000
//- /sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/current_link_speed
8.0 GT/s PCIe
//- /sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/current_link_width
8
";

    fn of(excerpt: &str) -> Vec<Named> {
        ceilings(&host_of(excerpt), Given::default()).devices
    }

    fn one_way(part: &Fact<Part>) -> String {
        part.as_ref().map_or_else(ToString::to_string, |it| it.one_way.to_string())
    }

    #[test]
    fn the_slot_is_narrower_than_the_wire_of_qdr() {
        let [device] = &of(QDR)[..] else { panic!("{:?}", of(QDR)) };
        assert_eq!(device.name, "mlx4_0 port 1");
        assert_eq!(one_way(&device.ceiling.wire), "3.95 GB/s");
        assert_eq!(one_way(&device.ceiling.slot), "3.37 GB/s");
        let narrowest = device.ceiling.narrowest(Direction::One).unwrap();
        assert_eq!(narrowest.name, "PCIe 2.0 x8");
        assert_eq!(device.ceiling.widest(Direction::One).unwrap().name, "4X QDR");
        assert!(["mlx4_0", "mlx4_0/1", "0000:05:00.0"].iter().all(|it| device.is_called(it)));
    }

    #[test]
    fn what_could_not_be_read_of_the_payload_is_said() {
        let slot = of(QDR)[0].ceiling.slot.clone().unwrap();
        assert!(
            slot.assumptions.iter().any(|it| it.contains("/config does not exist")),
            "{slot:?}"
        );
        let given = Given { payload: Some(Bytes(256)), mtu: None };
        let device = ceilings(&host_of(QDR), given).devices.remove(0);
        assert_eq!(one_way(&device.ceiling.slot), "3.66 GB/s");
    }

    #[test]
    fn a_port_without_a_link_carries_nothing_and_says_why() {
        let down = QDR.replace("4: ACTIVE", "1: DOWN");
        assert_eq!(one_way(&of(&down)[0].ceiling.wire), "no link of mlx4_0 port 1 here: 1: DOWN");
        assert_eq!(of(&down)[0].ceiling.narrowest(Direction::One).unwrap().name, "PCIe 2.0 x8");
    }

    #[test]
    fn an_ethernet_card_has_a_ceiling_for_each_protocol_and_one_slot() {
        let devices = of(ETHERNET);
        let shown: Vec<(&str, String)> =
            devices.iter().map(|it| (it.name.as_str(), one_way(&it.ceiling.wire))).collect();
        assert_eq!(shown[0], ("mlx5_0 port 1 (eth0)", "3.06 GB/s".to_owned()));
        assert_eq!(shown[1], ("eth0", "3.09 GB/s".to_owned()));
        assert!(shown[2].1.contains("a speed that its driver knows"), "{shown:?}");
        assert_eq!(one_way(&devices[2].ceiling.slot), "6.63 GB/s");
        assert_eq!(devices[2].shared_with, ["mlx5_0 port 1 (eth0)", "eth0"]);
        assert!(devices[0].shared_with.is_empty() && devices[1].shared_with.is_empty());
    }

    #[test]
    fn a_guest_is_not_told_of_slots() {
        let guest = format!("{QDR}//- /sys/class/dmi/id/sys_vendor\nQEMU\n");
        let slot = of(&guest)[0].ceiling.slot.clone().unwrap_err();
        assert_eq!(slot.remedy(), Some("audit the machine under this guest"));
    }

    #[test]
    fn a_host_that_refuses_is_not_one_without_adapters() {
        let host = host_of("//- /sys/class/net/\n!denied\n");
        let ceilings = ceilings(&host, Given::default());
        assert!(ceilings.devices.is_empty());
        assert_eq!(ceilings.missing[0].to_string(), "/sys/class/net may not be read");
        assert!(of("").is_empty());
    }
}
