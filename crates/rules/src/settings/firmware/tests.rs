//! Plans from what controllers of several makers say, and what keeps a request from being planned.

use super::{FIRMWARE_OS_CONTROL, FIRMWARE_TURBO};
use crate::fixture::host_of;
use crate::fixture::planned::{planned, planned_knowing};
use crate::setting::{Refusal, Scene, Wanted};
use facts::change::Controls;
use serde_json::{Value, json};

const INTEL: &str = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n";

fn dell() -> Value {
    json!({
        "system": { "manufacturer": "Dell Inc.", "model": "PowerEdge R760" },
        "bios": {
            "source": "/redfish/v1/Systems/System.Embedded.1/Bios",
            "settings": "/redfish/v1/Systems/System.Embedded.1/Bios/Settings",
            "attributes": { "SysProfile": "PerfOptimized", "ProcTurboMode": "Disabled", "ProcPwrPerf": "SysDbpm" },
            "apply_times": ["OnReset", "AtMaintenanceWindowStart"],
            "takes": {
                "SysProfile": { "read_only": false, "values": ["Custom", "PerfOptimized"] },
                "ProcTurboMode": { "read_only": true, "depends_on": ["SysProfile"], "values": ["Enabled", "Disabled"] },
                "ProcPwrPerf": { "read_only": true, "values": ["OsDbpm", "SysDbpm"] },
            },
        },
    })
}

fn hpe() -> Value {
    json!({
        "system": { "manufacturer": "HPE", "model": "ProLiant DL380a Gen11" },
        "bios": {
            "source": "/redfish/v1/systems/1/bios",
            "settings": "/redfish/v1/systems/1/bios/settings/",
            "attributes": { "WorkloadProfile": "Custom", "ProcTurbo": "Disabled", "PowerRegulator": "DynamicPowerSavings" },
            "takes": {
                "ProcTurbo": { "values": ["Enabled", "Disabled"] },
                "PowerRegulator": { "values": ["DynamicPowerSavings", "OsControl"] },
            },
        },
    })
}

/// Its registry numbers the values, and the settings take what it shows; what the turbo depends on is not said as a restriction.
fn supermicro() -> Value {
    json!({
        "system": { "manufacturer": "Supermicro", "model": "SYS-821GE-TNHR" },
        "bios": {
            "source": "/redfish/v1/Systems/1/Bios",
            "settings": "/redfish/v1/Systems/1/Bios/SD",
            "attributes": { "HardwareP_States_F282": "Out of Band Mode", "SpeedStep_P_States__FF12": "Disable", "TurboMode_3D06": "Disable" },
            "takes": {
                "HardwareP_States_F282": { "values": ["Disable", "Native Mode", "Out of Band Mode", "Native Mode with No Legacy Support"] },
                "SpeedStep_P_States__FF12": { "values": ["Disable", "Enable"] },
                "TurboMode_3D06": { "values": ["Disable", "Enable"] },
            },
        },
    })
}

fn host(told: &Value) -> String {
    format!("{INTEL}//- redfish\n{told}\n")
}

fn with(mut told: Value, place: &str, value: Value) -> String {
    *told.pointer_mut(place).unwrap() = value;
    host(&told)
}

fn turbo(host: &str) -> String {
    planned_knowing(&FIRMWARE_TURBO, "on", host)
}

#[test]
fn a_controller_that_the_configuration_names_is_asked_with_redfish_config() {
    let facts::Why::Failed(why) = facts::Missing::left_alone(facts::redfish::NAME).why else {
        panic!("it is not asked")
    };
    let said = turbo(&format!("{INTEL}//- redfish\n!failed {why}\n"));
    assert!(
        said.contains(
            "`fullclock plan firmware-turbo=on --redfish config` asks it and prints the request"
        ),
        "{said}"
    );
}

#[test]
fn the_request_is_in_the_makers_names_with_the_profile_that_keeps_it_first() {
    let plan = turbo(&host(&dell()));
    let settings = "/redfish/v1/Systems/System.Embedded.1/Bios/Settings";
    let to = r#"{"SysProfile": "Custom", "ProcTurboMode": "Enabled"}"#;
    let write = format!(
        r#"{settings}: {{"SysProfile": "PerfOptimized", "ProcTurboMode": "Disabled"}} -> {to}"#
    );
    assert!(plan.starts_with(&write), "{plan}");
    let request = format!(
        r#"note: the request is PATCH {settings} {{"Attributes": {to}, "@Redfish.SettingsApplyTime": {{"ApplyTime": "OnReset"}}}}; `apply"#
    );
    assert!(plan.contains(&request), "{plan}");
    // What holds already is not requested, and where the service does not say when it brings changes, nor is that.
    let plan = turbo(&host(&hpe()));
    assert!(
        plan.starts_with(r#"/redfish/v1/systems/1/bios/settings/: {"ProcTurbo": "Disabled"} -> {"ProcTurbo": "Enabled"}"#),
        "{plan}"
    );
    assert!(!plan.contains("ApplyTime"), "{plan}");
    let clock = planned_knowing(&FIRMWARE_OS_CONTROL, "on", &host(&hpe()));
    assert!(clock.contains(r#"{"PowerRegulator": "OsControl"}"#), "{clock}");
}

#[test]
fn a_name_with_a_number_of_the_firmware_is_written_as_the_controller_tells_it() {
    let plan = turbo(&host(&supermicro()));
    let write = r#"/redfish/v1/Systems/1/Bios/SD: {"SpeedStep_P_States__FF12": "Disable", "TurboMode_3D06": "Disable"} -> {"SpeedStep_P_States__FF12": "Enable", "TurboMode_3D06": "Enable"}"#;
    assert!(plan.starts_with(write), "{plan}");
    // Newer firmware has no numbers.
    let told = supermicro().to_string().replace("__FF12", "_").replace("_3D06", "");
    let plan = turbo(&host(&serde_json::from_str(&told).unwrap()));
    assert!(plan.contains(r#"{"SpeedStep_P_States_": "Enable", "TurboMode": "Enable"}"#), "{plan}");
    let mut told = supermicro();
    told["bios"]["attributes"]["TurboMode_3D07"] = json!("Disable");
    assert_eq!(
        turbo(&host(&told)),
        "refused: this firmware has several settings of the name TurboMode (TurboMode_3D06, TurboMode_3D07), and which one is meant is unknown: \
         change it in the firmware's setup"
    );
    // Other makers' firmware has no numbers, and what looks like one is another setting.
    let told = with(
        dell(),
        "/bios/attributes",
        json!({ "SysProfile": "Custom", "ProcTurboMode_3D06": "Disabled" }),
    );
    assert!(turbo(&told).starts_with("refused: this firmware has no ProcTurboMode"));
}

#[test]
fn two_settings_that_are_meant_are_requested_each_where_it_does_not_hold() {
    let clock = |told: &str| planned_knowing(&FIRMWARE_OS_CONTROL, "on", told);
    let with = |place: &str, value: &str| {
        let mut told = supermicro();
        told["bios"]["attributes"][place] = json!(value);
        told
    };
    let plan = clock(&host(&supermicro()));
    assert!(
        plan.contains(
            r#"-> {"SpeedStep_P_States__FF12": "Enable", "HardwareP_States_F282": "Native Mode"}"#
        ),
        "{plan}"
    );
    let plan = clock(&host(&with("SpeedStep_P_States__FF12", "Enable")));
    assert!(plan.contains(r#"-> {"HardwareP_States_F282": "Native Mode"}"#), "{plan}");
    // Two of its values leave the clock to Linux.
    for value in ["Disable", "Native Mode with No Legacy Support"] {
        let plan = clock(&host(&with("HardwareP_States_F282", value)));
        assert!(plan.contains(r#"-> {"SpeedStep_P_States__FF12": "Enable"}"#), "{value}: {plan}");
    }
    let mut told = with("HardwareP_States_F282", "Native Mode");
    told["bios"]["attributes"]["SpeedStep_P_States__FF12"] = json!("Enable");
    assert_eq!(clock(&host(&told)), "nothing");
}

#[test]
fn of_values_that_mean_the_same_the_one_that_the_firmware_takes_is_requested() {
    let lenovo = |off: &str, on: &str| {
        json!({
            "system": { "manufacturer": "Lenovo", "model": "ThinkSystem SR670 V2" },
            "bios": {
                "source": "/redfish/v1/Systems/1/Bios",
                "settings": "/redfish/v1/Systems/1/Bios/Pending",
                "attributes": { "Processors_TurboMode": off, "OperatingModes_ChooseOperatingMode": "Efficiency_FavorPerformance" },
                "takes": {
                    "Processors_TurboMode": { "values": [off, on] },
                    "OperatingModes_ChooseOperatingMode": { "values": ["CustomMode", "Efficiency_FavorPerformance"] },
                },
            },
        })
    };
    for (off, on) in [("Disabled", "Enabled"), ("Disable", "Enable")] {
        let plan = turbo(&host(&lenovo(off, on)));
        let to = format!(
            r#"-> {{"OperatingModes_ChooseOperatingMode": "CustomMode", "Processors_TurboMode": "{on}"}}"#
        );
        assert!(plan.contains(&to), "{plan}");
        assert_eq!(turbo(&host(&lenovo(on, off))), "nothing");
    }
    // A profile that the firmware does not have keeps nothing.
    let mut told = lenovo("Disabled", "Enabled");
    told["bios"]["attributes"]
        .as_object_mut()
        .unwrap()
        .remove("OperatingModes_ChooseOperatingMode");
    let plan = turbo(&host(&told));
    assert!(plan.contains(r#"-> {"Processors_TurboMode": "Enabled"}"#), "{plan}");
    assert!(
        turbo(&host(&lenovo("Off", "On")))
            .starts_with("refused: Processors_TurboMode takes Off, On, and not Enabled or Enable")
    );
}

#[test]
fn without_the_controllers_word_nothing_is_planned_and_the_request_is_shown() {
    let dmi = "//- /sys/class/dmi/id/sys_vendor\nDell Inc.\n//- /sys/class/dmi/id/product_name\nPowerEdge R760\n";
    // Of a maker that nobody knows there is no request to show.
    let unknown = planned(&FIRMWARE_TURBO, "on", INTEL);
    assert!(unknown.ends_with("has to be named with --redfish URL (or --redfish config, where redfish.url of the configuration does)"), "{unknown}");
    let plan = planned(&FIRMWARE_TURBO, "on", &format!("{INTEL}{dmi}"));
    assert!(plan.starts_with("refused: it is requested of the management controller"), "{plan}");
    assert!(
        plan.ends_with(r#"PATCH /redfish/v1/Systems/System.Embedded.1/Bios/Settings {"Attributes": {"SysProfile": "Custom", "ProcTurboMode": "Enabled"}}"#),
        "{plan}"
    );
    assert!(
        planned(&FIRMWARE_TURBO, "off", &host(&dell()))
            .starts_with("value: firmware-turbo takes on")
    );
    let consent = planned(&FIRMWARE_TURBO, "on", &host(&dell()));
    assert!(consent.starts_with("consent: whether the controller is this machine's"), "{consent}");
}

#[test]
fn what_holds_already_is_left() {
    let told = with(dell(), "/bios/attributes/ProcTurboMode", json!("Enabled"));
    assert_eq!(turbo(&told), "nothing", "whatever the profile");
}

#[test]
fn what_cannot_be_changed_or_takes_no_such_value_or_shares_the_restart_is_refused() {
    for (told, why) in [
        (
            with(dell(), "/bios/takes/ProcTurboMode/depends_on", json!([])),
            "refused: the controller says that ProcTurboMode cannot be changed",
        ),
        (
            with(dell(), "/bios/takes/SysProfile/read_only", json!(true)),
            "refused: the controller says that SysProfile cannot be changed",
        ),
        (
            with(dell(), "/bios/takes/ProcTurboMode/values", json!(["On", "Off"])),
            "refused: ProcTurboMode takes On, Off, and not Enabled",
        ),
        (with(dell(), "/bios/takes", json!({})), "unknown: "),
        (with(dell(), "/bios/settings", json!(null)), "refused: the controller names no place"),
        (
            with(dell(), "/bios/apply_times", json!(["Immediate"])),
            "refused: the controller brings changes at Immediate",
        ),
        (
            with(dell(), "/bios/attributes", json!({ "SysProfile": "Custom" })),
            "refused: this firmware has no ProcTurboMode",
        ),
        (
            with(dell(), "/bios", json!(null)),
            "refused: the controller shows no settings of the firmware",
        ),
        (
            with(dell(), "/system/model", json!("Latitude 7490")),
            "refused: what this maker's controllers call it is unknown",
        ),
    ] {
        let plan = turbo(&told);
        assert!(plan.starts_with(why), "{plan}\nexpected {why}");
    }
    let mut told = dell();
    told["bios"]["takes"]["SysProfile"]["read_only"] = json!(false);
    told["bios"]["pending"] =
        json!([{ "name": "ProcCStates", "now": "Enabled", "then": "Disabled" }]);
    told["bios"]["others_pending"] = json!(2);
    let why = "refused: changes wait for the next restart already (ProcCStates to Disabled, 2 more that do not concern the clock): restart";
    assert!(turbo(&host(&told)).starts_with(why), "{}", turbo(&host(&told)));
    let mut told = dell();
    told["unknown"] = json!([{ "what": "settings of the firmware that wait for a restart", "why": "the controller failed (503)" }]);
    assert!(
        turbo(&host(&told))
            .contains("what waits for the next restart is unknown: the controller failed (503)")
    );
}

#[test]
fn the_controller_of_another_machine_is_refused_whatever_the_user_knows() {
    let mut host = host_of(&host(&dell()));
    host.redfish.as_mut().unwrap().is_own = Some(false);
    let controls = Controls::default();
    let wanted = Wanted { value: "on", cpus: None, i_know: true };
    let planned = (FIRMWARE_TURBO.plan)(&Scene { host: &host, controls: &controls }, &wanted);
    assert!(matches!(planned, Err(Refusal::Host(why)) if why.contains("another machine")));
    host.redfish.as_mut().unwrap().is_own = Some(true);
    let wanted = Wanted { i_know: false, ..wanted };
    let scene = Scene { host: &host, controls: &controls };
    assert_eq!((FIRMWARE_TURBO.plan)(&scene, &wanted).unwrap().writes.len(), 1);
}
