//! `cpupower frequency-info`, and `cpufreq-info` of cpufrequtils before it, as the files of a policy.
//!
//! Source: tools/power/cpupower/utils/cpufreq-info.c; cpufrequtils 008, utils/info.c. Clocks are rounded to 10 MHz above 1 GHz.

use super::{Facts, MOST_CPUS, number};
use facts::CpuSet;

/// What is said of one CPU.
#[derive(Default)]
struct Block<'a> {
    cpu: u32,
    driver: Option<&'a str>,
    has_no_driver: bool,
    shared: CpuSet,
    limits: Option<(u64, u64)>,
    policy: Option<(u64, u64)>,
    governor: Option<&'a str>,
    clock: Option<u64>,
    table: Vec<u64>,
    preference: Option<&'a str>,
    /// Whether turbo is supported, and whether it is active.
    turbo: (Option<bool>, Option<bool>),
    has_pstates: bool,
}

pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    let (mut blocks, mut first) = (Vec::new(), None);
    let mut block: Option<(usize, Block<'_>)> = None;
    let mut close = |block: Option<(usize, Block<'_>)>, facts: &mut Facts| {
        if let Some((at, block)) = block.filter(|(_, it)| it.tells()) {
            first.get_or_insert(at);
            block.write(facts);
            blocks.push(block.cpu);
        }
    };
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        match cpu_of(line) {
            Some(cpu) => {
                close(block.take(), facts);
                block = facts.sees(cpu).then(|| (at, Block { cpu, ..Block::default() }));
            }
            // A text that was cut above its first line is of some CPU.
            None if block.is_none() && line.starts_with("hardware limits:") => {
                facts.sees(0);
                block = Some((at, Block::default()));
            }
            None => {}
        }
        if let Some((_, block)) = &mut block {
            block.take(line);
        }
    }
    close(block, facts);
    first
}

/// The number in `analyzing CPU 0:`.
fn cpu_of(line: &str) -> Option<u32> {
    let rest =
        line.strip_prefix("analyzing CPU ").or_else(|| line.strip_prefix("Analyzing CPU "))?;
    number(rest)
}

impl<'a> Block<'a> {
    /// Whether anything of the clock was said; other commands begin their blocks in the same way.
    fn tells(&self) -> bool {
        self.driver.is_some()
            || self.has_no_driver
            || self.limits.is_some()
            || self.policy.is_some()
    }

    fn take(&mut self, line: &'a str) {
        let after = |key: &str| line.strip_prefix(key).map(str::trim);
        if let Some(driver) = after("driver:") {
            self.driver = Some(driver);
        } else if line.starts_with("no or unknown cpufreq driver is active") {
            self.has_no_driver = true;
        } else if let Some(list) =
            after("CPUs which need to have their frequency coordinated by software:")
        {
            self.shared = list
                .split_whitespace()
                .filter_map(|it| it.parse().ok())
                .filter(|it| *it < MOST_CPUS)
                .collect();
        } else if let Some(range) = after("hardware limits:") {
            self.limits = range.split_once(" - ").and_then(|(min, max)| clock(min).zip(clock(max)));
        } else if let Some(steps) = after("available frequency steps:") {
            self.table = steps.split(',').filter_map(clock).collect();
        } else if let Some(range) = after("current policy: frequency should be within") {
            let range = range.trim_end_matches('.').split_once(" and ");
            self.policy = range.and_then(|(min, max)| clock(min).zip(clock(max)));
        } else if let Some(governor) = after("The governor \"") {
            self.governor = governor.split('"').next();
        } else if let Some(preference) = after("energy performance preference:") {
            self.preference = Some(preference);
        } else if let Some(told) = after("current CPU frequency") {
            // `: 1.20 GHz (asserted by call to kernel)`, `is 1.60 GHz (...)` in older releases.
            let told = told.trim_start_matches([':', ' ']);
            self.clock = self.clock.or(clock(told.strip_prefix("is ").unwrap_or(told)));
        } else if let Some(told) = after("Supported:") {
            self.turbo.0 = yes(told);
        } else if let Some(told) = after("Active:") {
            self.turbo.1 = yes(told);
        } else if line.starts_with("Boost States:") {
            self.has_pstates = true;
        }
    }

    /// Writes the files of its policy.
    fn write(&self, facts: &mut Facts) {
        if self.has_no_driver {
            return facts
                .answers
                .absent(&format!("/sys/devices/system/cpu/cpu{}/cpufreq/", self.cpu));
        }
        let folder = format!("/sys/devices/system/cpu/cpufreq/policy{}", self.cpu);
        let mut file = |name: &str, value: String| facts.line(&format!("{folder}/{name}"), value);
        if self.shared.is_empty() {
            file("affected_cpus", self.cpu.to_string());
        } else {
            let list: Vec<String> = self.shared.iter().map(|it| it.to_string()).collect();
            file("affected_cpus", list.join(" "));
        }
        for (name, value) in [
            ("scaling_driver", self.driver),
            ("scaling_governor", self.governor),
            ("energy_performance_preference", self.preference),
        ] {
            value.into_iter().for_each(|it| file(name, it.to_owned()));
        }
        for (name, value) in [
            ("cpuinfo_min_freq", self.limits.map(|it| it.0)),
            ("cpuinfo_max_freq", self.limits.map(|it| it.1)),
            ("scaling_min_freq", self.policy.map(|it| it.0)),
            ("scaling_max_freq", self.policy.map(|it| it.1)),
            ("scaling_cur_freq", self.clock),
        ] {
            value.into_iter().for_each(|it| file(name, it.to_string()));
        }
        if !self.table.is_empty() {
            let table: Vec<String> = self.table.iter().map(u64::to_string).collect();
            file("scaling_available_frequencies", table.join(" "));
        }
        for cpu in self.shared.iter() {
            facts.sees(cpu);
        }
        self.write_turbo(facts);
    }

    /// cpupower shows turbo of Intel's and AMD's processors: of AMD's with their P-states, of Intel's from CPUID and
    /// `no_turbo` (tools/power/cpupower/utils/helpers/misc.c).
    fn write_turbo(&self, facts: &mut Facts) {
        let driver = self.driver.unwrap_or_default();
        let is_intels = matches!(driver, "intel_pstate" | "intel_cpufreq");
        let is_amds = driver.starts_with("amd") || self.has_pstates;
        let (vendor, flag) = match (is_intels, is_amds) {
            (true, _) => ("GenuineIntel", "ida"),
            (_, true) => ("AuthenticAMD", "cpb"),
            _ if self.turbo.0.is_some() => ("GenuineIntel", "ida"),
            _ => return,
        };
        facts.vendor(vendor);
        if self.turbo.0 == Some(true) {
            facts.processor.flags.insert(flag.to_owned());
        }
        if let (Some(true), Some(active)) = self.turbo {
            let (file, value) = if is_intels {
                ("intel_pstate/no_turbo", u8::from(!active))
            } else {
                ("cpufreq/boost", u8::from(active))
            };
            facts.line(&format!("/sys/devices/system/cpu/{file}"), value);
        }
    }
}

fn yes(text: &str) -> Option<bool> {
    match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// `4.20 GHz`, `800 MHz` or `99000 kHz` in kHz; what follows is left out.
fn clock(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let unit = words.next()?.trim_matches(|it: char| !it.is_ascii_alphabetic());
    let kilohertz = match unit {
        "GHz" => number * 1e6,
        "MHz" => number * 1e3,
        "kHz" => number,
        _ => return None,
    };
    (0.0..1e8).contains(&kilohertz).then_some(kilohertz.round() as u64)
}
