//! The kernel's "CPU0: Core temperature above threshold, cpu clock throttled (total events = N)".
//!
//! Source: drivers/thermal/intel/therm_throt.c. At most one message in 300 s is printed, so the number of
//! lines says nothing and "total events" everything. The wording gained two words in Linux 5.3
//! ("is above threshold, cpu clock is throttled").

use super::Explanation;

pub(super) fn explain(text: &str) -> Option<Explanation> {
    let worst = text.lines().filter_map(Line::parse).max_by_key(|line| line.events)?;
    let (whose, events) = (worst.whose, worst.events);
    let rate = worst.uptime.filter(|&seconds| seconds > 0.0).map(|seconds| {
        let per_hour = events as f64 * 3600.0 / seconds;
        let uptime = hours(seconds);
        format!(
            "{events} events in the {uptime} since boot are {per_hour:.0} an hour: {}.",
            weight(per_hour)
        )
    });
    let rate = rate.unwrap_or_else(|| {
        format!("{events} events since boot: divide by the uptime to know whether that is much. A few in weeks are nothing; hundreds an hour are a cooling fault.")
    });
    Some(Explanation {
        what: "kernel: the CPU was throttled because it was hot",
        meaning: vec![
            format!("The {whose} temperature went over its limit, and the processor lowered its own clock until it was cool again."),
            rate,
            "A \"temperature/speed normal\" line milliseconds later does not cancel it: the processor goes in and out many \
             times a second. The kernel prints at most one message in five minutes, so count events, not lines."
                .to_owned(),
            "Look at fans, air flow, dust, heat sink and the room before any setting. The counter sees heat on the die only: \
             a clock held down by the board (PROCHOT), by power or current limits, or by clock modulation does not appear here."
                .to_owned(),
        ],
        checks: &["thermal-throttling", "prochot-asserted", "clock-modulation"],
    })
}

/// One line of the kernel's.
struct Line {
    whose: &'static str,
    events: u64,
    /// Seconds since boot, from the `[36020.497806]` before the message.
    uptime: Option<f64>,
}

impl Line {
    fn parse(line: &str) -> Option<Line> {
        let (before, after) = line.split_once("total events = ")?;
        if !before.contains("above threshold") || !before.contains("throttled") {
            return None;
        }
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let stamp = || before.split_once('[')?.1.split_once(']')?.0.trim().parse().ok();
        Some(Line {
            whose: if before.contains("Package") { "package's" } else { "core's" },
            events: after[..digits].parse().ok()?,
            uptime: stamp(),
        })
    }
}

fn hours(seconds: f64) -> String {
    match seconds / 3600.0 {
        hours if hours < 1.0 => format!("{:.0} minutes", seconds / 60.0),
        hours if hours < 48.0 => format!("{hours:.0} hours"),
        hours => format!("{:.0} days", hours / 24.0),
    }
}

fn weight(per_hour: f64) -> &'static str {
    match per_hour {
        rate if rate < 1.0 => "a note, no fault",
        rate if rate < 60.0 => "worth a look at the cooling",
        _ => "severe; the machine cannot cool what it runs",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_related_to_the_time_since_boot() {
        let text = "\
[36020.497806] CPU0: Core temperature above threshold, cpu clock throttled (total events = 22034)
[36020.497809] CPU1: Package temperature above threshold, cpu clock throttled (total events = 27400)
[36020.499855] CPU2: Core temperature/speed normal";
        let meaning = explain(text).unwrap().meaning;
        assert!(meaning[0].starts_with("The package's temperature"));
        assert_eq!(
            meaning[1],
            "27400 events in the 10 hours since boot are 2738 an hour: severe; the machine cannot cool what it runs."
        );
    }

    #[test]
    fn both_wordings_of_the_kernel_are_known() {
        let text =
            "CPU3: Core temperature is above threshold, cpu clock is throttled (total events = 1)";
        assert!(explain(text).unwrap().meaning[1].starts_with("1 events since boot"));
    }

    #[test]
    fn a_recovery_line_alone_is_not_a_throttle_line() {
        assert_eq!(explain("CPU2: Core temperature/speed normal"), None);
    }
}
