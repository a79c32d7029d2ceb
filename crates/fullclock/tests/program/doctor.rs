//! `fullclock doctor`: what is missing, on this machine, as an ordinary user, and on hosts of other distributions.

use crate::support::{fullclock, install, is_of, printed, refusal, unwrapped};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

const SCHEMA: &str = include_str!("../../../../schemas/doctor-1.json");

/// A bare machine with Intel's processor, whose kernel has nothing loaded and nothing mounted.
const BARE: &str = "fullclock capture 1\n//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\n\
                    model : 85\nflags : est ida\n//- /sys/devices/system/cpu/online\n0-3\n//- /dev/cpu/0/\n!absent\n\
                    //- /sys/fs/cgroup/\n\n//- /run/systemd/system/\n!absent\n";

fn document(arguments: &[&str]) -> Value {
    let value: Value = serde_json::from_str(&printed(arguments)).unwrap();
    is_of(SCHEMA, &value);
    value
}

fn of<'a>(document: &'a Value, id: &str) -> &'a Value {
    document["means"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap()
}

#[test]
fn this_machine_is_examined_and_nothing_on_it_is_changed() {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    let json = document(&["doctor", "--json"]);
    assert_eq!(mounts(), before);
    let means = json["means"].as_array().unwrap();
    assert!(means.len() > 15 && json["user"]["uid"].is_number(), "{json:#}");
    let text = printed(&["doctor", "-v"]);
    for it in means {
        let name = if it["command"].is_string() && it["kind"] != "tool" { "title" } else { "id" };
        let name = it[name].as_str().unwrap();
        assert!(text.to_lowercase().contains(&name.to_lowercase()), "{name}: {text}");
    }
    let order: Vec<&str> = means.iter().map(|it| it["state"].as_str().unwrap()).collect();
    let first = order.iter().position(|it| *it != "missing").unwrap();
    assert!(order[first..].iter().all(|it| *it != "missing"), "{order:?}");
}

#[test]
fn an_ordinary_user_is_sent_to_root() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("fullclock");
    install(Path::new(env!("CARGO_BIN_EXE_fullclock")), &binary);
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65533", "--regid=65533", "--clear-groups"])
        .arg(&binary)
        .args(["doctor", "--json"]);
    let output = command.stdin(Stdio::null()).current_dir("/").output();
    let Some(output) = output.ok().filter(|it| !it.stderr.starts_with(b"setpriv: ")) else {
        println!("skipped: setpriv(1) of util-linux does not work here");
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_of(SCHEMA, &json);
    let root = of(&json, "root");
    assert_eq!((&root["state"], &root["command"]), (&"missing".into(), &"sudo fullclock".into()));
    assert_eq!(json["user"]["uid"], 65533);
    // Whether the kernel has it or not: no ordinary user is told of tasks that end.
    assert_eq!(of(&json, "taskstats")["state"], "missing");
}

#[test]
fn another_hosts_commands_are_those_of_its_distribution() {
    let folder = tempfile::tempdir().unwrap();
    let of_host = |os_release: &str| {
        let file = folder.path().join("a.host");
        fs::write(&file, format!("{BARE}//- /etc/os-release\n{os_release}\n")).unwrap();
        document(&["doctor", "--json", "--host", file.to_str().unwrap()])
    };
    let debian = of_host("ID=debian");
    assert_eq!(of(&debian, "msr-module")["command"], "modprobe msr");
    assert_eq!(of(&debian, "cgroups")["command"], "mount -t cgroup2 cgroup2 /sys/fs/cgroup");
    assert_eq!(of(&debian, "root")["state"], "not-needed");
    assert_eq!(debian["user"], Value::Null);
    let alpine = of_host("ID=alpine");
    assert!(of(&alpine, "msr-module")["note"].as_str().unwrap().contains("/etc/modules"));
    let talos = of_host("ID=talos");
    assert!(
        of(&talos, "msr-module")["no_command"].as_str().unwrap().contains("machine.kernel.modules")
    );
}

#[test]
fn a_folder_with_another_os_release_is_another_host() {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("proc/cpuinfo", "processor : 0\nvendor_id : GenuineIntel\nflags : est\n"),
        ("proc/schedstat", "version 15\n"),
        ("sys/devices/system/cpu/online", "0\n"),
        ("etc/os-release", "ID=rocky\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"9.4\"\n"),
        ("sys/kernel/security/lockdown", "none [integrity] confidentiality\n"),
    ] {
        let file = root.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    fs::create_dir_all(root.path().join("sys/fs/cgroup")).unwrap();
    let json = document(&["doctor", "--json", "--root", root.path().to_str().unwrap()]);
    assert_eq!(of(&json, "schedstat")["state"], "here");
    assert_eq!(of(&json, "no-lockdown")["state"], "missing");
    // What was not copied is unknown, and not missing.
    assert_eq!(of(&json, "msr-module")["state"], "unknown");
    assert_eq!(json["machine"]["origin"], "tree");
}

/// What doctor says of the configuration's controller, which nobody contacts: there is none at that address.
#[test]
fn the_configurations_controller_is_told_with_its_file_and_not_contacted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (config, password) = (at("config.toml"), at("password"));
    let asked = |text: &str| {
        fs::write(&config, text).unwrap();
        let json = document(&["doctor", "--json", "--config", &config]);
        (json["config"]["redfish"].clone(), printed(&["doctor", "--config", &config]))
    };
    let (none, text) = asked("");
    assert!(none.is_null() && text.contains("names no management controller"), "{text}");
    let named = format!(
        "[redfish]\nurl = \"https://192.0.2.1\"\nuser = \"ro\"\npassword-file = \"{password}\"\n"
    );
    let (absent, _) = asked(&named);
    assert_eq!((&absent["ready"], &absent["file"]), (&false.into(), &password.clone().into()));
    assert!(absent["error"].as_str().unwrap().contains("there is no such file"), "{absent}");
    for (mode, ready, words) in
        [(0o600, true, "which its owner alone can read"), (0o644, false, "chmod 600 it")]
    {
        fs::write(&password, "S3KR1T77\n").unwrap();
        fs::set_permissions(&password, Permissions::from_mode(mode)).unwrap();
        let (found, text) = asked(&named);
        assert_eq!(found["ready"], ready, "{found}");
        let text = unwrapped(&text);
        assert!(text.contains(words) && !text.contains("S3KR1T77"), "{text}");
    }
}

#[test]
fn what_is_missing_is_no_failure_and_nonsense_is() {
    let output = fullclock(&["doctor"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(refusal(&["doctor", "--root", "/nonexistent"]).contains("/nonexistent"));
    assert!(refusal(&["doctor", "--fail-on", "low"]).contains("audit --fail-on"));
}
