//! The change that is certified, from the journal, and how its places stand.

use anyhow::{Context, Result};
use engine::change::opened::program;
use host::change::{Access, Journal, Machine};
use report::certificate::Change;
use std::path::Path;

/// The change that `id` names, `7` or `0007`.
pub(super) fn of(folder: &Path, id: &str) -> Result<Change> {
    let journal = Journal::open(folder, Access::Read)?;
    let change = read(&journal, id);
    change.with_context(|| format!("--change {id}, in the journal of {}", folder.display()))
}

fn read(journal: &Journal, id: &str) -> Result<Change> {
    let recorded = journal.change(id)?.clone();
    let groups = journal.groups(&recorded.id)?;
    let lines = journal.lines(&recorded.id)?;
    let machine = Machine::this(program()?);
    let of_command = journal.changes().iter().filter(|it| it.command == recorded.command);
    let same_command = of_command.map(|it| it.when).collect();
    let mut all = host::change::standing(&machine, journal, true)?;
    let place = all.iter().position(|it| it.recorded.id == recorded.id);
    let shown = all.swap_remove(place.context("it is not among the changes of the journal")?);
    Ok(Change { shown, groups, lines, same_command })
}
