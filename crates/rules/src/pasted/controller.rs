//! `ipmitool sel` and `ipmitool sensor`: what the management controller saw that lowers a processor's clock.
//!
//! Source: ipmitool, include/ipmitool/ipmi_sel.h (names of events), lib/ipmi_sel.c, lib/ipmi_sensor.c and lib/ipmi_sdr.c; names of sensors
//! are the makers'.

use super::{Found, SOUND, said, untold};
use crate::finding::Severity;
use facts::HostView;
use facts::pasted::{CONTROLLER_SENSORS, EVENT_LOG, Output};

/// What an event or a reading means, by words in it, in lower case.
struct Sign {
    words: &'static [&'static str],
    check: &'static str,
    severity: Severity,
    what: &'static str,
}

const SIGNS: &[Sign] = &[
    Sign {
        words: &["prochot", "throttled", "processor hot"],
        check: "prochot-asserted",
        severity: Severity::Medium,
        what: "the board told the processor to slow down (PROCHOT#)",
    },
    Sign {
        words: &["thermal trip", "thermtrip"],
        check: "thermal-throttling",
        severity: Severity::Medium,
        what: "the processor was so hot that it was switched off",
    },
    Sign {
        words: &["power limit", "power cap", "power budget"],
        check: "bmc-power-cap",
        severity: Severity::Medium,
        what: "the board was held to a power limit",
    },
    Sign {
        words: &["ac lost", "failure detected", "redundancy lost", "input lost"],
        check: "prochot-asserted",
        severity: Severity::Low,
        what: "a power supply failed or lost its input: many boards slow the processor down until it is back",
    },
    Sign {
        words: &["upper critical", "upper non-recoverable", "upper non-critical"],
        check: "thermal-throttling",
        severity: Severity::Low,
        what: "a sensor was above its limit: where it is a temperature, look at fans and air flow",
    },
];

fn sign(text: &str) -> Option<&'static Sign> {
    let text = text.to_lowercase();
    SIGNS.iter().find(|it| it.words.iter().any(|word| text.contains(word)))
}

/// Events of one kind.
struct Kind<'a> {
    sign: &'static Sign,
    count: usize,
    last: &'a str,
    /// Whether the last one says that it is over.
    is_over: bool,
}

pub(super) fn explain_log(text: &str, _host: &HostView) -> Option<Found> {
    let mut first = None;
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    let mut n = 0;
    for (at, line) in text.lines().enumerate() {
        let cells = cells(line);
        if !is_event(&cells) {
            continue;
        }
        first.get_or_insert(at);
        n += 1;
        let what = cells[3..].join(" ");
        let Some(sign) = sign(&what) else { continue };
        let is_over = what.contains("Deasserted") || what.contains("State Deasserted");
        let known = kinds.iter().position(|it| std::ptr::eq(it.sign, sign));
        let kind = match known {
            Some(at) => &mut kinds[at],
            None => {
                kinds.push(Kind { sign, count: 0, last: line, is_over });
                kinds.last_mut()?
            }
        };
        kind.count += usize::from(!is_over);
        (kind.last, kind.is_over) = (line, is_over);
    }
    let line = first?;
    let mut meaning: Vec<String> = kinds.iter().map(judge).collect();
    if meaning.is_empty() {
        meaning.push(format!("{SOUND} None of its {n} events is known to lower a clock."));
    }
    meaning.push(untold(&EVENT_LOG));
    Some(Found::new(line, &EVENT_LOG, meaning))
}

/// What a line of the log holds: between bars, or between commas of `ipmitool -c`.
fn cells(line: &str) -> Vec<&str> {
    let separator = if line.contains('|') { '|' } else { ',' };
    line.split(separator).map(str::trim).collect()
}

/// `1 | 02/15/2018 | 10:58:39 | Processor #0x61 | Throttled | Asserted`: a number in hexadecimal, a date or a time since the start.
fn is_event(cells: &[&str]) -> bool {
    let &[number, date, time, ..] = cells else { return false };
    let is_date = date.matches('/').count() == 2
        || date.matches('-').count() == 2
        || matches!(date, "Pre-Init" | "Pre-init");
    let is_time = time.contains(':') || time.chars().all(|it| it.is_ascii_digit());
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_hexdigit());
    cells.len() >= 5 && is_number && is_date && is_time
}

fn judge(kind: &Kind<'_>) -> String {
    let Kind { sign, count, last, is_over } = kind;
    let severity = if *is_over { sign.severity.min(Severity::Low) } else { sign.severity };
    let state = if *is_over { "; it was over at the last of them" } else { "" };
    let cells = cells(last);
    let events = if *count == 1 { "1 event".to_owned() } else { format!("{count} events") };
    said(
        severity,
        sign.check,
        &format!("{}: {events}{state}, the last {}", sign.what, cells[1..].join(" ")),
    )
}

pub(super) fn explain_sensors(text: &str, _host: &HostView) -> Option<Found> {
    let (mut first, mut n) = (None, 0);
    let mut meaning: Vec<String> = Vec::new();
    let mut more = 0_usize;
    for (at, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let Some(sensor) = Sensor::parse(&cells) else { continue };
        first.get_or_insert(at);
        n += 1;
        if let Some(fault) = sensor.judge() {
            if meaning.len() < MOST_NAMED { meaning.push(fault) } else { more += 1 }
        }
    }
    let line = first?;
    if more > 0 {
        meaning.push(format!("{more} more sensors are beyond a limit."));
    }
    if meaning.is_empty() {
        meaning.push(format!(
            "{SOUND} None of its {n} sensors is beyond a limit that lowers a clock."
        ));
    }
    meaning.push(untold(&CONTROLLER_SENSORS));
    Some(found(line, meaning))
}

fn found(line: usize, meaning: Vec<String>) -> Found {
    const OUTPUT: &Output = &CONTROLLER_SENSORS;
    Found::new(line, OUTPUT, meaning)
}

const MOST_NAMED: usize = 6;

/// States of a sensor with limits: `sensor` names them in two letters, `sdr` in up to three (lib/ipmi_sdr.c, ipmi_sdr_get_status).
const STATES: [(&str, &str); 11] = [
    ("ok", ""),
    ("ns", ""),
    ("nc", "a warning"),
    ("unc", "a warning"),
    ("lnc", "a warning"),
    ("cr", "critical"),
    ("ucr", "critical"),
    ("lcr", "critical"),
    ("nr", "beyond all limits"),
    ("unr", "beyond all limits"),
    ("lnr", "beyond all limits"),
];

/// One sensor.
struct Sensor<'a> {
    name: &'a str,
    /// What it reads, or the states that it is in.
    reading: String,
    state: &'static str,
}

impl<'a> Sensor<'a> {
    /// `CPU1 Temp | 95.000 | degrees C | cr | 0.0 | ...` of `sensor`; `CPU1 Temp | 95 degrees C | cr` of `sdr`;
    /// `CPU1 Temp | 01h | cr | 3.1 | 95 degrees C` of `sdr elist`; `PS2 Status | 0x0 | discrete | 0x0900 | na ...`.
    fn parse(cells: &[&'a str]) -> Option<Sensor<'a>> {
        let state = |text: &str| STATES.iter().find(|it| it.0 == text).map(|it| it.1);
        match cells {
            [name, reading, unit, told, _, ..] if cells.len() == 10 => {
                let state = state(told)
                    .or_else(|| told.starts_with("0x").then_some(""))
                    .or((*told == "na").then_some(""))?;
                Some(Sensor { name, reading: format!("{reading} {unit}"), state })
            }
            [name, number, told, _, reading] if is_number(number) => {
                Some(Sensor { name, reading: (*reading).to_owned(), state: state(told)? })
            }
            [name, reading, told] if is_reading(reading) => {
                Some(Sensor { name, reading: (*reading).to_owned(), state: state(told)? })
            }
            _ => None,
        }
    }

    fn judge(&self) -> Option<String> {
        let Sensor { name, reading, state } = self;
        let is_temperature = reading.contains("degrees");
        let watts = reading.contains("Watts");
        if !state.is_empty() && (is_temperature || watts) {
            let is_processor = ["cpu", "proc", "pkg", "dts", "vr"]
                .iter()
                .any(|it| name.to_lowercase().contains(it));
            let severity = match *state {
                "a warning" => Severity::Low,
                _ if is_processor => Severity::High,
                _ => Severity::Medium,
            };
            let check = if is_temperature { "thermal-throttling" } else { "bmc-power-cap" };
            return Some(said(severity, check, &format!("{name} is at {reading}, {state}")));
        }
        let text = format!("{name} {reading}");
        let is_asserted = reading.contains("Assert") && !reading.contains("Deassert");
        let is_told = reading.contains("Throttl")
            || reading.contains("Failure")
            || reading.contains("lost")
            || is_asserted;
        let sign = sign(&text).filter(|_| is_told)?;
        Some(said(sign.severity, sign.check, &format!("{name}: {reading}; {}", sign.what)))
    }
}

/// What `sdr` prints of a sensor (lib/ipmi_sdr.c): a number and its unit, a state in hexadecimal, or why there is none.
fn is_reading(text: &str) -> bool {
    const UNITS: [&str; 8] =
        ["degrees", "RPM", "Volts", "Watts", "Amps", "percent", "unspecified", "CFM"];
    let has_unit = text.starts_with(|it: char| it.is_ascii_digit())
        && UNITS.iter().any(|it| text.contains(it));
    has_unit
        || text.starts_with("0x")
        || matches!(text, "no reading" | "disabled" | "Not Readable" | "Not Present")
}

/// A sensor's number: `01h`.
fn is_number(text: &str) -> bool {
    text.strip_suffix('h')
        .is_some_and(|it| it.len() == 2 && it.bytes().all(|it| it.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    fn meaning(text: &str) -> String {
        tests::meaning(text, &[explain_log, explain_sensors])
    }

    #[test]
    fn events_that_lower_a_clock_are_counted() {
        let text = "\
   1 | 02/15/2018 | 10:58:39 | Event Logging Disabled #0x07 | Log area reset/cleared | Asserted
   2 | 02/16/2018 | 01:02:03 | Processor #0x61 | Throttled | Asserted
   3 | 02/16/2018 | 01:02:13 | Processor #0x61 | Throttled | Asserted
   4 | 02/17/2018 | 11:00:00 | Power Supply #0x74 | Power Supply AC lost | Asserted
   5 | 02/17/2018 | 11:05:00 | Power Supply #0x74 | Power Supply AC lost | Deasserted";
        let said = meaning(text);
        assert!(said.contains("Medium, prochot-asserted: the board told the processor to slow down (PROCHOT#): 2 events, the last 02/16/2018 01:02:13"), "{said}");
        assert!(said.contains("Low, prochot-asserted: a power supply failed"), "{said}");
    }

    #[test]
    fn a_log_with_commas_is_the_same_log() {
        let text = "1,02/16/2018,01:02:03,Processor #0x61,Throttled,Asserted\n\
                    2,02/16/2018,01:02:13,Processor #0x61,Throttled,Asserted\n\
                    3,Pre-Init,0000000012,Memory #0x02,Uncorrectable ECC,Asserted";
        let said = meaning(text);
        assert!(said.contains("(PROCHOT#): 2 events, the last 02/16/2018 01:02:13"), "{said}");
        let bars = text.replace(',', " | ");
        assert_eq!(said, meaning(&bars));
        assert_eq!(meaning("1,2,3,4,5\nname,value,unit,ok,0"), "unknown");
    }

    #[test]
    fn a_log_of_other_events_is_sound() {
        let text = "   1 | 02/15/2018 | 10:58:39 | Event Logging Disabled #0x07 | Log area reset/cleared | Asserted\n\
                    \u{20}  2 | 02/15/2018 | 10:59:00 | System ACPI Power State #0x02 | S0/G0: working | Asserted";
        assert!(
            meaning(text).starts_with("Nothing in it is wrong. None of its 2 events"),
            "{}",
            meaning(text)
        );
        assert_eq!(meaning("a | b | c"), "unknown");
    }

    #[test]
    fn sensors_beyond_their_limits_are_told_in_each_form() {
        for text in [
            "CPU1 Temp        | 95.000     | degrees C  | cr    | 0.000     | 0.000     | 0.000     | 90.000    | 95.000    | 95.000",
            "CPU1 Temp        | 95 degrees C      | cr",
            "CPU1 Temp        | 01h | ucr |  3.1 | 95 degrees C",
        ] {
            assert!(
                meaning(text).starts_with("High, thermal-throttling: CPU1 Temp is at 95"),
                "{}",
                meaning(text)
            );
        }
        let text = "PS2 Status       | C9h | ok  | 10.2 | Presence detected, Failure detected";
        assert!(
            meaning(text).starts_with("Low, prochot-asserted: PS2 Status"),
            "{}",
            meaning(text)
        );
    }

    #[test]
    fn sensors_within_their_limits_are_sound() {
        let text = "CPU1 Temp        | 45.000     | degrees C  | ok    | 0.000     | 0.000     | 0.000     | 90.000    | 95.000    | 95.000\n\
                    PS2 Status       | 0x0        | discrete   | 0x0100| na        | na        | na        | na        | na        | na";
        assert!(meaning(text).contains("None of its 2 sensors"), "{}", meaning(text));
        assert_eq!(meaning("a table | of something | ok"), "unknown");
    }
}
