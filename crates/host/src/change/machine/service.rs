//! Services of systemd, or of System V where there is no systemd (sd_booted(3)), by their own programs and never by a shell.

use super::Machine;
use crate::change::Trouble;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(super) const RUNNING: &str = "running";
pub(super) const STOPPED: &str = "stopped";

/// How often it is looked whether a program has ended.
const STEP: Duration = Duration::from_millis(10);

/// Whether it can be the name of a service: no option, no path, nothing that means more than a name.
pub(super) fn is_name(name: &str) -> bool {
    let fits = |it: char| it.is_ascii_alphanumeric() || "@._-".contains(it);
    name.len() <= 255
        && name.starts_with(|it: char| it.is_ascii_alphanumeric())
        && name.chars().all(fits)
}

/// Whether it runs. A service that nobody knows is stopped.
pub(super) fn read(machine: &Machine, name: &str) -> Result<String, Trouble> {
    let asked = if has_systemd(machine) { "is-active" } else { "status" };
    let (success, answer) = run(machine, name, asked)?;
    // One that is starting will run; System V tells by the exit code alone (LSB, "Init Script Actions").
    let runs = success || ["activating", "reloading"].contains(&answer.trim());
    Ok(if runs { RUNNING } else { STOPPED }.to_owned())
}

/// Starts or stops it, and waits until that is done.
pub(super) fn write(machine: &Machine, name: &str, value: &str) -> Result<(), Trouble> {
    let asked = if value == RUNNING { "start" } else { "stop" };
    match run(machine, name, asked)? {
        (true, _) => Ok(()),
        (false, _) => {
            let why = format!("`{asked}` failed: see what the service itself reports");
            Err(Trouble::new(format!("service {name}"), why))
        }
    }
}

/// What marks a machine whose services another init starts, with where that looks for a script of ours at boot: OpenRC (openrc(8), and
/// the service `local`), runit (runit(8)), Upstart (init(8) of RHEL 6) and System V (inittab(5)).
const OTHERS: [(&str, &str); 4] = [
    ("/run/openrc", "/etc/local.d/fullclock.start (`rc-update add local`)"),
    ("/run/runit", "/etc/rc.local"),
    ("/etc/init/rc.conf", "/etc/rc.d/rc.local"),
    ("/etc/inittab", "/etc/init.d/boot.local or /etc/rc.local"),
];

/// Where a script of ours would stand that another init than systemd runs at boot; `None` where systemd runs, or none of these does.
pub(super) fn script_of_other_init(machine: &Machine) -> Option<&'static str> {
    if has_systemd(machine) {
        return None;
    }
    let is_there = |path: &str| rustix::fs::stat(machine.at(path)).is_ok();
    OTHERS.iter().find(|(mark, _)| is_there(mark)).map(|it| it.1)
}

fn has_systemd(machine: &Machine) -> bool {
    rustix::fs::stat(machine.at("/run/systemd/system")).is_ok()
}

/// Runs what the service manager has for `asked`: whether it succeeded, and the start of what it printed.
#[expect(
    clippy::disallowed_methods,
    reason = "services are started and stopped by their manager alone"
)]
fn run(machine: &Machine, name: &str, asked: &str) -> Result<(bool, String), Trouble> {
    let place = format!("service {name}");
    if !is_name(name) {
        return Err(Trouble::new(place, "is no name of a service"));
    }
    let (program, arguments): (PathBuf, Vec<&str>) = if has_systemd(machine) {
        (machine.at("/usr/bin/systemctl"), vec![asked, "--", name])
    } else {
        // Scripts are named without the suffix of units.
        let script = name.strip_suffix(".service").unwrap_or(name);
        (machine.at(&format!("/etc/init.d/{script}")), vec![asked])
    };
    if !has_systemd(machine) && rustix::fs::stat(&program).is_err() {
        return match asked {
            "status" => Ok((false, String::new())),
            _ => Err(Trouble::new(place, format!("{} is not there", program.display()))),
        };
    }
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LC_ALL", "C");
    // A service that is started may keep what it inherits open for ever: so nothing is read but what is asked of systemd.
    let out = if asked == "is-active" { Stdio::piped() } else { Stdio::null() };
    command.current_dir("/").stdin(Stdio::null()).stdout(out).stderr(Stdio::null());
    let refused =
        |error: std::io::Error| Trouble::new(&place, format!("{}: {error}", program.display()));
    let mut child = command.spawn().map_err(refused)?;
    let success = wait(&mut child, machine.patience).map_err(refused)?;
    let Some(success) = success else {
        let why = format!("`{asked}` has not ended within {} s", machine.patience.as_secs());
        return Err(Trouble::new(place, why));
    };
    let mut answer = [0; 64];
    let n = child.stdout.take().and_then(|it| rustix::io::read(it, &mut answer).ok()).unwrap_or(0);
    Ok((success, String::from_utf8_lossy(answer.get(..n).unwrap_or_default()).into_owned()))
}

/// Whether it succeeded; `None` where it did not end in time, and was ended.
fn wait(child: &mut Child, patience: Duration) -> std::io::Result<Option<bool>> {
    let n_steps = patience.as_millis() / STEP.as_millis();
    for _ in 0..n_steps.max(1) {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        std::thread::sleep(STEP);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}
