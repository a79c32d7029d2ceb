//! The highest level that a management controller allows over PECI, whatever Linux requests: no file of cpufreq shows it.

use super::{REACHED, with_cost};
use crate::commands;
use crate::finding::{Confidence, Finding};
use crate::loss_scale::{self, Lost};
use crate::party::Party;
use facts::msr::hwp::{Capabilities, ControllerRequest, Limit};
use facts::msr::intel;
use facts::{CpuSet, HostView};
use std::collections::BTreeMap;

/// One finding for each level. Where the register is not there or cannot be read, nothing is said: processors without it have no such request, and
/// the check has other sources.
pub(super) fn findings(host: &HostView) -> Vec<Finding> {
    let Ok(requests) = host.msrs.of(&intel::HWP_PECI_REQUEST) else { return Vec::new() };
    let turbo = !host.runs_without_turbo();
    let mut limited: BTreeMap<(u64, u64), Vec<(u32, u64)>> = BTreeMap::new();
    for (cpu, &value) in requests.known() {
        let max = ControllerRequest(value).max().filter(|it| *it > 0);
        let capabilities = host.msrs.value(&intel::HWP_CAPABILITIES, cpu);
        let (Some(max), Ok(capabilities)) = (max, capabilities) else { continue };
        let limit = Limit {
            max,
            capabilities: Capabilities(capabilities),
            path: intel::HWP_PECI_REQUEST.path(cpu),
            value,
        };
        let reachable = limit.reachable(turbo);
        if (max as f64) < REACHED * reachable as f64 {
            limited.entry((max, reachable)).or_default().push((cpu, value));
        }
    }
    let of = |cpus: &[(u32, u64)]| -> CpuSet {
        cpus.iter()
            .flat_map(|(cpu, _)| host.topology.package_of(*cpu).iter().collect::<Vec<_>>())
            .collect()
    };
    let all: CpuSet = limited.values().flat_map(|it| of(it).iter().collect::<Vec<_>>()).collect();
    let are_many = loss_scale::are_many(host, &all);
    let finding = |(&(max, reachable), cpus): (&(u64, u64), &Vec<(u32, u64)>)| {
        let share = max as f64 / reachable as f64;
        let message = format!(
            "the management controller keeps the clock at level {max} of {reachable}, over PECI"
        );
        let lost = Lost::of_what_is_left(share, are_many);
        let mut finding = Finding::of_lost(lost, Confidence::High, message)
            .held_by(Party::ManagementController)
            .by_means_of(format!("its request over PECI (level {max} of {reachable})"))
            .advising("find whose budget the management controller keeps")
            .command(&commands::BMC_LIMIT, "")
            .fix_lasting("find out whose budget the controller keeps: its page for power, Redfish, or the power management of the rack; see bmc-power-cap");
        for (cpu, value) in cpus {
            finding = finding.evidence(intel::HWP_PECI_REQUEST.path(*cpu), format!("{value:#x}"));
        }
        with_cost(finding, share, format!("level {max} of {reachable}"))
            .on(of(cpus), host.topology.n_online())
    };
    limited.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::CHECK;
    use crate::fixture::{XEON, verdict};

    /// [`XEON`] with CPUID leaf 6 and this request of the controller; the processor can reach level 39.
    fn host(leaf6: &str, request: &str) -> String {
        let cpu = |cpu: u32| {
            let at = format!("//- /dev/cpu/{cpu}/msr");
            format!("{at} 0x771\n0x5081827\n{at} 0x774\n0x80002708\n")
        };
        let cpus: String = (0..4).map(cpu).collect();
        let policy = "//- /sys/devices/system/cpu/cpufreq/policy0";
        format!(
            "{XEON}//- cpuid 0x6 0x0\n{leaf6} 0x2 0x9 0x0\n//- /dev/cpu/0/msr 0x770\n0x1\n{cpus}\
             //- /dev/cpu/0/msr 0x775\n{request}\n\
             {policy}/affected_cpus\n0 1 2 3\n{policy}/scaling_max_freq\n3900000\n\
             {policy}/cpuinfo_max_freq\n3900000\n{policy}/scaling_driver\nintel_pstate\n"
        )
    }

    const HAS: &str = "0x10077";

    #[test]
    fn a_request_of_the_controller_below_the_highest_level_is_as_bad_as_what_it_takes() {
        assert_eq!(
            verdict(&CHECK, &host(HAS, "0x4000000000001808")),
            "high: the management controller keeps the clock at level 24 of 39, over PECI [all 4 CPUs]"
        );
    }

    #[test]
    fn a_request_that_is_not_valid_or_takes_nothing_is_none() {
        for request in ["0x1808", "0x4000000000002708", "0x4000000000000000", "0x9000000080000808"]
        {
            assert_eq!(verdict(&CHECK, &host(HAS, request)), "clean", "{request}");
        }
        // A processor without the register.
        assert_eq!(verdict(&CHECK, &host("0x77", "0x4000000000001808")), "clean");
    }
}
