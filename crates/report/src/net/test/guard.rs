//! The clock guard of a network test in sentences: whether CPUs limited it, at which clock they worked, and what slows them.

use crate::net::Statements;
use lab::net::protocol::Test;
use lab::net::{BUSY, Ends, FULL, Guard, LARGE, Point, Run, Work, guards, own_share};

pub(super) fn put(statements: &mut Statements, run: &Run) {
    let guards = guards(run);
    if run.polls() {
        statements.add("CPU", &polled(run, &guards[0]));
    } else if run.task.test == Test::Latency {
        let words = format!(
            "{:.0} % of a round trip is CPU time of the two threads, which follows their clock; the rest is the wire, interrupts \
             and waking up",
            100.0 * own_share(run)
        );
        statements.add("CPU", &words);
    } else if guards.iter().all(|it| it.bound.is_empty()) {
        let percent = 100.0 * BUSY;
        let words = format!(
            "no thread was on a CPU for {percent:.0} % of its time; whether it waited for the wire, for the other end or for a busy \
             CPU is unknown"
        );
        statements.add("CPU", &words);
    } else {
        guards.iter().filter(|it| !it.bound.is_empty()).for_each(|it| bound(statements, run, it));
    }
    for guard in &guards {
        clock(statements, run, guard);
    }
}

/// A sentence for programs that poll; both ends have the same sizes.
fn polled(run: &Run, guard: &Guard<'_>) -> String {
    let polls = "perftest polls, so that its CPUs are busy whatever it waits for";
    if run.task.test == Test::Latency {
        return format!(
            "{polls}: how much of a latency is theirs is unknown; that part follows their clock, and of small messages \
             that is most of what the wire and the adapters do not take"
        );
    }
    let percent = 100.0 * FULL;
    match &guard.bound[..] {
        _ if run.points.iter().all(|it| it.message < LARGE) => format!(
            "{polls}; no size here is large enough to show what the cost of each message takes from these: --sizes all has some"
        ),
        [] => format!(
            "{polls}; every size moves {percent:.0} % of the best one or more, which no clock limits"
        ),
        bound => format!(
            "{polls}; messages of {} bytes move less than {percent:.0} % of the best size, so that the cost of each message limits \
             them: on the CPU, where it follows the clock, or in the adapter",
            spans(&run.points, bound)
        ),
    }
}

fn bound(statements: &mut Statements, run: &Run, guard: &Guard<'_>) {
    let which = if guard.bound.len() == run.points.len() {
        "every size".to_owned()
    } else {
        format!("messages of {} bytes", spans(&run.points, &guard.bound))
    };
    let words = format!(
        "a CPU of the {} limits {which}: a thread there was busy for {:.0} % of its time or more, so the rate follows that CPU's \
         clock",
        guard.end,
        100.0 * BUSY
    );
    statements.add("CPU", &words);
}

/// The listed sizes, with neighbours among the measured ones joined to ranges: `2 to 1024, 65536`.
pub(super) fn spans(measured: &[Point], listed: &[&Point]) -> String {
    let is_listed = |point: &Point| listed.iter().any(|it| it.message == point.message);
    let runs = measured.chunk_by(|a, b| is_listed(a) == is_listed(b));
    let words: Vec<String> = runs
        .filter_map(|run| match run {
            [first, .., last] if is_listed(first) => {
                Some(format!("{} to {}", first.message.0, last.message.0))
            }
            [one] if is_listed(one) => Some(one.message.0.to_string()),
            _ => None,
        })
        .collect();
    words.join(", ")
}

fn clock(statements: &mut Statements, run: &Run, guard: &Guard<'_>) {
    let end = guard.end;
    let Some(slowest) = guard.slowest_hz else {
        let why = unread(run, end);
        statements.add("clock", &format!("unknown of the {end}: {why}"));
        return;
    };
    let slowest = slowest / 1e6;
    let measured = match guard.bound.is_empty() {
        true => format!("the {end} worked at {slowest:.0} MHz or more"),
        false => format!("the {end} worked on these sizes at {slowest:.0} MHz or more"),
    };
    let words = match (guard.lacking(), guard.clocks.nominal_hz.value()) {
        (None, Some(nominal)) => format!("{measured}; nominal clock {:.0} MHz", nominal / 1e6),
        (Some(lacking), Some(nominal)) => format!(
            "{measured}; nominal clock {:.0} MHz, {:.0} % more: {}",
            nominal / 1e6,
            100.0 * lacking,
            gain(run, guard)
        ),
        (_, None) => {
            let why = guard.clocks.nominal_hz.reason().unwrap_or_default();
            format!("{measured}; nominal clock unknown: {why}")
        }
    };
    statements.add("clock", &words);
    // The findings of an audit matter if the clock was low, or if perftest found clocks that differ.
    if guard.lacking().is_some() || !run.conflicts.is_empty() {
        for it in &guard.clocks.slowing {
            let fix = it.fix.first().map_or(String::new(), |it| format!("; `{it}` fixes it"));
            statements.add("", &format!("{}: {}{fix}", it.check, it.message));
        }
        if guard.lacking().is_some() && guard.clocks.slowing.is_empty() {
            statements.add("", &format!("an audit of the {end} finds no cause"));
        }
    }
}

/// What a test would gain at the nominal clock.
fn gain(run: &Run, guard: &Guard<'_>) -> &'static str {
    if run.task.test == Test::Latency {
        "that part of a round trip would be shorter by as much"
    } else if guard.bound.is_empty() {
        "no size of this test is known to be limited by it"
    } else {
        "up to as much more is possible at these sizes"
    }
}

/// The reason why the clock of an end is unknown.
fn unread<'a>(run: &'a Run, end: &str) -> &'a str {
    let of = |ends: &'a Ends<Vec<Work>>| -> &'a [Work] {
        if end == "client" { &ends.client } else { &ends.server }
    };
    let mut reasons =
        run.points.iter().flat_map(|it| of(&it.work)).filter_map(|it| it.clock_hz.reason());
    reasons.next_back().unwrap_or("no thread worked")
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use lab::known::Known;

    fn sizes(guard: &Guard<'_>) -> Vec<u64> {
        guard.bound.iter().map(|it| it.message.0).collect()
    }

    #[test]
    fn a_busy_thread_limits_its_sizes_and_a_low_clock_by_how_much() {
        let run = fixture::bandwidth();
        let [client, server] = guards(&run);
        assert_eq!((sizes(&client), sizes(&server)), (vec![2, 4096], vec![]));
        assert!((client.lacking().unwrap() - 0.58375).abs() < 1e-9);
        assert_eq!(client.slowest_hz, Some(1.6e9));
        assert_eq!(server.lacking(), None);
    }

    #[test]
    fn neighbouring_sizes_are_told_together() {
        let points = fixture::bandwidth().points;
        let told = |which: &[usize]| {
            spans(&points, &which.iter().map(|it| &points[*it]).collect::<Vec<_>>())
        };
        assert_eq!(told(&[0, 1, 2]), "2 to 8388608");
        assert_eq!(told(&[1, 2]), "4096 to 8388608");
        assert_eq!(told(&[0, 2]), "2, 8388608");
    }

    #[test]
    fn without_a_nominal_clock_nothing_is_claimed() {
        let mut run = fixture::bandwidth();
        run.judged.client.clocks.nominal_hz = Known::Missing { missing: "nobody tells".to_owned() };
        assert_eq!(guards(&run)[0].lacking(), None);
    }

    #[test]
    fn of_programs_that_poll_only_other_sizes_tell_what_limits_one() {
        let mut run = fixture::rdma();
        let [client, server] = guards(&run);
        assert_eq!((sizes(&client), sizes(&server)), (vec![2, 4096], vec![2, 4096]));
        assert!(polled(&run, &client).contains("2 to 4096 bytes move less than 90 %"));
        run.points.truncate(2);
        assert!(polled(&run, &guards(&run)[0]).contains("no size here is large enough"));
    }

    #[test]
    fn of_a_round_trip_both_threads_count() {
        assert!((own_share(&fixture::latency()) - 0.6).abs() < 1e-9);
    }
}
