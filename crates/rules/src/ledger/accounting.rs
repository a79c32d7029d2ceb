//! What the kernel leaves out of the time that it says a task has run.
//!
//! Source: update_rq_clock_task in kernel/sched/core.c. The task clock stands still in interrupts with
//! CONFIG_IRQ_TIME_ACCOUNTING, unless `tsc=noirqtime` is on the boot line or the TSC is unstable, and while the
//! hypervisor runs somebody else with CONFIG_PARAVIRT_TIME_ACCOUNTING, unless `no-steal-acc` is. Traced time is wall
//! time and leaves out neither.

use facts::{Fact, HostView, Missing};

/// What is not in a task's run time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Accounting {
    /// Whether interrupts and softirqs are left out.
    pub(crate) leaves_out_interrupts: Fact<bool>,
    /// Whether stolen time is left out.
    pub(crate) leaves_out_steal: Fact<bool>,
}

impl Accounting {
    /// By the configuration of the host's kernel and its boot line.
    pub(crate) fn of(host: &HostView) -> Accounting {
        let says = |option, off: fn(&HostView) -> bool| -> Fact<bool> {
            let config = host.kernel.config.as_ref().map_err(Missing::clone)?;
            Ok(config.has(option) && !off(host))
        };
        Accounting {
            leaves_out_interrupts: says("IRQ_TIME_ACCOUNTING", |it| {
                boots_with(it, |line| line.value("tsc") == Some("noirqtime"))
            }),
            leaves_out_steal: says("PARAVIRT_TIME_ACCOUNTING", |it| {
                boots_with(it, |line| line.has("no-steal-acc"))
            }),
        }
    }
}

fn boots_with(
    host: &HostView,
    wanted: impl Fn(&facts::system::boot_line::BootLine) -> bool,
) -> bool {
    host.kernel.boot_line.as_ref().is_ok_and(wanted)
}
