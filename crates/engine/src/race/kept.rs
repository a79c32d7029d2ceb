//! What is kept of a race, over all of its legs: the trials of the result, and the recordings.

use super::link::Standing;
use super::nodes::{Piece, Recordings};
use super::noticed::{Noticed, note_throttling};
use super::plan::Plan;
use anyhow::Result;
use facts::HostView;
use host::Recording;
use lab::doubt::Doubt;
use lab::known::Known;
use lab::race::{Blocks, Summing};
use lab::record::Record;
use lab::store::Journal;
use lab::trial::{Mark, Trial};

/// A result that grows.
pub(super) struct Kept {
    record: Record,
    journal: Option<Journal>,
    recordings: Recordings,
    /// Of each node, intervals that become one trial.
    summing: Vec<Summing>,
    n_trials: u32,
    noticed: Noticed,
    /// Of each node, what changed before the leg that begins: marks of its first interval.
    before: Vec<Vec<Mark>>,
    blocks: Blocks,
    /// When the first leg began.
    first_ns: Option<u64>,
}

/// Where an interval belongs.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The number of its node.
    pub(super) node: usize,
    /// Its leg, counted from 1; `None` of a race that is begun once.
    pub(super) leg: Option<u32>,
    /// How long after the first leg its leg began.
    pub(super) after_ns: u64,
}

impl Kept {
    /// Begins the journal and the recordings, where they are kept; `host` is this machine by the answers in `recording`.
    ///
    /// Errors: the folder cannot be written; there is no thread to record.
    pub(super) fn begin(
        plan: &Plan,
        mut record: Record,
        recording: &Recording<'_>,
        host: &HostView,
    ) -> Result<Kept> {
        let folder = plan.folder.as_deref();
        let journal = folder.map(|it| Journal::begin(it, &mut record)).transpose()?;
        let recordings = journal.as_ref().map(|it| Recordings::begin(it, recording, host));
        let recordings = match recordings.transpose() {
            Ok(recordings) => recordings.unwrap_or_default(),
            Err(why) => {
                journal.map(Journal::discard).transpose().ok();
                return Err(why);
            }
        };
        let summing = plan.nodes.iter().map(|_| Summing::of(plan.duration, plan.interval));
        Ok(Kept {
            summing: summing.collect(),
            before: vec![Vec::new(); plan.nodes.len()],
            noticed: Noticed::by(&record, plan.interval),
            blocks: Blocks::of(plan.duration, plan.interval),
            record,
            journal,
            recordings,
            n_trials: 0,
            first_ns: None,
        })
    }

    /// The nodes are ready for another leg.
    pub(super) fn begin_leg(&mut self, ready: &[Standing]) {
        for (node, standing) in ready.iter().enumerate().take(self.before.len()) {
            self.before[node] = self.noticed.between_legs(node, &standing.engine.machine);
        }
    }

    /// How long after the first leg one begins that begins at this time.
    pub(super) fn since_first(&mut self, begin_ns: u64) -> u64 {
        begin_ns.saturating_sub(*self.first_ns.get_or_insert(begin_ns))
    }

    /// An interval that a node has told, with its place in the race and what is new of its marks.
    pub(super) fn placed(&mut self, place: Place, mut trial: Trial) -> Trial {
        let at_ns = trial.began_ns.value().copied().unwrap_or_default();
        trial.arm = place.node;
        trial.block = place.leg.unwrap_or_else(|| self.blocks.at(at_ns));
        let at_ns = at_ns.saturating_add(place.after_ns);
        trial.began_ns = Known::Value(at_ns);
        let before = self.before.get_mut(place.node).map(std::mem::take).unwrap_or_default();
        trial.marks.splice(0..0, before);
        trial.marks.retain(|it| self.noticed.is_new(place.node, it, at_ns));
        trial
    }

    /// Keeps an interval; `notes` mark it.
    pub(super) fn add(&mut self, trial: Trial) -> Result<()> {
        let complete = self.summing.get_mut(trial.arm).map(|it| it.push(trial));
        complete.into_iter().flatten().try_for_each(|it| self.write(it))
    }

    fn write(&mut self, mut trial: Trial) -> Result<()> {
        self.n_trials = self.n_trials.saturating_add(1);
        trial.number = self.n_trials;
        match &mut self.journal {
            Some(journal) => journal.append(&trial)?,
            None => self.record.trials.push(trial),
        }
        Ok(())
    }

    /// Keeps the next piece of the recording of a node elsewhere.
    pub(super) fn record_piece(&mut self, node: usize, name: &str, piece: &Piece) -> Result<()> {
        let Some(journal) = &self.journal else { return Ok(()) };
        self.recordings.add(journal, node, name, piece)
    }

    /// A leg has ended, as planned or not.
    pub(super) fn end_leg(&mut self, is_whole: bool) -> Result<()> {
        let left: Vec<Trial> = self.summing.iter_mut().filter_map(Summing::finish).collect();
        left.into_iter().try_for_each(|it| self.write(it))?;
        if let Some(legs) = self.record.legs.as_mut().filter(|_| is_whole) {
            legs.ended += 1;
        }
        Ok(())
    }

    /// The result, with doubts about it, and where it is kept; then what could not be read back, and why a recording lacks something.
    pub(super) fn finish(
        mut self,
        is_complete: bool,
    ) -> (Record, Option<Journal>, [Result<()>; 2]) {
        let read = self.read_back();
        let record = &mut self.record;
        record.is_complete = is_complete;
        note_throttling(record);
        let recorded = self.recordings.finish();
        if !record.trials.is_empty() {
            record.doubts.extend(lab::doubts::of(record));
            if !record.is_complete {
                record.doubts.push(Doubt::CutShort.into());
            }
        }
        (self.record, self.journal, [read, recorded])
    }

    /// Gives the record the trials that only the journal holds while a race runs.
    fn read_back(&mut self) -> Result<()> {
        if let Some(journal) = &self.journal {
            self.record.trials = journal.trials()?;
        }
        Ok(())
    }
}

/// Marks an interval with what the user has typed.
pub(super) fn noted(mut trial: Trial, notes: impl Iterator<Item = String>) -> Trial {
    trial.marks.extend(notes.map(|text| Mark::Note { text }));
    trial
}
