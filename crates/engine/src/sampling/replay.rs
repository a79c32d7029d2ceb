//! A recording, read as if its machine were watched again.

use anyhow::{Context, Result};
use facts::tape::Sample;
use facts::{CpuSet, HostView};
use host::tape::Reader;
use rules::watch::{Machine, Reading, View};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A recording from which readings are taken one after the other.
pub struct Replay {
    path: PathBuf,
    host: HostView,
    reader: Reader<File>,
    cpus: Option<CpuSet>,
    view: View,
    before: Option<Sample>,
    /// What was wrong with the recording since the last reading.
    damage: Vec<String>,
}

impl Replay {
    /// Opens a recording; fails where it is none.
    pub fn open(path: &Path, cpus: Option<CpuSet>, view: View) -> Result<Replay> {
        let reader = Reader::open(path)?;
        let host = host::view(reader.host());
        let path = path.to_owned();
        let mut replay =
            Replay { path, host, reader, cpus, view, before: None, damage: Vec::new() };
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
        let mut reading = Reading::between(&self.host, before, &after, cpus, &self.view);
        if self.view.clock_probe && !after.clocks.is_empty() {
            reading.insert_clocks(&after.clocks);
        }
        reading.notes.append(&mut self.damage);
        self.before = Some(after);
        Some(reading)
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
