//! A ledger as a document, a waterfall: what each loss took of the capacity, and what was left for work.

use super::{Group, groups};
use crate::audit::describe;
use crate::document::{Align, Bar, Block, Cell, Document, Role, Table, Text, Tone};
use facts::{CpuSet, HostView};
use rules::ledger::{Explanation, Ledger, Line, LoadTimes};
use rules::loss::{Kind, Method, Party};

/// Parts of a line that are shown, unless all are asked for.
const MOST_PARTS: usize = 5;
/// Parts smaller than this are not shown, unless all are asked for.
const SMALLEST_PART: f64 = 0.0005;
/// An uncertainty larger than this share of the capacity, or of its line, is printed beside the value.
const LARGE: f64 = 0.01;
const LARGE_PART: f64 = 0.1;
/// An interval in which a step of the coarsest counters, 10 ms, is more than 2 %.
const SHORT_NS: u64 = 500_000_000;

/// One ledger. `verbose` shows every part, every source and every uncertainty.
pub fn document(name: &str, host: &HostView, ledger: &Ledger, verbose: bool) -> Document {
    let seconds = ledger.wall_ns as f64 / 1e9;
    let cpus = ledger.cpus.named();
    let mut document =
        Document::new(format!("fullclock ledger of {name}: {seconds:.2} s of {cpus}"));
    document.paragraph(Text::strong(verdict(ledger)));
    document.paragraph(describe(host));
    document.labelled("capacity", capacity(ledger));
    document.push(Block::Table(Waterfall { ledger, verbose }.table()));
    waiting(&mut document, ledger);
    on_top_of(&mut document, ledger);
    loads(&mut document, ledger);
    interrupted(&mut document, ledger, verbose);
    explanations(&mut document, ledger);
    unknown(&mut document, ledger);
    if verbose {
        sources(&mut document, ledger);
    }
    for note in &ledger.notes {
        document.note(Text::sentence(note));
    }
    if ledger.wall_ns < SHORT_NS {
        let ms = ledger.wall_ns as f64 / 1e6;
        document.note(format!(
            "{ms:.0} ms are short: some counters move in steps of 10 ms; measure for a second or more"
        ));
    }
    document
}

/// What was lost of the capacity, and the largest loss.
fn verdict(ledger: &Ledger) -> String {
    let whole = ledger.capacity_ns();
    let groups = groups(ledger);
    let lost = || groups.iter().filter(|it| tone_of(it) == Tone::Lost && !it.is_unknown());
    let ns = lost().fold(0_i64, |sum, it| sum.saturating_add(it.ns()));
    let percent = |ns| percent(share(ns, whole), precision(ledger));
    match lost().max_by_key(|it| it.ns()) {
        Some(largest) if share(ns, whole) >= SMALLEST_PART => format!(
            "Lost {} of the capacity, most of it to {} ({}).",
            percent(ns),
            largest.title,
            percent(largest.ns())
        ),
        _ => "Nothing was lost of the capacity, as far as is known.".to_owned(),
    }
}

/// The counters of an interval are read one after the other, which takes up to a millisecond: shares of it are not known better.
fn precision(ledger: &Ledger) -> f64 {
    1e6 / (ledger.wall_ns as f64).max(1.0)
}

fn capacity(ledger: &Ledger) -> String {
    let seconds = ledger.wall_ns as f64 / 1e9;
    let clock = match &ledger.reference {
        Ok(reference) => format!("{} ({})", reference.clock, reference.source),
        Err(missing) => format!("an unknown clock: {}", missing.advice()),
    };
    let n_cpus = ledger.cpus.len();
    let times = if n_cpus == 1 { "1 CPU".to_owned() } else { format!("{n_cpus} CPUs") };
    format!("{times} x {seconds:.2} s x {clock}")
}

struct Waterfall<'a> {
    ledger: &'a Ledger,
    verbose: bool,
}

/// One row: its share of the capacity and how uncertain that is, its bar, and how it was found.
struct Row {
    name: String,
    share: Option<f64>,
    uncertainty: Option<f64>,
    bar: Option<Bar>,
    about: &'static str,
}

impl Waterfall<'_> {
    fn table(&self) -> Table {
        let columns = [
            ("", Align::Left),
            ("share", Align::Right),
            ("", Align::Right),
            ("", Align::Left),
            ("found by", Align::Left),
        ];
        let mut table = Table::new(&columns, []);
        let precision = precision(self.ledger);
        table.rows = self.rows().into_iter().map(|it| cells(it, precision)).collect();
        table
    }

    fn rows(&self) -> Vec<Row> {
        let whole = self.ledger.capacity_ns();
        let mut rows = Vec::new();
        let mut taken = 0;
        let mut bar = |ns: i64, tone| {
            let start = share(taken, whole);
            taken = taken.saturating_add(ns);
            Some(Bar { start, end: share(taken, whole), tone })
        };
        for group in groups(self.ledger) {
            let name = group.title.to_owned();
            if group.is_unknown() {
                rows.push(Row {
                    name,
                    share: None,
                    uncertainty: None,
                    bar: None,
                    about: "unknown",
                });
                continue;
            }
            let ns = group.ns();
            rows.push(Row {
                name,
                share: Some(share(ns, whole)),
                uncertainty: Some(uncertainty(&group.lines, whole)),
                bar: bar(ns, tone_of(&group)),
                about: method_of(&group).map_or("", Method::name),
            });
            self.parts(&mut rows, &group, whole);
        }
        let ns = self.ledger.unexplained_ns;
        let unexplained = bar(ns, Tone::Unexplained);
        rows.push(Row {
            name: "unexplained".to_owned(),
            share: Some(share(ns, whole)),
            // Errors of lines that share a source cancel here, and their sum says too much.
            uncertainty: None,
            bar: unexplained,
            about: "remainder",
        });
        let total = unexplained.map_or(0.0, |it| it.end);
        let name = "capacity".to_owned();
        rows.push(Row { name, share: Some(total), uncertainty: None, bar: None, about: "" });
        rows
    }

    fn parts(&self, rows: &mut Vec<Row>, group: &Group<'_>, whole: i64) {
        let [first, ..] = group.lines.as_slice() else { return };
        if group.lines.len() == 1 && first.part.is_empty() {
            return;
        }
        let is_shown = |line: &&&Line| {
            self.verbose || line.ns.as_ref().is_ok_and(|ns| share(*ns, whole) >= SMALLEST_PART)
        };
        let most = if self.verbose { usize::MAX } else { MOST_PARTS };
        let shown: Vec<&Line> = group.lines.iter().filter(is_shown).take(most).copied().collect();
        let part = |name: String, share, uncertainty, about: &'static str| Row {
            name: format!("  {name}"),
            share,
            uncertainty,
            bar: None,
            about,
        };
        for line in &shown {
            let name = if line.part.is_empty() { "other" } else { &line.part };
            let share = line.ns.as_ref().ok().map(|ns| share(*ns, whole));
            let off = uncertainty(&[line], whole);
            let off = share.filter(|share| off > share.abs() * LARGE_PART).map(|_| off);
            rows.push(part(name.to_owned(), share, off, line.party.map_or("", Party::name)));
        }
        let known = group.lines.iter().filter(|line| line.ns.as_ref().is_ok_and(|ns| *ns != 0));
        let n_left = known.count().saturating_sub(shown.len());
        if n_left > 0 && !shown.is_empty() {
            let left =
                group.ns() - shown.iter().filter_map(|line| line.ns.as_ref().ok()).sum::<i64>();
            let others =
                if n_left == 1 { "1 other".to_owned() } else { format!("{n_left} others") };
            rows.push(part(others, Some(share(left, whole)), None, ""));
        }
    }
}

/// `precision` is how well any share of this interval is known.
fn cells(row: Row, precision: f64) -> Vec<Cell> {
    let percent = |it: f64| percent(it, row.uncertainty.unwrap_or(0.0).max(precision));
    let is_large =
        |it: &f64| *it > LARGE || row.share.is_some_and(|share| *it > share.abs() * LARGE_PART);
    // What rounds to nothing says nothing.
    let uncertainty = row.uncertainty.filter(|it| is_large(it) && *it >= 0.000_05);
    let bar = row.bar.unwrap_or(Bar { start: 0.0, end: 0.0, tone: Tone::Lost });
    vec![
        Cell::Text(row.name.into()),
        Cell::Text(row.share.map_or("-".to_owned(), percent).into()),
        Cell::Text(uncertainty.map_or(String::new(), |it| format!("+-{}", percent(it))).into()),
        Cell::Bar(bar),
        Cell::Text(Text::default().with(Role::Quiet, row.about)),
    ]
}

/// A share with the decimals that its uncertainty leaves a meaning.
fn percent(share: f64, uncertainty: f64) -> String {
    let digits = match uncertainty {
        it if it >= 0.1 => 0,
        it if it >= 0.01 => 1,
        _ => 2,
    };
    let text = format!("{:.digits$} %", share * 100.0);
    // What rounds to nothing has no sign.
    let unsigned = text.strip_prefix('-').filter(|it| !it.contains(|it| matches!(it, '1'..='9')));
    unsigned.map_or(text.clone(), str::to_owned)
}

/// What kernel threads took with the interrupts that came while they ran: the value that other tools show.
fn interrupted(document: &mut Document, ledger: &Ledger, verbose: bool) {
    let whole = ledger.capacity_ns();
    for line in ledger.lines.iter().filter(|it| it.loss.id == "kernel-threads") {
        let (Ok(ns), Some(interrupted)) = (&line.ns, line.interrupted_ns) else { continue };
        let interrupted = i64::try_from(interrupted).unwrap_or(i64::MAX);
        if interrupted == 0 || (share(interrupted, whole) < SMALLEST_PART && !verbose) {
            continue;
        }
        let precision = precision(ledger).max(uncertainty(&[line], whole));
        let with = percent(share(ns.saturating_add(interrupted), whole), precision);
        let text = format!("{} {with} with the interrupts that came while it ran", line.part);
        document.labelled("also", text);
    }
}

/// Demand that is no capacity.
fn waiting(document: &mut Document, ledger: &Ledger) {
    let Some(waiting) = &ledger.waiting else { return };
    let text = match waiting {
        Ok(waiting) => {
            let waited = waiting.ns as f64 / 1e9;
            let stopped = waiting.stopped_ns.filter(|ns| *ns > 0).map_or(String::new(), |ns| {
                format!(", {:.3} s stopped by a signal", ns as f64 / 1e9)
            });
            let server = waiting
                .server_ns
                .map_or(String::new(), |ns| format!(" ({:.3} s the server's)", ns as f64 / 1e9));
            format!(
                "{waited:.3} s runnable and waiting for a CPU{server}{stopped}, of all its threads together"
            )
        }
        Err(missing) => format!("time runnable and waiting is unknown: {}", missing.advice()),
    };
    document.labelled("also", text);
}

/// Tasks that a kind of softirq ran on top of: as many are named.
const MOST_TASKS: usize = 4;

/// What ran on top of which tasks: the loopback interface receives in the send(2) of whoever sent.
fn on_top_of(document: &mut Document, ledger: &Ledger) {
    let whole = ledger.capacity_ns();
    for line in ledger.lines.iter().filter(|it| !it.on_top_of.is_empty()) {
        let Some(ns) = line.ns.as_ref().ok().filter(|ns| share(**ns, whole) >= SMALLEST_PART)
        else {
            continue;
        };
        let shown = line.on_top_of.iter().take(MOST_TASKS).enumerate().map(|(at, it)| {
            let of_it = share(i64::try_from(it.ns).unwrap_or(i64::MAX), *ns) * 100.0;
            let task = it.task.as_deref().map(crate::harmless::harmless);
            let place = task.map_or("on idle CPUs".to_owned(), |task| format!("in {task}"));
            match at {
                0 => format!("{of_it:.0} % of {} ran {place}", line.part),
                _ => format!("{of_it:.0} % {place}"),
            }
        });
        let parts: Vec<String> = shown.collect();
        document.labelled("also", parts.join(", "));
    }
}

/// How long loads took, which no share of time shows.
fn loads(document: &mut Document, ledger: &Ledger) {
    let Some(loads) = &ledger.loads else { return };
    let shown = |from: &str, it: &LoadTimes| {
        let [median, lowest] = [it.median_ps, it.lowest_ps].map(|ps| ps as f64 / 1e3);
        let of = facts::quantity::counted(it.readings as u64, "reading");
        let lowest = match it.readings {
            1 => String::new(),
            _ => format!(", the lowest {lowest:.1} ns"),
        };
        format!("from {from} {median:.1} ns ({of}{lowest})")
    };
    let kinds = [("memory", &loads.memory), ("the last-level cache", &loads.last_level)];
    let known = kinds.into_iter().filter_map(|(from, it)| Some(shown(from, it.as_ref().ok()?)));
    let known: Vec<String> = known.collect();
    let text = match &loads.memory {
        Err(missing) if known.is_empty() => format!("the time of a load is unknown: {missing}"),
        _ => format!("a load takes {}", known.join(", ")),
    };
    document.labelled("also", text);
}

/// Findings that explain a line, and where to read on.
fn explanations(document: &mut Document, ledger: &Ledger) {
    let whole = ledger.capacity_ns();
    for group in groups(ledger) {
        let mut seen: Vec<&Explanation> = Vec::new();
        for explanation in group.lines.iter().flat_map(|line| &line.findings) {
            if !seen.contains(&explanation) {
                seen.push(explanation);
            }
        }
        for explanation in seen {
            let Explanation { check, cpus, fix } = explanation;
            let on = cpus.as_ref().map_or(String::new(), |it| format!(" on {}", it.named()));
            let precision = precision(ledger).max(uncertainty(&group.lines, whole));
            let share = percent(share(lost_with(&group, explanation), whole), precision);
            let title = group.title;
            let line =
                format!("{title} {share} <- {check}{on}; `fullclock explain {check}` says more");
            document.paragraph(Text::sentence(&line));
            if let Some(fix) = fix {
                document.labelled("now", Text::code(&**fix));
            }
        }
    }
}

/// Lines that are unknown, of some CPUs or of all.
fn unknown(document: &mut Document, ledger: &Ledger) {
    let mut lines = Vec::new();
    for line in ledger.lines.iter().filter(|it| it.ns.is_ok()) {
        if let Some((_, why)) = line.missing.first() {
            let cpus: CpuSet = line.missing.iter().map(|(cpu, _)| *cpu).collect();
            lines.push(format!("{} on {}: {}", line.loss.title, cpus.named(), why.advice()));
        }
    }
    for line in &ledger.lines {
        if let Err(missing) = &line.ns {
            let part = if line.part.is_empty() { "" } else { ", " };
            lines.push(format!("{}{part}{}: {}", line.loss.title, line.part, missing.advice()));
        }
    }
    if !lines.is_empty() {
        document.heading("Unknown");
        document.push(Block::List(lines.iter().map(|it| Text::sentence(it)).collect()));
    }
}

fn sources(document: &mut Document, ledger: &Ledger) {
    let whole = ledger.capacity_ns();
    document.heading("Where the lines come from");
    for group in groups(ledger) {
        // A line that found nothing names no source.
        let has_source = |line: &&&Line| line.ns.is_ok() && !line.source.is_empty();
        let Some(line) = group.lines.iter().find(has_source) else { continue };
        let uncertainty = uncertainty(&group.lines, whole) * 100.0;
        let (title, source) = (group.title, &line.source);
        let text = format!("{}: {source}; +-{uncertainty:.2} %", line.method.name());
        document.labelled(title, text);
    }
}

/// How uncertain lines are together, as a share of the capacity.
fn uncertainty(lines: &[&Line], whole: i64) -> f64 {
    let ns: u64 = lines.iter().map(|line| line.uncertainty_ns).sum();
    share(i64::try_from(ns).unwrap_or(i64::MAX), whole)
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

fn tone_of(group: &Group<'_>) -> Tone {
    match group.lines.first().map(|line| line.loss.kind) {
        Some(Kind::Useful) => Tone::Useful,
        Some(Kind::Idle) => Tone::Idle,
        Some(Kind::Lost) | None => Tone::Lost,
    }
}

/// The least sure method of a group.
fn method_of(group: &Group) -> Option<Method> {
    group.lines.iter().filter(|line| line.ns.is_ok()).map(|line| line.method).max()
}
