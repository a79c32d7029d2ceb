//! Reads what this program may do on a host, and what is loaded, mounted and installed there for it.

use crate::Source;
use crate::counters::Exits;
use crate::perf::Group;
use crate::perf::counters::{context_switches, tracepoint_folder};
use facts::access::{Access, PROGRAMS, Rights};
use facts::{Fact, Missing, Origin, Why, parse};

/// Asks `source`; on the running machine also tries to open a perf event, and to hear of tasks that end.
pub fn access(source: &dyn Source) -> Access {
    let is_live = source.origin() == Origin::Live;
    let tried = |what: &str, is_open: fn() -> Fact<()>| {
        if is_live { is_open() } else { Err(Missing::not_collected(what)) }
    };
    Access {
        rights: source.parsed("/proc/self/status", Rights::parse),
        perf: tried("perf events", || Group::open(0, &[context_switches()]).map(drop)),
        tracepoints: tracepoint_folder(source).map(drop),
        exits: tried("taskstats", || Exits::listen().map(drop)),
        msr_device: holds(source, "/dev/cpu/0", |it| it == "msr", "msr"),
        debugfs: holds(source, "/sys/kernel/debug", |_| true, "sched"),
        cgroups: holds(source, "/sys/fs/cgroup", is_hierarchy, "cgroup.controllers"),
        schedstat: source.text("/proc/schedstat").map(drop),
        powercap: holds(
            source,
            "/sys/class/powercap",
            |it| it.starts_with("intel-rapl"),
            "intel-rapl",
        ),
        controller: holds(source, "/dev", |it| it == "ipmi0", "ipmi0"),
        described_controller: holds(
            source,
            "/sys/firmware/dmi/entries",
            |it| it.starts_with("38-"),
            "38-0",
        ),
        systemd: source.list("/run/systemd/system").map(drop),
        lockdown: source.parsed("/sys/kernel/security/lockdown", parse::line),
        programs: programs(source),
        terminal: Err(Missing::not_collected("terminal")),
    }
}

/// Version 2 has files of its own in its root; version 1 a folder for each controller or group of them.
fn is_hierarchy(name: &str) -> bool {
    name.starts_with("cgroup.") || name.starts_with("cpu")
}

/// Whether a folder holds a name that fits; `example` is one, for the reason where none does.
fn holds(
    source: &dyn Source,
    folder: &str,
    fits: impl Fn(&str) -> bool,
    example: &str,
) -> Fact<()> {
    let path = || format!("{folder}/{example}");
    match source.list(folder) {
        Ok(names) if names.iter().any(|it| fits(it)) => Ok(()),
        Ok(_) => Err(Missing::absent(path())),
        Err(missing) if missing.why == Why::Absent => Err(Missing::absent(path())),
        Err(missing) => Err(missing),
    }
}

/// Debian keeps the programs of PostgreSQL's server in folders by version.
fn programs(source: &dyn Source) -> Fact<Vec<&'static str>> {
    const FOLDERS: &[&str] = &["/usr/bin", "/usr/sbin", "/usr/libexec", "/usr/local/bin"];
    const BY_VERSION: &str = "/usr/lib/postgresql";
    let mut names = Vec::new();
    let mut missing = None;
    for folder in FOLDERS {
        match source.list(folder) {
            Ok(found) => names.extend(found),
            Err(why) => missing = missing.or(Some(why)),
        }
    }
    for version in source.list(BY_VERSION).unwrap_or_default() {
        names.extend(source.list(&format!("{BY_VERSION}/{version}/bin")).unwrap_or_default());
    }
    match missing {
        Some(why) if names.is_empty() && !why.is_absence() => Err(why),
        _ => {
            Ok(PROGRAMS.iter().filter(|it| names.iter().any(|name| name == *it)).copied().collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Captured, Live};

    #[test]
    fn what_is_there_what_is_not_and_what_nobody_knows_are_told_apart() {
        let host = "//- /dev/cpu/0/\nmsr\n//- /sys/fs/cgroup/cgroup.controllers\ncpu\n//- /usr/bin/\nssh\n\
                    //- /usr/lib/postgresql/15/bin/\npostgres\n//- /sys/kernel/debug/\n!denied\n";
        let access = access(&Captured::excerpt(host).unwrap());
        assert_eq!((&access.msr_device, &access.cgroups), (&Ok(()), &Ok(())));
        assert_eq!(access.programs, Ok(vec!["ssh", "postgres"]));
        assert_eq!(access.debugfs, Err(Missing::denied("/sys/kernel/debug")));
        assert_eq!(access.systemd, Err(Missing::absent("/run/systemd/system")));
        assert_eq!(access.controller, Err(Missing::absent("/dev/ipmi0")));
        assert_eq!(access.perf, Err(Missing::not_collected("perf events")));
        let copy = Captured::parse("fullclock capture 1\n").unwrap();
        assert!(super::access(&copy).msr_device.is_err_and(|it| !it.is_absence()));
    }

    #[test]
    fn on_this_machine_it_is_tried() {
        let access = access(&Live::this_machine());
        assert!(access.rights.is_ok(), "{access:?}");
        // Whether it may depends on who runs the test; that it was tried does not.
        assert_ne!(access.perf, Err(Missing::not_collected("perf events")));
        assert_ne!(access.exits, Err(Missing::not_collected("taskstats")));
    }
}
