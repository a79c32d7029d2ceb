//! Texts of what makes a fix last, which depend on the kernel, on TuneD's active profile and on what keeps the boot line.

use facts::HostView;

/// How a parameter is taken off the boot line. Which of the ways holds depends on the distribution.
pub(crate) fn off_the_boot_line(parameters: &str) -> String {
    format!(
        "take {parameters} off the boot line: `grubby --update-kernel=ALL --remove-args=\"{parameters}\"` (RHEL, Oracle Linux, Fedora), or out of \
         GRUB_CMDLINE_LINUX or GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub and then `update-grub` (Debian, Ubuntu) or \
         `grub2-mkconfig -o /boot/grub2/grub.cfg` (SLES, openSUSE); then reboot"
    )
}

/// What keeps the governor `performance` over a reboot.
pub(crate) fn governor(host: &HostView) -> String {
    /// The parameter came with Linux 5.9 (8412b4563e59, "cpufreq: Specify default governor on command line"); a kernel before ignores it.
    const SINCE: (u32, u32) = (5, 9);
    if let Some(text) = set_already(host) {
        return text;
    }
    let parameter = match host.kernel.version() {
        Ok(version) if version < SINCE => None,
        Ok(_) => Some("`cpufreq.default_governor=performance` on the boot line"),
        Err(_) => {
            Some("`cpufreq.default_governor=performance` on the boot line (Linux 5.9 and later)")
        }
    };
    let ways = [Some(tuned(host, "governor=performance")), parameter.map(str::to_owned)];
    format!(
        "{}; stop services that set another governor",
        ways.into_iter().flatten().collect::<Vec<_>>().join(", or ")
    )
}

/// A line of `[cpu]` for TuneD. An active profile is never replaced: it sets more than the clock, and somebody chose it.
pub(crate) fn tuned(host: &HostView, line: &str) -> String {
    if let Some(text) = set_already(host) {
        return text;
    }
    match active_profile(host) {
        Some(active) => child_profile(&active, line),
        None => {
            "the tuned profile throughput-performance, or a systemd unit with the same commands"
                .to_owned()
        }
    }
}

/// Where the active profile sets what is advised, something else changes it. The profiles that set the governor set energy_perf_bias, too, and
/// intel_pstate and amd-pstate in active mode set EPP to performance under that governor (`intel_pstate_hwp_set`, `amd_pstate_epp_update_limit`).
fn set_already(host: &HostView) -> Option<String> {
    active_profile(host)?;
    let profile = host.tuners.performance_profile()?;
    Some(format!(
        "tuned's profile {profile} sets it already: `tuned-adm verify`, then find what changes it afterwards"
    ))
}

/// A profile that includes the active one. tuned.spec moves profiles from /etc/tuned to /etc/tuned/profiles on Fedora and RHEL 10.
pub(crate) fn child_profile(active: &str, line: &str) -> String {
    format!(
        "a tuned profile that includes the active one (`[main] include={active}`, `[cpu] {line}`, in a folder of its own in \
         /etc/tuned/profiles where that exists, else in /etc/tuned), activated in its place"
    )
}

/// TuneD's active profiles as `include` takes them, where TuneD runs. Unknown processes count as if it did: better to keep a profile that is
/// not in force than to replace one that is.
pub(crate) fn active_profile(host: &HostView) -> Option<String> {
    let is_tuned =
        |processes| host.tuners.running(processes).iter().any(|(tuner, _)| tuner.name == "tuned");
    let runs = host.processes.as_deref().map_or(true, is_tuned);
    let profiles = host.tuners.tuned_profile.as_deref().ok()?;
    (runs && !profiles.is_empty()).then(|| profiles.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::host_of;

    const TUNED: &str = "//- /proc/812/stat\n812 (tuned) S 1 1 1 0 -1 4194560 0\n";
    const OTHER: &str = "//- /proc/812/stat\n812 (sshd) S 1 1 1 0 -1 4194560 0\n";

    fn host(profile: &str, processes: &str) -> HostView {
        host_of(&format!("//- /etc/tuned/active_profile\n{profile}\n{processes}"))
    }

    #[test]
    fn an_active_profile_is_kept_unless_tuned_is_known_not_to_run() {
        let profile = |processes| active_profile(&host("balanced", processes));
        assert_eq!(profile(TUNED).as_deref(), Some("balanced"));
        assert_eq!(profile(OTHER), None);
        let unknown = host("balanced", "//- /proc\n!denied\n");
        assert!(unknown.processes.is_err());
        assert_eq!(active_profile(&unknown).as_deref(), Some("balanced"));
        assert!(tuned(&unknown, "governor=performance").contains("include=balanced"));
    }

    #[test]
    fn a_profile_that_sets_what_is_advised_is_verified() {
        let advice = "tuned's profile aws sets it already: `tuned-adm verify`, then find what changes it afterwards";
        let host_with = |profile: &str| host(profile, TUNED);
        assert_eq!(governor(&host_with("aws")), advice);
        assert_eq!(tuned(&host_with("aws"), "energy_perf_bias=performance"), advice);
        assert!(governor(&host_with("powersave")).contains("include=powersave"));
        assert!(governor(&host("aws", OTHER)).contains("throughput-performance"));
    }
}
