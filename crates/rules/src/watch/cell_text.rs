//! Numbers as a table shows them, with as many digits as they deserve in eight columns; and why a value is not known, and what
//! would make it known.
//!
//! What samples leave out on purpose is in no copy of a host, and no capture would hold it: the words of
//! [`Missing`] are those of an audit.

use crate::metric::Unit;
use facts::counters::Family;
use facts::{Missing, Why};

/// A value in its unit, without the unit's symbol.
///
/// Shares have two decimals as turbostat's have; a clock has none, because a MHz is already less than it varies by.
pub fn number(unit: Unit, value: f64) -> String {
    // What rounds to zero has no sign.
    let value = if value.abs() < 0.005 { 0.0 } else { value };
    match unit {
        Unit::Megahertz | Unit::Celsius => format!("{value:.0}"),
        Unit::Percent | Unit::Watts | Unit::MillisecondsPerSecond => format!("{value:.2}"),
        Unit::PerSecond => rate(value),
    }
}

/// Rates reach from one an hour to millions a second.
fn rate(value: f64) -> String {
    match value {
        it if it >= 1e8 => format!("{:.0}M", it / 1e6),
        it if it >= 100.0 || it == 0.0 => format!("{it:.0}"),
        it if it >= 10.0 => format!("{it:.1}"),
        it => format!("{it:.2}"),
    }
}

/// The reason in one sentence, with what fixes it where something does.
pub fn reason(missing: &Missing) -> String {
    match remedy(missing) {
        Some(remedy) => format!("{} ({remedy})", text(missing)),
        None => text(missing),
    }
}

/// The reason, without what would make the value known.
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
    fn digits_follow_the_size_of_a_rate() {
        let shown: Vec<String> = [0.0, 0.25, 12.34, 250.4, 1_234_567.0, 2e9]
            .map(|it| number(Unit::PerSecond, it))
            .to_vec();
        assert_eq!(shown, ["0", "0.25", "12.3", "250", "1234567", "2000M"]);
    }

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        assert_eq!(number(Unit::Percent, -0.001), "0.00");
        assert_eq!(number(Unit::Megahertz, 2533.7), "2534");
    }

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
