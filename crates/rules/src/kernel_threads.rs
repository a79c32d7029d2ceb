//! What is known about threads of the kernel, by their names: what they do, and what to do about one that takes CPU time.
//!
//! Names are those that the kernel gives them where they are made (kthread_create, alloc_workqueue, request_threaded_irq); each
//! entry names the file. A worker shows the workqueue of its work behind `+`, or of its last work behind `-`
//! (`wq_worker_comm` in kernel/workqueue.c; 6b59808bfe48, Linux 4.18). Before 2.6.36 a workqueue had threads of its own: `events/0`.

mod known;

pub(crate) use known::{KNOWN, Kind, Known};

/// What a name says of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named<'a> {
    /// The entry of the list, if it is there.
    pub(crate) known: Option<&'static Known>,
    /// What all threads of its kind share in their names.
    pub(crate) family: &'a str,
    /// Whether it runs work that others queue, of which the name shows only the last.
    pub(crate) is_worker: bool,
}

impl<'a> Named<'a> {
    /// What is known about a thread with this name.
    pub(crate) fn of(name: &'a str) -> Named<'a> {
        let work = work(name);
        let called = work.unwrap_or(name);
        Named {
            known: KNOWN.iter().find(|it| it.names.iter().any(|pattern| fits(pattern, called))),
            family: work.unwrap_or_else(|| family(name)),
            is_worker: name.starts_with("kworker/"),
        }
    }
}

/// The workqueue in the name of a worker; none where the kernel does not show it.
fn work(name: &str) -> Option<&str> {
    let worker = name.strip_prefix("kworker/")?;
    if let Some(rescued) = worker.strip_prefix("R-") {
        return Some(rescued);
    }
    worker.find(['+', '-']).map(|at| &worker[at + 1..]).filter(|it| !it.is_empty())
}

/// What a thread's name says when it is stripped of its CPU, queue, device or process.
pub(crate) fn family(name: &str) -> &str {
    let stem = name.split('/').next().unwrap_or(name);
    let number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    match stem.rsplit_once('-') {
        Some((stem, behind)) if number(behind) && !stem.is_empty() => stem,
        _ => stem,
    }
}

/// Whether a name is one of those that a pattern stands for: `*` is anything, `#` at its end a number or nothing.
fn fits(pattern: &str, name: &str) -> bool {
    if let Some(stem) = pattern.strip_suffix('#') {
        let number = name.strip_prefix(stem);
        return number.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    }
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => {
            let rest = name.strip_prefix(before);
            rest.is_some_and(|rest| match after.strip_suffix('*') {
                None => rest.ends_with(after),
                Some(within) => rest.contains(within),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_about(name: &str, word: &str) -> bool {
        Named::of(name).known.is_some_and(|it| it.what.contains(word))
    }

    #[test]
    fn a_worker_is_known_by_the_work_that_its_name_shows() {
        assert_eq!(work("kworker/3:1-events"), Some("events"));
        assert_eq!(work("kworker/u16:2+flush-8:0"), Some("flush-8:0"));
        assert_eq!(work("kworker/0:1H-kblockd"), Some("kblockd"));
        assert_eq!(work("kworker/R-xfs-buf/sda1"), Some("xfs-buf/sda1"));
        assert_eq!(
            (work("kworker/0:1"), work("ksoftirqd/3"), work("kworker/0:1-")),
            (None, None, None)
        );
        assert!(is_about("kworker/0:10+kacpi_notify", "ACPI"));
        assert!(is_about("kworker/u16:2+flush-8:0", "writes changed pages"));
        assert!(Named::of("kworker/u16:2").known.is_none());
    }

    #[test]
    fn threads_of_kernels_without_kworkers_are_known_by_their_own_names() {
        for (name, word) in [
            ("events/3", "system workqueue"),
            ("kacpid", "ACPI"),
            ("kondemand/11", "governor"),
            ("kblockd/0", "block layer"),
            ("flush-253:0", "writes changed pages"),
            ("kjournald", "journal"),
            ("jbd2/dm-0-8", "journal"),
            ("ksoftirqd/0", "softirqs"),
            ("migration/0", "moves tasks"),
            ("md0_raid5", "md"),
            ("scsi_eh_0", "errors"),
        ] {
            assert!(is_about(name, word), "{name}: {:?}", Named::of(name).known);
        }
    }

    #[test]
    fn no_name_is_taken_for_another_that_begins_like_it() {
        assert!(Named::of("ksmd_of_a_driver").known.is_none());
        assert!(Named::of("kswapd").known.is_some() && Named::of("kswapd12").known.is_some());
        assert!(Named::of("kswapdx").known.is_none());
        assert!(is_about("irq/9-acpi", "ACPI") && is_about("irq/24-nvme0q1", "handles interrupt"));
        assert_eq!(Named::of("my_driver/3").known, None);
    }

    #[test]
    fn no_pattern_stands_behind_a_more_general_one() {
        for (at, entry) in KNOWN.iter().enumerate() {
            for pattern in entry.names {
                let example = pattern.replace('*', "x").replace('#', "1");
                let first =
                    KNOWN.iter().position(|it| it.names.iter().any(|it| fits(it, &example)));
                assert_eq!(first, Some(at), "{pattern}");
            }
        }
    }

    #[test]
    fn the_texts_of_the_list_fit_into_sentences() {
        for entry in KNOWN {
            let texts = [Some(entry.what), Some(entry.fix), entry.fixed.map(|it| it.1)];
            for text in texts.into_iter().flatten() {
                assert!(!text.ends_with('.') && !text.is_empty(), "{text}");
            }
            assert_eq!(
                entry.what.chars().next().map(char::is_uppercase),
                Some(entry.what.starts_with("RCU"))
            );
        }
    }

    #[test]
    fn a_family_is_a_name_without_its_number() {
        let names = [
            "ksoftirqd/7",
            "irq/24-nvme0q1",
            "vhost-1234",
            "jbd2/sda1-8",
            "rcu_preempt",
            "kipmi0",
            "-7",
            "",
        ];
        let families = ["ksoftirqd", "irq", "vhost", "jbd2", "rcu_preempt", "kipmi0", "-7", ""];
        assert_eq!(names.map(family), families);
    }
}
