//! Changes as JSON, in the shapes that `schemas/` publishes.

use crate::json::{SCHEMA_VERSION, pretty};
use facts::change::{
    Aim, ChangeStanding, ChangeState, Guarding, Overdue, RevertOutcome, Standing, Target, Undone,
    Write, Written, WrittenPlace,
};
use rules::plan::{Applied, Plan, Request, Step};
use rules::setting::{Effect, Refusal, Risk};
use serde_json::{Result, Value, json};

/// What would be written: `schemas/plan-1.json`.
pub fn plan_json(plan: &Plan) -> Result<String> {
    let mut value = planned(plan);
    value["schema_version"] = SCHEMA_VERSION.into();
    value["fullclock"] = env!("CARGO_PKG_VERSION").into();
    pretty(&value)
}

/// What was written: `schemas/apply-1.json`.
pub fn applied_json(applied: &Applied) -> Result<String> {
    let not_taken =
        |(target, why): &(Target, String)| json!({ "target": target.to_string(), "why": why });
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "plan": planned(&applied.plan),
        "change": applied.id,
        "is_in_force": applied.id.is_some() && applied.error.is_none(),
        "error": applied.error,
        "n_writes": applied.n_writes,
        "not_taken": applied.not_taken.iter().map(not_taken).collect::<Vec<_>>(),
        "undone": applied.undone.iter().map(taken_back).collect::<Vec<_>>(),
        "files": applied.files.iter().map(write).collect::<Vec<_>>(),
        "lasts": applied.lasts(),
        "confirm_within_s": applied.confirm_within.map(|it| it.as_secs_f64()),
    }))
}

/// What was taken back: `schemas/revert-1.json`.
pub fn undone_json(
    undone: &[Undone],
    not_recorded: Option<&str>,
    error: Option<&str>,
) -> Result<String> {
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "undone": undone.iter().map(taken_back).collect::<Vec<_>>(),
        "not_recorded": not_recorded,
        "error": error,
    }))
}

/// What is applied: `schemas/status-1.json`.
pub fn status_json(changes: &[ChangeStanding], suspects: &[String]) -> Result<String> {
    let change = |it: &ChangeStanding| {
        json!({
            "id": it.recorded.id,
            "began_s": it.recorded.when.as_secs_f64(),
            "command": it.recorded.command,
            "state": state(&it.recorded.state),
            "is_of_this_boot": it.is_of_this_boot,
            "guard": it.guard.as_ref().map(guard),
            "places": it.places.iter().map(place).collect::<Vec<_>>(),
        })
    };
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "changes": changes.iter().map(change).collect::<Vec<_>>(),
        "suspects": suspects,
    }))
}

/// One place that drifted, on one line: `schemas/drift-1.json`.
pub fn drift_json(
    at: &str,
    drifted: &WrittenPlace,
    found: Option<&str>,
    writer: Option<&Written>,
) -> Result<String> {
    let by = writer.map(|it| json!({ "pid": it.pid, "command": it.command }));
    let line = json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "at": at,
        "setting": drifted.setting,
        "target": drifted.write.target.to_string(),
        "given": drifted.write.to,
        "found": found,
        "is_back": matches!(drifted.standing, Standing::InForce),
        "by": by,
    });
    Ok(format!("{line}\n"))
}

fn planned(plan: &Plan) -> Value {
    json!({
        "steps": plan.steps.iter().map(step).collect::<Vec<_>>(),
        "refused": plan.refused.iter().map(refused).collect::<Vec<_>>(),
        "not_here": plan.left_out.iter().map(refused).collect::<Vec<_>>(),
        "needs_reboot": plan.needs_reboot(),
    })
}

fn step(step: &Step) -> Value {
    let setting = step.request.setting;
    json!({
        "setting": setting.id,
        "value": step.request.value_text(),
        "because": step.request.because,
        "writes": step.change.writes.iter().map(write).collect::<Vec<_>>(),
        "risk": match setting.risk {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        },
        "power": setting.power,
        "effect": match setting.effect {
            Effect::AtOnce => "at-once",
            Effect::AtBoot => "at-boot",
        },
        "survives": {
            "reboot": setting.survives.reboot,
            "hotplug": setting.survives.hotplug,
            "suspend": setting.survives.suspend,
        },
        "notes": step.change.notes,
        "activate": step.change.activate,
    })
}

pub(crate) fn write(write: &Write) -> Value {
    json!({
        "target": write.target.to_string(),
        "from": write.from,
        "to": write.to,
        "aim": match write.aim {
            Aim::Sticks => "sticks",
            Aim::IfTaken => "if-taken",
            Aim::Forgotten => "forgotten",
        },
    })
}

fn refused((request, refusal): &(Request, Refusal)) -> Value {
    json!({
        "setting": request.setting.id,
        "value": request.value_text(),
        "kind": match refusal {
            Refusal::Value(_) => "value",
            Refusal::Host(_) => "host",
            Refusal::Unknown(_) => "unknown",
            Refusal::NeedsConsent(_) => "needs-consent",
        },
        "why": refusal.to_string(),
    })
}

fn taken_back(undone: &Undone) -> Value {
    let (fate, found, why) = match &undone.fate {
        RevertOutcome::WrittenBack => ("written-back", None, None),
        RevertOutcome::AlreadyThere => ("already-there", None, None),
        RevertOutcome::LeftAlone { found } => ("left-alone", found.as_ref(), None),
        RevertOutcome::WouldBringFaultBack => ("would-bring-fault-back", None, None),
        RevertOutcome::Void { why } => ("void", None, Some(why)),
        RevertOutcome::Failed { why } => ("failed", None, Some(why)),
    };
    json!({
        "change": undone.change,
        "setting": undone.setting,
        "target": undone.target.to_string(),
        "recorded": undone.recorded,
        "fate": fate,
        "found": found,
        "why": why,
    })
}

/// The word for what became of a change.
pub(crate) fn state(state: &ChangeState) -> &'static str {
    match state {
        ChangeState::Open => "open",
        ChangeState::Kept => "kept",
        ChangeState::Awaiting { .. } => "awaiting",
        ChangeState::Reverted => "reverted",
        ChangeState::PartlyReverted { .. } => "partly-reverted",
    }
}

/// How a change stands that awaits confirmation.
fn guard(guard: &Guarding) -> Value {
    let (is_overdue, is_running, is_undone) = match guard {
        Guarding::InTime { is_running } => (false, *is_running, false),
        Guarding::Overdue(overdue) => {
            (true, *overdue == Overdue::Guarded, *overdue == Overdue::Undone)
        }
    };
    json!({ "is_running": is_running, "is_overdue": is_overdue, "is_undone": is_undone })
}

fn place(place: &WrittenPlace) -> Value {
    let (standing, found, why) = match &place.standing {
        Standing::InForce => ("in-force", None, None),
        Standing::Changed { found } => ("changed", found.as_ref(), None),
        Standing::Unknown(why) => ("unknown", None, Some(why)),
        Standing::Gone => ("gone", None, None),
    };
    json!({
        "setting": place.setting,
        "target": place.write.target.to_string(),
        "given": place.write.to,
        "standing": standing,
        "found": found,
        "why": why,
    })
}
