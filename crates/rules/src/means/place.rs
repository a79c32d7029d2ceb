//! From where the host can be seen: under its hypervisor, outside of a container, on all its CPUs.

use super::provide::nothing;
use super::{Adds, Kind, Means, NONE, Provision, State};
use crate::hypervisors::frequency;
use facts::{CpuSet, Origin};

/// What a hypervisor keeps from its guests.
pub(super) const BARE_METAL: Means = Means {
    id: "bare-metal",
    title: "the machine under this guest",
    kind: Kind::Place,
    adds: Adds {
        text: "registers, throttling, power limits, firmware",
        checks: super::modules::MSR.adds.checks,
        metrics: &["average-mhz", "busy-mhz", "temperature", "watts", "smi"],
        losses: &["slow-clock", "stopped-clock"],
        commands: &["audit"],
    },
    find: |looked| match &looked.host.platform.hypervisor {
        Ok(Some(hypervisor)) => {
            let by = frequency(&looked.host.platform).map_or(String::new(), |it| format!(": {it}"));
            State::Lacking {
                seen: format!("this is a guest of {hypervisor}"),
                by: nothing(format!("audit the machine under it as well{by}")),
            }
        }
        Ok(None) => State::Here("no hypervisor shows".to_owned()),
        Err(missing) => State::Unknown(missing.clone()),
    },
};

/// What a container keeps from those in it.
pub(super) const WHOLE_HOST: Means = Means {
    id: "whole-host",
    title: "the host outside of this container",
    kind: Kind::Place,
    adds: Adds {
        text: "processes and control groups of others, devices, the host's own limits",
        checks: &[
            "cgroup-quota-throttling",
            "busy-kernel-threads",
            "kipmid-busy",
            "rival-tuner",
            "rcu-callbacks-on-isolated",
        ],
        metrics: &["kernel-threads"],
        losses: &["kernel-threads", "other-tasks"],
        commands: &["audit", "ledger", "watch", "apply"],
    },
    find: |looked| match &looked.host.platform.container {
        Ok(Some(kind)) if matches!(kind.as_str(), "docker" | "podman") => State::Lacking {
            seen: format!("this is a {kind} container"),
            by: Provision::Command {
                now: format!(
                    "{kind} run --privileged --pid=host --net=host -v /sys:/sys -v /dev:/dev"
                ),
                more: Some("or run fullclock on the host itself".to_owned()),
            },
        },
        Ok(Some(kind)) => State::Lacking {
            seen: format!("this is a {kind} container"),
            by: nothing(
                "run fullclock on the host itself, or in a privileged container with the host's process IDs, /sys and /dev",
            ),
        },
        Ok(None) => State::Here("no container shows".to_owned()),
        Err(missing) => State::Unknown(missing.clone()),
    },
};

/// A cpuset or an affinity keeps this program off some CPUs.
pub(super) const ALL_CPUS: Means = Means {
    id: "all-cpus",
    title: "all CPUs for this program",
    kind: Kind::Place,
    adds: Adds {
        text: "measuring on the CPUs that it may not run on",
        metrics: &["idle-requested"],
        losses: &["idle", "idle-exits"],
        commands: &["noise", "bench", "ledger", "race"],
        ..NONE
    },
    find: |looked| match (&looked.access.rights, &looked.host.topology.online) {
        (Ok(rights), Ok(online)) => allowed(online, &rights.cpus),
        (Err(_), _) if looked.host.origin != Origin::Live => {
            State::NotNeeded("nothing runs on a copy of a host".to_owned())
        }
        (Err(missing), _) | (_, Err(missing)) => State::Unknown(missing.clone()),
    },
};

fn allowed(online: &CpuSet, cpus: &CpuSet) -> State {
    let others = online.minus(cpus);
    if others.is_empty() {
        return State::Here("it may run on every CPU".to_owned());
    }
    State::Lacking {
        seen: format!("this program may not run on {}", others.named()),
        by: Provision::Command {
            now: format!("taskset -c {online} fullclock"),
            more: Some(
                "where a cpuset refuses that, it belongs to the container, service or job that started this program"
                    .to_owned(),
            ),
        },
    }
}
