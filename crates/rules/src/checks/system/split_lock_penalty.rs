//! Looks for the kernel's penalty on split locks: in the kernel's log, and where a database server runs.
//!
//! Source: arch/x86/kernel/cpu/bus_lock.c; Documentation/admin-guide/sysctl/kernel.rst, split_lock_mitigate. That a process takes split locks is in
//! the kernel's log only: one line for each process.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::log::Messages;
use facts::quantity::counted;
use facts::system::database;
use facts::{HostView, IfPresent, Missing};

pub(crate) const CHECK: Check = Check {
    id: "split-lock-penalty",
    title: "a process that takes a split lock is put to sleep for 10 ms",
    doc: "\
## What it looks at
Whether the processor reports split locks (flag `split_lock_detect`), whether the kernel punishes them
(`kernel.split_lock_mitigate`, `split_lock_detect=` on the boot line, and the release of a kernel without that setting), and
whether the kernel's log names a process that took one, or a database server runs here.

## Why it matters
An atomic instruction on data that crosses a cache line locks the whole memory bus. Since Linux 5.19 the kernel
makes the process that does it sleep for 10 ms, and lets only one such process run at a time. `kernel.split_lock_mitigate`
turns that off since 6.2 and in later stable releases of 6.0 and 6.1; kernels from 5.19 on without it always do it. A spinlock
that lies badly then costs ten thousand times what it did on the old machine, and CPU statistics show nothing:
the process sleeps. Well-built databases take none; extensions, agents and old builds may.

The kernel's log has one line for each process, `took a split_lock trap`: then the finding is low. Without such a line, which may have been
overwritten, the finding is a note, and only where a database server runs: the symptom points everywhere else.

## When to leave it alone
Where the kernel log has no such line for the database. Without the penalty, any user of the machine can slow down
everybody by split locks: on a shared machine it is there for a reason.
",
    references: &[
        Reference {
            title: "Linux: Documentation for /proc/sys/kernel, split_lock_mitigate",
            url: "https://docs.kernel.org/admin-guide/sysctl/kernel.html#split-lock-mitigate-x86-only",
        },
        Reference {
            title: "Linux commit b041b525dab9: x86/split_lock: Make life miserable for split lockers (5.19)",
            url: "https://git.kernel.org/linus/b041b525dab9",
        },
        Reference {
            title: "Linux: Bus lock detection and handling",
            url: "https://docs.kernel.org/arch/x86/buslock.html",
        },
    ],
    run,
};

/// The first release that puts such a process to sleep (b041b525dab9). The setting that turns it off came with 6.2
/// (727209376f49) and was taken into 6.0 and 6.1 in December 2022.
const SINCE: (u32, u32) = (5, 19);

fn run(host: &HostView) -> Verdict {
    if !host.cpuinfo.as_ref()?.has("split_lock_detect") {
        return Err(Missing::not_here(
            "split lock detection",
            "/proc/cpuinfo has no flag split_lock_detect",
        ));
    }
    let setting = host.sysctls.split_lock_mitigate.if_present()?;
    let mode = host.kernel.boot_line.as_ref()?.value("split_lock_detect").unwrap_or("warn");
    if setting == Some(&false) || mode != "warn" {
        return Ok(Vec::new());
    }
    if setting.is_none() && host.kernel.version()? < SINCE {
        return Err(Missing::not_here(
            "penalty on split locks",
            format!("kernel {} is older than 5.19", host.kernel.release.as_ref()?),
        ));
    }
    if let Some(taken) = taken(host) {
        let message = format!(
            "the kernel has put processes to sleep for split locks, 10 ms for each: its log names {}",
            counted(taken.count, "process").replace("processs", "processes")
        );
        let finding = Finding::new(Severity::Low, Confidence::Medium, message).since_boot();
        return Ok(vec![with_fix(host, finding)?]);
    }
    let Some((server, product)) = database::servers(host.processes.as_ref()?).next() else {
        return Ok(Vec::new());
    };
    let finding = Finding::new(
        Severity::Info,
        Confidence::Low,
        format!(
            "should {product} take split locks, each puts it to sleep for 10 ms: see the kernel log"
        ),
    )
    .evidence(format!("/proc/{}/stat", server.pid), &server.name)
    .command(&commands::KERNEL_LOG, "'split_lock trap'");
    Ok(vec![with_fix(host, finding)?])
}

/// The messages of the kernel about processes that took split locks, if it has any. Bus locks, which no process sleeps for, have the same kind.
fn taken(host: &HostView) -> Option<&Messages> {
    let mut messages = host.log.as_ref().ok()?.messages.iter().map(|it| &it.messages);
    messages.find(|it| {
        it.kind.id == "split-lock"
            && [&it.first, &it.last].iter().any(|it| it.text.contains("split_lock trap"))
    })
}

fn with_fix(host: &HostView, finding: Finding) -> Result<Finding, Missing> {
    Ok(match host.sysctls.split_lock_mitigate.if_present()? {
        Some(_) => finding.evidence("/proc/sys/kernel/split_lock_mitigate", 1).fix_lasting(
            "only if the log names a program that matters: kernel.split_lock_mitigate = 0 in /etc/sysctl.d, until the program is fixed",
        ),
        None => finding
            .evidence("/proc/sys/kernel/osrelease", host.kernel.release.as_ref()?)
            .evidence("/proc/sys/kernel/split_lock_mitigate", "(none)")
            .fix_lasting(
                "only if the log names a program that matters: a kernel that has kernel.split_lock_mitigate (6.2, or a current 6.1), or \
                 `split_lock_detect=off` on the boot line, until the program is fixed",
            ),
    })
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::advisory::catalog;
    use crate::advisory::standing::standings;
    use crate::fixture::{host_of, verdict};

    fn host(mitigate: &str, boot_line: &str, name: &str) -> String {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nflags : fpu split_lock_detect\n\
             //- /proc/sys/kernel/split_lock_mitigate\n{mitigate}\n\
             //- /proc/cmdline\n{boot_line}\n\
             //- /proc/812/stat\n812 ({name}) S 1 1 1 0 -1 4194560 0\n"
        )
    }

    #[test]
    fn a_penalty_beside_a_database_is_a_note() {
        assert_eq!(
            verdict(&CHECK, &host("1", "quiet", "mysqld")),
            "info: should MySQL take split locks, each puts it to sleep for 10 ms: see the kernel log"
        );
    }

    const TAKEN: &str = "//- /dev/kmsg\n[ 9.0] x86/split lock detection: #AC: game.exe/4354 took a split_lock trap at address: 0x401231\n";

    #[test]
    fn a_process_that_the_log_names_is_a_finding_whatever_runs() {
        let on = |mitigate: &str, log: &str| {
            verdict(&CHECK, &format!("{}{log}", host(mitigate, "quiet", "bash")))
        };
        assert_eq!(
            on("1", TAKEN),
            "low: the kernel has put processes to sleep for split locks, 10 ms for each: its log names 1 process"
        );
        assert_eq!(on("0", TAKEN), "clean");
        // Bus locks are counted, and no process sleeps for them.
        assert_eq!(on("1", &TAKEN.replace("split_lock trap", "bus_lock trap")), "clean");
    }

    #[test]
    fn what_the_log_names_is_seen_by_the_advisory_and_no_setting_makes_it_acted_on() {
        let state = |mitigate: &str, log: &str, release: &str| {
            let release = format!("//- /proc/sys/kernel/osrelease\n{release}\n");
            let host = host_of(&format!("{}{log}{release}", host(mitigate, "quiet", "bash")));
            let audit = crate::audit::audit(&host);
            let all = standings(&host, catalog(&[]).unwrap(), Some(audit.looked()));
            let found = all.into_iter().find(|it| it.advisory.id == "split-locks-put-to-sleep");
            found.unwrap().state.name()
        };
        assert_eq!(state("1", TAKEN, "6.6.1"), "seen here");
        assert_eq!(state("1", "", "6.6.1"), "affected by version");
        assert_eq!(state("0", TAKEN, "6.6.1"), "affected by version");
        assert_eq!(state("1", TAKEN, "5.18.0"), "not affected");
    }

    #[test]
    fn no_penalty_no_database_or_another_mode_is_clean() {
        assert_eq!(verdict(&CHECK, &host("0", "quiet", "mysqld")), "clean");
        assert_eq!(verdict(&CHECK, &host("1", "quiet", "bash")), "clean");
        assert_eq!(verdict(&CHECK, &host("1", "split_lock_detect=off", "mysqld")), "clean");
    }

    #[test]
    fn a_kernel_without_the_setting_is_judged_by_its_release() {
        let on = |release: &str, line: &str| {
            let release = format!("//- /proc/sys/kernel/osrelease\n{release}\n");
            verdict(&CHECK, &(host("!absent", line, "mysqld") + &release))
        };
        let note = "info: should MySQL take split locks, each puts it to sleep for 10 ms: see the kernel log";
        assert_eq!(on("5.19.0-50-generic", "quiet"), note);
        assert_eq!(on("6.1.0-1-amd64", "quiet"), note);
        assert_eq!(on("6.1.0-1-amd64", "split_lock_detect=off"), "clean");
        assert_eq!(
            on("5.15.0-91-generic", "quiet"),
            "not applicable: no penalty on split locks here: kernel 5.15.0-91-generic is older than 5.19"
        );
    }

    #[test]
    fn a_processor_that_does_not_detect_them_cannot_punish() {
        assert_eq!(
            verdict(&CHECK, "//- /proc/cpuinfo\nprocessor : 0\nflags : fpu\n"),
            "not applicable: no split lock detection here: /proc/cpuinfo has no flag split_lock_detect"
        );
    }

    #[test]
    fn a_setting_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("!denied", "quiet", "mysqld")),
            "unknown: /proc/sys/kernel/split_lock_mitigate may not be read"
        );
    }
}
