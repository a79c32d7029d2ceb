//! Lines of the kernel's log, in whichever form: each kind of message that the table knows ([`facts::log`]).

use super::{Explanation, Found};
use crate::clock::heat;
use crate::severity::Severity;
use facts::log::{Message, Messages, messages_of};
use facts::quantity::span;

/// Every kind of message in the text, in the order of their first lines.
pub(super) fn explain(text: &str) -> Vec<Found> {
    let found = messages_of(text);
    found
        .iter()
        .map(|it| Found { line: first_line(text, it), explanation: explanation(it) })
        .collect()
}

/// The number of the line of the first message; the last one where the text was changed for reading.
fn first_line(text: &str, messages: &Messages) -> usize {
    let said = messages.first.text.as_str();
    let end = said.find(['…']).into_iter().chain(said.find("0x...")).min().unwrap_or(said.len());
    let said = &said[..end];
    text.lines().position(|line| line.contains(said)).unwrap_or(usize::MAX)
}

fn explanation(messages: &Messages) -> Explanation {
    let mut meaning = vec![messages.kind.means.to_owned()];
    if !messages.kind.fix.is_empty() {
        meaning.push(messages.kind.fix.to_owned());
    }
    if messages.count > 1 || messages.first.when.since_boot.is_some() {
        meaning.push(format!("In this text: {}.", messages.told()));
    }
    meaning.extend(rate(messages));
    let kernels = messages.worst.kernels;
    if !kernels.is_empty() {
        meaning.push(format!("Worded so in: {kernels}."));
    }
    Explanation { what: messages.kind.title, meaning, checks: messages.kind.checks }
}

/// How often the processor was too hot: the line counts all events since the boot.
fn rate(Messages { kind, worst, .. }: &Messages) -> Option<String> {
    let Message { when, amount, .. } = worst;
    let events = amount.filter(|_| kind.id == "cpu-throttled-by-heat")?;
    let Some(since_boot) = when.since_boot else {
        return Some(format!(
            "{events} events since boot: divide by the uptime to know whether that is much. A few in weeks are nothing; hundreds an \
             hour are a cooling fault."
        ));
    };
    if since_boot < heat::LEAST_UPTIME {
        return Some(format!(
            "{events} events in the first {} after boot are no rate yet: look again after an hour of load.",
            span(since_boot)
        ));
    }
    let per_hour = heat::per_hour(events, since_boot);
    Some(format!(
        "{events} events in the {} since boot are {per_hour:.0} an hour: {}.",
        span(since_boot),
        weight(heat::severity(events, Some(since_boot)))
    ))
}

fn weight(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "a note, no fault",
        Severity::Low => "worth a look at the cooling",
        Severity::Medium => "much; look at fans, filters and the temperature of the air",
        Severity::High | Severity::Critical => "severe; the machine cannot cool what it runs",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the explanations of a text are of, a line each.
    fn kinds(text: &str) -> String {
        explain(text).iter().map(|it| it.explanation.what).collect::<Vec<_>>().join("\n")
    }

    fn meaning(text: &str) -> String {
        explain(text)
            .iter()
            .flat_map(|it| &it.explanation.meaning)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn events_are_related_to_the_time_since_boot() {
        let text = "\
[36020.497806] CPU0: Core temperature above threshold, cpu clock throttled (total events = 22034)
[36020.497809] CPU1: Package temperature above threshold, cpu clock throttled (total events = 27400)
[36020.499855] CPU2: Core temperature/speed normal";
        assert!(
            meaning(text).contains("27400 events in the 10 h since boot are 2738 an hour: severe"),
            "{}",
            meaning(text)
        );
        assert!(kinds(text).ends_with("the processor was cool again and took its clock back"));
    }

    #[test]
    fn one_event_after_boot_is_no_rate() {
        let text = "[    5.098000] CPU0: Core temperature above threshold, cpu clock throttled (total events = 1)";
        assert!(
            meaning(text).contains("1 events in the first 5 s after boot are no rate yet"),
            "{}",
            meaning(text)
        );
        assert!(!meaning(text).contains("an hour:"));
    }

    #[test]
    fn every_kind_of_a_paste_is_explained() {
        let text = "\
CPU12: Core power limit notification (total events = 14)
clocksource: timekeeping watchdog on CPU5: Marking clocksource 'tsc' as unstable because the skew is too large:
tsc: Marking TSC unstable due to clocksource watchdog
clocksource: Switched to clocksource hpet
intel_pstate: Turbo disabled by BIOS or unavailable on processor
amd_pstate: the _CPC object is not present in SBIOS or ACPI disabled
powernv-cpufreq: Pstate set to safe frequency
mlx5_core 0000:3b:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8 GT/s x8 link at 0000:3a:00.0 (capable of 126.016 Gb/s with 8 GT/s x16 link)
x86/split lock detection: #AC: qemu-system-x86/4185 took a split_lock trap at address: 0x699e4dc1
NO_HZ: Clearing 0 from nohz_full range for timekeeping
hrtimer: interrupt took 6663395 ns
perf: interrupt took too long (2513 > 2500), lowering kernel.perf_event_max_sample_rate to 79500";
        assert_eq!(kinds(text).lines().count(), 11, "{}", kinds(text));
        assert!(meaning(text).contains("In this text: 2 lines."));
    }

    #[test]
    fn power_limits_are_known_with_whatever_stands_before() {
        for text in [
            "[   15.284963] CPU1: Package power limit notification (total events = 1)",
            "mce: CPU0: Core power limit notification",
        ] {
            assert!(meaning(text).contains("PL1"), "{text}");
        }
    }

    #[test]
    fn a_text_without_such_lines_is_not_explained() {
        assert_eq!(explain("hello 1 2 3\n"), []);
        assert_eq!(explain("CPU0: everything is fine"), []);
    }
}
