//! One client at a time.

use crate::clock::now;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the next client waits for one that is about to leave: programs that work for that one may have to end first.
const LEAVING: Duration = Duration::from_secs(1);

/// A place for one client at a time.
pub(crate) struct Slot<T> {
    state: Mutex<State<T>>,
    is_free: Condvar,
}

struct State<T> {
    /// The client that is served; the latest one where none is.
    latest: Option<T>,
    /// Since when none is; `None` while one is.
    free_since: Option<Instant>,
}

/// The right of a client to the slot, until it is dropped.
pub(crate) struct Lease<T>(Arc<Slot<T>>);

impl<T: Clone> Slot<T> {
    pub(crate) fn new() -> Arc<Slot<T>> {
        let state = State { latest: None, free_since: Some(now()) };
        Arc::new(Slot { state: Mutex::new(state), is_free: Condvar::new() })
    }

    /// Serves this client from now on. It waits for another one that is about to leave.
    ///
    /// Errors: the client that is served.
    pub(crate) fn take(self: &Arc<Self>, client: T) -> Result<Lease<T>, T> {
        self.take_within(client, LEAVING)
    }

    fn take_within(self: &Arc<Self>, client: T, patience: Duration) -> Result<Lease<T>, T> {
        let is_taken = |it: &mut State<T>| it.free_since.is_none();
        let waited = self.is_free.wait_timeout_while(self.state(), patience, is_taken);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(other)) = (state.free_since, &state.latest) {
            return Err(other.clone());
        }
        *state = State { latest: Some(client), free_since: None };
        Ok(Lease(self.clone()))
    }

    /// The client that is served, or the one that was last.
    pub(crate) fn latest(&self) -> Option<T> {
        self.state().latest.clone()
    }
}

impl<T> Slot<T> {
    /// How long no client has been served; `None` while one is.
    pub(crate) fn idle(&self) -> Option<Duration> {
        self.state().free_since.map(|it| now() - it)
    }

    /// Waits until no client is served.
    pub(crate) fn wait_until_free(&self) {
        let waited = self.is_free.wait_while(self.state(), |it| it.free_since.is_none());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Lease<T> {
    fn drop(&mut self) {
        self.0.state().free_since = Some(now());
        self.0.is_free.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_is_served_at_a_time_and_the_next_one_waits_for_it_to_leave() {
        let slot = Slot::new();
        assert!(slot.idle().is_some() && slot.latest().is_none());
        let lease = slot.take("a").ok().unwrap();
        assert_eq!(slot.take_within("b", Duration::ZERO).err(), Some("a"));
        assert_eq!((slot.idle(), slot.latest()), (None, Some("a")));
        std::thread::scope(|scope| {
            let next = scope.spawn(|| slot.take_within("b", Duration::from_secs(60)).is_ok());
            drop(lease);
            assert!(next.join().unwrap(), "it does not wait for one that leaves");
        });
        slot.wait_until_free();
        assert!(slot.idle().is_some() && slot.latest() == Some("b"));
    }
}
