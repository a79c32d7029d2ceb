//! How many streams of events there may be at the same time, in all and for one address.

use super::peers::Peer;
use super::refusal::Refusal;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many of something there may be at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share {
    pub(crate) total: usize,
    pub(crate) per_peer: usize,
}

impl Share {
    /// The same, or less; never none.
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
    /// None yet. `what` names them in a refusal.
    pub(super) fn new(what: &'static str, share: Share) -> Streams {
        Streams { what, share, open: Arc::default() }
    }

    /// Counts one more, for as long as the permit is kept.
    ///
    /// Errors: there are as many as there may be, in all or for this address.
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
