//! One reader per subject: asks a source and hands the text to the parsers of `facts`.

mod cgroups;
mod clocksource;
mod controls;
mod cooling;
mod cpufreq;
mod cpuidle;
mod dmi;
mod energy_bias;
mod ethtool;
mod hsmp;
mod infiniband;
mod interrupts;
mod ipmi;
mod isolation;
mod kernel;
mod kernel_config;
mod msrs;
mod network;
mod payload;
mod pcie;
mod platform;
mod power_cap;
mod power_limits;
mod processes;
mod pstate;
mod subjects;
mod sysctl;
mod throttling;
mod topology;
mod tuners;
mod uncore;
mod vulnerabilities;

pub use controls::read as controls;
pub(crate) use kernel_config::text as kernel_config_text;
pub use network::serving;
pub(crate) use processes::kernel_threads;
pub use processes::read as processes;

use crate::Source;
use facts::{HostView, Subjects};

/// Asks `source` everything that any check may want to know.
pub fn view(source: &dyn Source) -> HostView {
    view_of(source, Subjects::ALL)
}

/// Asks `source` for some subjects only, and for those that they cannot be told without.
///
/// Whatever else there is to know is missing, as something that was not asked for.
pub fn view_of(source: &dyn Source, subjects: Subjects) -> HostView {
    let asked = subjects::with_needed(subjects);
    let mut host = HostView::unasked(source.origin());
    for reader in subjects::READERS.iter().filter(|it| asked.contains(it.subject)) {
        (reader.read)(source, &mut host);
    }
    if host.platform.is_control_domain {
        platform::leave_to_xen(&mut host);
    }
    host
}
