//! The lines of the ledger: entries of all CPUs, added up by loss and part.

use super::amount::{Entry, Method, signed};
use super::books::Books;
use super::causes::NOT_VISIBLE;
use crate::check::Check;
use crate::finding::{Finding, Moment};
use crate::loss::Loss;
use crate::party::Party;
use facts::{CpuSet, Fact, Missing};
use std::collections::BTreeMap;
use std::fmt;

/// One part of one loss: the sum of its entries over the CPUs.
pub struct Line {
    /// The loss that the line belongs to.
    pub loss: &'static Loss,
    /// Which part of it; empty where it is one thing.
    pub part: String,
    /// Nanoseconds of all CPUs of which it is known, or why it is known of none.
    pub ns: Fact<i64>,
    /// The least sure method among its entries.
    pub method: Method,
    /// Where it comes from.
    pub source: String,
    /// How far off it may be either way, in nanoseconds; see [`Method::adds_up`].
    pub uncertainty_ns: u64,
    /// Of time that tasks ran: interrupts and softirqs that came meanwhile, in nanoseconds of all CPUs. They have lines
    /// of their own, and with them it is what the scheduler counts. `None` where that is not known.
    pub interrupted_ns: Option<u64>,
    /// Of traced softirqs: what of it ran on top of which tasks, the largest first; the rest is of an unknown one.
    pub on_top_of: Vec<OnTopOf>,
    /// Who is responsible, where evidence shows it.
    pub party: Option<Party>,
    /// What each CPU has lost to it.
    pub cpus: Vec<(u32, i64)>,
    /// CPUs of which nobody knows; only on the first line of a loss.
    pub missing: Vec<(u32, Missing)>,
    /// Findings of the audit that explain it.
    pub findings: Vec<Explanation>,
}

/// A part of a kind of softirq.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnTopOf {
    /// What the tasks are called; `None` of idle CPUs.
    pub task: Option<String>,
    /// Nanoseconds of all CPUs.
    pub ns: u64,
}

/// A finding of the audit that explains a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The id of the check.
    pub check: &'static str,
    /// The CPUs that have it and have lost something; `None` where it is not a matter of CPUs.
    pub cpus: Option<CpuSet>,
    /// The first command that would fix it until the next boot.
    pub fix: Option<String>,
}

/// The lines of one loss; what they account for is taken out of `unexplained`.
pub(super) fn lines(
    loss: &'static Loss,
    books: &[Books<'_>],
    unexplained: &mut [(u32, i64)],
    findings: &[(&'static Check, Finding)],
) -> Vec<Line> {
    let mut parts: BTreeMap<String, Line> = BTreeMap::new();
    let mut missing = Vec::new();
    for (books, (_, left)) in books.iter().zip(unexplained) {
        let most_ns = most_ns(books.wall_ns);
        match (loss.measure)(books) {
            Err(why) => missing.push((books.cpu, why)),
            Ok(entries) => {
                for mut entry in entries {
                    entry.ns = entry.ns.clamp(-most_ns, most_ns);
                    *left = left.saturating_sub(entry.ns);
                    let line = parts.entry(entry.part.clone());
                    line.or_insert_with(|| Line::of(loss, entry.part.clone()))
                        .add(books.cpu, &entry);
                }
            }
        }
    }
    let mut lines: Vec<Line> = parts.into_values().collect();
    lines.sort_by_key(|it| std::cmp::Reverse(*it.ns.as_ref().unwrap_or(&0)));
    if lines.len() > 1 {
        // Nothing, on the CPUs that have nothing to name.
        lines.retain(|it| !it.part.is_empty() || it.ns != Ok(0));
    }
    if lines.is_empty() {
        let mut line = Line::of(loss, String::new());
        if let Some((_, why)) = missing.first() {
            line.ns = Err(why.clone());
        }
        lines.push(line);
    }
    for line in &mut lines {
        line.explain(findings);
    }
    leave_to_named_parts(&mut lines);
    if let Some(first) = lines.first_mut() {
        first.missing = missing;
    }
    lines
}

/// No entry of a CPU is larger, so that no sum of a ledger leaves the numbers there are. Counts in ticks may be some times a short
/// interval, and nothing that is more than that is known of it.
fn most_ns(wall_ns: u64) -> i64 {
    const TICKS_NS: i64 = 1_000_000_000;
    signed(wall_ns).saturating_mul(16).max(TICKS_NS)
}

/// A finding explains what has no visible cause only where it explains nothing else.
fn leave_to_named_parts(lines: &mut [Line]) {
    let is_named = |line: &&Line| line.part != NOT_VISIBLE;
    let named: Vec<&'static str> =
        lines.iter().filter(is_named).flat_map(|it| &it.findings).map(|it| it.check).collect();
    for line in lines.iter_mut().filter(|line| line.part == NOT_VISIBLE) {
        line.findings.retain(|it| !named.contains(&it.check));
    }
}

impl Line {
    fn of(loss: &'static Loss, part: String) -> Line {
        Line {
            loss,
            part,
            ns: Ok(0),
            method: Method::Counter,
            source: String::new(),
            uncertainty_ns: 0,
            interrupted_ns: None,
            on_top_of: Vec::new(),
            party: None,
            cpus: Vec::new(),
            missing: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn add(&mut self, cpu: u32, entry: &Entry) {
        self.ns = self.ns.as_ref().map(|sum| sum.saturating_add(entry.ns)).map_err(Missing::clone);
        self.uncertainty_ns = if entry.method.adds_up() || self.method.adds_up() {
            self.uncertainty_ns.saturating_add(entry.uncertainty_ns)
        } else {
            (self.uncertainty_ns as f64).hypot(entry.uncertainty_ns as f64) as u64
        };
        self.method = self.method.max(entry.method);
        if !self.source.split("; ").any(|it| it == entry.source) {
            if !self.source.is_empty() {
                self.source.push_str("; ");
            }
            self.source.push_str(entry.source);
        }
        let interrupted_ns = if self.cpus.is_empty() { Some(0) } else { self.interrupted_ns };
        let sum = interrupted_ns.zip(entry.interrupted_ns);
        self.interrupted_ns = sum.map(|(sum, ns)| sum.saturating_add(ns));
        self.party = self.party.or(entry.party);
        match self.cpus.last_mut() {
            Some((last, ns)) if *last == cpu => *ns = ns.saturating_add(entry.ns),
            _ => self.cpus.push((cpu, entry.ns)),
        }
    }

    /// Names the findings on CPUs that have lost more than may be an error.
    fn explain(&mut self, findings: &[(&'static Check, Finding)]) {
        if !self.ns.as_ref().is_ok_and(|ns| *ns > signed(self.uncertainty_ns)) {
            return;
        }
        let losers: CpuSet =
            self.cpus.iter().filter(|(_, ns)| *ns > 0).map(|(cpu, _)| *cpu).collect();
        // What was logged or counted since boot says nothing of this time.
        let explains = |(check, finding): &&(&Check, Finding)| {
            finding.held.moment == Moment::Now && self.loss.is_explained_by(check.id, &self.part)
        };
        for (check, finding) in findings.iter().filter(explains) {
            let cpus = finding.cpus.as_ref().map(|it| it.cpus.and(&losers));
            if cpus.as_ref().is_some_and(CpuSet::is_empty) {
                continue;
            }
            let fix = finding.fix.now.first().cloned();
            self.findings.push(Explanation { check: check.id, cpus, fix });
        }
    }
}

impl Method {
    /// Whether errors of several CPUs add up. Readings of two CPUs are off independently, and their errors grow with
    /// the square root of the number; a cost that is off is off for all.
    pub fn adds_up(self) -> bool {
        matches!(self, Method::Derived | Method::Bound)
    }
}

/// Without the loss's texts and functions.
impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {:?} ns", self.loss.id, self.part, self.ns)
    }
}
