//! The same services, read by sushy (OpenStack's library for Redfish): what both read has to be equal.
#![expect(clippy::disallowed_methods, reason = "the other one is another program")]
#![expect(clippy::print_stdout, reason = "how much was compared")]

use super::*;
use serde_json::{Value, json};
use std::process::Command;

/// What sushy wants of every resource that the trees leave out.
fn as_sushy_wants(mut tree: Tree) -> Tree {
    for (path, resource) in &mut tree {
        let id = path.trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
        let mut give = |key: &str, value: Value| {
            resource.as_object_mut().unwrap().entry(key).or_insert(value);
        };
        give("@odata.id", json!(path));
        give("Id", json!(id));
        give("Name", json!(id));
        if path.contains("/Chassis/") {
            give("ChassisType", json!("RackMount"));
        }
        if path.ends_with("/UpdateService") {
            give("Actions", json!({ "#UpdateService.SimpleUpdate": { "target": "/none" } }));
        }
        for (at, it) in resource["Temperatures"].as_array_mut().into_iter().flatten().enumerate() {
            it["MemberId"] = json!(at.to_string());
        }
    }
    tree
}

/// What sushy reads of a service.
fn sushy(python: &str, fake: &Fake) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/redfish/tests/second_opinion.py");
    let output = Command::new(python).args([script, &fake.url, "reader", SECRET]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether sushy has an entry with these values.
fn has(others: &Value, wanted: &Value) -> bool {
    let wanted = wanted.as_object().unwrap();
    let is_it = |other: &Value| wanted.iter().all(|(key, value)| other[key] == *value);
    others.as_array().unwrap().iter().any(is_it)
}

#[test]
#[ignore = "needs sushy: `cargo xtask sweep` installs it and names its Python in SUSHY_PYTHON"]
fn sushy_reads_the_same() {
    let python = std::env::var("SUSHY_PYTHON").unwrap();
    let mut n_compared = 0;
    for (maker, tree) in makers() {
        let fake = serve(as_sushy_wants(tree));
        let other = sushy(&python, &fake);
        let wanted = Wanted { bios: true, inventory: true, ..Wanted::default() };
        let told = look_for(&fake, &wanted).unwrap();
        assert_eq!(json!(told.system.manufacturer), other["maker"], "{maker}");
        assert_eq!(json!(told.system.model), other["model"], "{maker}");
        let mut n = 2;
        for it in &told.processors {
            let max = it.max_mhz.map(|mhz| mhz as u64);
            let ours = json!({ "name": it.name, "model": it.model, "max_mhz": max });
            assert!(has(&other["processors"], &ours), "{maker}: {ours} in {other}");
            n += 1;
        }
        for it in &told.temperatures {
            let celsius = it.celsius as u64;
            let ours = json!({ "name": it.name, "celsius": celsius });
            assert!(has(&other["temperatures"], &ours), "{maker}: {ours} in {other}");
            n += 1;
        }
        for (name, value) in told.bios.iter().flat_map(|it| &it.attributes) {
            assert_eq!(*value, shown(&other["bios"][name]), "{maker}: {name}");
            n += 1;
        }
        for it in told.bios.iter().flat_map(|it| &it.pending) {
            assert_eq!(it.then, shown(&other["pending"][&it.name]), "{maker}: {}", it.name);
            n += 1;
        }
        for it in &told.inventory {
            let ours = json!({ "name": it.name, "version": it.version });
            assert!(has(&other["inventory"], &ours), "{maker}: {ours} in {other}");
            n += 1;
        }
        println!("{maker}: {n} values are equal");
        n_compared += n;
    }
    assert!(n_compared >= 23, "{n_compared}");
}
