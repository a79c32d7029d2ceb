//! What a check reports.

pub use crate::cost::{Cost, OfClock};
pub use crate::severity::Severity;

use crate::commands::Command;
use crate::loss_scale::deviations::{Deviation, OF_ANOTHER_KIND};
use crate::loss_scale::{Lost, bounded};
use crate::party::Party;
use facts::CpuSet;
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// One fault of a host, with everything needed to believe it, weigh it and fix it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How much it hurts a database server.
    pub severity: Severity,
    /// How sure the evidence makes us; a severe fault may rest on thin evidence.
    pub confidence: Confidence,
    /// Which CPUs have it; `None` where it is not a matter of CPUs.
    pub cpus: Option<Scope>,
    /// One sentence, without a full stop.
    pub message: String,
    /// What was read, verbatim.
    pub evidence: Vec<Evidence>,
    /// What it takes, where that can be estimated.
    pub cost: Option<Cost>,
    /// What of the CPUs' capacity that is, where it decides how severe it is.
    pub lost: Option<Lost>,
    /// What would fix it.
    pub fix: Fix,
    /// Who does it, and when that was seen.
    pub held: Held,
}

/// Who does what a finding shows, and when that was seen: what a [diagnosis](crate::diagnosis) joins findings by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Whose it is, where the evidence says more than the check's [part](crate::diagnosis::parts) does.
    pub by: Option<Party>,
    /// The program, by name and number: `thermald (900)`; several where each may be the one.
    pub program: Option<String>,
    /// Whether it is certain that the program did it, and not only that it may have.
    pub is_certain: bool,
    /// Whether no program is known here that may have written the setting.
    pub is_unwritten: bool,
    /// The mechanism in a few words that follow "by", where they say more than the check's part does.
    pub name: Option<String>,
    /// What to do, in the imperative, where that differs from what the check's part says.
    pub action: Option<Cow<'static, str>>,
    /// The part of the machine that it is about, where it is unknown which CPUs those are: `socket 1`.
    pub place: Option<String>,
    /// The ids of checks whose findings show that it acts.
    pub sees: Vec<&'static str>,
    /// Whether it is a setting that is at a limit which another one gave it.
    pub is_at_limit: bool,
    /// Whether it held the clock down for at least half of the time for which it was watched.
    pub is_lasting: bool,
    /// When it was seen.
    pub moment: Moment,
    /// For how long it was watched and did not happen again, where it was seen at some time since boot.
    pub still_for: Option<Duration>,
}

/// When something was seen. The two are never mixed: a log that stays set until somebody clears it proves no present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Moment {
    /// When the host was read: a state, or a setting in force.
    #[default]
    Now,
    /// At some time since boot, or since a log was cleared.
    SinceBoot,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Other explanations are as likely.
    Low,
    /// The evidence is indirect or partial.
    Medium,
    /// Read from the place that decides it.
    High,
}

/// Some of the CPUs that were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Those that have the fault.
    pub cpus: CpuSet,
    /// How many were looked at.
    pub of: usize,
}

/// One thing that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Path or register.
    pub source: String,
    /// What it held, verbatim; of more than [`LONGEST_EVIDENCE`] characters the beginning, and how many there are.
    pub value: String,
}

/// Characters of evidence that are shown. The longest boot lines of servers have some 1,500.
pub const LONGEST_EVIDENCE: usize = 2048;

fn beginning(value: String) -> String {
    match value.char_indices().nth(LONGEST_EVIDENCE) {
        Some((end, _)) => {
            let n = value.chars().count();
            format!("{}… (the first {LONGEST_EVIDENCE} of {n} characters)", &value[..end])
        }
        None => value,
    }
}

/// What would fix a fault: what its check requests, and what [`advise`](crate::advice::advise) makes of that on the host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fix {
    /// The settings that fix it, and their values.
    pub requests: Vec<Requested>,
    /// Commands of [`COMMANDS`](crate::commands::COMMANDS), for what no setting does.
    pub commands: Vec<Invoked>,
    /// Places that it names beside its evidence; a `*` stands for part of a name.
    pub places: Vec<String>,
    /// Shell commands that make the writes of the accepted requests. They take effect at once and are gone after a reboot.
    pub now: Vec<String>,
    /// The accepted requests as `fullclock apply` takes them.
    pub apply: Vec<String>,
    /// Commands that change something that no setting changes: not journaled, so that `fullclock revert` does not undo them.
    pub by_hand: Vec<ByHand>,
    /// Commands that only look.
    pub look: Vec<String>,
    /// Why a request or a command is not offered on this host, a line each.
    pub refused: Vec<String>,
    /// What makes it last.
    pub lasting: Option<String>,
}

/// One setting that a check requests for a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    /// The id of the setting.
    pub setting: &'static str,
    /// The value, without its CPUs.
    pub value: String,
    /// The CPUs it is requested for; `None` for all.
    pub cpus: Option<CpuSet>,
}

/// One command of the list, with the argument that its text takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Invoked {
    /// Which.
    pub command: &'static Command,
    /// What replaces `{}` in its text.
    pub argument: String,
}

/// A command that changes a host outside of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByHand {
    /// What to type.
    pub command: String,
    /// What can go wrong, in words.
    pub risk: &'static str,
    /// Where it is available: distributions, packages.
    pub available: &'static str,
}

impl Finding {
    /// A finding without CPUs, evidence, cost or fix; the methods below add them.
    pub fn new(severity: Severity, confidence: Confidence, message: impl Into<String>) -> Finding {
        Finding {
            severity,
            confidence,
            cpus: None,
            message: message.into(),
            evidence: Vec::new(),
            cost: None,
            lost: None,
            fix: Fix::default(),
            held: Held::default(),
        }
    }

    /// A finding as severe as what is lost, by the rule of [`loss_scale`](crate::loss_scale).
    pub(crate) fn of_lost(
        lost: Lost,
        confidence: Confidence,
        message: impl Into<String>,
    ) -> Finding {
        let finding = Finding::new(lost.severity(), confidence, message);
        Finding { lost: Some(lost), ..finding }
    }

    /// Makes it as severe as the deviation says.
    #[must_use]
    pub(crate) fn but(mut self, deviation: &'static Deviation) -> Finding {
        self.lost = self.lost.map(|it| it.but(deviation));
        self.severity = match &self.lost {
            Some(lost) => lost.severity(),
            None => deviation.how.iter().fold(self.severity, |it, how| bounded(it, *how)),
        };
        self
    }

    /// Whether this finding of a check is as severe as what it costs; of a cost that is no share of the CPUs' capacity, whether the check is
    /// known to have such costs.
    pub fn is_as_severe_as_its_loss(&self, check: &str) -> bool {
        let is_of_another_kind = OF_ANOTHER_KIND.iter().any(|(id, _)| *id == check);
        match &self.lost {
            Some(lost) => {
                let is_by_itself = lost.deviations().iter().all(|it| it.checks.contains(&check));
                self.severity == lost.severity() && is_by_itself && !is_of_another_kind
            }
            None => self.cost.is_none() || is_of_another_kind,
        }
    }

    /// Says which CPUs have the fault, out of how many.
    #[must_use]
    pub fn on(mut self, cpus: CpuSet, of: usize) -> Finding {
        self.cpus = Some(Scope { cpus, of });
        self
    }

    /// Adds what was read at `source`. Of a long value only the beginning is kept, and its length.
    #[must_use]
    pub fn evidence(mut self, source: impl Into<String>, value: impl fmt::Display) -> Finding {
        self.evidence.push(Evidence { source: source.into(), value: beginning(value.to_string()) });
        self
    }

    /// Says what the fault takes, and how that is derived.
    #[must_use]
    pub fn cost(mut self, estimate: impl Into<String>, derivation: impl Into<String>) -> Finding {
        self.cost = Some(Cost::of(estimate, derivation));
        self
    }

    /// Says which share of the clock the fault takes, and how that is derived.
    #[must_use]
    pub fn cost_of_clock(mut self, loss: OfClock, derivation: impl Into<String>) -> Finding {
        self.cost = Some(Cost::of_clock(loss, derivation));
        self
    }

    /// Requests that a setting of the whole host, or of every CPU, gets this value.
    #[must_use]
    pub fn fix_by(mut self, setting: &'static str, value: impl Into<String>) -> Finding {
        self.fix.requests.push(Requested { setting, value: value.into(), cpus: None });
        self
    }

    /// Requests that a setting gets this value on these CPUs.
    #[must_use]
    pub fn fix_by_on(
        mut self,
        setting: &'static str,
        value: impl Into<String>,
        cpus: CpuSet,
    ) -> Finding {
        self.fix.requests.push(Requested { setting, value: value.into(), cpus: Some(cpus) });
        self
    }

    /// Names a place that has the fault, beside those of the evidence; a `*` stands for part of a name.
    #[must_use]
    pub fn names(mut self, place: impl Into<String>) -> Finding {
        self.fix.places.push(place.into());
        self
    }

    /// Adds a command of the list, which helps where no setting does.
    #[must_use]
    pub fn command(mut self, command: &'static Command, argument: impl Into<String>) -> Finding {
        self.fix.commands.push(Invoked { command, argument: argument.into() });
        self
    }

    /// Says whose it is, where that differs from what is usual for its check.
    #[must_use]
    pub(crate) fn held_by(mut self, party: Party) -> Finding {
        self.held.by = Some(party);
        self
    }

    /// Says which part of the machine it is about, where it is unknown which CPUs those are.
    #[must_use]
    pub(crate) fn of_place(mut self, place: String) -> Finding {
        self.message = format!("{place}: {}", self.message);
        self.held.place = Some(place);
        self
    }

    /// Says which program does it: its name and number.
    #[must_use]
    pub(crate) fn held_by_program(mut self, program: impl Into<String>) -> Finding {
        self.held.program = Some(program.into());
        self.held_by(Party::Program)
    }

    /// Says that it is certain which program does it.
    #[must_use]
    pub(crate) fn certainly(mut self) -> Finding {
        self.held.is_certain = true;
        self
    }

    /// Says that no program is known here that may have written the setting.
    #[must_use]
    pub(crate) fn without_writer(mut self) -> Finding {
        self.held.is_unwritten = true;
        self
    }

    /// Names the mechanism in a few words that follow "by".
    #[must_use]
    pub(crate) fn by_means_of(mut self, name: impl Into<String>) -> Finding {
        self.held.name = Some(name.into());
        self
    }

    /// Says what to do, in the imperative, where that differs from what is usual for its check.
    #[must_use]
    pub(crate) fn advising(mut self, action: impl Into<Cow<'static, str>>) -> Finding {
        self.held.action = Some(action.into());
        self
    }

    /// Says that it is at a limit which another setting gave it.
    #[must_use]
    pub(crate) fn at_limit(mut self) -> Finding {
        self.held.is_at_limit = true;
        self
    }

    /// Says the findings of which checks show that it acts.
    #[must_use]
    pub(crate) fn seen_by(mut self, checks: Vec<&'static str>) -> Finding {
        self.held.sees = checks;
        self
    }

    /// Says that it held the clock down for at least half of the time for which it was watched.
    #[must_use]
    pub(crate) fn lasting(mut self) -> Finding {
        self.held.is_lasting = true;
        self
    }

    /// Says that a log or a count shows it, which proves no present.
    #[must_use]
    pub(crate) fn since_boot(mut self) -> Finding {
        self.held.moment = Moment::SinceBoot;
        self
    }

    /// Says that it was watched for that long and did not happen again.
    #[must_use]
    pub(crate) fn still_for(mut self, time: Option<Duration>) -> Finding {
        self.held.still_for = time;
        self
    }

    /// Says what fixes it for good.
    #[must_use]
    pub fn fix_lasting(mut self, text: impl Into<String>) -> Finding {
        self.fix.lasting = Some(text.into());
        self
    }
}

/// "CPUs 0-3 (4 of 16)", "CPU 2 (1 of 16)", "all 16 CPUs".
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Scope { cpus, of } = self;
        match cpus.len() {
            n if n == *of && n > 1 => write!(f, "all {of} CPUs"),
            n => write!(f, "{} ({n} of {of})", cpus.named()),
        }
    }
}

impl Confidence {
    /// The word in output.
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_evidence_is_cut_and_its_length_is_stated() {
        let value = |n| {
            let finding = Finding::new(Severity::Info, Confidence::High, "x");
            finding.evidence("/proc/cmdline", "ä".repeat(n)).evidence[0].value.clone()
        };
        assert_eq!(value(LONGEST_EVIDENCE), "ä".repeat(LONGEST_EVIDENCE));
        let cut = value(66_060_288 / 1024);
        assert_eq!(
            cut,
            format!("{}… (the first 2048 of 64512 characters)", "ä".repeat(LONGEST_EVIDENCE))
        );
    }
}
