//! Who gets ready when: nodes of this machine do so one at a time, in the order of their places.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The turns of all nodes.
#[derive(Default)]
pub(super) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Whose turn is next, at the first time.
    next: usize,
    is_taken: bool,
}

/// The turn of one node.
#[derive(Clone, Default)]
pub(super) struct Turn {
    turns: Arc<Turns>,
    place: usize,
}

/// A turn that was taken; it is over when this is dropped.
pub(super) struct Taken<'a>(&'a Turn);

impl Turn {
    /// The turn after `place` others.
    pub(super) fn after(place: usize, turns: &Arc<Turns>) -> Turn {
        Turn { turns: turns.clone(), place }
    }

    /// Waits until all turns before this one are over, and none is taken.
    pub(super) fn take(&self) -> Taken<'_> {
        let mut state = self.state();
        while state.is_taken || state.next < self.place {
            let waited = self.turns.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.is_taken = true;
        Taken(self)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.turns.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_taken = false;
        state.next = state.next.max(self.0.place + 1);
        drop(state);
        self.0.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_taken_in_the_order_of_places_and_later_at_will() {
        let turns = Arc::default();
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for place in [2, 0, 1] {
                let (turn, order) = (Turn::after(place, &turns), &order);
                scope.spawn(move || {
                    let _taken = turn.take();
                    order.lock().unwrap().push(place);
                });
            }
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
        // A node that is lost and made ready again does not wait for the turns behind its own.
        drop(Turn::after(0, &turns).take());
    }
}
