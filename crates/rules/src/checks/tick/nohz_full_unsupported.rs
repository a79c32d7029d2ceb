//! Looks for `nohz_full=` on the boot line of a kernel that is built without it.
//!
//! Sources: kernel/sched/isolation.c ("nohz unsupported. Build with CONFIG_NO_HZ_FULL"); drivers/base/cpu.c,
//! which makes the file `nohz_full` only in kernels that have the option, since 4.1.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::system::isolation::Purpose;
use facts::{HostView, IfPresent, Missing, Origin};

pub(crate) const CHECK: Check = Check {
    id: "nohz-full-unsupported",
    title: "the kernel is built without the tickless mode that the boot line asks for",
    doc: "\
## What it looks at
`nohz_full=` (or `isolcpus=nohz,`) on the boot line, whether the kernel's configuration has
CONFIG_NO_HZ_FULL, and whether `/sys/devices/system/cpu/nohz_full` exists: only a kernel with the option has
that file. Where `rcu_nocbs=` is given too, CONFIG_RCU_NOCB_CPU is looked up with it.

## Why it matters
The kernel says one line in its log, ignores the parameter and ticks on. Whoever wrote the boot line believes
the CPU undisturbed, while the timer interrupts it 100 to 1000 times a second; a published test lost 0.73 % to
1000 ticks a second. The stock kernels of Raspberry Pi OS, Ubuntu 20.04 and Azure Linux are built
without; those of Debian, Fedora, Arch and RHEL 8 and later are built with it.

## When to leave it alone
Never as it is: either change the kernel, or take the parameter away so that the boot line says what is true.
",
    references: &[
        Reference {
            title: "Linux: NO_HZ: Reducing Scheduling-Clock Ticks, Omit Scheduling-Clock Ticks For CPUs With Only One Runnable Task",
            url: "https://docs.kernel.org/timers/no_hz.html",
        },
        Reference {
            title: "Linux: boot parameters nohz_full and rcu_nocbs",
            url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let isolation = &host.isolation;
    isolation.asked.as_ref()?;
    let asked = isolation.written_for(Purpose::Tick);
    if asked.is_empty() {
        return Err(Missing::not_here("request for nohz_full", "the boot line makes none"));
    }
    if isolation.nohz_full.if_present().is_ok_and(|file| file.is_some()) {
        return Ok(Vec::new());
    }
    let Some((confidence, source, value)) = witness(host)? else { return Ok(Vec::new()) };
    let (subject, plain) = subject(host, &asked);
    let message = format!("{subject} no effect: this kernel is built without {plain}");
    let mut finding = Finding::new(Severity::Medium, confidence, message)
        .evidence("/proc/cmdline", asked)
        .evidence(source, value)
        .fix_lasting(
            "a kernel built with CONFIG_NO_HZ_FULL=y (`grep NO_HZ_FULL /boot/config-*` shows which are), or the parameter taken off the boot line",
        );
    if let Ok(cpus) = isolation.asked_for(Purpose::Tick) {
        finding = finding.on(cpus, host.topology.n_online());
    }
    Ok(vec![finding])
}

/// What says that the kernel cannot: how sure it is, where it was read, and what was there. `None` where
/// the kernel can.
fn witness(host: &HostView) -> Result<Option<(Confidence, String, String)>, Missing> {
    match (&host.kernel.config, &host.isolation.nohz_full) {
        (Ok(config), _) if config.has("NO_HZ_FULL") => Ok(None),
        (Ok(config), _) => {
            Ok(Some((Confidence::High, config.path.clone(), "no CONFIG_NO_HZ_FULL=y".to_owned())))
        }
        (Err(_), Err(file)) if file.is_absence() && has_the_file(host)? => {
            let confidence = match host.origin {
                Origin::Live | Origin::Capture => Confidence::High,
                Origin::Tree => Confidence::Low,
            };
            Ok(Some((confidence, file.what.clone(), "does not exist".to_owned())))
        }
        (Err(config), _) => Err(config.clone()),
    }
}

/// Whether this kernel would have the file if it had the option.
fn has_the_file(host: &HostView) -> Result<bool, Missing> {
    match host.kernel.version() {
        Ok(version) => Ok(version >= (4, 1)),
        Err(missing) if host.origin == Origin::Live => Err(missing),
        // A copy that does not name its kernel is likely to be of one made in the last ten years.
        Err(_) => Ok(true),
    }
}

/// The parameters that have no effect with their verb, and the options behind them.
fn subject(host: &HostView, asked: &str) -> (String, &'static str) {
    let rcu = host.isolation.written_for(Purpose::Rcu);
    if rcu.is_empty() {
        return (format!("{asked} has"), "CONFIG_NO_HZ_FULL");
    }
    match &host.kernel.config {
        Ok(config) if config.has("RCU_NOCB_CPU") => (format!("{asked} has"), "CONFIG_NO_HZ_FULL"),
        Ok(_) => (format!("{asked} and {rcu} have"), "CONFIG_NO_HZ_FULL and CONFIG_RCU_NOCB_CPU"),
        // Distributions turn the two on together; NO_HZ_FULL selects RCU_NOCB_CPU, not the other way.
        Err(_) => (format!("{asked}, and likely {rcu}, has"), "CONFIG_NO_HZ_FULL"),
    }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    const LINE: &str = "//- /sys/devices/system/cpu/online\n0-3\n//- /proc/cmdline\n\
                        threadirqs isolcpus=3 nohz_full=3 rcu_nocbs=3\n\
                        //- /sys/devices/system/cpu/isolated\n3\n";
    const RELEASE: &str = "//- /proc/sys/kernel/osrelease\n6.6.31\n";

    fn with_config(config: &str) -> String {
        format!("{LINE}{RELEASE}//- /boot/config-6.6.31\nCONFIG_SMP=y\n{config}\n")
    }

    #[test]
    fn a_kernel_whose_configuration_lacks_it_is_medium() {
        assert_eq!(
            verdict(&CHECK, &with_config("# CONFIG_NO_HZ_FULL is not set\nCONFIG_RCU_NOCB_CPU=y")),
            "medium: nohz_full=3 has no effect: this kernel is built without CONFIG_NO_HZ_FULL [CPU 3 (1 of 4)]"
        );
        assert_eq!(
            verdict(&CHECK, &with_config("# CONFIG_NO_HZ_FULL is not set")),
            "medium: nohz_full=3 and rcu_nocbs=3 have no effect: this kernel is built without CONFIG_NO_HZ_FULL and CONFIG_RCU_NOCB_CPU [CPU 3 (1 of 4)]"
        );
    }

    #[test]
    fn without_a_configuration_the_absent_file_tells() {
        assert_eq!(
            verdict(&CHECK, &format!("{LINE}{RELEASE}")),
            "medium: nohz_full=3, and likely rcu_nocbs=3, has no effect: this kernel is built without CONFIG_NO_HZ_FULL [CPU 3 (1 of 4)]"
        );
    }

    #[test]
    fn in_somebody_elses_copy_an_absent_file_is_thin_evidence() {
        let copy = format!("fullclock capture 1 (imported)\n{LINE}{RELEASE}");
        let host = host::view(&host::Captured::parse(&copy).unwrap());
        let findings = (CHECK.run)(&host).unwrap();
        assert_eq!(findings[0].confidence, crate::finding::Confidence::Low);
    }

    #[test]
    fn a_kernel_that_has_the_file_is_clean() {
        let file = "//- /sys/devices/system/cpu/nohz_full\n(null)\n";
        assert_eq!(verdict(&CHECK, &format!("{LINE}{RELEASE}{file}")), "clean");
        assert_eq!(verdict(&CHECK, &with_config("CONFIG_NO_HZ_FULL=y")), "clean");
    }

    #[test]
    fn a_boot_line_that_does_not_ask_has_nothing_to_judge() {
        assert_eq!(
            verdict(&CHECK, "//- /proc/cmdline\nisolcpus=3\n"),
            "not applicable: no request for nohz_full here: the boot line makes none"
        );
    }

    #[test]
    fn an_old_kernel_without_configuration_is_unknown() {
        let release = "//- /proc/sys/kernel/osrelease\n3.16.0\n";
        assert_eq!(
            verdict(&CHECK, &format!("{LINE}{release}")),
            "unknown: the kernel's configuration cannot be read: there is no /proc/config.gz or /boot/config-3.16.0"
        );
    }
}
