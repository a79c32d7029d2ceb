//! Some of many readings, evenly over time, in bounded memory.

/// How many readings are kept, at most: more would move no mean and no extreme by what anybody can see.
const MOST: usize = 1024;

/// Every n-th of the readings that were pushed, n as large as it must be.
#[derive(Clone, Debug)]
pub(super) struct Thinned<T> {
    kept: Vec<T>,
    /// One of so many readings is kept.
    every: usize,
    /// How many are left out before the next.
    to_skip: usize,
}

impl<T> Default for Thinned<T> {
    fn default() -> Thinned<T> {
        Thinned { kept: Vec::new(), every: 1, to_skip: 0 }
    }
}

impl<T> Thinned<T> {
    pub(super) fn push(&mut self, reading: T) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
            return;
        }
        if self.kept.len() == MOST {
            let mut is_odd = true;
            self.kept.retain(|_| {
                is_odd = !is_odd;
                !is_odd
            });
            self.every = self.every.saturating_mul(2);
        }
        self.kept.push(reading);
        self.to_skip = self.every - 1;
    }

    pub(super) fn kept(&self) -> &[T] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_all_kept_and_many_evenly() {
        let mut thinned = Thinned::default();
        (0..1000).for_each(|it| thinned.push(it));
        assert_eq!(thinned.kept().len(), 1000);
        (1000..10_000).for_each(|it| thinned.push(it));
        let kept = thinned.kept();
        assert!((512..=1024).contains(&kept.len()));
        assert!(kept.windows(2).all(|pair| pair[1] - pair[0] == 16), "{kept:?}");
    }
}
