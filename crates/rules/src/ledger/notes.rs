//! What has to be said with a ledger.

use super::absence::Absence;
use super::amount::Method;
use super::books::Books;
use super::causes::NOT_VISIBLE;
use super::evidence::Evidence;
use super::line::Line;
use super::quota;
use facts::Missing;
use facts::counters::users::UserTimes;
use facts::msr::intel::CLOCK_MODULATION;
use facts::msr::ratios::are_for_scalar_code;
use facts::trace::CpuTotals;
use std::collections::BTreeSet;

/// Sentences without a full stop, the weightiest first.
pub(super) fn notes(
    evidence: &Evidence<'_>,
    absence: &Absence,
    books: &[Books<'_>],
    lines: &[Line],
    no_time: Option<Missing>,
) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(no_time.map(|it| format!("there is no interval: {it}")));
    notes.extend(absence.notes());
    notes.extend(suspended(evidence));
    notes.extend(lost_events(evidence, books));
    notes.extend(children(evidence));
    notes.extend(ended_tasks(evidence, books));
    notes.extend(evidence.interval.users().ok().and_then(UserTimes::unread_note));
    notes.extend(unknown_accounting(evidence, books));
    notes.extend(uncounted_interrupts(books));
    notes.extend(interrupts_without_cost(books));
    notes.extend(uncounted_edges(evidence, books));
    notes.extend(unseen_quota(books));
    notes.extend(quota::notes(evidence, &books.iter().map(|it| it.cpu).collect()));
    notes.extend(unseen_stops(evidence, books));
    notes.extend(vector_code(evidence, books, lines));
    notes
}

fn suspended(evidence: &Evidence<'_>) -> Option<String> {
    let ns = evidence.interval.suspended_ns();
    (ns > 0).then(|| {
        format!(
            "the machine was suspended for {:.1} s, which is not time of any CPU",
            ns as f64 / 1e9
        )
    })
}

fn lost_events(evidence: &Evidence<'_>, books: &[Books<'_>]) -> Option<String> {
    let traced = || books.iter().filter_map(|it| evidence.traced.get(it.cpu)?.as_ref().ok());
    let sum = |of: fn(&CpuTotals) -> u64| {
        traced().fold(0u64, |sum, totals| sum.saturating_add(of(totals)))
    };
    let (lost, unknown_ns) = (sum(|it| it.lost), sum(|it| it.unknown_ns));
    if lost == 0 && unknown_ns == 0 {
        return None;
    }
    let ms = unknown_ns as f64 / 1e6;
    Some(format!(
        "the trace does not tell whose {ms:.1} ms were, with {lost} events lost: the kernel's count of all tasks does, or else they are unexplained"
    ))
}

/// Processes that descend from those that were asked for, at either end, and count as somebody else's.
fn children(evidence: &Evidence<'_>) -> Option<String> {
    let looks = [Some(evidence.interval.host), evidence.host_after].into_iter().flatten();
    let processes: Vec<_> = looks.filter_map(|it| it.processes.as_ref().ok()).flatten().collect();
    let mut family: BTreeSet<u32> = evidence.chosen.iter().copied().collect();
    let mut n_known = 0;
    // A list is in no order of descent; each turn finds a generation.
    while family.len() > n_known {
        n_known = family.len();
        let born = processes.iter().filter(|it| family.contains(&it.parent)).map(|it| it.pid);
        family.extend(born.collect::<Vec<_>>());
    }
    let is_left_out = |pid: &&u32| {
        let counts_for = evidence.kin.get(pid).unwrap_or(pid);
        !evidence.is_chosen(*counts_for) && *counts_for != evidence.observer
    };
    let n_left_out = family.iter().filter(is_left_out).count();
    (n_left_out > 0).then(|| {
        format!("processes that descend from the requested ones, and count as others: {n_left_out}")
    })
}

fn ended_tasks(evidence: &Evidence<'_>, books: &[Books<'_>]) -> Option<String> {
    let is_traced = |it: &Books<'_>| {
        it.evidence.spun.get(it.cpu).is_some()
            || evidence.traced_on(it.cpu).is_ok_and(CpuTotals::shows_switches)
    };
    if books.iter().all(is_traced) {
        return None;
    }
    let before = evidence.interval.before.tasks.as_ref().ok()?;
    let after = evidence.interval.after.tasks.as_ref().ok()?;
    let has_ended =
        |task: &&facts::counters::Task| after.get(task.tid).is_none_or(|it| !it.is_same(task));
    let n_ended = before.list.iter().filter(has_ended).count();
    (n_ended > 0).then(|| {
        format!("tasks ended, {n_ended} of them: only a trace shows what each of them ran")
    })
}

fn unknown_accounting(evidence: &Evidence<'_>, books: &[Books<'_>]) -> Option<String> {
    let is_counted =
        |it: &Books<'_>| it.tasks.as_ref().is_ok_and(|it| it.method == Method::Counter);
    let missing = evidence.interval.host.kernel.config.as_ref().err()?;
    books.iter().any(is_counted).then(|| {
        format!("whether run times leave out interrupts and stolen time is unknown: {missing}")
    })
}

fn uncounted_interrupts(books: &[Books<'_>]) -> Option<String> {
    let is_unknown = |it: &&Books<'_>| it.interruptions.ticks.is_err();
    let missing = books.iter().find(is_unknown)?.interruptions.ticks.as_ref().err()?;
    Some(format!("ticks and interrupts are part of what they interrupted: {missing}"))
}

fn interrupts_without_cost(books: &[Books<'_>]) -> Option<String> {
    let all = || books.iter().filter_map(|it| it.interruptions.without_cost.as_ref());
    let count = all().fold(0u64, |sum, (count, _)| sum.saturating_add(*count));
    let (_, missing) = all().next()?;
    Some(format!("interrupts that are part of what they interrupted, {count} of them: {missing}"))
}

fn uncounted_edges(evidence: &Evidence<'_>, books: &[Books<'_>]) -> Option<String> {
    let missing = evidence.edge.as_ref().err()?;
    let is_traced = |it: &Books<'_>| {
        let traced = evidence.traced_on(it.cpu);
        traced.is_ok_and(|it| it.causes.values().any(|it| it.from_tasks > 0))
    };
    books.iter().any(is_traced).then(|| {
        format!("entry and exit of interrupts are part of what they interrupted: {missing}")
    })
}

fn unseen_quota(books: &[Books<'_>]) -> Option<String> {
    let missing =
        books.iter().find_map(|it| it.quota.as_ref().err().filter(|_| it.idle.is_ok()))?;
    // A kernel without control groups has no quotas.
    (!missing.is_absence())
        .then(|| format!("idle time may hold time that a quota forced: {missing}"))
}

fn unseen_stops(evidence: &Evidence<'_>, books: &[Books<'_>]) -> Option<String> {
    let is_probed = |it: &Books<'_>| it.clock.as_ref().is_ok_and(|it| it.counted_ns.is_none());
    let is_hidden = evidence.interval.host.msrs.of(&CLOCK_MODULATION).is_err();
    (is_hidden && books.iter().any(is_probed)).then(|| {
        "a stopped clock is part of the slow clock: the probe cannot tell them apart".to_owned()
    })
}

/// What lowers the clock by design and no counter of Linux shows.
fn vector_code(evidence: &Evidence<'_>, books: &[Books<'_>], lines: &[Line]) -> Option<String> {
    let info = evidence.interval.host.cpuinfo.as_ref().ok()?;
    let mut references = books.iter().filter_map(|it| it.reference.as_ref());
    let has_no_cause = |it: &Line| {
        it.loss.id == "slow-clock"
            && it.part == NOT_VISIBLE
            && it.ns.as_ref().is_ok_and(|&it| it > 0)
    };
    let is_there = are_for_scalar_code(info)
        && references.any(|it| it.is_turbo_ratio)
        && lines.iter().any(has_no_cause);
    is_there.then(|| {
        "cause not visible: the turbo ratios hold for scalar and SSE code; code that uses AVX2, AVX-512 or AMX runs below them by design"
            .to_owned()
    })
}
