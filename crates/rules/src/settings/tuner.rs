//! `tuner`: the services that change frequencies on their own.
//!
//! Sources: the programs' own unit files, by which their names go. What a tuner does when it is stopped is its own
//! affair: tuned puts back what it had changed.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use facts::change::{Target, Write};
use facts::system::process::Process;
use facts::system::tuners::Tuner;
use facts::{Subject, Subjects};

pub(super) const SETTING: Setting = Setting {
    id: "tuner",
    title: "services that change frequencies on their own",
    doc: "\
## What it changes
`stopped` stops every running service that sets governors, limits or hints by itself (tuned, power-profiles-daemon,
auto-cpufreq and the like); `stopped:tuned` stops one. It is started again when the change is undone, and at the next
boot.

## What it costs
What the tuner did beside frequencies ends, too: a tuned profile may also set disks, network and memory. tuned puts
back what it had changed when it stops.

## When to leave it alone
Where one tuner runs and does what you want: tell it by its profile, and let nothing else set the same. thermald
is not stopped: it protects the machine from heat. With `--adaptive`, as several distributions start it, it also carries out
the power policy of the firmware (DPTF) and writes power limits (PL1) while nothing is hot.
",
    references: &[Reference { title: "TuneD", url: "https://tuned-project.org/" }],
    takes: "`stopped`, or `stopped:` and the name of one",
    scope: Scope::Task,
    effect: Effect::AtOnce,
    survives: Survives { reboot: false, hotplug: true, suspend: true },
    risk: Risk::Medium,
    power: "none",
    after: &[],
    fixes: &[],
    reads: &[],
    looks_at: Subjects::of(&[Subject::Processes, Subject::Tuners]),
    plan,
};

/// The service of each tuner's process, by what people call it; TLP has no process that could be stopped.
const SERVICES: &[(&str, &str)] = &[
    ("tuned", "tuned"),
    ("power-profiles-daemon", "power-profiles-daemon"),
    ("auto-cpufreq", "auto-cpufreq"),
    ("cpuspeed", "cpuspeed"),
    ("cpufreqd", "cpufreqd"),
    ("powernowd", "powernowd"),
    ("system76-power", "com.system76.PowerDaemon"),
    ("intel-lpmd", "intel_lpmd"),
    ("tccd", "tccd"),
    ("asusd", "asusd"),
];

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let only = match wanted.value.split_once(':') {
        None if wanted.value == "stopped" => None,
        Some(("stopped", name)) => Some(name),
        _ => return Err(wanted.not_taken(&SETTING)),
    };
    let processes = scene.host.processes.as_ref()?;
    let running = scene.host.tuners.running(processes);
    let running: Vec<&Tuner> =
        running.iter().map(|it| it.tuner).filter(|it| it.is_setter).collect();
    if let Some(name) = only
        && !SERVICES.iter().any(|(tuner, _)| *tuner == name)
    {
        let names: Vec<&str> = SERVICES.iter().map(|(name, _)| *name).collect();
        return Err(Refusal::Value(format!(
            "{name:?} is no tuner that can be stopped: {}",
            names.join(", ")
        )));
    }
    let meant = running.iter().filter(|it| only.is_none_or(|name| it.name == name));
    let of_systemd = runs_systemd(processes);
    let mut change = Change::default();
    for tuner in meant {
        match SERVICES.iter().find(|(name, _)| *name == tuner.name) {
            Some((_, service)) => {
                let name = if of_systemd { format!("{service}.service") } else { (*service).to_owned() };
                change.writes.push(Write::of(Target::Service { name }, "running", "stopped"));
            }
            None => change.notes.push(format!(
                "{} acts at boot and on plugging in, and has no service to stop: disable it, if it is not wanted",
                tuner.name
            )),
        }
    }
    let stops_tuned = meant_tuned(&change);
    Ok(if stops_tuned {
        change.note("tuned puts back what it had changed when it stops, beside frequencies, too")
    } else {
        change
    })
}

fn meant_tuned(change: &Change) -> bool {
    let is_tuned =
        |it: &Write| matches!(&it.target, Target::Service { name } if name.starts_with("tuned"));
    change.writes.iter().any(is_tuned)
}

fn runs_systemd(processes: &[Process]) -> bool {
    processes.iter().any(|it| it.pid == 1 && it.name == "systemd")
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(names: &[&str]) -> String {
        let stat = |(pid, name): (usize, &&str)| {
            format!(
                "/proc/{pid}/stat {pid} ({name}) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5\n"
            )
        };
        files(&(1..).zip(names).map(stat).collect::<String>())
    }

    #[test]
    fn running_tuners_are_stopped_by_the_names_of_their_services() {
        assert_eq!(
            planned(
                &SETTING,
                "stopped",
                &host(&["systemd", "tuned", "thermald", "power-profiles-"])
            ),
            "service tuned.service: running -> stopped\n\
             service power-profiles-daemon.service: running -> stopped\n\
             note: tuned puts back what it had changed when it stops, beside frequencies, too"
        );
        assert_eq!(
            planned(&SETTING, "stopped", &host(&["init", "cpuspeed"])),
            "service cpuspeed: running -> stopped"
        );
        assert_eq!(planned(&SETTING, "stopped", &host(&["systemd", "thermald"])), "nothing");
    }

    #[test]
    fn one_of_them_can_be_stopped() {
        let both = host(&["systemd", "tuned", "auto-cpufreq"]);
        assert_eq!(
            planned(&SETTING, "stopped:auto-cpufreq", &both),
            "service auto-cpufreq.service: running -> stopped"
        );
    }

    #[test]
    fn a_tuner_without_a_service_is_told_of() {
        let host = host(&["systemd"]) + "//- /run/tlp/last_pwr\n0\n";
        assert!(planned(&SETTING, "stopped", &host).starts_with("note: TLP acts at boot"));
    }

    #[test]
    fn no_other_service_can_be_stopped() {
        let host = host(&["systemd", "sshd"]);
        assert!(
            planned(&SETTING, "stopped:sshd", &host).starts_with("value: \"sshd\" is no tuner")
        );
        assert!(planned(&SETTING, "off", &host).starts_with("value: tuner takes `stopped`"));
    }

    #[test]
    fn processes_that_may_not_be_read_are_unknown() {
        assert_eq!(
            planned(&SETTING, "stopped", &files("/proc/1/stat !denied")),
            "unknown: /proc/1/stat may not be read"
        );
    }
}
