//! Every workload, one file each.
//!
//! Their documentation is made of the list, entry by entry, and as a page for people who read before they install.

mod all_cores;
mod command;
mod commit;
mod cpu_loop;
mod cpu_speed;
mod ipmi_roundtrip;
mod memory;
mod plsql_loop;
mod schema_build;
mod spin_pair;
mod syscall;
mod timer;
mod wakeup;

pub(crate) use commit::outcome as outcome_of_commits;
/// What the workload of the management controller yields.
pub(crate) use ipmi_roundtrip::{BOTH, DEVICE_ID, POLLED, RECORD, SHARE};

use crate::commit::ENGINES;
use crate::workload::{Setting, Settings, Workload};
use rules::documentation::{Entry, Page};
use std::borrow::Cow;

/// In the order in which they are listed.
pub const WORKLOADS: &[Workload] = &[
    cpu_loop::WORKLOAD,
    cpu_speed::WORKLOAD,
    all_cores::WORKLOAD,
    spin_pair::WORKLOAD,
    wakeup::WORKLOAD,
    memory::WORKLOAD,
    syscall::WORKLOAD,
    timer::WORKLOAD,
    ipmi_roundtrip::WORKLOAD,
    plsql_loop::WORKLOAD,
    schema_build::WORKLOAD,
    commit::WORKLOAD,
    command::WORKLOAD,
];

/// The workload whose script also runs inside Oracle.
pub(crate) const PLSQL_LOOP: &Workload = &plsql_loop::WORKLOAD;
/// The workload whose speed Oracle measures, too.
pub(crate) const CPU_SPEED: &Workload = &cpu_speed::WORKLOAD;

/// The workload whose engines are also sampled live, and whose counts Oracle has, too.
pub(crate) const COMMIT: &Workload = &commit::WORKLOAD;

/// The headings that the help of every workload has, in this order.
pub const HEADINGS: &[&str] =
    &["## What it does", "## What changes the result", "## What it cannot know"];

/// The workload of that id.
pub fn find(id: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|it| it.id == id)
}

/// The temporary database server that a workload starts with these settings, in words: that takes seconds. `None` where it
/// starts none.
pub fn temporary_server(workload: &Workload, settings: &Settings) -> Option<String> {
    let engine = settings.engine.as_deref();
    let has_own = workload.id == COMMIT.id && engine.is_none_or(|it| ENGINES.first() == Some(&it));
    if has_own || settings.dsn.is_some() || !workload.takes.contains(&Setting::Engine) {
        return None;
    }
    let which = engine.map_or(String::new(), |it| format!(" ({it})"));
    Some(format!("a temporary database server{which}"))
}

/// The page of all workloads.
pub const PAGE: Page = Page {
    file: "workloads.md",
    opening: "# Workloads\n\nWhat `fullclock bench` can run, in the order in which it lists them. Made from the workloads themselves \
              by `cargo xtask docs`; `fullclock explain ID` shows the same.\n",
    list: "workload",
};

/// Every workload, in display order.
pub fn entries() -> impl Iterator<Item = Entry> {
    WORKLOADS.iter().map(|it| Entry {
        list: "workload",
        id: it.id,
        title: it.title,
        doc: Cow::Owned(it.documentation()),
        references: &[],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_workloads_in_a_server_without_a_users_own_start_one() {
        let starts = |id: &str, engine: Option<&str>, dsn: Option<&str>| {
            let settings = Settings {
                engine: engine.map(str::to_owned),
                dsn: dsn.map(str::to_owned),
                ..Settings::default()
            };
            temporary_server(find(id).unwrap(), &settings)
        };
        assert_eq!(starts("commit", None, None), None);
        assert_eq!(starts("commit", Some("embedded"), None), None);
        assert_eq!(starts("commit", None, Some("host=db1")), None);
        assert_eq!(starts("cpu-loop", None, None), None);
        let found = starts("commit", Some("mariadb"), None);
        assert_eq!(found.as_deref(), Some("a temporary database server (mariadb)"));
        let found = starts("plsql-loop", None, None);
        assert_eq!(found.as_deref(), Some("a temporary database server"));
    }
}
