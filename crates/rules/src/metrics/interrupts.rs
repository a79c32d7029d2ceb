//! What interrupts CPUs: interrupts by kind and by device, softirqs, and the firmware.

use crate::interval::{Column, Interval};
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values, each};
use facts::counters::Family;
use facts::system::interrupts::is_of_the_cpu;
use facts::{Fact, Missing};

/// What interrupts each CPU, by kind.
///
/// Source: /proc/interrupts; the kinds are those of arch_show_interrupts in arch/*/kernel/irq.c.
pub(super) const INTERRUPTS: Metric = Metric {
    id: "interrupts",
    title: "interrupts by kind",
    column: "IRQ",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    limits: Limits::None,
    families: &[Family::Interrupts],
    tasks: Tasks::None,
    help: "A part for each kind of /proc/interrupts that came at least once in the interval: `LOC` timer, `RES` and \
           `CAL` from other CPUs, `TLB` shootdowns, `NMI`, `PMI` performance counters, `MCE` and `THR` faults of \
           the hardware, `TRM` thermal events. `devices` is all that come from devices; `device-interrupts` \
           names them. SMIs are no interrupts that a kernel sees.",
    measure: interrupts,
};

fn interrupts(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Interrupts)?;
    let (kinds, devices): (Vec<_>, Vec<_>) =
        rows.moved_columns().into_iter().partition(|(name, _)| is_of_the_cpu(name));
    let mut series = Vec::with_capacity(kinds.len() + 1);
    if !devices.is_empty() {
        let devices: Vec<Column> = devices.into_iter().map(|(_, column)| column).collect();
        let rates = each(&rows.sums(&devices), |delta| Ok(delta.per_second()));
        series.push(Series::part("devices", Values::Cpus(rates)));
    }
    series.extend(Series::rates(&rows, kinds));
    Ok(series)
}

/// Which devices interrupt, all CPUs together.
///
/// Source: the numbered lines of /proc/interrupts. A large machine has thousands of them, each handled by one or two CPUs,
/// so there is one value for the host and none for each CPU.
pub(super) const DEVICE_INTERRUPTS: Metric = Metric {
    id: "device-interrupts",
    title: "interrupts by device",
    column: "DevIRQ",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    limits: Limits::None,
    families: &[Family::Interrupts],
    tasks: Tasks::None,
    help: "A part for each interrupt of a device that came at least once in the interval, by its number in /proc/irq \
           and its device: `24 nvme0q1`. All CPUs together; `interrupts` says how many each CPU took.",
    measure: device_interrupts,
};

fn device_interrupts(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Interrupts)?;
    let moved = rows.moved_columns().into_iter().filter(|(name, _)| !is_of_the_cpu(name));
    let series = moved.map(|(name, column)| {
        let deltas = rows.deltas(column);
        // A CPU of which nothing is known (it came or went) makes the sum one of the others; a count that went
        // backwards makes it nonsense.
        let rate = || match deltas.missing() {
            Some(missing) if !missing.is_absence() => Err(missing.clone()),
            _ => Ok(deltas.known().map(|(_, delta)| delta.per_second()).sum()),
        };
        Series::part(name, Values::Host(rate()))
    });
    Ok(series.collect())
}

/// Work that interrupts put off, by kind.
///
/// Source: /proc/softirqs (fs/proc/softirqs.c); the kinds are those of include/linux/interrupt.h.
pub(super) const SOFTIRQS: Metric = Metric {
    id: "softirqs",
    title: "softirqs by kind",
    column: "SIRQ",
    unit: Unit::PerSecond,
    kind: Kind::Sum,
    limits: Limits::None,
    families: &[Family::Softirqs],
    tasks: Tasks::None,
    help: "A part for each kind of /proc/softirqs that ran at least once in the interval: `NET_RX` received packets, \
           `BLOCK` finished I/O, `TIMER`, `SCHED`, `RCU`. Counted, not timed: one may take a microsecond or \
           milliseconds.",
    measure: softirqs,
};

fn softirqs(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::Softirqs)?;
    Ok(Series::rates(&rows, rows.moved_columns()).collect())
}

/// How often the firmware interrupted the CPU.
///
/// Source: Intel SDM volume 4, MSR_SMI_COUNT (0x34), a count of 32 bits that only Intel has; arch/x86/events/msr.c.
pub(super) const SMI: Metric = Metric {
    id: "smi",
    title: "system management interrupts",
    column: "SMI/s",
    unit: Unit::PerSecond,
    kind: Kind::Peak,
    limits: Limits::From { notable: f64::MIN_POSITIVE, severe: f64::INFINITY },
    families: &[Family::Clocks],
    tasks: Tasks::None,
    help: "How often the CPU was in system management mode, where the firmware does what it likes and the kernel sees \
           nothing. Each costs tens of microseconds to milliseconds, and usually stops every CPU of the package at \
           once: so the highest rate is shown for several CPUs, and no sum. Hidden from guests, whose own \
           firmware may have some; theirs are not the host's.",
    measure: smi,
};

fn smi(interval: &Interval) -> Fact<Vec<Series>> {
    if let Ok(Some(hypervisor)) = &interval.host.platform.hypervisor {
        return Err(Missing::hidden("the host's SMI count", hypervisor));
    }
    let smi = interval.deltas(Family::Clocks, "smi")?;
    Ok(Series::whole(Values::Cpus(each(&smi, |delta| Ok(delta.per_second())))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{measured, measured_on};

    const BEFORE: &str =
        "at 0\nInterrupts 24+nvme0q1 25+nvme0q2 LOC MCE TLB\n0 1 1 1 1 1\n1 1 1 1 1 1\n";

    #[test]
    fn kinds_that_came_have_rates_and_devices_one_together() {
        let after =
            "at 1000\nInterrupts 24+nvme0q1 25+nvme0q2 LOC MCE TLB\n0 11 6 251 1 1\n1 1 1 2 1 9\n";
        let expected = "devices 0: 15.00\ndevices 1: 0.00\nLOC 0: 250.00\nLOC 1: 1.00\nTLB 0: 0.00\nTLB 1: 8.00";
        assert_eq!(measured(&INTERRUPTS, BEFORE, after), expected);
    }

    #[test]
    fn a_count_that_goes_backwards_spoils_its_kind_on_its_cpu_only() {
        let after =
            "at 1000\nInterrupts 24+nvme0q1 25+nvme0q2 LOC MCE TLB\n0 0 6 251 1 1\n1 2 1 1 1 1\n";
        let expected = "devices 0: /proc/interrupts (24 nvme0q1): found \"0 after 1\", expected a counter that does not go backwards\n\
                        devices 1: 1.00\nLOC 0: 250.00\nLOC 1: 0.00";
        assert_eq!(measured(&INTERRUPTS, BEFORE, after), expected);
    }

    const DEVICES: &str = "at 0\nInterrupts 24+nvme0q1 25+nvme0q2 LOC\n0 1 1 1\n1 1 1 1\n";

    #[test]
    fn a_device_has_the_interrupts_of_all_cpus() {
        let after = "at 1000\nInterrupts 24+nvme0q1 25+nvme0q2 LOC\n0 11 1 251\n1 31 1 2\n";
        assert_eq!(measured(&DEVICE_INTERRUPTS, DEVICES, after), "24 nvme0q1 host: 40.00");
    }

    const WORK: &str = "at 0\nSoftirqs HI NET_RX RCU\n0 5 5 5\n1 5 5 5\n";

    #[test]
    fn kinds_that_ran_have_rates() {
        let after = "at 500\nSoftirqs HI NET_RX RCU\n0 5 55 5\n1 5 5 5\n";
        assert_eq!(measured(&SOFTIRQS, WORK, after), "NET_RX 0: 100.00\nNET_RX 1: 0.00");
    }

    const SMIS: &str = "at 0\nClocks tsc smi\n0 0 100\n1 0 100\n";

    #[test]
    fn a_guest_does_not_see_them() {
        let guest =
            "//- /proc/cpuinfo\nprocessor : 0\nflags : hypervisor\n//- /sys/hypervisor/type\nxen\n";
        assert_eq!(
            measured_on(guest, &SMI, SMIS, SMIS),
            "the host's SMI count: not available in a guest of xen"
        );
    }

    #[test]
    fn a_processor_without_the_count_has_a_reason() {
        let sample = |ms| format!("at {ms}\nClocks tsc\n0 {ms}\n");
        assert_eq!(measured(&SMI, &sample(0), &sample(1000)), "smi does not exist");
    }
}
