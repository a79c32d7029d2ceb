//! Outputs of other programs, put back where those programs read them: a pasted text becomes a host, and the audit of that host judges it.
//!
//! What a text does not show is not collected, so that nothing passes for absent.

mod cpufreq;
mod cpuidle;
mod energy_policy;
mod ethtool;
mod infiniband;
mod lscpu;
mod lspci;
mod power_limit;
mod processes;
mod rdmsr;
mod turbostat;

pub use energy_policy::import as energy_policy;
pub use lspci::import as lspci;
pub use turbostat::import as turbostat;

use crate::{Answers, Captured};
use facts::CpuSet;
use facts::pasted::{self, Output};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A host, as far as a pasted text tells of one.
pub struct Pasted {
    /// What was recognised, with the number of its first line, in the order of the text.
    pub outputs: Vec<(usize, &'static Output)>,
    /// The host that answers what the text shows.
    pub host: Captured,
}

/// Reads a text: the number of the first line that is of its shape, and what it shows; `None` where the text has none of its shape.
type Read = fn(&str, &mut Facts) -> Option<usize>;

/// Every output from which files or registers can be put back.
const SHAPES: &[(&Output, Read)] = &[
    (&pasted::LSCPU, lscpu::read),
    (&pasted::TURBOSTAT_REGISTERS, turbostat::read),
    (&pasted::FREQUENCY_INFO, cpufreq::read),
    (&pasted::IDLE_INFO, cpuidle::read),
    (&pasted::ENERGY_POLICY, energy_policy::read),
    (&pasted::RDMSR, rdmsr::read),
    (&pasted::LSPCI, lspci::read),
    (&pasted::ETHTOOL, ethtool::read),
    (&pasted::IBSTAT, infiniband::read),
    (&pasted::POWER_LIMIT, power_limit::read),
    (&pasted::POWER_READING, power_limit::read_power),
    (&pasted::PS, processes::read),
];

/// Recognises every output in a text, which [`facts::pasted::cleaned`] has cleaned. All are taken for those of one host.
pub fn read(text: &str) -> Pasted {
    let mut facts = Facts::default();
    let mut outputs: Vec<(usize, &'static Output)> = Vec::new();
    for (output, read) in SHAPES {
        outputs.extend(read(text, &mut facts).map(|line| (line, *output)));
    }
    outputs.sort_by_key(|it| it.0);
    Pasted { outputs, host: facts.answers().host() }
}

/// What texts tell of one host. Of what several tell, the first in the list of shapes counts.
#[derive(Default)]
pub struct Facts {
    answers: Answers,
    /// CPUs that some text names.
    seen: BTreeSet<u32>,
    /// The list of those that are online, where a text has all.
    online: Option<CpuSet>,
    processor: Processor,
}

/// The processor, as /proc/cpuinfo shows it.
#[derive(Default)]
struct Processor {
    vendor: Option<String>,
    /// Family, model and stepping.
    model: Option<(String, String, String)>,
    name: Option<String>,
    flags: BTreeSet<String>,
    /// The clock of the first CPU in MHz.
    clock: Option<String>,
}

/// CPUs that a text can tell of: more are no machine's.
const MOST_CPUS: u32 = 16_384;

impl Facts {
    /// Notes that there is a CPU of this number; whether there can be.
    fn sees(&mut self, cpu: u32) -> bool {
        let can_be = cpu < MOST_CPUS;
        if can_be {
            self.seen.insert(cpu);
        }
        can_be
    }

    /// The file at `path` holds a line.
    fn line(&mut self, path: &str, value: impl std::fmt::Display) {
        self.answers.file(path, format!("{value}\n"));
    }

    /// Notes what a register of a CPU holds, and what its being there says of the processor; whether there can be such a CPU.
    fn register(&mut self, cpu: u32, address: u32, value: u64) -> bool {
        if !self.sees(cpu) {
            return false;
        }
        self.answers.msr(cpu, address, value);
        // Both makers have the registers below; those above are AMD's.
        self.vendor(if address < 0xc000_0000 { "GenuineIntel" } else { "AuthenticAMD" });
        self.processor.flags.extend(flags_of(address, value).map(str::to_owned));
        true
    }

    /// Notes the maker, where no other text has.
    fn vendor(&mut self, vendor: &str) {
        self.processor.vendor.get_or_insert_with(|| vendor.to_owned());
    }

    /// The answers of all texts, with the processor and its CPUs.
    fn answers(mut self) -> Answers {
        let seen: CpuSet = self.seen.iter().copied().collect();
        let online = self.online.take().unwrap_or(seen);
        if online.is_empty() {
            return self.answers;
        }
        self.answers.file("/sys/devices/system/cpu/online", format!("{online}\n"));
        if self.processor.vendor.is_some() || self.processor.name.is_some() {
            self.answers.file("/proc/cpuinfo", self.processor.text(&online));
        }
        self.answers
    }
}

impl Processor {
    fn text(&self, online: &CpuSet) -> String {
        let mut text = String::new();
        for cpu in online.iter() {
            self.write(&mut text, cpu, Some(cpu) == online.first());
        }
        text
    }

    #[expect(clippy::let_underscore_must_use, reason = "a String takes everything")]
    fn write(&self, text: &mut String, cpu: u32, is_first: bool) {
        let _ = writeln!(text, "processor\t: {cpu}");
        for (key, value) in [("vendor_id", &self.vendor), ("model name", &self.name)] {
            if let Some(value) = value {
                let _ = writeln!(text, "{key}\t: {value}");
            }
        }
        if let Some((family, model, stepping)) = &self.model {
            let lines = [("cpu family", family), ("model\t", model), ("stepping", stepping)];
            for (key, value) in lines.into_iter().filter(|it| !it.1.is_empty()) {
                let _ = writeln!(text, "{key}\t: {value}");
            }
        }
        if let (Some(clock), true) = (&self.clock, is_first) {
            let _ = writeln!(text, "cpu MHz\t\t: {clock}");
        }
        // Those of the first CPU count for all.
        if is_first && !self.flags.is_empty() {
            let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
            let _ = writeln!(text, "flags\t\t: {}", flags.join(" "));
        }
    }
}

/// Flags of processors that have a register, or use a bit of it (SDM vol. 4, table 2-2; vol. 3B, 16.8).
fn flags_of(address: u32, value: u64) -> impl Iterator<Item = &'static str> {
    let is_thermal = matches!(address, 0x19c | 0x1b1);
    let flags = [
        ("acpi", matches!(address, 0x19a..=0x19c | 0x1b1)),
        ("pts", address == 0x1b1),
        ("epb", address == 0x1b0),
        ("hwp", matches!(address, 0x770..=0x777)),
        // A power limit, and those of current and of other domains.
        ("pln", is_thermal && value & 0xc00 != 0),
        ("hwp", address == 0x19c && value & 0xf000 != 0),
    ];
    flags.into_iter().filter(|it| it.1).map(|it| it.0)
}

/// The value of `key: value` in a line, with any blanks around both.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (found, value) = line.split_once(':')?;
    (found.trim() == key).then(|| value.trim())
}

/// The number at the beginning of a text.
fn number(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests;
