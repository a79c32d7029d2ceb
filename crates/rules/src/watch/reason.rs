//! Why a value is not known, and what would make it known.
//!
//! What samples leave out on purpose is in no copy of a host, and no capture would hold it: the words of
//! [`Missing`] are those of an audit.

use facts::counters::Family;
use facts::{Missing, Why};

/// The reason in one sentence, with what mends it where something does.
pub fn reason(missing: &Missing) -> String {
    match remedy(missing) {
        Some(remedy) => format!("{} ({remedy})", text(missing)),
        None => text(missing),
    }
}

/// The reason alone.
pub fn text(missing: &Missing) -> String {
    match missing.why {
        Why::NotCollected => format!("{} is not among what was sampled", missing.what),
        _ => missing.to_string(),
    }
}

/// What would make the value known, where somebody can do something about it.
pub fn remedy(missing: &Missing) -> Option<&'static str> {
    let is_traced = || Family::ALL.iter().any(|it| it.is_traced() && it.source() == missing.what);
    match missing.why {
        Why::NotCollected => is_traced().then_some("`fullclock tick` counts it"),
        _ => missing.remedy(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_comes_with_what_mends_it_where_something_does() {
        assert_eq!(reason(&Missing::denied("/a")), "/a may not be read (run as root)");
        assert_eq!(reason(&Missing::absent("/a")), "/a does not exist");
    }

    #[test]
    fn what_was_not_sampled_is_in_no_capture_either() {
        assert_eq!(
            reason(&Missing::not_collected("a trace")),
            "a trace is not among what was sampled"
        );
        assert_eq!(
            reason(&Missing::not_collected(Family::TickStops.source())),
            "tracepoint timer:tick_stop is not among what was sampled (`fullclock tick` counts it)"
        );
    }
}
