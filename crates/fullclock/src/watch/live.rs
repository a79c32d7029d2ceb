//! This machine, sampled again and again.
#![expect(clippy::disallowed_methods, reason = "samples are due at times")]

use super::pace::Pace;
use super::probe::{self, Probing};
use super::{Machine, Reading};
use facts::counters::{Counters, Family};
use facts::tape::Sample;
use facts::{CpuSet, HostView};
use host::counters::{Processes, Sampler, Wanted};
use host::tape::Writer;
use host::{Live, Source};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Samples of this machine, and what each interval between two of them showed.
pub(crate) struct Watched {
    name: String,
    host: HostView,
    sampler: Sampler,
    started: Instant,
    pace: Pace,
    /// Which CPUs are shown; all without.
    cpus: Option<CpuSet>,
    /// Which CPUs have their clock probed.
    pub(crate) probing: Probing,
    tape: Option<Writer>,
    before: Sample,
    after: Sample,
    last: Option<Arc<Reading>>,
    turn: usize,
}

impl Watched {
    /// Takes the first sample.
    pub(crate) fn begin(
        live: Live,
        host: HostView,
        interval: Duration,
        cpus: Option<CpuSet>,
        probing: Probing,
    ) -> Watched {
        let name = live.read("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = String::from_utf8_lossy(&name).trim().to_owned();
        let sampler = Sampler::open(live, &host, wanted());
        let mut watched = Watched {
            name,
            host,
            sampler,
            started: Instant::now(),
            pace: Pace::new(interval),
            cpus,
            probing,
            tape: None,
            before: Counters::unread().into(),
            after: Counters::unread().into(),
            last: None,
            turn: 0,
        };
        watched.sampler.sample(&mut watched.after.counters);
        if probing == Probing::Busy && watched.shows_clock() {
            watched.probing = Probing::Needless;
        }
        watched
    }

    /// Keeps every sample from the first one on.
    pub(crate) fn record(&mut self, mut tape: Writer) -> Result<(), host::tape::RecordError> {
        tape.append(&self.after)?;
        self.tape = Some(tape);
        Ok(())
    }

    /// What the machine is called, and which CPUs belong together.
    pub(crate) fn machine(&self) -> Machine {
        Machine::of(&self.host, self.name.clone())
    }

    /// The time until the next sample is due.
    pub(crate) fn left(&self) -> Duration {
        self.pace.left(self.started.elapsed())
    }

    /// Samples, and says what the interval since the sample before showed.
    pub(crate) fn sample(&mut self) -> Arc<Reading> {
        let started = Instant::now();
        let wanted = probe::wanted(self.probing, self.last.as_deref(), &self.shown_cpus());
        let clocks = probe::probe(&wanted, self.turn);
        self.turn = self.turn.wrapping_add(1);
        std::mem::swap(&mut self.before, &mut self.after);
        let sampling = Instant::now();
        self.sampler.sample(&mut self.after.counters);
        let took = sampling.elapsed();
        self.after.clocks = clocks;
        let mut reading =
            Reading::between(&self.host, &self.before, &self.after, self.cpus.as_ref());
        if self.probing != Probing::Needless {
            reading.insert_clocks(&self.after.clocks);
        }
        reading.took = Some(took);
        let refused = self.tape.as_mut().and_then(|tape| tape.append(&self.after).err());
        reading.notes.extend(refused.map(|error| error.to_string()));
        reading.notes.extend(self.pace.sampled(started.elapsed(), self.started.elapsed()));
        let reading = Arc::new(reading);
        self.last = Some(Arc::clone(&reading));
        reading
    }

    /// Whether the processor counts its cycles, so that nobody has to be probed.
    fn shows_clock(&self) -> bool {
        let clocks = self.after.counters.table(Family::Clocks);
        clocks.is_ok_and(|it| it.column("aperf").is_ok() && it.blank_rows().is_empty())
    }

    fn shown_cpus(&self) -> CpuSet {
        let online = &self.after.counters.online;
        self.cpus.as_ref().map_or_else(|| online.clone(), |it| it.and(online))
    }

    /// Waits until the recording, if there is one, is on disk.
    pub(crate) fn finish(self) -> Result<(), host::tape::RecordError> {
        self.tape.map_or(Ok(()), Writer::finish)
    }
}

/// What a screen shows, and this program's own tasks: what it takes is in the books.
fn wanted() -> Wanted {
    let own = vec![std::process::id()];
    Wanted { tasks: Some(Processes::Chosen(own.clone())), groups_of: own, ..Wanted::watch() }
}
