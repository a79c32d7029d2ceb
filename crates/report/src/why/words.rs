//! The verdict on two recordings and its causes, in sentences.

use super::rows::{Quantity, cost_ms, kinds_of_loads, rate, share};
use super::unit_of_work;
use crate::bench::differs::{Kind, percents, signed};
use crate::bench::{cleared, confidence, unclear};
use facts::{Fact, Missing};
use lab::stats::Interval;
use lab::verdict::{Ratio, Verdict};
use lab::why::{ALIKE, Cause, LoadTimes, Loads, Shared, Shares, Totals, What, Why};
use rules::spans::Who;

/// What may be said of the client's number, in one sentence.
pub(super) fn verdict(why: &Why) -> String {
    let [a, b] = why.totals.each_ref().map(|it| rate(it.number()));
    let means = format!("{b} against {a}");
    match &why.rate.verdict {
        Verdict::Claimed(ratio) => {
            format!("{}: {means}{}.", claim(why, ratio), cleared(&why.rate.allowance))
        }
        Verdict::NotShown(ratio) | Verdict::Same { ratio, .. } => {
            format!("No difference shown: {}: {means}.", range(why, ratio))
        }
        Verdict::TooNoisy(ratio) => format!("Too noisy to say: {}: {means}.", range(why, ratio)),
        Verdict::NotClear { ratio, allowance } => format!(
            "Not claimed: {}: {means}, {}. Record each run for longer, or again.",
            claim(why, ratio),
            unclear(allowance)
        ),
        Verdict::TooFew { have, needed, .. } => format!(
            "Too few pieces of {:.1} s to say: {have} of one, and {needed} of each are needed. Record each run for longer ({means}).",
            why.piece_s
        ),
    }
}

/// `B does 29.0 % fewer tps than A (99 % interval 28.0 to 30.0 %)`.
fn claim(why: &Why, ratio: &Ratio) -> String {
    let sure = confidence(ratio.confidence);
    if ratio.is_large() && ratio.log > 0.0 {
        let (times, interval) = ratio.times();
        let decimals = ratio.decimals_of_times();
        let [times, low, high] =
            [times, interval.low, interval.high].map(|it| format!("{it:.decimals$}"));
        let sentence = match &*why.metric.unit {
            "" => format!("the client's number of B is {times} times that of A"),
            unit => format!("B does {times} times as many {unit} as A"),
        };
        return format!("{sentence} ({sure} interval {low} to {high})");
    }
    let (change, Interval { low, high }) = ratio.change();
    let is_less = change < 0.0;
    let [near, far] = if is_less { [high, low] } else { [low, high] };
    let [change, near, far] = percents([change, near, far], ratio);
    let way = kind(why).way(is_less);
    let sentence = match &*why.metric.unit {
        "" => format!("the client's number of B is {change} % {way} than that of A"),
        unit => format!("B does {change} % {way} {unit} than A"),
    };
    format!("{sentence} ({sure} interval {near} to {far} %)")
}

/// `B does between 0.7 % fewer and 0.1 % more tps than A (99 % interval)`.
fn range(why: &Why, ratio: &Ratio) -> String {
    let sure = confidence(ratio.confidence);
    let sentence = match (kind(why).between(ratio), &*why.metric.unit) {
        (None, _) => "B does as much as A".to_owned(),
        (Some(between), "") => {
            format!("the client's number of B is {between} than that of A")
        }
        (Some(between), unit) => format!("B does {between} {unit} than A"),
    };
    format!("{sentence} ({sure} interval)")
}

fn kind(why: &Why) -> Kind {
    if why.metric.unit.is_empty() { Kind::Value } else { Kind::Rate }
}

/// How the CPU time per unit of work changed.
pub(super) fn cost(why: &Why) -> String {
    let moments = match &why.cost {
        Err(missing) => return format!("unknown: {missing}"),
        Ok(moments) => moments,
    };
    let Some(ratio) = moments.verdict.ratio() else { return "too few pieces to say".to_owned() };
    let [change, low, high] = signed(ratio);
    let sure = confidence(ratio.confidence);
    let interval = format!("{change} % ({sure} interval {low} to {high} %)");
    if moments.verdict.is_claimed() {
        interval
    } else {
        format!("{interval}, which is not claimed to be a difference")
    }
}

/// Why there is no cause; `None` where none is looked for.
pub(super) fn no_cause(why: &Why) -> Option<String> {
    match (&why.rate.verdict, &why.shares) {
        (Verdict::Claimed(_), Err(missing)) => Some(format!("unknown: {missing}")),
        (Verdict::Claimed(_), Ok(_)) => Some(
            "unknown: over all of the time the means do not differ in that direction, so stalls or peaks decide"
                .to_owned(),
        ),
        _ => None,
    }
}

/// A cause, with how much of the change it explains.
pub(super) fn cause(why: &Why, cause: &Cause) -> String {
    let explains = |what: &str| format!("{what} {}", explained(cause.share));
    let both = |of: &dyn Fn(&Totals) -> Fact<f64>| shares(why, of);
    match &cause.what {
        What::Cost(dearest) => {
            let work = unit_of_work(why);
            let what = explains(&format!("CPU time per {work} explains"));
            format!("{what}: {}", of_cost(why, dearest.as_ref()))
        }
        What::Clock => format!(
            "{}: busy CPUs lost {} of all CPU time to a slow clock.",
            explains("The clock explains"),
            both(&|it| share(it, &it.lines.slow))
        ),
        What::Cpus => {
            let [a, b] = why.totals.each_ref().map(|it| format!("{:.0}", it.cpus()));
            format!("{}: {a} in A and {b} in B.", explains("The number of CPUs explains"))
        }
        What::Idle => {
            let idle = both(&|it| share(it, &it.lines.idle));
            format!("{}: CPUs were idle {idle}. {}", explains("Waiting explains"), waits(why))
        }
        What::Quota => format!(
            "{}: CPUs were idle by it {}. `fullclock ledger --from` names the groups.",
            explains("A CPU quota explains"),
            both(&|it| share(it, &it.lines.quota))
        ),
        What::Stolen => format!(
            "{}: it took {} of the CPUs' time.",
            explains("The hypervisor explains"),
            both(&|it| share(it, &it.lines.stolen))
        ),
        What::Tasks(who, name) => format!(
            "{}: such tasks took {} of the CPUs' time.",
            explains(&format!("Other tasks, `{}`, explain", crate::harmless::harmless(name))),
            both(&|it| Ok(it.ran(|task| task.who == *who && task.name == *name)? / it.cpus()))
        ),
        What::Rest => {
            let what = "Kernel threads, interrupts and what no line of the ledger explains make";
            format!("{}.", explains(what))
        }
    }
}

/// `all of it`, `62 % of it`.
fn explained(share: f64) -> String {
    const NEAR_ALL: f64 = 0.05;
    let percent = format!("{:.0} %", share * 100.0);
    if (share - 1.0).abs() <= NEAR_ALL {
        "all of it".to_owned()
    } else if share > 1.0 {
        format!("more than all of it ({percent}; the rest is offset)")
    } else {
        format!("{percent} of it")
    }
}

/// `17.4 % in A and 48.0 % in B`.
fn shares(why: &Why, of: &dyn Fn(&Totals) -> Fact<f64>) -> String {
    let shown = |it| match of(it) {
        Ok(value) => Quantity::Share.shown(value),
        Err(_) => "an unknown share".to_owned(),
    };
    let [a, b] = why.totals.each_ref().map(shown);
    format!("{a} in A and {b} in B")
}

fn of_cost(why: &Why, dearest: Option<&(Who, String)>) -> String {
    let shown = |is_wanted: &dyn Fn(&lab::why::Task) -> bool| {
        let [a, b] = why.totals.each_ref().map(|it| {
            cost_ms(why, it, is_wanted).map_or("unknown".to_owned(), |it| Quantity::Cost.shown(it))
        });
        format!("{a} in A and {b} in B")
    };
    let all = shown(&|it| why.work.has(it));
    let dearest = dearest.map_or(String::new(), |(who, name)| {
        let of = shown(&|it| it.who == *who && it.name == *name);
        let name = crate::harmless::harmless(name);
        format!(", most of the change in `{name}` ({of})")
    });
    let is_less = why.shares.as_ref().is_ok_and(|it| it.total > 0.0);
    let [less, more] = if is_less { ["more", "less"] } else { ["less", "more"] };
    let work = unit_of_work(why);
    let what = format!("{less} work per cycle or {more} work per {work}");
    let either = format!("{what}{}", of_loads(why));
    /// A clock that differs by less is the same.
    const SAME: f64 = 0.01;
    let clock = match why.shares.as_ref().ok().and_then(|it| it.clock) {
        None => format!("The clock is unknown: a part may be its. The rest is {either}"),
        Some(clock) if clock.abs() < SAME => format!("At the same clock that is {either}"),
        Some(_) => format!("What the clock does not make is {either}"),
    };
    format!("{all}{dearest}. {clock}.")
}

/// What the time of loads says of the cost, as the rest of its sentence.
fn of_loads(why: &Why) -> String {
    let Ok(shares) = &why.shares else { return String::new() };
    match why.loads.verdict(shares) {
        Shared::Moved => {
            format!("; {}: a neighbour, or this workload's own accesses", moved(&why.loads, shares))
        }
        Shared::Alike => format!(
            "; loads from memory and the last-level cache took as long in both (within {:.0} %), so neither explains it",
            ALIKE * 100.0
        ),
        Shared::Undecided => format!("; the time of loads does not decide: {}", loads(why)),
        Shared::Unmeasured(Missing { why: facts::Why::NotHere(because), .. }) => {
            format!("; whether loads took longer is unknown: {because}")
        }
        Shared::Unmeasured(_) => "; whether loads took longer was not measured in both".to_owned(),
    }
}

/// The kinds of loads whose times are known of both recordings.
fn known(loads: &Loads) -> impl Iterator<Item = (&'static str, &LoadTimes)> {
    kinds_of_loads(loads).into_iter().filter_map(|(from, it)| Some((from, it.as_ref().ok()?)))
}

/// `loads from memory took 14 % longer in B, too (99.5 % interval 12 to 16 %)`.
fn moved(loads: &Loads, shares: &Shares) -> String {
    let words = known(loads).filter(|(_, it)| it.moved_with(shares)).filter_map(|(from, it)| {
        let ratio = it.moments.verdict.ratio()?;
        let (change, Interval { low, high }) = ratio.change();
        let is_less = change < 0.0;
        let [near, far] = if is_less { [high, low] } else { [low, high] };
        let [change, near, far] = percents([change, near, far], ratio);
        let way = if is_less { "less time" } else { "longer" };
        let sure = confidence(ratio.confidence);
        Some(format!(
            "loads from {from} took {change} % {way} in B, too ({sure} interval {near} to {far} %)"
        ))
    });
    words.collect::<Vec<String>>().join(", and ")
}

/// `a load from memory takes 95.0 ns in A and 140 ns in B, 47 % longer (99.5 % interval 45 to 50 %)`.
fn loads(why: &Why) -> String {
    let words: Vec<String> = known(&why.loads)
        .map(|(from, it)| {
            let [a, b] = it.ns.map(|it| Quantity::Load.shown(it));
            format!("a load from {from} takes {a} in A and {b} in B{}", change(it))
        })
        .collect();
    words.join("; ")
}

fn change(times: &LoadTimes) -> String {
    let Some(ratio) = times.moments.verdict.ratio() else {
        return ", of too few readings".to_owned();
    };
    let [change, low, high] = signed(ratio);
    format!(", {change} % ({} interval {low} to {high} %)", confidence(ratio.confidence))
}

/// What was waited for while CPUs were idle.
fn waits(why: &Why) -> String {
    let waited = |it: &Totals| it.waited(|task| why.work.has(task));
    let [Ok(a), Ok(b)] = why.totals.each_ref().map(waited) else {
        return "What for is unknown.".to_owned();
    };
    let [shown_a, shown_b] = [a, b].map(|it| Quantity::Wait.shown(it));
    let for_cpu = format!("For a CPU client and server waited {shown_a} in A and {shown_b} in B");
    // Less than this is noise.
    const SMALL: f64 = 0.05;
    let is_less = why.shares.as_ref().is_ok_and(|it| it.total > 0.0);
    let more = if is_less { a - b } else { b - a };
    if more > SMALL {
        format!("{for_cpu}: that changed with it, as tasks do that may use some of the CPUs only.")
    } else {
        format!("{for_cpu}, so it was for something else: log, locks, network or think time.")
    }
}
