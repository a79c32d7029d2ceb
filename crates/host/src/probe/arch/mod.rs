//! What a probe asks of a CPU: its time counter, and chains of instructions that each need the one before.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod other {
    //! A processor whose instructions have no known number of cycles: there is time, and no chain.

    use super::{Chain, Flush};

    /// No chain of additions.
    pub(crate) const ADDS: Option<Chain> = None;
    /// No chain of exclusive ors.
    pub(crate) const XORS: Option<Chain> = None;

    /// No instruction that flushes a line.
    pub(crate) const FLUSH: Option<Flush> = None;

    /// CLOCK_MONOTONIC_RAW in nanoseconds.
    pub(crate) fn now() -> u64 {
        crate::clock::raw_ns()
    }

    /// The same.
    pub(crate) fn now_in_order() -> u64 {
        now()
    }
}
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(super) use aarch64::{ADDS, FLUSH, XORS, now, now_in_order};
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use other::{ADDS, FLUSH, XORS, now, now_in_order};
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{ADDS, FLUSH, XORS, now, now_in_order};

/// Runs that many blocks of a chain, at least one.
pub(super) type Chain = fn(u64);

/// How lines are taken out of all caches.
#[derive(Clone, Copy)]
pub(crate) struct Flush {
    /// Begins to take out the line of a word.
    pub(crate) line: fn(&u64),
    /// Waits until all of them are out.
    pub(crate) wait: fn(),
}

/// Instructions in a block. One turn of the loop costs an in-order core one cycle more, 0.2 % of this; a core that
/// executes out of order hides it.
pub(super) const BLOCK: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_goes_forward_across_a_chain() {
        for chain in [ADDS, XORS].into_iter().flatten() {
            let before = now_in_order();
            chain(100);
            let after = now_in_order();
            assert!(after > before);
            assert!(now() >= after);
        }
    }

    #[test]
    fn a_flushed_word_keeps_its_value() {
        let word = std::hint::black_box(7);
        if let Some(flush) = FLUSH {
            (flush.line)(&word);
            (flush.wait)();
        }
        assert_eq!(word, 7);
    }

    #[test]
    fn a_chain_of_no_blocks_ends() {
        [ADDS, XORS].into_iter().flatten().for_each(|chain| chain(0));
    }
}
