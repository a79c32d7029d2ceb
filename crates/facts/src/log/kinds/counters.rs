//! perf, the NMI watchdog and other users of the processor's counters; unexplained NMIs.
//!
//! Sources: kernel/events/core.c, arch/x86/events, kernel/watchdog_hld.c, arch/x86/kernel/nmi.c and traps.c.

use super::{Kind, Weight};

pub(super) const KINDS: &[Kind] = &[
    Kind {
        id: "perf-slow",
        title: "perf's interrupts took too long, and its rate was lowered",
        weight: Weight::Context,
        checks: &["smi-storm", "stolen-time", "clock-modulation"],
        means: "The handler of a counter's interrupt took more than its share of 25 % of a CPU. Lower rates are harmless in \
                themselves. On a host without a profiler it is the NMI watchdog's own interrupt that was slow: a clock held down, \
                system management mode, or a hypervisor that ran something else.",
        fix: "",
        wordings: &[
            (
                "since 4.x",
                "perf: interrupt took too long ({n} > {n}), lowering kernel.perf_event_max_sample_rate",
            ),
            (
                "to 4.x",
                "perf samples too long ({n} > {n}), lowering kernel.perf_event_max_sample_rate",
            ),
            ("", "lowering kernel.perf_event_max_sample_rate to"),
            ("", "Dynamic interrupt throttling disabled, can hang your system"),
        ],
    },
    Kind {
        id: "nmi-slow",
        title: "an NMI handler ran for milliseconds",
        weight: Weight::Info,
        checks: &["smi-storm", "stolen-time", "clock-modulation"],
        means: "An NMI cannot be interrupted but by system management mode or a hypervisor, and takes microseconds where nothing is \
                wrong. Many of these point at SMIs, at a clock that is held down, or at a host that is overcommitted.",
        fix: "Look at smi-storm, at clock-below-minimum, and in a guest at steal.",
        wordings: &[("", "INFO: NMI handler ({}) took too long to run")],
    },
    Kind {
        id: "nmi-watchdog-on",
        title: "the NMI watchdog runs and keeps a counter",
        weight: Weight::Context,
        checks: &["nmi-watchdog-tick"],
        means: "It takes one hardware counter of each CPU and an interrupt every 10 s of busy time. On isolated CPUs it is a \
                disturbance (`nmi_watchdog=0`).",
        fix: "",
        wordings: &[
            ("", "permanently consumes one hw-PMU counter"),
            ("", "Permanently consumes one hw-PMU counter"),
            ("", "Disabling watchdog on nohz_full cores by default"),
            ("2.6.32", "Testing NMI watchdog"),
            ("", "Set the NMI watchdog timeout factor to"),
        ],
    },
    Kind {
        id: "nmi-watchdog-off",
        title: "the NMI watchdog is not available",
        weight: Weight::Context,
        checks: &["nmi-watchdog-tick"],
        means: "The hypervisor shows no counters, or they are in use: hard lockups are not reported here.",
        fix: "",
        wordings: &[
            ("3.10", "NMI watchdog: disabled (cpu{cpu})"),
            ("", "Perf NMI watchdog permanently disabled"),
            ("since 6.12", "Hard watchdog permanently disabled"),
            ("since 6.12", "NMI not fully supported"),
            ("", "NMI watchdog is permanently disabled"),
            ("3.10", "NMI watchdog: Shutting down hard lockup detector on all cpus"),
            ("3.10", "NMI watchdog: Failed to"),
            ("2.6.32", "NMI appears to be stuck"),
            ("since 6.12", "Delayed init of the lockup detector failed"),
        ],
    },
    Kind {
        id: "counters-taken",
        title: "firmware uses the processor's performance counters",
        weight: Weight::Info,
        checks: &["smi-storm", "known-fault"],
        means: "Firmware left a counter running: it measures the machine from system management mode, as some vendors' power profiles \
                do by an SMI several times a second.",
        fix: "HPE: set \"Processor Power and Utilization Monitoring\" to disabled; on others look for a similar switch.",
        wordings: &[
            ("", "the BIOS has corrupted hw-PMU resources"),
            ("", "Broken BIOS detected, complain to your hardware vendor"),
            ("", "Failed to access perfctr msr"),
        ],
    },
    Kind {
        id: "counters-missing",
        title: "the processor's performance counters are not available",
        weight: Weight::Context,
        checks: &[],
        means: "perf counts software events only, mostly because the hypervisor shows no counters to the guest.",
        fix: "",
        wordings: &[
            ("", "PMU not available due to virtualization, using software events only"),
            ("", "Broken PMU hardware detected, using software events only"),
            ("", "no PMU driver, software events only"),
            ("", "no hardware sampling interrupt available"),
            ("", "PEBS disabled due to CPU errata"),
            ("", "PMU counter freezing disabled due to CPU errata"),
            ("", "CPUID marked event: {} unavailable"),
            ("", "PMU erratum BJ122, BV98, HSD29"),
            ("since 6.1", "Reserved PerfCntrGlobalStatus bits are set"),
        ],
    },
    Kind {
        id: "counters-setup",
        title: "the performance counters that the kernel found",
        weight: Weight::Context,
        checks: &[],
        means: "Ordinary lines of the boot.",
        fix: "",
        wordings: &[
            ("", "Performance Events: "),
            ("", "perf: AMD IBS detected"),
            ("", "AMD Power PMU detected"),
            ("", "PEBS enabled due to microcode update"),
        ],
    },
    Kind {
        id: "counter-loop",
        title: "the counters' interrupt could not be cleared",
        weight: Weight::Info,
        checks: &["smi-storm"],
        means: "The interrupt of a performance counter came again at once, over and over; the kernel reset the counters. An erratum, a \
                hypervisor's bug, or counters that firmware uses as well.",
        fix: "Update kernel and microcode.",
        wordings: &[("", "perfevents: irq loop stuck"), ("", "clearing PMU state on CPU")],
    },
    Kind {
        id: "hardware-watchdog",
        title: "a watchdog that reboots the machine speaks",
        weight: Weight::Context,
        checks: &[],
        means: "Not the watchdog of the kernel's own CPUs: a device, the management controller or softdog, which reboots a machine \
                whose software no longer answers. It does not touch the clock; a reboot by it often follows a stall.",
        fix: "",
        wordings: &[
            ("", "watchdog did not stop!"),
            ("", "softdog: Initiating system reboot"),
            ("", "Initiating system reboot"),
            ("", "Unexpected close, not stopping watchdog"),
            ("", "Software Watchdog Timer expired"),
            ("", "IPMI Watchdog: "),
            ("", "iTCO_wdt: "),
            ("", "hpwdt: "),
            ("", "initialized. heartbeat="),
        ],
    },
    Kind {
        id: "unknown-nmi",
        title: "an NMI came that no driver knows",
        weight: Weight::Info,
        checks: &["smi-storm"],
        means: "Hardware, the management controller's button, or a counter's late interrupt. Single ones are harmless; many mean a \
                fault of a board or of memory.",
        fix: "Look at the event log of the management controller (`ipmitool sel elist`).",
        wordings: &[
            ("", "NMI received for unknown reason"),
            ("", "Dazed and confused, but trying to continue"),
            ("2.6.32 to 4.20", "Do you have a strange power saving mode enabled"),
            ("", "NMI: PCI system error (SERR)"),
            ("", "NMI: IOCK error"),
            ("2.6.32", "You have some hardware problem, likely on the PCI bus"),
        ],
    },
];
