//! How many local timer interrupts a CPU has had: the LOC row of /proc/interrupts (arch/x86/kernel/irq.c), or
//! the `arch_timer` rows of aarch64.

use anyhow::{Context as _, Result};

/// The CPU's count since boot.
pub(crate) fn local_timer(cpu: u32) -> Result<u64> {
    let path = "/proc/interrupts";
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    count(&text, cpu)
        .with_context(|| format!("{path} counts no local timer interrupts of CPU {cpu}"))
}

/// The header names the CPUs that are online, one column each.
fn count(interrupts: &str, cpu: u32) -> Option<u64> {
    let mut lines = interrupts.lines();
    let name = format!("CPU{cpu}");
    let column = lines.next()?.split_whitespace().position(|it| it == name)?;
    let is_timer =
        |line: &&str| line.trim_start().starts_with("LOC:") || line.ends_with(" arch_timer");
    let counts = lines.filter(is_timer).map(|line| {
        line.split_whitespace().skip(1).nth(column).and_then(|count| count.parse::<u64>().ok())
    });
    counts.reduce(|sum, count| sum?.checked_add(count?))?
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "           CPU0       CPU2
  4:       1180          0   IO-APIC   4-edge      ttyS0
LOC:     812345     598203   Local timer interrupts
SPU:          0          0   Spurious interrupts
";
    const ARM: &str = "           CPU0       CPU1
 10:          0          5     GICv3  26 Level     kvm guest vtimer
 11:     401234     398765     GICv3  27 Level     arch_timer
 12:          1          2     GICv3  30 Level     arch_timer
";

    #[test]
    fn a_cpu_is_found_by_its_column_and_not_by_its_place() {
        assert_eq!(count(X86, 0), Some(812_345));
        assert_eq!(count(X86, 2), Some(598_203));
        assert_eq!(count(ARM, 1), Some(398_767));
    }

    #[test]
    fn a_cpu_without_a_column_has_no_count() {
        assert_eq!(count(X86, 1), None);
        assert_eq!(count("", 0), None);
        assert_eq!(count("CPU0\nSPU: 0 Spurious interrupts\n", 0), None);
        assert_eq!(count("CPU0 CPU1\nLOC: 5\n", 1), None);
    }
}
