//! The records in a perf ring: samples of tracepoints, samples of what a kernel function returned, and counts of
//! lost samples.
//!
//! Source: perf_event_open(2), "MMAP layout", and include/uapi/linux/perf_event.h. Samples of tracepoints have the
//! type PERF_SAMPLE_TIME | PERF_SAMPLE_RAW. Samples of returns have the type PERF_SAMPLE_TIME |
//! PERF_SAMPLE_REGS_INTR with one register, which holds the return value. Every other record ends with its time
//! (sample_id_all).

use super::tracepoint::Layouts;
use super::{Event, What};

/// The header of a record: its type, flags and size.
pub const HEADER: usize = 8;

/// PERF_RECORD_*.
pub(super) const LOST: u32 = 2;
pub(super) const SAMPLE: u32 = 9;
pub(super) const LOST_SAMPLES: u32 = 13;

const TIME: usize = 8;
const RAW_SIZE: usize = 4;

/// The size of the record that begins with `header`, in bytes; `None` where it is smaller than a header.
pub fn size(header: [u8; HEADER]) -> Option<usize> {
    let [.., low, high] = header;
    let size = usize::from(u16::from_ne_bytes([low, high]));
    (size >= HEADER).then_some(size)
}

/// The event in a record of `cpu`'s ring; `None` for records of other types. A sample that cannot be parsed is a lost
/// event. Samples may be cut, other records must be whole.
pub fn event(layouts: &Layouts, cpu: u32, record: &[u8]) -> Option<Event> {
    let kind = u32::from_ne_bytes(*record.first_chunk()?);
    let body = record.get(HEADER..)?;
    let lost = |at_ns, n| Event { at_ns, cpu, running: None, what: What::Lost(n) };
    match kind {
        SAMPLE => {
            let at_ns = u64::from_ne_bytes(*body.first_chunk()?);
            let event = raw(body).and_then(|raw| layouts.event(at_ns, cpu, raw));
            Some(event.unwrap_or_else(|| lost(at_ns, 1)))
        }
        LOST | LOST_SAMPLES => {
            let at_ns = u64::from_ne_bytes(*body.last_chunk()?);
            let counts = body.get(..body.len().checked_sub(TIME)?)?;
            // PERF_RECORD_LOST has the event's id before the count.
            Some(lost(at_ns, u64::from_ne_bytes(*counts.last_chunk()?)))
        }
        _ => None,
    }
}

fn raw(body: &[u8]) -> Option<&[u8]> {
    let body = body.get(TIME..)?;
    let size = usize::try_from(u32::from_ne_bytes(*body.first_chunk()?)).ok()?;
    let raw = body.get(RAW_SIZE..)?;
    Some(raw.get(..size).unwrap_or(raw))
}

/// A return of a function, or a count of lost ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// A return.
    Value {
        /// When, in ns of CLOCK_MONOTONIC_RAW.
        at_ns: u64,
        /// The register that holds the return value.
        value: u64,
    },
    /// The number of returns that were lost because the ring was full.
    Lost(u64),
}

const WORD: usize = 8;

/// The return in a record; `None` for records of other types. A sample without the register is a lost one.
pub fn returned(record: &[u8]) -> Option<Returned> {
    let kind = u32::from_ne_bytes(*record.first_chunk()?);
    let word = |at: usize| {
        let bytes = record.get(HEADER + at * WORD..)?.first_chunk()?;
        Some(u64::from_ne_bytes(*bytes))
    };
    match kind {
        SAMPLE => {
            // PERF_SAMPLE_REGS_ABI_NONE: the sample has no registers.
            const NONE: u64 = 0;
            let value = || word(1).filter(|it| *it != NONE).and_then(|_| word(2));
            let at_ns = word(0);
            Some(
                at_ns
                    .zip(value())
                    .map_or(Returned::Lost(1), |(at_ns, value)| Returned::Value { at_ns, value }),
            )
        }
        // The first word is the ID of the event.
        LOST => word(1).map(Returned::Lost),
        LOST_SAMPLES => word(0).map(Returned::Lost),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Cause;
    use crate::trace::tracepoint::tests::layouts;

    fn record(kind: u32, body: &[&[u8]]) -> Vec<u8> {
        let body = body.concat();
        let size = u16::try_from(HEADER + body.len()).unwrap();
        [&kind.to_ne_bytes()[..], &[0, 0], &size.to_ne_bytes(), &body].concat()
    }

    fn said(record: &[u8]) -> Option<(u64, What)> {
        event(&layouts(), 0, record).map(|event| (event.at_ns, event.what))
    }

    #[test]
    fn a_sample_is_an_event_at_its_time() {
        let vector = [5, 0, 0, 0, 7, 0, 0, 0, 236, 0, 0, 0];
        let sample = record(SAMPLE, &[&42u64.to_ne_bytes(), &12u32.to_ne_bytes(), &vector]);
        assert_eq!(said(&sample), Some((42, What::Enter(Cause::LocalTimer))));
        assert_eq!(size(*sample.first_chunk().unwrap()), Some(sample.len()));
    }

    #[test]
    fn a_sample_that_makes_no_sense_is_lost() {
        let sample = record(SAMPLE, &[&42u64.to_ne_bytes(), &4u32.to_ne_bytes(), &[255; 4]]);
        assert_eq!(said(&sample), Some((42, What::Lost(1))));
        assert_eq!(said(&record(SAMPLE, &[&42u64.to_ne_bytes()])), Some((42, What::Lost(1))));
    }

    #[test]
    fn lost_events_are_counted() {
        let word = u64::to_ne_bytes;
        assert_eq!(
            said(&record(LOST, &[&word(77), &word(9), &word(42)])),
            Some((42, What::Lost(9)))
        );
        assert_eq!(said(&record(LOST_SAMPLES, &[&word(9), &word(42)])), Some((42, What::Lost(9))));
    }

    #[test]
    fn what_is_cut_or_of_no_use_is_nothing() {
        assert_eq!(said(&[]), None);
        assert_eq!(said(&record(LOST, &[&[1; 9]])), None);
        assert_eq!(said(&record(5, &[&[1; 32]])), None);
        assert_eq!(size([0, 0, 0, 0, 0, 0, 7, 0]), None);
    }

    fn return_record(kind: u32, words: &[u64]) -> Vec<u8> {
        let size = u16::try_from(HEADER + words.len() * WORD).unwrap();
        let body: Vec<u8> = words.iter().flat_map(|it| it.to_ne_bytes()).collect();
        [&kind.to_ne_bytes()[..], &[0, 0], &size.to_ne_bytes(), &body].concat()
    }

    #[test]
    fn a_sample_is_a_time_and_what_was_returned() {
        const ABI_64: u64 = 2;
        let sample = return_record(SAMPLE, &[42, ABI_64, 1]);
        assert_eq!(returned(&sample), Some(Returned::Value { at_ns: 42, value: 1 }));
    }

    #[test]
    fn what_was_not_written_down_is_counted() {
        assert_eq!(returned(&return_record(LOST, &[9, 77, 42])), Some(Returned::Lost(77)));
        assert_eq!(returned(&return_record(LOST_SAMPLES, &[5, 42])), Some(Returned::Lost(5)));
        assert_eq!(returned(&return_record(SAMPLE, &[42, 0])), Some(Returned::Lost(1)));
        assert_eq!(returned(&return_record(SAMPLE, &[42])), Some(Returned::Lost(1)));
    }

    #[test]
    fn a_return_that_is_cut_or_of_no_use_is_nothing() {
        assert_eq!(returned(&[]), None);
        assert_eq!(returned(&return_record(LOST, &[9])), None);
        assert_eq!(returned(&return_record(5, &[1, 2, 3])), None);
    }
}
