//! Reads what a PMU says of itself.
//!
//! Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-events.

use crate::Source;
use facts::pmu::{self, Bits, Counter, Pmu};
use facts::{CpuSet, Fact, IfPresent, parse};

/// The PMU called `name` in /sys/bus/event_source/devices. Events whose terms its format does not explain are
/// left out.
pub fn discover(source: &dyn Source, name: &str) -> Fact<Pmu> {
    let folder = format!("/sys/bus/event_source/devices/{name}");
    let type_id = source.parsed(&format!("{folder}/type"), |text| {
        parse::number(text)
            .and_then(|it| u32::try_from(it).map_err(|_| facts::Expected("a number of 32 bits")))
    })?;
    let cpus = source.parsed(&format!("{folder}/cpumask"), CpuSet::parse_list);
    let cpus = cpus.if_present()?.cloned();
    let formats = formats(source, &format!("{folder}/format"));
    let events = format!("{folder}/events");
    // A PMU without a single event on this model has no such folder, or an empty one.
    let names = source.list(&events).if_present().map(|it| it.cloned().unwrap_or_default())?;
    let event = |event: &String| {
        let path = format!("{events}/{event}");
        let config = source.parsed(&path, |text| pmu::config(text, &formats)).ok()?;
        Some(Counter {
            name: format!("{name}/{event}/"),
            type_id,
            config,
            filter: None,
            scale: optional(source.parsed(&format!("{path}.scale"), pmu::scale), 1.0)?,
            unit: optional(source.parsed(&format!("{path}.unit"), parse::line), String::new())?,
        })
    };
    let events = names.iter().filter(|it| !it.contains('.')).filter_map(event).collect();
    Ok(Pmu { name: name.to_owned(), type_id, cpus, events })
}

fn formats(source: &dyn Source, folder: &str) -> Vec<(String, Bits)> {
    let names = source.list(folder).unwrap_or_default();
    let format = |name: String| {
        let bits = source.parsed(&format!("{folder}/{name}"), Bits::parse).ok()?;
        Some((name, bits))
    };
    names.into_iter().filter_map(format).collect()
}

/// What a file says; `unless` where there is none. `None` where it cannot be understood: an event in unknown
/// units is none.
fn optional<T>(answer: Fact<T>, unless: T) -> Option<T> {
    match answer {
        Err(missing) if missing.is_absence() => Some(unless),
        answer => answer.ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;
    use facts::Missing;

    const POWER: &str = "\
//- /sys/bus/event_source/devices/power/type
24
//- /sys/bus/event_source/devices/power/cpumask
0,28
//- /sys/bus/event_source/devices/power/format/event
config:0-7
//- /sys/bus/event_source/devices/power/events/energy-pkg
event=0x02
//- /sys/bus/event_source/devices/power/events/energy-pkg.scale
2.3283064365386962890625e-10
//- /sys/bus/event_source/devices/power/events/energy-pkg.unit
Joules
//- /sys/bus/event_source/devices/power/events/energy-ram
event=0x03
//- /sys/bus/event_source/devices/power/events/energy-ram.scale
minus one
//- /sys/bus/event_source/devices/power/events/energy-new
colour=0x03
";

    fn discovered(text: &str, name: &str) -> Fact<Pmu> {
        discover(&Captured::excerpt(text).unwrap(), name)
    }

    #[test]
    fn an_event_has_its_config_scale_and_unit() {
        let power = discovered(POWER, "power").unwrap();
        let energy = power.event("energy-pkg").unwrap();
        assert_eq!((power.type_id, energy.config.0), (24, [2, 0, 0]));
        assert_eq!((energy.scale, energy.unit.as_str()), (1.0 / 4_294_967_296.0, "Joules"));
        assert_eq!(power.cpus.unwrap().to_string(), "0,28");
    }

    #[test]
    fn events_that_cannot_be_understood_are_left_out() {
        assert_eq!(discovered(POWER, "power").unwrap().events.len(), 1);
    }

    #[test]
    fn a_pmu_that_is_not_there_is_absent() {
        assert!(matches!(discovered(POWER, "msr"), Err(missing) if missing.is_absence()));
        let denied = Missing::denied("x");
        assert!(optional::<u8>(Err(denied), 1).is_none());
    }
}
