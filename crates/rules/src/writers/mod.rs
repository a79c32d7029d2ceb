//! Which programs write what holds a clock down: the known tuners, and what each of them writes by its source or its manual.
//!
//! A file says what was written and not by whom: a person or a script may have done it, too. So a program is said to be the writer where
//! it is the only one that runs here and writes that file, and writes such a value again and again; else it is one that may have been.

mod list;

pub use list::WRITES;

use crate::finding::Finding;
use crate::party::Party;
use facts::HostView;
use facts::system::tuners::{BootUnit, Running};

/// A kind of setting that programs write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// `scaling_max_freq`.
    MaxFrequency,
    /// intel_pstate's `max_perf_pct`.
    MaxPercent,
    /// `no_turbo` and `boost`.
    Turbo,
    /// `scaling_governor`.
    Governor,
    /// `energy_performance_preference` and `energy_perf_bias`.
    Preference,
    /// The power limits in /sys/class/powercap.
    PowerLimit,
}

/// What a program writes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Whatever its configuration says.
    Configured,
    /// One of these.
    Words(&'static [&'static str]),
    /// Less than the highest, by temperature: it protects the machine from heat.
    Cooling,
    /// The same in steps of `scaling_available_frequencies`, without which it writes nothing.
    CoolingByTable,
}

/// A program, and something that it writes.
#[derive(Clone, Copy, Debug)]
pub struct Writes {
    /// The name of the program, as among the tuners or the units of the boot.
    pub program: &'static str,
    /// What it writes.
    pub knob: Knob,
    /// Which values.
    pub values: Values,
    /// Whether it looks every few seconds and writes its value again, so that what is found is its own.
    pub again: bool,
    /// Where that is configured, as a phrase.
    pub configured: &'static str,
    /// Where that is written.
    pub source: &'static str,
}

use Knob::{Governor, MaxFrequency, MaxPercent, PowerLimit, Preference, Turbo};
use Values::{Configured, Cooling, CoolingByTable, Words};

/// A program that is there and may have written a value.
pub(crate) struct Writer {
    /// Its name, with its number where it has a process.
    named: String,
    /// What shows that it is there.
    source: String,
    writes: &'static Writes,
}

impl Writer {
    /// Whether it writes the value to keep the machine cool.
    pub(crate) fn is_cooling(&self) -> bool {
        matches!(self.writes.values, Cooling | CoolingByTable)
    }

    /// Whether it is certain, where no other program may have written it.
    fn is_certain(&self) -> bool {
        self.writes.again && matches!(self.writes.values, Words(_))
    }
}

/// The programs that may have written this value; `None` where it is unknown which run.
pub(crate) fn writers(host: &HostView, knob: Knob, value: &str) -> Option<Vec<Writer>> {
    let running = host.tuners.running(host.processes.as_deref().ok()?);
    let units = host.tuners.boot_units.iter().filter(|it| it.target.is_ok());
    let by_unit =
        |it: &BootUnit| (it.name, format!("{}, at boot", it.name), BootUnit::place(it.name));
    let by_process = |it: &Running| (it.tuner.name, it.named(), it.source.clone());
    let there = running.iter().map(by_process).chain(units.map(by_unit));
    let writer = |(name, named, source): (&str, String, String)| {
        let mut all = WRITES.iter().filter(|it| it.program == name && it.knob == knob);
        let writes = all.find(|it| may_write(host, it, value))?;
        Some(Writer { named, source, writes })
    };
    Some(there.filter_map(writer).collect())
}

fn may_write(host: &HostView, it: &Writes, value: &str) -> bool {
    if it.program == "tuned" && is_other_profile(host, it.knob, value) {
        return false;
    }
    match it.values {
        Configured | Cooling => true,
        Words(words) => words.contains(&value),
        CoolingByTable => host.cpufreq.table.is_ok(),
    }
}

/// Whether the active profile of TuneD is known to write another value there, or none.
fn is_other_profile(host: &HostView, knob: Knob, value: &str) -> bool {
    match knob {
        Governor => value != "performance" && host.tuners.performance_profile().is_some(),
        MaxFrequency | MaxPercent | Turbo => host.tuners.has_shipped_profile(),
        Preference | PowerLimit => false,
    }
}

/// Says who may have written what a finding shows: one of these [`writers`], or that none is known.
pub(crate) fn attributed(finding: Finding, knob: Knob, writers: Option<&[Writer]>) -> Finding {
    let Some(writers) = writers else { return finding.held_by(Party::OperatingSystem) };
    let names: Vec<&str> = writers.iter().map(|it| it.named.as_str()).collect();
    let finding =
        writers.iter().fold(finding, |it, writer| it.evidence(&writer.source, &writer.named));
    match writers {
        [] => {
            let finding = finding.held_by(Party::OperatingSystem);
            let is_limit = matches!(knob, MaxFrequency | MaxPercent | Turbo);
            if is_limit { finding.without_writer() } else { finding }
        }
        [one] if one.is_certain() => finding.held_by_program(names.concat()).certainly(),
        _ => finding.held_by_program(names.join(" or ")),
    }
}

/// Where to look for what writes it: in the configuration of these [`writers`], or of all that are known to write it.
pub(crate) fn where_to_look(knob: Knob, writers: Option<&[Writer]>) -> String {
    match writers {
        Some([]) => "find what writes it: no tuner that is known runs here, so look in boot scripts and udev rules".to_owned(),
        Some(writers) => {
            let places: Vec<String> = writers
                .iter()
                .map(|it| format!("{} (the configuration of {})", it.writes.configured, it.named))
                .collect();
            format!("look where it may be set: {}", places.join("; "))
        }
        None => {
            let known = ["tuned", "TLP", "auto-cpufreq", "cpupower.service"];
            let of_knob =
                WRITES.iter().filter(|it| it.knob == knob && known.contains(&it.program));
            let places: Vec<&str> = of_knob.map(|it| it.configured).collect();
            format!("find what writes it: {}", places.join("; "))
        }
    }
}

#[cfg(test)]
mod tests;
