//! Files that make a change last: what the kernel's own tools read at boot, and a unit of systemd for the rest.
//!
//! Each change has files of its own, named by its id, so that any one of them can be reverted without the others.
//! Sources: sysctl.d(5), modprobe.d(5), systemd.unit(5), systemd.exec(5), systemd-suspend.service(8).

use crate::plan::{Plan, Step};
use crate::profile::{Line, Profile};
use crate::setting::{Effect, Scope};
use facts::change::{Aim, Target, Write};

/// The beginning of the profiles that units apply.
const PERSISTED: &str = "/etc/fullclock/persisted";

/// How this program is called at boot.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// Its absolute path.
    pub program: &'a str,
    /// The folder of the journal.
    pub state: &'a str,
    /// Whether it is told `--i-know`.
    pub i_know: bool,
    /// Earlier changes that last: each is applied behind those before it, as they were made.
    pub behind: &'a [String],
}

impl Caller<'_> {
    /// Refuses a path that means something else in a unit: it has blanks, quotes, `%`, `$` or `\`.
    pub fn fits_a_unit(&self) -> Result<(), String> {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+".contains(it);
        match [self.program, self.state].into_iter().find(|it| !it.chars().all(is_plain)) {
            None => Ok(()),
            Some(path) => Err(format!(
                "{path:?} cannot stand in a unit: use a path of letters, digits and /._-+"
            )),
        }
    }
}

/// The files that make the plan last; `id` is that of the change.
///
/// What edits the boot line lasts by itself. A setting that is as wanted already is made to last, too.
pub fn files(id: &str, caller: Caller<'_>, plan: &Plan) -> Vec<Write> {
    let (mut sysctls, mut options, mut lines) = (String::new(), String::new(), Vec::new());
    for step in plan.steps.iter().filter(|it| it.request.setting.effect == Effect::AtOnce) {
        match (own_tool(step, sysctl), own_tool(step, module_option)) {
            (Some(text), _) => sysctls.push_str(&text),
            (_, Some(text)) => options.push_str(&text),
            (None, None) => lines.push(line(step)),
        }
    }
    let mut files = Vec::new();
    let mut add = |path: String, text: String| {
        let target = Target::file(path);
        files.push(Write { target, from: None, to: Some(text), aim: Aim::Sticks });
    };
    if !sysctls.is_empty() {
        // Behind 99-sysctl.conf, which is /etc/sysctl.conf: of two files the last one decides (sysctl.d(5)).
        add(format!("/etc/sysctl.d/99-zz-fullclock-{id}.conf"), format!("{WRITTEN}{sysctls}"));
    }
    if !options.is_empty() {
        add(format!("/etc/modprobe.d/fullclock-{id}.conf"), format!("{WRITTEN}{options}"));
    }
    let is_register = |it: &Write| matches!(it.target, Target::Register { .. });
    if plan.steps.iter().any(|step| step.change.writes.iter().any(is_register)) {
        add(format!("/etc/modules-load.d/fullclock-{id}.conf"), format!("{WRITTEN}msr\n"));
    }
    if !lines.is_empty() {
        let profile = profile_path(id);
        add(profile.clone(), format!("{WRITTEN}{}", toml_of(id, lines)));
        let is_of_tasks = plan.steps.iter().any(|it| it.request.setting.scope == Scope::Task);
        for (name, text) in units(id, caller, &profile, is_of_tasks) {
            add(format!("/etc/systemd/system/{name}"), text);
        }
    }
    files
}

/// The profile of a change that lasts.
pub fn profile_path(id: &str) -> String {
    format!("{PERSISTED}-{id}.toml")
}

const WRITTEN: &str =
    "# Written by `fullclock apply --persist`, taken away by `fullclock revert`.\n";

/// What a tool of the system's own does at boot, where it can do the whole step.
fn own_tool(step: &Step, text_of: fn(&str, &str) -> Option<String>) -> Option<String> {
    let writes = &step.change.writes;
    // Of two writes of one place the second counts.
    let is_last = |at: usize| writes[at + 1..].iter().all(|it| it.target != writes[at].target);
    let last = (0..writes.len()).filter(|at| is_last(*at)).map(|at| &writes[at]);
    let texts = last.map(|write| match (&write.target, &write.to) {
        (Target::Control { path }, Some(to)) => text_of(path, to),
        _ => None,
    });
    texts.collect::<Option<String>>().filter(|it| !it.is_empty())
}

fn sysctl(path: &str, value: &str) -> Option<String> {
    let key = path.strip_prefix("/proc/sys/")?.replace('/', ".");
    Some(format!("{key} = {value}\n"))
}

fn module_option(path: &str, value: &str) -> Option<String> {
    let (module, option) = path.strip_prefix("/sys/module/")?.split_once("/parameters/")?;
    Some(format!("options {module} {option}={value}\n"))
}

fn line(step: &Step) -> Line {
    let request = &step.request;
    // What was there to be changed is missed if it is not there at boot.
    let required = !step.change.writes.is_empty();
    Line { set: request.text(), because: request.because.clone(), required }
}

#[expect(clippy::expect_used, reason = "a profile has nothing that TOML cannot hold")]
fn toml_of(id: &str, lines: Vec<Line>) -> String {
    let profile = Profile { title: format!("What change {id} made"), lines };
    toml::to_string(&profile).expect("strings and a list of tables are TOML")
}

/// A unit for the boot, one for the time after sleep, and what asks for them.
///
/// They are asked for by drop-ins of their targets, which are files like any other: enabling would make links.
fn units(id: &str, caller: Caller<'_>, profile: &str, is_of_tasks: bool) -> [(String, String); 4] {
    let Caller { program, state, i_know, behind } = caller;
    let i_know = if i_know { " --i-know" } else { "" };
    let earlier = |end: &str| -> String {
        behind.iter().map(|it| format!(" fullclock-{it}{end}.service")).collect()
    };
    // A process that is not there yet can be given nothing, and all of the change would be refused.
    let started = if is_of_tasks { " multi-user.target" } else { "" };
    let at_boot = BOOT.to_owned() + started + &earlier("");
    let awake = SLEEP.to_owned() + &earlier("-wake");
    let unit = |description: &str, after: &str, remains: &str| {
        format!(
            "{WRITTEN}[Unit]\nDescription={description}\nAfter={after}\n\n[Service]\nType=oneshot\n{remains}\
             ExecStart={program} apply --quiet{i_know} --persisted {id} --state-dir {state}\n\
             ReadWritePaths={state}\n{HARDENING}"
        )
    };
    let wanted_by = |unit: &str| format!("{WRITTEN}[Unit]\nWants={unit}\n");
    let boot = format!("fullclock-{id}.service");
    let wake = format!("fullclock-{id}-wake.service");
    // What holds /dev/cpu_dma_latency open is a process of the unit, and would be ended with it.
    let stays = "RemainAfterExit=yes\n";
    [
        (boot.clone(), unit(&format!("Settings of {profile}"), &at_boot, stays)),
        (wake.clone(), unit(&format!("Settings of {profile}, after sleep"), &awake, "")),
        (format!("multi-user.target.d/fullclock-{id}.conf"), wanted_by(&boot)),
        (format!("sleep.target.d/fullclock-{id}.conf"), wanted_by(&wake)),
    ]
}

/// What has to be there first, and the tuners that may set something else or are to be stopped.
const BOOT: &str = "systemd-modules-load.service systemd-sysctl.service tuned.service \
                    power-profiles-daemon.service tlp.service auto-cpufreq.service cpupower.service \
                    cpufrequtils.service ondemand.service cpuspeed.service thermald.service intel_lpmd.service";

/// Every way to sleep; each of these units ends when the machine is awake again.
const SLEEP: &str = "systemd-suspend.service systemd-hibernate.service systemd-hybrid-sleep.service \
                     systemd-suspend-then-hibernate.service";

/// All that changing settings does not need. ProtectClock= is left out: before version 253 it takes /dev/cpu/*/msr away, too. The
/// folders in /etc are those in which an interrupted change may have to be undone. /sys and /proc/sys stay writable, registers need CAP_SYS_RAWIO, the affinity of
/// tasks CAP_SYS_NICE, services the socket of systemd.
const HARDENING: &str = "\
CapabilityBoundingSet=CAP_SYS_RAWIO CAP_SYS_NICE
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateNetwork=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
ReadWritePaths=-/etc/sysctl.d -/etc/modprobe.d -/etc/modules-load.d -/etc/systemd/system
ReadWritePaths=-/etc/default -/etc/kernel -/etc/fullclock
UMask=0077
IPAddressDeny=any
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::host_of;
    use crate::fixture::planned::files as excerpt_of;
    use crate::plan::{Request, plan, reads};
    use host::Captured;

    const CALLER: Caller<'_> = Caller {
        program: "/usr/local/bin/fullclock",
        state: "/var/lib/fullclock",
        i_know: false,
        behind: &[],
    };

    /// The files that make `requests` last, by name.
    fn lasting(requests: &[&str], excerpt: &str) -> Vec<(String, String)> {
        let requests: Vec<Request> =
            requests.iter().map(|it| Request::parse(it).unwrap()).collect();
        let captured = Captured::excerpt(excerpt).unwrap();
        let controls = host::controls(&captured, &reads(&requests));
        let plan = plan(&host_of(excerpt), controls, &requests, false);
        assert!(plan.refused.is_empty());
        let file = |it: Write| (it.target.to_string(), it.to.unwrap());
        files("0007", CALLER, &plan).into_iter().map(file).collect()
    }

    #[test]
    fn what_sysctl_can_do_at_boot_is_left_to_it() {
        let host = excerpt_of("/proc/sys/vm/stat_interval 1\n/proc/sys/kernel/timer_migration 1\n");
        assert_eq!(
            lasting(&["stat-interval=10", "timer-migration=off"], &host),
            [(
                "/etc/sysctl.d/99-zz-fullclock-0007.conf".to_owned(),
                format!("{WRITTEN}vm.stat_interval = 10\nkernel.timer_migration = 0\n")
            )]
        );
    }

    #[test]
    fn the_rest_is_a_profile_that_a_unit_applies_at_boot_and_after_sleep() {
        let host = excerpt_of(
            "cpuidle/available_governors ladder menu\ncpuidle/current_governor ladder\n\
             cpuidle/current_driver acpi_idle\n",
        );
        let files = lasting(&["idle-governor=menu"], &host);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "/etc/fullclock/persisted-0007.toml",
                "/etc/systemd/system/fullclock-0007.service",
                "/etc/systemd/system/fullclock-0007-wake.service",
                "/etc/systemd/system/multi-user.target.d/fullclock-0007.conf",
                "/etc/systemd/system/sleep.target.d/fullclock-0007.conf",
            ]
        );
        let profile = Profile::parse("persisted", &files[0].1).unwrap();
        assert_eq!(profile.requests("persisted").unwrap()[0].value, "menu");
        let start = "\nExecStart=/usr/local/bin/fullclock apply --quiet --persisted 0007 \
                     --state-dir /var/lib/fullclock\nReadWritePaths=/var/lib/fullclock\n";
        assert!(files[1].1.contains(start), "{}", files[1].1);
        assert!(files[3].1.ends_with("[Unit]\nWants=fullclock-0007.service\n"));
    }

    #[test]
    fn what_is_done_to_processes_waits_until_services_are_started() {
        let waits = |requests: &[&str], host: &str| {
            let files = lasting(requests, host);
            let unit = files.iter().find(|(name, _)| name.ends_with("fullclock-0007.service"));
            let after = unit.unwrap().1.lines().find(|it| it.starts_with("After=")).unwrap();
            after.contains(" multi-user.target")
        };
        let governor = excerpt_of(
            "cpuidle/available_governors ladder menu\ncpuidle/current_governor ladder\n\
             cpuidle/current_driver acpi_idle\n",
        );
        let tuned =
            excerpt_of("/proc/1/stat 1 (tuned) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5\n");
        assert!(!waits(&["idle-governor=menu"], &governor));
        assert!(waits(&["tuner=stopped"], &tuned));
    }

    #[test]
    fn a_path_that_a_unit_would_read_otherwise_is_refused() {
        assert_eq!(CALLER.fits_a_unit(), Ok(()));
        for program in ["/opt/full clock", "/opt/%h/fullclock", "/opt/a\nExecStart=/x"] {
            assert!(Caller { program, ..CALLER }.fits_a_unit().is_err(), "{program}");
        }
    }

    #[test]
    fn what_is_so_already_is_made_to_last_too() {
        let host = excerpt_of("/proc/sys/vm/stat_interval 10\n");
        let files = lasting(&["stat-interval=10"], &host);
        assert!(files[0].1.contains("stat-interval=10"), "{files:?}");
    }

    #[test]
    fn edits_of_the_boot_line_need_no_other_file() {
        use crate::fixture::boot_loaders::DEBIAN;
        assert!(lasting(&["nohz-full=2-3"], DEBIAN).is_empty());
    }
}
