//! A baseline of this boot: what the machine is and how fast it is while it does nothing else, kept for later boots to be compared with.

mod idle;
mod speed;

pub use speed::LIMIT;

use crate::clock::{now, since_1970_ns};
use crate::controller;
use crate::interrupt::Interrupt;
use crate::{Event, Tell};
use anyhow::{Context, Result, bail};
use facts::utc;
use host::{Live, Source};
use idle::Watcher;
use lab::baseline::{History, Measured, Moment, Store, standing};
use lab::known::Known;
use lab::record::Fingerprint;
use rustix::time::{ClockId, clock_gettime};
use speed::{Attempt, Cpus};
use std::path::Path;
use std::time::Duration;

/// How a baseline is taken.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// How long to wait for the machine to be idle.
    pub wait: Duration,
    /// Whether another one is taken in a boot that has one.
    pub again: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Taken {
    /// All baselines of the machine, this one included.
    pub history: History,
    /// What was kept.
    pub kept: Kept,
}

/// What was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The settings and the speed of the machine.
    Now,
    /// Nothing: this boot has a baseline.
    Before,
    /// Its settings only: it was not idle in all that time, as this says.
    WithoutSpeed(String),
}

/// What the fingerprint of a result does not have.
const CONTROLLER: &str = "management controller firmware";
/// The program that measures: another build may take another time for the same work.
const PROGRAM: &str = "fullclock";
/// The CPUs that are measured.
const MEASURED_ON: &str = "cpus of the baseline";

/// Takes a baseline of this boot and keeps it below the folder of the results.
///
/// Errors: this machine cannot be measured; the history cannot be written; the user wants to stop, and then nothing is kept.
pub fn take(
    results: &Path,
    wanted: Wanted,
    interrupt: &Interrupt,
    tell: &mut Tell<'_>,
) -> Result<Taken> {
    let live = Live::this_machine();
    let boot = (&live as &dyn Source).boot_id()?;
    let store = Store::below(results);
    let mut appender = store.append()?;
    if !wanted.again && appender.history.of_boot(&boot).is_some() {
        return Ok(Taken { history: std::mem::take(&mut appender.history), kept: Kept::Before });
    }
    let host = host::view(&live);
    let cpus = Cpus::of(&host)?;
    let mut settings = Fingerprint::of(&host);
    let controller = controller::firmware().unwrap_or_else(|why| format!("unknown: {why}"));
    settings.set(CONTROLLER, Some(&controller));
    settings.set(PROGRAM, Some(env!("CARGO_PKG_VERSION")));
    settings.set(MEASURED_ON, Some(&cpus.to_string()));
    let found = when_idle(Watcher::of(&host), &cpus, &host, wanted.wait, interrupt, tell)?;
    let (speed, kept) = match found {
        Ok(measured) => (Known::Value(measured), Kept::Now),
        Err(why) => (Known::missing(&*why), Kept::WithoutSpeed(why)),
    };
    // Of a boot whose settings are kept already there is nothing to add.
    let is_new = kept == Kept::Now || !has_settings(&appender.history, &boot, &settings);
    if is_new {
        let up_s =
            Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default().as_secs();
        let moment = Moment { boot, at: utc::timestamp(since_1970_ns()), up_s };
        let lines = appender.history.add(moment, &settings, speed)?;
        appender.append(&lines).context("the baseline is not kept")?;
    }
    // Judged again each time: a later version may see more in the same history.
    if let Some(standing) = standing(&appender.history) {
        store.keep(&standing)?;
    }
    Ok(Taken { history: std::mem::take(&mut appender.history), kept })
}

fn has_settings(history: &History, boot: &str, settings: &Fingerprint) -> bool {
    let last = history.entries.last().filter(|it| it.record.boot == boot);
    last.is_some_and(|it| it.settings.as_deref() == Some(settings))
}

/// How long it is looked whether the machine is idle.
const LOOK: Duration = Duration::from_secs(1);

/// Measures once the machine is idle, and again where it did not stay so; or why it was not in all that time.
fn when_idle(
    mut watcher: Watcher<'_>,
    cpus: &Cpus,
    host: &facts::HostView,
    wait: Duration,
    interrupt: &Interrupt,
    tell: &mut Tell<'_>,
) -> Result<Result<Measured, String>> {
    let deadline = now() + wait;
    let mut is_told = false;
    loop {
        watcher.begin();
        if interrupt.wait(LOOK) {
            bail!("stopped: nothing is kept");
        }
        let load = watcher.load(Duration::ZERO)?;
        let why = if load.is_idle() {
            match speed::attempt(cpus, host, &mut watcher, interrupt)? {
                Attempt::Quiet(measured) => return Ok(Ok(measured)),
                Attempt::Disturbed(why) => why,
            }
        } else {
            load.to_string()
        };
        if now() >= deadline {
            return Ok(Err(why));
        }
        if !is_told {
            tell(Event::Note(format!("waiting for the machine to be idle: {why}")))?;
            is_told = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use idle::Load;
    use lab::baseline::HISTORY;

    /// On whatever machine this runs: where it is not idle, its settings are kept, and that is said.
    #[test]
    fn a_boot_has_one_baseline_unless_another_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let (interrupt, _stop) = Interrupt::by_hand();
        let mut notes = 0;
        let mut take = |again| {
            let wanted = Wanted { wait: Duration::ZERO, again };
            take(folder.path(), wanted, &interrupt, &mut |_| {
                notes += 1;
                Ok(())
            })
            .unwrap()
        };
        let first = take(false);
        assert_eq!(first.history.entries.len(), 1);
        let settings = first.history.entries[0].settings.as_ref().unwrap();
        for name in [CONTROLLER, PROGRAM, MEASURED_ON, "firmware version", "kernel release"] {
            assert!(settings.0.contains_key(name), "{name}");
        }
        let second = take(false);
        match first.kept {
            Kept::Now => assert_eq!((second.kept, second.history.entries.len()), (Kept::Before, 1)),
            // The machine may have become idle meanwhile.
            Kept::WithoutSpeed(_) => assert_ne!(second.kept, Kept::Before),
            Kept::Before => panic!("{first:?}"),
        }
        let standing = folder.path().join("baseline/standing.json");
        assert_eq!(
            standing.exists(),
            second.history.entries.iter().any(|it| it.record.speed.value().is_some())
        );
        assert!(folder.path().join("baseline").join(HISTORY).exists());
        assert_eq!(notes, 0);
    }

    #[test]
    fn a_user_who_wants_to_stop_keeps_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (interrupt, stop) = Interrupt::by_hand();
        stop.stop();
        let wanted = Wanted { wait: Duration::from_secs(60), again: false };
        let error = take(folder.path(), wanted, &interrupt, &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "stopped: nothing is kept");
        assert!(Store::below(folder.path()).read().unwrap().entries.is_empty());
    }

    #[test]
    fn a_load_that_is_not_idle_says_which_cpu_is_busy() {
        let busy = Load { all: 0.34, most: Some((3, 1.0)), others: 0.34 };
        assert!(!busy.is_idle());
        assert_eq!(busy.to_string(), "the CPUs are busy for 34 % of the time, CPU 3 for 100 %");
    }
}
