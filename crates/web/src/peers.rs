//! The connections there are: how many of each kind, and which one is closed for a new one.
//!
//! A connection is unproven until it has shown the token. Unproven ones have slots of their own and a limit for each address;
//! beyond either the oldest is closed in favour of the new one, so that a flood cannot keep a client out which shows the token,
//! not even one from the flood's own address: its request proves it, and its slot is then one that a flood cannot reach.

use super::limits::{Limits, Peer};
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What a connection does; in the order in which they are closed for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Activity {
    /// It has no request.
    Idle,
    /// A request is being answered.
    Answering,
    /// Events are sent. It is never closed for others: streams have limits of their own.
    Streaming,
}

/// A place in the order of closing: of equal activity the one that has had it for longest comes first.
type Rank = (Activity, u64, u64);

struct Member {
    peer: Peer,
    is_proven: bool,
    rank: Rank,
    evicted: Arc<Notify>,
}

#[derive(Default)]
struct State {
    /// The number of the next event.
    next: u64,
    members: HashMap<u64, Member>,
    unproven: BTreeSet<Rank>,
    unproven_of: HashMap<Peer, BTreeSet<Rank>>,
    proven: BTreeSet<Rank>,
    /// The most connections since memory was last given back.
    peak: usize,
}

/// All connections of a server.
pub(super) struct Peers {
    limits: Limits,
    state: Mutex<State>,
}

/// A connection's place among the others, kept as long as the connection.
pub(super) struct Place {
    peers: Arc<Peers>,
    peer: Peer,
    id: u64,
    evicted: Arc<Notify>,
}

/// Fewer connections than this leave too little memory behind to give back.
const WORTH_TRIMMING: usize = 64;

impl Peers {
    pub(super) fn new(limits: Limits) -> Arc<Peers> {
        Arc::new(Peers { limits, state: Mutex::default() })
    }

    /// A place for a new connection, for which another one may be closed. `None` where none can be closed.
    pub(super) fn enter(self: &Arc<Peers>, address: IpAddr) -> Option<Arc<Place>> {
        let peer = Peer::of(address);
        let mut state = self.state();
        let own = state.unproven_of.get(&peer);
        let own = own.filter(|it| it.len() >= self.limits.per_peer);
        let is_full = state.unproven.len() >= self.limits.unproven;
        let full = own.or_else(|| is_full.then_some(&state.unproven));
        if let Some(oldest) = full.map(|it| it.first().copied()) {
            state.evict(oldest)?;
        }
        let evicted = Arc::new(Notify::new());
        let id = state.number();
        let member = Member {
            peer,
            is_proven: false,
            rank: (Activity::Idle, id, id),
            evicted: Arc::clone(&evicted),
        };
        state.insert(id, member);
        state.peak = state.peak.max(state.members.len());
        Some(Arc::new(Place { peers: Arc::clone(self), peer, id, evicted }))
    }

    /// Closes one connection that has not shown the token, where there is one.
    pub(super) fn make_room(&self) {
        let mut state = self.state();
        let oldest = state.unproven.first().copied();
        state.evict(oldest);
    }

    /// Whether half of the connections are gone since the last time that this was so; their memory can be given back then.
    pub(super) fn have_shrunk(&self) -> bool {
        let mut state = self.state();
        let n_now = state.members.len();
        let have_shrunk = state.peak >= WORTH_TRIMMING && n_now <= state.peak / 2;
        if have_shrunk {
            state.peak = n_now;
        }
        have_shrunk
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn insert(&mut self, id: u64, member: Member) {
        let (rank, peer) = (member.rank, member.peer);
        if member.is_proven {
            self.proven.insert(rank);
        } else {
            self.unproven.insert(rank);
            self.unproven_of.entry(peer).or_default().insert(rank);
        }
        self.members.insert(id, member);
    }

    fn remove(&mut self, id: u64) -> Option<Member> {
        let member = self.members.remove(&id)?;
        if member.is_proven {
            self.proven.remove(&member.rank);
            return Some(member);
        }
        self.unproven.remove(&member.rank);
        if let Some(own) = self.unproven_of.get_mut(&member.peer) {
            own.remove(&member.rank);
            if own.is_empty() {
                self.unproven_of.remove(&member.peer);
            }
        }
        Some(member)
    }

    /// Closes this one; `None` where it is not to be closed.
    fn evict(&mut self, rank: Option<Rank>) -> Option<()> {
        let (_, _, id) = rank.filter(|it| it.0 < Activity::Streaming)?;
        self.remove(id)?.evicted.notify_one();
        Some(())
    }

    fn change(&mut self, id: u64, activity: Activity) {
        let number = self.number();
        if let Some(mut member) = self.remove(id) {
            member.rank = (activity, number, id);
            self.insert(id, member);
        }
    }

    fn activity(&self, id: u64) -> Option<Activity> {
        Some(self.members.get(&id)?.rank.0)
    }
}

impl Place {
    /// Whom the connection is counted for.
    pub(super) fn peer(&self) -> Peer {
        self.peer
    }

    /// The limits of the server.
    pub(super) fn limits(&self) -> &Limits {
        &self.peers.limits
    }

    /// A request has come.
    pub(super) fn begin_answer(&self) {
        self.peers.state().change(self.id, Activity::Answering);
    }

    /// The request has its answer, or the beginning of a stream.
    pub(super) fn end_answer(&self) {
        let mut state = self.peers.state();
        if state.activity(self.id) == Some(Activity::Answering) {
            state.change(self.id, Activity::Idle);
        }
    }

    /// Its answer is a stream of events, for as long as the guard is kept.
    pub(super) fn begin_stream(self: &Arc<Place>) -> Streaming {
        self.peers.state().change(self.id, Activity::Streaming);
        Streaming(Arc::clone(self))
    }

    /// The connection has shown the token. One that was to be closed stays.
    pub(super) fn prove(&self) {
        let mut state = self.peers.state();
        let number = state.number();
        let mut member = state.remove(self.id).unwrap_or_else(|| Member {
            peer: self.peer,
            is_proven: false,
            rank: (Activity::Answering, number, self.id),
            evicted: Arc::clone(&self.evicted),
        });
        if !member.is_proven && state.proven.len() >= self.peers.limits.proven {
            let oldest = state.proven.first().copied();
            state.evict(oldest);
        }
        member.is_proven = true;
        state.insert(self.id, member);
    }

    /// Whether the connection has a place: it was not closed for another one, or has shown the token since.
    pub(super) fn is_kept(&self) -> bool {
        self.peers.state().members.contains_key(&self.id)
    }

    /// Waits until the connection is to be closed for another one.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.peers.state().remove(self.id);
    }
}

/// A stream of a connection.
pub(super) struct Streaming(Arc<Place>);

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.peers.state().change(self.0.id, Activity::Idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(unproven: usize, proven: usize, per_peer: usize) -> Arc<Peers> {
        Peers::new(Limits { unproven, proven, per_peer, ..Limits::of(1000, true) })
    }

    fn enter(peers: &Arc<Peers>, address: &str) -> Option<Arc<Place>> {
        peers.enter(address.parse().unwrap())
    }

    /// Which of these connections have a place.
    fn kept(places: &[&Arc<Place>]) -> Vec<bool> {
        places.iter().map(|it| it.is_kept()).collect()
    }

    #[test]
    fn the_oldest_connection_of_an_address_is_closed_for_its_newest() {
        let peers = peers(9, 9, 2);
        let [a, b, c] = ["10.0.0.1", "10.0.0.1", "10.0.0.1"].map(|it| enter(&peers, it).unwrap());
        let other = enter(&peers, "10.0.0.2").unwrap();
        assert_eq!(kept(&[&a, &b, &c, &other]), [false, true, true, true]);
    }

    #[test]
    fn the_oldest_of_all_is_closed_where_all_slots_are_taken() {
        let peers = peers(2, 9, 2);
        let [a, b, c] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map(|it| enter(&peers, it).unwrap());
        assert_eq!(kept(&[&a, &b, &c]), [false, true, true]);
        peers.make_room();
        assert_eq!(kept(&[&a, &b, &c]), [false, false, true]);
    }

    #[test]
    fn a_connection_that_showed_the_token_is_not_closed_for_any_number_that_did_not() {
        let peers = peers(4, 2, 2);
        let scraper = enter(&peers, "10.0.0.1").unwrap();
        scraper.begin_answer();
        scraper.prove();
        scraper.end_answer();
        let places: Vec<_> = (0..100).map(|_| enter(&peers, "10.0.0.1").unwrap()).collect();
        assert!(scraper.is_kept());
        assert_eq!(places.iter().filter(|it| it.is_kept()).count(), 2);
    }

    #[test]
    fn a_connection_that_shows_the_token_after_it_lost_its_place_gets_one() {
        let peers = peers(1, 1, 1);
        let scraper = enter(&peers, "10.0.0.1").unwrap();
        let hostile = enter(&peers, "10.0.0.1").unwrap();
        assert_eq!(kept(&[&scraper, &hostile]), [false, true]);
        scraper.prove();
        assert_eq!(kept(&[&scraper, &hostile]), [true, true]);
        // There is one such slot, and the connection that has been idle for longest gives it up.
        hostile.prove();
        assert_eq!(kept(&[&scraper, &hostile]), [false, true]);
    }

    #[test]
    fn idle_connections_are_closed_before_busy_ones_and_streams_never() {
        let peers = peers(9, 9, 3);
        let [streaming, busy, idle] = [(); 3].map(|()| enter(&peers, "10.0.0.1").unwrap());
        let stream = streaming.begin_stream();
        busy.begin_answer();
        let fourth = enter(&peers, "10.0.0.1").unwrap();
        assert_eq!(kept(&[&streaming, &busy, &idle, &fourth]), [true, true, false, true]);
        fourth.begin_answer();
        let fifth = enter(&peers, "10.0.0.1").unwrap();
        assert_eq!(kept(&[&streaming, &busy, &fourth, &fifth]), [true, false, true, true]);
        let streams = [fourth.begin_stream(), fifth.begin_stream()];
        assert!(enter(&peers, "10.0.0.1").is_none());
        drop(stream);
        assert!(enter(&peers, "10.0.0.1").is_some());
        assert_eq!(kept(&[&streaming, &fourth, &fifth]), [false, true, true]);
        drop(streams);
    }

    #[test]
    fn the_end_of_an_answer_that_is_a_stream_leaves_it_a_stream() {
        let peers = peers(9, 9, 1);
        let place = enter(&peers, "10.0.0.1").unwrap();
        place.begin_answer();
        let _stream = place.begin_stream();
        place.end_answer();
        assert!(enter(&peers, "10.0.0.1").is_none());
    }

    #[test]
    fn addresses_of_one_network_of_ipv6_are_one_and_mapped_ones_are_of_ipv4() {
        let same = |a: &str, b: &str| Peer::of(a.parse().unwrap()) == Peer::of(b.parse().unwrap());
        assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff::2"));
        assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!same("::ffff:10.0.0.1", "::ffff:10.0.0.2"));
        assert!(!same("127.0.0.1", "127.0.0.2"));
    }

    #[test]
    fn memory_is_given_back_once_after_half_of_many_connections_ended() {
        let peers = peers(1000, 9, 1000);
        let mut places: Vec<_> = (0..80).map(|_| enter(&peers, "10.0.0.1").unwrap()).collect();
        assert!(!peers.have_shrunk());
        places.truncate(40);
        assert!(peers.have_shrunk() && !peers.have_shrunk());
        places.clear();
        assert!(!peers.have_shrunk(), "too few to give back");
    }
}
