//! `idle-state`: which idle states a CPU may use.
//!
//! Source: Documentation/admin-guide/pm/cpuidle.rst, "Representation of Idle States"; drivers/cpuidle/sysfs.c:
//! `disable` shows the user's bit alone, which registration sets for states that are off by default (`default_status`,
//! CPUIDLE_FLAG_OFF); a state that the driver keeps off looks like one that is on. What the hardware makes of a request
//! for a state is not written here: it may go less deep, or promote a shallow request.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::value::whole;
use facts::change::{Target, Write};
use facts::cpu::cpuidle::{IdleState, StateTable};
use facts::{Missing, Subject, Subjects};

const DISABLE: &str = "/sys/devices/system/cpu/cpu*/cpuidle/state*/disable";
const DEFAULT: &str = "/sys/devices/system/cpu/cpu*/cpuidle/state*/default_status";

pub(super) const SETTING: Setting = Setting {
    id: "idle-state",
    title: "the idle states that CPUs may use",
    doc: "\
## What it changes
`cpuidle/stateM/disable` of every CPU: `C6:off` keeps CPUs out of C6, `deeper-than-C1:off` out of every state that is
listed behind C1 (C1E among them), `slower-than-20us:off` out of those that take longer than 20 µs to leave, and
`all:on` allows every one but those that firmware or the driver has off by default (`default_status`), which only their
own names switch on, `C6:on`. The first state, in which a CPU waits at its fastest, stays.

## What it costs
Off, idle CPUs draw more, and busy ones have less turbo: sleeping cores leave it to them. On, an idle CPU takes the
state's latency longer to wake up.

## When to leave it alone
Where turbo matters more than the last microseconds of waking up. For a limit in microseconds that ends with the
program which asks, there is `cpu-dma-latency`.
",
    references: &[Reference {
        title: "Linux: CPU Idle Time Management, Representation of Idle States",
        url: "https://docs.kernel.org/admin-guide/pm/cpuidle.html#representation-of-idle-states",
    }],
    takes: "a state or `all`, `deeper-than-STATE`, `slower-than-20us`, with `:on` or `:off` behind",
    scope: Scope::Cpu,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "off, idle cores draw some watts each and take turbo from busy ones",
    after: &["tuner", "cpu-online"],
    fixes: &["turbo-headroom-lost"],
    reads: &[DISABLE, DEFAULT],
    looks_at: Subjects::of(&[Subject::IdleStates]),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let (which, switch) =
        wanted.value.rsplit_once(':').ok_or_else(|| wanted.not_taken(&SETTING))?;
    let on = match switch {
        "on" => true,
        "off" => false,
        _ => return Err(wanted.not_taken(&SETTING)),
    };
    let mut change = Change::default();
    let mut n_cpus = 0;
    for table in scene.host.cpuidle.tables.as_ref()? {
        let meant: Vec<u32> = table.cpus.iter().filter(|cpu| wanted.covers(*cpu)).collect();
        let states = states(table, which, wanted)?;
        if !on && states.first().map(|it| it.number) == table.states.first().map(|it| it.number) {
            let text = "a CPU needs one state to be idle in: the first stays on";
            return Err(Refusal::Value(text.to_owned()));
        }
        n_cpus += meant.len();
        for cpu in meant {
            for state in &states {
                if on && which != state.name && is_off_by_default(scene, cpu, state)? {
                    tell_of_default(scene, cpu, state, &mut change)?;
                } else {
                    switched(scene, cpu, state, on, &mut change)?;
                }
            }
        }
    }
    if n_cpus == 0 {
        return Err(Refusal::Host("no CPU that is meant has idle states".to_owned()));
    }
    Ok(change)
}

/// The states that are meant, in their order.
fn states<'a>(
    table: &'a StateTable,
    which: &str,
    wanted: &Wanted<'_>,
) -> Result<Vec<&'a IdleState>, Refusal> {
    let named = |name: &str| table.states.iter().position(|it| it.name == name);
    let unnamed = || {
        let names: Vec<&str> = table.states.iter().map(|it| it.name.as_str()).collect();
        Refusal::Value(format!(
            "{} {} the idle states {}, and not what {:?} names",
            table.cpus.named(),
            table.cpus.agree("has", "have"),
            names.join(", "),
            wanted.value
        ))
    };
    if which == "all" {
        return Ok(table.states.iter().collect());
    }
    if let Some(name) = which.strip_prefix("deeper-than-") {
        return Ok(table.states.iter().skip(named(name).ok_or_else(unnamed)? + 1).collect());
    }
    if let Some(latency) = which.strip_prefix("slower-than-") {
        let microseconds = latency.strip_suffix("us").and_then(whole);
        let limit = microseconds.ok_or_else(|| wanted.not_taken(&SETTING))?;
        let mut slow = Vec::new();
        for state in &table.states {
            if *state.latency.as_ref()? > limit {
                slow.push(state);
            }
        }
        return Ok(slow);
    }
    let at = named(which).ok_or_else(unnamed)?;
    Ok(table.states.iter().skip(at).take(1).collect())
}

/// Adds the write for one state of one CPU.
fn switched(
    scene: &Scene<'_>,
    cpu: u32,
    state: &IdleState,
    on: bool,
    change: &mut Change,
) -> Result<(), Refusal> {
    if is_on(scene, cpu, state)? != on {
        let path = file(DISABLE, cpu, state);
        let (from, to) = if on { ("1", "0") } else { ("0", "1") };
        change.writes.push(Write::of(Target::control(path), from, to));
    }
    Ok(())
}

fn is_on(scene: &Scene<'_>, cpu: u32, state: &IdleState) -> Result<bool, Refusal> {
    let path = file(DISABLE, cpu, state);
    match scene.controls.get(&path)? {
        "0" => Ok(true),
        "1" => Ok(false),
        text => Err(Missing::malformed(&path, text, "0 or 1").into()),
    }
}

/// Whether firmware or the driver has it off unless it is requested by name. Kernels before 5.6 do not show this.
fn is_off_by_default(scene: &Scene<'_>, cpu: u32, state: &IdleState) -> Result<bool, Refusal> {
    match scene.controls.get(&file(DEFAULT, cpu, state)) {
        Ok(status) => Ok(status == "disabled"),
        Err(missing) if missing.is_absence() => Ok(false),
        Err(missing) => Err(missing.into()),
    }
}

/// Says why a state that is off stays off.
fn tell_of_default(
    scene: &Scene<'_>,
    cpu: u32,
    state: &IdleState,
    change: &mut Change,
) -> Result<(), Refusal> {
    if !is_on(scene, cpu, state)? {
        let name = &state.name;
        let note =
            format!("{name} is off by default and stays off: idle-state={name}:on switches it on");
        if !change.notes.contains(&note) {
            change.notes.push(note);
        }
    }
    Ok(())
}

fn file(pattern: &str, cpu: u32, state: &IdleState) -> String {
    pattern.replacen('*', &cpu.to_string(), 1).replacen('*', &state.number.to_string(), 1)
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    /// Two CPUs with four states; the text of `disable` of each of the first one's.
    fn host(disable: [&str; 4]) -> String {
        let names = [("POLL", 0), ("C1", 2), ("C1E", 10), ("C6", 133)];
        let state = |(number, ((name, latency), text)): (usize, ((&str, u32), &str))| {
            format!(
                "cpu0/cpuidle/state{number}/name {name}
                 cpu0/cpuidle/state{number}/latency {latency}
                 cpu0/cpuidle/state{number}/disable {text}
                 cpu1/cpuidle/state{number}/disable 0\n"
            )
        };
        let states: String = names.into_iter().zip(disable).enumerate().map(state).collect();
        files(&format!("online 0-1\n{states}"))
    }

    fn plan(value: &str, disable: [&str; 4]) -> String {
        planned(&SETTING, value, &host(disable)).replace("cpuidle/", "").replace("/disable", "")
    }

    const ON: [&str; 4] = ["0"; 4];

    #[test]
    fn a_state_is_named_or_found_by_its_depth_and_latency() {
        assert_eq!(plan("C6:off@0", ON), "cpu0/state3: 0 -> 1");
        assert_eq!(plan("deeper-than-C1:off@0", ON), "cpu0/state2: 0 -> 1\ncpu0/state3: 0 -> 1");
        assert_eq!(plan("slower-than-20us:off", ON), "cpu0/state3: 0 -> 1\ncpu1/state3: 0 -> 1");
        assert_eq!(plan("slower-than-133us:off", ON), "nothing");
    }

    #[test]
    fn every_state_can_be_allowed_at_once() {
        assert_eq!(
            plan("all:on", ["0", "0", "1", "1"]),
            "cpu0/state2: 1 -> 0\ncpu0/state3: 1 -> 0"
        );
        assert_eq!(plan("all:on", ON), "nothing");
    }

    #[test]
    fn what_is_off_by_default_is_switched_on_only_by_its_name() {
        let host = host(["0", "0", "1", "1"])
            + &files(
                "cpu0/cpuidle/state3/default_status disabled\ncpu0/cpuidle/state2/default_status enabled",
            );
        assert_eq!(
            planned(&SETTING, "all:on", &host),
            "cpu0/cpuidle/state2/disable: 1 -> 0\n\
             note: C6 is off by default and stays off: idle-state=C6:on switches it on"
        );
        assert!(planned(&SETTING, "deeper-than-C1E:on", &host).starts_with("note: C6 is off"));
        assert_eq!(planned(&SETTING, "C6:on", &host), "cpu0/cpuidle/state3/disable: 1 -> 0");
        assert_eq!(planned(&SETTING, "C6:off@0", &host), "nothing");
    }

    #[test]
    fn a_default_that_may_not_be_read_is_unknown() {
        let host = host(ON) + &files("cpu0/cpuidle/state3/default_status !denied");
        assert_eq!(
            planned(&SETTING, "all:on", &host),
            "unknown: /sys/devices/system/cpu/cpu0/cpuidle/state3/default_status may not be read"
        );
    }

    #[test]
    fn the_first_state_and_states_that_are_not_there_are_refused() {
        let first = "value: a CPU needs one state to be idle in: the first stays on";
        assert_eq!(plan("POLL:off", ON), first);
        assert_eq!(plan("all:off", ON), first);
        assert_eq!(
            plan("C7:off", ON),
            "value: CPUs 0-1 have the idle states POLL, C1, C1E, C6, and not what \"C7:off\" names"
        );
    }
}
