//! What each check's findings are in a diagnosis: the sign of a fault, or what causes it, and then who does, by default.
//!
//! A check that knows better who it is, says so in its finding ([`Held`](crate::finding::Held)).

use crate::party::Party;

/// What the findings of a check are.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// The id of the check.
    pub check: &'static str,
    /// Sign or cause.
    pub kind: Kind,
    /// What is lost.
    pub of: Lost,
    /// The mechanism in a few words that follow "by" or "of"; of a symptom what it is.
    pub name: &'static str,
    /// Whose it is, where a finding does not say.
    pub party: Option<Party>,
    /// What to do, in the imperative, where no command does it.
    pub action: &'static str,
    /// Whether a finding of medium or above shows that it acts, and not only that it can, where no loss is known.
    pub acts: bool,
    /// Whether somebody sets it, so that it is said where the party is unknown.
    pub is_set: bool,
    /// Whether the loss of a finding is what it was seen to take, and not what it can take.
    pub is_seen: bool,
    /// Whether a finding is in a diagnosis only where it explains another one.
    pub only_with_effect: bool,
}

/// Sign or cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A clock that is too low, or time that is missing: something else causes it.
    Symptom,
    /// What holds a clock down, or takes time.
    Mechanism,
}

/// What is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Some of the clock.
    Clock,
    /// Some of the clock of a core that is busy while others are idle.
    Turbo,
    /// Time of each CPU concerned.
    Time,
    /// Time of one CPU, whichever it is.
    OneCpu,
}

impl Lost {
    /// All of them.
    pub const ALL: [Lost; 4] = [Lost::Clock, Lost::Turbo, Lost::Time, Lost::OneCpu];

    /// The word in output.
    pub fn name(self) -> &'static str {
        match self {
            Lost::Clock => "clock",
            Lost::Turbo => "turbo",
            Lost::Time | Lost::OneCpu => "time",
        }
    }
}

const fn symptom(check: &'static str, name: &'static str) -> Part {
    Part { kind: Kind::Symptom, ..unowned(check, name, "") }
}

const fn mechanism(
    check: &'static str,
    name: &'static str,
    party: Party,
    action: &'static str,
) -> Part {
    Part { party: Some(party), ..unowned(check, name, action) }
}

/// Of which the finding says whose it is, where that is known.
const fn unowned(check: &'static str, name: &'static str, action: &'static str) -> Part {
    Part {
        check,
        kind: Kind::Mechanism,
        of: Lost::Clock,
        name,
        party: None,
        action,
        acts: false,
        is_set: false,
        is_seen: false,
        only_with_effect: false,
    }
}

/// The same of what somebody sets.
const fn set(check: &'static str, name: &'static str, action: &'static str) -> Part {
    Part { is_set: true, ..unowned(check, name, action) }
}

use Party::{Firmware, ManagementController, OperatingSystem, Physics, Program};

/// The checks whose findings a diagnosis joins; those of other checks stay what they are.
pub const PARTS: &[Part] = &[
    symptom("clock-below-minimum", "a clock below the hardware's minimum"),
    symptom("clock-not-delivered", "a clock below the request"),
    mechanism("slow-governor", "the frequency governor", OperatingSystem, "set another governor"),
    set("capped-frequency", "a frequency limit", "find what writes the limit"),
    Part {
        of: Lost::Turbo,
        ..mechanism("turbo-off", "turbo that is off", OperatingSystem, "switch turbo on")
    },
    mechanism(
        "power-saving-bias",
        "a preference for saving power",
        OperatingSystem,
        "set the preference to performance",
    ),
    mechanism(
        "mixed-frequency-settings",
        "frequency settings that differ between CPUs",
        OperatingSystem,
        "give all CPUs the same settings",
    ),
    unowned(
        "no-frequency-driver",
        "the lack of a frequency driver",
        "get one: the finding says how",
    ),
    mechanism("rival-tuner", "programs that write over each other", Program, "keep one of them"),
    Part {
        acts: true,
        ..set(
            "clock-modulation",
            "clock modulation",
            "find out what sets the register at each start, and update the firmware",
        )
    },
    unowned(
        "clock-clipped-by-platform",
        "a limit of the platform",
        "look for what the platform limits: power, heat, the firmware's setup",
    ),
    mechanism(
        "clamped-utilization",
        "a clamp on the utilization of a control group",
        OperatingSystem,
        "raise cpu.uclamp.max of the group",
    ),
    Part {
        of: Lost::Time,
        ..mechanism("forced-idle", "forced idle time", OperatingSystem, "fix the cooling")
    },
    Part {
        acts: true,
        ..set(
            "prochot-asserted",
            "PROCHOT#",
            "find what asserts the signal: the controller's event log names power supplies and regulators",
        )
    },
    Part {
        acts: true,
        ..mechanism("thermal-throttling", "thermal throttling", Physics, "fix the cooling")
    },
    Part {
        of: Lost::Time,
        ..mechanism("smi-storm", "system management interrupts", Firmware, "update the firmware")
    },
    Part {
        only_with_effect: true,
        ..mechanism("known-fault", "a known fault of this version", Firmware, "update the firmware")
    },
    set(
        "low-power-limit",
        "a package power limit below the design power",
        "find whose budget the limit keeps, then raise it where it was set",
    ),
    mechanism(
        "power-limit-reached",
        "a package power limit",
        Physics,
        "leave it where the limit is the design power; see low-power-limit",
    ),
    Part {
        acts: true,
        ..set(
            "speed-select-profile",
            "a Speed Select profile",
            "choose profile 0, where its power and its cores are allowed",
        )
    },
    Part {
        acts: true,
        ..mechanism(
            "undervoltage",
            "under-voltage",
            Physics,
            "use a power supply and a cable that keep the voltage under load",
        )
    },
    mechanism(
        "bmc-power-cap",
        "a power limit of the board",
        ManagementController,
        "find whose budget the limit keeps, then raise it in the management controller",
    ),
    Part {
        acts: true,
        ..mechanism(
            "bmc-throttling",
            "throttling by the management controller",
            ManagementController,
            "find whose budget the limit keeps, then raise it in the management controller",
        )
    },
    Part {
        of: Lost::Turbo,
        ..unowned(
            "turbo-headroom-lost",
            "idle states that are switched off",
            "let idle CPUs sleep deeper",
        )
    },
    Part {
        of: Lost::OneCpu,
        ..mechanism(
            "ipmi-without-interrupt",
            "an interface to the BMC without an interrupt, which the kernel polls",
            ManagementController,
            "give the interface an interrupt in the firmware, or poll the controller less",
        )
    },
    Part {
        of: Lost::OneCpu,
        is_seen: true,
        ..mechanism(
            "kipmid-busy",
            "the kernel thread that polls the BMC",
            ManagementController,
            "poll the controller less, with a program that keeps its sensor records",
        )
    },
];

/// The part of a check's findings; `None` where a diagnosis does not join them.
pub fn part_of(check: &str) -> Option<&'static Part> {
    PARTS.iter().find(|it| it.check == check)
}
