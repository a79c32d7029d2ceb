//! One gap, walked from event to event.
//!
//! At the first nanosecond of a gap the spinner ran, for it had just read the counter; so what ran at any later moment
//! follows from the events in the gap alone.

use super::NoiseSource;
use facts::probe::Gap;
use facts::trace::{Cause, Event, Task, What};

/// More nested causes than any kernel has.
const DEEPEST: usize = 32;

/// Whose a piece of a gap is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// What ran.
    Known(NoiseSource),
    /// The way from the spinner to what ran, or back: entry and exit of the kernel, which no event marks.
    Edge(NoiseSource),
}

/// A gap in which there were events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Walk {
    /// Its pieces in order; they sum to its length.
    pub(super) pieces: Vec<(Owner, u64)>,
    /// What began in it, in order.
    pub(super) begun: Vec<NoiseSource>,
    /// Whether every moment of it is known, and no task but the spinner ran.
    pub(super) is_clear: bool,
}

impl Walk {
    /// Walks `gap` with its events, in order; `spinner` is the thread that saw the gap.
    pub(super) fn through(gap: &Gap, events: &[&Event], spinner: i32) -> Walk {
        let mut walker = Walker {
            spinner,
            running: Some(Task { tid: spinner, ..Task::default() }),
            causes: Vec::new(),
            outer: None,
            walk: Walk { is_clear: true, ..Walk::default() },
        };
        let mut at_ns = gap.at_ns;
        for event in events {
            let next_ns = event.at_ns.clamp(at_ns, gap.end_ns().max(at_ns));
            walker.check(event);
            walker.charge(next_ns.saturating_sub(at_ns), thief_of(event, spinner));
            walker.take(event);
            at_ns = next_ns;
        }
        let last = events.last().and_then(|event| thief_of(event, spinner));
        walker.charge(gap.end_ns().saturating_sub(at_ns), last);
        walker.walk
    }
}

struct Walker {
    spinner: i32,
    /// `None` behind lost events.
    running: Option<Task>,
    causes: Vec<Cause>,
    /// The interrupt or task that took the spinner's CPU last: it is whose edges are.
    outer: Option<NoiseSource>,
    walk: Walk,
}

impl Walker {
    /// An event that finds another task than the walk does follows a switch that was not seen.
    fn check(&mut self, event: &Event) {
        let told = match event.what {
            What::Switch { prev, .. } => Some(prev.tid),
            _ => event.running,
        };
        if let (Some(running), Some(tid)) = (self.running, told)
            && running.tid != tid
        {
            self.running = None;
            self.causes.clear();
        }
    }

    fn charge(&mut self, ns: u64, beside: Option<NoiseSource>) {
        let owner = match (self.running, self.causes.last()) {
            (None, _) => Owner::Known(NoiseSource::Unexplained),
            (Some(_), Some(&cause)) => Owner::Known(NoiseSource::Kernel(cause)),
            (Some(task), None) if task.tid == self.spinner => Owner::Edge(self.edge_of(beside)),
            (Some(task), None) => Owner::Known(source_of_task(task)),
        };
        self.walk.is_clear &= owner != Owner::Known(NoiseSource::Unexplained);
        if ns > 0 {
            self.walk.pieces.push((owner, ns));
        }
    }

    /// Softirqs run on the way out of an interrupt: the way is the interrupt's.
    fn edge_of(&self, beside: Option<NoiseSource>) -> NoiseSource {
        match (beside, self.outer) {
            (Some(NoiseSource::Kernel(cause)), Some(outer)) if cause.is_softirq() => outer,
            (Some(beside), _) => beside,
            (None, outer) => outer.unwrap_or(NoiseSource::Unexplained),
        }
    }

    fn take(&mut self, event: &Event) {
        match event.what {
            What::Enter(cause) => {
                self.run(event.running);
                let source = NoiseSource::Kernel(cause);
                if self.causes.is_empty() && !cause.is_softirq() {
                    self.outer = Some(source);
                }
                if self.causes.len() < DEEPEST {
                    self.causes.push(cause);
                }
                self.walk.begun.push(source);
            }
            What::Exit(cause) => {
                self.run(event.running);
                if let Some(at) = self.causes.iter().rposition(|it| *it == cause) {
                    self.causes.truncate(at);
                }
            }
            What::Switch { next, .. } => {
                self.causes.clear();
                self.running = Some(next);
                self.walk.is_clear = false;
                if next.tid != self.spinner {
                    let source = source_of_task(next);
                    self.outer = Some(source);
                    self.walk.begun.push(source);
                }
            }
            What::Lost(_) => {
                self.running = None;
                self.causes.clear();
                self.walk.is_clear = false;
            }
            What::TickStop(_)
            | What::Fork { .. }
            | What::Wake(_)
            | What::Called
            | What::Returned { .. } => self.run(event.running),
        }
    }

    /// Takes an event's word for who runs, where nothing else is known.
    fn run(&mut self, told: Option<i32>) {
        if let (None, Some(tid)) = (self.running, told) {
            self.running = Some(Task { tid, ..Task::default() });
        }
    }
}

/// Whom an event speaks of.
fn thief_of(event: &Event, spinner: i32) -> Option<NoiseSource> {
    match event.what {
        What::Enter(cause) | What::Exit(cause) => Some(NoiseSource::Kernel(cause)),
        What::Switch { prev, next, .. } => {
            Some(source_of_task(if next.tid == spinner { prev } else { next }))
        }
        What::TickStop(_)
        | What::Fork { .. }
        | What::Wake(_)
        | What::Called
        | What::Returned { .. }
        | What::Lost(_) => None,
    }
}

fn source_of_task(task: Task) -> NoiseSource {
    if task.tid == 0 { NoiseSource::Nobody } else { NoiseSource::Task(task.tid, task.comm) }
}
