//! Whose softirqs were: the tasks that they ran on top of.
//!
//! A softirq runs at the end of an interrupt, or where its task lets softirqs run again. So what a task sends over the loopback
//! interface is received in its own send(2), on its CPU: there the NET_RX of a task is what it sent. Softirqs of an interrupt
//! run on top of any task, and those that are too many run in ksoftirqd.

use super::amount::part;
use super::books::Shared;
use super::evidence::Evidence;
use super::line::{Line, OnTopOf};
use facts::trace::Cause;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The idle task.
const IDLE: i32 = 0;

/// Notes with each traced line of softirqs what it ran on top of.
pub(super) fn attribute(evidence: &Evidence<'_>, shared: &Shared<'_>, lines: &mut [Line]) {
    let wall_ns = evidence.interval.elapsed_ns().unwrap_or(0);
    for line in lines.iter_mut().filter(|it| it.loss.id == "softirqs" && it.ns.is_ok()) {
        let mut sums: BTreeMap<Option<String>, u64> = BTreeMap::new();
        for &(cpu, _) in &line.cpus {
            let Ok(totals) = evidence.traced_on(cpu) else { continue };
            let is_it = |number: u8| Cause::Softirq(number).name() == line.part;
            let of_line = totals.softirq_tasks.iter().filter(|((number, _), _)| is_it(*number));
            for ((_, tid), traced_ns) in of_line {
                let comm = totals.tasks.get(tid).map(|it| it.comm).unwrap_or_default();
                let task = (*tid != IDLE).then(|| shared.name_of(*tid, comm));
                // Of a trace that is a little longer than the interval.
                let scaled = part(*traced_ns, wall_ns, totals.wall_ns);
                let sum = sums.entry(task).or_default();
                *sum = sum.saturating_add(scaled);
            }
        }
        line.on_top_of = sums.into_iter().map(|(task, ns)| OnTopOf { task, ns }).collect();
        line.on_top_of.sort_by_key(|it| Reverse(it.ns));
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, ledger, replaced, untraced};

    /// What each line of softirqs ran on top of, in ms.
    fn parts(text: &str) -> Vec<String> {
        let ledger = ledger(text);
        let lines = ledger.lines.iter().filter(|it| !it.on_top_of.is_empty());
        let part = |it: &crate::ledger::OnTopOf| {
            format!("{} {}", it.task.as_deref().unwrap_or("idle"), it.ns / 1_000_000)
        };
        let named = |it: &crate::ledger::Line| {
            let parts: Vec<String> = it.on_top_of.iter().map(part).collect();
            format!("{}: {}", it.part, parts.join(", "))
        };
        lines.map(named).collect()
    }

    #[test]
    fn net_rx_is_of_the_tasks_that_it_ran_on_top_of_by_name_and_of_idle_cpus() {
        let seen = "NET_RX 300 idle 1000000 task 3000000\ntop NET_RX 10 2000000\ntop NET_RX 77 1000000\ntop NET_RX 0 1000000\n";
        let text = replaced(SECOND, &[("NET_RX 300 idle 0 task 4000000\n", seen)]);
        assert_eq!(parts(&text), ["NET_RX: postgres 2, idle 1, task 77 1"]);
    }

    #[test]
    fn a_trace_without_tasks_says_nothing() {
        assert!(parts(SECOND).is_empty());
    }

    #[test]
    fn without_a_trace_nothing_is_said() {
        assert!(parts(&untraced()).is_empty());
    }
}
