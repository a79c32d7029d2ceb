//! The thefts that the ledger is tried on, and where it should find each.

use super::books::BUSY;
use super::truth::Taken;
use super::verdict::Bars;

/// One theft, and what the ledger should make of it.
#[derive(Debug)]
pub(super) struct Theft {
    /// The thief's arguments, without CPU and length.
    pub(super) thief: &'static [&'static str],
    /// The thief's arguments for the time without theft.
    pub(super) without: &'static [&'static str],
    /// How the books are kept.
    pub(super) books: Books,
    /// Of what the ledger is asked.
    pub(super) asked_of: Asked,
    /// The arguments of a thief that measures beforehand what an interrupt costs, where this one cannot.
    pub(super) calibration: Option<&'static [&'static str]>,
    /// What the thief counts.
    pub(super) taken: Taken,
    /// The ledger's lines that it goes to.
    pub(super) to: &'static [&'static str],
    /// The lines that it has to come from.
    pub(super) from: &'static [&'static str],
}

/// How the books are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Books {
    /// By counting what happened.
    Observe,
    /// By a spinner that notices what it does not get.
    Spin,
}

/// Of what the ledger is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Of the CPU, whoever runs on it.
    Cpu,
    /// Of the thief's spinner.
    Spinner,
    /// Of a spinner that the thief knows nothing of, on the same CPU.
    Victim,
}

/// Every theft, in the order of the table.
pub(super) const THEFTS: &[Theft] = &[
    Theft {
        thief: &["hog", "--percent", "10"],
        without: &["idle"],
        books: Books::Observe,
        asked_of: Asked::Cpu,
        calibration: None,
        taken: Taken::RunTime,
        to: &["task/thief"],
        from: IDLE_AND_BUSY,
    },
    Theft {
        thief: &["hog", "--percent", "50"],
        without: &["idle"],
        books: Books::Observe,
        asked_of: Asked::Cpu,
        calibration: None,
        taken: Taken::RunTime,
        to: &["task/thief"],
        from: IDLE_AND_BUSY,
    },
    Theft {
        thief: &["hog", "--percent", "20"],
        without: &["idle"],
        books: Books::Observe,
        asked_of: Asked::Victim,
        calibration: None,
        taken: Taken::RunTime,
        to: &["other-tasks/thief"],
        from: BUSY,
    },
    Theft {
        thief: &["timer", "--cost", "--hz", "20000"],
        without: &["spin"],
        books: Books::Observe,
        asked_of: Asked::Cpu,
        calibration: None,
        taken: Taken::Interrupts,
        to: &["ticks", "interrupts"],
        from: BUSY,
    },
    Theft {
        thief: &["quota", "--percent", "40"],
        without: &["spin"],
        books: Books::Observe,
        asked_of: Asked::Spinner,
        calibration: None,
        taken: Taken::Throttled,
        to: &["cgroup-quota"],
        from: BUSY,
    },
    Theft {
        thief: &["stop", "--percent", "30"],
        without: &["spin"],
        books: Books::Observe,
        asked_of: Asked::Spinner,
        calibration: None,
        taken: Taken::Stopped,
        to: &["idle"],
        from: BUSY,
    },
    Theft {
        thief: &["hog", "--percent", "10"],
        without: &["idle"],
        books: Books::Spin,
        asked_of: Asked::Cpu,
        calibration: None,
        taken: Taken::RunTime,
        to: &["other-tasks/thief"],
        from: BUSY,
    },
    Theft {
        thief: &["timer", "--hz", "10000"],
        without: &["idle"],
        books: Books::Spin,
        asked_of: Asked::Cpu,
        calibration: Some(&["timer", "--cost", "--hz", "10000"]),
        taken: Taken::Interrupts,
        to: &["ticks", "interrupts"],
        from: BUSY,
    },
];

/// The lines that a task of a user comes from on an idle CPU, and moves by being there.
const IDLE_AND_BUSY: &[&str] = &["idle", "useful", "slow-clock", "stopped-clock"];

impl Theft {
    /// As the table names it.
    pub(super) fn name(&self) -> String {
        let name = self.thief.join(" ").replace("--", "");
        if self.asked_of == Asked::Victim { format!("{name}, from a spinner") } else { name }
    }
}

impl Books {
    /// As the table names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Books::Observe => "observe",
            Books::Spin => "spin",
        }
    }

    /// What may be wrong at most: a percentage point, and an unexplained rest of 0.5 % of an otherwise idle
    /// machine's capacity, or of 0.2 % where a spinner sees every gap.
    pub(super) fn bars(self) -> Bars {
        let unexplained = match self {
            Books::Observe => 0.5,
            Books::Spin => 0.2,
        };
        Bars { error: 1.0, side_effect: 1.0, unexplained }
    }
}
