//! A trace in a line of words, and its account in another.

use super::*;
use crate::trace::{Comm, TickStop};
use proptest::prelude::*;

/// `100:5 +timer` is CPU 0 in task 5 entering a cause at 100 ns; `>7` switches to task 7.
fn event(text: &str) -> Event {
    let (head, what) = text.split_once(' ').unwrap();
    let (at, tid) = head.split_once(':').unwrap();
    let running = tid.parse().ok();
    let cause = |name: &str| match name {
        "timer" => Cause::LocalTimer,
        "net" => Cause::Softirq(3),
        irq => Cause::Device(irq.parse().unwrap()),
    };
    let task = |tid: i32| Task { tid, comm: Comm::new(&format!("t{tid}")) };
    let what = match what.split_at(1) {
        ("+", name) => What::Enter(cause(name)),
        ("-", name) => What::Exit(cause(name)),
        (">", tid) => What::Switch {
            prev: task(running.unwrap()),
            prev_state: 0,
            next: task(tid.parse().unwrap()),
        },
        ("!", lost) => What::Lost(lost.parse().unwrap()),
        (_, dependency) => What::TickStop(TickStop {
            dependency: dependency.parse().unwrap(),
            success: dependency == "0",
        }),
    };
    Event { at_ns: at.parse().unwrap(), cpu: 0, running, what }
}

/// The account of 0 to 1000 ns.
fn account_of(mut timeline: Timeline, events: &str) -> String {
    timeline.begin(0);
    events.split(", ").filter(|it| !it.is_empty()).for_each(|it| timeline.push(&event(it)));
    let totals = timeline.end(1000);
    assert_eq!(sum(&totals), totals.wall_ns);
    let mut words = vec![format!("unknown {} idle {}", totals.unknown_ns, totals.idle_ns)];
    words.extend(totals.tasks.iter().map(|(tid, it)| format!("{tid}({}) {}", it.comm, it.run_ns)));
    words.extend(
        totals.causes.iter().map(|(cause, it)| {
            format!("{cause} x{} {}+{}", it.count, it.in_idle_ns, it.in_task_ns)
        }),
    );
    words.join(", ")
}

fn account(events: &str) -> String {
    account_of(Timeline::new(), events)
}

fn sum(totals: &CpuTotals) -> u64 {
    totals.unknown_ns + totals.idle_ns + totals.task_ns() + totals.interrupted_ns()
}

#[test]
fn an_interrupt_is_carved_out_of_the_softirq_and_that_out_of_the_task() {
    assert_eq!(
        account("100:5 +net, 150:5 +timer, 170:5 -timer, 300:5 -net"),
        "unknown 0 idle 0, 5() 800, local_timer x1 0+20, softirq NET_RX x1 0+180"
    );
}

#[test]
fn a_softirq_belongs_to_the_task_that_it_ran_on_top_of() {
    let of = |mut timeline: Timeline| {
        timeline.begin(0);
        let events =
            "100:5 +net, 150:5 +timer, 170:5 -timer, 300:5 -net, 400:5 >0, 500:0 +net, 530:0 -net";
        events.split(", ").for_each(|it| timeline.push(&event(it)));
        timeline.end(1000).softirq_tasks
    };
    assert_eq!(of(Timeline::new()), [((3, 0), 30), ((3, 5), 180)].into());
    assert_eq!(of(Timeline::without_switches()), [].into());
}

#[test]
fn an_interrupt_of_the_idle_task_is_carved_out_of_idle() {
    assert_eq!(
        account("100:0 +timer, 130:0 -timer, 400:0 >5, 600:5 >0"),
        "unknown 0 idle 770, 5(t5) 200, local_timer x1 30+0"
    );
}

#[test]
fn the_first_event_shows_who_ran_until_then() {
    assert_eq!(account("600:5 >0"), "unknown 0 idle 400, 5(t5) 600");
    assert_eq!(account("600:5 -timer"), "unknown 0 idle 0, 5() 400, local_timer x0 0+600");
}

#[test]
fn without_an_event_all_is_unknown() {
    assert_eq!(account(""), "unknown 1000 idle 0");
}

#[test]
fn time_up_to_a_loss_is_unknown_and_time_after_it_is_not() {
    assert_eq!(
        account("100:5 >6, 400: !9, 700:7 >0"),
        "unknown 300 idle 300, 5(t5) 100, 7(t7) 300"
    );
}

#[test]
fn a_switch_that_nobody_saw_makes_the_time_before_it_unknown() {
    assert_eq!(
        account("100:5 >6, 400:8 +timer, 500:8 -timer"),
        "unknown 300 idle 0, 5(t5) 100, 8() 500, local_timer x1 0+100"
    );
}

#[test]
fn an_exit_that_nobody_saw_ends_with_what_it_interrupted() {
    assert_eq!(
        account("100:5 +net, 150:5 +timer, 300:5 -net, 400:5 -timer"),
        "unknown 0 idle 0, 5() 800, local_timer x1 0+150, softirq NET_RX x1 0+50"
    );
    assert_eq!(
        account("100:5 +29, 200:5 >6"),
        "unknown 0 idle 0, 5(t5) 100, 6(t6) 800, irq 29 x1 0+100"
    );
}

#[test]
fn a_preempted_softirq_goes_on_when_its_task_is_back() {
    assert_eq!(
        account("100:5 +net, 200:5 >6, 500:6 >5, 600:5 -net"),
        "unknown 0 idle 0, 5(t5) 500, 6(t6) 300, softirq NET_RX x1 0+200"
    );
}

#[test]
fn stamps_that_run_backwards_take_no_time() {
    assert_eq!(account("500:5 >6, 300:6 >7"), "unknown 0 idle 0, 5(t5) 500, 7(t7) 500");
}

#[test]
fn without_switches_only_interrupts_are_known() {
    let interrupts = "100:5 +timer, 130:5 -timer, 500:0 +timer, 510:0 -timer";
    assert_eq!(
        account_of(Timeline::without_switches(), interrupts),
        "unknown 960 idle 0, local_timer x2 10+30"
    );
}

#[test]
fn a_task_knows_what_came_while_it_ran_and_the_idle_task_does_not() {
    let mut timeline = Timeline::new();
    timeline.begin(0);
    let events = "100:5 +timer, 130:5 -timer, 140:5 +net, 150:5 +29, 160:5 -29, 200:5 -net, \
                  300:5 >0, 400:0 +timer, 410:0 -timer";
    events.split(", ").for_each(|it| timeline.push(&event(it)));
    let totals = timeline.end(1000);
    let task = totals.tasks[&5];
    assert_eq!((task.run_ns, task.interrupts, task.interrupted_ns), (210, 1, 90));
    assert!(!totals.tasks.contains_key(&0));
    let from_tasks = |cause| totals.causes[&cause].from_tasks;
    assert_eq!(from_tasks(Cause::LocalTimer), 1);
    assert_eq!((from_tasks(Cause::Device(29)), from_tasks(Cause::Softirq(3))), (0, 0));
}

#[test]
fn what_came_before_the_interval_sets_the_state_and_is_not_counted() {
    let mut timeline = Timeline::new();
    timeline.push(&event("50:5 >6"));
    timeline.push(&event("60:6 +timer"));
    timeline.begin(100);
    let totals = timeline.end(200);
    let timer = totals.causes[&Cause::LocalTimer];
    assert_eq!((totals.switches, timer.count, timer.in_task_ns), (0, 0, 100));
}

#[test]
fn the_next_interval_begins_in_the_state_in_which_the_last_one_ended() {
    let mut timeline = Timeline::new();
    timeline.begin(0);
    timeline.push(&event("50:5 >6"));
    timeline.push(&event("60:6 *4"));
    let first = timeline.end(100);
    timeline.begin(100);
    assert_eq!(timeline.end(300).tasks[&6].run_ns, 200);
    assert_eq!(first.tick_stops[&TickStop { dependency: 4, success: false }], 1);
}

fn any_event() -> impl Strategy<Value = Event> {
    let tid = || prop_oneof![Just(0), 0..4i32, any::<i32>()];
    let cause = || {
        prop_oneof![
            Just(Cause::LocalTimer),
            Just(Cause::Reschedule),
            (0..3u32).prop_map(Cause::Device),
            any::<u8>().prop_map(Cause::Softirq),
        ]
    };
    let task = move || tid().prop_map(|tid| Task { tid, comm: Comm::default() });
    let what = prop_oneof![
        (task(), any::<u64>(), task()).prop_map(|(prev, prev_state, next)| What::Switch {
            prev,
            prev_state,
            next
        }),
        cause().prop_map(What::Enter),
        cause().prop_map(What::Exit),
        any::<u64>().prop_map(What::Lost),
        (any::<u32>(), any::<bool>())
            .prop_map(|(dependency, success)| What::TickStop(TickStop { dependency, success })),
    ];
    let at_ns = prop_oneof![0..10_000u64, 0..10_000u64, any::<u64>()];
    (at_ns, prop::option::of(tid()), what).prop_map(|(at_ns, running, what)| Event {
        at_ns,
        cpu: 0,
        running,
        what,
    })
}

proptest! {
    #[test]
    fn the_lines_always_sum_to_the_interval(
        mut events in prop::collection::vec(any_event(), 0..60),
        sorted: bool, sees_switches: bool, begin in 0..5_000u64, end in 0..20_000u64, at in 0..20usize,
    ) {
        if sorted {
            events.sort_by_key(|it| it.at_ns);
        }
        let mut timeline =
            if sees_switches { Timeline::new() } else { Timeline::without_switches() };
        let (before, within) = events.split_at(at.min(events.len()));
        before.iter().for_each(|it| timeline.push(it));
        timeline.begin(begin);
        within.iter().for_each(|it| timeline.push(it));
        let totals = timeline.end(end);
        prop_assert_eq!(sum(&totals), totals.wall_ns);
    }
}
