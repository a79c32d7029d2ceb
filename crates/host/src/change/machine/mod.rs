//! The machine that is changed: this one, or a folder that stands in for it in tests.

mod affinity;
mod control;
mod file;
mod firmware;
mod helper;
mod permits;
mod register;
mod service;

pub use file::FILES;
pub use firmware::Firmware;
pub(super) use helper::Helper;

use super::Trouble;
use facts::CpuSet;
use facts::change::{FirmwarePlace, Held, REGISTERS, Target, Write, is_same};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a place of [`Target::LatencyRequest`] holds where nothing is asked for.
const NO_REQUEST: &str = "none";

/// How long a place is given to settle, and how often it is looked at meanwhile.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Reads and writes targets.
#[derive(Debug)]
pub struct Machine {
    root: PathBuf,
    /// Whether files are plain files, which are neither procfs nor sysfs.
    is_copy: bool,
    program: PathBuf,
    /// How long a service may take to start or stop.
    patience: Duration,
    /// The way to the firmware's settings, where one was given.
    firmware: Option<Box<dyn Firmware>>,
    /// What another actor does right after a write, in tests.
    #[cfg(test)]
    pub(super) meddler: Option<fn(&Machine, &Target)>,
}

impl Machine {
    /// This machine. `program` is what is started as `PROGRAM hold-latency MICROSECONDS` and `PROGRAM guard-change FOLDER
    /// [ID]`, absolute: the program that is running.
    pub fn this(program: impl Into<PathBuf>) -> Machine {
        Machine::new("/".into(), false, program.into())
    }

    /// A folder that holds proc/, sys/, etc/ and dev/ as plain files.
    pub fn below(root: impl Into<PathBuf>, program: impl Into<PathBuf>) -> Machine {
        Machine::new(root.into(), true, program.into())
    }

    fn new(root: PathBuf, is_copy: bool, program: PathBuf) -> Machine {
        Machine {
            root,
            is_copy,
            program,
            // A unit that does not stop is killed after 90 s by default (DefaultTimeoutStopSec, systemd-system.conf(5)).
            patience: Duration::from_secs(120),
            firmware: None,
            #[cfg(test)]
            meddler: None,
        }
    }

    /// The same machine, whose firmware's settings are reached so.
    #[must_use]
    pub fn with_firmware(mut self, firmware: Option<Box<dyn Firmware>>) -> Machine {
        self.firmware = firmware;
        self
    }

    /// What settings of the firmware hold, now and after the next restart.
    pub(super) fn held(&self, place: &FirmwarePlace) -> Result<Held, Trouble> {
        firmware::held(self, place)
    }

    /// What a target holds, of settings of the firmware after the next restart; `None` where a file of configuration is not there. Of
    /// [`Target::LatencyRequest`] it is what a change that has not asked yet holds: every change asks for itself.
    pub fn read(&self, target: &Target) -> Result<Option<String>, Trouble> {
        match target {
            Target::Control { path } => control::read(self, path).map(Some),
            Target::Register { cpu, address, .. } => {
                register::read(self, *cpu, *address).map(|it| Some(format!("{it:#x}")))
            }
            Target::Affinity { tid, started, name } => {
                affinity::read(self, *tid, *started, name).map(Some)
            }
            Target::Service { name } => service::read(self, name).map(Some),
            Target::File { path } => file::read(self, path),
            Target::LatencyRequest => Ok(Some(NO_REQUEST.to_owned())),
            Target::Firmware(place) => self.held(place).map(|it| Some(it.next)),
        }
    }

    /// What a target holds, as soon as that is `value`, or after it was given time to settle.
    pub(super) fn settled(
        &self,
        target: &Target,
        value: Option<&str>,
    ) -> Result<Option<String>, Trouble> {
        let (looks, between) = match target {
            Target::Firmware(_) => (firmware::LOOKS, firmware::BETWEEN_LOOKS),
            _ => (LOOKS, BETWEEN_LOOKS),
        };
        let mut found = self.read(target)?;
        for _ in 0..looks {
            if same(target, found.as_deref(), value) {
                break;
            }
            std::thread::sleep(between);
            found = self.read(target)?;
        }
        Ok(found)
    }

    /// Whether a target holds a value, however the kernel prints it.
    pub fn holds(&self, target: &Target, value: Option<&str>) -> Result<bool, Trouble> {
        self.read(target).map(|found| same(target, found.as_deref(), value))
    }

    /// Whether a write may be made at all: its path, register, name and value are allowed. The host is not looked at.
    pub fn permits(&self, write: &Write) -> Result<(), Trouble> {
        permits::write(write)
    }

    /// Writes a target; what its owner answered, where it has one that answers. What is not permitted is never written, whoever asks.
    pub(super) fn write(
        &self,
        target: &Target,
        to: Option<&str>,
    ) -> Result<Option<String>, Trouble> {
        self.put(target, to, false)
    }

    /// Writes back what was recorded, bits that may only be cleared included.
    pub(super) fn write_back(&self, target: &Target, to: Option<&str>) -> Result<(), Trouble> {
        self.put(target, to, true).map(|_answer| ())
    }

    fn put(
        &self,
        target: &Target,
        to: Option<&str>,
        sets: bool,
    ) -> Result<Option<String>, Trouble> {
        permits::target(target)?;
        // What is written back may set bits that are only cleared otherwise, and may be empty.
        let permits = if sets { permits::recorded } else { permits::value };
        permits(target, to)?;
        let text = to.unwrap_or_default();
        let mut answer = None;
        match target {
            Target::Control { path } => control::write(self, path, text),
            Target::Register { cpu, address, mask } => {
                register::write(self, *cpu, *address, *mask, text, sets)
            }
            Target::Affinity { tid, started, name } => {
                affinity::write(self, *tid, *started, name, text)
            }
            Target::Service { name } => service::write(self, name, text),
            Target::File { path } => file::write(self, path, to),
            Target::LatencyRequest => {
                Err(Trouble::new(target, "it is requested by a process of its own"))
            }
            Target::Firmware(place) => {
                firmware::write(self, place, text, sets).map(|words| answer = Some(words))
            }
        }?;
        #[cfg(test)]
        if let Some(meddler) = self.meddler {
            meddler(self, target);
        }
        Ok(answer)
    }

    /// Removes what a crash in the middle of a write left beside its place.
    pub(super) fn tidy(&self, target: &Target) -> Result<(), Trouble> {
        match target {
            Target::File { path } => file::tidy(self, path),
            _ => Ok(()),
        }
    }

    /// Where a script would stand that this machine runs at boot, where its init is not systemd and reads no units.
    pub fn script_without_systemd(&self) -> Option<&'static str> {
        service::script_of_other_init(self)
    }

    /// The boot that the machine is in.
    pub fn boot(&self) -> Result<String, Trouble> {
        control::read(self, "/proc/sys/kernel/random/boot_id")
    }

    #[cfg(test)]
    pub(super) fn root_of_tests(&self) -> PathBuf {
        self.root.clone()
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

/// Whether two values of a target are the same: of a register the bits that are changed, of a file every byte, of a list the
/// CPUs in it.
pub(super) fn same(target: &Target, one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return one == other };
    match target {
        Target::Register { mask, .. } => {
            let bits = |text| register::parse(text).map(|it| it & mask);
            bits(one).is_some() && bits(one) == bits(other)
        }
        Target::File { .. } => one == other,
        Target::Firmware(place) => place.is_same(one, other),
        Target::Affinity { .. } => same_list(one, other),
        Target::Control { path } if path.ends_with("_list") => same_list(one, other),
        Target::Control { .. } | Target::Service { .. } | Target::LatencyRequest => {
            is_same(one, other)
        }
    }
}

fn same_list(one: &str, other: &str) -> bool {
    let cpus = |text: &str| CpuSet::parse_list(text.trim()).ok();
    is_same(one, other) || cpus(one).is_some_and(|it| cpus(other) == Some(it))
}

/// Whether writing a recorded value back would bring a fault back: it sets bits that may only be cleared.
pub(super) fn brings_fault_back(target: &Target, current: &str, recorded: &str) -> bool {
    let Target::Register { address, mask, .. } = target else { return false };
    let only_clear = REGISTERS.iter().any(|it| it.address == *address && it.only_clear);
    match (register::parse(current), register::parse(recorded)) {
        (Some(current), Some(recorded)) => only_clear && recorded & mask & !current != 0,
        _ => only_clear,
    }
}

#[cfg(test)]
mod tests;
