//! Limits of a server: connections, streams of events in total and per address, and the time to send a request.

use super::answer::Refusal;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Whom connections are counted for: an IPv4 address, or the /64 of an IPv6 address, which one host may have all of
/// (RFC 6177, 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Peer(IpAddr);

impl Peer {
    /// That of an address. One of IPv4 that comes to a socket of IPv6 is one of IPv4.
    pub(super) fn of(address: IpAddr) -> Peer {
        match address.to_canonical() {
            IpAddr::V6(it) => Peer(Ipv6Addr::from_bits(it.to_bits() & (u128::MAX << 64)).into()),
            it @ IpAddr::V4(_) => Peer(it),
        }
    }
}

/// The limits of a server.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Connections that have not shown the token; all connections if there is none.
    pub(crate) unproven: usize,
    /// Connections that have shown the token.
    pub(crate) proven: usize,
    /// Connections of one address that have not shown the token.
    pub(crate) per_peer: usize,
    /// How long a new connection may take to send the head of its first request.
    pub(crate) first_head: Duration,
    /// Streams of current readings.
    pub(crate) readings: Share,
    /// Streams of results and races, each of which has a thread.
    pub(crate) intervals: Share,
}

/// Maximum of connections if the limit of open files allows it. An answered one takes about 30 KiB (debug build, x86_64).
const MOST: usize = 1000;

/// Minimum of connections: a browser opens six to a server.
const FEWEST: usize = 16;

/// The value of `Limits::first_head`.
const FIRST_HEAD: Duration = Duration::from_secs(5);

impl Limits {
    /// Limits of this process, which may have at most `most_files` open files.
    pub(crate) fn of_process(most_files: usize, needs_token: bool) -> Limits {
        Limits::of(most_files.saturating_sub(n_open_files()), needs_token)
    }

    /// Limits of a server that may open `n_open_files` more files and uses half of them for connections.
    pub(crate) fn of(n_open_files: usize, needs_token: bool) -> Limits {
        let total = (n_open_files / 2).clamp(FEWEST, MOST);
        let unproven = if needs_token { total / 2 } else { total };
        let proven = total - unproven;
        // Streams are not closed for other connections, so there are always fewer of them than of the connections they need.
        let carrying = if needs_token { proven } else { unproven };
        let per_peer = total / 4;
        let streams_per_peer = if needs_token { carrying / 8 } else { per_peer / 4 };
        Limits {
            unproven,
            proven,
            per_peer,
            first_head: FIRST_HEAD,
            readings: Share { total: 256, per_peer: 64 }.at_most(carrying / 4, streams_per_peer),
            intervals: Share { total: 32, per_peer: 16 }.at_most(carrying / 4, streams_per_peer),
        }
    }
}

/// How many files this process has open; 0 where /proc is not mounted.
#[expect(clippy::disallowed_methods, reason = "looks at this process, not at the host")]
fn n_open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Maximum number at the same time, in total and per address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share {
    pub(crate) total: usize,
    pub(crate) per_peer: usize,
}

impl Share {
    /// The smaller of both limits, at least 1.
    pub(super) fn at_most(self, total: usize, per_peer: usize) -> Share {
        Share { total: self.total.min(total).max(1), per_peer: self.per_peer.min(per_peer).max(1) }
    }
}

/// Streams of one kind, counted by address.
pub(super) struct Streams {
    what: &'static str,
    share: Share,
    open: Arc<Mutex<HashMap<Peer, usize>>>,
}

impl Streams {
    /// No streams yet. `what` names them in a refusal.
    pub(super) fn new(what: &'static str, share: Share) -> Streams {
        Streams { what, share, open: Arc::default() }
    }

    /// Counts one more stream until the permit is dropped.
    ///
    /// Errors: the maximum in total or for this address is reached.
    pub(super) fn open(&self, peer: Peer) -> Result<StreamPermit, Refusal> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (n_all, n_own) = (open.values().sum::<usize>(), open.get(&peer).copied().unwrap_or(0));
        let Share { total, per_peer } = self.share;
        if n_own >= per_peer {
            let why = format!("{n_own} streams of {} to this address, the most", self.what);
            return Err(Refusal::busy(why));
        }
        if n_all >= total {
            return Err(Refusal::busy(format!("{n_all} streams of {}, the most", self.what)));
        }
        open.insert(peer, n_own + 1);
        Ok(StreamPermit { open: Arc::clone(&self.open), peer })
    }
}

/// The right to one stream.
pub(super) struct StreamPermit {
    open: Arc<Mutex<HashMap<Peer, usize>>>,
    peer: Peer,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let left = open.get(&self.peer).map_or(0, |it| it - 1);
        if left == 0 {
            open.remove(&self.peer);
        } else {
            open.insert(self.peer, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::RETRY_AFTER;
    use axum::response::IntoResponse;

    #[test]
    fn slots_are_kept_for_the_token_and_streams_leave_some_to_other_requests() {
        for (n_files, needs_token) in
            [(0, true), (0, false), (200, true), (1000, false), (1 << 18, true), (1 << 18, false)]
        {
            let limits = Limits::of(n_files, needs_token);
            let Limits { unproven, proven, per_peer, readings, intervals, .. } = &limits;
            assert_eq!(*proven > 0, needs_token);
            assert!(per_peer * 2 <= *unproven, "{limits:?}");
            assert!(unproven + proven <= (n_files / 2).max(FEWEST), "{limits:?}");
            let carrying = if needs_token { proven } else { per_peer };
            assert!(readings.per_peer + intervals.per_peer < *carrying, "{limits:?}");
            let carrying = if needs_token { proven } else { unproven };
            assert!(readings.total + intervals.total < *carrying, "{limits:?}");
            assert!(readings.per_peer > 0 && intervals.per_peer > 0, "{limits:?}");
        }
        let limits = Limits::of(1 << 18, true);
        assert_eq!((limits.unproven, limits.proven, limits.per_peer), (500, 500, 250));
        let limits = Limits::of(1 << 18, false);
        assert_eq!((limits.unproven, limits.proven, limits.per_peer), (1000, 0, 250));
    }

    fn peer(address: &str) -> Peer {
        Peer::of(address.parse().unwrap())
    }

    #[test]
    fn streams_are_limited_in_all_and_for_each_address_and_a_closed_one_makes_room() {
        let streams = Streams::new("intervals", Share { total: 3, per_peer: 2 });
        let (one, other) = (peer("10.0.0.1"), peer("10.0.0.2"));
        let first = streams.open(one).ok().unwrap();
        let _second = streams.open(one).ok().unwrap();
        let refused = streams.open(one).err().unwrap().into_response();
        assert_eq!(refused.status(), 503);
        assert!(refused.headers().contains_key(RETRY_AFTER));
        let third = streams.open(other).ok().unwrap();
        assert!(streams.open(other).is_err(), "a fourth of three");
        drop(first);
        let _fourth = streams.open(one).ok().unwrap();
        assert!(streams.open(other).is_err());
        drop(third);
        assert!(streams.open(other).is_ok());
    }
}
