//! The report of a look, with everything in it and with nothing.

use super::*;
use crate::document::Format;
use crate::schemas::checked;
use facts::redfish::{
    Bios, Cause, Odd, Pending, Processor, Request, Service, Software, System, Temperature, Unknown,
    Word,
};
use std::collections::BTreeMap;

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
    let rises = [Rise { processor: "CPU.Socket.1".to_owned(), power_s: Some(3.5), heat_s: None }];
    let risen = Some((Duration::from_secs(10), &rises[..]));
    insta::assert_snapshot!(text(&Report { address: "https://bmc7", told: &told, risen }));
}

#[test]
fn what_is_unknown_is_not_called_fine() {
    let nothing = Redfish::default();
    let shown = text(&Report { address: "https://bmc7", told: &nothing, risen: None });
    assert!(shown.contains("Which limit on power it holds is unknown; it does not say whether processors are throttled."), "{shown}");
    let free = Redfish {
        limits: vec![Limit { drawn: Some(70.0), ..Limit::default() }],
        ..Redfish::default()
    };
    assert!(verdict(&free).starts_with("It holds no limit on power; it does not say"));
    let unknown = [Rise { processor: "1".to_owned(), power_s: None, heat_s: None }];
    let still = [Rise { processor: "1".to_owned(), power_s: Some(0.0), heat_s: None }];
    for (rises, words) in [
        (&unknown, "is unknown: the controller does not count it"),
        (&still, "No processor was throttled in these 1.0 s"),
    ] {
        let shown = text(&Report {
            address: "",
            told: &free,
            risen: Some((Duration::from_secs(1), rises)),
        });
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(words), "{shown}");
    }
}

#[test]
fn the_document_for_programs_is_of_its_schema() {
    let told = told();
    let rises = [Rise { processor: "CPU.Socket.1".to_owned(), power_s: Some(3.5), heat_s: None }];
    let report = Report {
        address: "https://bmc7",
        told: &told,
        risen: Some((Duration::from_secs(10), &rises)),
    };
    let value = checked("bmc", |head| json(head, &report));
    assert_eq!(
        (&value["limits"][0]["in_force"], &value["limits"][0]["reached"]),
        (&true.into(), &true.into())
    );
    assert_eq!(value["processors"][0]["causes"][0], "PowerLimit");
    assert_eq!(value["bios"]["pending"][0]["then"], "Disabled");
    let nothing = Redfish::default();
    let value =
        checked("bmc", |head| json(head, &Report { address: "x", told: &nothing, risen: None }));
    assert!(value["bios"].is_null() && value["look_s"].is_null());
}
