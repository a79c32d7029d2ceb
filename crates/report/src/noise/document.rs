//! What CPUs lost, as a document: the CPUs by rank, what took the time, the longest gaps, and a histogram.

use super::Report;
use crate::audit::describe;
use crate::document::{Align, Block, Document, Table, Text};
use crate::lengths::{bar, range, span};
use facts::utc::timestamp;
use rules::noise::{Bucket, CpuNoise, LongGap, Part, Percentiles, Taker};
use rules::spin::Method;

/// Causes that are shown, unless all are asked for.
const MOST_PARTS: usize = 12;
/// Names that one gap is given.
const MOST_TAKERS: usize = 2;

/// The whole report. `verbose` shows each CPU's own causes, gaps and histogram.
pub fn document(report: &Report<'_>, verbose: bool) -> Document {
    let noise = report.noise;
    let mut document = Document::new(title(report));
    if let Some(verdict) = verdict(report) {
        document.paragraph(Text::strong(verdict));
    }
    document.paragraph(describe(report.host));
    ranking(&mut document, report);
    let longest = noise.longest();
    let all = Section {
        wall_ns: noise.wall_ns(),
        parts: &noise.parts(),
        longest: &longest,
        buckets: &noise.histogram().buckets(),
    };
    all.put(&mut document, report, verbose);
    if verbose && noise.cpus.len() > 1 {
        for cpu in &noise.cpus {
            document.heading(format!("CPU {}", cpu.cpu));
            let longest: Vec<_> = cpu.longest.iter().map(|it| (cpu.cpu, it)).collect();
            let of_cpu = Section {
                wall_ns: cpu.wall_ns,
                parts: &cpu.parts,
                longest: &longest,
                buckets: &cpu.histogram.buckets(),
            };
            of_cpu.put(&mut document, report, verbose);
        }
    }
    notes(&mut document, report);
    document
}

fn title(report: &Report<'_>) -> String {
    let noise = report.noise;
    let longest_ns = noise.cpus.iter().map(|cpu| cpu.wall_ns).max().unwrap_or_default();
    let n_cpus = noise.cpus.len();
    let whose = if n_cpus == 1 { "1 CPU".to_owned() } else { format!("{n_cpus} CPUs") };
    let started = timestamp(report.real_ns(noise.started_ns()));
    let seconds = longest_ns as f64 / 1e9;
    format!("fullclock noise of this machine: {seconds:.2} s of {whose} from {started}")
}

/// Which CPU lost most, and to what.
fn verdict(report: &Report<'_>) -> Option<String> {
    let first = report.noise.cpus.first()?;
    let cause = most_of(first);
    let cause = cause.map_or(String::new(), |it| format!(", mainly to {}", it.taker));
    let most = if report.noise.cpus.len() == 1 { "" } else { " most:" };
    Some(format!("CPU {} lost{most} {}{cause}.", first.cpu, lost(first)))
}

/// What took the most of a CPU's time.
fn most_of(cpu: &CpuNoise) -> Option<&Part> {
    cpu.parts.iter().find(|part| part.taker != Taker::Own)
}

fn lost(cpu: &CpuNoise) -> String {
    percent_of(cpu.lost_share())
}

/// A row for each CPU.
fn ranking(document: &mut Document, report: &Report<'_>) {
    let columns = [
        ("CPU", Align::Right),
        ("lost", Align::Right),
        ("gaps/s", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("p99.9", Align::Right),
        ("longest", Align::Right),
        ("most of it", Align::Left),
    ];
    let row = |cpu: &CpuNoise| -> Vec<Text> {
        let of = |length: fn(&Percentiles) -> u64| {
            cpu.percentiles.as_ref().map_or("-".to_owned(), |it| span(length(it)))
        };
        let most = most_of(cpu).map_or(String::new(), |it| {
            format!("{} {}", percent(it.taken.ns, cpu.wall_ns), it.taker)
        });
        let rate = format!("{:.0}", cpu.gaps_per_second());
        let (p50, p99, p99_9) = (of(|it| it.p50), of(|it| it.p99), of(|it| it.p99_9));
        [cpu.cpu.to_string(), lost(cpu), rate, p50, p99, p99_9, of(|it| it.longest), most]
            .map(Text::from)
            .into()
    };
    document.push(Block::Table(Table::new(&columns, report.noise.cpus.iter().map(row))));
    for (cpu, missing) in &report.noise.unwatched {
        document.labelled(format!("CPU {cpu}"), format!("not watched: {}", missing.advice()));
    }
}

/// What one CPU lost, or all of them together.
struct Section<'a> {
    wall_ns: u64,
    parts: &'a [Part],
    longest: &'a [(u32, &'a LongGap)],
    buckets: &'a [Bucket],
}

impl Section<'_> {
    fn put(&self, document: &mut Document, report: &Report<'_>, verbose: bool) {
        if self.buckets.is_empty() && self.parts.is_empty() {
            document.paragraph("There was no gap.");
            return;
        }
        document.push(Block::Table(self.parts(verbose)));
        document.push(Block::Table(self.longest(report)));
        document.push(Block::Table(self.histogram()));
    }

    fn parts(&self, verbose: bool) -> Table {
        let columns = [
            ("Taken by", Align::Left),
            ("share", Align::Right),
            ("times", Align::Right),
            ("each", Align::Right),
        ];
        let row = |part: &Part| -> Vec<Text> {
            let (ns, count) = (part.taken.ns, part.taken.count);
            // What is known by its time alone has no number.
            let (times, each) = match count {
                0 => ("-".to_owned(), "-".to_owned()),
                _ => (count.to_string(), span(ns / count)),
            };
            let name = part.taker.to_string();
            [name, percent(ns, self.wall_ns), times, each].map(Text::from).into()
        };
        let most = if verbose { usize::MAX } else { MOST_PARTS };
        let mut table = Table::new(&columns, self.parts.iter().take(most).map(row));
        let others = self.parts.get(most..).unwrap_or_default();
        if !others.is_empty() {
            let ns = others.iter().fold(0u64, |sum, it| sum.saturating_add(it.taken.ns));
            let name = format!("{} others (--verbose)", others.len());
            let row = [name, percent(ns, self.wall_ns), String::new(), String::new()];
            table.push(row.map(Text::from).into());
        }
        table
    }

    fn longest(&self, report: &Report<'_>) -> Table {
        let columns = [
            ("Longest gaps", Align::Right),
            ("CPU", Align::Right),
            ("after", Align::Right),
            ("taken by", Align::Left),
        ];
        let row = |(cpu, gap): &(u32, &LongGap)| -> Vec<Text> {
            let after = report.since_start_ns(gap.at_ns) as f64 / 1e9;
            let cells = [span(gap.length_ns), cpu.to_string(), format!("{after:.6} s"), whose(gap)];
            cells.map(Text::from).into()
        };
        Table::new(&columns, self.longest.iter().map(row))
    }

    fn histogram(&self) -> Table {
        let columns = [
            ("Gaps by length", Align::Left),
            ("gaps", Align::Right),
            ("share", Align::Right),
            ("of that time", Align::Left),
        ];
        let most_ns = self.buckets.iter().map(|it| it.ns).max().unwrap_or_default();
        let row = |bucket: &Bucket| -> Vec<Text> {
            let (count, share) = (bucket.count.to_string(), percent(bucket.ns, self.wall_ns));
            [range(bucket), count, share, bar(bucket.ns, most_ns)].map(Text::from).into()
        };
        Table::new(&columns, self.buckets.iter().map(row))
    }
}

fn percent(ns: u64, wall_ns: u64) -> String {
    percent_of(ns as f64 / wall_ns.max(1) as f64)
}

/// With three digits, and not more than four decimals: a CPU that is hardly disturbed loses some thousandths.
fn percent_of(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = match percent {
        it if it >= 10.0 => 1,
        it if it >= 1.0 => 2,
        it if it >= 0.1 => 3,
        _ => 4,
    };
    format!("{percent:.decimals$} %")
}

/// Who had a gap: the most of it first, and those behind them in one.
fn whose(gap: &LongGap) -> String {
    let Some(takers) = &gap.takers else { return "not traced".to_owned() };
    if let [(only, _)] = takers.as_slice() {
        return only.to_string();
    }
    let (named, others) = takers.split_at(takers.len().min(MOST_TAKERS));
    let name = |(taker, ns): &(Taker, u64)| format!("{taker} {}", span(*ns));
    let mut names: Vec<String> = named.iter().map(name).collect();
    if !others.is_empty() {
        let ns = others.iter().fold(0u64, |sum, (_, ns)| sum.saturating_add(*ns));
        names.push(format!("others {}", span(ns)));
    }
    names.join(", ")
}

/// How the figures were made, and what is missing.
fn notes(document: &mut Document, report: &Report<'_>) {
    let cpus = &report.noise.cpus;
    document.note(probe(cpus));
    if cpus.iter().any(|cpu| cpu.method == Method::Counts) {
        let why = report.untraced.map_or(String::new(), |it| format!(" ({})", it.advice()));
        document.note(format!(
            "Nothing was traced{why}: the gaps were split by what was counted, the longest first, which is an estimate; \
             their lengths and sum are not."
        ));
    }
    let ticks: Vec<_> = cpus.iter().filter_map(|cpu| cpu.ticks.as_ref().ok()).collect();
    if !ticks.is_empty() {
        let found = ticks.iter().fold(0u64, |sum, it| sum.saturating_add(it.found));
        let counted = ticks.iter().fold(0u64, |sum, it| sum.saturating_add(it.counted));
        document.note(format!(
            "Timer ticks: {found} found in gaps, {counted} counted by the kernel over a slightly longer time."
        ));
    }
    let own_ns = cpus.iter().fold(0u64, |sum, cpu| sum.saturating_add(cpu.own_ns));
    if !report.is_apart && own_ns > 0 {
        document.note(Text::sentence(
            "No CPU was left for fullclock to empty the trace; what that took is not in \"lost\". \
                           `--cpus` without one of them avoids it.",
        ));
    }
    let not_kept = cpus.iter().fold(0u64, |sum, cpu| sum.saturating_add(cpu.not_kept.count));
    if not_kept > 0 {
        document.note(format!(
            "{not_kept} gaps, mostly the shortest, had no room: they are in \"lost\", unexplained, and in no histogram; watch for a \
             shorter time."
        ));
    }
}

/// What counts as a gap.
fn probe(cpus: &[CpuNoise]) -> String {
    let floors: Vec<u64> = cpus.iter().map(|cpu| cpu.floor_ns).collect();
    let (least, most) = (floors.iter().min().copied(), floors.iter().max().copied());
    let floor = match (least, most) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most} ns"),
        _ => format!("{} ns", most.unwrap_or_default()),
    };
    let steps: Vec<f64> = cpus.iter().filter_map(|cpu| cpu.step_ns.clone().ok()).collect();
    let slowest = steps.iter().copied().reduce(f64::max);
    let slowest = slowest.map_or(String::new(), |it| format!("; readings were {it:.0} ns apart"));
    format!("A gap is a step of the time counter above {floor}{slowest}.")
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::Style;
    use crate::document::Format;
    use rules::spin::NoiseSource;

    #[test]
    fn a_report_ranks_names_and_counts() {
        let style = Style { color: false, width: 80 };
        let text =
            fixture::with_report(|report| document(report, false).render(Format::Text(style)));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn of_a_gap_that_many_had_the_first_are_named() {
        let task = |tid| Taker::Source(NoiseSource::Task(tid, facts::trace::Comm::new("a")));
        let takers = [(task(1), 900), (task(2), 90), (task(3), 6), (task(4), 4)];
        let gap = LongGap { at_ns: 0, length_ns: 1000, takers: Some(takers.to_vec()) };
        assert_eq!(whose(&gap), "task a (1) 900 ns, task a (2) 90 ns, others 10 ns");
    }
}
