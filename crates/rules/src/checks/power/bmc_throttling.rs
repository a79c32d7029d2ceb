//! Looks for processors that the management controller calls throttled, and for limits that it holds, as it says over Redfish.
//!
//! It cannot know what a controller does not say: many have no `Throttled`, and limits of chassis, racks and power supplies may be in none of its
//! resources.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use crate::party::Party;
use facts::redfish::{Limit, Processor, Redfish};
use facts::{CpuSet, HostView, Missing, Why, redfish};

pub(crate) const CHECK: Check = Check {
    id: "bmc-throttling",
    title: "the management controller limits power or throttles processors, as it says over Redfish",
    doc: "\
## What it looks at
What the management controller (BMC) says over Redfish, where the configuration names it (`redfish.url`): whether processors are
throttled and why (Throttled, ThrottleCauses), limits on power and what is drawn (EnvironmentMetrics, Control, Power), limits on the clock
(SpeedLimitMHz, OperatingSpeedRangeMHz), and for how long processors were throttled since their counts were reset (ProcessorMetrics). A limit is
in force if it is set, not disabled and below the highest that can be set; it is reached from 95 % of it on. `fullclock bmc` shows all of it.

## Why it matters
The controller may hold the processors back for a budget that was set long ago, for a power supply that failed, or for heat. No file of the kernel
shows that, and IPMI shows only some of it.

## When to leave it alone
Where the limit keeps a rack, a chassis or a breaker within its power. A limit that is not reached costs nothing and is a note. Which CPUs a
processor of the controller has is taken from its place in the list, where there are as many as packages.
",
    references: &[
        Reference {
            title: "DMTF DSP0266, Redfish Specification",
            url: "https://www.dmtf.org/sites/default/files/standards/documents/DSP0266_1.20.0.html",
        },
        Reference {
            title: "DMTF Redfish schemas: Processor (Throttled, ThrottleCauses), EnvironmentMetrics, Power",
            url: "https://redfish.dmtf.org/schemas/v1/",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let told = host.redfish.as_ref()?;
    let mut findings: Vec<Finding> = told.throttled().map(|it| throttled(host, told, it)).collect();
    findings.extend(told.processors.iter().filter_map(|it| clock_limited(host, told, it)));
    findings.extend(
        told.in_force().filter(|it| !is_told_by_dcmi(host, it)).map(|it| limited(told, it)),
    );
    if findings.is_empty() {
        findings.extend(since_reset(told));
    }
    if findings.is_empty() && !is_judged(told) {
        return Err(untold(told));
    }
    Ok(findings)
}

/// Whether the controller told enough for a clean verdict: about every processor, or, if it tells about none, about limits on power.
fn is_judged(told: &Redfish) -> bool {
    if told.left_out_a_processor() || told.odd_limit().is_some() {
        return false;
    }
    match told.n_judged() {
        0 => !told.limits.is_empty(),
        n => n == told.n_processors(),
    }
}

/// Why there is no verdict: what kept the controller from saying, or that it has no such thing.
fn untold(told: &Redfish) -> Missing {
    let what = format!("{}: power limits and throttled processors", redfish::NAME);
    let odd = told.odd_limit();
    let odd = odd.map(|it| format!("{} is {}: expected {}", it.source, it.found, it.expected));
    let of_another = |it: &&redfish::Unknown| it.what == redfish::OTHER_SYSTEMS;
    let first = || told.unknown.iter().find(|it| !of_another(it)).map(|it| &*it.why);
    let why = told.why_unknown(&[redfish::A_PROCESSOR]).or_else(first);
    let (n, all) = (told.n_judged(), told.n_processors());
    let partly = (n > 0 && n < all)
        .then(|| format!("it says of {n} of {all} processors whether they are throttled"));
    match why.map(str::to_owned).or(odd).or(partly) {
        Some(why) => Missing { what, why: Why::Failed(why) },
        None => Missing::not_here(what, "the controller shows neither"),
    }
}

fn throttled(host: &HostView, told: &Redfish, processor: &Processor) -> Finding {
    let causes = processor.causes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let causes = if causes.is_empty() { "it does not say why".to_owned() } else { causes };
    let message =
        format!("the management controller calls processor {} throttled: {causes}", processor.name);
    let is_heat =
        !processor.causes.is_empty() && processor.causes.iter().all(redfish::Cause::is_heat);
    let finding = Finding::new(Severity::Medium, Confidence::High, message)
        .evidence(format!("{} Throttled", processor.source), true)
        .evidence(format!("{} ThrottleCauses", processor.source), list(processor))
        .by_means_of(format!("throttling that the controller reports ({causes})"));
    let finding = with_limits(finding, told);
    let finding = if is_heat {
        finding
            .held_by(Party::Physics)
            .advising("fix the cooling")
            .fix_lasting("fix the cooling: fans, dust, the air that comes in")
    } else {
        finding.fix_lasting(lasting(told))
    };
    on_cpus(host, told, processor, finding)
}

fn list(processor: &Processor) -> String {
    processor.causes.iter().map(|it| &*it.0).collect::<Vec<_>>().join(", ")
}

/// The limits that are in force are evidence of what throttles.
fn with_limits(finding: Finding, told: &Redfish) -> Finding {
    told.in_force().fold(finding, |it, limit| it.evidence(&limit.source, set(limit)))
}

fn set(limit: &Limit) -> String {
    limit.watts.map(|it| it.to_string()).unwrap_or_default()
}

fn clock_limited(host: &HostView, told: &Redfish, processor: &Processor) -> Option<Finding> {
    let limit = processor.clock_limit()?;
    // Turbo may be off for a reason; below the nominal clock nothing is as it was bought.
    let is_low = processor.base_mhz.is_some_and(|base| limit < base);
    let severity = if is_low { Severity::Medium } else { Severity::Low };
    let of = processor.max_mhz.map(|it| format!(" of {it} MHz")).unwrap_or_default();
    let message = format!(
        "the management controller limits the clock of processor {} to {limit} MHz{of}",
        processor.name
    );
    let finding = Finding::new(severity, Confidence::High, message)
        .evidence(&processor.source, format!("{limit} MHz"))
        .by_means_of(format!("a limit of the clock ({limit} MHz)"))
        .fix_lasting(
            "find out who set the limit in the management controller, and remove it there",
        );
    Some(on_cpus(host, told, processor, finding))
}

/// Whether IPMI shows the same limit, which another check judges.
fn is_told_by_dcmi(host: &HostView, limit: &Limit) -> bool {
    let same = |it: &facts::ipmi::PowerLimit| {
        limit.power().is_some_and(|power| power.0.abs_diff(it.power.0) <= 1_000_000)
    };
    !limit.is_of_processor && host.power_cap.in_force().is_some_and(same)
}

fn limited(told: &Redfish, limit: &Limit) -> Finding {
    // What is called not throttled at the moment is not held down by its limit.
    let n_judged = told.n_judged();
    let is_free =
        n_judged > 0 && n_judged == told.n_processors() && told.throttled().next().is_none();
    let severity = match limit.is_reached() {
        Some(true) if !is_free => Severity::Medium,
        Some(false) if !limit.was_reached() => Severity::Info,
        Some(_) | None => Severity::Low,
    };
    let what = if limit.is_of_processor { &*limit.name } else { "the board" };
    let power = limit.power().map(|it| it.to_string()).unwrap_or_default();
    let message = format!("the management controller holds {what} to {power}{}", reach(limit));
    let finding = Finding::new(severity, Confidence::Medium, message)
        .evidence(&limit.source, set(limit))
        .by_means_of(format!("a power limit of {what} ({power})"));
    if severity == Severity::Info { finding } else { finding.fix_lasting(lasting(told)) }
}

fn reach(limit: &Limit) -> String {
    let watts = |it: Option<f64>| it.map(|it| format!("{it:.0} W"));
    let drawn = watts(limit.drawn.or(limit.average));
    match (drawn, limit.is_reached()) {
        (Some(drawn), Some(true)) => format!(", and {drawn} are drawn"),
        (Some(drawn), _) if limit.was_reached() => {
            let peak = watts(limit.peak).unwrap_or_default();
            format!(", of which up to {peak} were drawn, {drawn} at this moment")
        }
        (Some(drawn), _) => format!(", which does not bind: {drawn} are drawn"),
        (None, _) => "; what is drawn is unknown".to_owned(),
    }
}

fn since_reset(told: &Redfish) -> Option<Finding> {
    let seconds =
        |of: fn(&Processor) -> Option<f64>| -> f64 { told.processors.iter().filter_map(of).sum() };
    let (power, heat) = (seconds(|it| it.power_limited_s), seconds(|it| it.heat_limited_s));
    if power + heat <= 0.0 {
        return None;
    }
    let message = format!(
        "processors were throttled for {power:.0} s by a power limit and {heat:.0} s by heat since the management controller reset its counts"
    );
    let finding = Finding::new(Severity::Info, Confidence::High, message).since_boot();
    let counted = told
        .processors
        .iter()
        .filter(|it| it.power_limited_s.is_some() || it.heat_limited_s.is_some());
    Some(counted.fold(finding, |finding, it| {
        let counts = [
            ("PowerLimitThrottleDuration", it.power_limited_s),
            ("ThermalLimitThrottleDuration", it.heat_limited_s),
        ];
        let counts =
            counts.into_iter().filter_map(|(name, seconds)| Some(format!("{name} {} s", seconds?)));
        finding.evidence(&it.source, counts.collect::<Vec<_>>().join(", "))
    }))
}

/// The CPUs of a processor: those of the package at its place, where there are as many.
fn on_cpus(host: &HostView, told: &Redfish, processor: &Processor, finding: Finding) -> Finding {
    let at = told.processors.iter().position(|it| it.source == processor.source);
    let packages = host.topology.packages.as_deref().unwrap_or_default();
    let cpus: Option<CpuSet> = match packages.len() == told.n_processors() {
        true => at.and_then(|at| packages.get(at)).cloned(),
        false => None,
    };
    match cpus {
        Some(cpus) => finding.on(cpus, host.topology.n_online()),
        None => finding,
    }
}

/// What to do, with the request that would change the limit.
fn lasting(told: &Redfish) -> String {
    const FIRST: &str = "find out first whose budget it keeps, for breakers and power supplies may depend on it; then raise or remove it in the management controller";
    match told.in_force().next().and_then(request) {
        Some(request) => format!("{FIRST}; over Redfish: {request}"),
        None => format!("{FIRST} (`fullclock bmc` shows its limits)"),
    }
}

/// The request that sets a limit to its highest, or takes it away.
fn request(limit: &Limit) -> Option<String> {
    let (path, property) = limit.source.split_once(' ').unwrap_or((&limit.source, ""));
    if property == "PowerLimitWatts" {
        return Some(format!(
            "PATCH {path} {{\"PowerLimitWatts\": {{\"SetPoint\": {}}}}}",
            limit.most?
        ));
    }
    if property.is_empty() {
        return Some(format!("PATCH {path} {{\"SetPoint\": {}}}", limit.most?));
    }
    let at: usize = property.strip_prefix("PowerControl/")?.split('/').next()?.parse().ok()?;
    // Items of a list that stay as they are, are empty objects (DSP0266, "PATCH on array properties").
    let before = "{}, ".repeat(at.min(16));
    Some(format!(
        "PATCH {path} {{\"PowerControl\": [{before}{{\"PowerLimit\": {{\"LimitInWatts\": null}}}}]}}"
    ))
}

#[cfg(test)]
mod tests;
