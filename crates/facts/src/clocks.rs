//! Which clock a host was bought for, and whether it may go beyond.
//!
//! Several sources answer, each on some hosts only; this file says in which order they are believed.

use crate::cpu::cpufreq::Policy;
use crate::cpu::cpuinfo::CpuInfo;
use crate::{Hertz, HostView, Missing};

/// What acpi-cpufreq adds to the nominal clock to name turbo (drivers/cpufreq/acpi-cpufreq.c: the first entry
/// of _PSS, which firmware gives as the nominal clock and 1 MHz).
const TURBO_MARK: Hertz = Hertz(1_000_000);

impl HostView {
    /// The clock that the processor was sold with, and where that is written; `None` where nothing says.
    ///
    /// The model name is asked first: firmware may lie in its tables, the name is burnt in. AMD's names hold no
    /// clock.
    pub fn nominal_clock(&self) -> Option<(Hertz, &'static str)> {
        let named = self.cpuinfo.as_ref().ok().and_then(CpuInfo::clock_in_name);
        let of_policies = |clock: fn(&Policy) -> Option<Hertz>| {
            self.cpufreq.policies.as_deref().unwrap_or_default().iter().find_map(clock)
        };
        let table = self.cpufreq.table.as_deref().unwrap_or_default();
        let cppc = || self.cpufreq.cppc_nominal.as_ref().ok().copied();
        None.or(named.map(|clock| (clock, "model name in /proc/cpuinfo")))
            .or_else(|| Some((of_policies(|it| it.base_frequency.clone().ok())?, "base_frequency")))
            .or_else(|| Some((highest(table)?, "scaling_available_frequencies")))
            .or_else(|| Some((cppc()?, "acpi_cppc nominal_freq")))
            .or_else(|| Some((of_policies(|it| it.bios_limit.clone().ok())?, "bios_limit")))
    }

    /// The highest clock that can be asked for, which `scaling_max_freq` shows where nothing limits it.
    ///
    /// Fails where boost cannot be told from the nominal clock.
    pub fn highest_request<'a>(&'a self, policy: &'a Policy) -> Result<Hertz, &'a Missing> {
        let max = *policy.cpuinfo_max.as_ref()?;
        let nominal = self.nominal_clock().map(|(clock, _)| clock);
        if policy.asks_for_turbo() {
            let has_turbo = !self.runs_without_turbo() && policy.boost != Ok(false);
            // The cores of a hybrid processor have nominal clocks of their own.
            let nominal = nominal.into_iter().chain(policy.base_frequency.clone());
            return Ok(if has_turbo { max } else { nominal.fold(max, Hertz::min) });
        }
        // acpi-cpufreq stretches `cpuinfo_max_freq` by the boost ratio since Linux 5.11 (get_max_boost_ratio
        // in drivers/cpufreq/acpi-cpufreq.c), and still asks for nothing above its table.
        match (self.cpufreq.table.as_deref().map(<[Hertz]>::first), nominal) {
            (Ok(Some(&top)), _) => Ok(top.min(max)),
            (_, Some(nominal)) if max.0 > nominal.0.saturating_add(TURBO_MARK.0) => Ok(nominal),
            (Err(missing), None) if policy.driver.as_deref() == Ok("acpi-cpufreq") => Err(missing),
            _ => Ok(max),
        }
    }

    /// The highest clock that the limits of a policy leave: Linux's, the firmware's, and that of intel_pstate for all CPUs.
    ///
    /// `None` where its maximum is unknown; a limit that is unknown limits nothing.
    pub fn ceiling_of(&self, policy: &Policy) -> Option<Hertz> {
        let max = *policy.cpuinfo_max.as_ref().ok()?;
        let limits = [policy.scaling_max.as_ref(), policy.bios_limit.as_ref()];
        let lowest =
            limits.into_iter().flatten().filter(|it| it.0 > 0).fold(max, |low, it| low.min(*it));
        Some(self.percent_limit_of(policy).map_or(lowest, |it| lowest.min(it)))
    }

    /// The clock that intel_pstate's limit for all CPUs (`max_perf_pct`) leaves of a policy's maximum; `None` where either is unknown.
    pub fn percent_limit_of(&self, policy: &Policy) -> Option<Hertz> {
        let max = policy.cpuinfo_max.as_ref().ok()?;
        let percent = *self.pstate.intel.max_perf_pct.as_ref().ok()?;
        Some(Hertz(max.0 / 100 * percent.min(100)))
    }

    /// Whether a limit lets every clock of acpi-cpufreq's table pass but the one that stands for turbo.
    pub fn leaves_out_turbo(&self, policy: &Policy, limit: Hertz, full: Hertz) -> bool {
        policy.driver.as_deref() == Ok("acpi-cpufreq")
            && self.cpuinfo.as_ref().is_ok_and(CpuInfo::is_intel)
            && !self.runs_without_turbo()
            && limit.0.checked_add(TURBO_MARK.0) == Some(full.0)
    }

    /// Whether the kernel keeps, or found, turbo switched off; the reason is for the check `turbo-off`.
    pub fn runs_without_turbo(&self) -> bool {
        let lacks_flag = self.cpuinfo.as_ref().is_ok_and(|it| {
            (it.is_intel() || it.is_amd()) && !it.flags.is_empty() && !it.has_turbo()
        });
        lacks_flag || self.pstate.intel.no_turbo == Ok(true) || self.cpufreq.boost == Ok(false)
    }
}

/// The highest clock in a frequency table, leaving out the entry that stands for turbo.
fn highest(table: &[Hertz]) -> Option<Hertz> {
    match table {
        [mark, nominal, ..] if mark.0 == nominal.0.saturating_add(TURBO_MARK.0) => Some(*nominal),
        _ => table.first().copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn the_entry_for_turbo_is_no_clock() {
        let highest = |text| highest(&parse::kilohertz_list(text).unwrap()).map(Hertz::khz);
        assert_eq!(highest("1996000 1995000 1862000 1064000 \n"), Some(1_995_000));
        assert_eq!(highest("1200000 2300000 1800000"), Some(2_300_000));
        assert_eq!(highest(""), None);
    }
}
