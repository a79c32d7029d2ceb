//! What a kernel function returned, each time it did, as perf writes it down.
//!
//! Source: perf_event_open(2), "MMAP layout", and include/uapi/linux/perf_event.h. Samples here are of type
//! PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_INTR with one register, the one that holds what a function returns; every other record
//! ends with its time (sample_id_all).

use super::record::{HEADER, LOST, LOST_SAMPLES, SAMPLE};

/// A return, or that some were not written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// A return.
    Value {
        /// When, in ns of CLOCK_MONOTONIC_RAW.
        at_ns: u64,
        /// The register that holds what was returned.
        value: u64,
    },
    /// So many were lost, for want of room.
    Lost(u64),
}

const WORD: usize = 8;

/// What a record says; `None` where it says nothing of use. A sample without the register is a lost one.
pub fn returned(record: &[u8]) -> Option<Returned> {
    let kind = u32::from_ne_bytes(*record.first_chunk()?);
    let word = |at: usize| {
        let bytes = record.get(HEADER + at * WORD..)?.first_chunk()?;
        Some(u64::from_ne_bytes(*bytes))
    };
    match kind {
        SAMPLE => {
            // PERF_SAMPLE_REGS_ABI_NONE: the kernel had no registers to give.
            const NONE: u64 = 0;
            let value = || word(1).filter(|it| *it != NONE).and_then(|_| word(2));
            let at_ns = word(0);
            Some(
                at_ns
                    .zip(value())
                    .map_or(Returned::Lost(1), |(at_ns, value)| Returned::Value { at_ns, value }),
            )
        }
        // The first word is the event's id.
        LOST => word(1).map(Returned::Lost),
        LOST_SAMPLES => word(0).map(Returned::Lost),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, words: &[u64]) -> Vec<u8> {
        let size = u16::try_from(HEADER + words.len() * WORD).unwrap();
        let body: Vec<u8> = words.iter().flat_map(|it| it.to_ne_bytes()).collect();
        [&kind.to_ne_bytes()[..], &[0, 0], &size.to_ne_bytes(), &body].concat()
    }

    #[test]
    fn a_sample_is_a_time_and_what_was_returned() {
        const ABI_64: u64 = 2;
        let sample = record(SAMPLE, &[42, ABI_64, 1]);
        assert_eq!(returned(&sample), Some(Returned::Value { at_ns: 42, value: 1 }));
    }

    #[test]
    fn what_was_not_written_down_is_counted() {
        assert_eq!(returned(&record(LOST, &[9, 77, 42])), Some(Returned::Lost(77)));
        assert_eq!(returned(&record(LOST_SAMPLES, &[5, 42])), Some(Returned::Lost(5)));
        assert_eq!(returned(&record(SAMPLE, &[42, 0])), Some(Returned::Lost(1)));
        assert_eq!(returned(&record(SAMPLE, &[42])), Some(Returned::Lost(1)));
    }

    #[test]
    fn what_is_cut_or_of_no_use_is_nothing() {
        assert_eq!(returned(&[]), None);
        assert_eq!(returned(&record(LOST, &[9])), None);
        assert_eq!(returned(&record(5, &[1, 2, 3])), None);
    }
}
