//! Everything of a named number but the number: its names, and why it is missing.
//!
//! The trials of a race have the same labels thousands of times. A table keeps each once, and a list holds their ids.

use super::Better;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// What a number is called, and what there is in its place.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The figure, the loss or the metric.
    pub(super) name: Box<str>,
    /// The figure's unit, or which part of the loss or the metric.
    pub(super) detail: Box<str>,
    pub(super) kind: Kind,
}

/// What a label stands for.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Number,
    Figure(Better),
    /// No number, for this reason.
    Missing(Box<str>),
}

/// Labels by their ids, which count from 0. A label is never moved or removed, so that it can be borrowed while others are added.
pub(super) struct Labels {
    ids: Mutex<HashMap<Arc<Label>, usize>>,
    /// Each shelf holds twice as many as the one before it.
    shelves: [OnceLock<Shelf>; usize::BITS as usize - FIRST_SHELF.ilog2() as usize],
}

type Shelf = Box<[OnceLock<Arc<Label>>]>;

/// Labels that the first shelf holds.
const FIRST_SHELF: usize = 64;

impl Labels {
    fn new() -> Labels {
        let shelves = std::array::from_fn(|_| OnceLock::new());
        Labels { ids: Mutex::default(), shelves }
    }

    /// The table that new lists use: one for all of them, as long as any list uses it.
    pub(super) fn current() -> Arc<Labels> {
        static CURRENT: Mutex<Weak<Labels>> = Mutex::new(Weak::new());
        let mut current = locked(&CURRENT);
        current.upgrade().unwrap_or_else(|| {
            let table = Arc::new(Labels::new());
            *current = Arc::downgrade(&table);
            table
        })
    }

    /// The id of this label, which is added where it is new.
    pub(super) fn id(&self, label: Label) -> usize {
        let mut ids = locked(&self.ids);
        if let Some(id) = ids.get(&label) {
            return *id;
        }
        let id = ids.len();
        let label = Arc::new(label);
        let Place { shelf, at } = Place::of(id);
        let empty = || std::iter::repeat_with(OnceLock::new).take(FIRST_SHELF << shelf).collect();
        self.shelves[shelf].get_or_init(empty)[at].get_or_init(|| Arc::clone(&label));
        ids.insert(label, id);
        id
    }

    /// The label of this id.
    pub(super) fn get(&self, id: usize) -> Option<&Label> {
        let Place { shelf, at } = Place::of(id);
        Some(self.shelves.get(shelf)?.get()?.get(at)?.get()?)
    }
}

/// Where a label lies.
struct Place {
    shelf: usize,
    at: usize,
}

impl Place {
    fn of(id: usize) -> Place {
        let number = id.saturating_add(FIRST_SHELF);
        let shelf = (number / FIRST_SHELF).ilog2() as usize;
        Place { shelf, at: number - (FIRST_SHELF << shelf) }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whatever a thread did that panicked, a label that is in the table is whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(number: usize) -> Label {
        Label { name: number.to_string().into(), detail: "".into(), kind: Kind::Number }
    }

    #[test]
    fn each_label_is_kept_once_and_stays_where_it_is() {
        let labels = Labels::new();
        let ids: Vec<usize> = (0..1000).map(|it| labels.id(label(it))).collect();
        assert_eq!(ids, (0..1000).collect::<Vec<_>>());
        let first = labels.get(0).unwrap();
        assert!(
            (0..1000).all(|it| labels.id(label(it)) == it && labels.get(it) == Some(&label(it)))
        );
        assert!(std::ptr::eq(first, labels.get(0).unwrap()));
        assert!([1000, usize::MAX].iter().all(|it| labels.get(*it).is_none()));
        let why = Kind::Missing("denied".into());
        let missing = Label { kind: why, ..label(0) };
        assert_eq!(labels.id(missing), 1000);
    }

    #[test]
    fn a_table_is_shared_while_somebody_uses_it() {
        let table = Labels::current();
        assert!(Arc::ptr_eq(&table, &Labels::current()));
    }
}
