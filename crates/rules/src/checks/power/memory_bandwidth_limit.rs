//! Looks for groups of resctrl whose memory bandwidth is throttled.
//!
//! Source: Documentation/filesystems/resctrl.rst, "Memory bandwidth Allocation". What a limit costs depends on how much a program reads
//! from memory, which is not seen here.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::system::resctrl::{BandwidthLimit, BandwidthLimits, FOLDER, Unit};
use facts::{HostView, IfPresent, Missing};

pub(crate) const CHECK: Check = Check {
    id: "memory-bandwidth-limit",
    title: "resctrl throttles the memory bandwidth of a group",
    doc: "\
## What it looks at
The line `MB` of `schemata` of every group in /sys/fs/resctrl, where that is mounted, and who is in it. Unlimited is 100 where the unit is
percent (Intel, arm64), 2048 and more where it is an eighth of a gigabyte per second (AMD), and 4294967295 with the mount option `mba_MBps`.

## Why it matters
Intel's processors throttle memory bandwidth by delays between a core and its mesh, for every access that leaves the core's own caches: a
core slows down although the memory is idle, and its counters show a full clock with few instructions per cycle. 10 % may leave a program
that scans tables a tenth of its speed. The limit of a core is the lowest of what both of its threads have.

The default group holds every task that was put in no other, so that its limit is nearly everybody's. A limit on it or on a database is
medium where it leaves half or less (AMD: 32 GB/s or less for the cores of one L3 cache), else low. Groups of others are a note: to hold
back noisy neighbours is what it is made for.

## When to leave it alone
Where somebody limits batch work or other tenants beside the database.
",
    references: &[Reference {
        title: "Linux: User Interface for Resource Control feature (resctrl)",
        url: "https://docs.kernel.org/filesystems/resctrl.html",
    }],
    run,
};

/// At most so much of what is unlimited, in percent, or on AMD in eighths of a gigabyte per second, is medium.
const HALF: u64 = 50;
const LITTLE: u64 = 256;

fn run(host: &HostView) -> Verdict {
    let Some(limits) = host.memory_bandwidth.if_present()? else {
        return Err(Missing::not_here("group of resctrl", "it is not mounted"));
    };
    let findings: Vec<Finding> = limits.list.iter().filter_map(|it| judge(limits, it)).collect();
    match &limits.missing {
        Some(missing) if findings.is_empty() => Err(missing.clone()),
        _ => Ok(findings),
    }
}

fn judge(limits: &BandwidthLimits, group: &BandwidthLimit) -> Option<Finding> {
    let name = group.folder.rsplit('/').next().unwrap_or_default();
    let is_little = match limits.unit {
        Unit::Percent => group.lowest <= HALF,
        Unit::Eighths => group.lowest <= LITTLE,
        // Whether the memory can do more than that is unknown.
        Unit::Megabytes => false,
    };
    let matters = if is_little { Severity::Medium } else { Severity::Low };
    let (severity, subject) = match group.databases.as_slice() {
        [(process, product), ..] => (matters, format!("{product} ({})", process.pid)),
        [] if group.is_default() => (matters, "every task that is in no other group".to_owned()),
        // Nobody is in it.
        [] if group.n_tasks == 0 && group.cpus.is_empty() => return None,
        [] => (Severity::Info, members(group)),
    };
    let allowed = match limits.unit {
        Unit::Percent => format!("{} % of the memory bandwidth", group.lowest),
        Unit::Megabytes => format!("{} MB/s of memory bandwidth", group.lowest),
        Unit::Eighths => {
            format!("{:.1} GB/s of memory bandwidth for each L3 cache", group.lowest as f64 / 8.0)
        }
    };
    let group_name = if group.is_default() { "the default group" } else { name };
    let message = format!("resctrl leaves {subject} {allowed} (group: {group_name})");
    let finding = Finding::new(severity, Confidence::High, message)
        .evidence(format!("{}/schemata", group.folder), &group.line);
    let finding = match limits.unit {
        Unit::Percent => finding.cost(
            format!("up to {} % of the memory bandwidth", 100 - group.lowest.min(100)),
            "the limit; a program that hits its caches loses less",
        ),
        Unit::Megabytes | Unit::Eighths => finding,
    };
    Some(finding.fix_lasting(fix(limits.unit, group)))
}

fn members(group: &BandwidthLimit) -> String {
    match (group.busiest.first(), group.n_tasks) {
        (Some(process), 0 | 1) => format!("{} ({})", process.name, process.pid),
        (Some(process), n) => {
            format!("{} ({}) and {} other threads", process.name, process.pid, n - 1)
        }
        (None, 0) => format!("tasks on {}", group.cpus.named()),
        (None, 1) => "one thread".to_owned(),
        (None, n) => format!("{n} threads"),
    }
}

fn fix(unit: Unit, group: &BandwidthLimit) -> String {
    let unlimited = unit.unlimited();
    let domains: Vec<String> = group
        .line
        .trim_start_matches("MB:")
        .split(';')
        .filter_map(|it| it.split_once('='))
        .map(|(id, _)| format!("{}={unlimited}", id.trim()))
        .collect();
    let folder = if group.is_default() { FOLDER } else { &group.folder };
    format!(
        "`echo 'MB:{}' > {folder}/schemata`, and the same where the group is made: a boot script, pqos, or the container runtime",
        domains.join(";")
    )
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    fn host(vendor: &str, options: &str) -> String {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : {vendor}\n\
             //- /proc/self/mountinfo\n40 24 0:35 / /sys/fs/resctrl rw - resctrl resctrl {options}\n\
             //- /proc/812/stat\n812 (postgres) S 1 1 1 0 -1 4194560 0\n\
             //- /proc/900/stat\n900 (spark) S 1 1 1 0 -1 4194560 0\n"
        )
    }

    fn group(name: &str, line: &str, tasks: &str) -> String {
        let folder = format!("//- /sys/fs/resctrl{name}");
        format!("{folder}/schemata\n    {line}\n{folder}/tasks\n{tasks}\n{folder}/cpus_list\n\n")
    }

    #[test]
    fn a_database_with_a_third_of_the_bandwidth_is_medium() {
        let text = host("GenuineIntel", "rw")
            + &group("", "MB:0=100;1=100", "")
            + &group("/db", "MB:0=100;1= 30", "812\n813");
        assert_eq!(
            verdict(&CHECK, &text),
            "medium: resctrl leaves PostgreSQL (812) 30 % of the memory bandwidth (group: db)"
        );
        let finding = findings(&CHECK, &text).remove(0);
        assert!(
            finding
                .fix
                .lasting
                .unwrap()
                .contains("echo 'MB:0=100;1=100' > /sys/fs/resctrl/db/schemata")
        );
        assert!(finding.cost.unwrap().clock_lost.is_none());
    }

    #[test]
    fn a_limit_of_the_default_group_is_nearly_everybodys() {
        let text = host("GenuineIntel", "rw")
            + &group("", "MB:0=90", "")
            + &group("/db", "MB:0=100", "812");
        assert_eq!(
            verdict(&CHECK, &text),
            "low: resctrl leaves every task that is in no other group 90 % of the memory bandwidth (group: the default group)"
        );
    }

    #[test]
    fn others_are_a_note_and_an_empty_group_is_nothing() {
        let all = host("GenuineIntel", "rw") + &group("", "MB:0=100", "");
        assert_eq!(
            verdict(&CHECK, &(all.clone() + &group("/batch", "MB:0=10", "900"))),
            "info: resctrl leaves spark (900) 10 % of the memory bandwidth (group: batch)"
        );
        assert_eq!(verdict(&CHECK, &(all + &group("/batch", "MB:0=10", ""))), "clean");
    }

    #[test]
    fn each_unit_has_its_own_word_for_unlimited() {
        let amd = |mb: &str| host("AuthenticAMD", "rw") + &group("", mb, "");
        assert_eq!(verdict(&CHECK, &amd("MB:0=2048;1=2048")), "clean");
        assert_eq!(verdict(&CHECK, &amd("MB:0=4096;1=4096")), "clean");
        assert_eq!(
            verdict(&CHECK, &amd("MB:0=2048;1= 100")),
            "medium: resctrl leaves PostgreSQL (812) 12.5 GB/s of memory bandwidth for each L3 cache (group: the default group)"
        );
        let by_software = |mb: &str| host("GenuineIntel", "rw,mba_MBps") + &group("", mb, "");
        assert_eq!(verdict(&CHECK, &by_software("MB:0=4294967295")), "clean");
        assert_eq!(
            verdict(&CHECK, &by_software("MB:0=20000")),
            "low: resctrl leaves PostgreSQL (812) 20000 MB/s of memory bandwidth (group: the default group)"
        );
    }

    #[test]
    fn without_the_mount_or_the_feature_there_is_nothing_to_judge() {
        assert_eq!(
            verdict(&CHECK, ""),
            "not applicable: no group of resctrl here: it is not mounted"
        );
        let caches_only = host("GenuineIntel", "rw") + &group("", "L3:0=7ff", "");
        assert_eq!(verdict(&CHECK, &caches_only), "clean");
    }

    #[test]
    fn a_group_that_cannot_be_read_is_unknown() {
        let text = host("GenuineIntel", "rw")
            + &group("", "MB:0=100", "")
            + "//- /sys/fs/resctrl/x/schemata\n!denied\n";
        assert_eq!(verdict(&CHECK, &text), "unknown: /sys/fs/resctrl/x/schemata may not be read");
    }
}
