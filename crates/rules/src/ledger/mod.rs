//! The ledger: every CPU-second of an interval, entered once.
//!
//! Each line has a source of its own, and none is computed as what is left: what is left is printed as
//! unexplained, and so checks everything else. See [`crate::losses`] for the lines.

mod absence;
pub(crate) mod amount;
#[cfg(test)]
mod blindness;
pub(crate) mod books;
pub(crate) mod causes;
pub(crate) mod clock;
#[cfg(test)]
mod conservation;
mod evidence;
pub(crate) mod idle_time;
pub(crate) mod interruptions;
mod line;
mod notes;
pub(crate) mod owner;
mod quota;
mod reference;
mod run_time;
mod settlement;
mod spun;
mod stolen;
pub(crate) mod tasks;
#[cfg(test)]
mod tests;
mod users;
mod waiting;
pub(crate) mod work;

pub use books::Books;
pub use clock::Reference;
pub use evidence::{EndedTasks, Evidence, ServerTasks, Spun};
pub use line::{Explanation, Line};
pub use users::name as name_of_kind;
pub use waiting::Waiting;

use crate::losses::LOSSES;
use absence::Absence;
use books::Shared;
use facts::{CpuSet, Fact, Missing, PerCpu};

/// All lines of an interval.
#[derive(Debug)]
pub struct Ledger {
    /// The CPUs accounted for.
    pub cpus: CpuSet,
    /// The time accounted for on each, in nanoseconds; 0 where the clock makes no sense.
    pub wall_ns: u64,
    /// The clock that counts as the whole on the fastest of them, and who says so.
    pub reference: Fact<Reference>,
    /// The same of each CPU.
    pub references: PerCpu<Reference>,
    /// Every line, in display order: one for each part of each loss, the largest part first, and one without a part
    /// for a loss that nothing went to or of which nothing is known.
    pub lines: Vec<Line>,
    /// What no line accounts for, in nanoseconds of all CPUs; negative where sources contradict each other.
    pub unexplained_ns: i64,
    /// The same of each CPU.
    pub unexplained: Vec<(u32, i64)>,
    /// What the chosen processes waited for a CPU: demand, not capacity.
    pub waiting: Option<Fact<Waiting>>,
    /// What has to be said with it.
    pub notes: Vec<String>,
}

impl Ledger {
    /// The time of all CPUs, in nanoseconds: what the lines and the unexplained rest add up to.
    pub fn capacity_ns(&self) -> i64 {
        amount::signed(self.wall_ns).saturating_mul(self.cpus.len() as i64)
    }

    /// Everything that is known of one loss, all parts together, or why nothing is.
    pub fn total(&self, id: &str) -> Fact<i64> {
        let mut lines = self.lines.iter().filter(|it| it.loss.id == id);
        let first = lines.next().ok_or_else(|| Missing::absent(format!("a line {id}")))?;
        let first = first.ns.clone()?;
        Ok(lines
            .filter_map(|it| it.ns.as_ref().ok())
            .fold(first, |sum, ns| sum.saturating_add(*ns)))
    }
}

/// Makes the ledger of an interval.
pub fn close(evidence: &Evidence<'_>) -> Ledger {
    let elapsed = evidence.interval.elapsed_ns();
    let wall_ns = *elapsed.as_ref().unwrap_or(&0);
    let absence = Absence::of(evidence);
    let mut cpus = absence.present(evidence);
    if elapsed.is_err() {
        cpus = CpuSet::default();
    }
    let shared = Shared::of(evidence);
    let mut books: Vec<Books<'_>> =
        cpus.iter().map(|cpu| books_of(evidence, &shared, cpu, wall_ns)).collect();
    quota::enter(evidence, &mut books);
    reference::enter(evidence, &mut books);

    let references: PerCpu<Reference> = books
        .iter()
        .map(|it| (it.cpu, it.reference.clone().ok_or_else(|| no_reference(it))))
        .collect();
    let mut unexplained: Vec<(u32, i64)> =
        cpus.iter().map(|cpu| (cpu, amount::signed(wall_ns))).collect();
    let mut lines = Vec::new();
    for loss in LOSSES {
        lines.extend(line::lines(loss, &books, &mut unexplained, evidence.findings));
    }
    if let (true, Some(why)) = (books.is_empty(), absence.reason()) {
        lines.iter_mut().for_each(|line| line.ns = Err(why.clone()));
    }
    let notes = notes::notes(evidence, &absence, &books, &lines, elapsed.err());
    let unexplained_ns = unexplained.iter().fold(0i64, |sum, (_, ns)| sum.saturating_add(*ns));
    Ledger {
        wall_ns,
        reference: highest(&references),
        references,
        lines,
        unexplained_ns,
        unexplained,
        waiting: waiting::waiting(evidence, &shared),
        notes,
        cpus,
    }
}

/// The books of a CPU, from what a spinner saw on it where one ran there.
fn books_of<'a>(
    evidence: &'a Evidence<'a>,
    shared: &Shared<'_>,
    cpu: u32,
    wall_ns: u64,
) -> Books<'a> {
    match evidence.spun.get(cpu) {
        Some(spun) => spun::books(evidence, shared, cpu, wall_ns, spun),
        None => Books::open(evidence, shared, cpu, wall_ns),
    }
}

fn highest(references: &PerCpu<Reference>) -> Fact<Reference> {
    let highest = references.known().map(|(_, it)| it).max_by_key(|it| it.clock);
    highest.cloned().ok_or_else(|| {
        references.missing().cloned().unwrap_or_else(|| Missing::not_collected("a reference clock"))
    })
}

fn no_reference(books: &Books<'_>) -> Missing {
    match &books.clock {
        Err(missing) => missing.clone(),
        Ok(_) => Missing::not_collected(format!("a reference clock of CPU {}", books.cpu)),
    }
}
