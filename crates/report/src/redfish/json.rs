//! The report as JSON: `schemas/bmc-1.json`.

use super::{Report, verdict};
use crate::json::{Head, Opening, pretty};
use facts::redfish::{self, Redfish};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;
use std::collections::BTreeMap;

/// What a management controller says over Redfish: what limits power, what throttles the processors, and how long each answer took.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BmcDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    controller: Controller<'a>,
    machine: Machine<'a>,
    /// Limits and throttling in a sentence.
    verdict: String,
    /// Limits on power, in force or not.
    limits: Vec<Limit<'a>>,
    /// Those that were read.
    processors: Vec<Processor<'a>>,
    /// How many processors the controller lists, read or not.
    processors_listed: usize,
    /// Temperatures of CPUs and of the air that comes in, and all that are at a threshold.
    temperatures: Vec<Temperature<'a>>,
    /// What the maker adds to the schemas.
    words: Vec<Word<'a>>,
    /// Settings of the firmware; null unless requested by --bios, and where the controller shows none.
    bios: Option<Bios<'a>>,
    /// Versions of firmware; empty unless requested by --inventory.
    inventory: Vec<Software<'a>>,
    /// What could not be learned.
    unknown: Vec<Unknown<'a>>,
    /// Properties that are not what the schemas say.
    odd: Vec<Odd<'a>>,
    /// The requests, in their order.
    requests: Vec<Request<'a>>,
    /// The time between the two looks of --look; null of a single look.
    look_s: Option<f64>,
    /// How long each processor was throttled between them.
    rises: Vec<Rise<'a>>,
    /// Why that is unknown; null where it is known of a processor, and of a single look.
    no_rises: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct Controller<'a> {
    url: &'a str,
    vendor: Option<&'a str>,
    product: Option<&'a str>,
    redfish_version: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct Machine<'a> {
    path: &'a str,
    manufacturer: Option<&'a str>,
    model: Option<&'a str>,
    bios_version: Option<&'a str>,
    power_state: Option<&'a str>,
}

/// A limit on power.
#[derive(Serialize, JsonSchema)]
struct Limit<'a> {
    /// The resource and the property.
    source: &'a str,
    name: &'a str,
    of: Of,
    in_force: bool,
    /// Whether what is drawn is 95 % of it or more; null where unknown.
    reached: Option<bool>,
    set_w: Option<f64>,
    least_w: Option<f64>,
    most_w: Option<f64>,
    /// ControlMode.
    mode: Option<&'a str>,
    /// LimitException.
    exception: Option<&'a str>,
    drawn_w: Option<f64>,
    average_w: Option<f64>,
    peak_w: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Of {
    Board,
    Processor,
}

#[derive(Serialize, JsonSchema)]
struct Processor<'a> {
    path: &'a str,
    name: &'a str,
    model: Option<&'a str>,
    /// null where the controller does not say.
    throttled: Option<bool>,
    /// ThrottleCauses, in the controller's words.
    causes: Vec<&'a str>,
    speed_mhz: Option<f64>,
    base_mhz: Option<f64>,
    max_mhz: Option<f64>,
    /// A limit that was set, below the highest clock.
    limit_mhz: Option<f64>,
    turbo: Option<&'a str>,
    /// How long it was throttled by a power limit since it was reset.
    power_limited_s: Option<f64>,
    /// The same by heat.
    heat_limited_s: Option<f64>,
    celsius: Option<f64>,
    health: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct Temperature<'a> {
    source: &'a str,
    name: &'a str,
    celsius: f64,
    threshold_celsius: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct Word<'a> {
    source: &'a str,
    value: &'a str,
}

/// Settings of the firmware that concern the clock.
#[derive(Serialize, JsonSchema)]
struct Bios<'a> {
    registry: Option<&'a str>,
    /// Where a change is requested.
    settings: Option<&'a str>,
    attributes: &'a BTreeMap<String, String>,
    /// What the next restart changes.
    pending: Vec<Pending<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct Pending<'a> {
    name: &'a str,
    now: Option<&'a str>,
    then: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct Software<'a> {
    path: &'a str,
    name: &'a str,
    version: Option<&'a str>,
    released: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct Unknown<'a> {
    what: &'a str,
    why: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct Odd<'a> {
    source: &'a str,
    found: &'a str,
    expected: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct Request<'a> {
    path: &'a str,
    /// The status, or why there is none.
    outcome: &'a str,
    took_s: f64,
    bytes: u64,
}

/// How long a processor was throttled between two looks.
#[derive(Serialize, JsonSchema)]
struct Rise<'a> {
    processor: &'a str,
    /// By a power limit; null where the controller does not count it.
    power_s: Option<f64>,
    heat_s: Option<f64>,
}

/// The report as JSON.
pub fn json(head: &Head, report: &Report<'_>) -> Result<String> {
    let Report { address, told, second } = report;
    let (service, system) = (&told.service, &told.system);
    let rises = second.and_then(|it| it.rises.as_ref().ok());
    pretty(&BmcDocument {
        opening: head.opening(),
        controller: Controller {
            url: address,
            vendor: service.vendor.as_deref(),
            product: service.product.as_deref(),
            redfish_version: service.version.as_deref(),
        },
        machine: Machine {
            path: &system.source,
            manufacturer: system.manufacturer.as_deref(),
            model: system.model.as_deref(),
            bios_version: system.bios_version.as_deref(),
            power_state: system.power.as_deref(),
        },
        verdict: verdict(told),
        limits: told.limits.iter().map(limit).collect(),
        processors: told.processors.iter().map(processor).collect(),
        processors_listed: told.n_processors(),
        temperatures: told.temperatures.iter().map(temperature).collect(),
        words: told.words.iter().map(|it| Word { source: &it.source, value: &it.value }).collect(),
        bios: told.bios.as_ref().map(bios),
        inventory: told.inventory.iter().map(software).collect(),
        unknown: told.unknown.iter().map(|it| Unknown { what: &it.what, why: &it.why }).collect(),
        odd: told.odd.iter().map(odd).collect(),
        requests: requests(told),
        look_s: second.map(|it| it.time.as_secs_f64()),
        rises: rises.into_iter().flatten().map(rise).collect(),
        no_rises: second.and_then(|it| it.rises.as_ref().err()).map(String::as_str),
    })
}

fn limit(it: &redfish::Limit) -> Limit<'_> {
    Limit {
        source: &it.source,
        name: &it.name,
        of: if it.is_of_processor { Of::Processor } else { Of::Board },
        in_force: it.is_in_force(),
        reached: it.is_reached(),
        set_w: it.watts,
        least_w: it.least,
        most_w: it.most,
        mode: it.mode.as_deref(),
        exception: it.exception.as_deref(),
        drawn_w: it.drawn,
        average_w: it.average,
        peak_w: it.peak,
    }
}

fn processor(it: &redfish::Processor) -> Processor<'_> {
    Processor {
        path: &it.source,
        name: &it.name,
        model: it.model.as_deref(),
        throttled: it.throttled,
        causes: it.causes.iter().map(|it| &*it.0).collect(),
        speed_mhz: it.speed_mhz,
        base_mhz: it.base_mhz,
        max_mhz: it.max_mhz,
        limit_mhz: it.clock_limit(),
        turbo: it.turbo.as_deref(),
        power_limited_s: it.power_limited_s,
        heat_limited_s: it.heat_limited_s,
        celsius: it.celsius,
        health: it.health.as_deref(),
    }
}

fn temperature(it: &redfish::Temperature) -> Temperature<'_> {
    let (source, name) = (&*it.source, &*it.name);
    Temperature { source, name, celsius: it.celsius, threshold_celsius: it.threshold }
}

fn bios(it: &redfish::Bios) -> Bios<'_> {
    let pending = it.pending.iter();
    Bios {
        registry: it.registry.as_deref(),
        settings: it.settings.as_deref(),
        attributes: &it.attributes,
        pending: pending
            .map(|it| Pending { name: &it.name, now: it.now.as_deref(), then: &it.then })
            .collect(),
    }
}

fn software(it: &redfish::Software) -> Software<'_> {
    let (version, released) = (it.version.as_deref(), it.released.as_deref());
    Software { path: &it.source, name: &it.name, version, released }
}

fn odd(it: &redfish::Odd) -> Odd<'_> {
    Odd { source: &it.source, found: &it.found, expected: &it.expected }
}

fn requests(told: &Redfish) -> Vec<Request<'_>> {
    let requests = told.requests.iter().map(|it| Request {
        path: &it.path,
        outcome: &it.outcome,
        took_s: it.seconds,
        bytes: it.bytes,
    });
    requests.collect()
}

fn rise(it: &redfish::Rise) -> Rise<'_> {
    Rise { processor: &it.processor, power_s: it.power_s, heat_s: it.heat_s }
}
