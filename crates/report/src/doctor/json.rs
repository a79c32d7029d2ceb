//! What this program lacks on a host: `schemas/doctor-1.json`.

use super::Examination;
use crate::json::{Head, Id, Machine, Opening, pretty};
use rules::means::{Examined, Provision, State};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// Rights, modules, mounts, options of the kernel and programs: what is here, what is missing, what it would add, and its command.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DoctorDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    machine: Machine<'a>,
    /// As whom the program runs; null where unknown, and of a copy of a host.
    user: Option<User>,
    config: Configuration<'a>,
    /// What is missing first, and of that first what would make most checks of this host known.
    means: Vec<Means<'a>>,
}

/// As whom the program runs.
#[derive(Serialize, JsonSchema)]
struct User {
    /// The number of the user.
    uid: u32,
    /// The CPUs that the program may run on.
    #[schemars(regex(pattern = "^[0-9,-]*$"))]
    cpus: String,
}

/// What became of the configuration.
#[derive(Serialize, JsonSchema)]
struct Configuration<'a> {
    /// absent: there is no file; off: --no-config; read: it holds; refused: commands that read it do not run.
    #[schemars(extend("enum" = ["absent", "off", "read", "refused"]))]
    state: &'static str,
    /// The file that was read.
    path: Option<&'a str>,
    /// Why it is refused.
    error: Option<&'a str>,
    /// Its entries of `ignore`.
    ignore: Vec<Ignored<'a>>,
    /// The management controller that it names, which was not contacted; null where it names none.
    redfish: Option<Controller<'a>>,
}

/// A management controller that the configuration names.
#[derive(Serialize, JsonSchema)]
struct Controller<'a> {
    /// null where the address makes no sense.
    url: Option<&'a str>,
    /// The file of the token or the password; null where there is no account.
    file: Option<&'a str>,
    /// Whether the file can be read, and by its owner alone, and the address makes sense.
    ready: bool,
    /// Why it is not ready.
    error: Option<&'a str>,
}

/// An entry of `ignore`.
#[derive(Serialize, JsonSchema)]
struct Ignored<'a> {
    check: Id<'static>,
    /// null where it is about all CPUs.
    cpus: Option<String>,
    /// The last day, UTC.
    until: &'a str,
    because: &'a str,
    /// Whether its day is not over.
    in_effect: bool,
}

/// One thing that the program can use.
#[derive(Serialize, JsonSchema)]
struct Means<'a> {
    id: Id<'static>,
    #[schemars(length(min = 1))]
    title: &'static str,
    #[schemars(extend("enum" = ["right", "module", "mount", "kernel", "place", "tool"]))]
    kind: &'static str,
    #[schemars(extend("enum" = ["here", "missing", "not-needed", "unknown"]))]
    state: &'static str,
    /// What shows the state.
    seen: String,
    /// What to type where it is missing; null where nothing on this host provides it.
    command: Option<&'a str>,
    /// What makes it last, or what to know about the command.
    note: Option<&'a str>,
    /// Why no command provides it, or what does.
    no_command: Option<&'a str>,
    adds: Adds<'a>,
}

/// What something is good for.
#[derive(Serialize, JsonSchema)]
struct Adds<'a> {
    text: &'static str,
    /// Checks that can use it, on any host.
    checks: Vec<Id<'static>>,
    /// Those of them that are unknown on this host.
    unknown_here: Vec<Id<'a>>,
    metrics: Vec<Id<'static>>,
    ledger_lines: Vec<Id<'static>>,
    commands: Vec<Id<'static>>,
}

/// The examination as JSON.
///
/// Errors: it cannot be written as JSON, which is a bug.
pub fn json(head: &Head, examination: &Examination<'_>) -> Result<String> {
    let rights = examination.access.rights.as_ref().ok();
    pretty(&DoctorDocument {
        opening: head.opening(),
        machine: Machine::of(examination.host),
        user: rights.map(|it| User { uid: it.user, cpus: it.cpus.to_string() }),
        config: configuration(examination.configuration),
        means: examination.examined.iter().map(means).collect(),
    })
}

fn configuration(found: &super::Configuration) -> Configuration<'_> {
    let of =
        |state| Configuration { state, path: None, error: None, ignore: Vec::new(), redfish: None };
    match found {
        super::Configuration::Absent(_) => of("absent"),
        super::Configuration::Off => of("off"),
        super::Configuration::Refused(why) => Configuration { error: Some(why), ..of("refused") },
        super::Configuration::Read { path, config, today, controller } => {
            let ignore = config.ignored.iter().map(|it| Ignored {
                check: Id(it.check.id),
                cpus: it.cpus.as_ref().map(ToString::to_string),
                until: &it.until,
                because: &it.because,
                in_effect: it.is_valid(today),
            });
            let redfish = controller.as_ref().map(|it| Controller {
                url: it.url.as_deref(),
                file: it.file.as_deref(),
                ready: it.refused.is_none(),
                error: it.refused.as_deref(),
            });
            Configuration { path: Some(path), ignore: ignore.collect(), redfish, ..of("read") }
        }
    }
}

fn means(it: &Examined) -> Means<'_> {
    let seen = match &it.state {
        State::Here(text) | State::NotNeeded(text) | State::Lacking { seen: text, .. } => {
            text.clone()
        }
        State::Unknown(missing) => missing.to_string(),
    };
    let (command, note, no_command) = match &it.state {
        State::Lacking { by: Provision::Command { now, more }, .. } => {
            (Some(&**now), more.as_deref(), None)
        }
        State::Lacking { by: Provision::Nothing(why), .. } => (None, None, Some(&**why)),
        State::Here(_) | State::NotNeeded(_) | State::Unknown(_) => (None, None, None),
    };
    let adds = &it.means.adds;
    Means {
        id: Id(it.means.id),
        title: it.means.title,
        kind: it.means.kind.name(),
        state: it.state.name(),
        seen,
        command,
        note,
        no_command,
        adds: Adds {
            text: adds.text,
            checks: ids(adds.checks),
            unknown_here: ids(&it.unknown),
            metrics: ids(adds.metrics),
            ledger_lines: ids(adds.losses),
            commands: ids(adds.commands),
        },
    }
}

fn ids(ids: &[&'static str]) -> Vec<Id<'static>> {
    ids.iter().map(|it| Id(it)).collect()
}
