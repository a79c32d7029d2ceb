//! `steal`: the share of time in which the hypervisor ran somebody else.
//!
//! Sources: proc_stat(5), `steal`; Documentation/virt/kvm/x86/msr.rst, MSR_KVM_STEAL_TIME.

use crate::interval::Interval;
use crate::metric::{Kind, Metric, Series, Unit, Values, each};
use facts::counters::Family;
use facts::{Fact, Missing, USER_TICK_NS};

pub(super) const METRIC: Metric = Metric {
    id: "steal",
    title: "share of time that the hypervisor gave to others",
    column: "Steal%",
    unit: Unit::Percent,
    kind: Kind::Mean,
    families: &[Family::CpuTimes],
    tasks: false,
    help: "The time in which the virtual CPU had work and its hypervisor did not run it, by `steal` of /proc/stat, in \
           steps of 10 ms. Shown in guests only. Most guests of VMware and Hyper-V read 0 whatever happens, so there \
           0 since boot is no answer; QEMU without KVM reports none either.",
    measure,
};

fn measure(interval: &Interval) -> Fact<Vec<Series>> {
    let host = interval.host;
    if host.platform.is_bare_metal() {
        return Err(Missing::not_here("hypervisor", "the kernel runs on the hardware itself"));
    }
    let rows = interval.rows(Family::CpuTimes)?;
    let column = rows.column("steal")?;
    if rows.total(column) == 0 {
        host.platform.tells_of_steal()?;
    }
    let shares =
        each(&rows.rises(column), |rise| rise.percent(USER_TICK_NS, "steal of /proc/stat"));
    Ok(Series::whole(Values::Cpus(shares)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{measured, measured_on};

    const BEFORE: &str = "at 0\nCpuTimes idle steal\n0 0 7\n1 0 0\n";
    const GUEST: &str = "//- /sys/class/dmi/id/sys_vendor\nQEMU\n";
    const METAL: &str = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n";
    const VMWARE: &str = "//- /sys/class/dmi/id/sys_vendor\nVMware, Inc.\n//- /sys/class/dmi/id/product_name\nVMware7,1\n";

    #[test]
    fn stolen_time_is_a_share_of_all_time() {
        let after = "at 1000\nCpuTimes idle steal\n0 0 22\n1 0 0\n";
        assert_eq!(measured_on(GUEST, &METRIC, BEFORE, after), "0: 15.00\n1: 0.00");
    }

    #[test]
    fn none_since_boot_is_no_answer_where_the_hypervisor_reports_none() {
        let sample = |ms| format!("at {ms}\nCpuTimes idle steal\n0 0 0\n");
        assert_eq!(
            measured_on(VMWARE, &METRIC, &sample(0), &sample(1000)),
            "stolen time is hidden from a guest of VMware"
        );
    }

    #[test]
    fn the_hardware_itself_has_nobody_to_steal() {
        assert_eq!(
            measured_on(METAL, &METRIC, BEFORE, BEFORE),
            "no hypervisor here: the kernel runs on the hardware itself"
        );
    }

    #[test]
    fn a_count_that_goes_backwards_is_no_share() {
        let after = "at 1000\nCpuTimes idle steal\n0 0 3\n1 0 0\n";
        assert_eq!(
            measured_on(GUEST, &METRIC, BEFORE, after),
            "0: /proc/stat (steal) holds \"3 after 7\", expected a counter that does not go backwards\n1: 0.00"
        );
    }

    #[test]
    fn without_the_table_there_is_a_reason() {
        assert_eq!(
            measured(&METRIC, "at 0\n", "at 1000\n"),
            "/proc/stat is not in this copy of the host"
        );
    }
}
