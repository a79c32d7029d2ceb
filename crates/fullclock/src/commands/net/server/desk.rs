//! The one client that a server serves at a time.

use anyhow::Result;
use engine::clock::now;
use engine::secret;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the next client waits for one that is about to leave: its programs may have to be ended first.
const LEAVING: Duration = Duration::from_secs(1);

/// Who is served.
pub(super) struct Desk {
    state: Mutex<State>,
    is_free: Condvar,
    /// The user's wish to stop.
    stop: AtomicBool,
}

struct State {
    client: Option<Client>,
    /// When the last one left.
    left: Instant,
}

struct Client {
    at: SocketAddr,
    session: String,
    streams: Sender<TcpStream>,
}

/// A client's place, until it is dropped.
pub(super) struct Seat<'a> {
    desk: &'a Desk,
    /// What the client's streams have to name.
    pub(super) session: String,
    /// The streams that named it.
    pub(super) streams: Receiver<TcpStream>,
}

impl Desk {
    pub(super) fn new() -> Desk {
        let state = State { client: None, left: now() };
        Desk { state: Mutex::new(state), is_free: Condvar::new(), stop: AtomicBool::new(false) }
    }

    /// Serves the client at that address, or says why not.
    pub(super) fn take(&self, at: SocketAddr) -> Result<Result<Seat<'_>, String>> {
        let session = secret::random()?;
        let waited =
            self.is_free.wait_timeout_while(self.state(), LEAVING, |it| it.client.is_some());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &state.client {
            let at = client.at;
            return Ok(Err(format!("it serves a client at {at} already: wait until that is over")));
        }
        let (sender, streams) = mpsc::channel();
        state.client = Some(Client { at, session: session.clone(), streams: sender });
        Ok(Ok(Seat { desk: self, session, streams }))
    }

    /// Gives a stream to its session; whether there is one.
    pub(super) fn join(&self, session: &str, stream: TcpStream) -> bool {
        let state = self.state();
        let client = state.client.as_ref().filter(|it| secret::are_same(&it.session, session));
        client.is_some_and(|it| it.streams.send(stream).is_ok())
    }

    /// For how long no client has been there; `None` while one is.
    pub(super) fn idle(&self) -> Option<Duration> {
        let state = self.state();
        state.client.is_none().then(|| now() - state.left)
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Set once the user wants to stop.
    pub(super) fn stopped(&self) -> &AtomicBool {
        &self.stop
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        *self.desk.state() = State { client: None, left: now() };
        self.desk.is_free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn one_client_has_the_desk_and_only_its_streams_come_through() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let stream = || TcpStream::connect(at).unwrap();
        let desk = Desk::new();
        let seat = desk.take(at).unwrap().unwrap();
        let why = desk.take(at).unwrap().err().unwrap();
        assert!(why.contains(&at.to_string()), "{why}");
        assert!(!desk.join("", stream()) && !desk.join("0123", stream()));
        assert!(desk.join(&seat.session, stream()));
        assert_eq!((seat.streams.try_iter().count(), desk.idle()), (1, None));
        let session = seat.session.clone();
        std::thread::scope(|scope| {
            let next = scope.spawn(|| desk.take(at).unwrap().is_ok());
            drop(seat);
            assert!(next.join().unwrap(), "it does not wait for one that leaves");
        });
        assert!(desk.idle().is_some() && !desk.join(&session, stream()));
        assert!(desk.take(at).unwrap().unwrap().session != session);
    }
}
