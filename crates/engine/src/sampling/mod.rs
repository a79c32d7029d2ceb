//! Intervals of this machine, or of a recording as if its machine were watched again, one after the other.

mod clocks;
mod schedule;
mod speed;

pub use schedule::Taping;
pub use speed::{SpeedProbe, Yardstick};

use crate::measure::costs::open_to_us;
use crate::measure::hearing::Ear;
use crate::measure::server_view::ServerView;
use anyhow::{Context, Result};
use facts::counters::Counters;
use facts::tape::Sample;
use facts::{CpuSet, HostView};
use host::Live;
use host::probe::Loads;
use host::tape::{Reader, RecordError, Writer};
use rules::audit::Audit;
use rules::interval::Interval;
use rules::watch::{KnownClocks, Machine, Probing, Reading, View, due};
use schedule::Sampling;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How this machine is watched.
pub struct Plan {
    /// The time between two samples.
    pub interval: Duration,
    /// Which CPUs are shown; all without.
    pub cpus: Option<CpuSet>,
    /// What is made of each interval.
    pub view: View,
    /// Which CPUs have their clock probed.
    pub probing: Probing,
}

/// Samples of this machine, and what each interval between two of them showed.
pub struct Watched {
    name: String,
    host: HostView,
    sampling: Sampling,
    cpus: Option<CpuSet>,
    view: View,
    /// Which CPUs have their clock probed.
    pub probing: Probing,
    before: Sample,
    after: Sample,
    turn: usize,
    /// What was probed lately, for the ledgers.
    known: KnownClocks,
    loads: Loads,
    /// What listens to a client.
    ear: Option<Ear>,
    /// What looks at a database server.
    server: Option<ServerView>,
}

impl Watched {
    /// Takes the first sample. With a tape, that one and all that follow hold everything, whatever is shown.
    pub fn begin(
        live: Live,
        host: HostView,
        plan: Plan,
        tape: Option<Writer>,
    ) -> Result<Watched, RecordError> {
        let Plan { interval, cpus, view, probing } = plan;
        let name = live.host_name();
        let sampling = Sampling::of(live, &host, &view, interval, tape);
        let is_probed = sampling.is_recorded() || view.clock_probe || view.ledger.is_some();
        let probing = if is_probed { probing } else { Probing::Off };
        let mut watched = Watched {
            name,
            host,
            sampling,
            cpus,
            view,
            probing,
            before: Counters::unread().into(),
            after: Counters::unread().into(),
            turn: 0,
            known: KnownClocks::default(),
            loads: Loads::new(),
            ear: None,
            server: None,
        };
        watched.sampling.counters(&mut watched.after.counters);
        if probing == Probing::Busy && clocks::are_counted(&watched.after.counters) {
            watched.probing = Probing::Needless;
        }
        watched.sampling.keep(&watched.after)?;
        Ok(watched)
    }

    /// Adds to each sample from now on what `ear` has heard of a client.
    pub fn listen(&mut self, ear: Ear) {
        self.ear = Some(ear);
    }

    /// Adds to each sample from now on what was seen of a database server.
    pub fn look_at(&mut self, server: ServerView) {
        self.server = Some(server);
    }

    /// What the machine is called, and which CPUs belong together.
    pub fn machine(&self) -> Machine {
        Machine::of(&self.host, self.name.clone())
    }

    /// The CPUs that were online when it was last sampled.
    pub fn online(&self) -> &CpuSet {
        &self.after.counters.online
    }

    /// Counts the tasks of a command that was started, and of its descendants, as useful, and other users' as others.
    pub fn follow(&mut self, command: u32) {
        self.sampling.follow(command);
    }

    /// The two samples that were taken last.
    pub fn interval(&self) -> Interval<'_> {
        Interval { host: &self.host, before: &self.before.counters, after: &self.after.counters }
    }

    /// The time until the next sample is due.
    pub fn left(&self) -> Duration {
        self.sampling.left()
    }

    /// Samples, and says what the interval since the sample before showed.
    pub fn sample(&mut self) -> Reading {
        std::mem::swap(&mut self.before, &mut self.after);
        let took = self.sampling.counters(&mut self.after.counters);
        // After the counters, which show the busy CPUs: the first interval has a probed clock as every other.
        self.probe();
        let until_ns = self.after.counters.at.raw_ns;
        let (client, left_out) = self.ear.as_ref().map(|it| it.take(until_ns)).unzip();
        self.after.client = client;
        let (server, of_server) = self.server.as_ref().map(ServerView::take).unzip();
        self.after.server = server;
        let Watched { host, before, after, known, .. } = self;
        let mut reading =
            Reading::between(host, before, after, self.cpus.as_ref(), &self.view, known);
        if self.view.clock_probe && self.probing != Probing::Needless {
            reading.insert_clocks(&after.clocks);
        }
        reading.took = Some(took);
        reading.notes.extend(left_out.flatten());
        reading.notes.extend(of_server.into_iter().flatten());
        let refused = self.sampling.keep(&self.after).err();
        reading.notes.extend(refused.map(|error| error.to_string()));
        reading.notes.extend(self.sampling.done());
        reading
    }

    /// Probes the CPUs that are due after the interval between the two samples; for a recording it also times loads, which no counter
    /// shows.
    fn probe(&mut self) {
        let (before, after) = (&self.before.counters, &self.after.counters);
        let interval = Interval { host: &self.host, before, after };
        let shown = self.cpus.as_ref().map_or(after.online.clone(), |it| it.and(&after.online));
        self.turn = self.turn.wrapping_add(1);
        let clocks = clocks::probe(&due(self.probing, &interval, &shown), self.turn);
        let at_ns = after.at.raw_ns;
        self.known.add(at_ns, &clocks);
        if self.probing == Probing::Busy && self.view.ledger.is_some() {
            let little = self.known.due(&interval, &shown);
            let little = open_to_us(&self.host, &little).unwrap_or_default();
            self.known.add(at_ns, &clocks::probe(&little, self.turn));
        }
        if self.sampling.is_recorded() {
            let probing = match self.probing {
                Probing::Needless => Probing::Busy,
                probing => probing,
            };
            let busy = || due(probing, &interval, &shown);
            self.after.loads = clocks::loads(&mut self.loads, &self.host, busy);
        }
        self.after.clocks = clocks;
    }

    /// Waits until the recording, if there is one, is on disk.
    pub fn finish(self) -> Result<(), RecordError> {
        self.sampling.finish()
    }
}

/// A recording from which readings are taken one after the other.
pub struct Replay {
    path: PathBuf,
    host: HostView,
    reader: Reader<File>,
    cpus: Option<CpuSet>,
    view: View,
    before: Option<Sample>,
    known: KnownClocks,
    /// What was wrong with the recording since the last reading.
    damage: Vec<String>,
}

impl Replay {
    /// Opens a recording; fails where it is none.
    pub fn open(path: &Path, cpus: Option<CpuSet>, view: View) -> Result<Replay> {
        let reader = Reader::open(path)?;
        let host = host::view(reader.host());
        let path = path.to_owned();
        let mut replay = Replay {
            path,
            host,
            reader,
            cpus,
            view,
            before: None,
            known: KnownClocks::default(),
            damage: Vec::new(),
        };
        if !replay.reader.has_host() {
            let lost = "the description of the host is damaged: every fact about it is missing";
            replay.damage.push(lost.to_owned());
        }
        replay.before = replay.sample();
        let path = replay.path.display();
        replay.before.as_ref().with_context(|| format!("{path} holds no sample"))?;
        Ok(replay)
    }

    /// What the machine is called, and which CPUs belong together.
    pub fn machine(&self, name: String) -> Machine {
        Machine::of(&self.host, name)
    }

    /// What the next interval showed; nothing at the end. Damage between its samples is told in its notes.
    pub fn reading(&mut self) -> Option<Reading> {
        let after = self.sample()?;
        let before = self.before.as_ref()?;
        let cpus = self.cpus.as_ref();
        self.known.add(after.counters.at.raw_ns, &after.clocks);
        let mut reading =
            Reading::between(&self.host, before, &after, cpus, &self.view, &self.known);
        if self.view.clock_probe && !after.clocks.is_empty() {
            reading.insert_clocks(&after.clocks);
        }
        reading.notes.append(&mut self.damage);
        self.before = Some(after);
        Some(reading)
    }

    /// The host that was recorded, and what an audit of it finds.
    pub fn audit(&self) -> (&HostView, Audit) {
        (&self.host, crate::advised::audit(self.reader.host(), &self.host))
    }

    /// The same recording from its beginning.
    pub fn restart(&mut self) -> Result<()> {
        *self = Replay::open(&self.path, self.cpus.clone(), self.view.clone())?;
        Ok(())
    }

    /// What was wrong with the recording behind its last sample.
    pub fn damage(&self) -> &[String] {
        &self.damage
    }

    fn sample(&mut self) -> Option<Sample> {
        loop {
            match self.reader.next()? {
                Ok(sample) => return Some(sample),
                Err(error) => self.damage.push(error.to_string()),
            }
        }
    }
}
