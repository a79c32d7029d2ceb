//! `sensors` of lm-sensors: how hot the processor is, and alarms of its supply.
//!
//! Source: lm-sensors, prog/sensors/chips.c. coretemp's `crit` is where the processor throttles, and `high` where fans should be at their
//! fastest (Documentation/hwmon/coretemp.rst).

use super::{Found, SOUND, said, untold};
use crate::finding::Severity;
use facts::HostView;
use facts::pasted::SENSORS;

/// Chips whose temperatures are the processor's, by the beginning of their names.
const PROCESSORS: [&str; 7] =
    ["coretemp", "k10temp", "k8temp", "zenpower", "cpu_thermal", "fam15h_power", "xgene_hwmon"];

/// So near to the critical temperature a processor throttles already.
const NEAR: f64 = 2.0;

pub(super) fn explain(text: &str, _host: &HostView) -> Option<Found> {
    let mut first = None;
    let (mut chip, mut name): (Option<(usize, &str)>, &str) = (None, "");
    let (mut faults, mut hottest): (Vec<(Severity, String)>, Option<f64>) = (Vec::new(), None);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if is_chip(line) {
            (chip, name) = (Some((at, line)), line);
        }
        let is_reading = line.contains("°C") || line.contains("ALARM") || line.ends_with('V');
        if let (Some((head, _)), true) = (chip, line.starts_with("Adapter:") || is_reading) {
            first.get_or_insert(head);
        }
        let is_processor = PROCESSORS.iter().any(|it| name.starts_with(it));
        if let Some(reading) = Reading::parse(line).filter(|_| is_processor) {
            first.get_or_insert(at);
            hottest = Some(hottest.map_or(reading.now, |it| it.max(reading.now)));
            faults.extend(reading.judge());
        } else if name.starts_with("rpi_volt") && line.contains("ALARM") {
            faults.push((
                Severity::High,
                said(
                    Severity::High,
                    "undervoltage",
                    "the supply of the board is below its limit: the firmware lowers the clock",
                ),
            ));
        }
    }
    let line = first?;
    faults.sort_by_key(|it| std::cmp::Reverse(it.0));
    let n_more = faults.len().saturating_sub(MOST_NAMED);
    let mut meaning: Vec<String> = faults.into_iter().take(MOST_NAMED).map(|it| it.1).collect();
    if n_more > 0 {
        meaning.push(format!("{n_more} more sensors say the same."));
    }
    if meaning.is_empty() {
        meaning.push(match hottest {
            Some(hottest) => {
                format!("{SOUND} The processor's hottest sensor shows {hottest:.0} °C.")
            }
            None => format!("{SOUND} No sensor in it is known to be the processor's."),
        });
    }
    meaning.push(untold(&SENSORS));
    Some(Found::new(line, &SENSORS, meaning))
}

const MOST_NAMED: usize = 4;

/// The name of a chip: `coretemp-isa-0000`, `k10temp-pci-00c3`, `rpi_volt-isa-0000`.
fn is_chip(line: &str) -> bool {
    let mut parts = line.rsplitn(3, '-');
    let (number, bus, name) = (parts.next(), parts.next(), parts.next());
    let is_number =
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_hexdigit()));
    let is_bus =
        matches!(bus, Some("isa" | "pci" | "virtual" | "acpi" | "mdio" | "spi" | "hid" | "scsi"));
    let is_numbered_bus = line.contains("-i2c-");
    !line.contains([' ', ':'])
        && is_number
        && (is_bus || is_numbered_bus)
        && name.is_some_and(|it| !it.is_empty())
}

/// A temperature: `Core 0:        +95.0°C  (high = +82.0°C, crit = +100.0°C)  ALARM (CRIT)`.
struct Reading<'a> {
    label: &'a str,
    now: f64,
    high: Option<f64>,
    critical: Option<f64>,
}

impl Reading<'_> {
    fn parse(line: &str) -> Option<Reading<'_>> {
        let (label, rest) = line.split_once(':')?;
        let now = celsius(rest)?;
        let limit = |name: &str| rest.split_once(name).and_then(|it| celsius(it.1));
        Some(Reading { label, now, high: limit("high = "), critical: limit("crit = ") })
    }

    fn judge(&self) -> Option<(Severity, String)> {
        let Reading { label, now, high, critical } = self;
        let (severity, message) = match (high, critical) {
            (_, Some(critical)) if *now >= critical - NEAR => (
                Severity::High,
                format!(
                    "{label} is at {now:.0} °C and throttles at {critical:.0} °C: look at fans, filters and heat sinks"
                ),
            ),
            (Some(high), Some(critical)) if now >= high && high < critical => (
                Severity::Low,
                format!(
                    "{label} is at {now:.0} °C, above the {high:.0} °C up to which it is meant to be cooled"
                ),
            ),
            _ => return None,
        };
        Some((severity, said(severity, "thermal-throttling", &message)))
    }
}

/// The number before `°C`, of which some terminals lose the degree sign.
fn celsius(text: &str) -> Option<f64> {
    let text = text.trim_start().trim_start_matches('+');
    let end = text
        .find(|it: char| !it.is_ascii_digit() && !matches!(it, '-' | '.' | ','))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let is_celsius = unit
        .trim_start_matches(|it: char| !it.is_ascii_alphanumeric() && !matches!(it, '(' | ')'))
        .starts_with('C');
    let number = number.replace(',', ".").parse().ok().filter(|it| (-100.0..=300.0).contains(it));
    number.filter(|_| is_celsius)
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    fn meaning(text: &str) -> String {
        tests::meaning(text, &[explain])
    }

    fn coretemp(now: &str) -> String {
        format!(
            "coretemp-isa-0000\nAdapter: ISA adapter\nPackage id 0:  +{now}°C  (high = +82.0°C, crit = +92.0°C)\n\
             Core 0:        +{now}°C  (high = +82.0°C, crit = +92.0°C)\n\n\
             nvme-pci-0100\nAdapter: PCI adapter\nComposite:    +98.9°C  (low  = -20.1°C, high = +83.8°C)\n                       (crit = +88.8°C)\n"
        )
    }

    #[test]
    fn a_processor_at_its_limit_is_told_and_a_drive_is_none() {
        assert!(
            meaning(&coretemp("91.0"))
                .starts_with("High, thermal-throttling: Package id 0 is at 91 °C"),
            "{}",
            meaning(&coretemp("91.0"))
        );
        assert!(meaning(&coretemp("84.0")).starts_with("Low, thermal-throttling"));
        let lost = coretemp("91.0").replace("°C", " C");
        assert!(
            meaning(&lost).starts_with("High, thermal-throttling: Package id 0 is at 91 °C"),
            "{}",
            meaning(&lost)
        );
        let cool = meaning(&coretemp("46.0"));
        assert!(
            cool.starts_with("Nothing in it is wrong. The processor's hottest sensor shows 46 °C"),
            "{cool}"
        );
    }

    #[test]
    fn an_alarm_of_a_raspberrys_supply_is_told() {
        let text =
            "rpi_volt-isa-0000\nAdapter: ISA adapter\nin0:              N/A  ALARM (LCRIT)\n";
        assert!(meaning(text).starts_with("High, undervoltage"), "{}", meaning(text));
        let text = "amdgpu-pci-0800\nAdapter: PCI adapter\nedge:         +44.0°C\n";
        assert!(meaning(text).contains("No sensor in it is known"), "{}", meaning(text));
        assert_eq!(meaning("it is 30 °C in here"), "unknown");
    }
}
