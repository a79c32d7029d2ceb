//! Judges whether CPUs limited a network test, and at which clock they worked.
//!
//! A thread that is on a CPU for all of its time cannot do more there, so what it does follows that CPU's clock. One that waits
//! is limited by something else, be it another thread. Of a round trip, only the threads' own time follows the clock.
//!
//! Perftest polls: its CPU is busy whatever it waits for. What its CPU, or the adapter, limits there is what moves less than the
//! link carries with larger messages.

use super::figures::Work;
use super::protocol::Clocks;
use super::run::{Figure, Point, Run, busiest, slowest_hz};
use facts::Bytes;

/// From this share of its time on, a thread is limited by its CPU.
pub const BUSY: f64 = 0.95;

/// A clock that is nearer than that to the nominal one is that: the probe is wrong by tenths of a percent.
const REACHED: f64 = 0.97;

/// From this size on, the cost of a message is little compared with that of its data.
pub const LARGE: Bytes = Bytes(65_536);

/// Over RDMA, a message size that moves less than that share of the best one is limited by the cost of each message.
pub const FULL: f64 = 0.9;

/// What one end's CPUs did to the test.
#[derive(Debug)]
pub struct Guard<'a> {
    /// `client` or `server`.
    pub end: &'static str,
    /// The sizes that a CPU limits, as far as that is known.
    pub bound: Vec<&'a Point>,
    /// The lowest clock of those sizes, or of any where there is none of them, in hertz.
    pub slowest_hz: Option<f64>,
    /// What its CPUs should run at, and what slows them.
    pub clocks: &'a Clocks,
}

impl Guard<'_> {
    /// How much faster its CPUs would be at their nominal clock, as a share; `None` where they run at it, or it is unknown.
    pub fn lacking(&self) -> Option<f64> {
        let (slowest, nominal) = (self.slowest_hz?, *self.clocks.nominal_hz.value()?);
        (slowest < REACHED * nominal).then(|| nominal / slowest - 1.0)
    }
}

/// Whether CPUs limited the run, for the client and for the server.
pub fn guards(run: &Run) -> [Guard<'_>; 2] {
    let guard = |end, work: fn(&Point) -> &Vec<Work>, clocks| {
        let of = |point: &&Point| slowest_hz(work(point));
        let is_bound = |it: &&Point| match run.polls() {
            true => is_below_the_best(run, it),
            false => busiest(work(it)) >= BUSY,
        };
        let bound: Vec<&Point> = run.points.iter().filter(is_bound).collect();
        let slowest_hz = match &bound[..] {
            [] => run.points.iter().filter_map(|it| of(&it)).reduce(f64::min),
            bound => bound.iter().filter_map(of).reduce(f64::min),
        };
        Guard { end, bound, slowest_hz, clocks }
    };
    [
        guard("client", |it| &it.work.client, &run.judged.client.clocks),
        guard("server", |it| &it.work.server, &run.judged.server.clocks),
    ]
}

fn is_below_the_best(run: &Run, point: &Point) -> bool {
    let rate = |it: &Point| match &it.figure {
        Figure::Throughput(moved) => moved.bandwidth(it.message).average.0 as f64,
        Figure::Latencies(_) => 0.0,
    };
    let best = run.points.iter().map(rate).fold(0.0, f64::max);
    rate(point) < FULL * best
}

/// Of all sizes together, how much of the time the threads of both ends were on a CPU, 1 being all.
pub fn own_share(run: &Run) -> f64 {
    let sum = |what: fn(&Work) -> u64, work: fn(&Point) -> &Vec<Work>| -> u64 {
        run.points.iter().flat_map(work).map(what).sum()
    };
    let both = |it: fn(&Work) -> u64| -> u64 {
        sum(it, |point| &point.work.client) + sum(it, |point| &point.work.server)
    };
    let elapsed = sum(|it| it.elapsed_ns, |point| &point.work.client);
    both(|it| it.cpu_ns) as f64 / elapsed.max(1) as f64
}
