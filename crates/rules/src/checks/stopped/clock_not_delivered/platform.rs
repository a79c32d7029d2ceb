//! What kernel and platform say of a clock beside its counters: that there was nothing to count, and CPPC's own words.
//!
//! Sources: arch/arm64/kernel/topology.c (`arch_freq_get_on_cpu`), which answers EAGAIN for a CPU that had no tick for 20 ms; ACPI 6.5,
//! sections 8.4.6.1.1.5, "Guaranteed Performance", and 8.4.6.1.3.2, "Performance Limited Register".

use facts::cpu::cpufreq::Policy;
use facts::{HostView, Missing};

/// Whether the kernel has counted no cycles of a CPU in the last milliseconds: it was idle, unless it works without a tick (nohz_full).
pub(super) fn is_without_tick(host: &HostView, policy: &Policy, cpu: u32) -> bool {
    let is_tickless = host.isolation.tickless().is_ok_and(|it| it.contains(cpu));
    policy.cpuinfo_avg.as_ref().is_err_and(Missing::is_of_the_moment) && !is_tickless
}

/// What the platform says by CPPC, as evidence: that it can sustain less than the nominal level at this moment, that it chooses the level by
/// itself, and a log, which has no date.
pub(super) fn told(host: &HostView, policy: &Policy) -> Vec<(String, String)> {
    let mut told = Vec::new();
    let feedback = policy.cpus.first().and_then(|it| host.delivered.feedback.get(it));
    if let Some(Ok(feedback)) = feedback
        && let Some(level) = feedback.levels.guaranteed
        && level < feedback.levels.nominal
    {
        told.push((feedback.path("guaranteed_perf"), level.to_string()));
    }
    if policy.auto_select == Ok(true) {
        told.push((policy.path("auto_select"), "1".to_owned()));
    }
    if let Ok(log) = policy.perf_limited
        && log.bits() > 0
    {
        told.push((policy.path("perf_limited"), log.bits().to_string()));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::super::CHECK;
    use crate::fixture::{findings, verdict};

    const CPU: &str = "/sys/devices/system/cpu";

    /// An arm64 CPU of 2600 MHz that worked for a quarter of the time, with these files below its folder.
    fn host(files: &[(&str, &str)]) -> String {
        let file = |(file, text): &(&str, &str)| format!("//- {CPU}/{file}\n{text}\n");
        let given: String = files.iter().map(file).collect();
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nCPU part : 0xd4f\n//- /proc/stat\ncpu0 2500 0 0 7500 0 0 0 0 0 0\n\
             //- {CPU}/online\n0\n//- {CPU}/cpufreq/policy0/affected_cpus\n0\n\
             //- {CPU}/cpufreq/policy0/scaling_driver\ncppc_cpufreq\n\
             //- {CPU}/cpufreq/policy0/scaling_governor\nperformance\n\
             //- {CPU}/cpufreq/policy0/scaling_min_freq\n800000\n//- {CPU}/cpufreq/policy0/scaling_max_freq\n2600000\n\
             //- {CPU}/cpufreq/policy0/cpuinfo_min_freq\n800000\n//- {CPU}/cpufreq/policy0/cpuinfo_max_freq\n2600000\n{given}"
        )
    }

    /// The levels of CPPC, at which so much was delivered of 100 counts at the nominal one.
    fn counted(delivered: &str) -> String {
        let counters = format!("ref:100000 del:{delivered}000");
        host(&[
            ("cpu0/acpi_cppc/feedback_ctrs", &counters),
            ("cpu0/acpi_cppc/nominal_perf", "260"),
            ("cpu0/acpi_cppc/reference_perf", "260"),
            ("cpu0/acpi_cppc/nominal_freq", "2600"),
            ("cpu0/acpi_cppc/guaranteed_perf", "150"),
            ("cpufreq/policy0/auto_select", "1"),
            ("cpufreq/policy0/perf_limited", "2"),
        ])
    }

    #[test]
    fn what_the_platform_says_is_evidence_of_a_low_clock_and_no_finding_without_one() {
        let finding = findings(&CHECK, &counted("50")).remove(0);
        let shown = finding
            .evidence
            .iter()
            .map(|it| format!("{} {}", it.source.rsplit('/').next().unwrap_or_default(), it.value));
        let shown: Vec<String> = shown.collect();
        assert!(
            shown.join(" ").ends_with("guaranteed_perf 150 auto_select 1 perf_limited 2"),
            "{shown:?}"
        );
        assert_eq!(verdict(&CHECK, &counted("100")), "clean");
    }

    #[test]
    fn a_cpu_of_which_nothing_was_counted_lately_is_idle_and_its_clock_is_no_evidence() {
        let again = |average: &str, more: &str| {
            let text = host(&[
                ("cpufreq/policy0/cpuinfo_cur_freq", "900000"),
                ("cpufreq/policy0/cpuinfo_avg_freq", average),
            ]);
            verdict(&CHECK, &(text + more))
        };
        let nothing = "!failed Resource temporarily unavailable (os error 11)";
        assert_eq!(
            again(nothing, ""),
            "unknown: the clock that the hardware runs at cannot be read: the CPUs were idle, or which of them worked is unknown"
        );
        // A CPU that works without a tick is counted as little.
        let tickless = again(nothing, &format!("//- {CPU}/nohz_full\n0\n"));
        assert!(tickless.starts_with("high: "), "{tickless}");
        let busy = again("900000", "");
        assert!(busy.starts_with("high: "), "{busy}");
    }
}
