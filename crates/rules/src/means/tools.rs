//! Programs that a command starts, and what a command is shown on.

use super::provide::{nothing, package};
use super::{Adds, Kind, Looked, Means, NONE, Provision, State};
use crate::advice::persist::without_a_unit;
use facts::system::distribution::Family;
use facts::{Origin, Why};

/// `apply --persist` writes a unit of it.
pub(super) const SYSTEMD: Means = Means {
    id: "systemd",
    title: "systemd",
    kind: Kind::Tool,
    adds: Adds {
        text: "changes that last beyond a reboot (`apply --persist`)",
        commands: &["apply"],
        ..NONE
    },
    find: |looked| match &looked.access.systemd {
        Err(_) if matches!(looked.host.platform.container, Ok(Some(_))) => {
            State::NotNeeded("a change lasts where the host itself makes it".to_owned())
        }
        Ok(()) => State::Here("/run/systemd/system".to_owned()),
        Err(missing) if missing.why == Why::Absent => State::Lacking {
            seen: "no systemd manages this host".to_owned(),
            by: nothing(without_systemd(looked)),
        },
        Err(missing) => State::Unknown(missing.clone()),
    },
};

/// How changes last.
fn without_systemd(looked: &Looked<'_>) -> String {
    without_a_unit(looked.host, "governor=performance").map_or_else(
        || "whatever starts this host has to run `fullclock apply` at each boot".to_owned(),
        |it| format!("changes last by {it}"),
    )
}

/// What `net client` starts for tests over RDMA.
pub(super) const PERFTEST: Means = Means {
    id: "perftest",
    title: "perftest",
    kind: Kind::Tool,
    adds: Adds { text: "tests over RDMA", commands: &["net"], ..NONE },
    find: |looked| match &looked.host.network.rdma {
        Ok(devices) if !devices.is_empty() => {
            program(looked, &["ib_write_bw"], |family| match family {
                Family::RedHat
                | Family::Debian
                | Family::Proxmox
                | Family::Suse
                | Family::Ostree
                | Family::MicroOs => Some("perftest"),
                _ => None,
            })
        }
        Ok(_) => State::NotNeeded("this host has no RDMA device".to_owned()),
        Err(missing) if missing.is_absence() => {
            State::NotNeeded("this host has no RDMA device".to_owned())
        }
        Err(missing) => State::Unknown(missing.clone()),
    },
};

/// What reaches nodes of a race.
pub(super) const SSH: Means = Means {
    id: "ssh",
    title: "ssh",
    kind: Kind::Tool,
    adds: Adds { text: "nodes of a race on other machines", commands: &["race"], ..NONE },
    find: |looked| {
        program(looked, &["ssh"], |family| match family {
            Family::RedHat | Family::Suse | Family::Ostree | Family::MicroOs => {
                Some("openssh-clients")
            }
            Family::Debian | Family::Proxmox => Some("openssh-client"),
            Family::Alpine => Some("openssh-client"),
            Family::Arch => Some("openssh"),
            _ => None,
        })
    },
};

const SERVER: Adds = Adds {
    text: "a temporary server for `commit` and `schema-build`",
    commands: &["bench", "race"],
    ..NONE
};

/// A server of its own for a workload.
pub(super) const POSTGRESQL: Means = Means {
    id: "postgresql",
    title: "PostgreSQL's server",
    kind: Kind::Tool,
    adds: SERVER,
    find: |looked| {
        program(looked, &["postgres"], |family| match family {
            Family::RedHat | Family::Suse | Family::Ostree | Family::MicroOs => {
                Some("postgresql-server")
            }
            Family::Debian | Family::Proxmox | Family::Alpine | Family::Arch => Some("postgresql"),
            _ => None,
        })
    },
};

/// The same of MariaDB or MySQL.
pub(super) const MARIADB: Means = Means {
    id: "mariadb",
    title: "MariaDB's or MySQL's server",
    kind: Kind::Tool,
    adds: SERVER,
    find: |looked| {
        program(looked, &["mariadbd", "mysqld"], |family| match family {
            Family::RedHat | Family::Debian | Family::Proxmox | Family::Ostree => {
                Some("mariadb-server")
            }
            Family::Suse | Family::MicroOs | Family::Alpine | Family::Arch => Some("mariadb"),
            _ => None,
        })
    },
};

/// For the screen of `watch`.
pub(super) const TERMINAL: Means = Means {
    id: "terminal",
    title: "a terminal",
    kind: Kind::Tool,
    adds: Adds {
        text: "the screen of `watch`, which else prints lines",
        commands: &["watch"],
        ..NONE
    },
    find: |looked| match &looked.access.terminal {
        Ok(()) => State::Here("this program has one".to_owned()),
        Err(_) if looked.host.origin != Origin::Live => {
            State::NotNeeded("nothing is shown on a copy of a host".to_owned())
        }
        Err(_) => State::Lacking {
            seen: "neither input nor output is a terminal".to_owned(),
            by: Provision::Nothing("start it in a terminal; over ssh, `ssh -t`".to_owned()),
        },
    },
};

fn program(
    looked: &Looked<'_>,
    names: &[&str],
    package_of: impl Fn(Family) -> Option<&'static str>,
) -> State {
    match &looked.access.programs {
        Ok(found) => match names.iter().find(|it| found.contains(it)) {
            Some(name) => State::Here((*name).to_owned()),
            None => State::Lacking {
                seen: format!("no {} in the system's folders of programs", names.join(" or ")),
                by: package(looked, package_of),
            },
        },
        Err(missing) if looked.host.origin != Origin::Live => {
            State::NotNeeded(format!("nothing is started on a copy of a host ({missing})"))
        }
        Err(missing) => State::Unknown(missing.clone()),
    }
}
