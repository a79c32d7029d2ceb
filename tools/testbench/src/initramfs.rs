//! The guest's file system: busybox, the programs under test, the modules and the steps.

use anyhow::Result;

use crate::boot::{Init, Step};
use crate::cpio::Archive;
use crate::program::Program;
use crate::systemd;

const INIT: &[u8] = include_bytes!("../guest/init");
const RUN: &[u8] = include_bytes!("../guest/run");
const FAULTS: &[u8] = include_bytes!("../guest/faults.sh");

/// A file system in which `init` runs `steps` as soon as a kernel has unpacked it. The module files come
/// in the order they are to be inserted in.
pub(crate) fn build(
    programs: &[Program],
    modules: &[(String, Vec<u8>)],
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
        systemd::add_to(&mut archive)?;
    }
    let mut order = String::new();
    for (name, content) in modules {
        archive.file(&format!("bench/modules/{name}"), content);
        order.push_str(name);
        order.push('\n');
    }
    archive.file("bench/modules.order", order.as_bytes());
    archive.directory("bench/steps");
    for (index, step) in steps.iter().enumerate() {
        // The guest runs them in the order of their names.
        archive.file(&format!("bench/steps/{index:04}"), step.script.as_bytes());
    }
    Ok(archive.finish())
}
