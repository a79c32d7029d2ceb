//! Terms of clock, power and heat.

use super::{Term, term};
use crate::check::Reference;

const SDM_POWER: &[Reference] = &[Reference {
    title: "Intel SDM vol. 3B, Power and Thermal Management",
    url: "https://www.intel.com/sdm",
}];

const SDM_MSRS: &[Reference] = &[Reference {
    title: "Intel SDM vol. 4, Model-Specific Registers",
    url: "https://www.intel.com/sdm",
}];

const PPR: &[Reference] = &[Reference {
    title: "AMD, Processor Programming Reference of the family",
    url: "https://www.amd.com/en/search/documentation/hub.html",
}];

const HSMP: &[Reference] = &[Reference {
    title: "Linux: AMD HSMP interface",
    url: "https://docs.kernel.org/arch/x86/amd_hsmp.html",
}];

const PSTATE: &[Reference] = &[Reference {
    title: "Linux: intel_pstate CPU Performance Scaling Driver",
    url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html",
}];

const PLR: &[Reference] = &[Reference {
    title: "Linux: debugfs-tpmi, /sys/kernel/debug/tpmi-<n>/plr/domain<n>/status",
    url: "https://www.kernel.org/doc/Documentation/ABI/testing/debugfs-tpmi",
}];

const SPEED_SELECT: &[Reference] = &[Reference {
    title: "Linux: Intel Speed Select Technology User Guide",
    url: "https://docs.kernel.org/admin-guide/pm/intel-speed-select.html",
}];

const UNCORE: &[Reference] = &[Reference {
    title: "Linux: Intel Uncore Frequency Scaling",
    url: "https://docs.kernel.org/admin-guide/pm/intel_uncore_frequency_scaling.html",
}];

const POWERCAP: &[Reference] = &[Reference {
    title: "Linux: Power Capping Framework",
    url: "https://docs.kernel.org/power/powercap/powercap.html",
}];

const CPUFREQ: &[Reference] = &[Reference {
    title: "Linux: CPU Performance Scaling",
    url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html",
}];

const CPUIDLE: &[Reference] = &[Reference {
    title: "Linux: intel_idle CPU Idle Time Management Driver",
    url: "https://docs.kernel.org/admin-guide/pm/intel_idle.html",
}];

const OPAL: &[Reference] = &[Reference {
    title: "OPAL firmware: OCC, the on-chip controller, and its sensors",
    url: "https://open-power.github.io/skiboot/doc/",
}];

pub(super) const TERMS: &[Term] = &[
    term(
        "prochot",
        "PROCHOT#",
        "processor hot, a signal to and from the processor",
        "While it is pulled the processor runs at its lowest clock, however cool it is. Power supplies, voltage regulators, the board and the management \
         controller pull it; Linux can neither pull nor release it.",
        SDM_POWER,
    ),
    term(
        "plr",
        "PLR",
        "performance limit reasons",
        "A log of the processor of what held its clock down, per die and per CPU, on Granite Rapids, Sierra Forest and later. It is kept since boot or since \
         somebody cleared it, so that it does not say what holds the clock now.",
        PLR,
    ),
    term(
        "rapl",
        "RAPL",
        "running average power limit",
        "The processor lowers its clock until its average power is below the limits PL1 and PL2. Firmware sets them at boot; programs set them in \
         /sys/class/powercap, and the management controller can set lower ones.",
        POWERCAP,
    ),
    term(
        "pl1",
        "PL1",
        "the long-term power limit of a package",
        "What a package may draw on average over seconds, mostly its design power (TDP). Firmware sets it; thermald and others lower it.",
        SDM_POWER,
    ),
    term(
        "pl2",
        "PL2",
        "the short-term power limit of a package",
        "What a package may draw for milliseconds to seconds, above PL1. Firmware sets it.",
        SDM_POWER,
    ),
    term(
        "tdp",
        "TDP",
        "thermal design power",
        "The power that the cooling of a processor has to carry away at its nominal clock. The maker sets it; profiles of the firmware may choose a lower one.",
        SDM_POWER,
    ),
    term(
        "ppt",
        "PPT",
        "package power tracking",
        "AMD's limit on the power of a socket, as RAPL's PL1 on Intel. The maker, the firmware (cTDP) or the management controller sets it.",
        HSMP,
    ),
    term(
        "tdc",
        "TDC",
        "thermal design current",
        "A limit on the average current of a processor, which keeps its voltage regulators cool. It belongs to the board.",
        HSMP,
    ),
    term(
        "edp",
        "EDP",
        "electrical design point",
        "A limit on the peak current of a processor, which its voltage regulators set.",
        SDM_MSRS,
    ),
    term(
        "dfc",
        "DFC",
        "a limit of peak current, by the name that the PLR log gives it",
        "The processor holds it for its power delivery, in the core or in the uncore (UFS). It belongs to board and processor.",
        PLR,
    ),
    term(
        "pbm",
        "PBM",
        "power budget management",
        "A reason in MSR 0x690 of Haswell and Broadwell servers: the processor shares a power limit among its cores. Whose the limit is, the limits themselves say.",
        SDM_MSRS,
    ),
    term(
        "pcs",
        "PCS",
        "platform configuration services",
        "Requests that the management controller makes of the processor over PECI, power limits among them. Linux does not see them made.",
        SDM_MSRS,
    ),
    term(
        "peci",
        "PECI",
        "platform environment control interface",
        "The wire by which the management controller reads the temperature of Intel's processors and sets limits.",
        SDM_POWER,
    ),
    term(
        "apml",
        "APML",
        "advanced platform management link",
        "The wire by which the management controller reads AMD's processors and sets limits: as a source of a limit it means the controller.",
        PPR,
    ),
    term(
        "hsmp",
        "HSMP",
        "host system management port",
        "A mailbox by which Linux asks the controller of an EPYC for its limits, their sources and its clocks (driver hsmp_acpi or amd_hsmp).",
        HSMP,
    ),
    term(
        "chtc",
        "cHTC",
        "hardware thermal control of an EPYC's cores, by the name that HSMP gives it",
        "Active while the processor lowers its clock because of its own temperature: a matter of cooling.",
        HSMP,
    ),
    term(
        "opn",
        "OPN",
        "ordering part number",
        "As a source of a limit (\"OPN Max\") it means the highest clock of this model: normal.",
        HSMP,
    ),
    term(
        "occ",
        "OCC",
        "on-chip controller of a POWER processor",
        "It sets clocks for power and heat. Where it stops, firmware holds the safe frequency until it runs again. OPAL or the service processor owns it.",
        OPAL,
    ),
    term(
        "opal",
        "OPAL",
        "the firmware under Linux on POWER without a hypervisor",
        "It loads the on-chip controller (OCC) and logs what that does (/sys/firmware/opal/msglog).",
        OPAL,
    ),
    term(
        "hwp",
        "HWP",
        "hardware-controlled performance states (Speed Shift)",
        "The processor chooses its clock by itself, within limits and by a preference (EPP) that Linux writes to MSR 0x774.",
        PSTATE,
    ),
    term(
        "epp",
        "EPP",
        "energy performance preference",
        "A hint to a processor that chooses its clock by itself: 0 is performance, 255 saves power. Linux, tuned, TLP or power-profiles-daemon write it.",
        PSTATE,
    ),
    term(
        "epb",
        "EPB",
        "energy performance bias",
        "The older hint of Intel's processors, from 0 (performance) to 15 (saving power). Firmware writes it at boot and after a resume, then Linux and its tools.",
        PSTATE,
    ),
    term(
        "cppc",
        "CPPC",
        "collaborative processor performance control",
        "The part of ACPI by which Linux requests a performance level and the platform says which levels there are. Firmware has to offer it (_CPC).",
        CPUFREQ,
    ),
    term(
        "pcc",
        "PCC",
        "processor clocking control",
        "An interface of older HP servers by which Linux asks the firmware for each clock (driver pcc-cpufreq). The firmware decides.",
        CPUFREQ,
    ),
    term(
        "elc",
        "ELC",
        "efficiency latency control",
        "Rules by which Intel's newer servers lower the clock of mesh and memory controller while few CPUs work. Firmware sets them, and Linux through intel_uncore_frequency.",
        UNCORE,
    ),
    term(
        "tpmi",
        "TPMI",
        "topology aware register and PM capsule interface",
        "Where Intel's servers since Granite Rapids have the registers of power limits, uncore clock and limit reasons, in place of MSRs.",
        PLR,
    ),
    term(
        "sst-pp",
        "SST-PP",
        "Speed Select, performance profiles",
        "Levels with other base clocks, numbers of cores and TDP. Firmware chooses one, or intel-speed-select where that is not locked.",
        SPEED_SELECT,
    ),
    term(
        "sst-bf",
        "SST-BF",
        "Speed Select, base frequency",
        "Some cores get a higher base clock, and the others a lower one. Firmware or intel-speed-select turns it on. Also called PBF.",
        SPEED_SELECT,
    ),
    term(
        "pbf",
        "PBF",
        "prioritized base frequency, the same as SST-BF",
        "Some cores get a higher base clock, and the others a lower one. Firmware or intel-speed-select turns it on.",
        SPEED_SELECT,
    ),
    term(
        "sst-tf",
        "SST-TF",
        "Speed Select, turbo frequency",
        "Some cores may turbo higher, and the others lower. Firmware or intel-speed-select turns it on.",
        SPEED_SELECT,
    ),
    term(
        "sst-cp",
        "SST-CP",
        "Speed Select, core power",
        "Cores of a lower class get less of the power while it is short. Firmware or intel-speed-select turns it on.",
        SPEED_SELECT,
    ),
    term(
        "aperf",
        "APERF",
        "actual performance counter (MSR 0xE8)",
        "It counts the cycles that a CPU has run. With MPERF it gives the clock that the hardware really had.",
        SDM_POWER,
    ),
    term(
        "mperf",
        "MPERF",
        "maximum performance counter (MSR 0xE7)",
        "It counts at the rate of the time stamp counter while the CPU runs.",
        SDM_POWER,
    ),
    term(
        "fie",
        "FIE",
        "frequency invariance engine",
        "The part of the scheduler that weighs load by the clock of a CPU; on ARM with CPPC a kernel thread reads counters for it.",
        CPUFREQ,
    ),
    term(
        "hdc",
        "HDC",
        "hardware duty cycling",
        "The processor stops idle parts of its cores in turns to save power (MSR 0xDB0). Firmware or Linux turns it on.",
        SDM_POWER,
    ),
    term(
        "hwcr",
        "HWCR",
        "hardware configuration register (MSR 0xC0010015)",
        "AMD's register that switches turbo (CPB) off. Firmware and Linux write it.",
        PPR,
    ),
    term(
        "dptf",
        "DPTF",
        "dynamic platform and thermal framework",
        "Tables of the firmware that say when power limits are lowered. thermald carries them out on Linux.",
        POWERCAP,
    ),
    term(
        "c1",
        "C1",
        "the lightest idle state",
        "The clock of the core is stopped; it wakes up in about 1 us.",
        CPUIDLE,
    ),
    term(
        "c1e",
        "C1E",
        "C1 with the lowest clock and voltage",
        "An idle core also gives up its clock. Firmware or intel_idle turns it on.",
        CPUIDLE,
    ),
    term(
        "c3",
        "C3",
        "an idle state with caches emptied",
        "Older processors have it between C1 and C6.",
        CPUIDLE,
    ),
    term(
        "c6",
        "C6",
        "an idle state without power",
        "The core is switched off; it wakes up in tens to hundreds of us, and leaves its power to cores that turbo.",
        CPUIDLE,
    ),
    term(
        "mwait",
        "MWAIT",
        "the instruction by which Linux enters an idle state",
        "It waits for a write to memory; its hint names the state.",
        CPUIDLE,
    ),
    term(
        "hlt",
        "HLT",
        "the instruction that stops a CPU until an interrupt",
        "In a guest it leaves to the hypervisor.",
        CPUIDLE,
    ),
    term(
        "avx",
        "AVX",
        "advanced vector extensions",
        "Wide instructions; AVX-512 runs at a lower clock by design on many Intel servers.",
        SDM_POWER,
    ),
    term(
        "amx",
        "AMX",
        "advanced matrix extensions",
        "Matrix instructions, which run at a lower clock by design.",
        SDM_POWER,
    ),
];
