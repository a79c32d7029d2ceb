//! The shape every setting has.

use crate::check::Reference;
use facts::change::{Controls, Write};
use facts::{CpuSet, HostView, Missing, Subjects};
use std::fmt;

/// A knob of a host: what it takes, what it costs, and how to plan a change of it.
///
/// What is declared here is all that the command line, the reports and the documentation know of it. Its place in every
/// list is that in `settings::SETTINGS`.
pub struct Setting {
    /// A noun, the kernel's word where there is one: `governor`. Also the name of its file, or of its row in one.
    pub id: &'static str,
    /// The same in a few words, for lists.
    pub title: &'static str,
    /// Markdown for `fullclock explain ID`, with the headings of [`HEADINGS`].
    pub doc: &'static str,
    /// Where its facts are documented.
    pub references: &'static [Reference],
    /// The values it takes, for help and errors: `the name of a governor that scaling_available_governors lists`.
    pub takes: &'static str,
    /// What one value of it holds for.
    pub scope: Scope,
    /// When a change is in force.
    pub effect: Effect,
    /// What a change lives through.
    pub survives: Survives,
    /// What can go wrong.
    pub risk: Risk,
    /// What it costs in power, in words.
    pub power: &'static str,
    /// The settings that a plan changes before this one. Where one of them was changed, this one is planned anew right before
    /// it is written: what it had been planned from may have changed with it.
    pub after: &'static [&'static str],
    /// The checks that request it for a finding.
    pub fixes: &'static [&'static str],
    /// The files that planning reads, as patterns of [`Controls`].
    pub reads: &'static [&'static str],
    /// What planning looks at of the host. The rest of it is not there to be looked at: it was not asked for.
    pub looks_at: Subjects,
    /// Plans the writes that give the setting a value; pure.
    pub plan: fn(&Scene<'_>, &Wanted<'_>) -> Planned,
}

/// The writes, or why there are none. No writes: everything is already set.
pub type Planned = Result<Change, Refusal>;

/// What a setting plans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// In the order to make them; none that would change nothing.
    pub writes: Vec<Write>,
    /// What the user should know of this change on this host.
    pub notes: Vec<String>,
    /// Whether the first write is to be made and seen to stick, and its CPU to answer, before any other.
    pub canary: bool,
    /// The command that activates an edit of the boot line, as root; the change is in force after it and a reboot.
    pub activate: Option<String>,
}

/// What one value of a setting holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One value holds for the whole host.
    Host,
    /// The CPUs of a cpufreq policy.
    Policy,
    /// One CPU.
    Cpu,
    /// A package or die.
    Package,
    /// One value holds for an interrupt.
    Interrupt,
    /// A task or a service.
    Task,
}

/// When a change is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// As soon as it is written.
    AtOnce,
    /// After the next boot: it is an edit of the boot line.
    AtBoot,
}

/// What a change lives through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survives {
    /// Whether it is kept over a reboot.
    pub reboot: bool,
    /// Its CPU going offline and online.
    pub hotplug: bool,
    /// Whether it is kept over suspend and resume.
    pub suspend: bool,
}

/// What can go wrong with a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Nothing but speed and power change.
    Low,
    /// Some work may suffer; the documentation says which.
    Medium,
    /// Hardware or the kernel may misbehave: refused without `--i-know`.
    High,
}

/// The host that a change is planned for.
pub struct Scene<'a> {
    /// What is known of it.
    pub host: &'a HostView,
    /// The files that the settings of the plan ask for.
    pub controls: &'a Controls,
}

/// A requested value of a setting.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The value, without its CPUs.
    pub value: &'a str,
    /// The CPUs it is requested for; `None` for all.
    pub cpus: Option<&'a CpuSet>,
    /// Whether the user accepts what [`Risk::High`] means.
    pub i_know: bool,
}

/// Why a setting plans nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The value is not one that it takes here; the text says which are.
    Value(String),
    /// The host does not let it be changed, or changing it would harm; the text says why and what to do instead.
    Host(String),
    /// A fact without which nothing can be planned.
    Unknown(Missing),
    /// Asked without `--i-know`; the text says what there is to know.
    NeedsConsent(String),
}

/// The headings that the documentation of every setting has, in this order.
pub const HEADINGS: &[&str] =
    &["## What it changes", "## What it costs", "## When to leave it alone"];

impl Change {
    /// These writes, and nothing to say about them.
    pub fn of(writes: impl IntoIterator<Item = Write>) -> Change {
        Change { writes: writes.into_iter().collect(), ..Change::default() }
    }

    /// Adds what the user should know, where the change writes anything at all.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Change {
        if !self.writes.is_empty() {
            self.notes.push(text.into());
        }
        self
    }
}

impl Survives {
    /// Gone with the boot, as what is written to /sys mostly is, but kept over hotplug and suspend.
    pub const THIS_BOOT: Survives = Survives { reboot: false, hotplug: true, suspend: true };
}

impl Setting {
    /// Its text with what is declared beside it, for people.
    pub fn documentation(&self) -> String {
        let mut declared = vec![
            format!("Takes {}.", self.takes),
            format!("One value holds for {}.", self.scope.text()),
            format!("{} {}", self.effect.text(), self.survives.text()),
            format!("Risk: {}.", self.risk.text()),
            format!("Power: {}.", self.power),
        ];
        if !self.fixes.is_empty() {
            let checks = self.fixes.join(", ");
            declared
                .push(format!("Fixes findings of {checks}, where `fullclock plan` accepts it."));
        }
        if !self.after.is_empty() {
            declared.push(format!("In one plan it comes after {}.", self.after.join(", ")));
        }
        let declared: String = declared.iter().map(|it| format!("- {it}\n")).collect();
        format!("{}\n## In short\n{declared}", self.doc)
    }
}

impl Scope {
    /// As people say it, behind "holds for".
    pub fn text(self) -> &'static str {
        match self {
            Scope::Host => "the whole host",
            Scope::Policy => "the CPUs of one cpufreq policy",
            Scope::Cpu => "one CPU",
            Scope::Package => "one package or die",
            Scope::Interrupt => "one interrupt",
            Scope::Task => "one task or service",
        }
    }
}

impl Effect {
    /// As people say it.
    pub fn text(self) -> &'static str {
        match self {
            Effect::AtOnce => "In force at once.",
            Effect::AtBoot => "In force after a reboot.",
        }
    }
}

impl Survives {
    /// As people say it.
    pub fn text(self) -> String {
        let events = [
            (self.reboot, "a reboot"),
            (self.hotplug, "its CPU going offline and online"),
            (self.suspend, "suspend"),
        ];
        let of = |kept: bool| {
            let events = events.iter().filter(move |(it, _)| *it == kept);
            events.map(|(_, event)| *event).collect::<Vec<_>>().join(" or ")
        };
        match (of(true), of(false)) {
            (kept, lost) if lost.is_empty() => format!("Kept over {kept}."),
            (kept, lost) if kept.is_empty() => format!("Not kept over {lost}."),
            (kept, lost) => format!("Kept over {kept}; not over {lost}."),
        }
    }
}

impl Risk {
    /// As people say it.
    pub fn text(self) -> &'static str {
        match self {
            Risk::Low => "low, nothing but speed and power change",
            Risk::Medium => "medium, some work may suffer",
            Risk::High => "high, hardware or the kernel may misbehave; needs `--i-know`",
        }
    }
}

impl Wanted<'_> {
    /// Whether the setting is requested for this CPU.
    pub fn covers(&self, cpu: u32) -> bool {
        self.cpus.is_none_or(|cpus| cpus.contains(cpu))
    }

    /// Refuses a value that the setting does not take, and says which it does.
    pub fn not_taken(&self, setting: &Setting) -> Refusal {
        Refusal::Value(format!("{} takes {}, not {:?}", setting.id, setting.takes, self.value))
    }

    /// Refuses a list of CPUs, for a setting that is of the whole host.
    pub fn for_the_host(&self, id: &str) -> Result<(), Refusal> {
        match self.cpus {
            None => Ok(()),
            Some(cpus) => {
                Err(Refusal::Value(format!("{id} is of the whole host: leave out @{cpus}")))
            }
        }
    }
}

impl Refusal {
    /// Whether the host has no such thing, as opposed to a wrong request or an answer that is not known.
    pub fn is_absence(&self) -> bool {
        match self {
            Refusal::Host(_) => true,
            Refusal::Unknown(missing) => missing.is_absence(),
            Refusal::Value(_) | Refusal::NeedsConsent(_) => false,
        }
    }
}

impl From<Missing> for Refusal {
    fn from(missing: Missing) -> Refusal {
        Refusal::Unknown(missing)
    }
}

impl From<&Missing> for Refusal {
    fn from(missing: &Missing) -> Refusal {
        Refusal::Unknown(missing.clone())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Value(text) | Refusal::Host(text) | Refusal::NeedsConsent(text) => {
                f.write_str(text)
            }
            Refusal::Unknown(missing) => f.write_str(&missing.advice()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_change_lives_through_is_said_in_one_sentence() {
        let this_boot = "Kept over its CPU going offline and online or suspend; not over a reboot.";
        assert_eq!(Survives::THIS_BOOT.text(), this_boot);
        let nothing = Survives { reboot: false, hotplug: false, suspend: false };
        assert_eq!(
            nothing.text(),
            "Not kept over a reboot or its CPU going offline and online or suspend."
        );
        let all = Survives { reboot: true, hotplug: true, suspend: true };
        assert!(all.text().starts_with("Kept over a reboot or "));
    }

    #[test]
    fn a_note_needs_a_write_to_be_about() {
        assert!(Change::default().note("turbo is off").notes.is_empty());
    }
}
