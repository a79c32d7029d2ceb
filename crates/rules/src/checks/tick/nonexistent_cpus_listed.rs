//! Looks for CPUs on the boot line that the machine does not have.
//!
//! Sources: kernel/sched/isolation.c, lib/bitmap-str.c (a list with a number beyond the mask is refused as a
//! whole), kernel/rcu/tree_nocb.h ("bad CPU range, all CPUs set").

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::system::isolation::{Asked, Purpose};
use facts::{CpuSet, Fact, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "nonexistent-cpus-listed",
    title: "the boot line names CPUs that do not exist",
    doc: "\
## What it looks at
The lists of `isolcpus=`, `nohz_full=`, `rcu_nocbs=` and `irqaffinity=` on the boot line, against the CPUs that the
kernel made room for (`/sys/devices/system/cpu/possible`) and those that are plugged in (`present`).

## Why it matters
A list copied from a larger machine does not only name too much. Where the kernel's masks are no longer than the machine
has CPUs it refuses the whole list, with one line in its log: `nohz_full=1-7` on two CPUs leaves both ticking.
`rcu_nocbs=` then does the opposite and takes every CPU. Where the masks are longer, the CPUs that do exist are taken and the
rest is dropped. Which of the two depends on the kernel's version and on CONFIG_CPUMASK_OFFSTACK, which distributions set;
the check looks at the list that is in force.

## When to leave it alone
Where CPUs are to be plugged in later: those are possible, though not present, and only worth a note.
`0-N` and `all` say the same without a number.
",
    references: &[
        Reference {
            title: "Linux: The kernel's command-line parameters, cpu lists",
            url: "https://docs.kernel.org/admin-guide/kernel-parameters.html#cpu-lists",
        },
        Reference {
            title: "Linux: How CPU topology info is exported via sysfs",
            url: "https://docs.kernel.org/admin-guide/cputopology.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let asked = host.isolation.asked.as_ref()?;
    if asked.is_empty() {
        let because = "the boot line has no isolcpus=, nohz_full=, rcu_nocbs= or irqaffinity=";
        return Err(Missing::not_here("list of CPUs", because));
    }
    let possible = host.topology.possible.as_ref()?;
    let mut findings = Vec::new();
    let mut malformed = None;
    for asked in asked {
        match &asked.cpus {
            Ok(cpus) => findings.extend(judge(host, asked, cpus, possible)),
            Err(expected) => {
                malformed = Some(Missing::malformed("/proc/cmdline", &asked.written, expected.0));
            }
        }
    }
    match malformed {
        Some(missing) if findings.is_empty() => Err(missing),
        _ => Ok(findings),
    }
}

fn judge(host: &HostView, asked: &Asked, cpus: &CpuSet, possible: &CpuSet) -> Option<Finding> {
    let written = &asked.written;
    let nonexistent = cpus.minus(possible);
    if nonexistent.is_empty() {
        return unplugged(host, written, cpus);
    }
    let list = plural(&nonexistent);
    let (severity, message) = match refused_in(host, asked) {
        Some(_) => (
            Severity::Medium,
            format!(
                "{written} names {list} beyond the last one, and the kernel refused the whole list"
            ),
        ),
        None => (Severity::Low, format!("{written} names {list} beyond the last one")),
    };
    let mut finding = Finding::new(severity, Confidence::High, message)
        .evidence("/proc/cmdline", written)
        .evidence("/sys/devices/system/cpu/possible", possible)
        .fix_lasting(match cpus.and(possible) {
            left if left.is_empty() => format!("take `{written}` off the boot line"),
            left => format!("`{}` on the boot line", asked.with_list(&left)),
        });
    if let Some(file) = refused_in(host, asked) {
        finding = finding.evidence(file, "(none)");
    }
    Some(finding)
}

/// The file that shows the list in force as empty, for the lists that have one.
fn refused_in(host: &HostView, asked: &Asked) -> Option<&'static str> {
    let is_empty = |list: &Fact<CpuSet>| list.as_ref().is_ok_and(CpuSet::is_empty);
    let isolation = &host.isolation;
    if asked.purposes.contains(&Purpose::Tick) && is_empty(&isolation.nohz_full) {
        Some("/sys/devices/system/cpu/nohz_full")
    } else if asked.purposes.contains(&Purpose::Domain) && is_empty(&isolation.isolated) {
        Some("/sys/devices/system/cpu/isolated")
    } else {
        None
    }
}

/// CPUs that may be plugged in later are named on purpose more often than not.
fn unplugged(host: &HostView, written: &str, cpus: &CpuSet) -> Option<Finding> {
    let present = host.topology.present.as_ref().ok()?;
    let unplugged = cpus.minus(present);
    if unplugged.is_empty() {
        return None;
    }
    let message = format!("{written} names {} not plugged in", plural(&unplugged));
    Some(
        Finding::new(Severity::Info, Confidence::High, message)
            .evidence("/proc/cmdline", written)
            .evidence("/sys/devices/system/cpu/present", present),
    )
}

fn plural(cpus: &CpuSet) -> String {
    format!("{}, which {}", cpus.named(), cpus.agree("is", "are"))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    fn host(line: &str, present: &str, possible: &str) -> String {
        let cpus = "/sys/devices/system/cpu";
        format!(
            "//- /proc/cmdline\n{line}\n//- {cpus}/present\n{present}\n//- {cpus}/possible\n{possible}\n"
        )
    }

    #[test]
    fn cpus_beyond_the_possible_ones_do_not_exist() {
        assert_eq!(
            verdict(&CHECK, &host("rcu_nocbs=2-15 nohz_full=2-15 root=/dev/sda1", "0-3", "0-5")),
            "low: rcu_nocbs=2-15 names CPUs 6-15, which are beyond the last one\n\
             low: nohz_full=2-15 names CPUs 6-15, which are beyond the last one"
        );
    }

    #[test]
    fn a_list_that_the_kernel_refused_is_medium() {
        let lists =
            "//- /sys/devices/system/cpu/nohz_full\n\n//- /sys/devices/system/cpu/isolated\n\n";
        let host = format!("{}{lists}", host("nohz_full=1-7", "0-1", "0-1"));
        assert_eq!(
            verdict(&CHECK, &host),
            "medium: nohz_full=1-7 names CPUs 2-7, which are beyond the last one, and the kernel refused the whole list"
        );
    }

    #[test]
    fn cpus_that_may_be_plugged_in_later_are_a_note() {
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=domain,2-5", "0-3", "0-5")),
            "info: isolcpus=domain,2-5 names CPUs 4-5, which are not plugged in"
        );
    }

    #[test]
    fn a_list_of_existing_cpus_is_clean() {
        assert_eq!(verdict(&CHECK, &host("isolcpus=2,3 irqaffinity=0-1", "0-3", "0-3")), "clean");
        assert_eq!(verdict(&CHECK, &host("rcu_nocbs=all nohz_full=1-N", "0-3", "0-3")), "clean");
    }

    #[test]
    fn a_list_that_makes_no_sense_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=two", "0-3", "0-3")),
            "unknown: /proc/cmdline: found \"isolcpus=two\", expected a list of CPUs like 0-3,8"
        );
    }

    #[test]
    fn a_machine_that_does_not_say_how_many_it_has_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=2", "0-3", "!denied")),
            "unknown: /sys/devices/system/cpu/possible may not be read"
        );
    }

    #[test]
    fn a_boot_line_without_lists_has_nothing_to_judge() {
        assert!(verdict(&CHECK, &host("quiet", "0-3", "0-3")).starts_with("not applicable: "));
    }
}
