//! Counters: the ledger, and what [`COUNTERS`](rules::totals::COUNTERS) lists.

use crate::openmetrics::{Exposition, Type};
use rules::losses::LOSSES;
use rules::totals::{LedgerTotals, Totals};

const NS: f64 = 1e9;
const LINES: &str = "fullclock_ledger_cpu_seconds_total";
const CAUSES: &str = "fullclock_ledger_cause_cpu_seconds_total";

/// Nothing where no interval is over.
pub(super) fn ledger(page: &mut Exposition, ledger: &LedgerTotals) {
    if ledger.intervals == 0 {
        return;
    }
    let help = "Where the time of all CPUs went, by line of the ledger; capacity is all of it: the sum of the lines with unexplained, less overlap";
    page.family_of(Type::Counter, LINES, help, "seconds");
    let mut line = |name: &str, ns: u64| page.sample(LINES, &[("line", name)], ns as f64 / NS);
    for loss in LOSSES {
        if let Some((_, ns)) = ledger.lines.iter().find(|it| it.0 == loss.id) {
            line(loss.id, *ns);
        }
    }
    line("unexplained", ledger.unexplained_ns);
    line("overlap", ledger.overlap_ns);
    line("capacity", ledger.capacity_ns);
    if ledger.parts.is_empty() {
        return;
    }
    let help =
        "What of the lines stopped-clock and slow-clock is whose, by cause; `perhaps` is a hint";
    page.family_of(Type::Counter, CAUSES, help, "seconds");
    for (line, parts) in &ledger.parts {
        for (cause, ns) in parts {
            let labels = [("line", *line), ("cause", cause.as_str())];
            page.sample(CAUSES, &labels, *ns as f64 / NS);
        }
    }
}

pub(super) fn counters(page: &mut Exposition, totals: &Totals, by_cpu: bool) {
    for (counter, parts) in totals.counters() {
        let name = format!("fullclock_{}_total", counter.name);
        page.family_of(Type::Counter, &name, counter.help, counter.unit);
        for (part, total) in parts {
            match counter.label {
                Some(label) => page.sample(&name, &[(label, part.as_str())], total.sum),
                None => page.sample(&name, &[], total.sum),
            }
        }
        if !by_cpu || parts.values().all(|it| it.cpus.is_empty()) {
            continue;
        }
        let name = format!("fullclock_cpu_{}_total", counter.name);
        let help = format!("{}; of this CPU", counter.help);
        page.family_of(Type::Counter, &name, &help, counter.unit);
        for (part, total) in parts {
            for (cpu, amount) in &total.cpus {
                let cpu = cpu.to_string();
                let labels = [("cpu", &*cpu), (counter.label.unwrap_or_default(), part.as_str())];
                page.sample(&name, &labels[..1 + usize::from(counter.label.is_some())], *amount);
            }
        }
    }
}
