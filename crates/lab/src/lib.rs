//! Workloads with known answers, trials of them, and what can be said of a difference between two.
//!
//! A [`Workload`](workload::Workload) makes work and yields a figure; a [`Trial`](trial::Trial) is one run of it, kept
//! with the clock and the ledger of the CPUs it ran on; a [`Record`](record::Record) is the trials of one or several
//! arms, the machine they were taken on and what makes them doubtful. [`stats`] is pure and knows numbers only.
#![forbid(unsafe_code)]

pub mod baseline;
pub mod bench;
mod child;
pub mod client;
pub mod commit;
pub mod compare;
pub mod comparison;
mod cpu_test;
pub mod database;
pub mod doubt;
pub mod doubts;
mod durability;
pub mod experiment;
pub mod failure;
mod fingerprint;
mod groups;
pub mod held;
pub mod ipmi;
pub mod known;
pub mod lines;
pub mod net;
pub mod oracle;
mod other_load;
pub mod peers;
pub mod race;
pub mod record;
pub mod server;
pub mod server_log;
pub mod stats;
pub mod store;
pub mod summary;
pub mod throttling;
pub mod trial;
mod typical;
pub mod verdict;
pub mod why;
pub mod workload;
pub mod workloads;

mod threads;
