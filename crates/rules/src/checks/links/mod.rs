//! The links that data comes in over.

pub(super) mod ethernet_link_degraded;
pub(super) mod infiniband_link_degraded;
pub(super) mod nic_far_from_cpu;
pub(super) mod pcie_link_degraded;
