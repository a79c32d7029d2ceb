//! A format file, a NUL byte and a ring of records: whatever they hold, the account of the time between is whole.

use facts::trace::format::Format;
use facts::trace::timeline::Timeline;
use facts::trace::tracepoint::{Layouts, Wanted};
use facts::trace::waits::Waits;
use facts::trace::{What, record};

/// CPU 0's interval, in ns.
const INTERVAL: (u64, u64) = (1_000, 1_000_000);

pub(crate) fn run(input: &[u8]) {
    let mut parts = input.splitn(2, |&byte| byte == 0);
    let (text, records) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Ok(format) = Format::parse(&String::from_utf8_lossy(text)) else { return };
    for tracepoint in Wanted::ALL.tracepoints() {
        let mut layouts = Layouts::default();
        if layouts.add(&tracepoint, &format).is_ok() {
            account(&layouts, records);
        }
    }
}

fn account(layouts: &Layouts, mut records: &[u8]) {
    let (mut timeline, mut waits) = (Timeline::new(), Waits::default());
    (0..4).for_each(|tid| waits.follow(tid));
    timeline.begin(INTERVAL.0);
    while let Some(size) = records.first_chunk().and_then(|header| record::size(*header)) {
        let (one, rest) = records.split_at(size.min(records.len()));
        if let Some(event) = record::event(layouts, 0, one) {
            timeline.push(&event);
            waits.push(&event);
            if let What::Switch { prev, .. } = event.what {
                assert!(!prev.comm.to_string().contains(char::is_control));
            }
        }
        records = rest;
    }
    let totals = timeline.end(INTERVAL.1);
    let parts = [totals.unknown_ns, totals.idle_ns, totals.task_ns(), totals.interrupted_ns()];
    assert_eq!(parts.iter().sum::<u64>(), totals.wall_ns, "{totals:?}");
    waits.settle(INTERVAL.1);
    let _ = waits.take().count();
}
