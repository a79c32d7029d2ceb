//! Gaps split by how far counters went, where nothing may be traced.
//!
//! An interrupt makes a gap, and so does being put off the CPU; what else makes gaps makes shorter ones. So the
//! longest gaps are taken for what was counted, as many as were counted, the noise source with the longest first: tasks,
//! system management mode, and interrupts of all kinds, whose time is split evenly by number. Softirqs are in the
//! interrupts that raised them. Stolen time is in gaps far longer than the other interrupts, then in what is left. All
//! of this is an estimate: two interrupts in one gap, or a long gap that no counter knows, shift time between the
//! lines. The sum is exact.

use super::joined::SHORTEST_EXIT_NS;
use super::{Counts, GapBooks, Method, NoiseSource};
use facts::probe::{Call, EventCost, EventCosts, Gaps};
use facts::trace::{Cause, Comm};
use facts::{Fact, Missing, Why};

/// No interrupt and its return take less than leaving a guest does; shorter gaps are the core's own.
const SHORTEST_INTERRUPT_NS: u64 = SHORTEST_EXIT_NS;

/// A gap of this many times the median is no interrupt, where time was stolen.
const OUTLIER: u64 = 10;

/// Splits the gaps of one CPU by what was counted there meanwhile.
pub fn by_counts(gaps: &Gaps, counts: &Counts) -> GapBooks {
    let mut books = GapBooks::empty(gaps.cpu, Method::Counts);
    let mut left = Lengths::of(gaps);
    enter_tasks(&mut books, &left.longest(gaps.switches, 0), counts);
    let in_firmware = left.longest(counts.n_smi.clone().unwrap_or_default(), 0);
    books.enter(NoiseSource::Firmware, sum(&in_firmware), in_firmware.len() as u64);
    let outliers = enter_interrupts(&mut books, &mut left, counts);
    enter_stolen(&mut books, &mut left, outliers, counts);
    books.enter(NoiseSource::Unexplained, sum(&left.0), left.0.len() as u64);
    books.enter(NoiseSource::Unexplained, gaps.not_kept.total_ns, gaps.not_kept.count);
    books
}

/// What an event takes, softirqs included: the median of the longest gaps, as many as there were interrupts. `tick` is the
/// cause of the CPU's ticks, and interrupts that other CPUs send have [`call_cost`], where that is known.
///
/// Ticks and other interrupts are not told apart unless one kind is all there was: both have the median of both, and what
/// they differ by is in the uncertainty. The few gaps that another task or a hypervisor has lengthened do not move it. Missing
/// where they are not few, where more than a tenth of the interrupts made no gap, and of a kind that hardly came.
pub fn costs_by_counts(
    gaps: &Gaps,
    counts: &Counts,
    tick: Cause,
    call: Fact<EventCost>,
) -> EventCosts {
    let alike = interrupt_lengths(gaps, counts);
    let of = |what: &str, is_wanted: &dyn Fn(Cause) -> bool| {
        let came = counts.interrupts.as_ref()?.iter().filter(|it| is_wanted(*it.0));
        let n_came = came.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
        EventCost::among(what, n_came, alike.clone()?)
    };
    EventCosts { call, ..EventCosts::of_kinds(tick, of) }
}

/// What an interrupt that another CPU sends takes: the median, over the calls, of the longest gap that began meanwhile. Missing
/// where there are fewer than ten. A call that took much longer than others does not count: its sender, or this CPU, was busy
/// with other tasks.
pub fn call_cost(gaps: &Gaps, calls: &[Call]) -> Fact<EventCost> {
    let took = |call: &Call| call.answered_ns.saturating_sub(call.asked_ns);
    let mut times: Vec<u64> = calls.iter().map(took).collect();
    times.sort_unstable();
    let usual_ns = times.get(times.len() / 2).map_or(0, |it| it.saturating_mul(2));
    let longest = |call: &Call| {
        let first =
            gaps.gaps.partition_point(|it| it.at_ns < call.asked_ns.saturating_sub(gaps.slack_ns));
        let until = call.answered_ns.saturating_add(gaps.slack_ns);
        let during = gaps.gaps.get(first..)?.iter().take_while(|it| it.at_ns <= until);
        during.map(|it| it.length_ns).max()
    };
    EventCost::typical(
        EventCosts::CALL,
        calls.iter().filter(|it| took(it) <= usual_ns).filter_map(longest).collect(),
    )
}

/// The gaps that interrupts made. Errors: the CPU was too busy for that to be seen.
fn interrupt_lengths(gaps: &Gaps, counts: &Counts) -> Fact<Vec<u64>> {
    let busy = |text: String| Missing {
        what: "the cost of an interrupt".to_owned(),
        why: Why::Failed(format!("the CPU was too busy to time interrupts: {text}")),
    };
    let counted = interrupts(counts)?;
    let n_events = counted.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    if gaps.not_kept.count > 0 {
        let n_gaps = gaps.count();
        return Err(busy(format!("it was taken away {n_gaps} times, more often than is kept")));
    }
    let n_smi = counts.n_smi.clone().unwrap_or_default();
    let mut left = Lengths::of(gaps);
    let _of_tasks = left.longest(gaps.switches.saturating_add(n_smi), 0);
    let lengths = left.longest(n_events, SHORTEST_INTERRUPT_NS);
    let n_seen = lengths.len() as u64;
    // Those that came while another task had the CPU made no gap of their own.
    if n_seen.saturating_mul(10) < n_events.saturating_mul(9) {
        let n_unseen = n_events.saturating_sub(n_seen);
        let n_switches = gaps.switches;
        return Err(busy(format!(
            "it was switched to other tasks {n_switches} times, and {n_unseen} of {n_events} interrupts came meanwhile"
        )));
    }
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    let n_usual = lengths.partition_point(|it| *it < median.saturating_mul(OUTLIER));
    let n_disturbed = lengths.len().saturating_sub(n_usual);
    if n_disturbed > lengths.len() / 4 {
        return Err(busy(format!(
            "{n_disturbed} of {n_seen} interruptions were {OUTLIER} times as long as the median"
        )));
    }
    Ok(lengths)
}

/// Being put off the CPU makes a gap each time; whose it is, the tasks' own run time says, and not how often each took the CPU. The
/// rest belongs to tasks that ended or moved on.
fn enter_tasks(books: &mut GapBooks, away: &[u64], counts: &Counts) {
    let mut left_ns = sum(away);
    let tasks = counts.tasks.as_deref().unwrap_or_default();
    for &(tid, comm, run_ns) in tasks {
        let own_ns = run_ns.min(left_ns);
        left_ns -= own_ns;
        books.enter(NoiseSource::Task(tid, comm), own_ns, 0);
    }
    let count = if tasks.is_empty() { away.len() as u64 } else { 0 };
    books.enter(NoiseSource::Task(0, Comm::default()), left_ns, count);
}

/// Enters the longest gaps as interrupts. Gaps too long for one are given back: they may be stolen time.
fn enter_interrupts(books: &mut GapBooks, left: &mut Lengths, counts: &Counts) -> Lengths {
    let Ok(counted) = interrupts(counts) else { return Lengths(Vec::new()) };
    let n_events = counted.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    let mut lengths = Lengths(left.longest(n_events, SHORTEST_INTERRUPT_NS));
    let median = lengths.0.get(lengths.0.len() / 2).copied().unwrap_or_default();
    let is_stolen = counts.stolen_ns.as_ref().is_ok_and(|ns| *ns > 0);
    let most = if is_stolen { median.saturating_mul(OUTLIER) } else { u64::MAX };
    let outliers = lengths.longest(u64::MAX, most);
    lengths.0.extend(left.longest(outliers.len() as u64, SHORTEST_INTERRUPT_NS));
    let all_ns = sum(&lengths.0);
    let (mut n_before, mut ns_before) = (0u64, 0u64);
    for (source, count) in counted {
        n_before = n_before.saturating_add(count);
        // Shares of the sum so far, so that rounding never loses a nanosecond.
        let share = u128::from(all_ns) * u128::from(n_before) / u128::from(n_events.max(1));
        let until_ns = u64::try_from(share).unwrap_or(all_ns);
        books.enter(source, until_ns.saturating_sub(ns_before), count);
        ns_before = until_ns;
    }
    Lengths(outliers)
}

/// What the hypervisor says it took comes out of gaps too long for an interrupt, then out of those that nothing else
/// made.
fn enter_stolen(books: &mut GapBooks, left: &mut Lengths, mut outliers: Lengths, counts: &Counts) {
    let stolen_ns = counts.stolen_ns.clone().unwrap_or_default();
    let in_outliers_ns = outliers.cut(stolen_ns);
    let in_others_ns = left.cut(stolen_ns.saturating_sub(in_outliers_ns));
    books.enter(NoiseSource::Hypervisor, in_outliers_ns, 0);
    books.enter(NoiseSource::Hypervisor, in_others_ns, 0);
    books.enter(NoiseSource::Unexplained, sum(&outliers.0), outliers.0.len() as u64);
}

/// Every kind of interrupt that came, with how often.
fn interrupts(counts: &Counts) -> Fact<Vec<(NoiseSource, u64)>> {
    let causes = counts.interrupts.as_ref()?.iter();
    let mut all: Vec<(NoiseSource, u64)> =
        causes.map(|(&it, &n)| (NoiseSource::Kernel(it), n)).collect();
    all.push((NoiseSource::Nmi, counts.n_nmi.clone().unwrap_or_default()));
    all.retain(|(_, count)| *count > 0);
    Ok(all)
}

/// The lengths of gaps that nobody has been found for, in nanoseconds, ascending.
struct Lengths(Vec<u64>);

impl Lengths {
    fn of(gaps: &Gaps) -> Lengths {
        let mut lengths: Vec<u64> = gaps.gaps.iter().map(|gap| gap.length_ns).collect();
        lengths.sort_unstable();
        Lengths(lengths)
    }

    /// Takes the `n` longest that are at least `shortest` long.
    fn longest(&mut self, n: u64, shortest: u64) -> Vec<u64> {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let first_long = self.0.partition_point(|&length| length < shortest);
        self.0.split_off(first_long.max(self.0.len().saturating_sub(n)))
    }

    /// Takes `ns` nanoseconds off the longest; how many there were to take.
    fn cut(&mut self, ns: u64) -> u64 {
        let mut taken_ns = 0;
        while taken_ns < ns
            && let Some(longest) = self.0.pop()
        {
            let part_ns = longest.min(ns - taken_ns);
            taken_ns += part_ns;
            let rest_ns = longest - part_ns;
            if rest_ns > 0 {
                self.0.insert(self.0.partition_point(|&length| length < rest_ns), rest_ns);
            }
        }
        taken_ns
    }
}

fn sum(lengths: &[u64]) -> u64 {
    lengths.iter().fold(0, |sum, length| sum.saturating_add(*length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::probe::{Gap, NotKept};

    fn gaps(lengths: &[u64], switches: u64) -> Gaps {
        let gap = |(at, &length_ns): (u64, &u64)| Gap { at_ns: at * 1_000_000_000, length_ns };
        Gaps {
            cpu: 1,
            thread: 9,
            started_ns: 0,
            ended_ns: 10_000_000_000,
            reads: 1,
            floor_ns: 40,
            slack_ns: 20,
            switches,
            gaps: (0..).zip(lengths).map(gap).collect(),
            not_kept: NotKept::default(),
        }
    }

    fn nothing() -> Counts {
        Counts {
            interrupts: Ok([].into()),
            n_nmi: Ok(0),
            tasks: Ok(Vec::new()),
            stolen_ns: Ok(0),
            n_smi: Ok(0),
        }
    }

    fn costs(lengths: &[u64], counts: &Counts) -> EventCosts {
        let no_call = Err(Missing::not_collected("calls"));
        costs_by_counts(&gaps(lengths, 0), counts, Cause::LocalTimer, no_call)
    }

    fn shown(books: &GapBooks) -> String {
        let line = |(source, it): (&NoiseSource, &super::super::Taken)| {
            format!("{source} {} in {}", it.ns, it.count)
        };
        books.taken.iter().map(line).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn the_longest_gaps_are_the_interrupts_that_were_counted() {
        let interrupts = [(Cause::LocalTimer, 3), (Cause::Device(24), 1)].into();
        let counts = Counts { interrupts: Ok(interrupts), ..nothing() };
        let books = by_counts(&gaps(&[60, 8000, 70, 9000, 7000, 6001, 500], 0), &counts);
        assert_eq!(shown(&books), "timer tick 22500 in 3; irq 24 7501 in 1; unexplained 630 in 3");
    }

    #[test]
    fn more_interrupts_than_gaps_take_no_gap_that_is_too_short_for_one() {
        let counts = Counts { interrupts: Ok([(Cause::LocalTimer, 30)].into()), ..nothing() };
        let books = by_counts(&gaps(&[60, 8000, 70], 0), &counts);
        assert_eq!(shown(&books), "timer tick 8000 in 30; unexplained 130 in 2");
    }

    #[test]
    fn tasks_take_the_longest_gaps_by_what_they_ran() {
        let tasks = vec![(7, Comm::new("kipmi0"), 900_000)];
        let counts = Counts { tasks: Ok(tasks), ..nothing() };
        let books = by_counts(&gaps(&[1_000_000, 5000], 1), &counts);
        assert_eq!(
            shown(&books),
            "another task 100000 in 0; task kipmi0 (7) 900000 in 0; unexplained 5000 in 1"
        );
    }

    #[test]
    fn a_task_that_nobody_named_is_another_task() {
        let counts = Counts { tasks: Err(Missing::denied("/proc/7/schedstat")), ..nothing() };
        let books = by_counts(&gaps(&[1_000_000, 5000], 1), &counts);
        assert_eq!(shown(&books), "another task 1000000 in 1; unexplained 5000 in 1");
    }

    #[test]
    fn stolen_time_is_cut_from_the_longest_gaps() {
        let counts = Counts { stolen_ns: Ok(10_000_000), ..nothing() };
        let books = by_counts(&gaps(&[7_000_000, 6_000_000, 5000], 0), &counts);
        assert_eq!(shown(&books), "hypervisor 10000000 in 0; unexplained 3005000 in 2");
    }

    #[test]
    fn stolen_time_leaves_the_interrupts_theirs() {
        let interrupts = Ok([(Cause::LocalTimer, 20)].into());
        let counts = Counts { interrupts, stolen_ns: Ok(10_000_000), ..nothing() };
        let lengths = [vec![7_000_000], vec![6000; 20], vec![5000; 30]].concat();
        let books = by_counts(&gaps(&lengths, 0), &counts);
        assert_eq!(shown(&books), "timer tick 120000 in 20; hypervisor 7150000 in 0");
    }

    #[test]
    fn system_management_mode_takes_gaps_by_its_count() {
        let counts = Counts { n_smi: Ok(1), ..nothing() };
        let books = by_counts(&gaps(&[200_000, 5000], 0), &counts);
        assert_eq!(shown(&books), "system management mode 200000 in 1; unexplained 5000 in 1");
    }

    #[test]
    fn without_counts_everything_is_unexplained() {
        let missing = || Missing::denied("/proc");
        let blind = Counts {
            interrupts: Err(missing()),
            n_nmi: Err(missing()),
            tasks: Err(missing()),
            stolen_ns: Err(missing()),
            n_smi: Err(missing()),
        };
        assert_eq!(shown(&by_counts(&gaps(&[5000, 70], 0), &blind)), "unexplained 5070 in 2");
        assert!(costs(&[5000; 20], &blind).tick.is_err());
    }

    #[test]
    fn as_many_gaps_as_interrupts_tell_what_one_takes() {
        let counts = Counts { interrupts: Ok([(Cause::LocalTimer, 20)].into()), ..nothing() };
        let lengths = [[6000; 20], [70; 20]].concat();
        let costs = costs(&lengths, &counts);
        assert_eq!(costs.tick, Ok(EventCost { ns: 6000, uncertainty_ns: 0 }));
    }

    #[test]
    fn a_kind_that_hardly_came_has_no_cost_whatever_the_others_take() {
        let with = |n_device| {
            let interrupts =
                [(Cause::LocalTimer, 20), (Cause::CallFunction, 30), (Cause::Device(24), n_device)];
            let counts = Counts { interrupts: Ok(interrupts.into()), ..nothing() };
            costs(&[6000; 60], &counts)
        };
        assert!(with(10).interrupt.is_ok());
        let seldom = with(9);
        assert!(seldom.tick.is_ok() && seldom.call.is_err());
        assert_eq!(
            seldom.interrupt.unwrap_err().to_string(),
            "the cost of an interrupt that is neither a tick nor another CPU's: found \"9 events\", expected ten or more"
        );
    }

    #[test]
    fn a_call_costs_the_longest_gap_that_began_meanwhile() {
        let lengths: Vec<u64> = (0..40).map(|at| if at % 2 == 0 { 60 } else { 900 + at }).collect();
        // Each lasts over two gaps, the last over none.
        let at = |gap: u64| gap * 1_000_000_000;
        let call = |gap| Call { asked_ns: at(gap) - 5, answered_ns: at(gap + 1) + 5 };
        let mut calls: Vec<Call> = (0..10).map(|number| call(20 + 2 * number)).collect();
        calls.push(Call { asked_ns: at(39) + 1000, answered_ns: at(39) + 2000 });
        let found = call_cost(&gaps(&lengths, 0), &calls);
        assert_eq!(found, Ok(EventCost { ns: 931, uncertainty_ns: 5 }));
        assert!(call_cost(&gaps(&lengths, 0), &calls[2..]).is_err());
    }

    #[test]
    fn a_few_gaps_that_something_else_lengthened_do_not_move_the_cost() {
        let counts = Counts { interrupts: Ok([(Cause::LocalTimer, 20)].into()), ..nothing() };
        let lengths = [[6000; 16].as_slice(), &[4_000_000; 4]].concat();
        assert_eq!(costs(&lengths, &counts).tick, Ok(EventCost { ns: 6000, uncertainty_ns: 0 }));
        let many = [[6000; 14].as_slice(), &[4_000_000; 6]].concat();
        assert_eq!(
            costs(&many, &counts).tick.unwrap_err().to_string(),
            "the cost of an interrupt cannot be read: the CPU was too busy to time interrupts: 6 of 20 interruptions were 10 times as \
             long as the median"
        );
    }

    #[test]
    fn interrupts_that_came_to_other_tasks_are_not_timed() {
        let counts = Counts { interrupts: Ok([(Cause::LocalTimer, 100)].into()), ..nothing() };
        let no_call = || Err(Missing::not_collected("calls"));
        let timed = |n: usize| {
            let gaps = gaps(&vec![6000; n], 10);
            costs_by_counts(&gaps, &counts, Cause::LocalTimer, no_call()).tick
        };
        assert!(timed(100).is_ok());
        assert_eq!(
            timed(99).unwrap_err().to_string(),
            "the cost of an interrupt cannot be read: the CPU was too busy to time interrupts: it was switched to other tasks 10 times, \
             and 11 of 100 interrupts came meanwhile"
        );
    }

    #[test]
    fn a_call_whose_sender_was_put_off_its_cpu_does_not_count() {
        let lengths = [[900; 12].as_slice(), &[5_000_000; 11]].concat();
        let at = |gap: u64| gap * 1_000_000_000;
        let call = |gap, took| Call { asked_ns: at(gap) - 5, answered_ns: at(gap) + took };
        let disturbed = (12..22).map(|it| call(it + 1, 9_000_000));
        let calls: Vec<Call> = (0..12).map(|it| call(it + 1, 2000)).chain(disturbed).collect();
        assert_eq!(call_cost(&gaps(&lengths, 0), &calls).unwrap().ns, 900);
    }
}
