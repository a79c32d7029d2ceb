//! The links that data comes in over: network adapters, InfiniBand ports and PCI Express slots; and what was measured
//! over them.

pub mod capability;
pub mod ethtool;
pub mod infiniband;
pub mod lspci;
pub mod network;
pub mod pcie;
pub mod perftest;
