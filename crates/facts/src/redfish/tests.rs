//! Resources in the shapes that makers publish, and in shapes that nobody should.

mod firmware;

use super::*;
use serde_json::{Value, json};

fn resource(value: Value) -> Resource {
    Resource::of("/redfish/v1/X", value).unwrap()
}

fn link(path: &str) -> Value {
    json!({ "@odata.id": path })
}

fn paths(links: &[Link]) -> Vec<&str> {
    links.iter().map(Link::path).collect()
}

#[test]
fn the_way_from_the_root_to_what_is_asked_for_is_found() {
    let root = resource(json!({
        "Vendor": "Supermicro", "Product": "GB NVL", "RedfishVersion": "1.17.0",
        "Systems": link("/redfish/v1/Systems"), "Chassis": link("/redfish/v1/Chassis"),
        "ProtocolFeaturesSupported": { "ExpandQuery": { "NoLinks": true, "Levels": true, "MaxLevels": 6 } },
        "UUID": "e4378fd3-bafa-473b-b2a2-32db529a1952",
    }))
    .service();
    assert_eq!(root.vendor.as_deref(), Some("Supermicro"));
    assert_eq!(root.systems.unwrap().path(), "/redfish/v1/Systems");
    assert_eq!(root.expand, Some("$expand=.($levels=1)"));
    let plain = |query| {
        resource(json!({ "ProtocolFeaturesSupported": { "ExpandQuery": query } })).service().expand
    };
    assert_eq!(plain(json!({ "NoLinks": true })), Some("$expand=."));
    assert_eq!(plain(json!({ "ExpandAll": true, "NoLinks": false })), None);
    let system = resource(json!({
        "Manufacturer": "HPE", "Model": "ProLiant DL380a Gen11", "BiosVersion": "U58 v2.44 (01/17/2025)", "SerialNumber": "2M2D2J00L4",
        "Bios": link("/redfish/v1/systems/1/bios"), "Processors": link("/redfish/v1/Systems/1/Processors"),
        "Links": { "Chassis": [link("/redfish/v1/Chassis/1"), link("/redfish/v1/Chassis/DE00A000")] },
        "Oem": { "Hpe": { "PowerRegulatorMode": "Dynamic", "PowerAllocationLimit": 8800 } },
    }));
    let words = system.words_of_system();
    let system = system.system();
    assert_eq!(paths(&system.chassis), ["/redfish/v1/Chassis/1", "/redfish/v1/Chassis/DE00A000"]);
    assert_eq!(system.bios.unwrap().name(), "bios");
    assert_eq!(words[0].source, "/redfish/v1/X Oem/Hpe/PowerRegulatorMode");
    assert_eq!([&*words[0].value, &*words[1].value], ["Dynamic", "8800"]);
}

#[test]
fn a_link_stays_within_the_service() {
    for path in [
        "/redfish/v1/Systems/1",
        "/redfish/v1/Chassis/Self/Power#/PowerControl/0",
        "/redfish/v1/A?$skip=2",
    ] {
        let link = Link::parse(path).unwrap();
        assert_eq!(link.path(), path.split('#').next().unwrap());
    }
    for path in [
        "https://evil/redfish/v1",
        "//evil/redfish/v1",
        "/redfish",
        "/login",
        "",
        "redfish/v1",
        "/redfish/../etc",
        "/redfish/v1/a b",
        "/redfish/v1/a\r\nX: y",
        "/redfish/v1/é",
        "/redfish/v1/%2e%2e/x/..",
    ] {
        assert_eq!(Link::parse(path), Err(Expected("a path that begins with /redfish/")), "{path}");
    }
    let foreign = resource(json!({ "Systems": link("https://evil/redfish/v1/Systems") }));
    assert_eq!(foreign.service().systems, None);
    let odd = foreign.odd().remove(0);
    assert_eq!(odd.source, "/redfish/v1/X Systems/@odata.id");
    assert!(odd.expected.ends_with("it is not followed"), "{odd:?}");
    let same = |a, b| Link::parse(a).unwrap().is_same(&Link::parse(b).unwrap());
    assert!(same("/redfish/v1/Systems/1/", "/redfish/v1/systems/1"));
    assert!(!same("/redfish/v1/Systems/1", "/redfish/v1/Systems/11"));
}

#[test]
fn a_collection_has_links_or_the_members_themselves() {
    let links = resource(
        json!({ "Members": [link("/redfish/v1/Systems/1"), link("//evil"), {}, 3, null] }),
    )
    .collection();
    assert_eq!(links.members.len(), 1);
    assert!(links.members[0].resource.is_none());
    let cpu = json!({ "@odata.id": "/redfish/v1/S/1/Processors/CPU1", "Socket": "CPU 1", "Throttled": true });
    let expanded = resource(json!({ "Members": [cpu] })).collection();
    let member = expanded.members[0].resource.as_ref().unwrap();
    assert_eq!(member.path(), "/redfish/v1/S/1/Processors/CPU1");
    assert_eq!(member.processor().unwrap().throttled, Some(true));
    let many: Vec<Value> = (0..70).map(|it| link(&format!("/redfish/v1/Chassis/{it}"))).collect();
    let many = resource(json!({ "Members": many })).collection();
    assert_eq!((many.members.len(), many.left_out), (64, 6));
}

#[test]
fn a_processor_says_whether_it_is_throttled_and_why() {
    let mut cpu = resource(json!({
        "Id": "CPU1", "Socket": "CPU 1", "ProcessorType": "CPU", "Throttled": true, "ThrottleCauses": ["PowerLimit", "Vendor"],
        "OperatingSpeedMHz": 1200, "BaseSpeedMHz": 2100, "MaxSpeedMHz": 3700, "TDPWatts": 205, "TurboState": "Enabled",
        "Metrics": link("/redfish/v1/Systems/1/Processors/CPU1/ProcessorMetrics"), "Status": { "Health": "OK", "State": "Enabled" },
        "OperatingSpeedRangeMHz": { "ControlMode": "Automatic", "SettingMax": 2400, "AllowableMax": 3700 },
    }))
    .processor()
    .unwrap();
    assert_eq!(cpu.causes[0].to_string(), "PowerLimit (a power limit)");
    assert_eq!(cpu.causes[1].to_string(), "Vendor");
    assert_eq!(cpu.clock_limit(), Some(2400.0));
    assert!(cpu.tells() && !cpu.causes[0].is_heat());
    let metrics = resource(json!({
        "PowerLimitThrottleDuration": "P1DT2H3M4.5S", "ThermalLimitThrottleDuration": "PT0S", "OperatingSpeedMHz": 1300,
        "Oem": { "Nvidia": { "ThrottleReasons": ["SWPowerCap", "HWSlowdown"], "PerformanceState": "Normal" } },
    }));
    cpu.add_metrics(&metrics);
    assert_eq!(cpu.power_limited_s, Some(93_784.5));
    assert_eq!((cpu.heat_limited_s, cpu.speed_mhz), (Some(0.0), Some(1300.0)));
    assert_eq!(metrics.words_of_metrics()[0].value, "SWPowerCap, HWSlowdown");
}

#[test]
fn a_graphics_processor_and_an_empty_socket_are_no_cpus() {
    let of = |value| resource(value).processor().is_some();
    assert!(!of(json!({ "ProcessorType": "GPU" })));
    assert!(!of(json!({ "ProcessorType": "CPU", "Status": { "State": "Absent" } })));
    assert!(of(json!({ "Id": "1" })));
    // An older service says nothing that concerns the clock.
    assert!(
        !resource(json!({ "Id": "1", "MaxSpeedMHz": 4000, "Model": "Xeon" }))
            .processor()
            .unwrap()
            .tells()
    );
}

#[test]
fn a_limit_is_in_force_where_it_is_set_enabled_and_below_its_highest() {
    let of = |set, mode| {
        let limit = json!({ "SetPoint": set, "AllowableMin": 50, "AllowableMax": 300, "ControlMode": mode });
        resource(
            json!({ "Name": "E", "PowerLimitWatts": limit, "PowerWatts": { "Reading": 190.5 } }),
        )
        .environment()
        .unwrap()
    };
    let held = of(json!(200), "Automatic");
    assert!(held.is_in_force() && held.is_reached() == Some(true), "{held:?}");
    assert_eq!(held.power().unwrap().to_string(), "200 W");
    assert_eq!(held.source, "/redfish/v1/X PowerLimitWatts");
    // As Nvidia's and OpenBMC's controllers show one that was never set.
    for free in [
        of(json!(300), "Automatic"),
        of(json!(200), "Disabled"),
        of(json!(null), "Automatic"),
        of(json!(0), "Manual"),
    ] {
        assert!(!free.is_in_force(), "{free:?}");
    }
    assert!(resource(json!({ "PowerWatts": { "Reading": 5 } })).environment().is_none());
}

#[test]
fn older_services_have_the_limit_in_power() {
    let power = resource(json!({ "PowerControl": [
        { "Name": "System Input Power", "PowerConsumedWatts": 344,
          "PowerMetrics": { "IntervalInMin": 30, "MaxConsumedWatts": 489, "AverageConsumedWatts": 319 },
          "PowerLimit": { "LimitInWatts": 500, "LimitException": "LogEventOnly", "CorrectionInMs": 50 } },
        { "MemberId": "1", "PowerConsumedWatts": 70, "PowerLimit": { "LimitInWatts": null } },
    ], "Oem": { "Hpe": { "PowerMetric": { "Cap": 0, "CpuCapLim": 100, "PunCap": false } } } }));
    let limits = power.power();
    assert_eq!(limits[0].source, "/redfish/v1/X PowerControl/0/PowerLimit");
    assert!(
        limits[0].is_in_force() && limits[0].is_reached() == Some(false) && limits[0].was_reached()
    );
    assert_eq!((limits[1].watts, limits[1].is_in_force()), (None, false));
    assert_eq!(power.words_of_power().len(), 3);
}

#[test]
fn a_control_of_power_is_a_limit_and_others_are_not() {
    let control = |kind| {
        json!({ "ControlType": kind, "Id": "CPU_0_TDP", "PhysicalContext": "CPU", "SetPoint": 120, "AllowableMax": 300, "ControlMode": "Manual",
                "Sensor": { "Reading": 119.0 } })
    };
    let limit = resource(control("Power")).control().unwrap();
    assert!(limit.is_of_processor && limit.is_in_force() && limit.is_reached() == Some(true));
    assert!(resource(control("FrequencyMHz")).control().is_none());
}

#[test]
fn temperatures_are_those_of_cpus_of_the_intake_and_what_is_too_hot() {
    let thermal = resource(json!({ "Temperatures": [
        { "Name": "01-Inlet Ambient", "PhysicalContext": "Intake", "ReadingCelsius": 24, "UpperThresholdCritical": 42, "UpperThresholdFatal": 47 },
        { "Name": "CPU 1", "PhysicalContext": "CPU", "ReadingCelsius": 96, "UpperThresholdCritical": 95, "UpperThresholdNonCritical": 0 },
        { "Name": "PCH", "PhysicalContext": "SystemBoard", "ReadingCelsius": 40, "UpperThresholdCritical": 80 },
        { "Name": "VRM", "PhysicalContext": "VoltageRegulator", "ReadingCelsius": 101, "UpperThresholdCritical": 100 },
        { "Name": "CPU 2", "PhysicalContext": "CPU", "ReadingCelsius": 0 },
        { "Name": "none", "PhysicalContext": "CPU", "ReadingCelsius": null },
    ] }));
    let found: Vec<String> =
        thermal.thermal().iter().map(|it| format!("{} {}", it.name, it.is_high())).collect();
    assert_eq!(found, ["01-Inlet Ambient false", "CPU 1 true", "VRM true"]);
    let metrics = resource(json!({
        "TemperatureSummaryCelsius": { "Intake": { "Reading": 22.5 } },
        "TemperatureReadingsCelsius": [
            { "DeviceName": "CPU_0_Temp", "PhysicalContext": "CPU", "Reading": 51.2 }, { "DeviceName": "NIC", "Reading": 60 }
        ],
    }));
    let found: Vec<String> = metrics.thermal_metrics().into_iter().map(|it| it.name).collect();
    assert_eq!(found, ["Intake", "CPU_0_Temp"]);
}

#[test]
fn settings_of_the_firmware_are_those_that_concern_the_clock_and_no_secrets() {
    let current = resource(json!({
        "AttributeRegistry": "BiosAttributeRegistryU58.v1_2_44",
        "Attributes": { "ProcTurbo": "Enabled", "PowerRegulator": "DynamicPowerSavings", "MinProcIdlePower": "C6", "EnergyPerfBias": "MaxPerf",
            "AdminEmail": "ann@corp.example", "SerialNumber": "2M2D2J00L4", "ServerName": "db7", "PerfProfilePassword": "hunter2", "ProcAes": "Enabled",
            "WorkloadProfile": { "odd": 1 } },
        "@Redfish.Settings": { "SettingsObject": link("/redfish/v1/systems/1/bios/settings/") },
    }));
    let (mut bios, settings) = current.bios();
    let names: Vec<&str> = bios.attributes.keys().map(String::as_str).collect();
    assert_eq!(names, ["EnergyPerfBias", "MinProcIdlePower", "PowerRegulator", "ProcTurbo"]);
    assert_eq!(settings.unwrap().path(), "/redfish/v1/systems/1/bios/settings/");
    let waiting = resource(json!({ "Attributes": {
        "ProcTurbo": "Disabled", "PowerRegulator": "DynamicPowerSavings", "ServerName": "db8", "TurboNew": 1 } }));
    bios.add_settings(&current, &waiting);
    assert_eq!(bios.others_pending, 1);
    assert_eq!(pending_names(&current, &waiting), ["ProcTurbo", "ServerName", "TurboNew"]);
    let pending: Vec<String> =
        bios.pending.iter().map(|it| format!("{} {:?} {}", it.name, it.now, it.then)).collect();
    assert_eq!(pending, ["ProcTurbo Some(\"Enabled\") Disabled", "TurboNew None 1"]);
}

#[test]
fn what_has_a_wrong_type_is_told_and_not_fatal() {
    let cpu = resource(json!({
        "Id": 7, "Throttled": "yes", "ThrottleCauses": "PowerLimit", "OperatingSpeedMHz": "1200", "MaxSpeedMHz": -5, "TDPWatts": 1e300,
        "Status": [], "Metrics": "/redfish/v1/M", "EnvironmentMetrics": { "@odata.id": 3 }, "Model": null,
    }));
    let read = cpu.processor().unwrap();
    assert_eq!(read, Processor { source: "/redfish/v1/X".to_owned(), ..Processor::default() });
    let odd = cpu.odd();
    assert_eq!(odd.len(), 8, "{odd:?}");
    assert!(odd.iter().all(|it| !it.source.contains("Model")), "null is no value: {odd:?}");
    let told: Vec<String> = odd
        .iter()
        .map(|it| format!("{}: {} is not {}", it.source, it.found, it.expected))
        .collect();
    assert!(
        told.contains(&"/redfish/v1/X Throttled: \"yes\" is not true or false".to_owned()),
        "{told:?}"
    );
    for none in ["null", "[]", "3", "\"x\"", "{", ""] {
        assert!(Resource::parse("/redfish/v1", none.as_bytes()).is_err(), "{none}");
    }
    let long =
        resource(json!({ "Vendor": format!("a\n{}", "b".repeat(5000)) })).service().vendor.unwrap();
    assert!(long.chars().count() == 200 && !long.contains('\n'));
}

#[test]
fn a_duration_is_one_of_iso_8601_and_not_negative() {
    let of = |text: &str| {
        let mut cpu = Processor::default();
        cpu.add_metrics(&resource(json!({ "PowerLimitThrottleDuration": text })));
        cpu.power_limited_s
    };
    assert_eq!(of("PT1M30S"), Some(90.0));
    assert_eq!(of("P2D"), Some(172_800.0));
    assert_eq!(of("PT0.25S"), Some(0.25));
    for none in ["-PT1S", "1:30", "", "P1Y2M", "PT", "PT99999999999999999999S"] {
        assert_eq!(of(none), None, "{none}");
    }
}

/// A host interface as a firmware of Nvidia's describes it: USB, second version, IPv4, port 443.
fn interface() -> Vec<u8> {
    let mut data = vec![0x78; 16];
    data.extend([1, 1]);
    data.extend([[192, 168, 122, 9], [0; 4], [0; 4], [0; 4]].concat());
    data.extend([[255, 255, 255, 0], [0; 4], [0; 4], [0; 4]].concat());
    data.extend([1, 1]);
    data.extend([[192, 168, 122, 10], [0; 4], [0; 4], [0; 4]].concat());
    data.extend([[255, 255, 255, 0], [0; 4], [0; 4], [0; 4]].concat());
    data.extend([0xbb, 1, 0, 0, 0, 0, 0]);
    let device =
        [4, 0x11, 0x28, 0x0d, 4, 2, 0, 0x72, 0x45, 0x77, 0xaa, 0xf7, 0x87, 1, 0, 0xff, 0xff];
    let mut body = vec![0x40, device.len() as u8];
    body.extend(device);
    body.extend([1, 4, data.len() as u8]);
    body.extend(data);
    let mut structure = vec![42, body.len() as u8 + 4, 4, 0];
    structure.extend(body);
    structure
}

fn table(structures: &[&[u8]]) -> Vec<u8> {
    structures.iter().flat_map(|it| [it, &[0, 0][..]].concat()).collect()
}

#[test]
fn the_host_interface_is_found_among_the_structures_of_smbios() {
    let bios = [&[0, 5, 0, 0, 1][..], b"A vendor\0Another"].concat();
    let found = host_interfaces(&table(&[&bios, &interface(), &[127, 4, 0, 0]]));
    let expected = HostInterface {
        address: [192, 168, 122, 10].into(),
        port: 443,
        device: "USB",
        has_bootstrap: true,
    };
    assert_eq!(found, [expected]);
    assert_eq!(found[0].url(), "https://192.168.122.10:443");
    // After the end of the table is nothing.
    assert_eq!(host_interfaces(&table(&[&[127, 4, 0, 0], &interface()])), []);
}

#[test]
fn a_host_interface_that_is_cut_or_without_an_address_is_none() {
    let whole = interface();
    let zeros = {
        let mut it = whole.clone();
        let at = it.windows(4).position(|it| it == [192, 168, 122, 10]).unwrap();
        it[at..at + 4].fill(0);
        it
    };
    assert_eq!(host_interfaces(&table(&[&zeros])), []);
    for end in 0..whole.len() {
        let mut cut = whole[..end].to_vec();
        if let Some(length) = cut.get_mut(1) {
            *length = end as u8;
        }
        assert_eq!(host_interfaces(&table(&[&cut])), [], "{end}");
    }
    let mut serial = whole;
    serial[4] = 0x41;
    assert_eq!(host_interfaces(&table(&[&serial])), []);
}

#[test]
fn what_leaves_the_machine_names_no_system_and_is_read_back() {
    let request = |path: &str| Request {
        path: path.to_owned(),
        outcome: "200".to_owned(),
        seconds: 0.05,
        bytes: 12,
    };
    let told = Redfish {
        system: System {
            source: "/redfish/v1/Systems/WZP21330G84".to_owned(),
            ..System::default()
        },
        limits: vec![Limit {
            source: "/redfish/v1/Chassis/437XR1138R2/Power PowerControl/0".to_owned(),
            watts: Some(500.0),
            ..Limit::default()
        }],
        requests: vec![
            request("/redfish/v1/"),
            request("/redfish/v1/Systems"),
            request("/redfish/v1/systems/wzp21330g84/Processors?$expand=."),
            request("/redfish/v1/Systems/WZP21330G84"),
        ],
        unknown: vec![
            Unknown { what: "/redfish/v1/Managers/BMC-77".to_owned(), why: "503".to_owned() },
            Unknown {
                what: OTHER_SYSTEMS.to_owned(),
                why: "WZP21330G84 is shown; --system NAME takes another one: WZP21330G84, WZP2"
                    .to_owned(),
            },
        ],
        ..Redfish::default()
    };
    assert_eq!(Redfish::parse(&told.to_text()), Ok(told.clone()));
    let redacted = told.redacted();
    let text = redacted.to_text();
    for name in ["WZP", "wzp", "437XR", "BMC-77"] {
        assert!(!text.contains(name), "{name}: {text}");
    }
    assert_eq!(redacted.limits[0].watts, Some(500.0));
    assert_eq!(
        redacted.requests[2].path,
        redacted.requests[3].path.replace("Systems", "systems") + "/Processors?$expand=."
    );
    assert_eq!(redacted.requests[1].path, "/redfish/v1/Systems");
    assert!(Redfish::parse("[]").is_err() && Redfish::parse("{\"limits\": 3}").is_err());
    assert_eq!(Redfish::parse("{}"), Ok(Redfish::default()));
}

#[test]
fn what_rises_from_one_look_to_the_next_happens_now() {
    let at = |power_limited_s, heat_limited_s| {
        let cpu = Processor {
            name: "CPU 1".to_owned(),
            power_limited_s,
            heat_limited_s,
            ..Processor::default()
        };
        Redfish { processors: vec![cpu], ..Redfish::default() }
    };
    let rise = |before, after| rises(&before, &after).remove(0);
    let risen = rise(at(Some(60.0), Some(2.0)), at(Some(63.5), Some(2.0)));
    assert_eq!((&*risen.processor, risen.power_s, risen.heat_s), ("CPU 1", Some(3.5), Some(0.0)));
    // It was reset in between, and the other is not told.
    assert_eq!(
        rise(at(Some(60.0), None), at(Some(1.0), Some(2.0))),
        Rise { processor: "CPU 1".to_owned(), power_s: None, heat_s: None, is_reset: true }
    );
    assert_eq!(rises(&Redfish::default(), &at(None, None)), []);
}
