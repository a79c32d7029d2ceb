//! PCI devices, the BMC and an InfiniBand port.

use super::{Server, Tree};

/// Functions of each package that are parts of the processor, as on Intel's servers.
const UNCORE_FUNCTIONS: u32 = 60;

/// Cards of each package: a network card and five NVMe drives.
const CARDS: u32 = 6;

pub(super) fn add(tree: &mut Tree, server: Server) {
    // Two packages have all the cards that a server has room for.
    for package in 0..server.n_packages {
        let bus = package * 16;
        for function in 0..UNCORE_FUNCTIONS {
            let address = format!("0000:{bus:02x}:{:02x}.{}", 8 + function / 8, function % 8);
            device(tree, &format!("pci0000:{bus:02x}"), &address, "0x088000", None);
        }
        if package < 2 {
            (0..CARDS).for_each(|card| slot(tree, bus, card));
        }
    }
    bmc(tree);
    infiniband(tree);
}

fn slot(tree: &mut Tree, bus: u32, card: u32) {
    let (root, port) = (format!("pci0000:{bus:02x}"), format!("0000:{bus:02x}:0{}.0", card + 1));
    let (class, lanes) = if card == 0 { ("0x020000", 16) } else { ("0x010802", 4) };
    device(tree, &root, &port, "0x060400", Some(lanes));
    let address = format!("0000:{:02x}:00.0", bus + card + 1);
    device(tree, &format!("{root}/{port}"), &address, class, Some(lanes));
}

fn device(tree: &mut Tree, parent: &str, address: &str, class: &str, lanes: Option<u32>) {
    let folder = format!("/sys/devices/{parent}/{address}");
    tree.lines(&folder, &[("class", class), ("vendor", "0x8086"), ("numa_node", "0")]);
    if let Some(lanes) = lanes {
        for which in ["current", "max"] {
            tree.line(format!("{folder}/{which}_link_speed"), "16.0 GT/s PCIe");
            tree.line(format!("{folder}/{which}_link_width"), lanes);
        }
    }
    let target = format!("../../../devices/{parent}/{address}");
    tree.link(format!("/sys/bus/pci/devices/{address}"), target);
}

fn bmc(tree: &mut Tree) {
    tree.lines(
        "/sys/devices/pci0000:00/IPI0001:00",
        &[
            ("type", "kcs"),
            ("interrupts_enabled", "0"),
            ("params", "kcs,i/o,0xca2,rsp=1,rsi=1,rsh=0,irq=0,ipmb=32"),
        ],
    );
    let drivers = "/sys/bus/platform/drivers/ipmi_si";
    tree.link(format!("{drivers}/IPI0001:00"), "../../../../devices/pci0000:00/IPI0001:00");
    tree.line("/sys/module/ipmi_si/parameters/kipmid_max_busy_us", "");
}

fn infiniband(tree: &mut Tree) {
    let device = "/sys/class/infiniband/mlx5_0";
    tree.line(format!("{device}/hca_type"), "MT4123");
    tree.lines(
        &format!("{device}/ports/1"),
        &[
            ("link_layer", "InfiniBand"),
            ("state", "4: ACTIVE"),
            ("phys_state", "5: LinkUp"),
            ("rate", "200 Gb/sec (4X HDR)"),
        ],
    );
}
