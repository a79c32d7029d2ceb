//! How many events of heat or power there were for how long, and how bad so many are.

use crate::loss_scale::Lost;
use crate::loss_scale::deviations::MANY_EVENTS;
use crate::severity::Severity;
use facts::quantity::counted;
use std::time::Duration;

/// How long an event holds the clock where nothing counts that: since Linux 5.5 the sensor is asked again after a second, and the next
/// event can only come then (THERM_THROT_POLL_INTERVAL in therm_throt.c).
const EACH: Duration = Duration::from_secs(1);

/// So many events are a cooling fault.
const MANY: u64 = 100_000;

/// What `events` of throttling take in the `uptime` of a host, for `total` or a second each; `None` without the uptime.
pub(crate) fn lost(
    events: u64,
    total: Option<Duration>,
    uptime: Option<Duration>,
    are_many: bool,
) -> Option<Lost> {
    let uptime = uptime?.max(LEAST_UPTIME).as_secs_f64();
    let total = total
        .filter(|it| !it.is_zero())
        .map_or_else(|| events as f64 * EACH.as_secs_f64(), |total| total.as_secs_f64());
    Some(Lost::of((total / uptime).min(1.0), are_many).but_if(events >= MANY, &MANY_EVENTS))
}

/// Of `events` of throttling whose CPUs are unknown, in the `uptime` of a host; without it, they are few or many.
pub(crate) fn severity(events: u64, uptime: Option<Duration>) -> Severity {
    match lost(events, None, uptime, true) {
        Some(lost) => lost.severity(),
        None if events >= MANY => Severity::High,
        None => Severity::Low,
    }
}

/// Less than an hour counts as one: an event in the first minute is no rate of sixty an hour.
pub(crate) const LEAST_UPTIME: Duration = Duration::from_secs(3600);

/// Of `events` in the `uptime` of a host.
pub(crate) fn per_hour(events: u64, uptime: Duration) -> f64 {
    const HOUR: f64 = 3600.0;
    events as f64 * HOUR / uptime.max(LEAST_UPTIME).as_secs_f64()
}

/// `14 times in 72.0 h (0.2 an hour)`. In the first hour there is no rate.
pub(crate) fn how_often(events: u64, uptime: Option<Duration>) -> String {
    let times = counted(events, "time");
    match uptime {
        None => format!("{times} since boot (the uptime is unknown)"),
        Some(uptime) if uptime < LEAST_UPTIME => {
            format!("{times} in the first {} min after boot", uptime.as_secs() / 60 + 1)
        }
        Some(uptime) => {
            let hours = uptime.as_secs_f64() / 3600.0;
            format!("{times} in {hours:.1} h ({:.1} an hour)", per_hour(events, uptime))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_rate_after_an_hour() {
        let of = |seconds| how_often(14, Some(Duration::from_secs(seconds)));
        assert_eq!(of(5), "14 times in the first 1 min after boot");
        assert_eq!(of(259_200), "14 times in 72.0 h (0.2 an hour)");
        assert_eq!(how_often(1, None), "1 time since boot (the uptime is unknown)");
    }

    #[test]
    fn one_event_after_boot_is_no_rate() {
        let of = |events, seconds| severity(events, Some(Duration::from_secs(seconds)));
        assert_eq!(of(1, 5), Severity::Info);
        assert_eq!(of(1, 7200), Severity::Info);
        assert_eq!(of(39_112, 335_400), Severity::Medium);
        assert_eq!(of(27_400, 36_020), Severity::High);
        assert_eq!(severity(100_000, None), Severity::High);
    }
}
