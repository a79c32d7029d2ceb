//! Terms of networks and of what connects devices.

use super::{Term, term};
use crate::check::Reference;

const IPMI: &[Reference] = &[Reference {
    title: "Intelligent Platform Management Interface Specification, second generation, v2.0",
    url: "https://www.intel.com/content/www/us/en/products/docs/servers/ipmi/ipmi-second-gen-interface-spec-v2-rev1-1.html",
}];

const PCI: &[Reference] = &[Reference {
    title: "Linux: PCI Bus Subsystem",
    url: "https://docs.kernel.org/PCI/index.html",
}];

const RDMA: &[Reference] = &[Reference {
    title: "Linux: InfiniBand",
    url: "https://docs.kernel.org/infiniband/index.html",
}];

const NET: &[Reference] = &[Reference {
    title: "Linux: Scaling in the Linux Networking Stack",
    url: "https://docs.kernel.org/networking/scaling.html",
}];

const MD: &[Reference] = &[Reference {
    title: "Linux: RAID arrays",
    url: "https://docs.kernel.org/admin-guide/md.html",
}];

pub(super) const TERMS: &[Term] = &[
    term(
        "pci",
        "PCI",
        "peripheral component interconnect",
        "How devices are connected; PCIe is its serial form.",
        PCI,
    ),
    term(
        "rdma",
        "RDMA",
        "remote direct memory access",
        "A network adapter reads and writes memory of another machine, past its kernel.",
        RDMA,
    ),
    term(
        "rss",
        "RSS",
        "receive side scaling",
        "An adapter spreads packets over queues, each with an interrupt.",
        NET,
    ),
    term("npar", "NPAR", "network partitioning", "One port looks like several.", NET),
    term(
        "fec",
        "FEC",
        "forward error correction",
        "Redundant bits by which a link repairs errors.",
        NET,
    ),
    term(
        "dpdk",
        "DPDK",
        "data plane development kit",
        "Programs that poll an adapter by themselves: their CPUs are busy by design.",
        NET,
    ),
    term("hdr", "HDR", "high data rate", "InfiniBand at 50 Gb/s a lane.", RDMA),
    term("ndr", "NDR", "next data rate", "InfiniBand at 100 Gb/s a lane.", RDMA),
    term("xdr", "XDR", "extreme data rate", "InfiniBand at 200 Gb/s a lane.", RDMA),
    term("fdr", "FDR", "fourteen data rate", "InfiniBand at 14 Gb/s a lane.", RDMA),
    term("edr", "EDR", "enhanced data rate", "InfiniBand at 25 Gb/s a lane.", RDMA),
    term("qdr", "QDR", "quad data rate", "InfiniBand at 10 Gb/s a lane.", RDMA),
    term(
        "sdr",
        "SDR",
        "single data rate, and sensor data record",
        "InfiniBand at 2.5 Gb/s a lane; of a management controller, the description of a sensor.",
        IPMI,
    ),
    term("ib", "IB", "InfiniBand", "A network with RDMA.", RDMA),
    term(
        "raid",
        "RAID",
        "redundant array of independent disks",
        "Several disks as one; the kernel's threads for it take CPU time while they rebuild.",
        MD,
    ),
];
