//! The steps of a plan, as documents about changes have them.

use facts::change::{self, Aim};
use rules::plan::{self, Plan, Request};
use rules::setting;
use schemars::JsonSchema;
use serde::Serialize;

/// What is going to be done, and what is not.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Planned<'a> {
    /// In the order to do it.
    steps: Vec<Step<'a>>,
    /// What cannot be done. A plan with one is not carried out.
    refused: Vec<Refused>,
    /// What a profile or a finding requests of other hosts.
    not_here: Vec<Refused>,
    needs_reboot: bool,
}

/// A setting and the writes that change it.
#[derive(Serialize, JsonSchema)]
struct Step<'a> {
    setting: &'static str,
    value: String,
    /// Why, in the words of the profile; empty where it does not say.
    because: &'a str,
    /// In the order to make them; none where it is so already.
    writes: Vec<Write<'a>>,
    risk: Risk,
    /// What it costs in power.
    power: &'static str,
    effect: Effect,
    survives: Survives,
    notes: &'a [String],
    /// The command that activates an edit of the boot line.
    activate: Option<&'a str>,
}

/// One write.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Write<'a> {
    /// A path, a register of a CPU, a task, a service.
    target: String,
    /// What it holds; null where a file is not there.
    from: Option<&'a str>,
    /// What it is to hold; null where a file is to be gone, and of what the kernel forgets.
    to: Option<&'a str>,
    aim: WriteAim,
}

/// What a write is for.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum WriteAim {
    /// What is written stays.
    Sticks,
    /// The kernel may refuse it.
    IfTaken,
    /// Nothing is written: undoing brings back what an earlier write makes the kernel forget.
    Forgotten,
}

/// What can go wrong.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Risk {
    Low,
    Medium,
    High,
}

/// When a change is in force.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Effect {
    AtOnce,
    AtBoot,
}

/// What a change lives through.
#[derive(Serialize, JsonSchema)]
struct Survives {
    reboot: bool,
    hotplug: bool,
    suspend: bool,
}

/// A request that is not carried out.
#[derive(Serialize, JsonSchema)]
struct Refused {
    setting: &'static str,
    value: String,
    kind: RefusalKind,
    why: String,
}

/// Why a request is refused.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum RefusalKind {
    /// The setting does not take the value on this host.
    Value,
    /// The host does not let it be changed, or changing it would harm.
    Host,
    /// A fact without which nothing can be planned is unknown.
    Unknown,
    /// It can do harm, and takes --i-know.
    NeedsConsent,
}

impl<'a> Planned<'a> {
    pub(crate) fn of(plan: &'a Plan) -> Planned<'a> {
        Planned {
            steps: plan.steps.iter().map(step).collect(),
            refused: plan.refused.iter().map(refused).collect(),
            not_here: plan.left_out.iter().map(refused).collect(),
            needs_reboot: plan.needs_reboot(),
        }
    }
}

fn step(step: &plan::Step) -> Step<'_> {
    let setting = step.request.setting;
    Step {
        setting: setting.id,
        value: step.request.value_text(),
        because: &step.request.because,
        writes: step.change.writes.iter().map(Write::of).collect(),
        risk: match setting.risk {
            setting::Risk::Low => Risk::Low,
            setting::Risk::Medium => Risk::Medium,
            setting::Risk::High => Risk::High,
        },
        power: setting.power,
        effect: match setting.effect {
            setting::Effect::AtOnce => Effect::AtOnce,
            setting::Effect::AtBoot => Effect::AtBoot,
        },
        survives: Survives {
            reboot: setting.survives.reboot,
            hotplug: setting.survives.hotplug,
            suspend: setting.survives.suspend,
        },
        notes: &step.change.notes,
        activate: step.change.activate.as_deref(),
    }
}

impl<'a> Write<'a> {
    pub(crate) fn of(write: &'a change::Write) -> Write<'a> {
        Write {
            target: write.target.to_string(),
            from: write.from.as_deref(),
            to: write.to.as_deref(),
            aim: match write.aim {
                Aim::Sticks => WriteAim::Sticks,
                Aim::IfTaken => WriteAim::IfTaken,
                Aim::Forgotten => WriteAim::Forgotten,
            },
        }
    }
}

fn refused((request, refusal): &(Request, setting::Refusal)) -> Refused {
    Refused {
        setting: request.setting.id,
        value: request.value_text(),
        kind: match refusal {
            setting::Refusal::Value(_) => RefusalKind::Value,
            setting::Refusal::Host(_) => RefusalKind::Host,
            setting::Refusal::Unknown(_) => RefusalKind::Unknown,
            setting::Refusal::NeedsConsent(_) => RefusalKind::NeedsConsent,
        },
        why: refusal.to_string(),
    }
}
