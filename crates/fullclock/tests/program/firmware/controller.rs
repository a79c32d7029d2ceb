//! A controller of a test's own, with a firmware whose settings wait for the next restart: as Dell's iDRAC shows them, as HPE's iLO does, and
//! as Supermicro's.

use crate::support::web_server::{Answer, WebServer};
use serde_json::{Map, Value, json};
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::park;

/// What is made of a request for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// It is taken.
    Takes,
    /// Somebody else has changed the settings since they were read.
    Changed,
    /// Refused, with two messages.
    Refuses,
    /// The controller restarts.
    Busy,
    /// It is taken, and the answer has no content.
    Silent,
    /// It is taken, and nothing more is answered.
    Vanishes,
    /// It is taken, and never answered.
    Hangs,
    /// Nothing is answered to anybody.
    Gone,
    /// Nobody is let in.
    Denies,
}

/// Whose controller it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    Dell,
    Hpe,
    Supermicro,
}

pub(crate) struct State {
    pub(crate) mood: Mood,
    /// What the machine runs with.
    pub(crate) now: Map<String, Value>,
    /// What the next restart changes.
    pub(crate) next: Map<String, Value>,
    /// What the registry says of each.
    pub(crate) registry: Value,
}

pub(crate) struct Controller {
    pub(crate) server: WebServer,
    state: Arc<Mutex<State>>,
}

impl Controller {
    pub(crate) fn start(maker: Maker) -> Controller {
        let state = Arc::new(Mutex::new(State::of(maker)));
        let own = Arc::clone(&state);
        let server = WebServer::start(move |request| answer(maker, &own, request));
        Controller { server, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The machine restarts.
    pub(crate) fn restart(&self) {
        let mut state = self.state();
        let next = std::mem::take(&mut state.next);
        state.now.extend(next);
    }

    /// The bodies of all requests for a change.
    pub(crate) fn changes(&self) -> Vec<Value> {
        let changes = self.server.heads().into_iter().filter(|it| !it.starts_with("GET "));
        changes
            .map(|it| serde_json::from_str(it.split_once("\r\n\r\n").unwrap().1).unwrap())
            .collect()
    }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

impl State {
    fn of(maker: Maker) -> State {
        let values = |names: &[&str]| -> Vec<Value> {
            names.iter().map(|it| json!({ "ValueName": it })).collect()
        };
        let (now, registry) = match maker {
            Maker::Dell => (
                json!({ "SysProfile": "PerfOptimized", "ProcTurboMode": "Disabled", "SetupPassword": null, "BootMode": "Uefi" }),
                json!({
                    "Attributes": [
                        { "AttributeName": "SysProfile", "ReadOnly": false, "Value": values(&["PerfOptimized", "Custom"]) },
                        { "AttributeName": "ProcTurboMode", "ReadOnly": true, "Value": values(&["Enabled", "Disabled"]) }],
                    "Dependencies": [{ "Dependency": { "MapToAttribute": "ProcTurboMode", "MapToProperty": "ReadOnly",
                        "MapFrom": [{ "MapFromAttribute": "SysProfile" }] } }],
                }),
            ),
            Maker::Hpe => (
                json!({ "WorkloadProfile": "Custom", "PowerRegulator": "DynamicPowerSavings", "BootMode": "Uefi" }),
                json!({ "Attributes": [
                    { "AttributeName": "PowerRegulator", "ReadOnly": false, "Value": values(&["DynamicPowerSavings", "OsControl"]) }] }),
            ),
            // Its registry numbers the values that the settings hold.
            Maker::Supermicro => {
                let value = |number: &str, shown: &str| json!({ "ValueName": number, "ValueDisplayName": shown });
                let values = [value("0", "Disable"), value("1", "Enable")];
                (
                    json!({ "SpeedStep_P_States__FF12": "Disable", "TurboMode_3D06": "Disable", "QuietBoot_0027": true }),
                    json!({ "Attributes": [
                        { "AttributeName": "SpeedStep_P_States__FF12", "ReadOnly": false, "Value": values },
                        { "AttributeName": "TurboMode_3D06", "ReadOnly": false, "Value": values }] }),
                )
            }
        };
        State { mood: Mood::Takes, now: object(&now), next: Map::new(), registry }
    }
}

fn answer(maker: Maker, state: &Mutex<State>, request: &str) -> Answer {
    let of = |status, body: Value| Answer { status, body: body.to_string() };
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let mut state = state.lock().unwrap();
    // Whatever it can repeat, it repeats.
    let echo = json!({ "error": { "@Message.ExtendedInfo": [{ "Message": request }] } });
    match state.mood {
        Mood::Gone => return of("", json!({})),
        Mood::Denies => return of("401 Unauthorized", echo),
        _ => {}
    }
    if method == "GET" {
        return match resource(maker, &state, path) {
            Some(body) => of("200 OK\r\nETag: \"7\"", body),
            None => of("404 Not Found", echo),
        };
    }
    let is_of_settings = path.trim_end_matches('/') == settings(maker);
    let has_condition = request.to_lowercase().contains("if-match: \"7\"");
    assert!(method == "PATCH" && is_of_settings && has_condition, "{request}");
    match state.mood {
        Mood::Changed => return of("412 Precondition Failed", json!({})),
        Mood::Busy => {
            return of("503 Service Unavailable", json!({ "error": { "message": "restarting" } }));
        }
        Mood::Refuses => {
            let messages = json!([{ "Message": "Unable to modify the attribute." }, { "Message": "A job is pending." }]);
            return of(
                "400 Bad Request",
                json!({ "error": { "@Message.ExtendedInfo": messages } }),
            );
        }
        _ => {}
    }
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    for (name, value) in body["Attributes"].as_object().unwrap() {
        match state.now.get(name) == Some(value) {
            true => drop(state.next.remove(name)),
            false => drop(state.next.insert(name.clone(), value.clone())),
        }
    }
    match (state.mood, maker) {
        (Mood::Vanishes, _) => {
            state.mood = Mood::Gone;
            of("", json!({}))
        }
        (Mood::Hangs, _) => {
            drop(state);
            loop {
                park();
            }
        }
        (Mood::Silent, _) => of("204 No Content", json!({})),
        (_, Maker::Dell) => {
            of("202 Accepted\r\nLocation: /redfish/v1/TaskService/Tasks/JID_1", json!({}))
        }
        (_, Maker::Hpe | Maker::Supermicro) => {
            let messages = json!([{ "Message": "A reset is required." }]);
            of("200 OK", json!({ "error": { "@Message.ExtendedInfo": messages } }))
        }
    }
}

/// Where a change is requested.
fn settings(maker: Maker) -> &'static str {
    match maker {
        Maker::Supermicro => "/redfish/v1/Systems/1/Bios/SD",
        Maker::Dell | Maker::Hpe => "/redfish/v1/Systems/1/Bios/Settings",
    }
}

fn resource(maker: Maker, state: &State, path: &str) -> Option<Value> {
    let link = |it: &str| json!({ "@odata.id": it });
    let bios = "/redfish/v1/Systems/1/Bios";
    Some(match path {
        "/redfish/v1/" => {
            json!({ "RedfishVersion": "1.15.0", "Systems": link("/redfish/v1/Systems"), "Registries": link("/redfish/v1/Registries") })
        }
        "/redfish/v1/Systems" => json!({ "Members": [link("/redfish/v1/Systems/1")] }),
        "/redfish/v1/Systems/1" => {
            let (manufacturer, model) = match maker {
                Maker::Dell => ("Dell Inc.", "PowerEdge R760"),
                Maker::Hpe => ("HPE", "ProLiant DL380a Gen11"),
                Maker::Supermicro => ("Supermicro", "SYS-821GE-TNHR"),
            };
            // Of this machine, where that says which it is.
            let uuid = fs::read_to_string("/sys/class/dmi/id/product_uuid").ok();
            json!({ "Manufacturer": manufacturer, "Model": model, "UUID": uuid.map(|it| it.trim().to_owned()), "Bios": link(bios) })
        }
        "/redfish/v1/Systems/1/Bios" => {
            let mut settings = json!({ "SettingsObject": link(settings(maker)) });
            if maker == Maker::Dell {
                settings["SupportedApplyTimes"] = json!(["OnReset"]);
            }
            json!({ "AttributeRegistry": "BiosAttributeRegistry.v1_0_0", "Attributes": state.now, "@Redfish.Settings": settings })
        }
        "/redfish/v1/Systems/1/Bios/SD" if state.next.is_empty() => json!({ "Id": "SD" }),
        "/redfish/v1/Systems/1/Bios/SD" => json!({ "Id": "SD", "Attributes": state.next }),
        "/redfish/v1/Systems/1/Bios/Settings" => {
            let mut all = if maker == Maker::Hpe { state.now.clone() } else { Map::new() };
            all.extend(state.next.clone());
            json!({ "Attributes": all })
        }
        "/redfish/v1/Registries" => {
            json!({ "Members": [link("/redfish/v1/Registries/Base"), link("/redfish/v1/Registries/BiosAttributeRegistry.v1_0_0")] })
        }
        "/redfish/v1/Registries/BiosAttributeRegistry.v1_0_0" => {
            let uri = match maker {
                Maker::Supermicro => "/registries/BiosAttributeRegistry.1.0.0.json",
                Maker::Dell | Maker::Hpe => "/redfish/v1/Systems/1/Bios/BiosRegistry",
            };
            json!({ "Location": [{ "Language": "en", "Uri": uri }] })
        }
        "/redfish/v1/Systems/1/Bios/BiosRegistry"
        | "/registries/BiosAttributeRegistry.1.0.0.json" => {
            json!({ "RegistryEntries": state.registry })
        }
        _ => return None,
    })
}
