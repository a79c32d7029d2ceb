//! Looks for `nohz_full=` on the boot line of a kernel that is built without it.
//!
//! Sources: kernel/sched/isolation.c ("nohz unsupported. Build with CONFIG_NO_HZ_FULL"); drivers/base/cpu.c,
//! which makes the file `nohz_full` only in kernels that have the option, since 4.1.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use crate::tick::since_boot::some_stopped;
use facts::system::isolation::Purpose;
use facts::{HostView, IfPresent, Missing};

pub(crate) const CHECK: Check = Check {
    id: "nohz-full-unsupported",
    title: "the kernel is built without the tickless mode that the boot line asks for",
    doc: "\
## What it looks at
`nohz_full=` (or `isolcpus=nohz,`) on the boot line, whether the kernel's configuration has
CONFIG_NO_HZ_FULL, and whether `/sys/devices/system/cpu/nohz_full` exists: only a kernel with the option has
that file. A copy of a host proves its absence only where it holds the whole folder. A CPU that was busy and took few timer
interrupts shows that the kernel can. Where `rcu_nocbs=` is given too, CONFIG_RCU_NOCB_CPU is looked up with it.

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
    // What the CPUs did is more than what any file says of the kernel.
    if isolation.asked_for(Purpose::Tick).is_ok_and(|cpus| some_stopped(host, &cpus)) {
        return Ok(Vec::new());
    }
    let Some((source, value)) = witness(host)? else { return Ok(Vec::new()) };
    let (subject, plain) = subject(host, &asked);
    let message = format!("{subject} no effect: this kernel is built without {plain}");
    let mut finding = Finding::new(Severity::Medium, Confidence::High, message)
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

/// What says that the kernel cannot: where it was read, and what was there. `None` where the kernel can.
fn witness(host: &HostView) -> Result<Option<(String, String)>, Missing> {
    let config = match &host.kernel.config {
        Ok(config) if config.has("NO_HZ_FULL") => return Ok(None),
        Ok(config) => {
            return Ok(Some((config.path.clone(), "no CONFIG_NO_HZ_FULL=y".to_owned())));
        }
        Err(config) => config,
    };
    // Kernels before 4.1 have neither file, with the option or without.
    let has_such_files = || -> Result<bool, Missing> {
        Ok(host.isolation.isolated.is_ok() || host.kernel.version()? >= (4, 1))
    };
    match &host.isolation.nohz_full {
        Err(file) if file.is_absence() && !has_such_files()? => Err(config.clone()),
        Err(file) if file.is_absence() => {
            Ok(Some((file.what.clone(), "does not exist".to_owned())))
        }
        Err(file) => Err(file.clone()),
        Ok(_) => Ok(None),
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

    /// CPUs 2-7 of eight are asked for; all were busy for ten days, and took `count` timer interrupts where the others took
    /// 864 million. Nothing else of the folder of CPUs was collected.
    fn sysinfo(count: u64, more: &str) -> String {
        let cpus = "/sys/devices/system/cpu";
        let counts = format!("{count} ").repeat(6);
        let times: String = (0..8)
            .map(|cpu| format!("cpu{cpu} 77760000 0 4320000 4320000 0 0 0 0 0 0\n"))
            .collect();
        format!(
            "fullclock capture 1 (imported)\n//- {cpus}/online\n0-7\n//- {cpus}/possible\n0-7\n\
             //- {cpus}/present\n0-7\n//- /proc/cmdline\nisolcpus=2-7 nohz_full=2-7\n\
             //- /proc/uptime\n864000.00 6912000.00\n//- /proc/stat\n{times}\
             //- /proc/sys/kernel/osrelease\n4.18.0-305.el8.x86_64\n\
             //- /proc/interrupts\nCPU0 CPU1 CPU2 CPU3 CPU4 CPU5 CPU6 CPU7\n\
             LOC: 864000000 864000000 {counts} Local timer interrupts\n{more}"
        )
    }

    #[test]
    fn a_file_that_nobody_collected_says_nothing_of_the_kernel() {
        let unknown = "unknown: /sys/devices/system/cpu/nohz_full is not in this copy of the host";
        assert_eq!(verdict(&CHECK, &sysinfo(864_000_000, "")), unknown);
        let whole = "//- /sys/devices/system/cpu/kernel_max\n8191\n//- /sys/devices/system/cpu/offline\n\n\
                     //- /sys/devices/system/cpu/uevent\n\n";
        assert!(
            verdict(&CHECK, &sysinfo(864_000_000, whole))
                .starts_with("medium: nohz_full=2-7 has no effect")
        );
    }

    #[test]
    fn a_busy_cpu_that_took_few_ticks_shows_that_the_kernel_can() {
        assert_eq!(verdict(&CHECK, &sysinfo(864_000, "")), "clean");
        let ineffective = crate::checks::find("nohz-full-ineffective").unwrap();
        assert_eq!(verdict(ineffective, &sysinfo(864_000, "")), "clean");
        assert!(
            verdict(ineffective, &sysinfo(864_000_000, ""))
                .starts_with("medium: nohz_full CPUs took 1000 timer interrupts a second")
        );
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
        let (line, _) = LINE.split_once("//- /sys/devices/system/cpu/isolated").unwrap();
        assert_eq!(
            verdict(&CHECK, &format!("{line}{release}")),
            "unknown: the kernel's configuration cannot be read: there is no /proc/config.gz or /boot/config-3.16.0"
        );
    }
}
