//! Perf events on the machine at hand. What it does not have or allow is skipped, and says so.

use facts::system::interrupts::Interrupts;
use facts::trace::timeline::Timeline;
use facts::trace::tracepoint::Wanted;
use facts::trace::{Cause, What};
use facts::{CpuSet, Fact};
use host::perf::{Group, GroupTable, Tracer, counters};
use host::{Live, Source};
use rustix::thread::{CpuSet as Affinity, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::sync::mpsc::channel;

/// What was found, or a word on why the test does not run.
fn found<T>(answer: Fact<T>) -> Option<T> {
    answer.inspect_err(|missing| eprintln!("skipped: {missing}")).ok()
}

/// The lowest CPU this process may use, with this thread bound to it.
fn own_cpu() -> u32 {
    let allowed = sched_getaffinity(None).unwrap();
    let cpu = (0..Affinity::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).unwrap();
    let mut only = Affinity::new();
    only.set(cpu);
    sched_setaffinity(None, &only).unwrap();
    u32::try_from(cpu).unwrap()
}

/// Keeps the CPU busy until `ticks` has grown by a few, or for as long as any tick takes.
fn work_until_ticks(mut ticks: impl FnMut() -> u64) {
    const LONG_ENOUGH_NS: u64 = 2_000_000_000;
    let (start, start_ns) = (ticks(), raw_ns());
    while ticks() - start < 5 && raw_ns() - start_ns < LONG_ENOUGH_NS {}
}

#[test]
fn timer_interrupts_are_counted_as_proc_interrupts_counts_them() {
    let source: &dyn Source = &Live::this_machine();
    let Some(counter) = found(counters::tracepoint(source, "irq_vectors", "local_timer_entry"))
    else {
        return;
    };
    let cpu = own_cpu();
    let Some(mut group) = found(Group::open(cpu, &[counter])) else { return };
    // Read on the CPU itself: it cannot be in that interrupt meanwhile.
    let local_timer = || {
        let interrupts = source.parsed("/proc/interrupts", Interrupts::parse).unwrap();
        interrupts.named("LOC").map_or(0, |it| it.on(cpu))
    };
    let mut counted = || {
        let mut counts = [0];
        group.read(&mut counts).unwrap();
        counts[0]
    };
    let (before, first, after) = (local_timer(), counted(), local_timer());
    work_until_ticks(local_timer);
    let (before_end, last, after_end) = (local_timer(), counted(), local_timer());
    let n_counted = last - first;
    let expected = before_end - after..=after_end - before;
    assert!(expected.contains(&n_counted), "{n_counted} of {expected:?}");
}

#[test]
fn a_group_counts_its_members_together() {
    let source: &dyn Source = &Live::this_machine();
    let Some(mut clocks) = found(counters::clocks(source)) else { return };
    let n_clocks = clocks.len();
    clocks.push(counters::context_switches());
    let Some(mut group) = found(Group::open(own_cpu(), &clocks)) else { return };
    let mut read = || {
        let mut counts = vec![0; n_clocks + 1];
        group.read(&mut counts).unwrap();
        counts
    };
    let first = read();
    for _ in 0..10 {
        // Sleeping takes a switch away and one back.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let last = read();
    assert!(last[0] > first[0], "TSC: {first:?} {last:?}");
    assert!(last[n_clocks] - first[n_clocks] >= 20, "switches: {first:?} {last:?}");
}

#[test]
fn filters_tell_the_reasons_to_keep_the_tick_apart() {
    let source: &dyn Source = &Live::this_machine();
    let Some(counters) = found(counters::tick_stops(source)) else { return };
    let Some(mut group) = found(Group::open(own_cpu(), &counters)) else { return };
    let mut counts = vec![0; group.n_counters()];
    group.read(&mut counts).unwrap();
}

#[test]
fn a_cpu_that_does_not_exist_has_a_reason() {
    let Err(missing) = Group::open(60_000, &[counters::context_switches()]) else {
        panic!("no machine has so many CPUs");
    };
    assert!(!missing.to_string().is_empty());
}

#[test]
fn every_counter_the_machine_lists_opens_or_has_a_reason() {
    let source: &dyn Source = &Live::this_machine();
    let online = source.parsed("/sys/devices/system/cpu/online", CpuSet::parse_list).unwrap();
    for pmu in
        ["cstate_core", "cstate_pkg", "cstate_module"].map(|it| counters::residency(source, it))
    {
        let Some(pmu) = found(pmu) else { continue };
        let cpu = pmu.cpus.as_ref().unwrap_or(&online).first().unwrap();
        found(Group::open(cpu, &pmu.events));
    }
    found(counters::energy(source));
}

fn raw_ns() -> u64 {
    let now = clock_gettime(ClockId::MonotonicRaw);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[test]
fn a_switch_to_a_task_that_is_woken_is_traced() {
    let source: &dyn Source = &Live::this_machine();
    let cpu = own_cpu();
    let Some(mut tracer) = found(Tracer::open(source, &[cpu].into_iter().collect(), Wanted::ALL))
    else {
        return;
    };
    let (wake, woken) = channel();
    let (answer, answered) = channel();
    // By name: a thread id is another one in a container. It inherits the CPU of its creator.
    let thread = std::thread::Builder::new().name("perf-test-woken".into());
    let thread =
        thread.spawn(move || woken.iter().for_each(|()| answer.send(()).unwrap())).unwrap();
    let ask = || {
        wake.send(()).unwrap();
        answered.recv().unwrap();
    };
    ask();
    let begin_ns = raw_ns();
    ask();
    let end_ns = raw_ns();
    let mut timeline = Timeline::new();
    tracer.drain(begin_ns, |event| timeline.push(event));
    timeline.begin(begin_ns);
    tracer.drain(end_ns, |event| timeline.push(event));
    let totals = timeline.end(end_ns);
    drop(wake);
    thread.join().unwrap();
    let ran = totals.tasks.values().any(|it| it.comm.to_string() == "perf-test-woken");
    assert!(ran || totals.unknown_ns > 0, "{totals:?}");
    let accounted = totals.unknown_ns + totals.idle_ns + totals.task_ns() + totals.interrupted_ns();
    assert_eq!(accounted, end_ns - begin_ns);
}

#[test]
fn as_many_timer_interrupts_are_traced_as_are_counted() {
    let source: &dyn Source = &Live::this_machine();
    let Some(counter) = found(counters::tracepoint(source, "irq_vectors", "local_timer_entry"))
    else {
        return;
    };
    let cpu = own_cpu();
    let cpus = [cpu].into_iter().collect();
    let Some(mut tracer) = found(Tracer::open(source, &cpus, Wanted::INTERRUPTS)) else { return };
    let Some(mut group) = found(Group::open(cpu, &[counter])) else { return };
    let mut counted = || {
        let mut counts = [0];
        group.read(&mut counts).unwrap();
        counts[0]
    };
    let (before, begin_ns, after) = (counted(), raw_ns(), counted());
    work_until_ticks(&mut counted);
    let (before_end, end_ns, after_end) = (counted(), raw_ns(), counted());
    let (mut n_traced, mut lost) = (0, false);
    tracer.drain(end_ns, |event| match event.what {
        What::Enter(Cause::LocalTimer) if event.at_ns >= begin_ns => n_traced += 1,
        What::Lost(_) => lost = true,
        _ => {}
    });
    let expected = before_end - after..=after_end - before;
    assert!(lost || expected.contains(&n_traced), "{n_traced} of {expected:?}");
}

#[test]
fn every_cpu_of_a_grid_has_a_row_or_a_reason() {
    const NEVER_THERE: u32 = 60_000;
    let cpu = own_cpu();
    let cpus: CpuSet = [cpu, NEVER_THERE].into_iter().collect();
    let Some(mut grid) =
        found(GroupTable::open(&cpus, &[counters::context_switches()], &["switches"]))
    else {
        return;
    };
    let (first, second) = (grid.read(), grid.read());
    let row = first.row(cpu).unwrap();
    assert!(first.row(NEVER_THERE).is_err());
    assert!(second.cell(row, 0) >= first.cell(row, 0));
    assert!(second.read_at(row) >= first.read_at(row));
}
