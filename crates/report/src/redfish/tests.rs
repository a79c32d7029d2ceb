//! The report of a look, with everything in it and with nothing.

use super::*;
use crate::document::Format;
use crate::schemas::checked;
use facts::redfish::{
    Bios, Cause, Odd, Pending, Processor, Request, Rise, Service, Software, System, Temperature,
    Unknown, Word,
};
use std::collections::BTreeMap;
use std::time::Duration;

fn rise(processor: &str, power_s: Option<f64>) -> Rise {
    Rise { processor: processor.to_owned(), power_s, heat_s: None, is_reset: false }
}

fn second(seconds: u64, rises: Vec<Rise>) -> Risen {
    Risen { time: Duration::from_secs(seconds), rises: Ok(rises) }
}

fn text(report: &Report<'_>) -> String {
    document(report).render(Format::Text(crate::Style { color: false, width: 100 }))
}

fn limit() -> Limit {
    Limit {
        source: "/redfish/v1/Chassis/1/Power PowerControl/0/PowerLimit".to_owned(),
        name: "System Power Control".to_owned(),
        watts: Some(500.0),
        most: Some(1400.0),
        exception: Some("NoAction".to_owned()),
        drawn: Some(480.0),
        peak: Some(499.0),
        ..Limit::default()
    }
}

fn bios() -> Bios {
    Bios {
        source: String::new(),
        registry: None,
        attributes: BTreeMap::from([("ProcTurboMode".to_owned(), "Enabled".to_owned())]),
        pending: vec![Pending {
            name: "ProcTurboMode".to_owned(),
            now: Some("Enabled".to_owned()),
            then: "Disabled".to_owned(),
        }],
        settings: Some("/redfish/v1/Systems/1/Bios/Settings".to_owned()),
        ..Bios::default()
    }
}

fn told() -> Redfish {
    let cpu = |name: &str, throttled| Processor {
        name: name.to_owned(),
        throttled: Some(throttled),
        causes: if throttled { vec![Cause("PowerLimit".to_owned())] } else { Vec::new() },
        speed_mhz: Some(1200.0),
        max_mhz: Some(3700.0),
        limit_mhz: Some(2800.0),
        power_limited_s: Some(93.0),
        ..Processor::default()
    };
    Redfish {
        service: Service {
            vendor: Some("Dell".to_owned()),
            version: Some("1.15.0".to_owned()),
            ..Service::default()
        },
        system: System {
            manufacturer: Some("Dell Inc.".to_owned()),
            model: Some("PowerEdge R760".to_owned()),
            bios_version: Some("2.3.5".to_owned()),
            ..System::default()
        },
        limits: vec![limit()],
        processors: vec![cpu("CPU.Socket.1", true), cpu("CPU.Socket.2", false)],
        temperatures: vec![Temperature {
            source: String::new(),
            name: "CPU 1".to_owned(),
            celsius: 96.0,
            threshold: Some(95.0),
        }],
        words: vec![Word {
            source: "/redfish/v1/Systems/1 Oem/Hpe/PowerRegulatorMode".to_owned(),
            value: "Dynamic".to_owned(),
        }],
        bios: Some(bios()),
        inventory: vec![Software {
            source: String::new(),
            name: "BIOS".to_owned(),
            version: Some("2.3.5".to_owned()),
            released: None,
        }],
        unknown: vec![Unknown {
            what: "temperatures".to_owned(),
            why: "the controller failed (503)".to_owned(),
        }],
        odd: vec![Odd {
            source: "/redfish/v1/ Vendor".to_owned(),
            found: "7".to_owned(),
            expected: "text".to_owned(),
        }],
        requests: vec![Request {
            path: "/redfish/v1/".to_owned(),
            outcome: "200".to_owned(),
            seconds: 0.051,
            bytes: 812,
        }],
        ..Redfish::default()
    }
}

#[test]
fn a_look_has_its_verdict_first_and_the_time_of_each_request_last() {
    let told = told();
    let second = second(10, vec![rise("CPU.Socket.1", Some(3.5)), rise("CPU.Socket.2", Some(0.0))]);
    insta::assert_snapshot!(text(&Report {
        address: "https://bmc7",
        told: &told,
        second: Some(&second)
    }));
}

#[test]
fn what_is_unknown_is_not_called_fine() {
    let nothing = Redfish::default();
    let shown = text(&Report { address: "https://bmc7", told: &nothing, second: None });
    assert!(shown.contains("Which limit on power it holds is unknown; it does not say whether processors are throttled."), "{shown}");
    let free = Redfish {
        limits: vec![Limit { drawn: Some(70.0), ..Limit::default() }],
        ..Redfish::default()
    };
    assert!(verdict(&free).starts_with("It holds no limit on power; it does not say"));
}

/// What is said of the time between two looks.
fn between(told: &Redfish, second: &Risen) -> String {
    let shown = text(&Report { address: "", told, second: Some(second) });
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn unknown(what: &str, why: &str) -> Unknown {
    Unknown { what: what.to_owned(), why: why.to_owned() }
}

#[test]
fn why_it_is_unknown_whether_a_processor_was_throttled_is_the_true_reason() {
    let free = Redfish { n_listed: 2, ..Redfish::default() };
    let spent =
        "not asked: a look sends 8 requests for limits and throttling, and they were used up";
    let unasked =
        Redfish { unknown: vec![unknown(facts::redfish::THROTTLED_TIME, spent)], ..free.clone() };
    let reset = Rise { is_reset: true, ..rise("1", None) };
    let stopped = Risen { time: Duration::ZERO, rises: Err("Ctrl-C came first".to_owned()) };
    for (told, second, words) in [
        (&free, second(1, vec![rise("1", None)]), "is unknown: the controller does not count it."),
        (&unasked, second(1, vec![rise("1", None)]), &*format!("is unknown: {spent}.")),
        (&unasked, second(1, Vec::new()), &*format!("is unknown: {spent}.")),
        (
            &free,
            second(1, vec![reset]),
            "is unknown: the controller's counts were reset between the looks.",
        ),
        (&free, stopped, "in these 0.0 s is unknown: Ctrl-C came first."),
        (
            &free,
            second(1, vec![rise("1", Some(0.0)), rise("2", Some(0.0))]),
            "No processor was throttled in these 1.0 s, as the controller counts.",
        ),
        (
            &unasked,
            second(1, vec![rise("1", Some(0.0)), rise("2", None)]),
            &*format!(
                "No processor of the 1 of 2 that were read was throttled in these 1.0 s, as the controller counts. Of 1 it is unknown: {spent}."
            ),
        ),
        (
            &unasked,
            second(1, vec![rise("1", Some(0.5)), rise("2", None)]),
            &*format!(
                "Throttled in these 1.0 s: 1 0.5 s by a power limit. Of 1 it is unknown: {spent}."
            ),
        ),
    ] {
        let shown = between(told, &second);
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn processors_are_counted_of_all_that_the_controller_lists() {
    let all = told();
    let of = |n: usize, n_listed, unknown: &[Unknown]| {
        let processors = all.processors[..n].to_vec();
        let told =
            Redfish { processors, n_listed, unknown: unknown.to_vec(), ..Redfish::default() };
        verdict(&told).split_once("; ").unwrap().1.to_owned()
    };
    let unread = [unknown(A_PROCESSOR, "the controller failed (503)")];
    assert_eq!(of(2, 2, &[]), "it calls 1 of 2 processors throttled.");
    assert_eq!(of(1, 2, &unread), "it calls 1 of 2 processors throttled; of 1 it is unknown.");
    // A copy of a host that does not have how many there are.
    assert_eq!(of(1, 0, &unread), "it calls 1 of 1 processor throttled; of others it is unknown.");
    assert_eq!(
        of(0, 2, &unread),
        "whether processors are throttled is unknown (the controller failed (503))."
    );
    let mut free = all.clone();
    free.processors[0].throttled = Some(false);
    free.n_listed = 3;
    assert!(
        verdict(&free).ends_with("it calls 2 of 3 processors not throttled; of 1 it is unknown.")
    );
}

#[test]
fn the_document_for_programs_is_of_its_schema() {
    let told = told();
    let risen = second(10, vec![rise("CPU.Socket.1", Some(3.5))]);
    let report = Report { address: "https://bmc7", told: &told, second: Some(&risen) };
    let value = checked("bmc", |head| json(head, &report));
    assert_eq!(
        (&value["limits"][0]["in_force"], &value["limits"][0]["reached"]),
        (&true.into(), &true.into())
    );
    assert_eq!(value["processors"][0]["causes"][0], "PowerLimit");
    assert_eq!(value["bios"]["pending"][0]["then"], "Disabled");
    let nothing = Redfish::default();
    let value =
        checked("bmc", |head| json(head, &Report { address: "x", told: &nothing, second: None }));
    assert!(value["bios"].is_null() && value["look_s"].is_null() && value["no_rises"].is_null());
    let stopped = Risen { time: Duration::ZERO, rises: Err("Ctrl-C came first".to_owned()) };
    let report = Report { address: "x", told: &nothing, second: Some(&stopped) };
    assert_eq!(checked("bmc", |head| json(head, &report))["no_rises"], "Ctrl-C came first");
}
