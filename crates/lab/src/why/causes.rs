//! What makes up a change of the rate, and what explains it.

use super::{Task, Totals, Work};
use facts::{Fact, Missing};
use rules::spans::Who;

/// The logarithm of B's rate over A's, and its parts, which add up to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// All of it.
    pub total: f64,
    /// By more or less CPU time of client and server in each second.
    pub cpu_time: f64,
    /// By the clock: the CPU time per unit of work that it makes. `None` where it is unknown, and in `cost`.
    pub clock: Option<f64>,
    /// By more or less CPU time per unit of work, at the same clock.
    pub cost: f64,
}

impl Shares {
    pub(super) fn of(totals: &[Totals; 2], work: Work) -> Fact<Shares> {
        let [a, b] = totals;
        let logs = |of: &dyn Fn(&Totals) -> Fact<f64>| -> Fact<f64> { Ok((of(b)? / of(a)?).ln()) };
        let total = logs(&|it| Ok(it.number()))?;
        let cpu_time = logs(&|it| it.ran(|task| work.has(task)))?;
        if !total.is_finite() || !cpu_time.is_finite() {
            let why = "a recording has no CPU time of client and server, or no work";
            return Err(Missing::not_here("CPU time per unit of work", why));
        }
        let clock = logs(&Totals::clock).ok();
        let cost = total - cpu_time - clock.unwrap_or(0.0);
        Ok(Shares { total, cpu_time, clock, cost })
    }
}

/// Something that explains a part of the change.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// What it is.
    pub what: What,
    /// How much of the logarithm of the change it explains: 1 is all of it, more than that is offset by something else.
    pub share: f64,
}

/// What explains a change.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The CPU time per unit of work at the same clock, and whose changed most.
    Cost(Option<(Who, String)>),
    /// The clock of busy CPUs.
    Clock,
    /// How many CPUs there are.
    Cpus,
    /// Time that CPUs were idle because tasks waited, for anything but a quota.
    Idle,
    /// Time that CPUs were idle by a quota.
    Quota,
    /// Time that the hypervisor took.
    Stolen,
    /// Tasks that are neither client nor server.
    Tasks(Who, String),
    /// Kernel threads, interrupts, and what no line of the ledger explains.
    Rest,
}

/// A smaller part of the change is not named.
pub const LEAST_SHARE: f64 = 0.1;

/// What explains the change in its own direction, the largest first.
pub(super) fn causes(totals: &[Totals; 2], work: Work, shares: &Shares) -> Vec<Cause> {
    let of = |what, log: f64| Cause { what, share: log / shares.total };
    let mut causes = vec![of(What::Cost(dearest(totals, work, shares)), shares.cost)];
    causes.extend(shares.clock.map(|it| of(What::Clock, it)));
    let takers = takers(totals, work).unwrap_or_default();
    causes.extend(split(&takers, shares.cpu_time).map(|(what, log)| of(what, log)));
    causes.retain(|it| it.share >= LEAST_SHARE);
    causes.sort_by(|a, b| b.share.total_cmp(&a.share));
    causes
}

/// Who takes CPU time from client and server, with the CPU seconds per second that B lost to it and A did not. All together they are
/// what client and server ran less.
pub(super) fn takers(totals: &[Totals; 2], work: Work) -> Fact<Vec<(What, f64)>> {
    let [a, b] = totals;
    let more = |of: &dyn Fn(&Totals) -> Fact<f64>| -> Fact<f64> { Ok(of(b)? - of(a)?) };
    let per_s = |line: fn(&Totals) -> &Fact<f64>| {
        more(&|it| line(it).as_ref().map(|sum| sum / it.elapsed_s).map_err(Missing::clone))
    };
    let lost = -more(&|it| it.ran(|task| work.has(task)))?;
    let mut takers = vec![
        (What::Cpus, a.cpus() - b.cpus()),
        (What::Idle, per_s(|it| &it.lines.idle)?),
        (What::Stolen, per_s(|it| &it.lines.stolen).unwrap_or(0.0)),
        (What::Quota, per_s(|it| &it.lines.quota).unwrap_or(0.0)),
    ];
    let mut names: Vec<(Who, &str)> = Vec::new();
    for task in totals.iter().flat_map(|it| it.tasks.iter().flatten()) {
        if !work.has(task) && !names.contains(&(task.who, &task.name)) {
            names.push((task.who, &task.name));
        }
    }
    for (who, name) in names {
        let ran = more(&|it| it.ran(|task| is(task, who, name)))?;
        takers.push((What::Tasks(who, name.to_owned()), ran));
    }
    let named: f64 = takers.iter().map(|it| it.1).sum();
    takers.push((What::Rest, lost - named));
    Ok(takers)
}

/// Splits a logarithm as its takers share what was lost.
pub(super) fn split(takers: &[(What, f64)], log: f64) -> impl Iterator<Item = (What, f64)> {
    let lost: f64 = takers.iter().map(|it| it.1).sum();
    takers.iter().filter(move |_| lost != 0.0).map(move |(what, s)| (what.clone(), log * s / lost))
}

fn is(task: &Task, who: Who, name: &str) -> bool {
    task.who == who && task.name == name
}

/// Of whose tasks the CPU time per unit of work moved most in the direction of all of it.
fn dearest(totals: &[Totals; 2], work: Work, shares: &Shares) -> Option<(Who, String)> {
    let [a, b] = totals;
    let per_unit = |of: &Totals, task: &Task| {
        of.ran(|it| is(it, task.who, &task.name)).map_or(0.0, |it| it / of.number())
    };
    let tasks = totals.iter().flat_map(|it| it.tasks.iter().flatten());
    let moved = tasks.filter(|it| work.has(it)).map(|it| {
        // The dearer B's, the lower its rate.
        (it, (per_unit(b, it) - per_unit(a, it)) * -shares.total.signum())
    });
    let most = moved.filter(|it| it.1 > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
    most.map(|(it, _)| (it.who, it.name.clone()))
}
