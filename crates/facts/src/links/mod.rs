//! The links that data comes in over: InfiniBand ports and PCI Express slots.

pub mod infiniband;
pub mod pcie;
