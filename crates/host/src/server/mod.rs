//! The processes of a server, those that begin later included, and how long they ran and waited for a CPU.
//!
//! A server is more than the processes that are there when a measurement begins: each new connection of PostgreSQL is a process,
//! each of MariaDB a thread. So it is a rule, [`Extent`], by which it is looked again and again who belongs to it.

mod members;
#[cfg(test)]
mod tests;
mod times;

pub use members::{Extent, Members};
pub use times::{Reading, Spent};

use crate::Source;
use crate::descendants::times;
use facts::counters::task_stat::ProcessTimes;
use facts::system::roles::{Product, Words, product_of};

/// The servers of a product that run: of each the process that no other of the product has made, ascending.
///
/// Of a product whose processes have no common ancestor, such as Oracle, these are all of them.
pub fn main_processes(source: &dyn Source, product: &Product) -> Vec<u32> {
    let is_of = |pid: u32| product_of_process(source, pid).is_some_and(|it| it == product);
    let own: Vec<ProcessTimes> = crate::descendants::numbers(source, "/proc")
        .into_iter()
        .filter(|pid| is_of(*pid))
        .filter_map(|pid| times(source, pid))
        .filter(|it| !it.is_zombie)
        .collect();
    let is_made_by_one = |it: &ProcessTimes| own.iter().any(|other| other.pid == it.parent);
    let mut found: Vec<u32> =
        own.iter().filter(|it| !is_made_by_one(it)).map(|it| it.pid).collect();
    found.sort_unstable();
    found
}

/// The product of a process; `None` where it is of none, or has ended.
pub fn product_of_process(source: &dyn Source, pid: u32) -> Option<&'static Product> {
    let comm = comm(source, pid)?;
    let cmdline = source.read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
    product_of(&Words { comm: &comm, cmdline: &cmdline })
}

/// The name of a process's first thread.
fn comm(source: &dyn Source, pid: u32) -> Option<String> {
    let text = source.text(&format!("/proc/{pid}/comm")).ok()?;
    Some(text.trim_end_matches('\n').to_owned())
}
