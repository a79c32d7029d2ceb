//! Why a value is not known, and what would make it known, in one sentence.

use facts::{Missing, Why};

/// The reason in words. What samples leave out on purpose is in no copy of a host, and no capture would hold it.
pub(crate) fn reason(missing: &Missing) -> String {
    match missing.why {
        Why::NotCollected => format!("{} is not among what was sampled", missing.what),
        _ => missing.advice(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_capture_what_samples_leave_out() {
        assert_eq!(reason(&Missing::denied("/a")), "/a may not be read (run as root)");
        assert_eq!(
            reason(&Missing::not_collected("a trace")),
            "a trace is not among what was sampled"
        );
    }
}
