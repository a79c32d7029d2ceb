//! Watches what is applied: when something undoes a setting, and who.
//!
//! The values are compared at intervals; the kernel tells who wrote as it happens (`host::writers`). What the kernel or the
//! firmware changes by itself has no writer.

use super::opened::program;
use crate::interrupt::Interrupt;
use crate::{Event, Tell};
use anyhow::{Result, bail};
use facts::change::{ChangeState, Standing, Target, Written, WrittenPlace};
use host::change::{Access, Journal, Machine, standing};
use host::writers::WriteWatch;
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Watches until the user ends it, or for some time; each drift, and each return to what was written, is an event. Whether there was
/// one.
///
/// Errors: nothing is applied; the journal cannot be read.
pub fn watch(
    folder: &Path,
    interval: Duration,
    duration: Option<Duration>,
    tell: &mut Tell<'_>,
) -> Result<bool> {
    let machine = Machine::this(program()?);
    let interrupt = Interrupt::listen()?;
    let mut writers = Writers::begin(tell)?;
    let mut drifts = Drifts { found: BTreeMap::new(), has_any: false, is_first: true };
    let began = since_boot();
    loop {
        let n_places = drifts.look(&machine, folder, &mut writers, tell)?;
        if n_places == 0 && drifts.is_first {
            bail!("nothing is applied that could drift; `fullclock apply` does that");
        }
        drifts.is_first = false;
        let left = duration.map(|it| (began + it).saturating_sub(since_boot()));
        let time = left.unwrap_or(interval).min(interval);
        if time.is_zero() || writers.wait(&interrupt, time) {
            return Ok(drifts.has_any);
        }
    }
}

fn since_boot() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default()
}

/// What has drifted and was reported.
struct Drifts {
    found: BTreeMap<String, Option<String>>,
    has_any: bool,
    /// Whether nobody has looked yet.
    is_first: bool,
}

impl Drifts {
    /// Looks at every place that is applied, and reports what has changed since the last look; how many places there are.
    fn look(
        &mut self,
        machine: &Machine,
        folder: &Path,
        writers: &mut Writers,
        tell: &mut Tell<'_>,
    ) -> Result<usize> {
        // A change that is made meanwhile is no drift: the journal is read anew each time.
        let journal = Journal::open(folder, Access::Read)?;
        let mut changes = standing(machine, &journal, false)?;
        // What is being made or taken back is no drift either.
        changes.retain(|it| it.recorded.state != ChangeState::Open);
        let places: Vec<&WrittenPlace> = changes.iter().flat_map(|it| &it.places).collect();
        for place in &places {
            let name = place.write.target.to_string();
            match &place.standing {
                Standing::Changed { found } if self.found.get(&name) != Some(found) => {
                    self.has_any = true;
                    let (found, writer) = (found.as_deref(), writers.of(&name));
                    tell(Event::Drift { place, found, writer: writer.as_ref() })?;
                    self.found.insert(name, found.map(str::to_owned));
                }
                Standing::InForce if self.found.remove(&name).is_some() => {
                    let (found, writer) = (place.write.to.as_deref(), writers.of(&name));
                    tell(Event::Drift { place, found, writer: writer.as_ref() })?;
                }
                _ => {}
            }
            writers.watch(&place.write.target);
        }
        Ok(places.len())
    }
}

/// Who wrote last to each file that is watched.
struct Writers {
    watch: Option<WriteWatch>,
    watched: BTreeSet<String>,
    last: BTreeMap<String, Written>,
}

impl Writers {
    fn begin(tell: &mut Tell<'_>) -> Result<Writers> {
        let watch = match WriteWatch::begin() {
            Ok(watch) => Some(watch),
            Err(missing) => {
                let note = format!("who changes a setting is unknown: {}", missing.advice());
                tell(Event::Note(note))?;
                None
            }
        };
        Ok(Writers { watch, watched: BTreeSet::new(), last: BTreeMap::new() })
    }

    fn watch(&mut self, target: &Target) {
        let (Target::Control { path } | Target::File { path }) = target else { return };
        if let Some(watch) = &self.watch
            && !self.watched.contains(path)
            && watch.watch(path).is_ok()
        {
            self.watched.insert(path.clone());
        }
    }

    /// Waits that long, or until the user wants to stop; whether that is so. Writers are named while they are still there.
    fn wait(&mut self, interrupt: &Interrupt, time: Duration) -> bool {
        const STEP: Duration = Duration::from_millis(100);
        let Some(watch) = &self.watch else { return interrupt.wait(time) };
        let until = since_boot() + time;
        while !interrupt.flag().load(Ordering::Relaxed) {
            let left = until.saturating_sub(since_boot());
            if left.is_zero() {
                return false;
            }
            watch.wait(left.min(STEP));
            self.last.extend(watch.written().into_iter().map(|it| (it.path.clone(), it)));
        }
        true
    }

    /// Who wrote to it since it was asked last.
    fn of(&mut self, path: &str) -> Option<Written> {
        self.last.remove(path)
    }
}
