//! Reads what the running kernel says of itself.

use crate::Source;
use facts::parse;
use facts::system::boot_line::BootLine;
use facts::system::kernel::{Kernel, uptime};
use facts::system::preemption;

pub(super) fn read(source: &dyn Source) -> Kernel {
    let release = source.parsed("/proc/sys/kernel/osrelease", parse::line);
    let boot_line = source.text("/proc/cmdline").map(|text| BootLine::new(&text));
    Kernel {
        config: super::kernel_config::read(source, &release),
        release: source.of_every_kernel(release),
        preempt_mode: source.parsed(preemption::FILE, preemption::in_force),
        boot_line: source.of_every_kernel(boot_line),
        uptime: source.of_every_kernel(source.parsed("/proc/uptime", uptime)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;
    use facts::Missing;

    #[test]
    fn a_copy_without_a_boot_line_did_not_collect_it() {
        let text = "fullclock capture 1 (imported)\n//- /proc/uptime\n5.00 1.00\n";
        let kernel = read(&Captured::parse(text).unwrap());
        assert_eq!(kernel.boot_line, Err(Missing::not_collected("/proc/cmdline")));
        assert!(kernel.uptime.is_ok());
    }
}
