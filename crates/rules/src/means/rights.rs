//! Rights of this program: root's, and capabilities, which root has unless a container or a unit withholds them.

use super::provide::{nothing, right};
use super::{Adds, Kind, Looked, Means, NONE, State, by_fact};
use facts::access::Capability;
use facts::{Fact, Missing, Origin, Why};

/// Files of mode 0400 and 0600, and every write.
pub(super) const ROOT: Means = Means {
    id: "root",
    title: "root",
    kind: Kind::Right,
    adds: Adds {
        text: "files that only root may read, and every change",
        checks: &["turbo-headroom-lost", "cgroup-quota-throttling", "kernel-log"],
        metrics: &["watts"],
        losses: &["idle"],
        commands: &["apply", "confirm", "revert", "watch-drift", "experiment", "ipmi"],
    },
    find: |looked| match &looked.access.rights {
        Ok(rights) if rights.is_root() => State::Here("this program runs as root".to_owned()),
        Ok(rights) => State::Lacking {
            seen: format!("this program runs as user {}", rights.user),
            by: right(looked, Capability::DacReadSearch),
        },
        Err(missing) => of_copy(looked, missing),
    },
};

/// Reading registers takes the device's mode and a capability (arch/x86/kernel/msr.c).
pub(super) const REGISTERS: Means = Means {
    id: "msr-access",
    title: "access to MSRs (CAP_SYS_RAWIO)",
    kind: Kind::Right,
    adds: Adds {
        text: "the processor's registers: what limits and stops the clock",
        ..super::modules::MSR.adds
    },
    find: |looked| {
        if let Some(state) = super::modules::no_registers(looked) {
            return state;
        }
        by_capability(looked, Capability::SysRawio)
    },
};

/// perf events of a CPU.
pub(super) const PERF: Means = Means {
    id: "perf-events",
    title: "perf events of CPUs (CAP_PERFMON)",
    kind: Kind::Right,
    adds: Adds {
        text: "the clock that CPUs had, context switches, time in idle states, energy",
        checks: &["clock-not-delivered"],
        metrics: &[
            "average-mhz",
            "busy-mhz",
            "tsc-mhz",
            "c0",
            "productive-cycles",
            "smi",
            "core-residency",
            "package-residency",
            "watts",
            "context-switches",
        ],
        losses: &["slow-clock", "stopped-clock"],
        commands: &["ledger", "watch", "bench", "race", "noise", "tick"],
    },
    find: |looked| {
        let tried = Tried {
            fact: &looked.access.perf,
            here: "an event of CPU 0 can be opened",
            capability: Capability::Perfmon,
            else_lacking: "the kernel or a sandbox (seccomp) has no perf_event_open(2)",
        };
        tried.state(looked)
    },
};

/// taskstats.
pub(super) const EXITS: Means = Means {
    id: "taskstats",
    title: "times of tasks that ended (CAP_NET_ADMIN)",
    kind: Kind::Right,
    adds: Adds {
        text: "the run time of tasks that ended between two samples",
        losses: &["other-tasks", "useful"],
        commands: &["ledger", "watch", "bench"],
        ..NONE
    },
    find: |looked| {
        let tried = Tried {
            fact: &looked.access.exits,
            here: "the kernel reports tasks that end",
            capability: Capability::NetAdmin,
            else_lacking: "the kernel is built without CONFIG_TASKSTATS",
        };
        tried.state(looked)
    },
};

/// The log is root's where kernel.dmesg_restrict is 1 (syslog(2)).
pub(super) const LOG: Means = Means {
    id: "kernel-log-access",
    title: "the kernel's log (CAP_SYSLOG)",
    kind: Kind::Right,
    adds: Adds {
        text: "messages of the kernel that explain findings",
        checks: &["kernel-log"],
        ..NONE
    },
    find: |looked| match &looked.host.log {
        Ok(_) => State::Here("the kernel's log can be read".to_owned()),
        Err(missing) if missing.why == Why::Denied => {
            State::Lacking { seen: missing.to_string(), by: right(looked, Capability::Syslog) }
        }
        Err(missing) if missing.is_absence() => State::NotNeeded(missing.to_string()),
        Err(missing) => State::Unknown(missing.clone()),
    },
};

fn by_capability(looked: &Looked<'_>, capability: Capability) -> State {
    match &looked.access.rights {
        Ok(rights) if rights.has(capability) => State::Here(capability.name().to_owned()),
        Ok(_) => State::Lacking {
            seen: format!("this program has no {}", capability.name()),
            by: right(looked, capability),
        },
        Err(missing) => of_copy(looked, missing),
    }
}

/// Nobody runs on a copy of a host.
/// What is tried on the machine itself, and needs a capability.
struct Tried<'a> {
    fact: &'a Fact<()>,
    /// What it shows where it works.
    here: &'a str,
    capability: Capability,
    /// Why it fails where it is not for rights.
    else_lacking: &'a str,
}

impl Tried<'_> {
    fn state(&self, looked: &Looked<'_>) -> State {
        match self.fact {
            Err(missing) if missing.why == Why::NotCollected => of_copy(looked, missing),
            fact => by_fact(fact, self.here, |missing| match missing.why {
                Why::Denied => right(looked, self.capability),
                _ => nothing(self.else_lacking),
            }),
        }
    }
}

fn of_copy(looked: &Looked<'_>, missing: &Missing) -> State {
    match looked.host.origin {
        Origin::Live => State::Unknown(missing.clone()),
        Origin::Capture | Origin::Tree => State::NotNeeded(
            "a copy of a host: what its collector could not read is unknown for good".to_owned(),
        ),
    }
}
