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
    match active_profile(host) {
        Some(active) => child_profile(&active, line),
        None => {
            "the tuned profile throughput-performance, or a systemd unit with the same commands"
                .to_owned()
        }
    }
}

/// A profile that includes the active one. tuned.spec moves profiles from /etc/tuned to /etc/tuned/profiles on Fedora and RHEL 10.
pub(crate) fn child_profile(active: &str, line: &str) -> String {
    format!(
        "a tuned profile that includes the active one (`[main] include={active}`, `[cpu] {line}`, in a folder of its own in \
         /etc/tuned/profiles where that exists, else in /etc/tuned), activated in its place"
    )
}

/// TuneD's active profiles as `include` takes them, where TuneD runs.
pub(crate) fn active_profile(host: &HostView) -> Option<String> {
    let processes = host.processes.as_deref().unwrap_or_default();
    let runs = host.tuners.running(processes).iter().any(|(it, _)| it.name == "tuned");
    let profiles = host.tuners.tuned_profile.as_deref().ok()?;
    (runs && !profiles.is_empty()).then(|| profiles.join(","))
}
