//! Gaps and events as text, and where the time went as text.

use super::*;
use facts::Missing;
use facts::probe::Gap;
use facts::trace::{Comm, Task, TickStop};

const SPINNER: i32 = 9;

fn gaps(gaps: &[(u64, u64)]) -> Gaps {
    Gaps {
        cpu: 1,
        thread: SPINNER as u32,
        started_ns: 0,
        ended_ns: 10_000_000,
        reads: 1,
        floor_ns: 40,
        slack_ns: 20,
        switches: 0,
        gaps: gaps.iter().map(|&(at_ns, length_ns)| Gap { at_ns, length_ns }).collect(),
        not_kept: NotKept::default(),
    }
}

fn task(tid: i32) -> Task {
    let comm = if tid == SPINNER { "spinner" } else { "kworker" };
    Task { tid, comm: Comm::new(comm) }
}

/// Events of CPU 1, a line each: `100 +tick`, `200 -tick`, `100 9>7`, `100 lost`.
fn events(text: &str) -> Vec<Event> {
    let cause = |name: &str| match name {
        "tick" => Cause::LocalTimer,
        "rcu" => Cause::Softirq(9),
        name => Cause::Device(name.parse().unwrap()),
    };
    let event = |line: &str| {
        let (at, what) = line.trim().split_once(' ').unwrap();
        let what = match what.split_at(1) {
            ("+", name) => What::Enter(cause(name)),
            ("-", name) => What::Exit(cause(name)),
            ("l", "ost") => What::Lost(1),
            ("s", "top") => What::TickStop(TickStop { dependency: 4, success: false }),
            _ => {
                let (prev, next) = what.split_once('>').unwrap();
                let (prev, next) = (task(prev.parse().unwrap()), task(next.parse().unwrap()));
                What::Switch { prev, prev_state: 0, next }
            }
        };
        Event { at_ns: at.parse().unwrap(), cpu: 1, running: None, what }
    };
    text.split(',').map(event).collect()
}

fn shown(books: &GapBooks) -> String {
    let line = |(source, it): (&NoiseSource, &crate::spin::Taken)| {
        format!("{source} {} in {}", it.ns, it.count)
    };
    books.taken.iter().map(line).collect::<Vec<_>>().join("; ")
}

fn joined(at: &[(u64, u64)], text: &str) -> String {
    shown(&join(&gaps(at), &events(text)).books(Untraced::default()))
}

#[test]
fn an_interrupt_takes_its_gap_with_the_way_in_and_out() {
    assert_eq!(joined(&[(1000, 500)], "1100 +tick, 1400 -tick"), "timer tick 500 in 1");
}

#[test]
fn a_softirq_takes_its_time_and_leaves_the_edges_to_the_interrupt() {
    assert_eq!(
        joined(&[(1000, 500)], "1100 +tick, 1200 -tick, 1250 +rcu, 1400 -rcu"),
        "timer tick 350 in 1; softirq RCU 150 in 1"
    );
}

#[test]
fn the_way_in_and_out_is_told_by_gaps_that_one_interrupt_made() {
    let gap = |n: u64| (1000 * n, 500);
    let tick = |n: u64| format!("{} +tick, {} -tick", 1000 * n + 100 + n, 1000 * n + 400);
    let all: Vec<String> = (1..=11).map(tick).collect();
    let gaps_of = |n: u64| gaps(&(1..=n).map(gap).collect::<Vec<_>>());
    let edge_of = |n: u64, text: &str| edge(&[join(&gaps_of(n), &events(text))]);
    assert_eq!(edge_of(11, &all.join(",")), Ok(EventCost { ns: 206, uncertainty_ns: 2 }));
    // A softirq is no interrupt of its own; a gap in which a task ran as well tells nothing.
    let softirq = format!("{}, 12450 +rcu, 12470 -rcu", "12150 +tick, 12400 -tick");
    let task = "13100 +tick, 13300 -tick, 13310 9>7, 13450 7>9";
    let text = format!("{},{softirq},{task}", all.join(","));
    assert_eq!(edge_of(13, &text), Ok(EventCost { ns: 207, uncertainty_ns: 2 }));
    assert!(edge_of(9, &all[..9].join(",")).is_err());
}

#[test]
fn a_task_takes_what_it_ran_and_interrupts_carve_theirs_out_of_it() {
    assert_eq!(
        joined(&[(1000, 1000)], "1100 9>7, 1300 +24, 1400 -24, 1900 7>9"),
        "irq 24 100 in 1; task kworker (7) 900 in 1"
    );
}

#[test]
fn an_idle_cpu_in_a_gap_means_that_the_spinner_was_kept_from_running() {
    assert_eq!(
        joined(&[(1000, 1000)], "1100 9>0, 1900 0>9"),
        "idle, the spinner was kept from running 1000 in 1"
    );
}

#[test]
fn an_edge_far_longer_than_usual_is_not_the_interrupts() {
    let at = [(1000, 300), (2000, 300), (3000, 9000)];
    let text = "1100 +tick, 1200 -tick, 2100 +tick, 2200 -tick, 3100 +tick, 3200 -tick";
    assert_eq!(joined(&at, text), "timer tick 1200 in 3; unexplained 8400 in 1");
}

#[test]
fn a_gap_without_events_is_unexplained_on_hardware_and_the_hypervisors_in_a_guest() {
    let join = join(&gaps(&[(1000, 60), (2000, 3000), (9000, 900)]), &[]);
    let books = |is_guest, n_smi, n_nmi| {
        shown(&join.books(Untraced { is_guest, n_smi, n_nmi, n_interrupts: 0 }))
    };
    assert_eq!(books(false, 0, 0), "unexplained 3960 in 3");
    assert_eq!(books(true, 0, 0), "hypervisor 3900 in 2; unexplained 60 in 1");
    assert_eq!(
        books(false, 1, 9),
        "NMI 900 in 1; system management mode 3000 in 1; unexplained 60 in 1"
    );
}

#[test]
fn as_many_gaps_as_interrupts_without_a_tracepoint_accuse_no_hypervisor() {
    let at = [(1000, 500), (2000, 3000), (9000, 900)];
    let join = join(&gaps(&at), &events("1100 +tick, 1400 -tick"));
    let counts = |interrupts| Counts {
        interrupts,
        n_nmi: Err(Missing::denied("NMI")),
        tasks: Err(Missing::denied("tasks")),
        stolen_ns: Ok(0),
        n_smi: Err(Missing::denied("SMI")),
    };
    let books = |interrupts| shown(&join.books(Untraced::of(&join, &counts(interrupts), true)));
    assert_eq!(
        books(Ok([(Cause::LocalTimer, 9), (Cause::IrqWork, 1)].into())),
        "timer tick 500 in 1; hypervisor 900 in 1; unexplained 3000 in 1"
    );
    assert_eq!(
        books(Err(Missing::denied("/proc/interrupts"))),
        "timer tick 500 in 1; unexplained 3900 in 2"
    );
}

#[test]
fn a_trace_with_holes_accuses_no_hypervisor() {
    let join = join(&gaps(&[(1000, 60), (2000, 3000)]), &events("500 lost"));
    let guest = Untraced { is_guest: true, ..Untraced::default() };
    assert_eq!(shown(&join.books(guest)), "unexplained 3060 in 2");
}

#[test]
fn what_follows_lost_events_is_unexplained_until_somebody_is_named() {
    assert_eq!(
        joined(&[(1000, 1000)], "1100 +tick, 1200 lost, 1500 7>9"),
        "timer tick 200 in 1; task kworker (7) 500 in 0; unexplained 300 in 0"
    );
}

#[test]
fn events_that_name_another_task_than_the_spinner_follow_an_unseen_switch() {
    let mut events = events("1100 +tick, 1200 -tick, 2100 +tick, 2200 -tick, 3100 +24, 3200 -24");
    events.iter_mut().for_each(|event| event.running = Some(SPINNER));
    events[4..].iter_mut().for_each(|event| event.running = Some(7));
    let at = [(1000, 300), (2000, 300), (3000, 300)];
    let books = join(&gaps(&at), &events).books(Untraced::default());
    assert_eq!(
        shown(&books),
        "timer tick 600 in 2; irq 24 100 in 1; task 7 100 in 0; unexplained 100 in 0"
    );
}

#[test]
fn a_spinner_in_a_container_is_known_by_what_most_gaps_begin_with() {
    let mut events = events("1100 +tick, 1200 -tick");
    events.iter_mut().for_each(|event| event.running = Some(40_009));
    let books = join(&gaps(&[(1000, 300)]), &events).books(Untraced::default());
    assert_eq!(shown(&books), "timer tick 300 in 1");
}

#[test]
fn events_of_other_cpus_and_attempts_to_stop_the_tick_take_no_time() {
    let mut events = events("1100 +tick, 1150 stop, 1200 -tick, 1250 +24");
    events[3].cpu = 0;
    let books = join(&gaps(&[(1000, 300)]), &events).books(Untraced::default());
    assert_eq!(shown(&books), "timer tick 300 in 1");
}

#[test]
fn gaps_that_were_not_kept_are_unexplained() {
    let mut gaps = gaps(&[]);
    gaps.not_kept = NotKept { count: 3, total_ns: 90_000 };
    assert_eq!(shown(&join(&gaps, &[]).books(Untraced::default())), "unexplained 90000 in 3");
}

#[test]
fn costs_come_from_gaps_with_one_interrupt_and_include_its_softirqs() {
    let each = |n: u64| {
        let text = |offset: u64, what: &str| format!("{} {what}", n * 1000 + offset);
        [text(100, "+tick"), text(200, "-tick"), text(250, "+rcu"), text(400, "-rcu")].join(",")
    };
    let mut at: Vec<(u64, u64)> = (1..=10).map(|n| (n * 1000, 500)).collect();
    let mut text = (1..=10).map(each).collect::<Vec<_>>().join(",");
    // Two interrupts in one gap tell of neither.
    at.push((20_000, 900));
    text.push_str(",20100 +tick,20200 -tick,20300 +24,20400 -24");
    let costs = costs(&[join(&gaps(&at), &events(&text))], Cause::LocalTimer);
    assert_eq!(costs.tick, Ok(EventCost { ns: 500, uncertainty_ns: 0 }));
    assert_eq!(
        costs.interrupt.unwrap_err().to_string(),
        "the cost of an interrupt that is neither a tick nor another CPU's: found \"0 events\", expected ten or more"
    );
}

#[test]
fn one_gap_is_told_apart_as_the_books_are() {
    let at = [(1000, 500), (3000, 700), (5000, 900)];
    let joined = join(
        &gaps(&at),
        &events("1100 +tick, 1200 -tick, 1250 +rcu, 1400 -rcu, 3100 9>7, 3600 7>9"),
    );
    let untraced = Untraced { is_guest: true, ..Untraced::default() };
    let shown = |index| {
        let takers = joined.takers(index, untraced);
        takers.iter().map(|(source, ns)| format!("{source} {ns}")).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(shown(0), "timer tick 350; softirq RCU 150");
    assert_eq!(shown(1), "task kworker (7) 700");
    assert_eq!(shown(2), "hypervisor 900");
    assert_eq!(shown(3), "");
    let all: u64 = (0..3).flat_map(|it| joined.takers(it, untraced)).map(|(_, ns)| ns).sum();
    assert_eq!(all, joined.books(untraced).total_ns());
}
