//! Writes down what happens on chosen CPUs.
//!
//! Each CPU has one ring, which all of its tracepoints share, so that its events come in the order in which
//! they happened. Opening and closing tracepoints patches the kernel's code, with an interrupt to every CPU:
//! open before the interval that is to be accounted for, and close after it. Closing waits for the kernel to be
//! rid of each tracepoint (tracepoint_synchronize_unregister), for most of a second together.

use super::attr::{self, Attributes};
use super::ring::{self, Ring};
use super::tracefs::Tracefs;
use super::{counters, group};
use crate::Source;
use facts::pmu::Counter;
use facts::trace::format::Format;
use facts::trace::tracepoint::{Layouts, Wanted};
use facts::trace::{Event, What, record};
use facts::{CpuSet, Expected, Fact, Missing, Why};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::time::Duration;

/// Everyone may trace up to this kernel.perf_event_paranoid (perf_allow_tracepoint).
const PARANOID_TRACING: i32 = -1;

/// A waiting reader is woken when half of a ring is full.
const WATERMARK: u32 = ring::SIZE as u32 / 2;

/// Open tracepoints of some CPUs.
#[derive(Debug)]
pub struct Tracer {
    layouts: Layouts,
    traced: Vec<Traced>,
    refused: Vec<(u32, Missing)>,
    lacking: Vec<Missing>,
}

#[derive(Debug)]
struct Traced {
    cpu: u32,
    ring: Ring,
    /// The owner of the ring first.
    events: Vec<OwnedFd>,
}

impl Tracer {
    /// About what one event costs the traced CPU and the reader together, in ns: measured at 340 and 60 for a
    /// switch, on Linux 6.18 at 4.4 GHz. [`Wanted::n_events`] says how many there will be.
    pub const NS_PER_EVENT: u64 = 400;

    /// Opens what is `wanted` on `cpus`, and begins to write it down.
    ///
    /// Errors: tracefs is not mounted or may not be read; switches are wanted and the kernel does not trace
    /// them; no CPU could be traced. One CPU's reason is with [`Tracer::refused`], one tracepoint's with
    /// [`Tracer::lacking`].
    pub fn open(source: &dyn Source, cpus: &CpuSet, wanted: Wanted) -> Fact<Tracer> {
        Tracer::by(&Tracefs::mounted(source)?, source, cpus, wanted)
    }

    /// The same; where tracefs is not mounted, by an instance that only this process can reach.
    ///
    /// Errors: those of [`Tracer::open`], where there can be no such instance either.
    pub fn open_anyway(source: &dyn Source, cpus: &CpuSet, wanted: Wanted) -> Fact<Tracer> {
        Tracer::by(&Tracefs::mounted_or_own(source)?, source, cpus, wanted)
    }

    fn by(tracefs: &Tracefs, source: &dyn Source, cpus: &CpuSet, wanted: Wanted) -> Fact<Tracer> {
        let (layouts, tracepoints, lacking) = layouts(source, &tracefs.events, wanted)?;
        let mut tracer = Tracer { layouts, traced: Vec::new(), refused: Vec::new(), lacking };
        for cpu in cpus.iter() {
            match Traced::open(cpu, &tracepoints) {
                Ok(traced) => tracer.traced.push(traced),
                Err(missing) => tracer.refused.push((cpu, missing)),
            }
        }
        match tracer.refused.first() {
            Some((_, missing)) if tracer.traced.is_empty() => Err(missing.clone()),
            _ => Ok(tracer),
        }
    }

    /// The CPUs that are traced.
    pub fn cpus(&self) -> CpuSet {
        self.traced.iter().map(|it| it.cpu).collect()
    }

    /// The CPUs that could not be traced, each with its reason.
    pub fn refused(&self) -> &[(u32, Missing)] {
        &self.refused
    }

    /// The CPUs that went offline since they were opened, each with that reason: nothing of what happened on them
    /// since then is written down, whether they came back or not.
    pub fn gone(&self) -> Vec<(u32, Missing)> {
        self.traced.iter().filter_map(|it| Some((it.cpu, it.lost()?))).collect()
    }

    /// The tracepoints that this kernel does not have, or has with other fields.
    pub fn lacking(&self) -> &[Missing] {
        &self.lacking
    }

    /// Hands over what was written down up to `until_ns` of CLOCK_MONOTONIC_RAW, CPU by CPU, each CPU's in the
    /// order in which it was written. Later events stay for the next time.
    ///
    /// A ring that was found full may have lost events that no record tells of yet: then the last event is a
    /// loss of 0 at `until_ns`.
    pub fn drain(&mut self, until_ns: u64, mut each: impl FnMut(&Event)) {
        for traced in &mut self.traced {
            traced.drain(&self.layouts, until_ns, &mut each);
        }
    }

    /// Waits until a ring is half full, `timeout` is over or a signal arrives.
    pub fn wait(&self, timeout: Duration) -> Fact<()> {
        let owners = self.traced.iter().filter_map(|it| it.events.first());
        let mut polled: Vec<PollFd> =
            owners.map(|owner| PollFd::new(owner, PollFlags::IN)).collect();
        let timeout = Timespec::try_from(timeout).ok();
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(attr::missing("tracing", 0, PARANOID_TRACING, error)),
        }
    }
}

/// How the wanted tracepoints' records are read, what to open for them, and those that the kernel lacks.
fn layouts(
    source: &dyn Source,
    folder: &str,
    wanted: Wanted,
) -> Fact<(Layouts, Vec<Counter>, Vec<Missing>)> {
    let (mut layouts, mut found, mut lacking) = (Layouts::default(), Vec::new(), Vec::new());
    for tracepoint in wanted.tracepoints() {
        let (system, name) = (tracepoint.system, &tracepoint.name);
        let path = format!("{folder}/{system}/{name}/format");
        let format = source.parsed(&path, Format::parse);
        let id = format.and_then(|format| {
            let other = |Expected(expected)| Missing::malformed(path, "other fields", expected);
            layouts.add(&tracepoint, &format).map(|()| format.id).map_err(other)
        });
        match id {
            Ok(id) => found.push(counters::of_tracepoint(system, name, id.into())),
            Err(missing) if system == "sched" || missing.why == Why::Denied => return Err(missing),
            Err(missing) => lacking.push(missing),
        }
    }
    Ok((layouts, found, lacking))
}

impl Traced {
    fn open(cpu: u32, tracepoints: &[Counter]) -> Fact<Traced> {
        let mut events: Vec<OwnedFd> = Vec::with_capacity(tracepoints.len());
        let mut ring = None;
        for tracepoint in tracepoints {
            let refused = |error| attr::missing(&tracepoint.name, cpu, PARANOID_TRACING, error);
            let mut attributes = Attributes::tracing(tracepoint, WATERMARK);
            let event = attributes.open(cpu, events.first()).map_err(refused)?;
            match events.first() {
                Some(owner) => attr::share_ring(&event, owner).map_err(refused)?,
                None => ring = Some(Ring::map(&event).map_err(refused)?),
            }
            events.push(event);
        }
        if let ([owner], [tracepoint]) = (events.as_slice(), tracepoints) {
            let dummy = group::join_dummy(cpu, tracepoint, owner)?;
            events.extend(dummy);
        }
        let nothing = || Missing::absent("a tracepoint that is wanted");
        let ring = ring.ok_or_else(nothing)?;
        let owner = events.first().ok_or_else(nothing)?;
        attr::enable(owner)
            .map_err(|error| attr::missing("tracing", cpu, PARANOID_TRACING, error))?;
        Ok(Traced { cpu, ring, events })
    }

    /// Why its events happen no more, where they do not.
    fn lost(&self) -> Option<Missing> {
        let what = || format!("a trace of CPU {}", self.cpu);
        match group::is_together(self.events.first()?, self.events.len()) {
            Ok(true) => None,
            Ok(false) => Some(Missing::was_offline(what(), self.cpu)),
            Err(error) => Some(attr::missing(&what(), self.cpu, PARANOID_TRACING, error)),
        }
    }

    fn drain(&mut self, layouts: &Layouts, until_ns: u64, each: &mut impl FnMut(&Event)) {
        let head = self.ring.head();
        let was_full = self.ring.is_full(head);
        let mut bytes = [0; ring::LONGEST];
        while let Some(size) = self.ring.peek(head, &mut bytes) {
            let record = bytes.get(..size).unwrap_or(&bytes);
            match record::event(layouts, self.cpu, record) {
                Some(event) if event.at_ns > until_ns => break,
                Some(event) => each(&event),
                None => {}
            }
            self.ring.skip(size);
        }
        if was_full && self.ring.is_empty(head) {
            each(&Event { at_ns: until_ns, cpu: self.cpu, running: None, what: What::Lost(0) });
        }
        self.ring.release();
    }
}
