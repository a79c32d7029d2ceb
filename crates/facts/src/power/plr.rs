//! Performance limit reasons (PLR) of Intel's servers with TPMI: what has held the clock of a die and of its CPUs below the request.
//!
//! Sources: drivers/platform/x86/intel/plr_tpmi.c (since Linux 6.11) and Documentation/ABI/testing/debugfs-tpmi for `status`;
//! drivers/platform/x86/intel/vsec_tpmi.c (since 6.6) for `mem_dump`; tpmi_power_domains.c for the processors. [`reasons`] has the source
//! of the meanings.
//!
//! All of it is a log: a bit stays set until somebody writes 0 to the file. So it says "since boot, or since the log was cleared", and
//! never "at this moment". fullclock writes nothing to it. In `mem_dump` the reasons of a die stand in a register of their own; those of
//! CPUs take a mailbox, and so a write, which the driver makes and this program does not.

mod reasons;

pub use reasons::{Interface, REASONS, Reason, UNNAMED};

use crate::cpu::cpuinfo::CpuInfo;
use crate::parse::Expected;
use crate::{CpuSet, Fact};

/// Where the files are: a folder `tpmi-0000:00:03.1` for each device, by its PCI address. Readable by root only, and not under lockdown
/// (tpmi_dbgfs_register and its caller).
pub const FOLDER: &str = "/sys/kernel/debug";

/// What they are called in messages.
pub const NAME: &str = "performance limit reasons (PLR)";

/// The folder with the registers of the feature: `TPMI_ID_PLR` is 0xc (include/linux/intel_tpmi.h), printed as `tpmi-id-%02x`.
pub const DUMP: &str = "tpmi-id-0c/mem_dump";

/// The logs of all domains that have one. Errors: absent without the drivers, and on processors that have none.
pub type Domains = Fact<Vec<Domain>>;

/// One domain: a die with cores.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Its file, for evidence.
    pub path: String,
    /// Its number on its device.
    pub number: u32,
    /// What it has logged.
    pub log: Fact<Log>,
}

/// What one domain has logged since boot, or since somebody cleared it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Of the whole die; coarse reasons only.
    pub die: Entry,
    /// Of each CPU; none in a dump.
    pub cpus: Vec<(u32, Entry)>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Verbatim; of a dump, the value of the register.
    pub text: String,
    /// Its reasons, each once.
    pub reasons: Vec<&'static Reason>,
}

/// A reason, with where it was seen first.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen<'a> {
    /// Which.
    pub reason: &'static Reason,
    /// The CPUs of the domain that it held; empty where the file names none.
    pub cpus: CpuSet,
    /// The first line that has it.
    pub text: &'a str,
}

/// Whether a processor has such logs: those that tpmi_power_domains.c knows, without which the driver is not loaded. Granite Rapids,
/// Sierra Forest, Grand Ridge and Clearwater Forest; Diamond Rapids. Sapphire and Emerald Rapids are not among them.
pub fn has_logs(info: &CpuInfo) -> bool {
    info.is_intel()
        && matches!((info.family, info.model), (6, 0xad | 0xae | 0xaf | 0xb6 | 0xdd) | (19, 1))
}

const STATUS: Expected = Expected("lines like `cpus none` and `cpu0 POWER POWER_PKG_PL1_MSR_TPMI`");

impl Log {
    /// Parses `status`: the line of the die, then one for each CPU. A word that is no name of a reason becomes [`UNNAMED`].
    pub fn parse(text: &str) -> Result<Log, Expected> {
        let mut lines = text.lines();
        let die = lines.next().ok_or(STATUS)?;
        let words = die.strip_prefix("cpus ").ok_or(STATUS)?;
        let mut log = Log { die: Entry::parse(die, words)?, cpus: Vec::new() };
        for line in lines {
            let (name, words) = line.split_once(' ').ok_or(STATUS)?;
            let cpu = name.strip_prefix("cpu").and_then(|it| it.parse().ok()).ok_or(STATUS)?;
            log.cpus.push((cpu, Entry::parse(line, words)?));
        }
        Ok(log)
    }

    /// The reasons, coarse ones only where no fine one says it better, each with its CPUs.
    pub fn seen(&self) -> Vec<Seen<'_>> {
        let mut seen: Vec<Seen<'_>> = Vec::new();
        for (cpu, entry) in &self.cpus {
            for reason in entry.finest() {
                match seen.iter_mut().find(|it| it.reason == reason) {
                    Some(it) => it.cpus.insert(*cpu),
                    None => seen.push(Seen {
                        reason,
                        cpus: [*cpu].into_iter().collect(),
                        text: &entry.text,
                    }),
                }
            }
        }
        let all: CpuSet = self.cpus.iter().map(|(cpu, _)| *cpu).collect();
        for reason in self.die.finest() {
            if !seen.iter().any(|it| it.reason == reason || it.reason.is_finer_than(reason)) {
                seen.push(Seen { reason, cpus: all.clone(), text: &self.die.text });
            }
        }
        seen
    }
}

impl Entry {
    fn parse(line: &str, words: &str) -> Result<Entry, Expected> {
        let mut reasons = Vec::new();
        let is_word = |it: &str| {
            it.bytes()
                .all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || b"_()".contains(&it))
        };
        let words: Vec<&str> = words.split_ascii_whitespace().collect();
        if words != ["none"] {
            for word in words {
                if !is_word(word) {
                    return Err(STATUS);
                }
                push_once(&mut reasons, Reason::named(word));
            }
            if reasons.is_empty() {
                return Err(STATUS);
            }
        }
        Ok(Entry { text: line.trim_end().to_owned(), reasons })
    }

    fn of_register(value: u64) -> Entry {
        let mut reasons = Vec::new();
        for bit in (0..u64::BITS).filter(|bit| value >> bit & 1 == 1) {
            push_once(&mut reasons, Reason::of_bit(bit));
        }
        Entry { text: format!("PLR_DIE_LEVEL {value:#x}"), reasons }
    }

    fn finest(&self) -> impl Iterator<Item = &'static Reason> {
        let has_finer = |reason: &Reason| self.reasons.iter().any(|it| it.is_finer_than(reason));
        self.reasons.iter().copied().filter(move |it| !has_finer(it))
    }
}

fn push_once(reasons: &mut Vec<&'static Reason>, reason: &'static Reason) {
    if !reasons.contains(&reason) {
        reasons.push(reason);
    }
}

const DUMPED: Expected =
    Expected("instances of at least 32 bytes, as ` 00000000: 00000001 00000000 ...`");

/// Parses `mem_dump`: the number and the log of each instance that is there. What the driver skips, because its header is all ones, is
/// skipped as well. A register that is all ones below a valid header is a refusal of the hardware (`read_blocked`), and malformed.
pub fn dumped(text: &str) -> Result<Vec<(u32, Log)>, Expected> {
    /// Offsets 0x00 and 0x18 (PLR_HEADER, PLR_DIE_LEVEL), in words of 32 bits, the lower half first.
    const HEADER: usize = 0;
    const DIE_LEVEL: usize = 6;
    let mut instances: Vec<(u32, Vec<u32>)> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("TPMI Instance:") {
            let number = rest.split(' ').next().and_then(|it| it.parse().ok()).ok_or(DUMPED)?;
            instances.push((number, Vec::new()));
            continue;
        }
        let (offset, words) = line.trim_start().split_once(": ").ok_or(DUMPED)?;
        let (_, known) = instances.last_mut().ok_or(DUMPED)?;
        let offset = usize::from_str_radix(offset, 16).map_err(|_| DUMPED)?;
        if offset != 4 * known.len() {
            return Err(DUMPED);
        }
        for word in words.split_ascii_whitespace() {
            known.push(u32::from_str_radix(word, 16).map_err(|_| DUMPED)?);
        }
    }
    let mut logs = Vec::new();
    for (number, words) in instances {
        let register = |at: usize| match words.get(at..at + 2) {
            Some(&[low, high]) => Ok(u64::from(high) << 32 | u64::from(low)),
            _ => Err(DUMPED),
        };
        if register(HEADER)? == u64::MAX {
            continue;
        }
        match register(DIE_LEVEL)? {
            u64::MAX => return Err(Expected("reasons, not a register that may not be read")),
            value => logs.push((number, Log { die: Entry::of_register(value), cpus: Vec::new() })),
        }
    }
    Ok(logs)
}

#[cfg(test)]
mod tests;
