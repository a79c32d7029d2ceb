//! Looks for lazy preemption on Linux 7 and later beside a database server.
//!
//! Source: kernel/Kconfig.preempt, and the discussion of 7dadeaa6e851 on the kernel's mailing list. Whether this database
//! suffers depends on its spinlocks and page faults, which are not seen here.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::HostView;
use facts::system::database;

pub(crate) const CHECK: Check = Check {
    id: "lazy-preemption",
    title: "the kernel may preempt a database process that holds a spinlock",
    doc: "\
## What it looks at
The kernel's release, the preemption model in force (`/sys/kernel/debug/sched/preempt`, or the boot line and
the kernel's configuration), and whether a database server runs here.

## Why it matters
Linux 7.0 dropped the models `none` and `voluntary` on x86, arm64 and others; servers get `lazy`. Under it a process can
lose its CPU inside the kernel, for instance while it handles a page fault. If it holds a spinlock of the
database at that moment, every other process spins until it runs again. On a machine of 96 CPUs with 1,024
clients pgbench fell from 98,565 to 50,751 transactions a second, with 55 % of the CPU time in one spinlock of PostgreSQL's
buffer manager. Later analysis found that 4 KiB pages made it that bad: each first touch of shared memory is such a fault.

## When to leave it alone
Where shared memory is in huge pages, on machines with few CPUs, and where `perf top` shows no spinlock of the
database. There is no runtime setting that brings the old model back.
",
    references: &[
        Reference {
            title: "LKML, 2026-04-03: the PostgreSQL regression report and its discussion",
            url: "https://lore.kernel.org/all/20260403191942.21410-1-dipiets@amazon.it/",
        },
        Reference {
            title: "AWS Graviton: Kernel preemption model change in Linux 7.0",
            url: "https://github.com/aws/aws-graviton-getting-started/blob/main/linux_kernel.md",
        },
        Reference {
            title: "Ubuntu 26.04 release notes: Linux 7.0 and PostgreSQL",
            url: "https://github.com/ubuntu/ubuntu-release-notes/pull/140",
        },
    ],
    run,
};

/// The first release without the model `none`.
const SINCE: (u32, u32) = (7, 0);

fn run(host: &HostView) -> Verdict {
    if host.kernel.version()? < SINCE {
        return Ok(Vec::new());
    }
    let mut servers = database::servers(host.processes.as_ref()?);
    let Some((server, product)) = servers.next() else { return Ok(Vec::new()) };
    let preemption = host.kernel.preemption()?;
    if preemption.model != "lazy" {
        return Ok(Vec::new());
    }
    let release = host.kernel.release.as_deref().unwrap_or_default();
    let finding = Finding::new(
        Severity::Low,
        Confidence::Low,
        format!(
            "preemption is lazy beside {product} ({}): spinlock holders can lose their CPU",
            server.pid
        ),
    )
    .evidence(preemption.source, preemption.model)
    .evidence("/proc/sys/kernel/osrelease", release);
    Ok(vec![match product {
        "PostgreSQL" => finding
            .cost(
                "up to half of the throughput where shared memory is in 4 KiB pages and CPUs are many",
                "LKML report: 50,751 in place of 98,565 transactions a second, pgbench on 96 CPUs",
            )
            .fix_lasting("huge_pages = on in postgresql.conf, with vm.nr_hugepages large enough for shared_buffers"),
        _ => finding.fix_lasting("shared memory of the database in huge pages; measure first"),
    }])
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    fn host(release: &str, mode: &str, name: &str) -> String {
        format!(
            "//- /proc/sys/kernel/osrelease\n{release}\n//- /proc/cmdline\nquiet\n\
             //- /sys/kernel/debug/sched/preempt\n{mode}\n\
             //- /boot/config-{release}\nCONFIG_PREEMPT_LAZY=y\n\
             //- /proc/812/stat\n812 ({name}) S 1 1 1 0 -1 4194560 0\n"
        )
    }

    const LAZY: &str =
        "low: preemption is lazy beside PostgreSQL (812): spinlock holders can lose their CPU";

    #[test]
    fn lazy_preemption_beside_postgresql_is_low() {
        assert_eq!(verdict(&CHECK, &host("7.0.0-30-generic", "full (lazy)", "postgres")), LAZY);
    }

    #[test]
    fn the_kernels_configuration_answers_where_debugfs_does_not() {
        assert_eq!(verdict(&CHECK, &host("7.1.3", "!denied", "postgres")), LAZY);
    }

    #[test]
    fn an_older_kernel_another_model_or_no_database_is_clean() {
        assert_eq!(verdict(&CHECK, &host("6.18.44", "full (lazy)", "postgres")), "clean");
        assert_eq!(verdict(&CHECK, &host("7.0.0", "(full) lazy", "postgres")), "clean");
        assert_eq!(verdict(&CHECK, &host("7.0.0", "full (lazy)", "bash")), "clean");
    }

    #[test]
    fn a_model_that_nothing_tells_is_unknown() {
        let host = host("7.0.0", "!denied", "postgres").replace("CONFIG_PREEMPT_LAZY=y", "!denied");
        assert_eq!(verdict(&CHECK, &host), "unknown: /boot/config-7.0.0 may not be read");
    }
}
