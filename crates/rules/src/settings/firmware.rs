//! What the firmware's setup decides about clocks, requested of the management controller over Redfish.
//!
//! A request names settings as this maker's controllers do (`makers`), and is planned only from what the controller itself says: what they
//! hold, what they take, and that nothing else waits for the next restart.
//!
//! Sources: DMTF DSP0266 1.20, "Settings resource"; schemas Bios 1.2, Settings 1.3, AttributeRegistry 1.3; Dell, "iDRAC9 Redfish API Guide",
//! "BIOS configuration" (`SettingsApplyTime`); HPE, "iLO 5 and 6 Redfish API", "BIOS data model" (`WorkloadProfile` Custom).

use crate::check::Reference;
use crate::makers::{self, Attribute, Menu, Request};
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use facts::change::{FirmwarePlace, Target, Write, request_body};
use facts::redfish::{Bios, ON_RESET, Redfish};
use facts::{Missing, Subject, Subjects, Why, redfish};

const REFERENCES: &[Reference] = &[Reference {
    title: "DMTF: Redfish specification (DSP0266)",
    url: "https://www.dmtf.org/dsp/DSP0266",
}];

const LOOKS_AT: Subjects = Subjects::of(&[Subject::Dmi, Subject::Cpuinfo, Subject::Redfish]);

/// Whether the firmware allows clocks above the nominal one.
pub(super) const FIRMWARE_TURBO: Setting = Setting {
    id: "firmware-turbo",
    title: "turbo in the firmware's setup, over Redfish, from the next boot on",
    doc: "\
## What it changes
The firmware's setting for turbo, as this maker's management controller calls it (`ProcTurboMode` of Dell, `ProcTurbo` of HPE, `TurboMode`
and a number of Supermicro, such as `TurboMode_3D06`), and the profile that keeps it from being changed (`SysProfile`, `WorkloadProfile`:
Custom). The controller is asked over Redfish what they hold and take; `plan --redfish URL` prints the request, and only
`apply --redfish URL` sends it. The next restart of the machine brings it, and `status --redfish URL` says whether it was taken.

## What it costs
The power of turbo. A custom profile no longer follows what the maker's profile sets: see `fullclock bmc --bios` before and after.

## When to leave it alone
Where the machine is in a group whose profile is managed elsewhere (OneView, OpenManage, XClarity, Intersight): that writes its own settings
again. Where another change waits for the restart, which would bring both.
",
    references: REFERENCES,
    takes: "on",
    scope: Scope::Host,
    effect: Effect::AtBoot,
    survives: Survives { reboot: true, hotplug: true, suspend: true },
    risk: Risk::Medium,
    power: "busy cores draw up to the processor's limit",
    after: &[],
    fixes: &[],
    reads: &[],
    looks_at: LOOKS_AT,
    plan: |scene, wanted| plan(scene, wanted, &FIRMWARE_TURBO, Menu::Turbo),
};

/// Whether the firmware lets the operating system drive the clock.
pub(super) const FIRMWARE_OS_CONTROL: Setting = Setting {
    id: "firmware-os-control",
    title: "the clock driven by Linux, in the firmware's setup, over Redfish, from the next boot on",
    doc: "\
## What it changes
The firmware's setting for who drives the clock, as this maker's management controller calls it (`ProcPwrPerf` of Dell: OsDbpm,
`PowerRegulator` of HPE: OsControl), and the profile that keeps it from being changed. It is requested like `firmware-turbo`: `plan --redfish
URL` prints the request, only `apply --redfish URL` sends it, and the next restart brings it.

## What it costs
Linux's governor decides from then on: see `fullclock audit` after the restart. A custom profile no longer follows the maker's.

## When to leave it alone
Where the firmware is meant to hold the power of a rack, and where the profile is managed elsewhere.
",
    references: REFERENCES,
    takes: "on",
    scope: Scope::Host,
    effect: Effect::AtBoot,
    survives: Survives { reboot: true, hotplug: true, suspend: true },
    risk: Risk::Medium,
    power: "as the governor decides",
    after: &[],
    fixes: &[],
    reads: &[],
    looks_at: LOOKS_AT,
    plan: |scene, wanted| plan(scene, wanted, &FIRMWARE_OS_CONTROL, Menu::Clock),
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>, setting: &Setting, menu: Menu) -> Planned {
    wanted.for_the_host(setting.id)?;
    if wanted.value != "on" {
        return Err(wanted.not_taken(setting));
    }
    let host = scene.host;
    let refused = |text: String| Err(Refusal::Host(text));
    let request = makers::request(host, menu);
    let redfish = match &host.redfish {
        Ok(redfish) => redfish,
        Err(missing) if missing.is_absence() => {
            let words = request.as_ref().map(|it| it.words(makers::told(host)));
            let words = words.map_or_else(String::new, |it| format!("; the request is {it}"));
            return refused(format!(
                "it is requested of the management controller, which has to be named with --redfish URL (or --redfish config, where redfish.url of the configuration does){words}"
            ));
        }
        Err(missing) if *missing == Missing::left_alone(redfish::NAME) => {
            let id = setting.id;
            return refused(format!(
                "it is requested of the management controller, which the configuration names (redfish.url): `fullclock plan {id}=on --redfish config` asks it and prints the request, and `apply` with the same option sends it"
            ));
        }
        Err(missing) => return Err(missing.into()),
    };
    let Some(request) = request else {
        let setup = makers::setup(host, menu);
        return refused(format!(
            "what this maker's controllers call it is unknown: {setup}; `fullclock bmc --bios` shows their names"
        ));
    };
    let bios = bios(redfish)?;
    let left = left(bios, &request)?;
    if left.is_empty() {
        return Ok(Change::default());
    }
    of_this_machine(redfish, wanted)?;
    nothing_waits(bios)?;
    let pair = |it: &Left<'_>| Ok((it.name.to_owned(), takes(redfish, bios, it, &left)?));
    let pairs = left.iter().map(pair).collect::<Result<Pairs, Refusal>>()?;
    requested(redfish, bios, &pairs)
}

/// Names and values.
type Pairs = Vec<(String, &'static str)>;

/// A setting that is left to request.
struct Left<'a> {
    /// Its name, as this firmware has it.
    name: &'a str,
    values: &'static [&'static str],
    is_meant: bool,
}

/// The settings of the firmware as the controller shows them, with the place where others are requested.
fn bios(redfish: &Redfish) -> Result<&Bios, Refusal> {
    let why = || {
        let unknown = redfish.unknown.iter().find(|it| it.what.starts_with("settings of the"));
        unknown.map_or_else(String::new, |it| format!(": {}", it.why))
    };
    let none =
        || Refusal::Host(format!("the controller shows no settings of the firmware{}", why()));
    let bios = redfish.bios.as_ref().ok_or_else(none)?;
    // Without it nobody knows what waits, nor for when a change is.
    if redfish.unknown.iter().any(|it| it.what.contains("wait for a restart")) {
        let text = format!("what waits for the next restart is unknown{}", why());
        return Err(Refusal::Host(text));
    }
    if !bios.apply_times.is_empty() && !bios.on_reset() {
        let times = bios.apply_times.join(", ");
        return Err(Refusal::Host(format!(
            "the controller brings changes at {times}, and not at the next restart ({ON_RESET})"
        )));
    }
    Ok(bios)
}

/// Refuses the controller of another machine, and one of which nobody knows.
fn of_this_machine(redfish: &Redfish, wanted: &Wanted<'_>) -> Result<(), Refusal> {
    match redfish.is_own {
        Some(true) => Ok(()),
        Some(false) => Err(Refusal::Host(
            "the controller is that of another machine: the UUID of its system is not this machine's"
                .to_owned(),
        )),
        None if wanted.i_know => Ok(()),
        None => Err(Refusal::NeedsConsent(
            "whether the controller is this machine's is unknown (no UUID or serial number to compare): make sure, then add --i-know"
                .to_owned(),
        )),
    }
}

/// What is left to request, that without which it is refused first; nothing where it holds already.
fn left<'a>(bios: &'a Bios, request: &Request) -> Result<Vec<Left<'a>>, Refusal> {
    let mut left = Vec::new();
    let mut is_waiting = false;
    for Attribute { name, values, is_meant } in request.attributes {
        let told = match (request.names(bios, name).as_slice(), *is_meant) {
            ([told], _) => *told,
            // What the firmware does not have keeps nothing from being changed.
            ([], false) => continue,
            ([], true) => {
                return Err(Refusal::Host(format!(
                    "this firmware has no {name}: `fullclock bmc --bios` shows what it has"
                )));
            }
            (several, _) => {
                return Err(Refusal::Host(format!(
                    "this firmware has several settings of the name {name} ({}), and which one is meant is unknown: change it in the firmware's setup",
                    several.join(", ")
                )));
            }
        };
        is_waiting |= *is_meant && bios.pending.iter().any(|it| it.name == told);
        let held = bios.attributes.get(told).map_or("", String::as_str);
        if !values.contains(&held) {
            left.push(Left { name: told, values, is_meant: *is_meant });
        }
    }
    // A profile alone is changed for nothing.
    let is_asked = is_waiting || left.iter().any(|it| it.is_meant);
    Ok(if is_asked { left } else { Vec::new() })
}

/// Refuses to add to what the next restart brings already.
fn nothing_waits(bios: &Bios) -> Result<(), Refusal> {
    if bios.pending.is_empty() && bios.others_pending == 0 {
        return Ok(());
    }
    let names: Vec<String> =
        bios.pending.iter().map(|it| format!("{} to {}", it.name, it.then)).collect();
    let others = match bios.others_pending {
        0 => None,
        n => Some(format!("{n} more that do not concern the clock")),
    };
    let what = names.into_iter().chain(others).collect::<Vec<_>>().join(", ");
    Err(Refusal::Host(format!(
        "changes wait for the next restart already ({what}): restart the machine or take them back first"
    )))
}

/// The value that is requested. Refuses a setting that takes none of the values, and one that cannot be changed; what decides whether it can may be
/// among the others that are left.
fn takes(
    redfish: &Redfish,
    bios: &Bios,
    setting: &Left<'_>,
    left: &[Left<'_>],
) -> Result<&'static str, Refusal> {
    let Left { name, values, .. } = setting;
    let told = bios.takes.get(*name);
    let Some(told) = told.filter(|it| !it.values.is_empty()) else {
        let why = redfish.unknown.iter().find(|it| it.what.starts_with("which values"));
        let why = why.map_or("neither its registry nor the resource lists them", |it| &*it.why);
        let (what, why) = (format!("which values {name} takes"), Why::Failed(why.to_owned()));
        return Err(Refusal::Unknown(Missing { what, why }));
    };
    let decides = |it: &Left<'_>| told.depends_on.iter().any(|on| on == it.name);
    if told.read_only && !left.iter().any(decides) {
        return Err(Refusal::Host(format!("the controller says that {name} cannot be changed")));
    }
    let is_taken = |value: &&&str| told.values.iter().any(|it| it == **value);
    values.iter().find(is_taken).copied().ok_or_else(|| {
        let (takes, values) = (told.values.join(", "), values.join(" or "));
        Refusal::Host(format!("{name} takes {takes}, and not {values}"))
    })
}

/// The write of all of it in one request.
fn requested(redfish: &Redfish, bios: &Bios, pairs: &Pairs) -> Planned {
    let Some(settings) = &bios.settings else {
        return Err(Refusal::Host(
            "the controller names no place where a change is requested (@Redfish.Settings)"
                .to_owned(),
        ));
    };
    let place = FirmwarePlace {
        controller: redfish.address.clone().unwrap_or_default(),
        bios: bios.source.clone(),
        settings: settings.clone(),
        names: pairs.iter().map(|(name, _)| name.clone()).collect(),
    };
    let from: Vec<String> =
        pairs.iter().filter_map(|(name, _)| bios.attributes.get(name).cloned()).collect();
    let to: Vec<String> = pairs.iter().map(|(_, value)| (*value).to_owned()).collect();
    let (from, to) = (place.text(&from), place.text(&to));
    let body = request_body(&to, bios.on_reset());
    let request = format!("the request is PATCH {place} {body}; `apply --redfish URL` sends it");
    let write = Write::of(Target::Firmware(Box::new(place)), from, to);
    let change = Change::of([write]).note(request);
    Ok(change.note(
        "a restart of the machine brings it; after that, `fullclock status --redfish URL` says whether the firmware took it",
    ))
}

#[cfg(test)]
mod tests;
