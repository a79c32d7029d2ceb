//! Tests of the wire by message size: one side sends and the other counts what arrives, or both play ping-pong.
//!
//! ```text
//!   client                                    server
//!   control connection: protocol              one client at a time
//!   streams: connections of their own         each is bound to the session by its id
//!         |                                         |
//!   Streams: a thread for each stream         Streams
//!         |   flow: sends, receives; asks, answers
//!         v
//!   Throughput, or latencies, and Work of both ends: time on the CPU, and its clock right after the work
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

mod channel;
mod figures;
mod flow;
mod guard;
mod ledger;
pub mod perftest;
mod placement;
pub mod protocol;
mod run;
mod streams;

pub use figures::{Latencies, Throughput, Work};
pub use guard::{BUSY, FULL, Guard, LARGE, guards, own_share};
pub use ledger::{Accounts, Cause, Entry, Ledger};
pub use placement::{MANY_A_SECOND, Nearness, NicLocality, Placement, Taken};
pub use run::{Ends, Figure, Point, Run, busiest, slowest_hz};
pub use streams::{Found, Outcome, Side, Streams};

use facts::Bytes;
use std::io;
use std::time::Duration;

/// How long either side waits for a byte of the other before it gives up.
pub const SILENCE: Duration = Duration::from_secs(10);

/// How long one message size may take at most.
pub const LONGEST: Duration = Duration::from_secs(600);

/// How many connections data may take at once.
pub const MOST_STREAMS: u32 = 64;

/// How many messages of a size each stream carries at most where they are counted: as many round trips are remembered.
pub const MOST_ITERATIONS: u64 = 1 << 24;

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The other side is gone.
    #[error("the other side closed the connection; what it said itself tells why")]
    Closed,
    /// The connection failed.
    #[error("the connection is lost: {0}")]
    Lost(#[from] io::Error),
    /// Nothing moved for [`SILENCE`].
    #[error(
        "nothing came through for {} s: the other side stands still, or something between both drops packets",
        SILENCE.as_secs()
    )]
    Silent,
    /// What came is not what is sent here.
    #[error("data on a stream are not of this test: something between both changes it")]
    Strange,
    /// It would go on.
    #[error("one message size took longer than {} s: ask for fewer messages, or for a time", LONGEST.as_secs())]
    TooLong,
    /// The user wants to stop.
    #[error("interrupted")]
    Stopped,
    /// A program of perftest failed.
    #[error("{0}")]
    Perftest(#[from] crate::failure::Failure),
    /// No thread could be had, or none on that CPU.
    #[error("{0}")]
    Unready(String),
}

/// The smallest and the largest, as exponents of two: 2 to 8,388,608 bytes, as `-a` of perftest has them.
pub const ALL: std::ops::RangeInclusive<u32> = 1..=23;

/// The sizes that `text` names, ascending: `all`, or a list of them.
///
/// Errors, in words for the user: it is no list of powers of two from 2 to 8,388,608.
pub fn sizes(text: &str) -> Result<Vec<Bytes>, String> {
    let all = || ALL.map(|it| Bytes(1 << it));
    if text == "all" {
        return Ok(all().collect());
    }
    let size = |word: &str| {
        let bytes = word.trim().parse().ok().map(Bytes);
        let known = bytes.filter(|it| all().any(|size| size == *it));
        known.ok_or_else(|| {
            format!(
                "{word:?} is not a message size: expected `all`, or powers of two from 2 to 8388608 with commas between"
            )
        })
    };
    let mut sizes = text.split(',').map(size).collect::<Result<Vec<Bytes>, String>>()?;
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sizes_are_those_of_perftest() {
        let all = sizes("all").unwrap();
        assert_eq!((all.len(), all[0], all[22]), (23, Bytes(2), Bytes(8_388_608)));
    }

    #[test]
    fn a_list_is_put_in_order_and_each_size_is_there_once() {
        assert_eq!(sizes("65536, 2,64,2"), Ok(vec![Bytes(2), Bytes(64), Bytes(65536)]));
    }

    #[test]
    fn what_is_no_size_is_refused_by_name() {
        for text in ["", "1", "3", "16777216", "-2", "64k", "2,,4", "2 4"] {
            let refused = sizes(text).unwrap_err();
            assert!(refused.contains("powers of two from 2 to 8388608"), "{text}: {refused}");
        }
    }
}
