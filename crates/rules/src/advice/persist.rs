//! Texts of what makes a fix last, which depend on the kernel, on TuneD's active profile and on the distribution.
//!
//! Sources: RHEL 6, Power Management Guide, "Using CPUfreq Governors" (/etc/sysconfig/cpuspeed); SLES 11, Administration Guide, "Init Scripts"
//! (boot.local); OpenShift, "Using the Node Tuning Operator"; Talos Linux, `machine.sysfs`; Bottlerocket, "Bootstrap containers"; Alpine,
//! openrc's `local` service; NixOS, `powerManagement.cpuFreqGovernor`.

use facts::HostView;
use facts::system::distribution::Family;

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
    let service = match own_governor(host) {
        Some(text) => text.to_owned(),
        None => tuned(host, "governor=performance"),
    };
    let ways = [Some(service), parameter.map(str::to_owned)];
    format!(
        "{}; stop services that set another governor",
        ways.into_iter().flatten().collect::<Vec<_>>().join(", or ")
    )
}

/// The file that a distribution has for the governor alone. An active profile of TuneD is never passed by.
fn own_governor(host: &HostView) -> Option<&'static str> {
    let distribution = host.distribution.as_ref().ok()?;
    if active_profile(host).is_some() {
        return None;
    }
    match distribution.family {
        Family::RedHat if distribution.is_early_red_hat() => {
            Some("GOVERNOR=performance in /etc/sysconfig/cpuspeed, which its service sets at boot")
        }
        Family::Nixos => Some(
            "powerManagement.cpuFreqGovernor = \"performance\" in /etc/nixos/configuration.nix",
        ),
        _ => None,
    }
}

/// A line of `[cpu]` for TuneD, or what does the same where the distribution has none. An active profile is never replaced: it sets more
/// than the clock, and somebody chose it.
pub(crate) fn tuned(host: &HostView, line: &str) -> String {
    if let Some(text) = set_already(host) {
        return text;
    }
    match active_profile(host) {
        Some(active) => child_profile(host, &active, line),
        None => at_boot(host, line),
    }
}

/// What gives the files their values at each boot.
pub(crate) fn at_boot(host: &HostView, line: &str) -> String {
    without_a_unit(host, line).unwrap_or_else(|| {
        let family = host.distribution.as_ref().ok().map(|it| it.family);
        let text = match family {
            Some(Family::Ostree | Family::MicroOs | Family::Flatcar | Family::Nixos) => {
                "a systemd unit with the same commands"
            }
            _ => BY_TUNED,
        };
        text.to_owned()
    })
}

/// The same where the distribution has something else for it than a unit of systemd; `None` where it has not.
pub(crate) fn without_a_unit(host: &HostView, line: &str) -> Option<String> {
    let distribution = host.distribution.as_ref().ok()?;
    let text = match distribution.family {
        Family::RedHat if distribution.is_early_red_hat() => {
            "/etc/rc.d/rc.local with the same commands"
        }
        Family::Suse if distribution.is_early_suse() => {
            "/etc/init.d/boot.local with the same commands"
        }
        Family::Rhcos => {
            return Some(format!("a Tuned object of the Node Tuning Operator with `[cpu] {line}`"));
        }
        Family::Talos => "the same values in machine.sysfs of the machine's configuration",
        Family::Bottlerocket => "a bootstrap container that runs the same commands",
        Family::Alpine => {
            "a script /etc/local.d/NAME.start with the same commands (`rc-update add local`)"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

const BY_TUNED: &str =
    "the tuned profile throughput-performance, or a systemd unit with the same commands";

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
pub(crate) fn child_profile(host: &HostView, active: &str, line: &str) -> String {
    // The operator writes the profiles of its nodes, and overwrites what others write there.
    if host.distribution.as_ref().is_ok_and(|it| it.family == Family::Rhcos) {
        return format!(
            "a Tuned object of the Node Tuning Operator that includes the active profile (`[main] include={active}`, `[cpu] {line}`)"
        );
    }
    format!(
        "a tuned profile that includes the active one (`[main] include={active}`, `[cpu] {line}`, in a folder of its own in \
         /etc/tuned/profiles where that exists, else in /etc/tuned), activated in its place"
    )
}

/// TuneD's active profiles as `include` takes them, where TuneD runs. Unknown processes count as if it did: better to keep a profile that is
/// not in force than to replace one that is.
pub(crate) fn active_profile(host: &HostView) -> Option<String> {
    let is_tuned =
        |processes| host.tuners.running(processes).iter().any(|it| it.tuner.name == "tuned");
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
    fn what_lasts_is_in_the_words_of_the_distribution() {
        let of = |os_release: &str, more: &str| {
            governor(&host_of(&format!("//- /etc/os-release\n{os_release}\n{more}")))
        };
        assert!(of("ID=rhel\nVERSION_ID=9", "").contains("throughput-performance"));
        assert!(of("ID=alpine", "").contains("/etc/local.d/"));
        assert!(of("ID=talos", "").contains("machine.sysfs"));
        assert!(of("ID=nixos", "").contains("powerManagement.cpuFreqGovernor"));
        let six = host_of("//- /etc/redhat-release\nCentOS release 6.10 (Final)\n");
        assert!(governor(&six).contains("/etc/sysconfig/cpuspeed"));
        let node = of("ID=rhcos", &format!("//- /etc/tuned/active_profile\nedge-node\n{TUNED}"));
        assert!(node.contains("Tuned object") && node.contains("include=edge-node"), "{node}");
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
