//! A ledger as a waterfall: the capacity on top, what each thief takes, and what is left for work.

use super::bar;
use super::{Group, capacity_ns, groups};
use crate::Style;
use crate::page::{BOLD, DIM, Page};
use anstyle::{AnsiColor, Style as Paint};
use facts::{CpuSet, HostView};
use rules::ledger::{Explanation, Ledger, Line};
use rules::loss::{Kind, Method, Party};

/// Columns of a line's name, and of its share.
const NAME: usize = 33;
/// Parts of a line that are shown, unless all are asked for.
const MOST_PARTS: usize = 5;
/// Parts smaller than this are not shown, unless all are asked for.
const SMALLEST_PART: f64 = 0.0005;

/// One ledger. `verbose` shows every part, every source and every uncertainty.
pub fn ledger(name: &str, host: &HostView, ledger: &Ledger, verbose: bool, style: Style) -> String {
    let mut waterfall = Waterfall { page: Page::new(style), ledger, verbose, width: style.width };
    waterfall.header(name, host);
    waterfall.lines();
    waterfall.beside();
    waterfall.explanations();
    waterfall.unknown();
    waterfall.notes();
    waterfall.page.finish()
}

struct Waterfall<'a> {
    page: Page,
    ledger: &'a Ledger,
    verbose: bool,
    width: usize,
}

impl Waterfall<'_> {
    fn header(&mut self, name: &str, host: &HostView) {
        let ledger = self.ledger;
        let seconds = ledger.wall_ns as f64 / 1e9;
        let cpus = match ledger.cpus.len() {
            1 => format!("CPU {}", ledger.cpus),
            _ => format!("CPUs {}", ledger.cpus),
        };
        let heading = format!("fullclock ledger of {name}: {seconds:.2} s of {cpus}");
        self.page.line(&self.page.paint(BOLD, &heading));
        self.page.paragraph(0, &crate::audit::describe(host));
        let clock = match &ledger.reference {
            Ok(reference) => format!("{} ({})", reference.clock, reference.source),
            Err(missing) => format!("an unknown clock: {}", missing.advice()),
        };
        let n_cpus = ledger.cpus.len();
        let times = if n_cpus == 1 { "1 CPU".to_owned() } else { format!("{n_cpus} CPUs") };
        self.page.labelled(10, "capacity", &format!("{times} x {seconds:.2} s x {clock}"));
        self.page.line("");
    }

    fn lines(&mut self) {
        let whole = capacity_ns(self.ledger);
        let mut taken = 0;
        for group in groups(self.ledger) {
            if group.is_unknown() {
                self.row(group.title, None, "", "unknown");
                continue;
            }
            let ns = group.ns();
            let bar = self.bar(taken, taken.saturating_add(ns), whole, paint_of(&group));
            let method = method_of(&group).map_or("", name_of);
            self.row(group.title, Some(share(ns, whole)), &bar, method);
            self.parts(&group, whole);
            taken = taken.saturating_add(ns);
        }
        let unexplained = self.ledger.unexplained_ns;
        let bar = self.bar(taken, taken.saturating_add(unexplained), whole, AnsiColor::Magenta);
        self.row("unexplained", Some(share(unexplained, whole)), &bar, "remainder");
        let total = taken.saturating_add(unexplained);
        self.row("capacity", Some(share(total, whole)), "", "");
        self.page.line("");
    }

    fn parts(&mut self, group: &Group, whole: i64) {
        let [first, ..] = group.lines.as_slice() else { return };
        if group.lines.len() == 1 && first.part.is_empty() {
            return;
        }
        let is_shown = |line: &&&Line| {
            self.verbose || line.ns.as_ref().is_ok_and(|ns| share(*ns, whole) >= SMALLEST_PART)
        };
        let most = if self.verbose { usize::MAX } else { MOST_PARTS };
        let shown: Vec<&Line> = group.lines.iter().filter(is_shown).take(most).copied().collect();
        for line in &shown {
            let part = if line.part.is_empty() { "other" } else { &line.part };
            let party = line.party.map_or(String::new(), |it| format!("  {}", party_name(it)));
            let ns = line.ns.as_ref().ok();
            let name = format!("  {part}");
            self.row(&name, ns.map(|ns| share(*ns, whole)), "", party.trim_start());
        }
        let known = group.lines.iter().filter(|line| line.ns.as_ref().is_ok_and(|ns| *ns != 0));
        let n_left = known.count().saturating_sub(shown.len());
        if n_left > 0 && !shown.is_empty() {
            let left =
                group.ns() - shown.iter().filter_map(|line| line.ns.as_ref().ok()).sum::<i64>();
            let others =
                if n_left == 1 { "1 other".to_owned() } else { format!("{n_left} others") };
            self.row(&format!("  {others}"), Some(share(left, whole)), "", "");
        }
    }

    /// One row of the table. The name is cut where it does not fit.
    fn row(&mut self, name: &str, share: Option<f64>, bar: &str, behind: &str) {
        let name: String = name.chars().take(NAME).collect();
        let share = share.map_or("-".to_owned(), |it| format!("{:.2} %", it * 100.0));
        let bar_width = self.bar_width();
        let padding = bar_width.saturating_sub(visible(bar));
        let behind = self.page.paint(DIM, behind);
        self.page.line(&format!("{name:NAME$}{share:>9}  {bar}{:padding$}  {behind}", ""));
    }

    fn bar(&self, start: i64, end: i64, whole: i64, color: AnsiColor) -> String {
        let bar = bar(share(start, whole), share(end, whole), self.bar_width());
        let marks = bar.trim_start();
        let margin = " ".repeat(bar.len() - marks.len());
        let paint = Paint::new().fg_color(Some(color.into()));
        format!("{margin}{}", self.page.paint(paint, marks))
    }

    fn bar_width(&self) -> usize {
        const BEHIND: usize = 2 + 2 + 18;
        self.width.saturating_sub(NAME + 9 + BEHIND).clamp(10, 50)
    }

    /// What is known besides, and no part of the sum.
    fn beside(&mut self) {
        self.waiting();
        self.interrupted();
    }

    /// What kernel threads took with the interrupts that came while they ran: the figure that other tools show.
    fn interrupted(&mut self) {
        let whole = capacity_ns(self.ledger);
        for line in self.ledger.lines.iter().filter(|it| it.loss.id == "kernel-threads") {
            let (Ok(ns), Some(interrupted)) = (&line.ns, line.interrupted_ns) else { continue };
            let interrupted = i64::try_from(interrupted).unwrap_or(i64::MAX);
            if interrupted == 0 || (share(interrupted, whole) < SMALLEST_PART && !self.verbose) {
                continue;
            }
            let with = share(ns.saturating_add(interrupted), whole) * 100.0;
            let text =
                format!("{} {with:.2} % with the interrupts that came while it ran", line.part);
            self.page.labelled(10, "also", &text);
        }
    }

    /// Demand that is no capacity.
    fn waiting(&mut self) {
        let Some(waiting) = &self.ledger.waiting else { return };
        let text = match waiting {
            Ok(waiting) => {
                let waited = waiting.ns as f64 / 1e9;
                let stopped = waiting.stopped_ns.filter(|ns| *ns > 0).map_or(String::new(), |ns| {
                    format!(", {:.3} s stopped by a signal", ns as f64 / 1e9)
                });
                format!(
                    "{waited:.3} s runnable and waiting for a CPU{stopped}, of all its threads together"
                )
            }
            Err(missing) => format!("time runnable and waiting is unknown: {}", missing.advice()),
        };
        self.page.labelled(10, "also", &text);
    }

    /// Findings that explain a line, and where to read on.
    fn explanations(&mut self) {
        let whole = capacity_ns(self.ledger);
        for group in groups(self.ledger) {
            let mut seen: Vec<&Explanation> = Vec::new();
            for explanation in group.lines.iter().flat_map(|line| &line.findings) {
                if !seen.contains(&explanation) {
                    seen.push(explanation);
                }
            }
            for explanation in seen {
                let Explanation { check, cpus, fix } = explanation;
                let on = cpus.as_ref().map_or(String::new(), |it| format!(" on CPUs {it}"));
                let share = share(lost_with(&group, explanation), whole) * 100.0;
                let title = group.title;
                let line = format!(
                    "{title} {share:.1} % <- {check}{on}; `fullclock explain {check}` says more"
                );
                self.page.paragraph(0, &line);
                if let Some(fix) = fix {
                    self.page.labelled(10, "  now", fix);
                }
            }
        }
    }

    fn unknown(&mut self) {
        let unknown: Vec<&Line> = self.ledger.lines.iter().filter(|it| it.ns.is_err()).collect();
        self.unknown_cpus();
        if unknown.is_empty() {
            return;
        }
        self.page.line(&self.page.paint(BOLD, "Unknown"));
        for line in unknown {
            if let Err(missing) = &line.ns {
                let part = if line.part.is_empty() { "" } else { ", " };
                let title = format!("{}{part}{}", line.loss.title, line.part);
                self.page.labelled(4, "", &format!("{title}: {}", missing.advice()));
            }
        }
        self.page.line("");
    }

    /// Lines that are known of some CPUs only.
    fn unknown_cpus(&mut self) {
        for line in self.ledger.lines.iter().filter(|it| it.ns.is_ok()) {
            if let Some((_, why)) = line.missing.first() {
                let cpus: CpuSet = line.missing.iter().map(|(cpu, _)| *cpu).collect();
                let title = line.loss.title;
                self.page
                    .paragraph(0, &format!("{title}: unknown on CPUs {cpus}: {}", why.advice()));
            }
        }
    }

    fn notes(&mut self) {
        if self.verbose {
            self.sources();
        }
        for note in &self.ledger.notes {
            self.page.paragraph(0, note);
        }
    }

    fn sources(&mut self) {
        self.page.line(&self.page.paint(BOLD, "Where the lines come from"));
        for group in groups(self.ledger) {
            // A line that found nothing names no source.
            let has_source = |line: &&&Line| line.ns.is_ok() && !line.source.is_empty();
            let Some(line) = group.lines.iter().find(has_source) else { continue };
            let uncertainty: u64 = group.lines.iter().map(|line| line.uncertainty_ns).sum();
            let uncertainty =
                share(i64::try_from(uncertainty).unwrap_or(i64::MAX), capacity_ns(self.ledger));
            let (title, source) = (group.title, &line.source);
            let text =
                format!("{}: {source}; +-{:.2} %", name_of(line.method), uncertainty * 100.0);
            self.page.labelled(NAME, title, &text);
        }
        self.page.line("");
    }
}

/// What the CPUs that have a finding lost to the lines that it explains.
fn lost_with(group: &Group, explanation: &Explanation) -> i64 {
    let is_on = |cpu: u32| explanation.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu));
    let lines = group.lines.iter().filter(|line| line.findings.contains(explanation));
    let lost = lines.flat_map(|line| &line.cpus).filter(|(cpu, _)| is_on(*cpu));
    lost.fold(0, |sum, (_, ns)| sum.saturating_add(*ns))
}

fn share(ns: i64, whole: i64) -> f64 {
    ns as f64 / whole.max(1) as f64
}

/// Columns that a bar fills: its paint has none.
fn visible(bar: &str) -> usize {
    bar.chars().filter(|it| matches!(it, ' ' | '█' | '▏')).count()
}

fn paint_of(group: &Group) -> AnsiColor {
    match group.lines.first().map(|line| line.loss.kind) {
        Some(Kind::Useful) => AnsiColor::Green,
        Some(Kind::Idle) => AnsiColor::Blue,
        Some(Kind::Lost) | None => AnsiColor::Red,
    }
}

/// The least sure method of a group.
fn method_of(group: &Group) -> Option<Method> {
    group.lines.iter().filter(|line| line.ns.is_ok()).map(|line| line.method).max()
}

pub(super) fn name_of(method: Method) -> &'static str {
    match method {
        Method::Counter => "counter",
        Method::Tracepoint => "tracepoint",
        Method::Probe => "probe",
        Method::Derived => "derived",
        Method::Bound => "bound",
    }
}

pub(super) fn party_name(party: Party) -> &'static str {
    match party {
        Party::OperatingSystem => "operating system",
        Party::Firmware => "firmware",
        Party::ManagementController => "management controller",
        Party::Hypervisor => "hypervisor",
        Party::Physics => "power and heat",
    }
}
