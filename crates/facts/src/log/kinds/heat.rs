//! Heat: the processor's own thermal control, thermal zones, cooling devices and the sensors of boards.
//!
//! Sources: drivers/thermal/intel/therm_throt.c (before 5.4 arch/x86/kernel/cpu/mcheck/therm_throt.c), thermal_core.c,
//! intel_powerclamp.c and intel_pch_thermal.c in drivers/thermal, drivers/acpi/thermal.c, drivers/hwmon/coretemp.c and
//! k10temp.c, kernel/reboot.c, drivers/platform/x86/thinkpad_acpi.c and hp-wmi.c; mcelog's msg.c and p4.c.

use super::{Kind, Weight};

pub(super) const KINDS: &[Kind] = &[
    Kind {
        id: "cpu-throttled-by-heat",
        title: "the processor lowered its clock because it was too hot",
        weight: Weight::Low,
        checks: &["thermal-throttling", "prochot-asserted", "clock-modulation"],
        means: "A core or package went over its temperature limit, and the processor lowered its own clock until it was cool \
                again. The kernel prints at most one such line in five minutes for each CPU: count events, not lines. A \
                \"temperature/speed normal\" line milliseconds later does not cancel it. Look at fans, air flow, dust, heat \
                sink and the room before any setting.",
        wordings: &[
            (
                "2.6.32",
                "CPU{cpu}: Temperature above threshold, cpu clock throttled (total events = {total})",
            ),
            (
                "to 4.20",
                "{} temperature above threshold, cpu clock throttled (total events = {total})",
            ),
            (
                "since 5.3",
                "{} temperature is above threshold, cpu clock is throttled (total events = {total})",
            ),
            ("to 2.6.22", "CPU{cpu}: Temperature above threshold"),
            ("", "temperature above threshold, cpu clock throttled"),
            ("", "temperature is above threshold, cpu clock is throttled"),
            ("to 2.6.22", "CPU{cpu}: Running in modulated clock mode"),
            ("mcelog", "heated above trip temperature. Throttling enabled"),
            ("mcelog", "Please check your system cooling. Performance will be impacted"),
        ],
    },
    Kind {
        id: "cpu-cool-again",
        title: "the processor was cool again and took its clock back",
        weight: Weight::Context,
        checks: &["thermal-throttling"],
        means: "The end of one throttling event. It does not mean that the heat is gone: a processor that is cooled badly goes \
                in and out many times a second.",
        wordings: &[
            ("2.6.32", "CPU{cpu}: Temperature/speed normal"),
            ("", "{} temperature/speed normal"),
            ("mcelog", "below trip temperature. Throttling disabled"),
        ],
    },
    Kind {
        id: "thermal-interrupt",
        title: "how the thermal interrupt of the processor is served",
        weight: Weight::Context,
        checks: &["thermal-throttling"],
        means: "\"Handled by SMI\": firmware keeps the thermal interrupt, so that the kernel neither counts nor reports \
                throttling; look at the management controller. \"Enabled\": the kernel counts it in \
                /sys/devices/system/cpu/cpuN/thermal_throttle.",
        wordings: &[
            ("", "Thermal monitoring handled by SMI"),
            ("", "Thermal monitoring enabled ({})"),
            ("2.6.32", "Thermal LVT vector ({}) already installed"),
            ("", "Unexpected LVT thermal interrupt"),
            ("2.6.32", "Unexpected LVT TMR interrupt"),
            ("", "_OSC native thermal LVT Acked"),
        ],
    },
    Kind {
        id: "critical-temperature",
        title: "a thermal zone reached its critical temperature",
        weight: Weight::High,
        checks: &["thermal-throttling"],
        means: "The machine was about to shut down to save itself, or did. Before that point the clock was at its lowest for a \
                while. The cooling has failed, or a sensor reports nonsense: compare with the management controller's sensors.",
        wordings: &[
            ("2.6.32", "Critical temperature reached ({} C), shutting down"),
            ("3.10", "critical temperature reached({} C),shutting down"),
            ("4.20", "critical temperature reached ({} C), shutting down"),
            ("", "critical temperature reached"),
            ("", "Thermal reached to critical temperature"),
            ("since 5.12", "HARDWARE PROTECTION {} (Temperature too high)"),
            ("4.20", "Attempting kernel_power_off: Temperature too high"),
            ("4.20", "Attempting emergency_restart: Temperature too high"),
            ("since 4.20", "THERMAL ALARM: {n} > {n}"),
            ("", "Junction Temp Alarm"),
            ("", "Possible thermal failure (CPU on fire ?)"),
            ("", "THERMAL EMERGENCY: a sensor reports something is extremely hot"),
            ("", "THERMAL EMERGENCY: battery is extremely hot"),
        ],
    },
    Kind {
        id: "board-is-hot",
        title: "a sensor of the board reported heat",
        weight: Weight::Low,
        checks: &["thermal-throttling", "prochot-asserted"],
        means: "Firmware reported a part that is too hot. Boards answer heat by pulling PROCHOT# or by lowering the processor's \
                power limit, which shows as a low clock and in no counter of the kernel's.",
        wordings: &[
            ("", "THERMAL ALARM: a sensor reports something is too hot"),
            ("", "THERMAL ALARM: battery is too hot"),
            ("", "THERMAL ALERT: unknown thermal alarm received"),
            ("3.10", "unknown possible thermal alarm or keyboard event received"),
            ("since 6.1", "CPU-PCH is hot [{}C] after {} ms delay. S0ix might fail"),
            ("since 6.12", "CPU-PCH current temp [{}C] higher than the threshold temp [{}C]"),
            ("since 4.20", "THERMAL ALARM stopped"),
        ],
    },
    Kind {
        id: "battery-throttle",
        title: "firmware requested a slower processor because of a weak battery or power supply",
        weight: Weight::Low,
        checks: &["prochot-asserted", "capped-frequency"],
        means: "A laptop's firmware wants the processor slower than its power supply or battery could feed. The clock stays low \
                until a stronger supply is connected.",
        wordings: &[
            ("to 4.20", "Unimplemented CPU throttle because of 3 Cell battery event detected"),
            ("since 6.1", "CPU throttle because of 3 Cell battery event"),
        ],
    },
    Kind {
        id: "idle-injection",
        title: "idle time was injected to save power or to cool",
        weight: Weight::Low,
        checks: &["forced-idle"],
        means: "intel_powerclamp, used by thermald or by hand, makes CPUs idle for a share of the time. Programs see a slower \
                machine with an unchanged clock. It ends with \"Stop forced idle injection\".",
        wordings: &[
            ("", "intel_powerclamp: Start idle injection to reduce power"),
            ("", "Start idle injection to reduce power"),
        ],
    },
    Kind {
        id: "idle-injection-ended",
        title: "the injection of idle time ended, or cannot be used here",
        weight: Weight::Context,
        checks: &["forced-idle"],
        means: "intel_powerclamp has stopped, or refuses this processor. It takes nothing.",
        wordings: &[
            ("", "Stop forced idle injection"),
            ("", "intel_powerclamp: No package C-state available"),
            ("", "intel_powerclamp: CPU does not support MWAIT"),
            ("3.10", "powerclamp: cpu {} dead but powerclamping thread is not"),
            ("since 6.12", "powerclamp: idle_inject_register failed"),
            ("", "Out of recommended window size"),
            ("", "Out of recommended range {}, between 6-25ms"),
            ("", "ii_dev: cpu{cpu} is already registered"),
        ],
    },
    Kind {
        id: "thermal-zone-unreadable",
        title: "a thermal zone cannot be read",
        weight: Weight::Info,
        checks: &["thermal-throttling"],
        means: "The kernel does not know this temperature and does not act on it. Some drivers then disable the zone, others keep \
                a cooling device at its last state, which can hold a clock down.",
        wordings: &[
            ("2.6.32", "failed to read out thermal zone {n}"),
            ("", "failed to read out thermal zone ({})"),
            ("since 6.12", "Temperature check failed ({})"),
            ("since 6.12", "Unable to get temperature, disabling"),
            ("since 6.12", "Disabled thermal zone with critical trip point"),
            ("", "k10temp {} unreliable CPU thermal sensor"),
            ("", "unreliable CPU thermal sensor; check erratum 319"),
            ("", "ThinkPad ACPI EC access misbehaving, disabling thermal sensors access"),
            ("", "Unable to read TjMax from CPU"),
            ("", "Unable to access MSR 0xEE, for Tjmax, left at default"),
            ("", "Using relative temperature scale"),
            ("", "Errata AE18 not fixed, update BIOS or microcode of the CPU"),
        ],
    },
    Kind {
        id: "thermal-zone-firmware",
        title: "firmware describes a thermal zone wrongly, or the zone is switched off",
        weight: Weight::Info,
        checks: &["thermal-throttling"],
        means: "ACPI's trip points are missing or make no sense, or a parameter (thermal.off, thermal.psv=-1) disables them. Passive \
                cooling lowers the processor's clock at the passive trip point: a wrong one holds the clock down or lets the \
                machine run hot.",
        wordings: &[
            ("", "Invalid critical threshold ({})"),
            ("to 6.1", "Invalid passive threshold"),
            ("to 6.1", "Invalid active{} threshold"),
            ("2.6.32", "No or invalid critical threshold"),
            ("to 6.1", "No valid trip found"),
            ("since 6.12", "No valid trip points"),
            ("", "thermal zone will be disabled"),
            ("3.10", "thermal zone is disabled"),
            ("", "thermal control disabled"),
            ("", "disabling all passive thermal trip points"),
            ("", "disabling all active thermal trip points"),
            ("", "disabling all critical thermal trip point actions"),
            ("", "enabling thermal zone polling"),
            ("", "ACPI thermal trip point {} changed"),
        ],
    },
    Kind {
        id: "thermal-setup",
        title: "thermal zones, governors and cooling devices were set up",
        weight: Weight::Context,
        checks: &["forced-idle"],
        means: "Ordinary lines of the boot. They name who may cool the processor by its clock: thermal zones with a passive trip \
                point, and the cooling devices bound to them.",
        wordings: &[
            ("", "thermal_sys: Registered thermal governor '{}'"),
            ("", "Registered thermal governor"),
            ("", "thermal: Thermal Zone [{}] ({n} C)"),
            ("to 4.20", "ACPI: Thermal Zone [{}] ({n} C)"),
            ("", "registered as thermal_zone{n}"),
            ("", "registered as cooling_device{n}"),
            ("", "TjMax is {n}"),
            ("", "TjMax forced to {n}"),
            ("", "Programmable TCC Offset detected"),
            ("since 6.12", "TCC Offset locked"),
            ("", "power_allocator: sustainable_power will be estimated"),
            ("", "Critical threshold {n} C"),
        ],
    },
    Kind {
        id: "cooling-device-failed",
        title: "a fan or another cooling device cannot be controlled",
        weight: Weight::Info,
        checks: &["thermal-throttling"],
        means: "The kernel cannot drive a fan or limit a clock for cooling. Heat is then left to firmware and to the processor, \
                which throttles.",
        wordings: &[
            ("", "Unable to turn cooling device [{}] '{}'"),
            ("", "Error updating fan power state"),
            ("", "Get fan state failed"),
            ("", "binding zone {} with cdev {} failed"),
            ("since 6.1", "cpufreq_cooling: cpu{cpu} failed to register as cooling device"),
            ("4.20", "cpu_cooling: cpu{cpu} is not running as cooling device"),
            ("since 6.1", "Failed to update thermal freq constraint: CPU{cpu}"),
            ("since 6.1", "Failed to add freq constraint for CPU{cpu} ({})"),
            ("", "Failed to register cpufreq cooling device"),
            ("", "setting fan speed failed"),
            ("2.6.32", "Error reading fan power state"),
        ],
    },
];
