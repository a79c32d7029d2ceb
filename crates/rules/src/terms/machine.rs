//! Terms of firmware, management controller and kernel.

use super::{Term, term};
use crate::check::Reference;

const SDM: &[Reference] =
    &[Reference { title: "Intel Software Developer's Manual", url: "https://www.intel.com/sdm" }];

const PPR: &[Reference] = &[Reference {
    title: "AMD, Processor Programming Reference of the family",
    url: "https://www.amd.com/en/search/documentation/hub.html",
}];

const TIME: &[Reference] = &[Reference {
    title: "Linux: Timekeeping Virtualization for X86-Based Architectures, Time Stamp Counter",
    url: "https://docs.kernel.org/virt/kvm/x86/timekeeping.html",
}];

const SMBIOS: &[Reference] = &[Reference {
    title: "DMTF: System Management BIOS (DSP0134)",
    url: "https://www.dmtf.org/standards/smbios",
}];

const UEFI: &[Reference] =
    &[Reference { title: "UEFI specification", url: "https://uefi.org/specifications" }];

const ACPI: &[Reference] =
    &[Reference { title: "ACPI specification", url: "https://uefi.org/specifications" }];

const IPMI: &[Reference] = &[Reference {
    title: "Intelligent Platform Management Interface Specification, second generation, v2.0",
    url: "https://www.intel.com/content/www/us/en/products/docs/servers/ipmi/ipmi-second-gen-interface-spec-v2-rev1-1.html",
}];

const POWERCAP: &[Reference] = &[Reference {
    title: "Linux: Power Capping Framework",
    url: "https://docs.kernel.org/power/powercap/powercap.html",
}];

const PLR: &[Reference] = &[Reference {
    title: "Linux: debugfs-tpmi",
    url: "https://www.kernel.org/doc/Documentation/ABI/testing/debugfs-tpmi",
}];

const S390: &[Reference] = &[Reference {
    title: "Linux: s390 architecture",
    url: "https://docs.kernel.org/arch/s390/index.html",
}];

const CPUHP: &[Reference] = &[Reference {
    title: "Linux: CPU hotplug",
    url: "https://docs.kernel.org/core-api/cpu_hotplug.html",
}];

const NUMA: &[Reference] =
    &[Reference { title: "Linux: What is NUMA?", url: "https://docs.kernel.org/mm/numa.html" }];

const WATCHDOG: &[Reference] = &[Reference {
    title: "Linux: Softlockup detector and hardlockup detector",
    url: "https://docs.kernel.org/admin-guide/lockup-watchdogs.html",
}];

const IRQ: &[Reference] = &[Reference {
    title: "Linux: SMP IRQ affinity",
    url: "https://docs.kernel.org/core-api/irq/irq-affinity.html",
}];

const NOHZ: &[Reference] = &[Reference {
    title: "Linux: NO_HZ: Reducing Scheduling-Clock Ticks",
    url: "https://docs.kernel.org/timers/no_hz.html",
}];

const CFS: &[Reference] = &[Reference {
    title: "Linux: CFS Bandwidth Control",
    url: "https://docs.kernel.org/scheduler/sched-bwc.html",
}];

const SCX: &[Reference] = &[Reference {
    title: "Linux: Extensible Scheduler Class",
    url: "https://docs.kernel.org/scheduler/sched-ext.html",
}];

const KVM: &[Reference] =
    &[Reference { title: "Linux: KVM", url: "https://docs.kernel.org/virt/kvm/index.html" }];

const RPI: &[Reference] = &[Reference {
    title: "Raspberry Pi documentation: vcgencmd get_throttled",
    url: "https://www.raspberrypi.com/documentation/computers/os.html",
}];

const PCM: &[Reference] = &[Reference {
    title: "Intel Performance Counter Monitor",
    url: "https://github.com/intel/pcm",
}];

const TLP: &[Reference] = &[Reference {
    title: "TLP documentation, settings",
    url: "https://linrunner.de/tlp/settings/processor.html",
}];

pub(super) const TERMS: &[Term] = &[
    term(
        "msr",
        "MSR",
        "model-specific register",
        "A register of one CPU that root reads through /dev/cpu/N/msr. Guests see few of them.",
        SDM,
    ),
    term(
        "cpuid",
        "CPUID",
        "the instruction by which a processor says what it is",
        "Hypervisors answer it in place of the processor.",
        SDM,
    ),
    term(
        "sdm",
        "SDM",
        "Software Developer's Manual of Intel",
        "Where the registers of Intel's processors are documented.",
        SDM,
    ),
    term(
        "ppr",
        "PPR",
        "Processor Programming Reference of AMD",
        "Where the registers of AMD's processors are documented.",
        PPR,
    ),
    term(
        "tsc",
        "TSC",
        "time stamp counter",
        "The fastest clock that Linux can read. The kernel gives it up where it does not run evenly.",
        TIME,
    ),
    term(
        "smi",
        "SMI",
        "system management interrupt",
        "It stops all CPUs while the firmware works, unseen by Linux but for a counter. Firmware owns it.",
        SDM,
    ),
    term(
        "smm",
        "SMM",
        "system management mode",
        "The mode in which the firmware works after an SMI.",
        SDM,
    ),
    term(
        "smbios",
        "SMBIOS",
        "system management BIOS",
        "Tables in which the firmware names the machine and its parts.",
        SMBIOS,
    ),
    term(
        "bios",
        "BIOS",
        "the firmware of a PC",
        "Its setup decides on power limits, idle states and turbo before Linux starts.",
        UEFI,
    ),
    term(
        "uefi",
        "UEFI",
        "unified extensible firmware interface",
        "The firmware of today's machines, and its interface to Linux.",
        UEFI,
    ),
    term(
        "cbs",
        "CBS",
        "common BIOS settings",
        "The menu of AMD's own settings in the firmware's setup.",
        PPR,
    ),
    term(
        "acpi",
        "ACPI",
        "advanced configuration and power interface",
        "Tables and methods by which the firmware tells Linux of clocks, idle states and limits.",
        ACPI,
    ),
    term(
        "bmc",
        "BMC",
        "baseboard management controller",
        "A computer of its own on the board of a server: it watches power and heat, and can limit the clock.",
        IPMI,
    ),
    term(
        "ipmi",
        "IPMI",
        "intelligent platform management interface",
        "How Linux asks the management controller.",
        IPMI,
    ),
    term(
        "dcmi",
        "DCMI",
        "data center manageability interface",
        "The part of IPMI that limits the power of a machine.",
        IPMI,
    ),
    term(
        "kcs",
        "KCS",
        "keyboard controller style",
        "An interface to the management controller, one byte at a time; without an interrupt the kernel polls it.",
        IPMI,
    ),
    term(
        "bt",
        "BT",
        "block transfer",
        "An interface to the management controller that takes whole messages.",
        IPMI,
    ),
    term(
        "smic",
        "SMIC",
        "server management interface chip",
        "An old interface to the management controller, one byte at a time.",
        IPMI,
    ),
    term(
        "si",
        "SI",
        "system interface",
        "What connects Linux and the management controller: KCS, SMIC, BT or SSIF (driver ipmi_si).",
        IPMI,
    ),
    term(
        "dmtf",
        "DMTF",
        "distributed management task force",
        "Who publishes Redfish and SMBIOS.",
        SMBIOS,
    ),
    term(
        "mmio",
        "MMIO",
        "memory-mapped input and output",
        "Registers at addresses of memory. A power limit that was set there is the firmware's or thermald's, apart from that in MSR 0x610.",
        POWERCAP,
    ),
    term(
        "ras",
        "RAS",
        "reliability, availability, serviceability",
        "As a reason in the PLR log: the processor holds its clock because of errors of its own hardware.",
        PLR,
    ),
    term(
        "se",
        "SE",
        "support element of a mainframe",
        "The computer beside it that sets and logs its clock.",
        S390,
    ),
    term(
        "hmc",
        "HMC",
        "hardware management console",
        "The computer by which IBM's machines are managed; it logs why a clock was lowered.",
        S390,
    ),
    term(
        "smt",
        "SMT",
        "simultaneous multithreading",
        "Two or more CPUs of Linux share a core. The boot line, the firmware or a mitigation turns it off.",
        CPUHP,
    ),
    term("smp", "SMP", "symmetric multiprocessing", "A kernel for more than one CPU.", CPUHP),
    term(
        "numa",
        "NUMA",
        "non-uniform memory access",
        "Memory and devices are near to some CPUs and far from others.",
        NUMA,
    ),
    term(
        "l3",
        "L3",
        "the last-level cache",
        "Cores of a package or of a part of it share it.",
        SDM,
    ),
    term(
        "nmi",
        "NMI",
        "non-maskable interrupt",
        "An interrupt that cannot be held off; the watchdog of the kernel uses it.",
        WATCHDOG,
    ),
    term(
        "pmi",
        "PMI",
        "performance monitoring interrupt",
        "A counter has overflowed: perf and the NMI watchdog use it.",
        WATCHDOG,
    ),
    term(
        "irq",
        "IRQ",
        "interrupt request",
        "A device asks a CPU for attention; /proc/irq says which CPU may be asked.",
        IRQ,
    ),
    term(
        "rcu",
        "RCU",
        "read-copy-update",
        "How the kernel frees what others may still read. Its callbacks can be kept off isolated CPUs.",
        NOHZ,
    ),
    term(
        "cfs",
        "CFS",
        "completely fair scheduler",
        "The usual scheduler of Linux up to 6.5; its quota limits the CPU time of a control group.",
        CFS,
    ),
    term(
        "rt",
        "RT",
        "real time",
        "Tasks with priority over all others, and the kernel built for them (PREEMPT_RT).",
        NOHZ,
    ),
    term(
        "bpf",
        "BPF",
        "programs that the kernel runs on request",
        "Schedulers of sched_ext are such programs.",
        SCX,
    ),
    term(
        "kvm",
        "KVM",
        "the hypervisor of Linux",
        "It decides which clocks and registers its guests see.",
        KVM,
    ),
    term(
        "usb",
        "USB",
        "universal serial bus",
        "As a cause of low clocks: a supply over it that is too weak.",
        RPI,
    ),
    term(
        "os",
        "OS",
        "operating system",
        "In a firmware's setup, OS control leaves the clock to Linux.",
        ACPI,
    ),
    term(
        "pcm",
        "PCM",
        "Performance Counter Monitor of Intel",
        "A program that reads counters of cores and uncore.",
        PCM,
    ),
    term(
        "tlp",
        "TLP",
        "a program that sets power saving of laptops",
        "It writes governor, limits on the clock, turbo and preferences as configured.",
        TLP,
    ),
];
