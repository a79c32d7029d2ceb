//! Every round trip to the controller, and the CPU time that waiting for them takes.

use super::timed;
use crate::experiment::Busy;
use crate::interrupt::Interrupt;
use anyhow::Result;
use facts::{CpuSet, HostView};
use host::Live;
use host::probe::pinned_to;
use lab::failure::Failure;
use lab::ipmi::{Asker, Condition, Latency, Listener, Polling, Times};
use std::time::Duration;

/// Which round trips are asked for.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// How many of each kind, under each condition.
    pub count: u64,
    /// The CPUs that whoever asks stays on.
    pub cpus: Option<&'a CpuSet>,
    /// All of them are given up after this long.
    pub timeout: Option<Duration>,
}

/// A controller that is asked under one condition after the other.
pub struct Session<'a> {
    host: &'a HostView,
    interrupt: &'a Interrupt,
    wanted: Wanted<'a>,
    asker: Asker,
    polling: Polling,
    latency: Latency,
}

impl<'a> Session<'a> {
    /// Opens this machine's controller.
    ///
    /// Errors: there is none, or it does not answer.
    pub fn begin(
        host: &'a HostView,
        wanted: Wanted<'a>,
        interrupt: &'a Interrupt,
    ) -> Result<Session<'a>, Failure> {
        let controller = lab::ipmi::open(host)?;
        let asker = Asker::begin(controller, wanted.count, wanted.timeout, interrupt.flag())?;
        let polling = Polling::of(host, &Live::this_machine());
        let mut about = asker.about();
        about.push(("kipmid".to_owned(), polling.about()));
        let latency = Latency { about, conditions: Vec::new() };
        Ok(Session { host, interrupt, wanted, asker, polling, latency })
    }

    /// Asks. `is_loaded` says that every CPU is busy meanwhile.
    ///
    /// Errors: how it ended early; the round trips before that are kept.
    pub fn measure(&mut self, is_loaded: bool) -> Result<(), Failure> {
        let Session { host, interrupt, wanted, asker, polling, latency } = self;
        let live = Live::this_machine();
        let listener = Listener::open(host, polling, &live);
        let mut times = Times::default();
        let mut ask = || {
            let trips = || timed(|| asker.trips(wanted.count, interrupt.flag(), &mut times));
            let ((asked, elapsed), polled) = polling.during(&live, trips);
            (asked, polled, elapsed)
        };
        let placed = || match wanted.cpus {
            None => Ok(ask()),
            Some(cpus) => pinned_to(cpus, ask).map_err(|why| Failure::Unready(why.to_string())),
        };
        let (asked, waits) = match listener {
            Ok(listener) => listener.during(placed),
            Err(why) => (placed(), Err(why)),
        };
        let (asked, polled, elapsed) = asked.unwrap_or_else(|why| (Err(why), None, Duration::ZERO));
        latency.conditions.push(Condition { is_loaded, times, polled, elapsed, waits });
        asked
    }

    /// The conditions under which there was a round trip.
    pub fn finish(mut self) -> Latency {
        self.latency.conditions.retain(|it| !it.times.device_id.is_empty());
        self.latency
    }
}

/// Makes every CPU busy that this program may run on.
pub fn occupy(host: &HostView) -> Result<Busy> {
    let online = host.topology.online.as_ref().map_err(Clone::clone)?;
    Ok(Busy::start(&host::probe::allowed()?.and(online))?)
}
