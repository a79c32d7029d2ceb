//! Conservation: whatever the gaps and whatever was seen or counted, the parts sum to the gaps.

use super::{Counts, NoiseSource, Untraced, by_counts, join};
use facts::Missing;
use facts::probe::{Gap, Gaps, NotKept};
use facts::trace::{Cause, Comm, Event, Task, What};
use proptest::prelude::*;

fn any_gaps() -> impl Strategy<Value = Gaps> {
    let steps = prop::collection::vec((0u64..3000, 0u64..5000), 0..40);
    (steps, 0u64..3, 0u64..100_000, 0u64..5).prop_map(|(steps, count, total_ns, switches)| {
        let mut at_ns = 0;
        let gap = |(pause, length_ns)| {
            let gap = Gap { at_ns: at_ns + pause, length_ns };
            at_ns = gap.end_ns();
            gap
        };
        let gaps: Vec<Gap> = steps.into_iter().map(gap).collect();
        Gaps {
            cpu: 0,
            thread: 1,
            started_ns: 0,
            ended_ns: at_ns,
            reads: 0,
            floor_ns: 40,
            slack_ns: 20,
            switches,
            gaps,
            not_kept: NotKept { count, total_ns },
        }
    })
}

fn any_cause() -> impl Strategy<Value = Cause> {
    prop_oneof![
        Just(Cause::LocalTimer),
        (0u32..3).prop_map(Cause::Device),
        (0u8..12).prop_map(Cause::Softirq),
    ]
}

fn any_event() -> impl Strategy<Value = Event> {
    let task = || (0i32..4).prop_map(|tid| Task { tid, comm: Comm::default() });
    let what = prop_oneof![
        any_cause().prop_map(What::Enter),
        any_cause().prop_map(What::Exit),
        (task(), task()).prop_map(|(prev, next)| What::Switch { prev, prev_state: 0, next }),
        Just(What::Lost(1)),
    ];
    let at = prop_oneof![0u64..200_000, Just(u64::MAX)];
    (at, 0u32..2, prop::option::of(0i32..4), what).prop_map(|(at_ns, cpu, running, what)| Event {
        at_ns,
        cpu,
        running,
        what,
    })
}

fn any_count() -> impl Strategy<Value = Result<u64, Missing>> {
    prop_oneof![
        (0u64..30).prop_map(Ok),
        (0u64..200_000).prop_map(Ok),
        Just(Ok(u64::MAX)),
        Just(Err(Missing::denied("a counter"))),
    ]
}

fn any_counts() -> impl Strategy<Value = Counts> {
    let interrupts = prop::collection::btree_map(any_cause(), any::<u64>(), 0..4);
    let few = prop::collection::btree_map(any_cause(), 0u64..20, 0..4);
    let tasks = prop::collection::vec((1i32..9, 0u64..9000), 0..4);
    (prop_oneof![interrupts, few], tasks, any_count(), any_count(), any_count()).prop_map(
        |(interrupts, tasks, n_nmi, stolen_ns, n_smi)| Counts {
            interrupts: Ok(interrupts),
            tasks: Ok(tasks.into_iter().map(|(tid, ns)| (tid, Comm::default(), ns)).collect()),
            n_nmi,
            stolen_ns,
            n_smi,
        },
    )
}

proptest! {
    #[test]
    fn a_joined_trace_sums_to_the_gaps(
        gaps in any_gaps(),
        events in prop::collection::vec(any_event(), 0..80),
        is_guest in any::<bool>(),
        (n_smi, n_nmi, n_interrupts) in (0u64..4, 0u64..4, 0u64..4),
    ) {
        let books = join(&gaps, &events).books(Untraced { is_guest, n_smi, n_nmi, n_interrupts });
        prop_assert_eq!(books.total_ns(), gaps.total_ns());
        prop_assert!(books.of(NoiseSource::Unexplained).ns >= gaps.not_kept.total_ns);
    }

    #[test]
    fn a_split_by_counts_sums_to_the_gaps(gaps in any_gaps(), counts in any_counts()) {
        prop_assert_eq!(by_counts(&gaps, &counts).total_ns(), gaps.total_ns());
    }
}
