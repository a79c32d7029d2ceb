//! /proc/interrupts: how often each CPU took each interrupt since boot.
//!
//! Sources: proc_interrupts(5), kernel/irq/proc.c, and arch/*/kernel/irq.c for the named lines. The header
//! names the online CPUs only, so a column is not a CPU number. Counts are 32 bits wide and wrap.
//! Most cells of a large machine are zero, and are not kept.

use crate::CpuSet;
use crate::parse::Expected;
use std::collections::HashMap;

/// The table of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interrupts {
    /// The CPUs that have a column.
    pub cpus: CpuSet,
    /// One entry per line that counts by CPU, in the order of the file.
    pub lines: Vec<Interrupt>,
    /// The first line of each name.
    by_name: HashMap<String, usize>,
}

/// A row of /proc/interrupts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// `LOC`, `NMI`, `I/O`, or the number of a device's interrupt.
    pub name: String,
    /// What stands behind the counts: chip, trigger and device, or a few words.
    pub description: String,
    /// Each CPU that took it, with how often, by CPU number.
    counts: Vec<(u32, u64)>,
}

/// Only interrupts that are in use have a line; a machine of 4,096 CPUs has some ten thousand.
const MOST_LINES: usize = 1 << 16;

impl Interrupts {
    /// Parses the file. Lines without a count for every CPU (`ERR`, `MIS`, a line that was cut) are left
    /// out.
    pub fn parse(text: &str) -> Result<Interrupts, Expected> {
        const HEADER: Expected = Expected("a first line like `CPU0 CPU1`");
        let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
        let header = lines.next().ok_or(HEADER)?.split_ascii_whitespace();
        let column = |word: &str| word.strip_prefix("CPU")?.parse().ok();
        let columns: Vec<u32> = header.map(column).collect::<Option<_>>().ok_or(HEADER)?;
        if columns.is_empty() || !columns.is_sorted_by(|a, b| a < b) {
            return Err(HEADER);
        }
        let lines: Vec<Interrupt> = lines
            .filter_map(|line| Interrupt::parse(line, &columns))
            .take(MOST_LINES + 1)
            .collect();
        if lines.len() > MOST_LINES {
            return Err(Expected("at most 65536 lines, one for each interrupt"));
        }
        let mut by_name = HashMap::with_capacity(lines.len());
        for (at, line) in lines.iter().enumerate() {
            by_name.entry(line.name.clone()).or_insert(at);
        }
        Ok(Interrupts { lines, by_name, cpus: columns.into_iter().collect() })
    }

    /// The line with this name.
    pub fn named(&self, name: &str) -> Option<&Interrupt> {
        self.by_name.get(name).and_then(|at| self.lines.get(*at))
    }

    /// The lines of devices, each with its number in /proc/irq.
    pub fn devices(&self) -> impl Iterator<Item = (u32, &Interrupt)> {
        self.lines.iter().filter_map(|line| Some((line.device_number()?, line)))
    }

    /// The timer that drives the tick: `LOC` on x86 and POWER, a per-CPU timer of the architecture
    /// elsewhere; the busiest where there are several.
    pub fn tick_timer(&self) -> Option<&Interrupt> {
        let timers = || self.lines.iter().filter(|line| line.is_tick_timer());
        self.named("LOC").or_else(|| timers().max_by_key(|line| line.total()))
    }
}

/// Names of per-CPU interrupts that have a number like a device's: drivers/clocksource/{arm_arch_timer,
/// timer-riscv}.c, drivers/perf/arm_pmu*.c, virt/kvm/arm, arch/powerpc/sysdev/xive, and the interrupt
/// controller inside of a RISC-V or LoongArch CPU.
const OF_THE_CPU: &[&str] =
    &["arch_timer", "arch_sys_timer", "riscv-timer", "-pmu", "kvm guest", "IPI", "INTC"];

/// Whether a line of the file, by its name and the last word of its description, is of the CPU itself and not of
/// a device: `LOC`, `11 arch_timer`, but not `24 virtio0-input`.
pub fn is_of_the_cpu(line: &str) -> bool {
    !line.starts_with(|it: char| it.is_ascii_digit())
        || OF_THE_CPU.iter().any(|word| line.contains(word))
        || line == "0 timer"
}

/// Whether a line of the file, named in the same way, may be the timer that drives the tick.
pub fn may_be_tick_timer(line: &str) -> bool {
    line == "LOC" || line.ends_with("arch_timer") || line.ends_with("riscv-timer")
}

impl Interrupt {
    fn parse(line: &str, columns: &[u32]) -> Option<Interrupt> {
        let (name, mut rest) = line.split_once(':')?;
        let mut counts = Vec::new();
        for &cpu in columns {
            let (count, behind) = leading_number(rest)?;
            rest = behind;
            if count > 0 {
                counts.push((cpu, count));
            }
        }
        let description = rest.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Interrupt { name: name.trim().to_owned(), description, counts })
    }

    /// How often `cpu` took it.
    pub fn on(&self, cpu: u32) -> u64 {
        let found = self.counts.binary_search_by_key(&cpu, |&(cpu, _)| cpu);
        found.ok().and_then(|at| self.counts.get(at)).map_or(0, |&(_, count)| count)
    }

    /// How often the CPUs of `cpus` took it together.
    pub fn on_all(&self, cpus: &CpuSet) -> u64 {
        let counted = self.counts.iter().filter(|(cpu, _)| cpus.contains(*cpu));
        counted.fold(0, |sum, &(_, count)| sum.saturating_add(count))
    }

    /// How often all CPUs took it together.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &(_, count)| sum.saturating_add(count))
    }

    /// The CPUs that took it at least once.
    pub fn cpus(&self) -> CpuSet {
        self.counts.iter().map(|&(cpu, _)| cpu).collect()
    }

    /// The last word of the description, which names the device.
    pub fn device(&self) -> &str {
        self.description.rsplit(' ').next().unwrap_or_default()
    }

    fn is_tick_timer(&self) -> bool {
        ["arch_timer", "riscv-timer"].iter().any(|name| self.description.contains(name))
            || (self.description.contains("INTC") && self.device() == "timer")
    }

    fn device_number(&self) -> Option<u32> {
        let number = self.name.parse().ok()?;
        let of_the_cpu = OF_THE_CPU.iter().any(|word| self.description.contains(word));
        // IRQ 0 of a PC is its timer, which stays where it is (IRQF_NOBALANCING in arch/x86/kernel/time.c).
        let of_the_board = number == 0 && self.device() == "timer";
        (!of_the_cpu && !of_the_board).then_some(number)
    }
}

/// The number at the start of `text` behind white space, and what stands behind it.
fn leading_number(text: &str) -> Option<(u64, &str)> {
    /// A zero as the kernel prints it, ten wide behind a space: millions of them on a large machine.
    const ZERO: &str = "          0";
    if let Some(behind) = text.strip_prefix(ZERO)
        && !behind.starts_with(|c: char| c.is_ascii_digit())
    {
        return Some((0, behind));
    }
    let text = text.trim_ascii_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    let (number, n_digits) = digits.fold((0u64, 0), |(number, n), digit| {
        (number.saturating_mul(10).saturating_add(u64::from(digit - b'0')), n + 1)
    });
    if n_digits == 0 { None } else { Some((number, text.get(n_digits..)?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "\
           CPU0       CPU2
  0:         38          0  IR-IO-APIC   2-edge      timer
  8:          0          1  IR-IO-APIC   8-edge      rtc0
 29:    3249898          0  IR-PCI-MSI 409600-edge      enp0s25
LOC:   18017794    5791007   Local timer interrupts
ERR:          0
";

    #[test]
    fn a_column_belongs_to_the_cpu_that_the_header_names() {
        let interrupts = Interrupts::parse(X86).unwrap();
        let timer = interrupts.tick_timer().unwrap();
        assert_eq!((timer.on(0), timer.on(1), timer.on(2)), (18_017_794, 0, 5_791_007));
        assert_eq!(interrupts.cpus.to_string(), "0,2");
        assert!(interrupts.named("ERR").is_none());
    }

    #[test]
    fn devices_are_the_numbered_lines_but_the_timer() {
        let interrupts = Interrupts::parse(X86).unwrap();
        let devices: Vec<_> = interrupts.devices().map(|(n, it)| (n, it.device())).collect();
        assert_eq!(devices, [(8, "rtc0"), (29, "enp0s25")]);
    }

    #[test]
    fn a_timer_inside_the_cpu_is_no_device() {
        let arm = "CPU0 CPU1\n 11: 5 7 GICv3 27 Level arch_timer\n 12: 1 0 GICv3 99 Edge eth0\nIPI0: 1 1 Rescheduling interrupts\n";
        let interrupts = Interrupts::parse(arm).unwrap();
        assert_eq!(interrupts.tick_timer().unwrap().name, "11");
        assert_eq!(interrupts.devices().map(|(n, _)| n).collect::<Vec<_>>(), [12]);
    }

    #[test]
    fn names_tell_what_is_of_the_cpu_and_what_ticks() {
        let of_the_cpu = |line| (is_of_the_cpu(line), may_be_tick_timer(line));
        assert_eq!(of_the_cpu("LOC"), (true, true));
        assert_eq!(of_the_cpu("11 arch_timer"), (true, true));
        assert_eq!(of_the_cpu("IPI0"), (true, false));
        assert_eq!(of_the_cpu("0 timer"), (true, false));
        assert_eq!(of_the_cpu("24 virtio0-input"), (false, false));
    }

    #[test]
    fn lines_without_a_description_are_read_too() {
        let s390 =
            "           CPU0       CPU1\nI/O:        675        559\n  3:          6          4\n";
        let interrupts = Interrupts::parse(s390).unwrap();
        assert_eq!(interrupts.named("I/O").unwrap().total(), 1234);
        assert_eq!(interrupts.named("3").unwrap().description, "");
    }

    #[test]
    fn text_that_is_no_table_is_refused() {
        for text in ["", "\0\0", "CPU0 CPUx\n", "CPU1 CPU0\n", "garbage\n"] {
            assert!(Interrupts::parse(text).is_err(), "{text:?}");
        }
    }
}
