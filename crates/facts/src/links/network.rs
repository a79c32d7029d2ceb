//! Network adapters: what their interfaces run at, where they are plugged in, and who serves their interrupts.
//!
//! Sources: Documentation/ABI/testing/sysfs-class-net; net/core/net-sysfs.c; Documentation/ABI/testing/sysfs-bus-pci
//! (msi_irqs, numa_node); Documentation/ABI/stable/sysfs-devices-node. Interfaces without a device behind them
//! (bridges, bonds, tunnels) are left out: they have no wire of their own.

use super::capability::Payload;
use super::ethtool::Ethtool;
use super::pcie::is_address;
use crate::parse::{Expected, line, number, signed, trimmed};
use crate::{BitsPerSecond, Bytes, CpuSet, Fact, Missing};

/// The adapters of a host, and the NUMA nodes that they can be near to.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Every interface with a device behind it.
    pub interfaces: Fact<Vec<Interface>>,
    /// Every device that does RDMA.
    pub rdma: Fact<Vec<RdmaDevice>>,
    /// The PCI function behind them, each once.
    pub adapters: Fact<Vec<Adapter>>,
    /// The NUMA nodes.
    pub nodes: Fact<Vec<Node>>,
}

/// A network interface, as /sys/class/net shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// `eth0`.
    pub name: String,
    /// `/sys/class/net/eth0`.
    pub folder: String,
    /// The folder of its PCI function.
    pub pci: Fact<String>,
    /// `driver`.
    pub driver: Fact<String>,
    /// `type`: ARPHRD_* of include/uapi/linux/if_arp.h.
    pub hardware: Fact<u64>,
    /// `carrier`: whether there is a link.
    pub carrier: Fact<bool>,
    /// `speed`; not asked where there is no link, because the kernel refuses to answer then (EINVAL).
    pub speed: Fact<BitsPerSecond>,
    /// `duplex`; not asked either.
    pub duplex: Fact<String>,
    /// `mtu`: the largest IP packet.
    pub mtu: Fact<Bytes>,
    /// Whether the wire is another function's: of SR-IOV, or the one that a sub-function is part of.
    pub shares_wire: bool,
    /// What its driver says of the wire. Not asked where there is no link, nor what is no Ethernet.
    pub ethtool: Ethtool,
}

/// ARPHRD_ETHER: Ethernet, and Wi-Fi.
pub const HARDWARE_ETHERNET: u64 = 1;

/// ARPHRD_INFINIBAND: IP over InfiniBand.
pub const HARDWARE_INFINIBAND: u64 = 32;

/// One device below `/sys/class/infiniband`.
#[derive(Clone, Debug, PartialEq)]
pub struct RdmaDevice {
    /// `mlx5_0`.
    pub name: String,
    /// The folder of its PCI function.
    pub pci: Fact<String>,
    /// Its ports whose link layer is Ethernet.
    pub ethernet: Vec<RdmaPort>,
}

/// A port that does RDMA over Ethernet.
#[derive(Clone, Debug, PartialEq)]
pub struct RdmaPort {
    /// The number of the port, from 1 on.
    pub number: u32,
    /// The interface that it shares the wire with.
    pub interface: Fact<String>,
}

/// One PCI function with a network behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapter {
    /// Its folder: `/sys/devices/pci0000:00/0000:00:03.0/0000:05:00.0`.
    pub folder: String,
    /// `numa_node`; `None` where firmware names none.
    pub numa_node: Fact<Option<u32>>,
    /// What one packet on its PCI Express link may carry.
    pub payload: Fact<Payload>,
    /// Its interrupts that were ever taken. Not read where there is one NUMA node.
    pub interrupts: Fact<Vec<Served>>,
}

/// One interrupt of an adapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// Its number in /proc/irq.
    pub number: u32,
    /// The file that says who serves it.
    pub path: String,
    /// The CPUs that do, or may.
    pub cpus: Fact<CpuSet>,
}

/// One NUMA node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The number of the NUMA node.
    pub number: u32,
    /// `cpulist`; empty of a node that is memory only.
    pub cpus: Fact<CpuSet>,
    /// `distance`: to each node in order, 10 being its own memory (ACPI 6.5, section 5.2.17).
    pub distances: Fact<Vec<u64>>,
}

impl Interface {
    /// Whether it is the face that an InfiniBand port shows to IP.
    pub fn is_infiniband(&self) -> bool {
        self.hardware == Ok(HARDWARE_INFINIBAND)
    }
}

impl Adapter {
    /// Its address: `0000:05:00.0`.
    pub fn address(&self) -> &str {
        self.folder.rsplit('/').next().unwrap_or(&self.folder)
    }

    /// The folder of the port above it.
    pub fn slot(&self) -> &str {
        self.folder.rsplit_once('/').map_or("", |(slot, _)| slot)
    }
}

impl Network {
    /// The adapter with this folder.
    pub fn adapter(&self, folder: &str) -> Option<&Adapter> {
        self.adapters.as_deref().unwrap_or_default().iter().find(|it| it.folder == folder)
    }

    /// The names of the interfaces and RDMA devices that a PCI function shows.
    pub fn names_of<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        let is_its = move |pci: &Fact<String>| pci.as_deref() == Ok(folder);
        let interfaces = self.interfaces.as_deref().unwrap_or_default().iter();
        let rdma = self.rdma.as_deref().unwrap_or_default().iter();
        let interfaces = interfaces.filter(move |it| is_its(&it.pci)).map(|it| it.name.as_str());
        interfaces.chain(rdma.filter(move |it| is_its(&it.pci)).map(|it| it.name.as_str()))
    }
}

/// Whether what a name in a class leads to is no device: `../../devices/virtual/net/lo`.
pub fn is_virtual(target: &str) -> bool {
    target.contains("devices/virtual/")
}

/// The folder of the PCI function behind a name of `class`, by what that leads to:
/// `../../devices/pci0000:00/0000:00:03.0/0000:05:00.0/net/eth0`. Between the two there may be a device of the
/// virtio bus, or of the auxiliary bus (`mlx5_core.sf.4`).
pub fn pci_folder(target: &str, class: &str) -> Fact<String> {
    let device = target.split_once("devices/").and_then(|(_, below)| {
        let (path, _) = below.rsplit_once(&format!("/{class}/"))?;
        let (before, last) = path.rsplit_once('/').unwrap_or(("", path));
        let is_of_bus = last.starts_with("virtio") || is_auxiliary(last);
        Some(if is_of_bus { before } else { path })
    });
    let is_pci = |path: &&str| path.rsplit('/').next().is_some_and(is_address);
    device
        .filter(is_pci)
        .map(|path| format!("/sys/devices/{path}"))
        .ok_or_else(|| Missing::not_here("PCI device", format!("it is at {target}")))
}

/// Whether what a name in a class leads to is a sub-function: `.../0000:05:00.0/mlx5_core.sf.4/net/eth4`.
pub fn is_sub_function(target: &str, class: &str) -> bool {
    let device = target.rsplit_once(&format!("/{class}/")).map_or("", |(device, _)| device);
    is_auxiliary(device.rsplit('/').next().unwrap_or_default())
}

/// Names of the auxiliary bus are module, kind and number (drivers/base/auxiliary.c).
fn is_auxiliary(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    !name.contains(':') && parts.len() == 3 && parts[2].bytes().all(|it| it.is_ascii_digit())
}

/// Parses `speed`, in Mb/s. A driver that does not know says -1, which older kernels print as the unsigned number of
/// 16 or 32 bits that it is (SPEED_UNKNOWN of include/uapi/linux/ethtool.h).
pub fn speed(text: &str) -> Result<Option<BitsPerSecond>, Expected> {
    speed_of(signed(text)?)
}

/// The same of a number in Mb/s.
pub fn speed_of(megabits: i64) -> Result<Option<BitsPerSecond>, Expected> {
    /// Ten times what is sold: 800 Gb/s.
    const FASTEST: u64 = 8_000_000;
    match megabits {
        -1 | 0 | 65_535 | 4_294_967_295 => Ok(None),
        megabits => match u64::try_from(megabits) {
            Ok(megabits) if megabits <= FASTEST => Ok(Some(BitsPerSecond::from_megabits(megabits))),
            _ => Err(Expected("a speed in Mb/s")),
        },
    }
}

/// Parses `mtu`.
pub fn mtu(text: &str) -> Result<Bytes, Expected> {
    /// Of loopback; no packet of IP is longer (RFC 791), and no device's has more than that.
    const LONGEST: u64 = 65_536;
    number(text).ok().filter(|it| *it <= LONGEST).map(Bytes).ok_or(Expected("an MTU in bytes"))
}

/// Parses `numa_node`; -1 is none.
pub fn numa_node(text: &str) -> Result<Option<u32>, Expected> {
    const NODE: Expected = Expected("the number of a NUMA node");
    match signed(text)? {
        -1 => Ok(None),
        node => u32::try_from(node).map(Some).map_err(|_| NODE),
    }
}

/// Parses `distance` of a node: `10 21`.
pub fn distances(text: &str) -> Result<Vec<u64>, Expected> {
    let distances: Result<Vec<u64>, Expected> =
        trimmed(text).split_whitespace().map(number).collect();
    distances.ok().filter(|it| !it.is_empty()).ok_or(Expected("distances like `10 21`"))
}

/// The last part of a link's target: the name of a driver.
pub fn last_part(target: &str) -> Result<String, Expected> {
    line(target.rsplit('/').next().unwrap_or(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: &str = "/sys/devices/pci0000:00/0000:00:03.0";

    #[test]
    fn the_pci_function_is_found_behind_a_name() {
        let folder = |target: &str| pci_folder(target, "net").ok();
        let function = format!("{SLOT}/0000:05:00.0");
        for between in ["", "/mlx5_core.sf.4"] {
            let target = format!("../..{}{between}/net/eth0", &function["/sys".len()..]);
            assert_eq!(folder(&target), Some(function.clone()));
        }
        let virtio = "../../devices/pci0000:00/0000:00:03.0/virtio0/net/eth0";
        assert_eq!(folder(virtio), Some(SLOT.to_owned()));
    }

    #[test]
    fn an_adapter_on_another_bus_is_not_on_the_slot_of_that_bus() {
        for device in ["usb1/1-2/1-2:1.0", "usb1/1-1.2/1-1.2:1.0"] {
            let target = format!("../../devices/pci0000:00/0000:00:14.0/{device}/net/eth1");
            assert!(pci_folder(&target, "net").unwrap_err().is_absence());
        }
        assert!(pci_folder("../../devices/platform/soc/net/end0", "net").is_err());
        assert!(pci_folder("", "net").is_err() && pci_folder("devices/net/", "net").is_err());
        assert!(is_virtual("../../devices/virtual/net/lo"));
        assert!(is_sub_function(
            "../../devices/pci0000:00/0000:00:03.0/mlx5_core.sf.4/net/e4",
            "net"
        ));
        assert!(!is_sub_function("../../devices/pci0000:00/0000:00:03.0/net/eth0", "net"));
    }

    #[test]
    fn an_unknown_speed_is_none_however_the_kernel_spells_it() {
        for text in ["-1\n", "65535", "4294967295", "0"] {
            assert_eq!(speed(text), Ok(None), "{text}");
        }
        assert_eq!(speed("25000\n"), Ok(Some(BitsPerSecond(25_000_000_000))));
        assert!(speed("-2").is_err() && speed("99999999999").is_err() && speed("fast").is_err());
    }

    #[test]
    fn a_node_that_firmware_does_not_name_is_none() {
        assert_eq!((numa_node("-1\n"), numa_node("1\n")), (Ok(None), Ok(Some(1))));
        assert!(numa_node("-7").is_err());
        assert_eq!(distances("10 21\n"), Ok(vec![10, 21]));
        assert!(distances("\n").is_err() && distances("near").is_err());
    }

    #[test]
    fn the_largest_packet_is_bounded() {
        assert_eq!(mtu("9000\n"), Ok(Bytes(9000)));
        assert!(mtu("4294967296").is_err());
    }
}
