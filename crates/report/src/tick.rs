//! The ticks of each CPU as a document, as JSON and as CSV.

mod csv;
mod json;

pub use csv::csv;
pub(crate) use json::TickDocument;
pub use json::json;

use crate::document::{Align, Block, Document, Table, Text};
use facts::{CpuSet, Fact, Missing};
use rules::interval::Delta;
use rules::tick::{CpuTicks, DEPENDENCIES, Kept, Role, Verdict};

/// The ticks that were counted.
pub struct Report<'a> {
    /// Ascending by CPU.
    pub ticks: &'a [CpuTicks],
    /// For how long was counted, in nanoseconds.
    pub elapsed_ns: u64,
    /// Ticks a second of a CPU whose tick does not stop.
    pub full_rate: Fact<f64>,
}

/// A row for each CPU, and what would end the ticks that were kept.
pub fn document(report: &Report) -> Document {
    let seconds = report.elapsed_ns as f64 / 1e9;
    let mut document = Document::new(format!("Timer ticks within {seconds:.2} s"));
    document.paragraph(Text::strong(verdict(report.ticks)));
    document.paragraph(match &report.full_rate {
        Ok(rate) => format!("A CPU whose tick does not stop has {rate:.0} ticks/s."),
        Err(missing) => {
            format!("The rate of a CPU whose tick does not stop is unknown: {}.", missing.advice())
        }
    });
    let columns = [
        ("CPU", Align::Right),
        ("ticks/s", Align::Right),
        ("perf", Align::Right),
        ("LOC", Align::Right),
        ("busy", Align::Right),
        ("", Align::Left),
    ];
    document.push(Block::Table(Table::new(&columns, report.ticks.iter().map(row))));
    releases(&mut document, report);
    notes(&mut document, report);
    document
}

/// Whether the CPUs that should not tick do.
fn verdict(ticks: &[CpuTicks]) -> String {
    let tickless = || ticks.iter().filter(|it| it.role == Role::Tickless);
    let of = |is: fn(&Verdict) -> bool| -> CpuSet {
        tickless().filter(|it| it.verdict.as_ref().is_some_and(is)).map(|it| it.cpu).collect()
    };
    let kept = of(|it| matches!(it, Verdict::Kept { .. }));
    let stopped = of(|it| matches!(it, Verdict::Stopped { .. }));
    if tickless().next().is_none() {
        "None of these CPUs is in nohz_full: each has its tick while it is busy.".to_owned()
    } else if !kept.is_empty() {
        format!("{} still {} although nohz_full.", kept.named(), kept.agree("ticks", "tick"))
    } else if !stopped.is_empty() {
        format!("The tick of {} stopped.", stopped.named())
    } else {
        "No nohz_full CPU was busy enough to say whether its tick stops.".to_owned()
    }
}

fn row(ticks: &CpuTicks) -> Vec<Text> {
    let count = |fact: &Fact<Delta>| fact.as_ref().map_or("-".to_owned(), |it| it.by.to_string());
    let rate = ticks.delta().map_or("-".to_owned(), |it| format!("{:.1}", it.per_second()));
    let busy = ticks.busy.as_ref().map_or("-".to_owned(), |it| format!("{it:.1} %"));
    let (perf, loc) = (count(&ticks.entries), count(&ticks.interrupts));
    let verdict = ticks
        .verdict
        .as_ref()
        .map_or_else(String::new, |verdict| format!("{}, {}", ticks.role.name(), verdict.text()));
    [ticks.cpu.to_string(), rate, perf, loc, busy, verdict].map(Text::from).into()
}

/// What would end each dependency that kept a tick.
fn releases(document: &mut Document, report: &Report) {
    let named = |name: &str| {
        let needed = report.ticks.iter().filter_map(|it| match &it.verdict {
            Some(Verdict::Kept { why: Kept::Needed(needed), .. }) => Some(needed),
            _ => None,
        });
        needed.flatten().any(|(dependency, ..)| dependency.name == name)
    };
    let kept: Vec<_> = DEPENDENCIES.iter().filter(|it| named(it.name)).collect();
    if kept.is_empty() {
        return;
    }
    document.heading("What would stop these ticks");
    for dependency in kept {
        document.labelled(dependency.name, Text::sentence(dependency.release));
    }
}

/// How the counts were made, and why some are not there.
fn notes(document: &mut Document, report: &Report) {
    let reason = |count: fn(&CpuTicks) -> &Fact<Delta>| -> Option<&Missing> {
        report.ticks.iter().find_map(|ticks| count(ticks).as_ref().err())
    };
    let perf = match reason(|it| &it.entries) {
        None => "perf counts as `perf stat -a -A -e irq_vectors:local_timer_entry` does; it is read around LOC, and may count a \
                 few more."
            .to_owned(),
        Some(missing) => format!("perf: {}.", missing.advice()),
    };
    document.note(Text::sentence(&perf));
    if let Some(missing) = reason(|it| &it.interrupts) {
        document.note(Text::sentence(&format!("LOC: {}.", missing.advice())));
    }
    if report.ticks.iter().any(|it| it.role == Role::Tickless) {
        let text = "The tick of a nohz_full CPU stops while it runs one task; before Linux 4.17 one a second stays. Timers \
                    of programs and of the kernel count too.";
        document.note(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use crate::document::Format;
    use crate::json::Head;
    use serde_json::Value;

    fn ticks(cpu: u32, role: Role, verdict: Option<Verdict>) -> CpuTicks {
        let delta = Ok(Delta { by: 1250, over_ns: 5_000_000_000 });
        let entries = Err(Missing::denied("perf event irq_vectors:local_timer_entry"));
        CpuTicks {
            cpu,
            role,
            interrupts: delta,
            entries,
            entries_read_ns: None,
            busy: Ok(99.8),
            verdict,
        }
    }

    fn shown(ticks: &[CpuTicks]) -> String {
        let report = Report { ticks, elapsed_ns: 5_000_000_000, full_rate: Ok(250.0) };
        document(&report).render(Format::Text(Style { color: false, width: 100 }))
    }

    #[test]
    fn every_cpu_has_a_line_and_a_kept_tick_its_release() {
        let why = Kept::Needed(vec![(&DEPENDENCIES[1], 250.0, Vec::new())]);
        let kept = Verdict::Kept { per_second: 250.0, why };
        let text = shown(&[ticks(0, Role::Ordinary, None), ticks(1, Role::Tickless, Some(kept))]);
        let expected = "\
Timer ticks within 5.00 s
CPU 1 still ticks although nohz_full.

A CPU whose tick does not stop has 250 ticks/s.

CPU  ticks/s  perf   LOC    busy
  0    250.0     -  1250  99.8 %
  1    250.0     -  1250  99.8 %  nohz_full, kept 250 ticks/s: perf_events (a sampling perf event in
                                  frequency mode, or a throttled one)

What would stop these ticks
perf_events  end `perf record -F` and its like anywhere on the host, or sample every so many events
             (`-c`)

perf: perf event irq_vectors:local_timer_entry may not be read (run as root or with CAP_PERFMON).
The tick of a nohz_full CPU stops while it runs one task; before Linux 4.17 one a second stays.
Timers of programs and of the kernel count too.
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_count_that_is_missing_is_a_reason_in_json_and_never_zero() {
        let report = Report {
            ticks: &[ticks(1, Role::Tickless, Some(Verdict::Stopped { per_second: 1.0 }))],
            elapsed_ns: 5_000_000_000,
            full_rate: Err(Missing::absent("CONFIG_HZ")),
        };
        let head = Head { host: "db7".to_owned(), began: "2026-11-20T12:14:05.120Z".to_owned() };
        let value: Value = serde_json::from_str(&json(&head, &report).unwrap()).unwrap();
        assert_eq!(value["cpus"][0]["perf"]["reason"], "denied");
        assert_eq!(value["cpus"][0]["interrupts"]["count"], 1250);
        assert_eq!(value["cpus"][0]["verdict"]["outcome"], "stopped");
        assert_eq!(value["full_rate"], Value::Null);
        assert_eq!((&value["host"], &value["elapsed_s"]), (&"db7".into(), &5.0.into()));
        assert_eq!(
            csv(&report),
            "\
cpu,role,ticks_per_s,perf,interrupts,busy_percent,verdict,missing
1,nohz_full,250,,1250,99.8,stopped: 1.0 ticks/s while busy,perf: perf event irq_vectors:local_timer_entry may not be read
"
        );
    }
}
