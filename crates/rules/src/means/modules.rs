//! Modules of the kernel that make files and devices which this program reads.

use super::provide::{modules, mount, nothing, readable, right};
use super::{Adds, Kind, Looked, Means, NONE, Provision, State, by_fact};
use facts::Why;
use facts::access::Capability;
use facts::power::plr;
use facts::power::speed_select::{self, Interface};

/// Devices of registers.
pub(super) const MSR: Means = Means {
    id: "msr-module",
    title: "module msr",
    kind: Kind::Module,
    adds: Adds {
        text: "devices of the processor's registers: what limits and stops the clock",
        checks: &[
            "clock-modulation",
            "forced-idle",
            "prochot-asserted",
            "thermal-throttling",
            "power-limit-reached",
            "low-power-limit",
            "bmc-power-cap",
            "smi-storm",
            "turbo-off",
            "turbo-headroom-lost",
            "capped-frequency",
            "power-saving-bias",
            "mixed-frequency-settings",
            "clock-below-minimum",
            "clock-not-delivered",
            "uncore-capped",
            "no-frequency-driver",
        ],
        metrics: &["temperature", "watts", "smi", "core-residency", "package-residency"],
        losses: &["stopped-clock", "slow-clock"],
        commands: &["audit", "ledger", "watch", "apply", "experiment"],
    },
    find: |looked| {
        if let Some(state) = no_registers(looked) {
            return state;
        }
        let provide =
            |missing: &facts::Missing| readable(looked, missing, || modules(looked, &["msr"]));
        by_fact(&looked.access.msr_device, "/dev/cpu/0/msr", provide)
    },
};

/// Where there are no registers to read.
pub(super) fn no_registers(looked: &Looked<'_>) -> Option<State> {
    if let Err(missing) = looked.host.platform.hides("MSRs") {
        return Some(State::NotNeeded(missing.to_string()));
    }
    match &looked.host.cpuinfo {
        Ok(info) if info.is_x86() => None,
        Ok(_) => Some(State::NotNeeded("only x86 has MSRs".to_owned())),
        Err(missing) => Some(State::Unknown(missing.clone())),
    }
}

/// The device of the management controller.
pub(super) const IPMI: Means = Means {
    id: "ipmi-device",
    title: "device of the management controller (/dev/ipmi0)",
    kind: Kind::Module,
    adds: Adds {
        text: "the board's power limit, sensors and event log",
        checks: &["bmc-power-cap"],
        commands: &["audit", "ipmi"],
        ..NONE
    },
    find: |looked| {
        let (host, access) = (looked.host, looked.access);
        if let Err(missing) = host.platform.hides_devices("a management controller") {
            return State::NotNeeded(missing.to_string());
        }
        if host.is_portable() {
            return State::NotNeeded("a portable machine has no management controller".to_owned());
        }
        let has_driver = host.ipmi.interfaces.as_ref().is_ok_and(|it| !it.is_empty());
        match (&access.controller, &access.described_controller) {
            (Err(missing), Err(_)) if missing.why == Why::Absent && !has_driver => {
                State::NotNeeded(
                    "neither a driver nor firmware names a management controller".to_owned(),
                )
            }
            (device, _) => by_fact(device, "/dev/ipmi0", |_| match has_driver {
                true => modules(looked, &["ipmi_devintf"]),
                false => modules(looked, &["ipmi_si", "ipmi_devintf"]),
            }),
        }
    },
};

/// Power limits of Intel's packages, and energy.
pub(super) const RAPL: Means = Means {
    id: "rapl-module",
    title: "module intel_rapl_msr",
    kind: Kind::Module,
    adds: Adds {
        text: "power limits of the packages, and their energy",
        checks: &["low-power-limit", "power-limit-reached"],
        metrics: &["watts"],
        ..NONE
    },
    find: |looked| {
        /// Linux 5.3 split it into intel_rapl_common and intel_rapl_msr.
        const SPLIT: (u32, u32) = (5, 3);
        if let Err(missing) = looked.host.platform.hides("power limits") {
            return State::NotNeeded(missing.to_string());
        }
        match &looked.host.cpuinfo {
            Ok(info) if info.is_intel() => {}
            Ok(_) => {
                return State::NotNeeded("only Intel's processors have these limits".to_owned());
            }
            Err(missing) => return State::Unknown(missing.clone()),
        }
        let is_old = looked.host.kernel.version().is_ok_and(|it| it < SPLIT);
        let module = if is_old { "intel_rapl" } else { "intel_rapl_msr" };
        by_fact(&looked.access.powercap, "/sys/class/powercap/intel-rapl", |missing| {
            readable(looked, missing, || modules(looked, &[module]))
        })
    },
};

/// What EPYC's system management reports.
pub(super) const HSMP: Means = Means {
    id: "hsmp-module",
    title: "module hsmp_acpi",
    kind: Kind::Module,
    adds: Adds {
        text: "what limits the clock of EPYC's sockets, and PROCHOT#",
        checks: &["prochot-asserted", "capped-frequency", "low-power-limit"],
        ..NONE
    },
    find: |looked| {
        if let Err(missing) = looked.host.platform.hides("HSMP") {
            return State::NotNeeded(missing.to_string());
        }
        match &looked.host.cpuinfo {
            // EPYC 7003 (Zen 3) is of family 19h, EPYC 9005 (Zen 5) of 1Ah; Ryzen of the same families has no HSMP.
            Ok(info)
                if info.is_amd() && info.family >= 0x19 && info.model_name.contains("EPYC") => {}
            Ok(_) => return State::NotNeeded("only EPYC 7003 and later have HSMP".to_owned()),
            Err(missing) => return State::Unknown(missing.clone()),
        }
        match &looked.host.hsmp {
            Ok(_) => State::Here("the files of its driver".to_owned()),
            Err(missing) if missing.why == Why::NotCollected => State::Unknown(missing.clone()),
            Err(missing) => {
                let mut by = modules(looked, &["hsmp_acpi"]);
                if let Provision::Command { more: Some(more), .. } = &mut by {
                    more.push_str("; drivers of older kernels (amd_hsmp) have no such files");
                }
                State::Lacking { seen: missing.to_string(), by }
            }
        }
    },
};

/// What Intel's servers with TPMI log of limits.
pub(super) const PLR: Means = Means {
    id: "plr-module",
    title: "module intel_plr_tpmi",
    kind: Kind::Module,
    adds: Adds {
        text: "what has held the clock of Intel's servers since Granite Rapids down, by CPU, with who set the limit",
        checks: &["prochot-asserted", "power-limit-reached", "thermal-throttling"],
        ..NONE
    },
    find: |looked| {
        if let Err(missing) = looked.host.platform.hides(plr::NAME) {
            return State::NotNeeded(missing.to_string());
        }
        match &looked.host.cpuinfo {
            Ok(info) if plr::has_logs(info) => {}
            Ok(_) => {
                return State::NotNeeded(
                    "only Intel's servers since Granite Rapids have such a log".to_owned(),
                );
            }
            Err(missing) => return State::Unknown(missing.clone()),
        }
        let load = || {
            let access = looked.access;
            if access.lockdown.as_ref().is_ok_and(|it| !it.contains("[none]")) {
                return nothing("a kernel that is locked down shows none of it: see no-lockdown");
            }
            if access.debugfs.as_ref().is_err_and(|it| it.why == Why::Absent) {
                return mount(looked, "debugfs", plr::FOLDER);
            }
            let mut by = modules(looked, &["intel_plr_tpmi"]);
            if let Provision::Command { more: Some(more), .. } = &mut by {
                more.push_str("; Linux 6.11 and later have it");
            }
            by
        };
        let is_of_cpus = |it: &plr::Domain| it.log.as_ref().is_ok_and(|it| !it.cpus.is_empty());
        match &looked.host.plr {
            Ok(domains) if domains.iter().any(is_of_cpus) => {
                State::Here("the files of its driver".to_owned())
            }
            Ok(_) => State::Lacking {
                seen: "the dump of its registers, which tells of dies and not of CPUs".to_owned(),
                by: load(),
            },
            Err(missing) => match missing.why {
                Why::NotCollected => State::Unknown(missing.clone()),
                Why::Denied => State::Lacking {
                    seen: missing.to_string(),
                    by: right(looked, Capability::DacReadSearch),
                },
                _ => State::Lacking { seen: missing.to_string(), by: load() },
            },
        }
    },
};

/// Which Speed Select profile is in force.
pub(super) const SPEED_SELECT: Means = Means {
    id: "isst-module",
    title: "module isst_if_mbox_pci, isst_if_mbox_msr or isst_tpmi",
    kind: Kind::Module,
    adds: Adds {
        text: "whether a Speed Select profile lowers the clock that Intel's servers were sold with",
        checks: &["speed-select-profile"],
        ..NONE
    },
    find: |looked| {
        if let Err(missing) = looked.host.platform.hides(speed_select::NAME) {
            return State::NotNeeded(missing.to_string());
        }
        let module = match looked.host.cpuinfo.as_ref().map(Interface::of) {
            Ok(Some(Interface::Mailbox)) => "isst_if_mbox_pci",
            Ok(Some(Interface::Tpmi)) => "isst_tpmi",
            Ok(None) => {
                return State::NotNeeded(
                    "only Intel's servers since Cascade Lake have Speed Select".to_owned(),
                );
            }
            Err(missing) => return State::Unknown(missing.clone()),
        };
        match &looked.host.speed_select {
            Ok(_) => State::Here(speed_select::DEVICE.to_owned()),
            Err(missing) if missing.is_absence() => State::NotNeeded(missing.to_string()),
            Err(missing) if missing.why == Why::NotCollected => State::Unknown(missing.clone()),
            Err(missing) => State::Lacking {
                seen: missing.to_string(),
                by: readable(looked, missing, || modules(looked, &[module])),
            },
        }
    },
};
