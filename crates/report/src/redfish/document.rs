//! The report as a document.

use super::{Report, verdict, watts};
use crate::document::{Align, Block, Document, Table, Text};
use facts::quantity::{counted, short_span};
use facts::redfish::{A_PROCESSOR, Bios, Limit, Processor, Redfish, Rise, Risen, THROTTLED_TIME};

/// Limits and throttling first, then what else there is, what could not be learned, and the time of each request.
pub fn document(report: &Report<'_>) -> Document {
    let Report { address, told, second } = report;
    let mut document = Document::new("fullclock bmc");
    document.paragraph(Text::strong(verdict(told)));
    if let Some(second) = second {
        document.paragraph(meanwhile(second, told));
    }
    document.labelled("controller", controller(address, told));
    document.labelled("machine", machine(told));
    limits(&mut document, &told.limits);
    processors(&mut document, &told.processors);
    let temperatures = told.temperatures.iter().map(|it| {
        let limit = it.threshold.map(|it| format!(", threshold {it:.0} °C")).unwrap_or_default();
        let text = Text::from(format!("{}: {:.0} °C{limit}", it.name, it.celsius));
        if it.is_high() { text.with(crate::document::Role::Strong, " reached") } else { text }
    });
    document.list("Temperatures", temperatures.collect());
    let words = told.words.iter().map(|it| Text::from(format!("{}: {}", it.source, it.value)));
    document.list("In the maker's words", words.collect());
    if let Some(bios) = &told.bios {
        settings(&mut document, bios);
    }
    versions(&mut document, told);
    let unknown = told.unknown.iter().map(|it| Text::from(format!("{}: {}", it.what, it.why)));
    document.list("Unknown", unknown.collect());
    let odd = told.odd.iter().map(|it| {
        Text::from(format!("{}: found {}, expected {}", it.source, it.found, it.expected))
    });
    document.list("Not as the schemas say", odd.collect());
    requests(&mut document, told);
    document
}

fn controller(address: &str, told: &Redfish) -> String {
    let service = &told.service;
    let names = [service.vendor.as_deref(), service.product.as_deref()];
    let version = service.version.as_ref().map(|it| format!("Redfish {it}"));
    let names = names.into_iter().flatten().chain(version.as_deref());
    let names = names.collect::<Vec<_>>().join(", ");
    if names.is_empty() { address.to_owned() } else { format!("{address} ({names})") }
}

fn machine(told: &Redfish) -> String {
    let system = &told.system;
    let names = [system.manufacturer.as_deref(), system.model.as_deref()];
    let names = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let names = if names.is_empty() { "unknown".to_owned() } else { names };
    match &system.bios_version {
        Some(version) => format!("{names}, firmware {version}"),
        None => names,
    }
}

/// Whether a processor was throttled between two looks.
fn meanwhile(second: &Risen, told: &Redfish) -> String {
    let seconds = second.time.as_secs_f64();
    let unknown = |why: &str| {
        format!("Whether a processor was throttled in these {seconds:.1} s is unknown: {why}.")
    };
    let rises = match &second.rises {
        Ok(rises) => rises,
        Err(why) => return unknown(why),
    };
    let n_counted = rises.iter().filter(|it| it.is_counted()).count();
    if n_counted == 0 {
        return unknown(uncounted(rises, told));
    }
    let of = |it: &Rise| {
        let parts = [(it.power_s, "a power limit"), (it.heat_s, "heat")];
        let risen =
            parts.into_iter().filter_map(|(rise, by)| Some((rise.filter(|it| *it > 0.0)?, by)));
        let parts: Vec<String> = risen.map(|(rise, by)| format!("{rise:.1} s by {by}")).collect();
        (!parts.is_empty()).then(|| format!("{} {}", it.processor, parts.join(" and ")))
    };
    let found: Vec<String> = rises.iter().filter_map(of).collect();
    let all = told.n_processors();
    let (of_all, rest) = match all.saturating_sub(n_counted) {
        0 => (String::new(), String::new()),
        n => (
            format!(" of the {n_counted} of {all} that were read"),
            format!(" Of {n} it is unknown: {}.", uncounted(rises, told)),
        ),
    };
    match &*found {
        [] => format!(
            "No processor{of_all} was throttled in these {seconds:.1} s, as the controller counts.{rest}"
        ),
        found => format!("Throttled in these {seconds:.1} s: {}.{rest}", found.join("; ")),
    }
}

/// Why there is no count of a processor: it was not read, its count fell, or there is none.
fn uncounted<'a>(rises: &[Rise], told: &'a Redfish) -> &'a str {
    match told.why_unknown(&[THROTTLED_TIME, A_PROCESSOR]) {
        Some(why) => why,
        None if rises.iter().any(|it| it.is_reset) => {
            "the controller's counts were reset between the looks"
        }
        None => "the controller does not count it",
    }
}

fn limits(document: &mut Document, limits: &[Limit]) {
    if limits.is_empty() {
        return;
    }
    document.heading("Limits on power");
    let row = |it: &Limit| {
        let state = match (it.is_in_force(), it.is_reached()) {
            (false, _) => "not in force",
            (true, Some(true)) => "in force, reached",
            (true, Some(false)) => "in force, not reached",
            (true, None) => "in force",
        };
        let range = match (it.least, it.most) {
            (Some(least), Some(most)) => format!("{least:.0} to {most:.0} W"),
            (None, Some(most)) => format!("up to {most:.0} W"),
            (Some(least), None) => format!("from {least:.0} W"),
            (None, None) => String::new(),
        };
        let mode = [it.mode.as_deref(), it.exception.as_deref()];
        let mode = mode.into_iter().flatten().collect::<Vec<_>>().join(", ");
        [
            it.name.clone(),
            watts(it.watts),
            range,
            mode,
            watts(it.drawn),
            watts(it.peak),
            state.to_owned(),
        ]
        .map(Text::from)
        .to_vec()
    };
    let columns = [
        ("limit", Align::Left),
        ("set to", Align::Right),
        ("may be", Align::Left),
        ("mode", Align::Left),
        ("drawn", Align::Right),
        ("most", Align::Right),
        ("", Align::Left),
    ];
    document.push(Block::Table(Table::new(&columns, limits.iter().map(row))));
}

fn processors(document: &mut Document, processors: &[Processor]) {
    if processors.is_empty() {
        return;
    }
    document.heading("Processors");
    let row = |it: &Processor| {
        let throttled = match it.throttled {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        };
        let causes = it.causes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let seconds = |it: Option<f64>| it.map(|it| format!("{it:.0} s")).unwrap_or_default();
        [
            it.name.clone(),
            throttled.to_owned(),
            causes,
            clock(it),
            seconds(it.power_limited_s),
            seconds(it.heat_limited_s),
        ]
        .map(Text::from)
        .to_vec()
    };
    let columns = [
        ("processor", Align::Left),
        ("throttled", Align::Left),
        ("by", Align::Left),
        ("clock", Align::Left),
        ("by power since reset", Align::Right),
        ("by heat", Align::Right),
    ];
    document.push(Block::Table(Table::new(&columns, processors.iter().map(row))));
}

/// "2400 of 3700 MHz, limited to 2800 MHz".
fn clock(it: &Processor) -> String {
    let now = match (it.speed_mhz, it.max_mhz) {
        (Some(now), Some(most)) => format!("{now:.0} of {most:.0} MHz"),
        (Some(now), None) => format!("{now:.0} MHz"),
        (None, Some(most)) => format!("up to {most:.0} MHz"),
        (None, None) => String::new(),
    };
    let limit = it.clock_limit().map(|it| format!("limited to {it:.0} MHz"));
    let parts = [Some(now).filter(|it| !it.is_empty()), limit];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn settings(document: &mut Document, bios: &Bios) {
    document.heading("Settings of the firmware that concern the clock");
    if bios.attributes.is_empty() {
        document.paragraph("The controller shows none.");
    }
    let then = |name: &str| {
        bios.pending.iter().find(|it| it.name == name).map(|it| it.then.clone()).unwrap_or_default()
    };
    let rows = bios.attributes.iter().map(|(name, now)| {
        vec![Text::from(name.as_str()), Text::from(now.as_str()), Text::from(then(name))]
    });
    let columns =
        [("setting", Align::Left), ("now", Align::Left), ("after a restart", Align::Left)];
    document.push(Block::Table(Table::new(&columns, rows)));
    if let Some(settings) = &bios.settings {
        document.note(
            Text::from("Changes are requested at ")
                .with(crate::document::Role::Code, format!("PATCH {settings}")),
        );
    }
}

fn versions(document: &mut Document, told: &Redfish) {
    if told.inventory.is_empty() {
        return;
    }
    document.heading("Versions of firmware");
    let rows = told.inventory.iter().map(|it| {
        let texts = [Some(&it.name), it.version.as_ref(), it.released.as_ref()];
        texts.map(|it| Text::from(it.cloned().unwrap_or_default())).to_vec()
    });
    let columns = [("firmware", Align::Left), ("version", Align::Left), ("released", Align::Left)];
    document.push(Block::Table(Table::new(&columns, rows)));
}

fn requests(document: &mut Document, told: &Redfish) {
    let total: f64 = told.requests.iter().map(|it| it.seconds).sum();
    document.heading("What did the controller take so long for?");
    let n = counted(told.requests.len() as u64, "request");
    document.paragraph(format!("{n}, {} in all.", time(total)));
    let rows = told.requests.iter().map(|it| {
        [it.path.clone(), it.outcome.clone(), time(it.seconds), it.bytes.to_string()]
            .map(Text::from)
            .to_vec()
    });
    let columns = [
        ("request", Align::Left),
        ("answer", Align::Left),
        ("time", Align::Right),
        ("bytes", Align::Right),
    ];
    document.push(Block::Table(Table::new(&columns, rows)));
}

fn time(seconds: f64) -> String {
    short_span((seconds.clamp(0.0, 1e9) * 1e9) as u64)
}
