//! How bad so many events of heat are.

use crate::finding::Severity;
use std::time::Duration;

/// Of `events` of throttling in the `uptime` of a host; without it, they are few or many.
pub(crate) fn severity(events: u64, uptime: Option<Duration>) -> Severity {
    match (events, uptime) {
        (100_000.., _) => Severity::High,
        (_, None) => Severity::Low,
        (events, Some(uptime)) => match per_hour(events, uptime) {
            rate if rate < 1.0 => Severity::Info,
            // therm_throt.c reports once in 300 s (CHECK_INTERVAL): beyond that the log cannot keep up.
            rate if rate < 12.0 => Severity::Low,
            rate if rate < 600.0 => Severity::Medium,
            _ => Severity::High,
        },
    }
}

/// Less than an hour counts as one: an event in the first minute is no rate of sixty an hour.
pub(crate) const LEAST_UPTIME: Duration = Duration::from_secs(3600);

/// Of `events` in the `uptime` of a host.
pub(crate) fn per_hour(events: u64, uptime: Duration) -> f64 {
    const HOUR: f64 = 3600.0;
    events as f64 * HOUR / uptime.max(LEAST_UPTIME).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_event_after_boot_is_no_rate() {
        let of = |events, seconds| severity(events, Some(Duration::from_secs(seconds)));
        assert_eq!(of(1, 5), Severity::Low);
        assert_eq!(of(1, 7200), Severity::Info);
        assert_eq!(of(39_112, 335_400), Severity::Medium);
        assert_eq!(of(27_400, 36_020), Severity::High);
        assert_eq!(severity(100_000, None), Severity::High);
    }
}
