//! Power: limits of processors and boards, supplies that are too weak, voltage.
//!
//! Sources: therm_throt.c, drivers/powercap/intel_rapl*.c, drivers/hwmon/acpi_power_meter.c and raspberrypi-hwmon.c (in the
//! Raspberry Pi kernels before 4.20 drivers/firmware/raspberrypi.c), arch/powerpc/platforms/pseries/ras.c and
//! powernv/opal-power.c, drivers/platform/x86/amd/hsmp, arch/x86/events/rapl.c.

use super::{Kind, Weight};

pub(super) const KINDS: &[Kind] = &[
    Kind {
        id: "power-limit-reached",
        title: "a core or package reached its power limit",
        weight: Weight::Info,
        checks: &["low-power-limit", "bmc-power-cap", "prochot-asserted"],
        means: "The processor would have drawn more than its power limit (PL1 or PL2), and lowered its clock until it did not. That is \
                how turbo works: under full load a limit is reached all the time, and is no fault. It matters where the limit is lower \
                than the processor's design power: set by firmware, by the management controller or by a power supply that is short of \
                capacity. Later kernels print it with `int_pln_enable` on the boot line only.",
        fix: "Compare the limit with the design power: see low-power-limit.",
        wordings: &[
            ("to 4.20", "{} power limit notification (total events = {total})"),
            ("", "power limit notification"),
        ],
    },
    Kind {
        id: "power-limit-left",
        title: "a core or package was below its power limit again",
        weight: Weight::Context,
        checks: &["low-power-limit"],
        means: "The end of one stay at the power limit.",
        fix: "",
        wordings: &[("to 4.20", "{} power limit normal")],
    },
    Kind {
        id: "turbo-taken-back",
        title: "the processor and its graphics went over a common limit of heat or power",
        weight: Weight::Low,
        checks: &["thermal-throttling", "low-power-limit"],
        means: "intel_ips shares one budget between processor and graphics on processors of 2010, and takes turbo back when they \
                exceed it.",
        fix: "Look at the cooling; a limit that is lower than the design is firmware's.",
        wordings: &[
            ("", "MCP limit exceeded: Avg temp"),
            ("", "MCP limit exceeded: Avg power"),
            ("", "MCP power or thermal limit exceeded"),
            ("", "CPU power or thermal limit exceeded"),
        ],
    },
    Kind {
        id: "over-current",
        title: "the board's over-current alarm slowed the processor",
        weight: Weight::Medium,
        checks: &["prochot-asserted", "capped-frequency"],
        means: "The regulator of the processor delivered more current than allowed, and hardware lowers the clock at once.",
        fix: "Use a stronger supply, or a power mode that the board can feed.",
        wordings: &[
            ("since 4.20", "soctherm: OC ALARM"),
            ("since 4.20", "Ignored unexpected OC ALARM"),
        ],
    },
    Kind {
        id: "rapl-locked",
        title: "firmware locked the power limit of a package",
        weight: Weight::Info,
        checks: &["low-power-limit"],
        means: "The limit stands as firmware set it, until the next boot: nothing in Linux can raise it.",
        fix: "Compare it with the design power of the model.",
        wordings: &[
            ("since 6.6", "intel_rapl_common: {} locked by BIOS"),
            ("3.10, 4.20", "RAPL package {} domain {} locked by BIOS"),
            ("since 6.1", "RAPL {} domain {} locked by BIOS"),
            ("", "{} locked by BIOS, monitoring only"),
        ],
    },
    Kind {
        id: "rapl-setup",
        title: "which power domains of the processor Linux can read and limit",
        weight: Weight::Context,
        checks: &["low-power-limit"],
        means: "Ordinary lines of the boot about RAPL, the processor's power meter and limiter. Where it fails, power and its limits \
                are unknown to Linux.",
        fix: "",
        wordings: &[
            ("since 6.6", "intel_rapl_common: package-{n}:dram:{} locked by BIOS"),
            ("since 6.1", "RAPL package {} domain dram locked by BIOS"),
            ("since 6.1", "RAPL {} domain dram locked by BIOS"),
            ("since 6.1", "Platform domain energy unit"),
            ("since 6.12", "No valid Unit register found"),
            ("", "intel_rapl{}: Found RAPL domain {}"),
            ("", "Found RAPL domain"),
            ("", "DRAM domain energy unit {n}pj"),
            ("", "driver does not support CPU family {} model {}"),
            ("since 6.1", "intel-rapl does not support CPU vendor"),
            ("since 6.1", "PL4 support detected"),
            ("", "no package domain found, unknown topology"),
            ("", "Invalid floor frequency config register"),
            ("", "Cannot find matching power limit for constraint"),
            ("", "Failed to read power unit MSR"),
            ("since 6.1", "Failed to read power unit REG"),
            ("since 4.20", "RAPL PMU: API unit is"),
            ("since 4.20", "RAPL PMU: hw unit of domain"),
            ("since 6.1", "RAPL PMU: Initialization failed"),
            ("", "Found ACPI power meter"),
            ("since 6.12", "intel_rapl_tpmi"),
        ],
    },
    Kind {
        id: "power-cap-active",
        title: "the board's power was being capped",
        weight: Weight::Medium,
        checks: &["bmc-power-cap", "prochot-asserted"],
        means: "ACPI's power meter reported that the cap of the board is in force: the management controller lowers the clock of all \
                processors until the board draws less.",
        fix: "Look at the cap (`ipmitool dcmi power get_limit`), at the power profile of the chassis and at the supplies.",
        wordings: &[("", "Capping in progress")],
    },
    Kind {
        id: "power-cap-refused",
        title: "a power cap of the board was refused, or its meter cannot be read",
        weight: Weight::Context,
        checks: &["bmc-power-cap"],
        means: "The kernel does not let software set a cap that firmware calls unsafe, or the firmware's power meter answers nonsense.",
        fix: "",
        wordings: &[
            ("", "Ignoring unsafe software power cap"),
            ("to 4.20", "ACPI Exception: {} Evaluating _PMM"),
            ("since 6.12", "Waiting for ACPI IPMI timeout"),
        ],
    },
    Kind {
        id: "under-voltage",
        title: "the board's supply voltage was too low",
        weight: Weight::Medium,
        checks: &["undervoltage", "capped-frequency", "clock-below-minimum"],
        means: "A Raspberry Pi below 4.63 V lowers its clock to 600 MHz (or 1.5 GHz on a Pi 5) whatever the governor requests, until \
                the voltage is normal.",
        fix: "Use the official supply and a short, thick cable, and take power-hungry USB devices off the board.",
        wordings: &[
            ("since 4.20", "Undervoltage detected"),
            ("Raspberry Pi, to 4.19", "Under-voltage detected! ({})"),
        ],
    },
    Kind {
        id: "voltage-normal",
        title: "the board's supply voltage was normal again",
        weight: Weight::Context,
        checks: &["undervoltage", "capped-frequency"],
        means: "The end of an under-voltage event of a Raspberry Pi. The clock returns within seconds; the cause remains.",
        fix: "",
        wordings: &[("", "Voltage normalised")],
    },
    Kind {
        id: "raspberry-firmware",
        title: "the Raspberry Pi firmware did not answer about its clock or its throttling",
        weight: Weight::Info,
        checks: &["undervoltage", "capped-frequency", "clock-below-minimum"],
        means: "The firmware sets the processor's clock on this board, and says whether voltage or heat limit it. While it does not \
                answer, both are unknown, and requests for another clock are lost.",
        fix: "Update the board's firmware (`rpi-eeprom-update`) and kernel.",
        wordings: &[
            ("since 4.20", "Failed to get throttled ({})"),
            ("since 6.1", "Firmware transaction timeout"),
            ("since 6.12", "Firmware transaction {} timeout"),
            ("since 4.20", "Request {} returned status {}"),
            ("since 4.20", "raspberrypi-clk {} Failed to change {} frequency"),
            ("since 4.20", "raspberrypi-clk {} Failed to get {} frequency"),
            ("", "Attached to firmware from"),
        ],
    },
    Kind {
        id: "power-supply-lost",
        title: "a power supply, its input or the cooling of the machine failed",
        weight: Weight::Medium,
        checks: &["prochot-asserted", "bmc-power-cap"],
        means: "Firmware reported an early power-off warning (EPOW): a supply is lost, the machine runs on a battery, or the room is \
                too hot. POWER machines lower the clock of all processors then.",
        fix: "Restore the supply, its input or the cooling that the service processor names.",
        wordings: &[
            ("", "Loss of system power detected. System is running on UPS/battery"),
            ("", "High ambient temperature detected"),
            ("", "Non-critical cooling issue detected"),
            ("", "Non-critical power issue detected"),
            ("", "Critical power/cooling issue detected"),
            ("", "System about to lose power"),
            ("", "Unknown power/cooling"),
            ("", "opal-power: EPOW msg received"),
            ("", "opal-power: Existing EPOW event detected"),
            ("", "opal-power: DPO msg received"),
            ("", "opal-power: Existing DPO event detected"),
        ],
    },
    Kind {
        id: "power-supply-back",
        title: "the trouble with power or cooling is over, or its reporting was set up",
        weight: Weight::Context,
        checks: &["bmc-power-cap"],
        means: "The firmware of a POWER machine no longer reports a fault of power or cooling, or says that it can.",
        fix: "",
        wordings: &[
            ("", "Non critical power/cooling issue cleared"),
            ("", "OPAL EPOW, DPO support detected"),
        ],
    },
    Kind {
        id: "hsmp",
        title: "AMD's system management port does not answer",
        weight: Weight::Context,
        checks: &["low-power-limit"],
        means: "Without HSMP the power limit, the fabric clock and the throttling state of an EPYC socket cannot be read from Linux. \
                Firmware has a switch for it.",
        fix: "",
        wordings: &[
            ("since 6.1", "HSMP is not supported on"),
            ("since 6.1", "Is HSMP disabled in BIOS"),
            ("since 6.1", "amd_hsmp: Message ID {} failure"),
            ("since 6.1", "amd_hsmp: Message ID {} unknown failure"),
            ("since 6.1", "Socket {} test message failed"),
            ("since 6.12", "HSMP test message failed"),
            ("since 6.12", "Failed to init HSMP mailbox"),
            ("since 6.12", "Failed to read HSMP protocol version"),
        ],
    },
    Kind {
        id: "capability-changed",
        title: "the speed of the machine's processors may have changed",
        weight: Weight::Info,
        checks: &["clock-below-minimum"],
        means: "An IBM Z machine changed the capability of its CPUs: another capacity model, or cycle steering because of heat or \
                maintenance. /proc/sysinfo shows the capability that is in force.",
        fix: "Ask for the messages of the machine at its support element (SE or HMC).",
        wordings: &[("", "CPU capability may have changed")],
    },
];
