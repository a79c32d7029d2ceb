//! Tests of the wire by message size: one side sends and the other counts what arrives, or both play ping-pong.
//!
//! ```text
//!   client                                    server
//!   control connection: protocol              one client at a time
//!   streams: connections of their own         each is bound to the session by its id
//!         |                                         |
//!   Crew: a thread for each stream            Crew
//!         |   flow: sends, receives; trips: asks, answers
//!         v
//!   Moved, or round trips, and Work of both ends: time on the CPU, and its clock right behind the work
//!   Accounts of both ends, over all sizes: Ledger; Placement
//! ```
//!
//! What is counted is what the receiver's program was given: throughput, where iperf3 reports its receiver. Every message is
//! one write(2), and TCP_NODELAY is set, as databases do: small messages cost a system call and mostly a packet each. Where asked,
//! it is one sendfile(2) of a file in memory, whose pages the kernel hands on as they are: MSG_ZEROCOPY has to be told when
//! each of its pages may change, and loopback and veth copy them after all (Documentation/networking/msg_zerocopy.rst). The
//! sizes of socket buffers are left to the kernel, which lets them grow (tcp_rmem, tcp_wmem: 6 and 4 MiB unless told
//! otherwise) beyond what setsockopt(2) may ask for without privilege (net.core.rmem_max: 208 KiB), and which stops doing
//! so where they are set by hand (tcp(7)).

mod accounts;
mod channel;
mod crew;
mod failure;
mod figures;
mod flow;
mod ledger;
pub mod perftest;
mod placement;
pub mod protocol;
mod sizes;
mod trips;

pub use accounts::Accounts;
pub use crew::{Crew, Found, Outcome, Side};
pub use failure::Broken;
pub use figures::{Moved, Trips, Work};
pub use ledger::{Cause, Entry, Ledger};
pub use placement::{MANY_A_SECOND, Nearness, Placement, Seat, Taken};
pub use sizes::{ALL, sizes};

use std::time::Duration;

/// How long either side waits for a byte of the other before it gives up.
pub const SILENCE: Duration = Duration::from_secs(10);

/// How long one message size may take at most.
pub const LONGEST: Duration = Duration::from_secs(600);

/// How many connections data may take at once.
pub const MOST_STREAMS: u32 = 64;

/// How many messages of a size each stream carries at most where they are counted: as many round trips are remembered.
pub const MOST_ITERATIONS: u64 = 1 << 24;
