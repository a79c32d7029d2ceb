//! What a change of the firmware's settings takes: which values there are, what is held, whose machine it is.

use super::*;
use crate::change::FirmwarePlace;

#[test]
fn what_settings_take_is_in_the_registry_or_beside_them() {
    let current = resource(json!({
        "AttributeRegistry": "BiosAttributeRegistry.v1_0_3",
        "Attributes": { "ProcTurboMode": "Disabled", "SysProfile": "PerfOptimized", "SysProfile@Redfish.AllowableValues": ["Custom", "PerfOptimized"] },
        "@Redfish.Settings": { "SettingsObject": link("/redfish/v1/S"), "SupportedApplyTimes": ["OnReset", "AtMaintenanceWindowStart"] },
    }));
    let (mut bios, _) = current.bios();
    assert!(bios.on_reset() && bios.attributes.len() == 2, "{bios:?}");
    assert_eq!(bios.takes["SysProfile"].values, ["Custom", "PerfOptimized"]);
    let values = json!([{ "ValueName": "Enabled", "ValueDisplayName": "On" }, { "ValueName": "Disabled" }, 3]);
    let rule = json!({ "Dependency": { "MapFrom": [{ "MapFromAttribute": "SysProfile", "MapFromCondition": "NEQ", "MapFromValue": "Custom" }],
        "MapToAttribute": "ProcTurboMode", "MapToProperty": "ReadOnly", "MapToValue": true }, "Type": "Map" });
    let registry = json!({ "RegistryEntries": {
        "Attributes": [{ "AttributeName": "ProcTurboMode", "ReadOnly": true, "Type": "Enumeration", "Value": values },
            { "AttributeName": "AssetTag", "ReadOnly": false }, 7],
        "Dependencies": [rule, {}] } });
    bios.add_registry(&resource(registry));
    let values = ["Enabled", "Disabled"].map(str::to_owned).to_vec();
    let depends_on = vec!["SysProfile".to_owned()];
    assert_eq!(bios.takes["ProcTurboMode"], Takes { read_only: true, depends_on, values });
    assert_eq!(bios.takes.len(), 2);
    let file = resource(
        json!({ "Location": [{ "Language": "ja", "Uri": "/redfish/v1/r/ja" }, { "Language": "en-US", "Uri": "/redfish/v1/r/en" }] }),
    );
    assert_eq!(file.registry_place().unwrap().path(), "/redfish/v1/r/en");
    let is_it =
        |path: &str| is_registry(&Link::parse(path).unwrap(), "BiosAttributeRegistry.v1_0_3");
    assert!(
        is_it("/redfish/v1/Registries/biosattributeregistry.v1_0_3")
            && is_it("/redfish/v1/Registries/BiosAttributeRegistry/")
    );
    assert!(!is_it("/redfish/v1/Registries/BaseRegistry"));
}

#[test]
fn values_that_a_registry_numbers_are_those_that_it_shows_and_the_settings_hold() {
    let current = resource(
        json!({ "Attributes": { "TurboMode_3D06": "Enable", "HardwareP_States_F282": "Native Mode", "QuietBoot_0027": true } }),
    );
    let (mut bios, _) = current.bios();
    assert_eq!(bios.attributes.len(), 2, "{bios:?}");
    let value = |name: &str, shown: &str| json!({ "ValueName": name, "ValueDisplayName": shown });
    bios.add_registry(&resource(json!({ "RegistryEntries": { "Attributes": [
        { "AttributeName": "TurboMode_3D06", "CurrentValue": "Enable", "Value": [value("0", "Disable"), value("1", "Enable")] },
        { "AttributeName": "HardwareP_States_F282", "Value": [value("0", "Disable"), value("2", "Out of Band Mode")] }] } })));
    assert_eq!(bios.takes["TurboMode_3D06"].values, ["Disable", "Enable"]);
    assert_eq!(bios.takes["HardwareP_States_F282"].values, ["0", "2"], "it holds neither");
    let place = |uri: &str| resource(json!({ "Location": [{ "Uri": uri }] })).registry_place();
    let uri = "/registries/BiosAttributeRegistry.1.0.0.json";
    assert_eq!(place(uri).unwrap().path(), uri);
    for wrong in [
        "/registries/../etc/passwd",
        "//evil/registries/x",
        "/x/registries/y",
        "https://evil/registries/",
    ] {
        assert_eq!(place(wrong), None, "{wrong}");
    }
    assert!(Link::parse(uri).is_err(), "only a registry is there");
}

#[test]
fn what_settings_hold_now_and_after_the_next_restart_is_read_together() {
    let place = FirmwarePlace {
        controller: String::new(),
        bios: "/redfish/v1/B".to_owned(),
        settings: "/redfish/v1/S".to_owned(),
        names: ["SysProfile", "ProcTurboMode"].map(str::to_owned).to_vec(),
    };
    let own = resource(
        json!({ "Attributes": { "SysProfile": "PerfOptimized", "ProcTurboMode": "Disabled" } }),
    );
    // iDRAC names only what waits, iLO everything.
    let none = own.held(&resource(json!({ "Attributes": {} })), &place).unwrap();
    assert_eq!(none.now, none.next);
    assert_eq!(none.now, r#"{"SysProfile": "PerfOptimized", "ProcTurboMode": "Disabled"}"#);
    let one = own
        .held(&resource(json!({ "Attributes": { "ProcTurboMode": "Enabled" } })), &place)
        .unwrap();
    assert_eq!(one.next, r#"{"SysProfile": "PerfOptimized", "ProcTurboMode": "Enabled"}"#);
    let wrong = resource(json!({ "Attributes": { "SysProfile": 3, "ProcTurboMode": null } }));
    assert_eq!(own.held(&wrong, &place), Err("SysProfile is no text".to_owned()));
    assert_eq!(
        resource(json!({})).held(&wrong, &place),
        Err("the firmware has no SysProfile".to_owned())
    );
}

#[test]
fn a_system_is_this_machine_by_its_uuid_in_either_order_of_bytes_or_its_serial_number() {
    let system = resource(
        json!({ "UUID": "4C4C4544-0037-3510-8052-B4C04F465232", "SerialNumber": "CNIVC00", "SKU": "7-5R4FR2" }),
    );
    let is = |uuid, serial| system.is_machine(uuid, serial);
    assert_eq!(is(Some("4c4c4544-0037-3510-8052-b4c04f465232"), None), Some(true));
    assert_eq!(is(Some("44454c4c-3700-1035-8052-b4c04f465232"), None), Some(true));
    assert_eq!(is(Some("4c4c4544-0037-3510-8052-b4c04f465233"), None), Some(false));
    assert_eq!(is(Some("4c4c4544-0037-3510-8052-b4c04f465233"), Some("7-5r4fr2")), Some(true));
    assert_eq!(is(None, Some("other99")), None);
    assert_eq!(is(Some("00000000-0000-0000-0000-000000000000"), Some("None")), None);
    assert_eq!(
        resource(json!({ "SerialNumber": "Default string" }))
            .is_machine(None, Some("Default string")),
        None
    );
}
