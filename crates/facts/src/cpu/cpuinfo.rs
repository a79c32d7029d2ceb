//! /proc/cpuinfo: who made the processor, what it can do, what clock it reports.
//!
//! Sources: arch/x86/kernel/cpu/proc.c and its siblings for other architectures. "cpu MHz" is what the
//! CPU ran at around the last tick at best; of an idle or tickless CPU it says nothing
//! (arch/x86/kernel/cpu/aperfmperf.c).

use crate::cpu::set::MOST_CPUS;
use crate::parse::{Expected, trimmed};
use crate::{Hertz, Missing, PerCpu};
use std::collections::BTreeSet;

/// What /proc/cpuinfo says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuInfo {
    /// `GenuineIntel`, `AuthenticAMD`, ...; empty where the architecture has no such line.
    pub vendor: String,
    /// x86 family, as the kernel adds it up.
    pub family: u32,
    /// x86 model, as the kernel adds it up.
    pub model: u32,
    /// x86 stepping.
    pub stepping: u32,
    /// The name the processor gives itself; empty where the architecture has no such line.
    pub model_name: String,
    /// Feature flags of the first CPU.
    pub flags: BTreeSet<String>,
    /// Microcode revision of each CPU that shows one.
    pub microcode: PerCpu<u64>,
    /// "cpu MHz" of each CPU that shows one; "clock" on POWER, "cpu MHz dynamic" on s390.
    pub clocks: PerCpu<Hertz>,
    /// "cpu MHz static" of each CPU: the clock that a mainframe's processor was made for.
    pub static_clocks: PerCpu<Hertz>,
}

impl CpuInfo {
    /// Parses the file; CPUs without a line `processor : N`, or `cpu number : N` on s390, get no clocks.
    pub fn parse(text: &str) -> Result<CpuInfo, Expected> {
        let mut info = CpuInfo::default();
        let (mut microcode, mut clocks, mut static_clocks) = (Vec::new(), Vec::new(), Vec::new());
        let mut cpu = None;
        let mut n_processors = 0;
        for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let value = trimmed(value);
            match key.trim() {
                "processor" | "cpu number" => {
                    n_processors += 1;
                    cpu = value.parse().ok().or(cpu);
                }
                "cpu MHz" | "cpu MHz dynamic" => {
                    clocks.extend(cpu.map(|cpu| (cpu, megahertz(value))));
                }
                "cpu MHz static" => static_clocks.extend(cpu.map(|cpu| (cpu, megahertz(value)))),
                // arch/powerpc/kernel/setup-common.c: `clock : 2154.000000MHz`.
                "clock" => clocks.extend(
                    value.strip_suffix("MHz").zip(cpu).map(|(mhz, cpu)| (cpu, megahertz(mhz))),
                ),
                "microcode" => microcode.extend(cpu.map(|cpu| (cpu, hexadecimal(value)))),
                key => info.describe(key, value),
            }
            let n = n_processors.max(microcode.len()).max(clocks.len()).max(static_clocks.len());
            if n > MOST_CPUS as usize {
                return Err(Expected("at most 16384 CPUs"));
            }
        }
        if cpu.is_none() && info.model_name.is_empty() && info.vendor.is_empty() {
            return Err(Expected("lines like `processor : 0`"));
        }
        info.microcode = microcode.into_iter().collect();
        info.clocks = clocks.into_iter().collect();
        info.static_clocks = static_clocks.into_iter().collect();
        Ok(info)
    }

    /// Takes in a line that is the same for every CPU; the first CPU's is kept.
    fn describe(&mut self, key: &str, value: &str) {
        let set = |number: &mut u32| {
            if *number == 0 {
                *number = value.parse().unwrap_or(0);
            }
        };
        match key {
            "vendor_id" if self.vendor.is_empty() => value.clone_into(&mut self.vendor),
            // arm64 has no `model name`, s390 and POWER call it otherwise.
            "model name" | "Processor" | "cpu" if self.model_name.is_empty() => {
                value.clone_into(&mut self.model_name);
            }
            "cpu family" => set(&mut self.family),
            "model" => set(&mut self.model),
            "stepping" => set(&mut self.stepping),
            "flags" | "Features" if self.flags.is_empty() => {
                self.flags = value.split_whitespace().map(str::to_owned).collect();
            }
            _ => {}
        }
    }

    /// Whether the first CPU has the feature flag.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    /// Whether Intel made it.
    pub fn is_intel(&self) -> bool {
        self.vendor == "GenuineIntel"
    }

    /// Whether AMD made it, or Hygon, whose processors are AMD's design.
    pub fn is_amd(&self) -> bool {
        matches!(self.vendor.as_str(), "AuthenticAMD" | "HygonGenuine")
    }

    /// Whether it is an x86 processor of a manufacturer that this program knows.
    pub fn is_x86(&self) -> bool {
        self.is_intel() || self.is_amd()
    }

    /// Whether it is an IBM POWER processor, which the kernel shows as `cpu : POWER9, ...`.
    pub fn is_power(&self) -> bool {
        self.vendor.is_empty() && self.model_name.starts_with("POWER")
    }

    /// Whether x86 turbo (Intel's `ida`, AMD's `cpb`) is there and not switched off in firmware.
    ///
    /// Source: CPUID.06H:EAX[1], which also reads 0 while turbo is disabled in MSR 0x1A0[38], and
    /// CPUID.8000_0007H:EDX[9].
    pub fn has_turbo(&self) -> bool {
        self.has("ida") || self.has("cpb")
    }

    /// The clock in a name like `Intel(R) Xeon(R) CPU E5540 @ 2.53GHz`.
    pub fn clock_in_name(&self) -> Option<Hertz> {
        let (_, clock) = self.model_name.rsplit_once('@')?;
        let clock = clock.trim().to_ascii_lowercase();
        let (number, unit) = match clock.strip_suffix("ghz") {
            Some(number) => (number, 1e9),
            None => (clock.strip_suffix("mhz")?, 1e6),
        };
        let number: f64 = number.trim().parse().ok()?;
        // Engineering samples say `@ 0000`, and no processor of ours is faster than 10 GHz.
        let hertz = number * unit;
        (1e8..1e10).contains(&hertz).then_some(Hertz(hertz as u64))
    }
}

/// "Unknown" is what kernels since 6.15 print for a CPU without a fresh sample.
fn megahertz(value: &str) -> crate::Fact<Hertz> {
    let hertz = value.parse::<f64>().ok().map(|mhz| mhz * 1e6);
    let hertz = hertz.filter(|hertz| (0.0..1e12).contains(hertz));
    hertz
        .map(|hertz| Hertz(hertz as u64))
        .ok_or_else(|| Missing::malformed("/proc/cpuinfo: cpu MHz", value, "a frequency in MHz"))
}

fn hexadecimal(value: &str) -> crate::Fact<u64> {
    u64::from_str_radix(value.trim_start_matches("0x"), 16)
        .map_err(|_| Missing::malformed("/proc/cpuinfo: microcode", value, "a hexadecimal number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_may_be_unknown_without_hiding_its_neighbour() {
        let info =
            CpuInfo::parse("processor : 0\ncpu MHz : Unknown\nprocessor : 1\ncpu MHz : 1600.000\n")
                .unwrap();
        let clocks: Vec<_> = info.clocks.known().collect();
        assert_eq!(clocks, [(1, &Hertz::from_mhz(1600))]);
        assert_eq!(
            info.clocks.missing().unwrap().to_string(),
            "/proc/cpuinfo: cpu MHz: found \"Unknown\", expected a frequency in MHz"
        );
    }

    #[test]
    fn power_and_s390_show_the_clock_of_each_cpu_in_words_of_their_own() {
        let clocks = |text: &str| {
            let info = CpuInfo::parse(text).unwrap();
            let of = |it: &PerCpu<Hertz>| it.known().map(|(cpu, it)| (cpu, it.khz())).collect();
            let pair: (Vec<_>, Vec<_>) = (of(&info.clocks), of(&info.static_clocks));
            pair
        };
        let power = "processor : 1\ncpu : POWER9, altivec supported\nclock : 2154.000000MHz\n";
        assert_eq!(clocks(power), (vec![(1, 2_154_000)], vec![]));
        let s390 =
            "vendor_id : IBM/S390\ncpu number : 2\ncpu MHz dynamic : 4000\ncpu MHz static : 5000\n";
        assert_eq!(clocks(s390), (vec![(2, 4_000_000)], vec![(2, 5_000_000)]));
    }

    #[test]
    fn the_nominal_clock_is_read_from_the_name() {
        let clock = |name: &str| {
            let info = CpuInfo { model_name: name.into(), ..CpuInfo::default() };
            info.clock_in_name().map(Hertz::khz)
        };
        assert_eq!(clock("Intel(R) Xeon(R) CPU           E5540  @ 2.53GHz"), Some(2_530_000));
        assert_eq!(clock("Genuine Intel(R) CPU 0000%@"), None);
        assert_eq!(clock("AMD EPYC 7543 32-Core Processor"), None);
    }

    #[test]
    fn text_that_is_no_cpuinfo_is_refused() {
        assert_eq!(CpuInfo::parse("\0\u{1}x"), Err(Expected("lines like `processor : 0`")));
    }
}
