//! Shares of time by /proc/stat: busy, and stolen by the hypervisor.
//!
//! Source: proc_stat(5), fs/proc/stat.c.

use crate::interval::{Delta, Interval};
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values, each};
use facts::counters::Family;
use facts::{Fact, Missing, USER_TICK_NS};
use std::collections::BTreeMap;

/// The share of time a CPU had something to do. `idle` and `iowait` are exact on a tickless kernel, and written in units
/// of 10 ms, so that a short interval shows steps.
pub(super) const BUSY: Metric = Metric {
    id: "busy",
    title: "share of time with something to do",
    column: "Busy%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    limits: Limits::None,
    families: &[Family::CpuTimes],
    tasks: Tasks::None,
    help: "The time in which a CPU was not in its idle task, of the time that passed: 100 % less `idle` and \
           `iowait` of /proc/stat. That is exact on a tickless kernel, in steps of 10 ms. Time stolen by a \
           hypervisor counts as busy: somebody wanted the CPU. It is the scheduler's view and works \
           everywhere; `c0` is the hardware's. Where the two differ, a CPU polled in its idle task (c0 above \
           busy), or its clock was stopped while it had work (busy above c0). A CPU that was offline \
           for part of the interval has none.",
    measure: busy,
};

fn busy(interval: &Interval) -> Fact<Vec<Series>> {
    let rows = interval.rows(Family::CpuTimes)?;
    // The kernel adds the sleep that goes on to one or the other, as tasks wait for a disk at the moment of
    // reading or not (get_idle_time in fs/proc/stat.c): alone each may go backwards, their sum does not.
    let (idle, iowait) = (rows.column("idle")?, rows.column("iowait")?);
    let free = rows.deltas_by(|was, is| {
        let was = idle.before(was).saturating_add(iowait.before(was));
        let is = idle.after(is).saturating_add(iowait.after(is));
        is.checked_sub(was).ok_or_else(|| {
            let found = format!("{is} after {was}");
            rows.nonsense("idle and iowait", &found, "a counter that does not go backwards")
        })
    });
    // What is not counted as idle is not busy where nothing was counted at all.
    let mut offline: BTreeMap<u32, Missing> = interval.offline().into_iter().collect();
    let counted = free.iter().map(|(cpu, free)| match offline.remove(&cpu) {
        Some(missing) => (cpu, Err(missing)),
        None => (cpu, free.clone()),
    });
    let busy = each(&counted.collect(), |free| {
        Ok(100.0 - free.percent(USER_TICK_NS, "idle time of /proc/stat")?)
    });
    Ok(Series::whole(Values::Cpus(busy)))
}

/// The share of time in which the hypervisor ran something else.
///
/// Source: Documentation/virt/kvm/x86/msr.rst, MSR_KVM_STEAL_TIME.
pub(super) const STEAL: Metric = Metric {
    id: "steal",
    title: "share of time that the hypervisor gave to others",
    column: "Steal%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    limits: Limits::From { notable: 2.0, severe: 10.0 },
    families: &[Family::CpuTimes],
    tasks: Tasks::None,
    help: "The time in which the virtual CPU had work and its hypervisor did not run it, by `steal` of /proc/stat, in \
           steps of 10 ms. Shown in guests only. Most guests of VMware and Hyper-V read 0 whatever happens, so there \
           0 since boot is no answer; QEMU without KVM reports none either.",
    measure: steal,
};

fn steal(interval: &Interval) -> Fact<Vec<Series>> {
    let host = interval.host;
    if host.platform.is_bare_metal() {
        return Err(Missing::not_here("hypervisor", "the kernel runs on the hardware itself"));
    }
    let rows = interval.rows(Family::CpuTimes)?;
    let column = rows.column("steal")?;
    if rows.total(column) == 0 {
        host.platform.tells_of_steal()?;
    }
    let restarted = interval.restarted_steal();
    let share = |delta: &Delta| match &restarted {
        Some(missing) => Err(missing.clone()),
        None => delta.percent(USER_TICK_NS, "steal of /proc/stat"),
    };
    let shares = each(&rows.deltas(column), share);
    Ok(Series::whole(Values::Cpus(shares)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{measured, measured_on};

    const BEFORE: &str = "\
at 0
CpuTimes idle iowait
0 100 5
1 100 5
";

    #[test]
    fn a_cpu_that_was_offline_for_a_while_is_not_taken_for_busy() {
        let columns = "CpuTimes user nice system idle iowait irq softirq steal";
        let before =
            format!("at 0\n{columns}\n1 0 0 0 50 0 0 0 0\ntask 19 19 cpuhp/1 kernel 1 1 0\n");
        let after =
            format!("at 1000\n{columns}\n1 0 0 0 90 0 0 0 0\ntask 19 19 cpuhp/1 kernel 1 2 0\n");
        assert_eq!(
            measured(&BUSY, &before, &after),
            "1: counts of CPU 1 cannot be read: CPU 1 was offline for part of the interval"
        );
    }

    #[test]
    fn what_is_neither_idle_nor_waiting_for_a_disk_is_busy() {
        let after = "at 1000\nCpuTimes idle iowait\n0 175 10\n1 200 5\n";
        assert_eq!(measured(&BUSY, BEFORE, after), "0: 20.00\n1: 0.00");
    }

    #[test]
    fn a_sleep_that_moves_from_iowait_to_idle_is_one_sleep() {
        let after = "at 1000\nCpuTimes idle iowait\n0 155 0\n1 200 5\n";
        assert_eq!(measured(&BUSY, BEFORE, after), "0: 50.00\n1: 0.00");
    }

    #[test]
    fn more_idle_time_than_passed_is_no_share() {
        let after = "at 1000\nCpuTimes idle iowait\n0 300 5\n1 202 5\n";
        let expected = "0: idle time of /proc/stat: found \"2000.0 ms within 1000.0 ms\", expected no more time than passed\n1: 0.00";
        assert_eq!(measured(&BUSY, BEFORE, after), expected);
    }

    const STOLEN: &str = "at 0\nCpuTimes idle steal\n0 0 7\n1 0 0\n";
    const GUEST: &str = "//- /sys/class/dmi/id/sys_vendor\nQEMU\n";
    const METAL: &str = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n";
    const VMWARE: &str = "//- /sys/class/dmi/id/sys_vendor\nVMware, Inc.\n//- /sys/class/dmi/id/product_name\nVMware7,1\n";

    #[test]
    fn stolen_time_is_a_share_of_all_time() {
        let after = "at 1000\nCpuTimes idle steal\n0 0 22\n1 0 0\n";
        assert_eq!(measured_on(GUEST, &STEAL, STOLEN, after), "0: 15.00\n1: 0.00");
    }

    #[test]
    fn a_counter_that_fell_or_jumped_is_no_share() {
        let reason = "expected a counter that does not go backwards";
        let fell =
            measured_on(GUEST, &STEAL, STOLEN, "at 1000\nCpuTimes idle steal\n0 0 2\n1 0 60\n");
        assert_eq!(fell.matches(reason).count(), 2, "{fell}");
        let jumped =
            measured_on(GUEST, &STEAL, STOLEN, "at 1000\nCpuTimes idle steal\n0 0 7\n1 0 900\n");
        assert!(jumped.contains("0: 0.00\n1: steal of /proc/stat: found"), "{jumped}");
    }

    #[test]
    fn none_since_boot_is_no_answer_where_the_hypervisor_reports_none() {
        let sample = |ms| format!("at {ms}\nCpuTimes idle steal\n0 0 0\n");
        assert_eq!(
            measured_on(VMWARE, &STEAL, &sample(0), &sample(1000)),
            "stolen time: not available in a guest of VMware"
        );
    }

    #[test]
    fn the_hardware_itself_has_nobody_to_steal() {
        assert_eq!(
            measured_on(METAL, &STEAL, STOLEN, STOLEN),
            "no hypervisor here: the kernel runs on the hardware itself"
        );
    }
}
