//! Time lines and events as text, and what the CPUs lost as text.

use super::*;
use crate::fixture::{counters, host_of};
use facts::probe::{Gap, NotKept};
use facts::trace::{Cause, Comm, Task, What};

const BEFORE: &str = "at 0\nInterrupts 24+eth0 LOC\n1 0 100\n2 0 100\n";
const AFTER: &str = "at 1000\nInterrupts 24+eth0 LOC\n1 1 102\n2 0 100\n";

/// CPU 1, watched for 1 s by thread 9: gaps of these lengths, one every millisecond.
pub(super) fn gaps(lengths: impl IntoIterator<Item = u64>) -> Gaps {
    let gap = |(n, length_ns): (u64, u64)| Gap { at_ns: 1_000_000 * n, length_ns };
    Gaps {
        cpu: 1,
        thread: 9,
        started_ns: 0,
        ended_ns: 1_000_000_000,
        reads: 50_000_000,
        floor_ns: 40,
        slack_ns: 20,
        switches: 0,
        gaps: (1..).zip(lengths).map(gap).collect(),
        not_kept: NotKept::default(),
    }
}

fn noise(all: Vec<Gaps>, events: Result<&[Event], &Missing>) -> Noise {
    let (host, before, after) = (host_of(""), counters(BEFORE), counters(AFTER));
    let lines = all.into_iter().map(|gaps| (gaps.cpu, Ok(gaps)));
    let offline = (7, Err(Missing::absent("CPU 7")));
    Noise::of(&Seen {
        interval: Interval { host: &host, before: &before, after: &after },
        gaps: &lines.chain([offline]).collect(),
        events,
        own: &[30].into(),
    })
}

/// An interrupt of CPU 1, from 100 ns after the beginning of the `n`th gap on.
fn interrupt(n: u64, cause: Cause, length_ns: u64) -> [Event; 2] {
    let at_ns = n * 1_000_000 + 100;
    let event = |at_ns, what| Event { at_ns, cpu: 1, running: None, what };
    [event(at_ns, What::Enter(cause)), event(at_ns + length_ns, What::Exit(cause))]
}

/// A task that has CPU 1 for that long in the `n`th gap.
fn task(n: u64, tid: i32, name: &str, length_ns: u64) -> [Event; 2] {
    let at_ns = n * 1_000_000 + 100;
    let spinner = Task { tid: 9, comm: Comm::new("spinner") };
    let other = Task { tid, comm: Comm::new(name) };
    let event = |at_ns, prev, next| {
        let what = What::Switch { prev, prev_state: 0, next };
        Event { at_ns, cpu: 1, running: None, what }
    };
    [event(at_ns, spinner, other), event(at_ns + length_ns, other, spinner)]
}

fn parts(parts: &[Part]) -> String {
    let line = |it: &Part| format!("{} {} in {}", it.taker, it.taken.ns, it.taken.count);
    parts.iter().map(line).collect::<Vec<_>>().join("; ")
}

fn traced() -> Vec<Event> {
    let tick = |n| interrupt(n, Cause::LocalTimer, 1800);
    [
        tick(1),
        tick(2),
        interrupt(3, Cause::Device(24), 2800),
        task(4, 30, "trace", 49_800),
        task(5, 40, "kworker", 19_800),
    ]
    .concat()
}

const LENGTHS: [u64; 6] = [2000, 2000, 3000, 50_000, 20_000, 90];

#[test]
fn what_this_program_takes_is_told_apart_and_is_not_lost() {
    let noise = noise(vec![gaps(LENGTHS)], Ok(&traced()));
    let cpu = &noise.cpus[0];
    assert_eq!(
        parts(&cpu.parts),
        "fullclock itself 50000 in 1; task kworker (40) 20000 in 1; timer tick 4000 in 2; irq 24 eth0 3000 in 1; \
         unexplained 90 in 1"
    );
    assert_eq!((cpu.lost_ns, cpu.own_ns), (27_090, 50_000));
    assert_eq!(cpu.parts.iter().map(|it| it.taken.ns).sum::<u64>(), cpu.lost_ns + cpu.own_ns);
}

#[test]
fn the_longest_gaps_come_first_with_their_time_and_cause() {
    let noise = noise(vec![gaps(LENGTHS)], Ok(&traced()));
    let line = |(cpu, gap): &(u32, &LongGap)| {
        let takers = gap.takers.as_deref().unwrap_or_default();
        let takers: Vec<String> = takers.iter().map(|(it, ns)| format!("{it} {ns}")).collect();
        format!("CPU {cpu} {} {}: {}", gap.at_ns, gap.length_ns, takers.join(", "))
    };
    let lines: Vec<String> = noise.longest().iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "CPU 1 4000000 50000: fullclock itself 50000",
            "CPU 1 5000000 20000: task kworker (40) 20000",
            "CPU 1 3000000 3000: irq 24 eth0 3000",
            "CPU 1 1000000 2000: timer tick 2000",
            "CPU 1 2000000 2000: timer tick 2000",
            "CPU 1 6000000 90: unexplained 90",
        ]
    );
}

#[test]
fn every_tick_that_was_counted_is_to_be_found_in_a_gap() {
    let noise = noise(vec![gaps(LENGTHS)], Ok(&traced()));
    assert_eq!(noise.cpus[0].ticks, Ok(Ticks { found: 2, counted: 2 }));
}

#[test]
fn without_a_trace_gaps_are_split_by_counts_and_none_has_a_cause() {
    let denied = Missing::denied("tracefs");
    let noise = noise(vec![gaps(LENGTHS)], Err(&denied));
    let cpu = &noise.cpus[0];
    assert_eq!(
        parts(&cpu.parts),
        "timer tick 48666 in 2; irq 24 eth0 24334 in 1; unexplained 4090 in 3"
    );
    assert!(cpu.longest.iter().all(|gap| gap.takers.is_none()));
    assert!(cpu.ticks.is_err());
}

#[test]
fn the_noisiest_cpu_is_first_and_one_that_was_not_watched_says_why() {
    let quiet = Gaps { cpu: 1, ..gaps([90]) };
    let noisy = Gaps { cpu: 2, ..gaps([90_000, 500]) };
    let noise = noise(vec![quiet, noisy], Ok(&[]));
    let order: Vec<u32> = noise.cpus.iter().map(|it| it.cpu).collect();
    assert_eq!(order, [2, 1]);
    assert_eq!(noise.unwatched, [(7, Missing::absent("CPU 7"))]);
    assert_eq!(noise.wall_ns(), 2_000_000_000);
    assert_eq!(noise.histogram().buckets().iter().map(|it| it.count).sum::<u64>(), 3);
}

#[test]
fn the_time_between_readings_is_what_gaps_leave() {
    let noise = noise(vec![gaps([100_000_000])], Ok(&[]));
    let step_ns = noise.cpus[0].step_ns.as_ref().unwrap();
    assert!((step_ns - 18.0).abs() < 1e-6, "{step_ns}");
    let blind = Gaps { reads: 1, ..gaps([100_000_000]) };
    assert!(self::noise(vec![blind], Ok(&[])).cpus[0].step_ns.is_err());
}
