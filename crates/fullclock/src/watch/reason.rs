//! Why a value is not known, and what would make it known, in one sentence.

use facts::{Missing, Why};

/// The reason in words. What samples leave out on purpose is in no copy of a host, and no capture would hold it.
pub(crate) fn reason(missing: &Missing) -> String {
    match (&missing.why, missing.remedy()) {
        (Why::NotCollected, _) => format!("{} is not among what was sampled", missing.what),
        (_, Some(remedy)) => format!("{missing} ({remedy})"),
        (_, None) => missing.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_comes_with_what_mends_it_where_something_does() {
        assert_eq!(reason(&Missing::denied("/a")), "/a may not be read (run as root)");
        assert_eq!(reason(&Missing::absent("/a")), "/a does not exist");
        assert_eq!(
            reason(&Missing::not_collected("a trace")),
            "a trace is not among what was sampled"
        );
    }
}
