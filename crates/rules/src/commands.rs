//! Commands that no setting replaces: what changes a place that fullclock does not write, and what only looks.
//!
//! Each has a precondition on the host, and one that changes something also a risk and the distributions that it holds for. None is
//! journaled, so that `fullclock revert` does not undo it; the reports say so.

use facts::HostView;
use std::fmt;

/// One command.
pub struct Command {
    /// A noun for it, which no other has.
    pub id: &'static str,
    /// Whether it changes the host.
    pub kind: Kind,
    /// The distributions and packages that have it.
    pub available: &'static str,
    /// What to type; `{}` stands for the argument that the finding gives.
    pub text: &'static str,
    /// Whether it can work on this host; otherwise why not.
    pub holds: fn(&HostView) -> Result<(), String>,
}

/// Whether a command changes the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It leaves nothing changed.
    Looks,
    /// It changes something, and nothing undoes that.
    Changes {
        /// What can go wrong, in words.
        risk: &'static str,
    },
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl PartialEq for Command {
    fn eq(&self, other: &Command) -> bool {
        self.id == other.id
    }
}

/// Every command, in no order that matters.
pub const COMMANDS: &[&Command] = &[
    &ACPI_CPUFREQ,
    &HWP_REWRITE,
    &POWERCAP_LIMIT,
    &DCMI_DEACTIVATE,
    &COOLING_OFF,
    &IRQ_AFFINITY,
    &RCU_AFFINITY,
    &WATCHDOG_CPUMASK,
    &SMT_ON,
    &QUOTA_OF_UNIT,
    &QUOTA_V1,
    &QUOTA_V2,
    &CLAMP_OFF,
    &FAIR_SERVER_OFF,
    &READ_REGISTERS,
    &BMC_EVENTS,
    &BMC_SENSORS,
    &BMC_LIMIT,
    &SPEED_SELECT_PROFILE,
    &THERMAL_ZONES,
    &COUNT_SMIS,
    &KERNEL_LOG,
    &LATENCY_HOLDERS,
    &TICK_TRACE,
    &STEAL,
    &TUNED_VERIFY,
    &THREAD_STACK,
    &THREAD_PROFILE,
    &WORK_TRACE,
    &IPMI_TUNE,
];

/// The modes of amd-pstate that the boot line can choose (`amd_pstate_param` in drivers/cpufreq/amd-pstate.c).
pub(crate) const AMD_PSTATE_MODES: &[&str] = &["active", "passive", "guided"];

/// Loads the driver that a boot parameter kept away, or that amd-pstate was to replace. Where the firmware shows no P-states (_PSS) it answers
/// ENODEV (drivers/cpufreq/acpi-cpufreq.c), so that it is of no use elsewhere.
pub(crate) const ACPI_CPUFREQ: Command = Command {
    id: "acpi-cpufreq",
    kind: Kind::Changes { risk: "Linux chooses the clock, no longer the firmware" },
    available: "every distribution",
    text: "modprobe acpi-cpufreq",
    holds: |host| {
        let line = host.kernel.boot_line.as_ref().map_err(ToString::to_string)?;
        let is = |name: &str, value: &str| line.value(name) == Some(value);
        if is("cpufreq.off", "1") {
            // `cpufreq_disabled` in drivers/cpufreq/cpufreq.c.
            return Err("cpufreq.off=1 on the boot line refuses every driver".to_owned());
        }
        for name in ["module_blacklist", "initcall_blacklist"] {
            if line.values(name).any(|it| it.contains("acpi_cpufreq")) {
                return Err(format!("{name}= on the boot line keeps it away"));
            }
        }
        if let Ok(config) = &host.kernel.config {
            let option = "X86_ACPI_CPUFREQ";
            if config.value(option) == Some("y") {
                return Err("it is in this kernel, and no module: the firmware shows no P-states"
                    .to_owned());
            }
            if config.is_off(option) {
                return Err(format!("this kernel is built without CONFIG_{option}"));
            }
        }
        let is_disabled = is("intel_pstate", "disable") || is("amd_pstate", "disable");
        let was_replaced = host.cpuinfo.as_ref().is_ok_and(|it| it.is_amd() && it.has("hw_pstate"))
            && AMD_PSTATE_MODES.iter().any(|it| is("amd_pstate", it));
        match is_disabled || was_replaced {
            true => Ok(()),
            false => {
                Err("no boot parameter keeps it away: the firmware shows no P-states".to_owned())
            }
        }
    },
};

/// Makes the driver write the HWP request again. A limit equal to the last one changes nothing (`freq_qos_update_request` in
/// kernel/power/qos.c), hence the step below it. The limit that is set stays. The argument is the CPUs, as words of any shell.
pub(crate) const HWP_REWRITE: Command = Command {
    id: "hwp-rewrite",
    kind: Kind::Changes { risk: "each CPU has a limit 100 MHz lower for a moment" },
    available: "every distribution",
    text: "for cpu in {}; do it=/sys/devices/system/cpu/cpu$cpu/cpufreq; max=$(cat $it/scaling_max_freq); \
           echo $((max - 100000)) > $it/scaling_max_freq; echo $max > $it/scaling_max_freq; done",
    holds: bare_metal,
};

/// Raises a limit of the powercap framework; the argument is the value, ` > ` and the file.
pub(crate) const POWERCAP_LIMIT: Command = Command {
    id: "powercap-limit",
    kind: Kind::Changes {
        risk: "the limit may keep the budget of a rack, a power supply or a cooler: find out whose it is first",
    },
    available: "every distribution",
    text: "echo {}",
    holds: bare_metal,
};

/// Chooses a Speed Select profile; the argument is its number. With `-o` it brings the profile's cores online and takes the others offline.
pub(crate) const SPEED_SELECT_PROFILE: Command = Command {
    id: "speed-select-profile",
    kind: Kind::Changes {
        risk: "another profile draws more power, and takes CPUs offline or brings them online: find out first whose choice it is",
    },
    available: "package linux-tools, kernel-tools or intel-speed-select",
    text: "intel-speed-select perf-profile set-config-level -l {} -o",
    holds: bare_metal_x86,
};

/// Ends the limit that the management controller keeps on the board.
pub(crate) const DCMI_DEACTIVATE: Command = Command {
    id: "dcmi-deactivate",
    kind: Kind::Changes {
        risk: "only where no power budget of a rack or chassis counts on the limit",
    },
    available: "package ipmitool",
    text: "ipmitool dcmi power deactivate",
    holds: has_controller,
};

/// Switches a cooling device off, until what switched it on does so again.
pub(crate) const COOLING_OFF: Command = Command {
    id: "cooling-off",
    kind: Kind::Changes {
        risk: "the machine may overheat where it was switched on for heat: look at the temperatures first",
    },
    available: "every distribution",
    text: "echo 0 > {}",
    holds: bare_metal,
};

/// Moves one interrupt; the argument is the list, ` > ` and the file.
pub(crate) const IRQ_AFFINITY: Command = Command {
    id: "irq-affinity",
    kind: Kind::Changes {
        risk: "the kernel refuses it for interrupts that it manages (EIO); irqbalance moves them again",
    },
    available: "every distribution",
    text: "echo {}",
    holds: always,
};

/// Moves the threads that run RCU callbacks, and no other threads of the kernel.
pub(crate) const RCU_AFFINITY: Command = Command {
    id: "rcu-affinity",
    kind: Kind::Changes { risk: "callbacks wait where the CPUs left are busy" },
    available: "every distribution (util-linux, procps)",
    text: "for pid in $(pgrep '^rcuo'); do taskset -cp {} $pid; done",
    holds: always,
};

/// Leaves CPUs out of the NMI watchdog.
pub(crate) const WATCHDOG_CPUMASK: Command = Command {
    id: "watchdog-cpumask",
    kind: Kind::Changes { risk: "lockups of the other CPUs are no longer detected" },
    available: "every distribution",
    text: "sysctl -w kernel.watchdog_cpumask={}",
    holds: always,
};

/// Brings the second threads of all cores online.
pub(crate) const SMT_ON: Command = Command {
    id: "smt-on",
    kind: Kind::Changes {
        risk: "multithreading is often off on purpose: against L1TF and MDS, or for a licence that counts threads",
    },
    available: "Linux 4.19 and later",
    text: "echo on > /sys/devices/system/cpu/smt/control",
    holds: |host| match host.topology.smt_control.as_deref() {
        Ok("off") => Ok(()),
        // `forceoff`, `notsupported` and `notimplemented` refuse it (kernel/cpu.c).
        Ok(other) => Err(format!("/sys/devices/system/cpu/smt/control is {other}")),
        Err(missing) => Err(missing.to_string()),
    },
};

/// What every command that lifts a CPU quota may do.
const UNBOUNDED: Kind =
    Kind::Changes { risk: "nothing bounds the group any more: its neighbours may get less" };

/// Lifts the quota of a unit of systemd.
pub(crate) const QUOTA_OF_UNIT: Command = Command {
    id: "quota-of-unit",
    kind: UNBOUNDED,
    available: "distributions with systemd",
    text: "systemctl set-property --runtime {} CPUQuota=",
    holds: always,
};

/// Lifts the quota of a group of version 1.
pub(crate) const QUOTA_V1: Command = Command {
    id: "quota-v1",
    kind: UNBOUNDED,
    available: "every distribution",
    text: "echo -1 > {}/cpu.cfs_quota_us",
    holds: always,
};

/// Lifts the quota of a group of version 2.
pub(crate) const QUOTA_V2: Command = Command {
    id: "quota-v2",
    kind: UNBOUNDED,
    available: "every distribution",
    text: "echo max > {}/cpu.max",
    holds: always,
};

/// Lets the tasks of a group ask for every clock; the argument is the group's folder.
pub(crate) const CLAMP_OFF: Command = Command {
    id: "clamp-off",
    kind: Kind::Changes {
        risk: "the group was clamped for a reason, mostly to save power or to keep others cool; whoever did so may do it again",
    },
    available: "every distribution",
    text: "echo max > {}/cpu.uclamp.max",
    holds: always,
};

/// Turns the server of the fair class off on one CPU; the argument is its file `runtime`.
pub(crate) const FAIR_SERVER_OFF: Command = Command {
    id: "fair-server-off",
    kind: Kind::Changes {
        risk: "a real-time task that never sleeps then starves every other task on that CPU, the kernel's own included; the kernel may refuse it with EBUSY (see `fullclock explain fair-server-tick`)",
    },
    available: "every distribution with Linux 6.12 and debugfs",
    text: "echo 0 > {}",
    holds: always,
};

const fn look(
    id: &'static str,
    text: &'static str,
    available: &'static str,
    holds: fn(&HostView) -> Result<(), String>,
) -> Command {
    Command { id, kind: Kind::Looks, available, text, holds }
}

/// Reads one register or several of every CPU; the argument is what follows `modprobe msr`.
///
/// A locked-down kernel refuses writes of registers only (`msr_write` in arch/x86/kernel/msr.c).
pub(crate) const READ_REGISTERS: Command =
    look("read-registers", "modprobe msr; {}", "package msr-tools", bare_metal_x86);
/// The controller's log and sensors.
pub(crate) const BMC_EVENTS: Command = look(
    "bmc-events",
    "ipmitool sel elist | tail; ipmitool sdr  # power supplies, regulators, fans, power caps",
    "package ipmitool",
    has_controller,
);
/// The controller's fans and temperatures.
pub(crate) const BMC_SENSORS: Command = look(
    "bmc-sensors",
    "ipmitool sdr type Fan; ipmitool sdr type Temperature  # fans, inlet, processors",
    "package ipmitool",
    has_controller,
);
/// The controller's power limit, and what the board draws.
pub(crate) const BMC_LIMIT: Command = look(
    "bmc-limit",
    "ipmitool dcmi power get_limit; ipmitool dcmi power reading",
    "package ipmitool",
    has_controller,
);
/// The temperatures that the kernel cools by.
pub(crate) const THERMAL_ZONES: Command = look(
    "thermal-zones",
    "grep . /sys/class/thermal/thermal_zone*/{type,temp}  # what is hot",
    "every distribution",
    bare_metal,
);
/// System management interrupts of ten seconds.
pub(crate) const COUNT_SMIS: Command = look(
    "count-smis",
    "perf stat -a -e msr/smi/ -- sleep 10  # do they still come?",
    "package perf (linux-tools-$(uname -r) on Ubuntu)",
    bare_metal_x86,
);
/// Lines of the kernel's log; the argument is what follows `grep`.
pub(crate) const KERNEL_LOG: Command =
    look("kernel-log", "dmesg | grep {}", "every distribution", always);
/// The processes that hold the latency limit.
pub(crate) const LATENCY_HOLDERS: Command =
    look("latency-holders", "fuser -v /dev/cpu_dma_latency", "package psmisc", always);
/// What keeps the tick of CPUs, for five seconds.
pub(crate) const TICK_TRACE: Command = look(
    "tick-trace",
    "perf record -e timer:tick_stop -C {} -- sleep 5 && perf script",
    "package perf (linux-tools-$(uname -r) on Ubuntu)",
    always,
);
/// The time that the hypervisor takes.
pub(crate) const STEAL: Command = look("steal", "vmstat 1 5", "package procps", always);
/// What differs from the active profile of TuneD.
pub(crate) const TUNED_VERIFY: Command =
    look("tuned-verify", "tuned-adm verify", "package tuned", always);
/// What a thread of the kernel is doing, for one whose work takes long; the argument is its number.
pub(crate) const THREAD_STACK: Command = look(
    "thread-stack",
    "cat /proc/{}/stack  # as root, several times",
    "kernels built with CONFIG_STACKTRACE, as those of distributions are",
    always,
);
/// Where a thread spends ten seconds; the argument is its number.
pub(crate) const THREAD_PROFILE: Command = look(
    "thread-profile",
    "perf record -g -t {} -- sleep 10 && perf report --stdio",
    "package perf (linux-tools-$(uname -r) on Ubuntu)",
    always,
);
/// The functions that workers run, for work that comes at a high rate (Documentation/core-api/workqueue.rst, "Debugging").
pub(crate) const WORK_TRACE: Command = look(
    "work-trace",
    "perf record -a -e workqueue:workqueue_execute_start -- sleep 5 && perf script",
    "package perf (linux-tools-$(uname -r) on Ubuntu)",
    always,
);
/// Finds the limit of polling that suits a controller. It journals what it tries; keeping a limit takes `--persist`.
pub(crate) const IPMI_TUNE: Command = Command {
    id: "ipmi-tune",
    kind: Kind::Changes {
        risk: "tries limits for some minutes, during which sensors answer late, and puts the old limit back",
    },
    available: "this program",
    text: "fullclock ipmi tune",
    holds: has_controller,
};

fn always(_: &HostView) -> Result<(), String> {
    Ok(())
}

/// A guest has neither these files and registers nor a say in them.
fn bare_metal(host: &HostView) -> Result<(), String> {
    match &host.platform.hypervisor {
        Ok(Some(hypervisor)) => Err(format!("this is a guest of {hypervisor}: ask on its host")),
        _ => Ok(()),
    }
}

fn bare_metal_x86(host: &HostView) -> Result<(), String> {
    let is_x86 = host.cpuinfo.as_ref().is_ok_and(|it| it.is_intel() || it.is_amd());
    if is_x86 { bare_metal(host) } else { Err("only x86 has these registers".to_owned()) }
}

fn has_controller(host: &HostView) -> Result<(), String> {
    if host.is_portable() {
        return Err("a portable machine has no management controller".to_owned());
    }
    bare_metal(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{XEON, host_of};

    #[test]
    fn no_two_commands_share_an_id_and_each_that_changes_something_names_a_risk() {
        for (index, command) in COMMANDS.iter().enumerate() {
            assert!(COMMANDS[..index].iter().all(|it| it.id != command.id), "{}", command.id);
            assert!(!command.available.is_empty() && !command.text.is_empty(), "{}", command.id);
            if let Kind::Changes { risk } = command.kind {
                assert!(!risk.is_empty() && !risk.ends_with('.'), "{}", command.id);
            }
        }
    }

    #[test]
    fn a_guest_is_not_told_to_read_registers_nor_to_ask_a_controller() {
        let guest = host_of(&XEON.replace("flags : ", "flags : hypervisor "));
        let own = host_of(XEON);
        for command in [
            &READ_REGISTERS,
            &BMC_EVENTS,
            &DCMI_DEACTIVATE,
            &COOLING_OFF,
            &COUNT_SMIS,
            &HWP_REWRITE,
            &POWERCAP_LIMIT,
        ] {
            assert!((command.holds)(&guest).is_err(), "{}", command.id);
            assert!((command.holds)(&own).is_ok(), "{}", command.id);
        }
    }

    #[test]
    fn the_driver_is_loaded_only_where_a_boot_parameter_kept_it_away() {
        let holds = |line: &str| {
            (ACPI_CPUFREQ.holds)(&host_of(&format!("{XEON}//- /proc/cmdline\n{line}\n"))).is_ok()
        };
        assert!(holds("intel_pstate=disable") && holds("amd_pstate=disable"));
        assert!(!holds("quiet") && !holds("intel_pstate=disable cpufreq.off=1"));
        assert!(!holds("intel_pstate=disable initcall_blacklist=acpi_cpufreq_init"));
        assert!(!holds("intel_pstate=disable module_blacklist=acpi_cpufreq"));
        // A mode of a driver for other processors.
        assert!(!holds("amd_pstate=active"));
    }

    #[test]
    fn multithreading_that_firmware_forced_off_is_not_switched_on() {
        let holds = |state: &str| {
            let host = format!("{XEON}//- /sys/devices/system/cpu/smt/control\n{state}\n");
            (SMT_ON.holds)(&host_of(&host)).is_ok()
        };
        assert!(holds("off") && !holds("forceoff") && !holds("notsupported"));
    }
}
