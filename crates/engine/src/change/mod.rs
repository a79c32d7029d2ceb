//! Changes of the machine: planned from what is requested, carried out for good, for one trial or for the next boot, and reverted.
//!
//! A plan is carried out step by step, all of it or nothing.

pub mod apply;
pub mod drafted;
pub mod drift;
pub mod opened;
pub mod persist;
pub mod requested;
pub mod revert;
pub mod trial;

use crate::interrupt::Interrupt;
use facts::change::{Group, Target, Undone, WriteOutcome};
use host::change::{ChangeError, Changer, Guarded, Intent, JournalError, Machine, Transaction};
use host::{CachedSource, Live};
use rules::plan::{Plan, Request, Step};
use rules::setting::Scene;
use std::sync::atomic::Ordering;

/// What carrying out a plan takes.
pub struct Executor<'a> {
    /// The journal and the machine.
    pub changer: &'a mut Changer,
    /// Where a step is planned anew.
    pub source: &'a Live,
    /// Ends it between two steps.
    pub interrupt: &'a Interrupt,
    /// Whether what can do harm is planned, too.
    pub i_know: bool,
    /// The words of the command, for the journal.
    pub command: Vec<String>,
}

/// A change that is being made. Dropped before it is kept, it is undone.
pub struct Change<'a> {
    transaction: Transaction<'a>,
    source: &'a Live,
    interrupt: &'a Interrupt,
    i_know: bool,
    /// How many writes were made.
    pub n_writes: usize,
    /// What the kernel refused, which it may, and its words.
    pub not_taken: Vec<(Target, String)>,
}

/// Why a change is not made.
pub enum Stop {
    /// A write failed, and everything is undone, as far as `undone` says.
    Failed {
        /// The error that stopped the change.
        error: String,
        /// What undoing did.
        undone: Vec<Undone>,
    },
    /// Somebody or something wants it to end here.
    Wanted(String),
    /// This program cannot go on.
    Broken(anyhow::Error),
}

impl Executor<'_> {
    /// Begins a change; undoing it brings the faults back that it takes away where `brings_faults_back`.
    pub fn begin(
        &mut self,
        guarded: Guarded,
        brings_faults_back: bool,
    ) -> Result<Change<'_>, ChangeError> {
        let intent = Intent { command: self.command.clone(), guarded, brings_faults_back };
        Ok(Change {
            transaction: self.changer.begin(intent)?,
            source: self.source,
            interrupt: self.interrupt,
            i_know: self.i_know,
            n_writes: 0,
            not_taken: Vec::new(),
        })
    }
}

impl Change<'_> {
    /// Its id in the journal.
    pub fn id(&self) -> &str {
        self.transaction.id()
    }

    /// The machine that is changed.
    pub fn machine(&self) -> &Machine {
        self.transaction.machine()
    }

    /// What users should know of what was applied.
    pub fn notes(&self) -> &[String] {
        self.transaction.notes()
    }

    /// Makes the writes of every step, each planned anew where an earlier one may have moved its place.
    pub fn carry_out(&mut self, plan: &Plan) -> Result<(), Stop> {
        let mut changed: Vec<&str> = Vec::new();
        for step in &plan.steps {
            if self.interrupt.flag().load(Ordering::Relaxed) {
                return Err(Stop::Wanted("interrupted".to_owned()));
            }
            let is_moved = step.request.setting.after.iter().any(|it| changed.contains(it));
            let group = if is_moved { self.planned_anew(&step.request)? } else { step.group() };
            if !group.writes.is_empty() {
                self.make(&group)?;
                changed.push(step.request.setting.id);
            }
        }
        Ok(())
    }

    /// The writes of a setting whose place an earlier step may have moved.
    fn planned_anew(&self, request: &Request) -> Result<Group, Stop> {
        let source = CachedSource::new(self.source);
        let host = host::view_of(&source, request.setting.looks_at);
        let controls = host::controls(&source, request.setting.reads);
        let scene = Scene { host: &host, controls: &controls };
        match request.plan(&scene, self.i_know) {
            Ok(change) => Ok(Step { request: request.clone(), change }.group()),
            Err(refusal) => Err(Stop::Wanted(format!("{}: {refusal}", request.setting.id))),
        }
    }

    /// Makes the writes of a group.
    pub fn make(&mut self, group: &Group) -> Result<(), Stop> {
        let outcome = self.transaction.apply(group).map_err(|failure| Stop::Failed {
            error: with_unrecorded(failure.to_string(), failure.journal.as_ref()),
            undone: failure.undone,
        })?;
        for (write, fate) in group.writes.iter().zip(outcome.fates) {
            match fate {
                WriteOutcome::Done { .. } => self.n_writes += 1,
                WriteOutcome::Refused { why } => self.not_taken.push((write.target.clone(), why)),
                WriteOutcome::DidNotStick { found } => {
                    let found = found.unwrap_or_default();
                    let why = format!("did not stick, it holds {found}");
                    self.not_taken.push((write.target.clone(), why));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Keeps it. Errors: as of [`Transaction::keep`].
    pub fn keep(self) -> Result<(), ChangeError> {
        self.transaction.keep()
    }

    /// Undoes it. Errors: as of [`Transaction::undo`].
    pub fn undo(self) -> Result<Vec<Undone>, ChangeError> {
        self.transaction.undo()
    }

    /// Undoes it: what that did, and why the journal does not record it.
    ///
    /// Error: it is over already.
    pub fn take_back(self) -> Result<(Vec<Undone>, Option<JournalError>), ChangeError> {
        match self.undo() {
            Ok(undone) => Ok((undone, None)),
            Err(ChangeError::NotRecorded { undone, error, .. }) => Ok((undone, Some(error))),
            Err(error) => Err(error),
        }
    }
}

/// Why a change was not made, and why the journal does not say that it is undone.
pub fn with_unrecorded(why: String, error: Option<&JournalError>) -> String {
    match error {
        None => why,
        Some(error) => format!("{why}; the journal cannot record what was undone: {error}"),
    }
}
