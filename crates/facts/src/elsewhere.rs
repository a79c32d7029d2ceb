//! Facts that a host has and this program cannot read, with where to ask instead.
//!
//! They must not pass for "this host has none": heat slows a processor no matter what reports it.

macro_rules! xen_clock {
    () => {
        "xenpm get-cpufreq-para"
    };
}

macro_rules! xen_idle {
    () => {
        "xenpm get-cpuidle-states"
    };
}

/// What asks Xen for the clock, in its control domain (Dom0).
pub const XEN_CLOCK: &str = xen_clock!();

/// What asks Xen for the idle states, there.
pub const XEN_IDLE: &str = xen_idle!();

/// Where the control domain finds the clock.
pub const XEN_SHOWS_CLOCK: &str = concat!("`", xen_clock!(), "` shows it");

/// Where the owner of another domain finds it.
pub const DOM0_SHOWS_CLOCK: &str = concat!("in Dom0, `", xen_clock!(), "` shows it");

/// Who reports a fact that this program cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// AMD's Host System Management Port (Documentation/arch/x86/amd_hsmp.rst): EPYC of families 19h and 1Ah.
    Hsmp,
    /// A performance counter of AMD's processors (LsSmiRx, PMCx02B in the PPRs of families 17h to 1Ah).
    SmiCounter,
    /// The machine's firmware and its management controller; this program reads no interface of Linux to it on this processor.
    Firmware,
    /// The Xen hypervisor, which shows its control domain (Dom0) virtual CPUs.
    Xen,
    /// The kernel's counters in `cpuN/thermal_throttle`, which this kernel does not have. Firmware may have kept the
    /// thermal interrupt (drivers/thermal/intel/therm_throt.c, intel_init_thermal).
    ThermalInterrupt,
    /// The log of performance limits of Intel's servers with TPMI ([`plr`](crate::power::plr)): debugfs, which only root may read.
    Plr,
    /// The driver of uncore clocks that are set by TPMI (drivers/platform/x86/intel/uncore-frequency).
    UncoreTpmi,
    /// The drivers of Intel Speed Select ([`speed_select`](crate::power::speed_select)), whose device only root may open.
    SpeedSelect,
}

impl Elsewhere {
    const ALL: [Elsewhere; 8] = [
        Elsewhere::Hsmp,
        Elsewhere::SmiCounter,
        Elsewhere::Firmware,
        Elsewhere::Xen,
        Elsewhere::ThermalInterrupt,
        Elsewhere::Plr,
        Elsewhere::UncoreTpmi,
        Elsewhere::SpeedSelect,
    ];

    /// The one with this reason.
    pub(crate) fn of_reason(text: &str) -> Option<Elsewhere> {
        Elsewhere::ALL.into_iter().find(|it| it.reason() == text)
    }

    /// Why this program cannot read it.
    pub fn reason(self) -> &'static str {
        match self {
            Elsewhere::Hsmp => {
                "EPYC 7003 and later report it through HSMP, and no driver shows it here"
            }
            Elsewhere::SmiCounter => "AMD processors count them in a performance counter only",
            Elsewhere::Firmware => "this program reads no interface to it on this processor",
            Elsewhere::Xen => "Xen shows its control domain (Dom0) virtual CPUs",
            Elsewhere::ThermalInterrupt => {
                "the kernel does not count it: firmware keeps the thermal interrupt, or the kernel is built without CONFIG_X86_THERMAL_VECTOR"
            }
            Elsewhere::Plr => {
                "this processor logs it for the driver intel_plr_tpmi, which shows nothing in debugfs here"
            }
            Elsewhere::UncoreTpmi => "the driver intel_uncore_frequency_tpmi is not loaded",
            Elsewhere::SpeedSelect => "no driver of Intel Speed Select is loaded",
        }
    }

    /// Where to ask instead.
    pub fn remedy(self) -> &'static str {
        match self {
            Elsewhere::Hsmp => {
                "on EPYC 7003 and later: modprobe hsmp_acpi (amd_hsmp on older kernels); else ask the management controller"
            }
            Elsewhere::SmiCounter => "perf stat -a -e ls_smi_rx -- sleep 10",
            Elsewhere::Firmware | Elsewhere::ThermalInterrupt => "ask the management controller",
            Elsewhere::Xen => concat!(xen_clock!(), "; ", xen_idle!()),
            Elsewhere::Plr => {
                "mount debugfs, and modprobe intel_plr_tpmi (Linux 6.11 and later; not under lockdown)"
            }
            Elsewhere::UncoreTpmi => "modprobe intel_uncore_frequency_tpmi",
            Elsewhere::SpeedSelect => {
                "modprobe isst_if_mbox_pci; since Granite Rapids: modprobe isst_tpmi (CONFIG_INTEL_SPEED_SELECT_INTERFACE)"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Missing;

    #[test]
    fn a_fact_that_is_reported_elsewhere_is_unknown_and_says_where_to_ask() {
        for place in Elsewhere::ALL {
            let missing = Missing::elsewhere("heat", place);
            assert!(!missing.is_absence(), "{missing}");
            assert_eq!(missing.remedy(), Some(place.remedy()));
        }
    }
}
