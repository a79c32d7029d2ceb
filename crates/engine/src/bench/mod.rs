//! Trials of a workload, as many as its result needs.

mod pace;

pub use pace::Wanted;

use crate::clock::{now, since_1970_ns};
use crate::interrupt::Interrupt;
use crate::measure::costs;
use crate::{Event, Progress, Tell};
use anyhow::{Context, Result, bail};
use facts::quantity::counted;
use facts::{CpuSet, HostView, utc};
use host::Live;
use lab::bench::{Plan, PlannedArm, Watcher};
use lab::comparison::Comparison;
use lab::doubt::Doubt;
use lab::failure::Failure;
use lab::record::{Fingerprint, Record};
use lab::store::{History, Journal};
use lab::workload::Scene;
use lab::workloads::temporary_server;
use pace::Pace;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The trials that were run, and whether they ended as planned.
pub struct Measured {
    /// The trials with their doubts.
    pub record: Record,
    /// Why they ended before they were to.
    pub outcome: Result<(), Failure>,
    /// Where they are kept.
    pub file: Result<Option<PathBuf>>,
    /// What the user wanted to know and what it would take, where it did not come out.
    pub shortfall: Option<String>,
}

/// Trials of one workload on two machines in one: as it is, and as `around` makes it for the trials of the second arm. The
/// record is kept as any other.
///
/// Errors: a trial failed; the user stopped it.
pub(crate) fn before_and_after<'a>(
    arms: &[PlannedArm; 2],
    wanted: Wanted,
    folder: Option<&Path>,
    interrupt: &Interrupt,
    around: &'a mut Around<'a>,
    tell: &mut Tell<'_>,
) -> Result<(Comparison, Record, Option<PathBuf>)> {
    let [before, after] = arms;
    let arm = |name: &str, of: &PlannedArm| PlannedArm { name: name.to_owned(), ..of.clone() };
    let arms = vec![arm("before", before), arm("after", after)];
    let measured = measure(arms, wanted, folder, interrupt, Some(around), tell)?;
    measured.outcome?;
    let file = measured.file?;
    let found = lab::comparison::within(&measured.record).map_err(|why| anyhow::anyhow!(why))?;
    let comparison = found.into_iter().next_back().context("no trial was run")?;
    Ok((comparison, measured.record, file))
}

/// Runs trials of the arms in turn, and keeps their record in `folder`.
///
/// Errors: this machine cannot run them, or no trial was run.
pub fn measure<'a>(
    arms: Vec<PlannedArm>,
    wanted: Wanted,
    folder: Option<&Path>,
    interrupt: &Interrupt,
    around: Option<&'a mut Around<'a>>,
    tell: &mut Tell<'_>,
) -> Result<Measured> {
    refuse_different(&arms)?;
    let allowed = host::probe::allowed()?;
    let host = host::view(&Live::this_machine());
    let temporary = std::env::temp_dir();
    clear_up(&temporary, folder, tell)?;
    let pace = Pace::of(wanted, arms.len());
    let (is_whole, expected) = (around.is_some(), pace.least());
    let plan = Plan { is_whole, expected, ..plan(&host, &allowed, arms)? };
    let servers: BTreeSet<String> =
        plan.arms.iter().filter_map(|it| temporary_server(it.workload, &it.settings)).collect();
    for server in servers {
        let anew = if plan.arms.len() > 1 && !is_whole { ", anew for each block" } else { "" };
        tell(Event::Note(format!("starting {server}{anew}")))?;
    }
    let mut session = Session::new(folder.map(Path::to_owned), pace, around, tell);
    let scene = Scene { host: &host, allowed, temporary, stop: interrupt.flag() };
    let (mut record, outcome) = lab::bench::run(plan, &scene, &mut session)?;
    if record.trials.is_empty() {
        session.discard()?;
        return Err(outcome.err().map_or_else(|| anyhow::anyhow!("no trial was run"), Into::into));
    }
    record.doubts.extend(lab::doubts::of(&record));
    match &outcome {
        Ok(()) | Err(Failure::Stopped) => {}
        Err(Failure::Unkept { .. }) => record.doubts.push(Doubt::CutShort.into()),
        Err(_) => record.doubts.push(Doubt::Failures { trials: 1 }.into()),
    }
    let shortfall = session.shortfall(&record);
    let file = session.finish(&record).context("the result is printed, but not kept");
    Ok(Measured { record, outcome, file, shortfall })
}

/// Refuses arms whose main results are different things, before anything is run.
fn refuse_different(arms: &[PlannedArm]) -> Result<()> {
    let Some((first, others)) = arms.split_first() else { return Ok(()) };
    let of = |it: &PlannedArm| it.workload.figure;
    match others.iter().find(|it| of(it) != of(first)) {
        Some(other) => {
            let shown =
                |it: &PlannedArm| format!("{} measures {} ({})", it.name, of(it).name, of(it).unit);
            bail!("there is nothing to compare: {}, {}", shown(first), shown(other))
        }
        None => Ok(()),
    }
}

/// Takes away what killed runs left, and makes results of their trials.
///
/// Error: that of `tell`.
pub fn clear_up(temporary: &Path, folder: Option<&Path>, tell: &mut Tell<'_>) -> Result<()> {
    let mut note = |text: String| tell(Event::Note(text));
    for swept in lab::database::sweep(temporary) {
        note(match swept {
            Ok(folder) => format!("removed {}, of a run that was killed", folder.display()),
            Err(failure) => failure.to_string(),
        })?;
    }
    // Behind the servers, which may be in one.
    for swept in host::quota_group::sweep() {
        note(match swept {
            Ok(group) => format!("removed {}, of a run that was killed", group.display()),
            Err(error) => error.to_string(),
        })?;
    }
    for swept in folder.map(lab::store::sweep).unwrap_or_default() {
        note(match swept {
            Ok(result) => format!("{} has the trials of a run that was killed", result.display()),
            Err(failure) => failure.to_string(),
        })?;
    }
    Ok(())
}

fn plan(host: &HostView, allowed: &CpuSet, arms: Vec<PlannedArm>) -> Result<Plan> {
    let (id, began) = moment(arms.first().map_or("", |it| it.workload.id));
    Ok(Plan {
        // The pace decides after every block.
        trials: 1,
        expected: 1,
        seed: fastrand::u64(..),
        id,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: Fingerprint::of(host),
        costs: costs::costs(host, allowed),
        began,
        arms,
        is_whole: false,
        warm_up: 0,
        experiment: None,
        so_far: Vec::new(),
        boot: None,
    })
}

/// What a result of this workload is called that begins at this moment, and the moment.
pub fn moment(workload: &str) -> (String, String) {
    let began = utc::timestamp(since_1970_ns());
    // 20261120T154305Z-cpu-loop: sorts by time, and is a name for a file.
    let moment: String = began.chars().filter(|it| !"-:".contains(*it)).take(15).collect();
    (format!("{moment}Z-{workload}"), began)
}

/// Runs a trial of an arm, on the machine as that arm wants it.
pub type Around<'a> =
    dyn FnMut(usize, &mut dyn FnMut() -> Result<(), Failure>) -> Result<(), Failure> + 'a;

/// Keeps and shows each trial, and decides whether there is another.
struct Session<'a, 't> {
    /// Where results are kept, where they are.
    folder: Option<PathBuf>,
    journal: Option<Journal>,
    pace: Pace,
    tell: &'t mut Tell<'t>,
    began: Instant,
    around: Option<&'a mut Around<'a>>,
}

impl<'a, 't> Session<'a, 't> {
    fn new(
        folder: Option<PathBuf>,
        pace: Pace,
        around: Option<&'a mut Around<'a>>,
        tell: &'t mut Tell<'t>,
    ) -> Session<'a, 't> {
        Session { folder, journal: None, pace, tell, began: now(), around }
    }

    /// The requested precision, where the result does not have it.
    fn shortfall(&self, record: &Record) -> Option<String> {
        self.pace.shortfall(record)
    }

    /// Keeps the result as a whole, and adds it to the history; its path.
    fn finish(self, record: &Record) -> Result<Option<PathBuf>> {
        let Some(journal) = self.journal else { return Ok(None) };
        kept(journal, record, self.tell).map(Some)
    }

    /// Removes the journal, where there was no trial.
    fn discard(self) -> Result<()> {
        Ok(self.journal.map_or(Ok(()), Journal::discard)?)
    }
}

/// Ends trials whose progress cannot be shown.
pub(crate) fn unshown(error: &anyhow::Error) -> Failure {
    Failure::Unready(format!("{error:#}"))
}

/// Keeps a result as a whole, and adds it to the history; its path.
pub fn kept(journal: Journal, record: &Record, tell: &mut Tell<'_>) -> Result<PathBuf> {
    let path = journal.finish(record)?;
    if let Err(why) = History::add(record, &path) {
        tell(Event::Note(format!("{why}; the next `fullclock history` adds the result")))?;
    }
    Ok(path)
}

impl Watcher for Session<'_, '_> {
    fn surround(
        &mut self,
        arm: usize,
        trial: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match &mut self.around {
            None => trial(),
            Some(around) => around(arm, trial),
        }
    }

    fn begun(&mut self, record: &mut Record) -> Result<(), Failure> {
        self.began = now();
        if let Some(folder) = &self.folder {
            self.journal = Some(Journal::begin(folder, record)?);
        }
        Ok(())
    }

    fn tried(&mut self, record: &Record) -> Result<(), Failure> {
        let elapsed = self.began.elapsed();
        let progress = self.pace.progress(record, elapsed);
        let done = format!("{} of each", counted(progress.trials, "trial"));
        let progress = Progress { done, share: progress.share, elapsed };
        (self.tell)(Event::Progress(progress)).map_err(|it| unshown(&it))?;
        self.journal.as_mut().map_or(Ok(()), |it| it.add(record))
    }

    fn wants_more(&mut self, record: &Record) -> bool {
        self.pace.wants_more(record, self.began.elapsed())
    }
}
