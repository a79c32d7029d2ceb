//! Reads what the running kernel says of itself.

use crate::Source;
use facts::parse;
use facts::system::boot_line::BootLine;
use facts::system::kernel::{Kernel, uptime};
use facts::system::preemption;

pub(super) fn read(source: &dyn Source) -> Kernel {
    let release = source.parsed("/proc/sys/kernel/osrelease", parse::line);
    Kernel {
        config: super::kernel_config::read(source, &release),
        release,
        preempt_mode: source.parsed(preemption::FILE, preemption::in_force),
        boot_line: source.text("/proc/cmdline").map(|text| BootLine::new(&text)),
        uptime: source.parsed("/proc/uptime", uptime),
    }
}
