//! Settings of the boot line.

pub(super) mod boot_clocksource;
pub(super) mod idle;
pub(super) mod intel_pstate;
pub(super) mod isolcpus;
pub(super) mod max_cstate;
pub(super) mod nohz_full;
pub(super) mod rcu_nocbs;
