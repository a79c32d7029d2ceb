//! The kernel and the machine around the processors.

pub(super) mod cgroup_quota_throttling;
pub(super) mod lazy_preemption;
pub(super) mod offline_cpus;
pub(super) mod slow_clocksource;
pub(super) mod split_lock_penalty;
pub(super) mod stolen_time;
