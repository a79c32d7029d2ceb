//! What a shell offers for an argument: ids of the program's own lists, and the changes and results that this machine has.
//!
//! Nothing is written for it, and what cannot be read offers nothing.

use clap_complete::engine::CompletionCandidate;
use engine::results_folder::results_folder;
use host::change::{Access, Journal};
use lab::workloads::WORKLOADS;
use rules::advisory::shipped;
use rules::checks::CHECKS;
use rules::profile::SHIPPED;
use rules::settings::SETTINGS;
use std::path::Path;

/// The journal of changes where no option names another.
const STATE: &str = "/var/lib/fullclock";

/// Of `explain`: everything that has an id.
pub(crate) fn entries() -> Vec<CompletionCandidate> {
    report::documentation::entries().map(|it| candidate(it.id, it.title)).collect()
}

/// Advisories that come with the program, and those of this machine.
pub(crate) fn advisories() -> Vec<CompletionCandidate> {
    let shipped = shipped().iter().map(|it| candidate(&it.id, &it.title));
    let own = names_in(Path::new("/etc/fullclock/advisories"), ".toml");
    shipped.chain(own.into_iter().map(|it| candidate(it, "in /etc/fullclock/advisories"))).collect()
}

/// Of `plan` and `apply`: findings to fix, and settings with the sign that a value follows.
pub(crate) fn findings_and_settings() -> Vec<CompletionCandidate> {
    CHECKS.iter().map(|it| candidate(it.id, it.title)).chain(factors()).collect()
}

/// Of `experiment`: settings to vary.
pub(crate) fn factors() -> Vec<CompletionCandidate> {
    SETTINGS.iter().map(|it| candidate(format!("{}=", it.id), it.title)).collect()
}

/// Profiles that come with the program, and those of this machine.
pub(crate) fn profiles() -> Vec<CompletionCandidate> {
    let shipped = SHIPPED.iter().map(|it| candidate(it.name, "comes with fullclock"));
    let own = names_in(Path::new("/etc/fullclock"), ".toml");
    let own = own.into_iter().filter(|it| it != "config");
    shipped.chain(own.map(|it| candidate(it, "in /etc/fullclock"))).collect()
}

/// Workloads of `bench`.
pub(crate) fn workloads() -> Vec<CompletionCandidate> {
    WORKLOADS.iter().map(|it| candidate(it.id, it.title)).collect()
}

/// Changes that are in the journal, the latest first.
pub(crate) fn changes() -> Vec<CompletionCandidate> {
    let Ok(journal) = Journal::open(Path::new(STATE), Access::Read) else { return Vec::new() };
    let changes = journal.changes().iter().rev();
    changes.map(|it| candidate(&it.id, &it.command.join(" "))).collect()
}

/// Results that were kept, by their ids.
pub(crate) fn results() -> Vec<CompletionCandidate> {
    let Ok(folder) = results_folder(None) else { return Vec::new() };
    let mut names = names_in(&folder, ".json");
    names.sort_unstable_by(|a, b| b.cmp(a));
    names.into_iter().map(CompletionCandidate::new).collect()
}

fn candidate(value: impl Into<std::ffi::OsString>, about: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(about.to_owned().into()))
}

/// The names of the files of a folder that end so, without the ending.
#[expect(clippy::disallowed_methods, reason = "names for a shell are no facts of a host")]
fn names_in(folder: &Path, ending: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = files.filter_map(|it| it.file_name().into_string().ok());
    names.filter_map(|it| it.strip_suffix(ending).map(str::to_owned)).collect()
}
