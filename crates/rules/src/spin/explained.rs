//! The gaps of one CPU with whatever tells them apart: a trace where there is one, or else counts.

use super::{Counts, GapBooks, Join, Thief, Untraced, by_counts, join};
use facts::Missing;
use facts::probe::Gaps;
use facts::trace::Event;

/// Who had the CPU in the gaps of its spinner.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Where the time of all gaps went.
    pub books: GapBooks,
    trace: Option<(Join, Untraced)>,
}

/// Tells apart the gaps of one CPU. `events` are those of any CPUs, or why there are none; `counts` is what was
/// counted on this one meanwhile.
pub fn explain(
    gaps: &Gaps,
    counts: &Counts,
    events: Result<&[Event], &Missing>,
    is_guest: bool,
) -> Explained {
    let Ok(events) = events else {
        return Explained { books: by_counts(gaps, counts), trace: None };
    };
    let joined = join(gaps, events);
    let untraced = Untraced::of(&joined, counts, is_guest);
    Explained { books: joined.books(untraced), trace: Some((joined, untraced)) }
}

impl Explained {
    /// Whose the time of the gap was that is at `index` among those that were kept, in nanoseconds, who had the most
    /// of it first; `None` where nothing was traced: counts tell gaps apart only together.
    pub fn takers(&self, index: usize) -> Option<Vec<(Thief, u64)>> {
        let (joined, untraced) = self.trace.as_ref()?;
        Some(joined.takers(index, *untraced))
    }
}
