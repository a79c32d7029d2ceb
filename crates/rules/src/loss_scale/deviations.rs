//! What is more or less severe than its loss, each with the reason; and the checks whose costs are no share of the CPUs' capacity.
//!
//! docs/guide/audit.md lists them for users; a test compares.

use crate::severity::Severity;

/// Findings that are more or less severe than the rule says.
#[derive(Debug, PartialEq)]
pub struct Deviation {
    /// The ids of the checks that have such findings.
    pub checks: &'static [&'static str],
    /// Which findings.
    pub what: &'static str,
    /// How their severity differs.
    pub how: &'static [How],
    /// Why.
    pub because: &'static str,
}

/// How a severity differs from the rule's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// The loss counts so many times.
    Times(f64),
    /// However few the CPUs are.
    HoweverFew,
    /// A step lower.
    StepLower,
    /// Not above.
    AtMost(Severity),
    /// Not below.
    AtLeast(Severity),
    /// Critical from this loss on.
    CriticalFrom(f64),
}

pub(crate) static FOLLOWS_LOAD: Deviation = Deviation {
    checks: &["slow-governor"],
    what: "ondemand and conservative",
    how: &[How::Times(1.0 / 3.0), How::AtMost(Severity::Medium)],
    because: "they raise the clock some milliseconds after the load came, and the clock that was read may be that of idle CPUs",
};

pub(crate) static TOLD_OF_LOAD: Deviation = Deviation {
    checks: &["slow-governor"],
    what: "schedutil",
    how: &[How::AtMost(Severity::Low)],
    because: "the scheduler tells it of load, so that the clock follows within a millisecond or two",
};

pub(crate) static ALL_ITS_POWER: Deviation = Deviation {
    checks: &["capped-frequency"],
    what: "a socket of an EPYC that draws the highest power that it can be given",
    how: &[How::AtMost(Severity::Low)],
    because: "the load takes it below its nominal clock, and nothing else holds it",
};

pub(crate) static FIRMWARES_SAMPLE: Deviation = Deviation {
    checks: &["no-frequency-driver"],
    what: "a clock below the nominal one, where firmware alone chooses it",
    how: &[How::AtMost(Severity::Medium)],
    because: "it is one sample, and firmware may raise the clock under load",
};

pub(crate) static BELOW_MINIMUM: Deviation = Deviation {
    checks: &["clock-below-minimum"],
    what: "many CPUs of a busy host",
    how: &[How::AtLeast(Severity::High)],
    because: "no governor asks for such a clock: something stops it",
};

pub(crate) static BAD_SAMPLE: Deviation = Deviation {
    checks: &["clock-below-minimum"],
    what: "few CPUs, CPUs that were not seen to work, and a family that reads low while healthy",
    how: &[How::AtMost(Severity::Low)],
    because: "an idle CPU is sampled for microseconds and may read low",
};

pub(crate) static YOUNG_LOAD: Deviation = Deviation {
    checks: &["clock-not-delivered"],
    what: "a clock that only load asks for",
    how: &[How::StepLower],
    because: "the load may have come a moment ago, before the governor saw it",
};

pub(crate) static STOPPED_CLOCK: Deviation = Deviation {
    checks: &["clock-modulation"],
    what: "a clock that is stopped for half of the time or more",
    how: &[How::CriticalFrom(0.5)],
    because: "interrupts and locks wait as long as work does",
};

pub(crate) static MANY_EVENTS: Deviation = Deviation {
    checks: &["thermal-throttling", "kernel-log"],
    what: "100,000 events of heat and more",
    how: &[How::AtLeast(Severity::High), How::HoweverFew],
    because: "so many are a cooling fault, and a long uptime hides when they came",
};

pub(crate) static STOLEN: Deviation = Deviation {
    checks: &["stolen-time"],
    what: "time that a hypervisor gave to others",
    how: &[How::Times(2.0)],
    because: "a virtual CPU that stands still keeps its locks, and others wait for it",
};

pub(crate) static WANTED_WORK: Deviation = Deviation {
    checks: &["busy-kernel-threads"],
    what: "threads that do work which programs ask of them, such as a file system's journal",
    how: &[How::Times(0.01), How::AtMost(Severity::Low)],
    because: "the time is the work's own",
};

pub(crate) static UNKNOWN_THREAD: Deviation = Deviation {
    checks: &["busy-kernel-threads"],
    what: "threads of which nothing is known, and workers, whose name tells of their last work only",
    how: &[How::AtMost(Severity::Medium)],
    because: "it may be work that programs ask for",
};

pub(crate) static STOPPED_DATABASE: Deviation = Deviation {
    checks: &["cgroup-quota-throttling"],
    what: "groups above a database server",
    how: &[How::Times(5.0), How::HoweverFew],
    because: "a stopped period delays each commit in it and all that wait for their locks, and the database is what the host is for",
};

pub(crate) static OWN_GROUP: Deviation = Deviation {
    checks: &["cgroup-quota-throttling"],
    what: "a group in which only fullclock runs",
    how: &[How::AtMost(Severity::Low)],
    because: "nothing else is stopped",
};

pub(crate) static ONE_BUSY_CORE: Deviation = Deviation {
    checks: &["turbo-headroom-lost"],
    what: "turbo that idle cores take from busy ones",
    how: &[How::Times(0.5), How::AtMost(Severity::Medium)],
    because: "only a core that is busy while most others are idle loses it",
};

pub(crate) static SLEEP_OF_A_GUEST: Deviation = Deviation {
    checks: &["turbo-headroom-lost"],
    what: "idle states of a guest",
    how: &[How::AtMost(Severity::Low)],
    because: "they need not be those of the hardware",
};

pub(crate) static HELD_ON_PURPOSE: Deviation = Deviation {
    checks: &["turbo-headroom-lost"],
    what: "a latency limit that a program holds",
    how: &[How::AtMost(Severity::Low)],
    because: "it may hold it on purpose",
};

pub(crate) static CHOSEN_LATENCY: Deviation = Deviation {
    checks: &["turbo-headroom-lost"],
    what: "states off by the driver, by a tuned profile, or on a real-time kernel or a host with isolated CPUs",
    how: &[How::AtMost(Severity::Info)],
    because: "short waits were chosen instead of turbo, or there is nothing to undo",
};

pub(crate) static FASTER_ALONE: Deviation = Deviation {
    checks: &["core-scheduling-idle"],
    what: "threads that core scheduling keeps idle",
    how: &[How::StepLower],
    because: "the other thread of the core has it to itself meanwhile, and runs faster",
};

/// Every deviation, in the order of the checks.
pub static DEVIATIONS: &[&Deviation] = &[
    &FOLLOWS_LOAD,
    &TOLD_OF_LOAD,
    &ALL_ITS_POWER,
    &FIRMWARES_SAMPLE,
    &BELOW_MINIMUM,
    &BAD_SAMPLE,
    &YOUNG_LOAD,
    &STOPPED_CLOCK,
    &MANY_EVENTS,
    &ONE_BUSY_CORE,
    &SLEEP_OF_A_GUEST,
    &HELD_ON_PURPOSE,
    &CHOSEN_LATENCY,
    &STOPPED_DATABASE,
    &OWN_GROUP,
    &WANTED_WORK,
    &UNKNOWN_THREAD,
    &STOLEN,
    &FASTER_ALONE,
];

/// Checks whose costs are no share of the CPUs' capacity, by id, each with what they are.
pub const OF_ANOTHER_KIND: &[(&str, &str)] = &[
    (
        "smi-storm",
        "how long each interruption is can only be guessed, and it stops all CPUs at once",
    ),
    ("memory-bandwidth-limit", "bandwidth of memory"),
    ("bmc-power-cap", "the clock while PROCHOT# is pulled; how often that is, is unknown"),
    ("isolated-without-nohz-full", "interruptions of CPUs that were to have none"),
    ("vmstat-tick", "interruptions of CPUs that were to have none"),
    ("slow-clocksource", "time for each reading of the clock"),
    ("lazy-preemption", "waits for a CPU"),
    ("known-fault", "what somebody measured on another machine"),
    ("ethernet-link-degraded", "bandwidth of a link"),
    ("infiniband-link-degraded", "bandwidth of a link"),
    ("pcie-link-degraded", "bandwidth of a link"),
    ("slot-narrower-than-ports", "bandwidth of a slot"),
    ("nic-far-from-cpu", "time for each transfer"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;

    const PAGE: &str = include_str!("../../../../docs/guide/audit.md");

    #[test]
    fn every_deviation_is_of_a_check_and_on_the_page_for_users() {
        for it in DEVIATIONS {
            for id in it.checks {
                assert!(checks::find(id).is_some(), "no check is called {id}");
                assert!(PAGE.contains(&format!("{id}: ")), "{id} is not on the page");
            }
            let text = PAGE.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(it.what), "not on the page: {}", it.what);
            assert!(text.contains(it.because), "not on the page: {}", it.because);
        }
        for (id, _) in OF_ANOTHER_KIND {
            assert!(checks::find(id).is_some(), "no check is called {id}");
        }
    }
}
