//! What this program may do on a host, and what is loaded, mounted and installed there for it.
//!
//! No check looks at it: a check says which fact it lacks. This is for those who want to give it more.
//!
//! Sources: proc_pid_status(5); capabilities(7); perf_event_open(2); kernel_lockdown(7); Documentation/admin-guide/cgroup-v1/cpusets.rst.

use crate::{CpuSet, Expected, Fact, Missing};

/// What is there for this program; `()` for what only is there or not.
#[derive(Clone, Debug)]
pub struct Access {
    /// As whom it runs; of a copy of a host, as whom its files were collected, if they tell.
    pub rights: Fact<Rights>,
    /// perf events of all tasks of a CPU: one was opened.
    pub perf: Fact<()>,
    /// The descriptions of tracepoints.
    pub tracepoints: Fact<()>,
    /// Whether the kernel reports tasks that end (taskstats): the program tried to register for it.
    pub exits: Fact<()>,
    /// The msr device of the first CPU.
    pub msr_device: Fact<()>,
    /// What is in debugfs.
    pub debugfs: Fact<()>,
    /// A hierarchy of control groups with CPU times.
    pub cgroups: Fact<()>,
    /// /proc/schedstat.
    pub schedstat: Fact<()>,
    /// A power zone of RAPL in the powercap framework.
    pub powercap: Fact<()>,
    /// The device of the management controller (BMC).
    pub controller: Fact<()>,
    /// That firmware describes a BMC: a structure of type 38 (DMTF DSP0134, section 7.39).
    pub described_controller: Fact<()>,
    /// That systemd manages the host: sd_booted(3).
    pub systemd: Fact<()>,
    /// The line of kernel_lockdown(7): `none [integrity] confidentiality`.
    pub lockdown: Fact<String>,
    /// Which of [`PROGRAMS`] are installed.
    pub programs: Fact<Vec<&'static str>>,
    /// A terminal, for the screen of `fullclock watch`.
    pub terminal: Fact<()>,
}

/// The programs that commands start, each in a folder of the system's own path.
pub const PROGRAMS: &[&str] = &["ib_write_bw", "ssh", "postgres", "mariadbd", "mysqld"];

/// As whom a process runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Its effective user.
    pub user: u32,
    /// Its effective capabilities, a bit each.
    pub capabilities: u64,
    /// The CPUs that it may run on.
    pub cpus: CpuSet,
}

/// A capability that this program can use: include/uapi/linux/capability.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Reads files whatever their mode.
    DacReadSearch,
    /// Asks the kernel for the times of tasks that ended.
    NetAdmin,
    /// Reads registers.
    SysRawio,
    /// Administers the system: what no other capability covers.
    SysAdmin,
    /// Reads the kernel's log.
    Syslog,
    /// Opens perf events (Linux 5.8).
    Perfmon,
}

impl Capability {
    /// The number of its bit.
    fn bit(self) -> u32 {
        match self {
            Capability::DacReadSearch => 2,
            Capability::NetAdmin => 12,
            Capability::SysRawio => 17,
            Capability::SysAdmin => 21,
            Capability::Syslog => 34,
            Capability::Perfmon => 38,
        }
    }

    /// `CAP_SYS_RAWIO`.
    pub fn name(self) -> &'static str {
        match self {
            Capability::DacReadSearch => "CAP_DAC_READ_SEARCH",
            Capability::NetAdmin => "CAP_NET_ADMIN",
            Capability::SysRawio => "CAP_SYS_RAWIO",
            Capability::SysAdmin => "CAP_SYS_ADMIN",
            Capability::Syslog => "CAP_SYSLOG",
            Capability::Perfmon => "CAP_PERFMON",
        }
    }
}

impl Rights {
    /// Parses /proc/PID/status.
    pub fn parse(text: &str) -> Result<Rights, Expected> {
        const STATUS: Expected = Expected("lines Uid:, CapEff: and Cpus_allowed_list:");
        let value = |key: &str| {
            let line = text.lines().find_map(|it| it.strip_prefix(key)?.strip_prefix(':'));
            line.map(str::trim).ok_or(STATUS)
        };
        // Real, effective, saved and that of file systems.
        let user = value("Uid")?.split_ascii_whitespace().nth(1).ok_or(STATUS)?;
        let capabilities = u64::from_str_radix(value("CapEff")?, 16).map_err(|_| STATUS)?;
        Ok(Rights {
            user: user.parse().map_err(|_| STATUS)?,
            capabilities,
            cpus: CpuSet::parse_list(value("Cpus_allowed_list")?)?,
        })
    }

    /// Whether it runs as root.
    pub fn is_root(&self) -> bool {
        self.user == 0
    }

    /// Whether it has a capability.
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities >> capability.bit() & 1 == 1
    }
}

impl Access {
    /// All of it unasked: for commands that need none of it.
    pub fn unasked() -> Access {
        fn none<T>(what: &str) -> Fact<T> {
            Err(Missing::unasked(what))
        }
        Access {
            rights: none("/proc/self/status"),
            perf: none("perf events"),
            tracepoints: none("tracepoints"),
            exits: none("taskstats"),
            msr_device: none("/dev/cpu/0/msr"),
            debugfs: none("/sys/kernel/debug"),
            cgroups: none("/sys/fs/cgroup"),
            schedstat: none("/proc/schedstat"),
            powercap: none("/sys/class/powercap"),
            controller: none("/dev/ipmi0"),
            described_controller: none("/sys/firmware/dmi/entries"),
            systemd: none("/run/systemd/system"),
            lockdown: none("/sys/kernel/security/lockdown"),
            programs: none("/usr/bin"),
            terminal: none("terminal"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = "Name:\tfullclock\nUid:\t1000\t1001\t1000\t1000\nCapEff:\t0000004000020000\n\
                        Cpus_allowed:\tf\nCpus_allowed_list:\t0-3\n";

    #[test]
    fn the_effective_user_and_capabilities_count() {
        let rights = Rights::parse(USER).unwrap();
        assert_eq!((rights.user, rights.is_root(), rights.cpus.len()), (1001, false, 4));
        assert!(rights.has(Capability::Perfmon) && rights.has(Capability::SysRawio));
        assert!(!rights.has(Capability::SysAdmin) && !rights.has(Capability::Syslog));
        assert!(Rights::parse("Uid:\t0\n").is_err());
        assert!(Rights::parse(&USER.replace("0000004000020000", "x")).is_err());
    }
}
