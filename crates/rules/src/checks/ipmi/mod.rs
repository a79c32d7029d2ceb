//! The BMC, and the kernel thread that waits for it.

pub(super) mod ipmi_without_interrupt;
pub(super) mod kipmid_busy;
