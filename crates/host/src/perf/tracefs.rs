//! Where tracepoints are, and what they are called there.
//!
//! Source: Documentation/trace/events.rst. tracefs is mounted by whoever wants it, at /sys/kernel/tracing or
//! through debugfs; nothing is mounted here.

use crate::Source;
use facts::{Fact, Missing, Why, parse};

/// Where tracefs is mounted, best first.
const PLACES: &[&str] = &["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The folder of the tracepoints: `/sys/kernel/tracing/events`.
///
/// Errors: the kernel has no tracing, it may not be read, or tracefs is not mounted.
pub fn events(source: &dyn Source) -> Fact<String> {
    let mut reason = None;
    for place in PLACES {
        let events = format!("{place}/events");
        match source.list(&events) {
            Ok(_) => return Ok(events),
            Err(missing) => {
                reason.get_or_insert(missing);
            }
        }
    }
    // The folder that tracefs is to be mounted on is there in every kernel that has it.
    let mountable = PLACES.first().map(|place| source.list(place));
    match (reason, mountable) {
        (Some(reason), Some(Ok(_))) if reason.why == Why::Absent => Err(Missing {
            what: "/sys/kernel/tracing/events".into(),
            why: Why::Failed(
                "tracefs is not mounted: `mount -t tracefs nodev /sys/kernel/tracing`".into(),
            ),
        }),
        (reason, _) => Err(reason.unwrap_or_else(|| Missing::absent("/sys/kernel/tracing"))),
    }
}

/// The number of a tracepoint, by which perf_event_open(2) knows it. `events` is [`events`]' answer.
pub fn id(source: &dyn Source, events: &str, system: &str, name: &str) -> Fact<u64> {
    source.parsed(&format!("{events}/{system}/{name}/id"), parse::number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    fn found(text: &str) -> String {
        let source = Captured::excerpt(text).unwrap();
        events(&source).unwrap_or_else(|missing| missing.to_string())
    }

    #[test]
    fn tracefs_is_found_at_either_place() {
        assert_eq!(
            found("//- /sys/kernel/debug/tracing/events/sched/sched_switch/id\n1\n"),
            "/sys/kernel/debug/tracing/events"
        );
    }

    #[test]
    fn an_empty_mount_point_says_how_to_mount() {
        assert!(
            found("//- /sys/kernel/tracing/README\n\n")
                .ends_with("mount -t tracefs nodev /sys/kernel/tracing`")
        );
        assert!(found("//- /sys/kernel/x\n1\n").ends_with("does not exist"));
    }
}
