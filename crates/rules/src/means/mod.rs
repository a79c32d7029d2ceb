//! What this program can use on a host beyond the files that every user may read: rights, modules, mounts, options of the kernel,
//! programs, and a place from which the host can be seen.
//!
//! A check says which fact it lacks; this list says what would give that fact to it, and to the rest of the program.

mod kernel;
mod modules;
mod mounts;
mod place;
mod provide;
mod rights;
mod tools;

use crate::audit::Audit;
use facts::access::Access;
use facts::{Fact, HostView, Missing, Why};
use std::cmp::Reverse;

/// One thing that this program can use.
pub struct Means {
    /// A noun: `msr-module`.
    pub id: &'static str,
    /// The same in a few words, for lists.
    pub title: &'static str,
    /// What sort of thing it is.
    pub kind: Kind,
    /// What it is good for.
    pub adds: Adds,
    /// Looks whether it is there.
    pub find: fn(&Looked<'_>) -> State,
}

/// What sort of thing can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Root, or a capability.
    Right,
    /// A module of the kernel.
    Module,
    /// A mounted file system of the kernel.
    Mount,
    /// How the kernel was built or booted.
    Kernel,
    /// From where the host is seen.
    Place,
    /// A program, or what a single command is shown on.
    Tool,
}

impl Kind {
    /// The word in output.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Right => "right",
            Kind::Module => "module",
            Kind::Mount => "mount",
            Kind::Kernel => "kernel",
            Kind::Place => "place",
            Kind::Tool => "tool",
        }
    }
}

/// What something is good for, by the ids of the lists.
#[derive(Debug)]
pub struct Adds {
    /// In a few words.
    pub text: &'static str,
    /// Checks that can be judged with it, some of them on some processors only.
    pub checks: &'static [&'static str],
    /// Metrics.
    pub metrics: &'static [&'static str],
    /// Lines of the ledger.
    pub losses: &'static [&'static str],
    /// Commands that do more with it, or do not run without it.
    pub commands: &'static [&'static str],
}

/// Nothing.
const NONE: Adds = Adds { text: "", checks: &[], metrics: &[], losses: &[], commands: &[] };

/// What is known of the host, and what this program may do there.
pub struct Looked<'a> {
    /// The host.
    pub host: &'a HostView,
    /// What is there for this program.
    pub access: &'a Access,
}

/// Whether something is there.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It is; what shows that.
    Here(String),
    /// It is not.
    Lacking {
        /// What shows that.
        seen: String,
        /// What would provide it.
        by: Provision,
    },
    /// This host has no use for it, and why.
    NotNeeded(String),
    /// Whether it is there cannot be known, and why.
    Unknown(Missing),
}

/// What provides something that is lacking.
#[derive(Clone, Debug, PartialEq)]
pub enum Provision {
    /// A command.
    Command {
        /// What to type.
        now: String,
        /// What makes it last, or what to know about it.
        more: Option<String>,
    },
    /// No command of this host does, and why or what does.
    Nothing(String),
}

impl State {
    /// The word in output.
    pub fn name(&self) -> &'static str {
        match self {
            State::Here(_) => "here",
            State::Lacking { .. } => "missing",
            State::NotNeeded(_) => "not-needed",
            State::Unknown(_) => "unknown",
        }
    }
}

/// One thing, whether it is there, and what it would tell of this host.
pub struct Examined {
    /// What.
    pub means: &'static Means,
    /// Whether it is there.
    pub state: State,
    /// Checks that are unknown here, and that it is good for.
    pub unknown: Vec<&'static str>,
}

/// Every means, in order of what it is good for.
pub const MEANS: &[&Means] = &[
    &place::BARE_METAL,
    &place::WHOLE_HOST,
    &rights::ROOT,
    &modules::MSR,
    &rights::REGISTERS,
    &rights::PERF,
    &mounts::TRACEFS,
    &rights::EXITS,
    &rights::LOG,
    &modules::IPMI,
    &modules::RAPL,
    &modules::HSMP,
    &modules::PLR,
    &modules::SPEED_SELECT,
    &mounts::CGROUPS,
    &mounts::DEBUGFS,
    &kernel::SCHEDSTAT,
    &kernel::DELAYS,
    &kernel::LOCKDOWN,
    &place::ALL_CPUS,
    &tools::SYSTEMD,
    &tools::PERFTEST,
    &tools::SSH,
    &tools::POSTGRESQL,
    &tools::MARIADB,
    &tools::TERMINAL,
];

/// Looks for each of the list, `audit` being that of the same host. What is missing comes first: what tells most of this host, then
/// in the order of the list.
pub fn examine(host: &HostView, access: &Access, audit: &Audit) -> Vec<Examined> {
    let looked = Looked { host, access };
    let is_unknown = |id: &&&str| audit.unknown.iter().any(|(check, _)| check.id == **id);
    let one = |means: &&'static Means| Examined {
        means,
        state: (means.find)(&looked),
        unknown: means.adds.checks.iter().filter(is_unknown).copied().collect(),
    };
    let mut examined: Vec<Examined> = MEANS.iter().map(one).collect();
    examined.sort_by_key(|it| match &it.state {
        State::Lacking { by: Provision::Command { .. }, .. } => (0, Reverse(it.unknown.len())),
        State::Lacking { by: Provision::Nothing(_), .. } => (1, Reverse(it.unknown.len())),
        State::Unknown(_) => (2, Reverse(0)),
        State::Here(_) => (3, Reverse(0)),
        State::NotNeeded(_) => (4, Reverse(0)),
    });
    examined
}

/// By a fact that is there or not: `here` in words, or what `lacking` makes of the reason. What a copy of a host does not hold is
/// unknown.
fn by_fact(fact: &Fact<()>, here: &str, lacking: impl FnOnce(&Missing) -> Provision) -> State {
    match fact {
        Ok(()) => State::Here(here.to_owned()),
        Err(missing) if missing.why == Why::NotCollected || missing.is_unasked() => {
            State::Unknown(missing.clone())
        }
        Err(missing) => State::Lacking { seen: missing.to_string(), by: lacking(missing) },
    }
}

#[cfg(test)]
mod tests;
