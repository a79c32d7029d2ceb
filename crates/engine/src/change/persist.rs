//! The files that make a change last, and the changes that have some.

use super::Change;
use super::opened::program;
use anyhow::{Context, Result, bail};
use facts::change::{ChangeState, Group, Write};
use host::change::{Journal, Machine};
use host::trusted_file::{self, Access};
use rules::persist::{self, Caller};
use rules::plan::Plan;
use rules::setting::Effect;
use std::path::Path;

/// What the files of a change are called among its settings.
const PERSIST: &str = "persist";

/// How a change is to last.
#[derive(Clone, Copy, Debug)]
pub struct Lasting<'a> {
    /// Where the journal is.
    pub state_dir: &'a Path,
    /// Whether what can do harm is planned, too.
    pub i_know: bool,
}

/// The words of the command by which a unit applies anew what a change had made to last.
pub fn command(id: &str) -> Vec<String> {
    ["apply", "--persisted", id].map(str::to_owned).to_vec()
}

/// The changes that later boots make again, the oldest first.
pub fn changes(journal: &Journal) -> Result<Vec<String>> {
    let mut lasting = Vec::new();
    for change in journal.changes().iter().filter(|it| it.state != ChangeState::Reverted) {
        if journal.groups(&change.id)?.iter().any(|it| it.group.setting == PERSIST) {
            lasting.push(change.id.clone());
        }
    }
    Ok(lasting)
}

/// The files that would make a plan last, for a change whose id nobody knows yet.
///
/// Errors: this machine reads no units.
pub fn preview(lasting: Lasting<'_>, plan: &Plan) -> Result<Vec<Write>> {
    let state = lasting.state_dir.display().to_string();
    let program = program()?.display().to_string();
    let caller = Caller { program: &program, state: &state, i_know: lasting.i_know, behind: &[] };
    let writes = persist::files("CHANGE", caller, plan);
    refuse_unread(&Machine::this(self::program()?), &writes, plan)?;
    Ok(writes)
}

/// Refuses units where none are read.
fn refuse_unread(machine: &Machine, writes: &[Write], plan: &Plan) -> Result<()> {
    let is_unit = |it: &Write| it.target.to_string().starts_with("/etc/systemd/system/");
    match machine.script_without_systemd() {
        Some(script) if writes.iter().any(is_unit) => bail!("{}", without_systemd(script, plan)),
        _ => Ok(()),
    }
}

/// The files that make a change last, after those that do so already.
///
/// Errors: the program or the state folder are where no unit finds them at boot; the machine reads no units; a file cannot be read.
pub fn files(
    change: &Change<'_>,
    lasting: Lasting<'_>,
    behind: &[String],
    plan: &Plan,
) -> Result<Group> {
    let (id, program) = (change.id(), program()?);
    stays(&program)?;
    let state = lasting.state_dir.canonicalize().context("the state folder")?;
    let (program, state) = (program.display().to_string(), state.display().to_string());
    let caller = Caller { program: &program, state: &state, i_know: lasting.i_know, behind };
    caller.fits_a_unit().map_err(anyhow::Error::msg)?;
    let mut writes = persist::files(id, caller, plan);
    refuse_unread(change.machine(), &writes, plan)?;
    for write in &mut writes {
        write.from = change.machine().read(&write.target)?;
    }
    Ok(Group { setting: PERSIST.to_owned(), value: id.to_owned(), canary: false, writes })
}

/// What to do instead of a unit. What a parameter of the boot line sets needs no script.
fn without_systemd(script: &str, plan: &Plan) -> String {
    let at_once = plan.steps.iter().filter(|it| it.request.setting.effect == Effect::AtOnce);
    let requests: Vec<String> = at_once.map(|it| it.request.text()).collect();
    format!(
        "systemd does not run here, and nothing reads its units: apply it without --persist, and put `fullclock apply --quiet {}` into {script}; what has \
         a parameter of the boot line (`fullclock explain` lists these settings) can be set there",
        requests.join(" ")
    )
}

/// Refuses a program that may not be at this path when the machine boots, or is somebody else's to change.
fn stays(program: &Path) -> Result<()> {
    let passing = ["/home", "/root", "/tmp", "/run", "/dev", "/var/tmp"];
    if passing.iter().any(|it| program.starts_with(it)) {
        let name = program.display();
        bail!("{name} must not run at boot: install it into /usr/local/bin");
    }
    let found = trusted_file::open(program, Access::Read)?;
    found.map(drop).with_context(|| format!("{} is no longer there", program.display()))
}
