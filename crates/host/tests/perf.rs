//! Perf events on the machine at hand. What it does not have or allow is skipped, and says so.
#![expect(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a skipped test says why; helpers of tests, which allow-unwrap-in-tests does not reach"
)]

use facts::system::interrupts::Interrupts;
use facts::{CpuSet, Fact};
use host::perf::{Group, counters};
use host::{Live, Source};
use rustix::thread::{CpuSet as Affinity, sched_getaffinity, sched_setaffinity};

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

/// Keeps the CPU busy until its timer has interrupted it a few times.
fn work_until_ticks(local_timer: impl Fn() -> u32) {
    let start = local_timer();
    while local_timer().wrapping_sub(start) < 5 {
        std::hint::black_box(start);
    }
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
    // Counts of 32 bits, read on the CPU itself: it cannot be in that interrupt meanwhile.
    let local_timer = || {
        let interrupts = source.parsed("/proc/interrupts", Interrupts::parse).unwrap();
        interrupts.named("LOC").map_or(0, |it| it.on(cpu)) as u32
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
    assert!(n_counted >= u64::from(before_end.wrapping_sub(after)), "{n_counted}");
    assert!(n_counted <= u64::from(after_end.wrapping_sub(before)), "{n_counted}");
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
