//! Reads the cooling devices that act on CPUs.

use crate::Source;
use facts::cpu::cooling::{CoolingDevice, Kind};
use facts::cpu::cpufreq::Policy;
use facts::{Fact, HostView, Missing, parse};

const FOLDER: &str = "/sys/class/thermal";

pub(super) fn read(source: &dyn Source) -> Fact<Vec<CoolingDevice>> {
    let numbers = source.numbered(FOLDER, "cooling_device")?;
    Ok(numbers.into_iter().filter_map(|number| device(source, number)).collect())
}

/// The same, only where some policy may not run at its highest clock: a large machine has a device for each CPU.
pub(super) fn read_of_limits(source: &dyn Source, host: &mut HostView) {
    let is_free = |it: &Policy| matches!((&it.scaling_max, &it.cpuinfo_max), (Ok(limit), Ok(highest)) if limit >= highest);
    // Whoever asked for all cooling devices has them.
    if host.cooling.as_ref().is_err_and(Missing::is_unasked) {
        host.cooling = match &host.cpufreq.policies {
            Ok(policies) if policies.iter().all(is_free) => {
                Err(Missing::not_here("cooling of a clock", "no policy is below its highest clock"))
            }
            _ => read(source),
        };
    }
}

fn device(source: &dyn Source, number: u32) -> Option<CoolingDevice> {
    let folder = format!("{FOLDER}/cooling_device{number}");
    let name = source.parsed(&format!("{folder}/type"), parse::line).ok()?;
    let kind = Kind::of_type(&name)?;
    let state = source.parsed(&format!("{folder}/cur_state"), parse::signed);
    let is_on = state.as_ref().is_ok_and(|&state| state > 0);
    let unasked = |file: &str| Missing::not_collected(format!("{folder}/{file}"));
    Some(CoolingDevice {
        max: if is_on {
            source.parsed(&format!("{folder}/max_state"), parse::number)
        } else {
            Err(unasked("max_state"))
        },
        cpu: if is_on { cpu(source, &folder) } else { Err(unasked("device")) },
        kind,
        state,
        folder,
    })
}

/// A `Processor` device leads to its ACPI object, and that to the CPU
/// (drivers/acpi/{processor_driver,glue}.c).
fn cpu(source: &dyn Source, folder: &str) -> Fact<u32> {
    let link = format!("{folder}/device/physical_node");
    let target = source.link(&link)?;
    let number = target.rsplit('/').next().and_then(|name| name.strip_prefix("cpu")?.parse().ok());
    number.ok_or_else(|| Missing::malformed(link, &target, "a link to a CPU"))
}

#[cfg(test)]
mod tests {
    use crate::{Captured, view_of};
    use facts::{Subject, Subjects};

    /// Whether cooling is looked at where a policy with this limit is asked about.
    fn is_read(limit: &str) -> bool {
        let policy = "/sys/devices/system/cpu/cpufreq/policy0";
        let device = "/sys/class/thermal/cooling_device0";
        let host = Captured::excerpt(&format!(
            "//- {policy}/affected_cpus\n0\n//- {policy}/cpuinfo_max_freq\n3000000\n\
             //- {policy}/scaling_max_freq\n{limit}\n\
             //- {device}/type\nProcessor\n//- {device}/cur_state\n1\n",
        ))
        .unwrap();
        view_of(&host, Subjects::of(&[Subject::CoolingOfLimits])).cooling.is_ok()
    }

    #[test]
    fn cooling_may_be_the_reason_of_a_limit_and_is_not_asked_for_where_there_is_none() {
        assert!(is_read("2999999"));
        assert!(!is_read("3000000"));
        assert!(is_read("!denied"));
    }
}
