//! Plans every setting on every host, with values of all kinds.

use crate::{hosts, rows, source};
use facts::HostView;
use facts::change::{Controls, REGISTERS, Target, Write, cpus_of, is_writable};
use rules::setting::{Scene, Setting, Wanted};
use rules::settings::SETTINGS;
use std::collections::BTreeMap;

/// Values that one setting or another takes; the rest refuse them in words.
const VALUES: &[&str] = &[
    "on",
    "off",
    "off@1",
    "on@1-3",
    "0",
    "1",
    "15",
    "60",
    "100",
    "128",
    "min",
    "max",
    "max@0",
    "nominal",
    "2GHz",
    "1600000",
    "performance",
    "powersave",
    "schedutil",
    "ondemand",
    "balance_power",
    "power",
    "normal",
    "active",
    "passive",
    "guided",
    "housekeeping",
    "0-1",
    "0xf",
    "all:on",
    "C6:off",
    "deeper-than-C1:off",
    "slower-than-10us:off",
    "menu",
    "teo",
    "any",
    "none",
    "50us",
    "20us",
    "best",
    "tsc",
    "hpet",
    "stopped",
    "stopped:tuned",
    "up_threshold:40",
    "rate_limit_us:0",
    "systemd:0",
    "init:0",
    "",
    "../x:1",
    "1:0",
];

/// What is wrong with one plan, for a register, a path or a value that nothing may have.
fn fault(controls: &Controls, write: &Write) -> Option<String> {
    match &write.target {
        Target::Control { path } if !is_writable(path) => Some(format!("writes {path}")),
        // The second of two writes of one file is planned from what the first leaves.
        Target::Control { path } => match (controls.get(path), &write.from) {
            (Ok(text), Some(from)) if text == from || from.chars().all(|it| "0,".contains(it)) => {
                None
            }
            (found, from) => Some(format!("{path}: {from:?} planned, {found:?} read")),
        },
        Target::Register { address, mask, .. } => {
            let register = REGISTERS.iter().find(|it| it.address == *address);
            let is_within = register.is_some_and(|it| mask & !it.mask == 0);
            (!is_within).then(|| format!("writes {address:#x}"))
        }
        Target::Firmware(place) => place.refusal().map(str::to_owned),
        Target::Affinity { .. }
        | Target::Service { .. }
        | Target::LatencyRequest
        | Target::File { .. } => None,
    }
}

/// What one value of a setting plans, how many writes it has, and every fault of them; also where it is another plan than
/// that of a host of which only what the setting declares is known.
fn planned(
    host: &HostView,
    declared: &HostView,
    controls: &Controls,
    setting: &Setting,
    text: &str,
) -> (usize, Vec<String>) {
    let (value, cpus) = cpus_of(text).expect("a value of this file");
    let wanted = Wanted { value, cpus: cpus.as_ref(), i_know: true };
    let name = format!("{}={text}", setting.id);
    let planned = (setting.plan)(&Scene { host, controls }, &wanted);
    let of_declared = (setting.plan)(&Scene { host: declared, controls }, &wanted);
    if of_declared != planned {
        return (0, vec![format!("{name}: {of_declared:?} of what is declared, not {planned:?}")]);
    }
    let Ok(change) = planned else {
        return (0, Vec::new());
    };
    let mut faults: Vec<String> = change
        .writes
        .iter()
        .filter_map(|it| fault(controls, it))
        .map(|it| format!("{name}: {it}"))
        .collect();
    let idle = change.writes.iter().filter(|it| it.is_idle());
    faults.extend(idle.map(|it| format!("{name}: changes nothing at {}", it.target)));
    let after = controls.clone().after(&change.writes);
    if let Ok(again) = (setting.plan)(&Scene { host, controls: &after }, &wanted) {
        let left = again
            .writes
            .iter()
            .filter(|it| matches!(it.target, Target::Control { .. }) && it.to.is_some());
        faults.extend(left.map(|it| format!("{name}: not done at {}", it.target)));
    }
    (change.writes.len(), faults)
}

#[test]
fn every_setting_is_planned_on_every_host_within_what_may_be_written() {
    let Some(folder) = hosts() else { return };
    let reads: Vec<&str> = SETTINGS.iter().flat_map(|it| it.reads.iter().copied()).collect();
    let mut n_hosts = 0;
    let mut n_writes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for row in rows(&folder.join("truth.tsv")) {
        let source = source::open(&folder.join(&row[1])).expect("a host that opens");
        let (host, controls) = (host::view(&*source), host::controls(&*source, &reads));
        n_hosts += 1;
        for setting in SETTINGS {
            let declared = host::view_of(&*source, setting.looks_at);
            for value in VALUES {
                let (n, wrong) = planned(&host, &declared, &controls, setting, value);
                *n_writes.entry(setting.id).or_default() += n;
                faults.extend(wrong.into_iter().map(|it| format!("{}: {it}", row[0])));
            }
        }
    }
    for (id, n) in &n_writes {
        println!("{n:>7} writes of {id}");
    }
    println!("{n_hosts} hosts, {} faults", faults.len());
    let is_planned = |id: &str| n_writes.get(id).is_some_and(|n| *n > 0);
    assert!(["governor", "scaling-max", "idle-state"].into_iter().all(is_planned));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
