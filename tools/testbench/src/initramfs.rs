//! The guest's file system: busybox, the programs under test, the modules and the steps.
//!
//! Debian's systemd is in it where a guest asks for that: its own programs and units, as many as it takes to boot, apply sysctls,
//! sleep and end. There is no udev, no journal, no D-Bus and no login: root reaches the manager by its private socket, as
//! systemctl(1) does on a server.
#![expect(clippy::disallowed_methods, reason = "the bench copies files into its guests")]

use crate::boot::{Init, Step};
use crate::cpio::Archive;
use crate::program::Program;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;

const INIT: &[u8] = include_bytes!("../guest/init");
const RUN: &[u8] = include_bytes!("../guest/run");
const FAULTS: &[u8] = include_bytes!("../guest/faults.sh");

/// A file system in which `init` runs `steps` as soon as a kernel has unpacked it. The module files come
/// in the order they are to be inserted in; `config` is put into /boot.
pub(crate) fn build(
    programs: &[Program],
    modules: &[(String, Vec<u8>)],
    config: Option<&(String, Vec<u8>)>,
    init: Init,
    steps: &[Step],
) -> Result<Vec<u8>> {
    let mut archive = Archive::default();
    archive.executable("init", INIT);
    archive.executable("bench/run", RUN);
    archive.file("bench/faults.sh", FAULTS);
    for program in programs {
        program.add_to(&mut archive, &format!("bin/{}", program.name));
    }
    if init == Init::Systemd {
        add_to(&mut archive)?;
    }
    let mut order = String::new();
    for (name, content) in modules {
        archive.file(&format!("bench/modules/{name}"), content);
        order.push_str(name);
        order.push('\n');
    }
    archive.file("bench/modules.order", order.as_bytes());
    if let Some((name, content)) = config {
        archive.file(&format!("boot/{name}"), content);
    }
    archive.directory("bench/steps");
    for (index, step) in steps.iter().enumerate() {
        // The guest runs them in the order of their names.
        archive.file(&format!("bench/steps/{index:04}"), step.script.as_bytes());
    }
    Ok(archive.finish())
}

/// Where they are on this machine and in the guest.
const PROGRAMS: [&str; 7] = [
    "/lib/systemd/systemd",
    "/lib/systemd/systemd-modules-load",
    "/lib/systemd/systemd-shutdown",
    "/lib/systemd/systemd-sleep",
    "/lib/systemd/systemd-sysctl",
    "/usr/bin/systemctl",
    "/usr/bin/systemd-run",
];

const UNIT_FOLDER: &str = "/lib/systemd/system";

const UNITS: [&str; 13] = [
    "basic.target",
    "final.target",
    "multi-user.target",
    "reboot.target",
    "shutdown.target",
    "sleep.target",
    "suspend.target",
    "sysinit.target",
    "systemd-modules-load.service",
    "systemd-reboot.service",
    "systemd-suspend.service",
    "systemd-sysctl.service",
    "umount.target",
];

/// The steps begin behind all services but those that wait for the same. There is no journal that could keep what is printed
/// beside them.
const STEPS: &str = "\
[Unit]
After=multi-user.target
[Service]
ExecStart=/bench/run
StandardOutput=null
";

/// What asks for units at boot: on a server these are links.
const WANTS: [(&str, &str); 2] = [
    ("sysinit.target", "systemd-modules-load.service systemd-sysctl.service"),
    ("multi-user.target", "bench.service"),
];

/// Adds everything that `guest/init` starts instead of the steps, if it is there.
pub(crate) fn add_to(archive: &mut Archive) -> Result<()> {
    for path in PROGRAMS {
        Program::read(Path::new(path))?.add_to(archive, path);
    }
    for unit in UNITS {
        let path = format!("{UNIT_FOLDER}/{unit}");
        let text = fs::read(&path).with_context(|| format!("cannot read {path}"))?;
        archive.file(&path, &text);
    }
    archive.file(&format!("{UNIT_FOLDER}/bench.service"), STEPS.as_bytes());
    for (target, units) in WANTS {
        let text = format!("[Unit]\nWants={units}\n");
        archive.file(&format!("{UNIT_FOLDER}/{target}.d/bench.conf"), text.as_bytes());
    }
    Ok(())
}
