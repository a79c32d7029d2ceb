//! Services as static trees, in the shapes that makers publish: HPE iLO 6, Dell iDRAC 9, OpenBMC (IBM), Supermicro with Nvidia's HGX, and an
//! older Supermicro; and what can go wrong with one.

use crate::http::fake::{Fake, Reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Resources by their paths.
pub(super) type Tree = BTreeMap<String, Value>;

pub(super) fn link(path: &str) -> Value {
    json!({ "@odata.id": path })
}

fn tree(resources: impl IntoIterator<Item = (&'static str, Value)>) -> Tree {
    resources.into_iter().map(|(path, value)| (path.to_owned(), value)).collect()
}

fn members(paths: &[&str]) -> Value {
    let members: Vec<Value> = paths.iter().map(|it| link(it)).collect();
    json!({ "Members": members, "Members@odata.count": members.len() })
}

fn root(vendor: &str, expands: bool) -> (&'static str, Value) {
    let features =
        json!({ "ExpandQuery": { "NoLinks": expands, "Levels": expands, "MaxLevels": 1 } });
    let root = json!({
        "Vendor": vendor, "RedfishVersion": "1.15.0", "ProtocolFeaturesSupported": features,
        "Systems": link("/redfish/v1/Systems"), "Chassis": link("/redfish/v1/Chassis"), "UpdateService": link("/redfish/v1/UpdateService"),
    });
    ("/redfish/v1/", root)
}

/// The services of all makers, by their names.
pub(super) fn makers() -> [(&'static str, Tree); 5] {
    [
        ("HPE", hpe()),
        ("Dell", dell()),
        ("OpenBMC", openbmc()),
        ("Supermicro", supermicro()),
        ("Supermicro X10", supermicro_x10()),
    ]
}

/// Two processors of which the service says nothing, no limit that is set, links with and without a slash, some in lower case.
pub(super) fn hpe() -> Tree {
    let mut all = hpe_system();
    all.extend(hpe_inventory());
    all
}

fn hpe_inventory() -> Tree {
    tree([
        (
            "/redfish/v1/UpdateService",
            json!({ "FirmwareInventory": link("/redfish/v1/UpdateService/FirmwareInventory") }),
        ),
        (
            "/redfish/v1/UpdateService/FirmwareInventory",
            members(&[
                "/redfish/v1/UpdateService/FirmwareInventory/1",
                "/redfish/v1/UpdateService/FirmwareInventory/2",
            ]),
        ),
        (
            "/redfish/v1/UpdateService/FirmwareInventory/1",
            json!({ "Name": "iLO 6", "Version": "1.66 Feb 19 2025" }),
        ),
        (
            "/redfish/v1/UpdateService/FirmwareInventory/2",
            json!({ "Name": "System ROM", "Version": "U58 v2.44 (01/17/2025)" }),
        ),
    ])
}

fn hpe_system() -> Tree {
    let cpu = |socket| json!({ "ProcessorType": "CPU", "Socket": socket, "MaxSpeedMHz": 4000, "Model": "INTEL(R) XEON(R) GOLD 6530" });
    tree([
        root("HPE", false),
        ("/redfish/v1/Systems", members(&["/redfish/v1/Systems/1"])),
        (
            "/redfish/v1/Systems/1",
            json!({
                "Manufacturer": "HPE", "Model": "ProLiant DL380a Gen11", "BiosVersion": "U58 v2.44 (01/17/2025)", "SerialNumber": "2M2D2J00L4",
                "Processors": link("/redfish/v1/Systems/1/Processors"), "Bios": link("/redfish/v1/systems/1/bios"),
                "Links": { "Chassis": [link("/redfish/v1/Chassis/1")] }, "Oem": { "Hpe": { "PowerRegulatorMode": "Dynamic" } },
            }),
        ),
        (
            "/redfish/v1/Systems/1/Processors",
            members(&["/redfish/v1/Systems/1/Processors/1", "/redfish/v1/Systems/1/Processors/2"]),
        ),
        ("/redfish/v1/Systems/1/Processors/1", cpu("Proc 1")),
        ("/redfish/v1/Systems/1/Processors/2", cpu("Proc 2")),
        (
            "/redfish/v1/Chassis/1",
            json!({ "Power": link("/redfish/v1/Chassis/1/Power"), "Thermal": link("/redfish/v1/Chassis/1/Thermal") }),
        ),
        (
            "/redfish/v1/Chassis/1/Power",
            json!({
                "PowerControl": [{ "MemberId": "0", "PowerCapacityWatts": 8800, "PowerConsumedWatts": 565,
                    "PowerMetrics": { "AverageConsumedWatts": 521, "IntervalInMin": 20, "MaxConsumedWatts": 1098 } }],
                "Oem": { "Hpe": { "PowerMetric": { "Cap": 0, "CpuCapLim": 0, "CpuPwrSavLim": 100, "PrMode": "dyn" } } },
            }),
        ),
        (
            "/redfish/v1/Chassis/1/Thermal",
            json!({ "Temperatures": [
            { "Name": "01-Inlet Ambient", "PhysicalContext": "Intake", "ReadingCelsius": 24, "UpperThresholdCritical": 42 },
            { "Name": "02-CPU 1 PkgTmp", "PhysicalContext": "CPU", "ReadingCelsius": 41, "UpperThresholdCritical": 100 }] }),
        ),
        (
            "/redfish/v1/systems/1/bios",
            json!({
                "AttributeRegistry": "BiosAttributeRegistryU58.v1_2_44",
                "Attributes": { "ProcTurbo": "Enabled", "PowerRegulator": "DynamicPowerSavings", "SerialNumber": "2M2D2J00L4" },
                "@Redfish.Settings": { "SettingsObject": link("/redfish/v1/systems/1/bios/settings/") },
            }),
        ),
        (
            "/redfish/v1/systems/1/bios/settings/",
            json!({ "Attributes": { "ProcTurbo": "Disabled", "PowerRegulator": "DynamicPowerSavings" } }),
        ),
    ])
}

/// A limit in Power beside metrics that have none, and a throttled processor. Collections are answered whole.
pub(super) fn dell() -> Tree {
    let cpu = |socket, throttled: bool| {
        json!({ "ProcessorType": "CPU", "Id": socket, "MaxSpeedMHz": 4000, "OperatingSpeedMHz": 2400, "TurboState": "Enabled",
                "Throttled": throttled, "ThrottleCauses": if throttled { json!(["PowerLimit"]) } else { json!([]) } })
    };
    tree([
        root("Dell", true),
        ("/redfish/v1/Systems", members(&["/redfish/v1/Systems/System.Embedded.1"])),
        (
            "/redfish/v1/Systems/System.Embedded.1",
            json!({
                "Manufacturer": "Dell Inc.", "Model": "PowerEdge R760", "Processors": link("/redfish/v1/Systems/System.Embedded.1/Processors"),
                "Links": { "Chassis": [link("/redfish/v1/Chassis/System.Embedded.1")] },
            }),
        ),
        (
            "/redfish/v1/Systems/System.Embedded.1/Processors",
            members(&[
                "/redfish/v1/Systems/System.Embedded.1/Processors/CPU.Socket.1",
                "/redfish/v1/Systems/System.Embedded.1/Processors/CPU.Socket.2",
            ]),
        ),
        (
            "/redfish/v1/Systems/System.Embedded.1/Processors/CPU.Socket.1",
            cpu("CPU.Socket.1", true),
        ),
        (
            "/redfish/v1/Systems/System.Embedded.1/Processors/CPU.Socket.2",
            cpu("CPU.Socket.2", false),
        ),
        (
            "/redfish/v1/Chassis/System.Embedded.1",
            json!({
                "EnvironmentMetrics": link("/redfish/v1/Chassis/System.Embedded.1/EnvironmentMetrics"),
                "Power": link("/redfish/v1/Chassis/System.Embedded.1/Power"), "Thermal": link("/redfish/v1/Chassis/System.Embedded.1/Thermal"),
            }),
        ),
        (
            "/redfish/v1/Chassis/System.Embedded.1/EnvironmentMetrics",
            json!({ "PowerWatts": { "Reading": 480 } }),
        ),
        (
            "/redfish/v1/Chassis/System.Embedded.1/Power",
            json!({ "PowerControl": [{
            "Name": "System Power Control", "PowerConsumedWatts": 480, "PowerCapacityWatts": 1400,
            "PowerLimit": { "LimitInWatts": 500, "LimitException": "NoAction", "CorrectionInMs": 0 } }] }),
        ),
        ("/redfish/v1/Chassis/System.Embedded.1/Thermal", json!({ "Temperatures": [] })),
    ])
}

/// A limit in EnvironmentMetrics, and metrics of its processors.
pub(super) fn openbmc() -> Tree {
    let cpu = json!({ "ProcessorType": "CPU", "Id": "cpu0", "Throttled": true, "ThrottleCauses": ["ThermalLimit", "ClockLimit"],
                      "Metrics": link("/redfish/v1/Systems/system/Processors/cpu0/ProcessorMetrics") });
    tree([
        root("OpenBMC", true),
        ("/redfish/v1/Systems", members(&["/redfish/v1/Systems/system"])),
        (
            "/redfish/v1/Systems/system",
            json!({
                "Manufacturer": "IBM", "Model": "9105-42A", "Processors": link("/redfish/v1/Systems/system/Processors"),
                "Links": { "Chassis": [link("/redfish/v1/Chassis/chassis")] },
            }),
        ),
        (
            "/redfish/v1/Systems/system/Processors",
            members(&["/redfish/v1/Systems/system/Processors/cpu0"]),
        ),
        ("/redfish/v1/Systems/system/Processors/cpu0", cpu),
        (
            "/redfish/v1/Systems/system/Processors/cpu0/ProcessorMetrics",
            json!({
            "PowerLimitThrottleDuration": "PT1M", "ThermalLimitThrottleDuration": "PT2S" }),
        ),
        (
            "/redfish/v1/Chassis/chassis",
            json!({
                "EnvironmentMetrics": link("/redfish/v1/Chassis/chassis/EnvironmentMetrics"), "Power": link("/redfish/v1/Chassis/chassis/Power"),
                "ThermalSubsystem": link("/redfish/v1/Chassis/chassis/ThermalSubsystem"),
            }),
        ),
        (
            "/redfish/v1/Chassis/chassis/EnvironmentMetrics",
            json!({ "Name": "Chassis Environment Metrics", "PowerLimitWatts": {
            "AllowableMax": 2488, "AllowableMin": 1778, "ControlMode": "Automatic", "SetPoint": 1800 }, "PowerWatts": { "Reading": 1795.5 } }),
        ),
        (
            "/redfish/v1/Chassis/chassis/ThermalSubsystem",
            json!({ "ThermalMetrics": link("/redfish/v1/Chassis/chassis/ThermalSubsystem/ThermalMetrics") }),
        ),
        (
            "/redfish/v1/Chassis/chassis/ThermalSubsystem/ThermalMetrics",
            json!({ "TemperatureReadingsCelsius": [
            { "DeviceName": "CPU_0_Temp", "PhysicalContext": "CPU", "Reading": 96.0 }] }),
        ),
    ])
}

/// Two systems, of which the first has no processors; limits of processors that are disabled.
pub(super) fn supermicro() -> Tree {
    let base = "/redfish/v1/Systems/HGX_Baseboard_0/Processors";
    let cpu = json!({ "ProcessorType": "CPU", "Id": "CPU_0", "MaxSpeedMHz": 4000, "SerialNumber": "0x00000001783DD0051C",
                      "EnvironmentMetrics": link(&format!("{base}/CPU_0/EnvironmentMetrics")), "Metrics": link(&format!("{base}/CPU_0/ProcessorMetrics")) });
    let mut tree = tree([
        root("Supermicro", true),
        (
            "/redfish/v1/Systems",
            members(&["/redfish/v1/Systems/System_0", "/redfish/v1/Systems/HGX_Baseboard_0"]),
        ),
        (
            "/redfish/v1/Systems/System_0",
            json!({
                "Manufacturer": "Supermicro", "Model": "GB NVL", "Processors": link("/redfish/v1/Systems/System_0/Processors"),
                "Links": { "Chassis": [link("/redfish/v1/Chassis/BMC_0")] },
            }),
        ),
        ("/redfish/v1/Systems/System_0/Processors", members(&[])),
        (
            "/redfish/v1/Systems/HGX_Baseboard_0",
            json!({ "Processors": link("/redfish/v1/Systems/HGX_Baseboard_0/Processors") }),
        ),
        (
            "/redfish/v1/Chassis/BMC_0",
            json!({ "ThermalSubsystem": link("/redfish/v1/Chassis/BMC_0/ThermalSubsystem") }),
        ),
    ]);
    tree.insert(base.to_owned(), members(&[&format!("{base}/CPU_0"), &format!("{base}/GPU_0")]));
    tree.insert(format!("{base}/CPU_0"), cpu);
    tree.insert(format!("{base}/GPU_0"), json!({ "ProcessorType": "GPU", "Id": "GPU_0" }));
    let limit = json!({ "AllowableMax": 300, "AllowableMin": 50, "ControlMode": "Disabled", "SetPoint": 200 });
    tree.insert(
        format!("{base}/CPU_0/EnvironmentMetrics"),
        json!({ "PowerLimitWatts": limit, "PowerWatts": { "Reading": 6.096 } }),
    );
    let metrics = json!({ "PowerLimitThrottleDuration": "PT0S", "Oem": { "Nvidia": { "ThrottleReasons": ["SWPowerCap"] } } });
    tree.insert(format!("{base}/CPU_0/ProcessorMetrics"), metrics);
    tree
}

/// A service of 2017: no features, one processor, a limit of 0.
pub(super) fn supermicro_x10() -> Tree {
    tree([
        (
            "/redfish/v1/",
            json!({ "RedfishVersion": "1.0.1", "Systems": link("/redfish/v1/Systems/"), "Chassis": link("/redfish/v1/Chassis/") }),
        ),
        ("/redfish/v1/Systems/", members(&["/redfish/v1/Systems/1"])),
        (
            "/redfish/v1/Systems/1",
            json!({
                "Manufacturer": "Supermicro", "Model": "Super Server", "Processors": link("/redfish/v1/Systems/1/Processors"),
                "Links": { "Chassis": [link("/redfish/v1/Chassis/1")] },
            }),
        ),
        ("/redfish/v1/Systems/1/Processors", members(&["/redfish/v1/Systems/1/Processors/1"])),
        (
            "/redfish/v1/Systems/1/Processors/1",
            json!({ "ProcessorType": "CPU", "Socket": "CPU1", "MaxSpeedMHz": 4000 }),
        ),
        ("/redfish/v1/Chassis/1", json!({ "Power": link("/redfish/v1/Chassis/1/Power") })),
        (
            "/redfish/v1/Chassis/1/Power",
            json!({ "PowerControl": [
            { "Name": "System Power Control", "PowerConsumedWatts": 0, "PowerLimit": { "LimitInWatts": 0 }, "Status": { "State": "Enabled" } }] }),
        ),
    ])
}

/// The path and the query that the head of a request asks for.
pub(super) fn asked(head: &str) -> (&str, &str) {
    let target = head.split(' ').nth(1).unwrap_or_default();
    target.split_once('?').unwrap_or((target, ""))
}

/// What the tree answers: collections whole where the query asks for that.
pub(super) fn reply(tree: &Tree, head: &str) -> Reply {
    let (path, query) = asked(head);
    let Some(resource) = tree.get(path) else {
        let error = json!({ "error": { "@Message.ExtendedInfo": [{ "Message": "There is no such resource." }] } });
        return json_reply("404 Not Found", "", &error);
    };
    let mut resource = resource.clone();
    if query.starts_with("$expand=.") {
        for member in resource["Members"].as_array_mut().into_iter().flatten() {
            let path = member["@odata.id"].as_str().unwrap_or_default().to_owned();
            let Some(Value::Object(whole)) = tree.get(&path) else { continue };
            let mut whole = whole.clone();
            whole.insert("@odata.id".to_owned(), path.into());
            *member = Value::Object(whole);
        }
    }
    json_reply("200 OK", "", &resource)
}

/// An answer of JSON, with more lines in its head, after which the connection is closed.
pub(super) fn json_reply(status: &str, lines: &str, body: &Value) -> Reply {
    let body = body.to_string();
    let length = body.len();
    Reply::raw(&format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{lines}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    ))
}

/// A service of this tree.
pub(super) fn serve(tree: Tree) -> Fake {
    Fake::start(move |head| reply(&tree, head))
}

/// One that answers on connections that stay, with versions, each time after a pause, and closes them unasked after `most` answers.
pub(super) fn keeping(tree: Tree, pause: Duration, most: usize) -> Fake {
    let n_answered = AtomicUsize::new(0);
    Fake::start(move |head| {
        let closed = reply(&tree, head);
        let text = String::from_utf8(closed.bytes).unwrap();
        let etag = format!("W/\"{:x}\"", text.len());
        let is_same =
            head.to_lowercase().contains(&format!("if-none-match: {}", etag.to_lowercase()));
        let text = match is_same {
            true => {
                format!("HTTP/1.1 304 Not Modified\r\nETag: {etag}\r\nContent-Length: 0\r\n\r\n")
            }
            false => text.replace("Connection: close\r\n", &format!("ETag: {etag}\r\n")),
        };
        let keeps = !(n_answered.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(most);
        Reply { pause, keeps, ..Reply::raw(&text) }
    })
}
