//! Looks for messages of the kernel about the clock that no other check explains.
//!
//! Source: the table of [`facts::log`], whose files name the kernel's sources. A log holds what was printed since the boot, or the
//! latest part of it: what is not there may have been overwritten. It cannot know whether what was reported still holds.

use crate::advice::Found;
use crate::check::{Check, Reference, Verdict};
use crate::clock::heat;
use crate::finding::{Confidence, Finding, Severity};
use facts::HostView;
use facts::log::{Logged, Message, Messages, Weight};
use facts::quantity::span;
use std::time::Duration;

pub(crate) const CHECK: Check = Check {
    id: "kernel-log",
    title: "the kernel reported something that costs time or clock",
    doc: "\
## What it looks at
The kernel's log: the ring buffer of the running kernel (/dev/kmsg), or `dmesg`, `messages` and the journal of the last boot in a
copy of a host. Of some 1,400 wordings of kernels since 2.6.32 it knows what they mean: heat, power and firmware limits, clock sources
that were given up, frequency drivers that did not start, CPUs and work that stood still, links that carry less than their card,
errors that hardware corrected. A message that explains the finding of another check is evidence of that finding. The others are one
finding here, an entry for each kind of message with how many lines there are and when, the worst first. `fullclock explain -` says what
each of them means.

## Why it matters
The kernel often says why a clock is low, once, at boot, in words that nobody looks up: that firmware keeps the P-states, that the TSC is
unstable, that a slot has half of the lanes. Some of it appears nowhere else.

## When to leave it alone
One line at boot is no rate, and what was reported may be over: look at the time. Where a later line says so, it is at most low. Messages of heat are weighed by the events that they count
against the uptime, a hundred lines and more by how often they come.
",
    references: &[
        Reference {
            title: "Linux: /dev/kmsg in Documentation/ABI/testing",
            url: "https://docs.kernel.org/admin-guide/abi-testing.html",
        },
        Reference {
            title: "syslog(2), dmesg(1)",
            url: "https://man7.org/linux/man-pages/man2/syslog.2.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    verdict(host, &host.log.as_ref()?.messages.iter().collect::<Vec<_>>())
}

/// The verdict on what `findings` leave unexplained: each message becomes evidence of the first of them whose check it names.
pub(crate) fn besides(host: &HostView, findings: &mut Found) -> Verdict {
    let mut left = Vec::new();
    for logged in &host.log.as_ref()?.messages {
        let of = |check: &&str| findings.iter().position(|(it, _)| it.id == *check);
        let explained = logged.messages.kind.checks.iter().find_map(of);
        match (explained, severity(host, logged)) {
            (Some(at), Some(_)) => {
                let finding = &mut findings[at].1;
                *finding = with_evidence(host, finding.clone(), logged);
            }
            (None, Some(_)) => left.push(logged),
            (_, None) => {}
        }
    }
    verdict(host, &left)
}

/// Where these messages are worth no finding, a log that could not be read may hold others.
fn verdict(host: &HostView, messages: &[&Logged]) -> Verdict {
    match (finding(host, messages), &host.log.as_ref()?.missing) {
        (None, Some(missing)) => Err(missing.clone()),
        (found, _) => Ok(found.into_iter().collect()),
    }
}

/// The one finding of these messages, `None` where none of them is worth one.
fn finding(host: &HostView, messages: &[&Logged]) -> Option<Finding> {
    let weighed = messages.iter().filter_map(|it| Some((severity(host, it)?, *it)));
    let mut weighed: Vec<(Severity, &Logged)> = weighed.collect();
    // The sort is stable: within a severity, in the order of the log.
    weighed.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
    let (severity, worst) = weighed.first()?;
    let kind = worst.messages.kind;
    let mut message = format!("the kernel's log says that {} ({})", kind.title, told(host, worst));
    match weighed.len() - 1 {
        0 => {}
        1 => message += "; 1 more kind of message",
        n => message.extend(["; ", &n.to_string(), " more kinds of messages"]),
    }
    let finding = Finding::new(*severity, Confidence::Medium, message);
    let finding = weighed.iter().fold(finding, |finding, (_, it)| with_evidence(host, finding, it));
    const MEANINGS: &str = "`fullclock explain -` says what the lines mean.";
    let lasting =
        if kind.fix.is_empty() { MEANINGS.to_owned() } else { format!("{} {MEANINGS}", kind.fix) };
    Some(finding.fix_lasting(lasting))
}

/// How many lines, when, and since when it is over.
fn told(host: &HostView, logged: &Logged) -> String {
    let told = logged.messages.told();
    match end_of(host, logged).map(|it| it.when.since_boot) {
        Some(Some(since_boot)) => format!("{told}, over {} after boot", span(since_boot)),
        Some(None) => format!("{told}, over since"),
        None => told,
    }
}

fn end_of<'a>(host: &'a HostView, logged: &Logged) -> Option<&'a Message> {
    host.log.as_ref().ok().and_then(|it| it.end_of(logged))
}

fn with_evidence(host: &HostView, finding: Finding, logged: &Logged) -> Finding {
    let Logged { source, messages } = logged;
    let source = format!("{source} ({}; {})", messages.kind.title, told(host, logged));
    finding.evidence(source, line(&messages.worst))
}

/// A message with its time since boot, as the kernel prints it.
fn line(Message { when, text, .. }: &Message) -> String {
    match when.since_boot {
        Some(it) => format!("[{:5}.{:06}] {text}", it.as_secs(), it.subsec_micros()),
        None => text.clone(),
    }
}

/// How much messages of a kind matter here; `None` where they are nothing to report. What is over is at most low.
fn severity(host: &HostView, logged: &Logged) -> Option<Severity> {
    let severity = while_it_lasts(host, &logged.messages)?;
    Some(if end_of(host, logged).is_some() { severity.min(Severity::Low) } else { severity })
}

fn while_it_lasts(host: &HostView, messages: &Messages) -> Option<Severity> {
    let Messages { kind, count, last, worst, .. } = messages;
    let of_kind = match kind.weight {
        Weight::Context => None,
        Weight::Info => Some(Severity::Info),
        Weight::Low => Some(Severity::Low),
        Weight::Medium => Some(Severity::Medium),
        Weight::High => Some(Severity::High),
    };
    let is_guest =
        matches!(host.platform.hypervisor, Ok(Some(_))) && !host.platform.is_control_domain;
    match kind.id {
        _ if is_guest && kind.is_of_machine() => None,
        "pcie-limited" if worst.amount.is_some_and(|it| it < OF_ADAPTERS) => None,
        // Until the TSC is measured every host uses a slow clock.
        "slow-clock-chosen" if last.when.since_boot.is_none_or(|it| it < BOOTED) => None,
        "cpu-throttled-by-heat" => {
            let uptime = worst.when.since_boot.or(host.kernel.uptime.as_ref().ok().copied());
            Some(heat::severity(worst.amount.unwrap_or(*count), uptime))
        }
        // 1 ms: a twentieth of that is ordinary on bare metal, in guests all is.
        "hrtimer-late" if worst.amount >= Some(1_000_000) => Some(Severity::Info),
        _ if of_kind == Some(Severity::Low) && is_frequent(messages) => Some(Severity::Medium),
        _ => of_kind,
    }
}

/// A boot is over by then.
const BOOTED: Duration = Duration::from_secs(60);

/// Gb/s that make a device worth a wider slot: the graphics of a management controller takes less.
const OF_ADAPTERS: u64 = 15;

/// A hundred lines and more, for an hour or longer, at least one in a minute.
fn is_frequent(Messages { count, first, last, .. }: &Messages) -> bool {
    const HOUR: Duration = Duration::from_secs(3600);
    let (Some(first), Some(last)) = (first.when.since_boot, last.when.since_boot) else {
        return false;
    };
    let span = last.saturating_sub(first);
    *count >= 100 && span >= HOUR && *count as f64 / span.as_secs_f64() >= 1.0 / 60.0
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::audit::audit;
    use crate::fixture::{XEON, findings, host_of, verdict};

    fn log(lines: &str) -> String {
        format!("{XEON}//- /dev/kmsg\n{lines}")
    }

    #[test]
    fn messages_that_nothing_explains_are_one_finding_with_the_worst_first() {
        let host = log(
            "[    0.100000] intel_pstate: Turbo disabled by BIOS or unavailable on processor\n\
                        [   40.000000] hrtimer: interrupt took 6663395 ns\n\
                        [  500.000000] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [postgres:77]\n\
                        [  900.000000] watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [postgres:77]\n",
        );
        assert_eq!(
            verdict(&CHECK, &host),
            "medium: the kernel's log says that a CPU ran kernel code for many seconds without a break (2 lines, from 8 min to \
             15 min after boot); 2 more kinds of messages"
        );
        let seen = &findings(&CHECK, &host)[0].evidence;
        assert!(seen[1].source.starts_with("/dev/kmsg (firmware disabled turbo"), "{seen:?}");
        assert_eq!(seen[2].value, "[   40.000000] hrtimer: interrupt took 6663395 ns");
    }

    #[test]
    fn a_log_that_could_not_be_read_is_not_clean() {
        let bundle = |line: &str| {
            let text = format!("//- /dmesg\n{line}\n//- /var/log/messages\n!denied\n");
            verdict(&CHECK, &format!("fullclock capture 1 (imported)\n{text}"))
        };
        assert_eq!(bundle("[ 1.0] hello"), "unknown: /var/log/messages may not be read");
        let lockup =
            "[  500.000000] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [postgres:77]";
        assert!(bundle(lockup).starts_with("medium: "));
    }

    #[test]
    fn what_a_later_line_ended_is_low_and_says_since_when() {
        let low = "[   10.000000] hwmon hwmon1: Undervoltage detected!\n";
        assert!(verdict(&CHECK, &log(low)).starts_with("medium: "));
        let normal = "[   14.000000] hwmon hwmon1: Voltage normalised\n";
        assert_eq!(
            verdict(&CHECK, &log(&format!("{low}{normal}"))),
            "low: the kernel's log says that the board's supply voltage was too low (1 line, 10 s after boot, over 14 s after boot)"
        );
    }

    #[test]
    fn ordinary_lines_of_a_boot_are_clean() {
        let host = log("[    0.000000] tsc: Detected 2100.000 MHz processor\n\
                        [    0.900000] Switching to clocksource hpet\n\
                        [    1.000000] clocksource: Switched to clocksource tsc\n\
                        [    2.000000] perf: interrupt took too long (2513 > 2500), lowering kernel.perf_event_max_sample_rate to 79500\n\
                        [    3.000000] hrtimer: interrupt took 22673 ns\n");
        assert_eq!(verdict(&CHECK, &host), "clean");
    }

    #[test]
    fn heat_is_weighed_by_its_events_and_one_after_boot_is_no_rate() {
        let hot = |at: &str, events: &str| {
            let line = "CPU12: Package temperature above threshold, cpu clock throttled";
            verdict(&CHECK, &log(&format!("[{at}] mce: {line} (total events = {events})\n")))
        };
        assert!(hot("335400.000000", "39112").starts_with("medium: "));
        assert!(hot("    5.000000", "1").starts_with("info: "));
        assert!(hot("720000.000000", "1").starts_with("info: "));
    }

    #[test]
    fn in_a_guest_what_is_about_the_machine_is_no_fault() {
        let lines = "[ 0.1] amd_pstate: the _CPC object is not present in SBIOS or ACPI disabled\n";
        assert!(verdict(&CHECK, &log(lines)).starts_with("low: "));
        let guest = format!("{}//- /sys/hypervisor/type\nxen\n", log(lines));
        assert_eq!(verdict(&CHECK, &guest), "clean");
        let stalled = log("[ 500.0] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [a:7]\n");
        assert!(
            verdict(&CHECK, &format!("{stalled}//- /sys/hypervisor/type\nxen\n"))
                .starts_with("medium: ")
        );
    }

    #[test]
    fn a_small_device_in_a_small_slot_is_no_finding() {
        let link = |capable: &str| {
            let link = format!(
                "available PCIe bandwidth, limited by 5.0 GT/s PCIe x1 link at 0000:e0:05.1 (capable of {capable} Gb/s with x)"
            );
            verdict(&CHECK, &log(&format!("[ 1.0] pci 0000:e1:00.0: 4.000 Gb/s {link}\n")))
        };
        assert_eq!(link("8.000"), "clean");
        assert!(link("126.016").starts_with("low: "));
    }

    #[test]
    fn a_log_that_may_not_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &format!("{XEON}//- /dev/kmsg\n!denied\n")),
            "unknown: /dev/kmsg may not be read"
        );
    }

    #[test]
    fn a_message_is_evidence_of_the_finding_that_it_explains() {
        let host = log("[335323.808733] tsc: Marking TSC unstable due to clocksource watchdog\n")
            + "//- /sys/devices/system/clocksource/clocksource0/current_clocksource\nhpet\n\
               //- /sys/devices/system/clocksource/clocksource0/available_clocksource\nhpet acpi_pm\n";
        let audit = audit(&host_of(&host));
        let of = |id: &str| audit.findings.iter().find(|(check, _)| check.id == id);
        let seen = &of("slow-clocksource").unwrap().1.evidence;
        let last = seen.last().unwrap();
        assert_eq!(
            last.value,
            "[335323.808733] tsc: Marking TSC unstable due to clocksource watchdog"
        );
        assert!(
            last.source
                .contains("(the kernel gave up the TSC as unstable; 1 line, 3.9 days after boot)"),
            "{last:?}"
        );
        assert!(of("kernel-log").is_none());
        assert!(audit.clean.iter().any(|it| it.id == "kernel-log"));
    }

    #[test]
    fn many_lines_for_hours_weigh_more_than_a_few() {
        let corrected = |n: u32| {
            let line = |at: u32| {
                format!(
                    "[{}.000000] pcieport 0000:00:1c.0: AER: Corrected error received: 0000:3b:00.0\n",
                    at * 20
                )
            };
            verdict(&CHECK, &log(&(1..=n).map(line).collect::<String>()))
        };
        assert!(corrected(20).starts_with("low: "));
        assert!(corrected(400).starts_with("medium: "));
    }

    #[test]
    fn it_is_judged_after_all_checks_that_its_messages_explain() {
        assert_eq!(crate::checks::CHECKS.last().unwrap().id, CHECK.id);
    }

    #[test]
    fn every_check_that_a_message_names_exists() {
        for kind in facts::log::kinds() {
            for id in kind.checks {
                assert!(crate::checks::find(id).is_some(), "{} names no check {id}", kind.id);
            }
        }
    }
}
