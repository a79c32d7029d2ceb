//! Database servers that workloads run in: the user's own (`--dsn`), or a temporary one of the programs installed here.
//!
//! All talk goes through the database's own client program: it knows every way to reach and to authenticate at a
//! server, and nothing of it has to be linked. A temporary server listens on a Unix socket in a folder of its own
//! (`folder`) and is gone when it is dropped; whether it keeps anything safe on disk until then is the workload's choice.

mod backend;
mod cluster;
mod dsn;
mod engine;
mod folder;
mod monitor;
mod pool;
mod programs;
mod reached;
mod server;
mod session;

pub(crate) use dsn::is_dsn;
pub use dsn::without_password;
pub(crate) use engine::{Engine, Keeping};
pub use folder::sweep;
pub use monitor::Monitor;
pub(crate) use monitor::{columns, log_rows};
pub(crate) use pool::{Answer, Pool};
pub(crate) use reached::Reached;
pub(crate) use server::{Server, claim, claimed};
pub(crate) use session::Patience;
