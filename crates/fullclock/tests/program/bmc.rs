//! `fullclock bmc` as a user meets it, and what audits and captures make of a controller that the configuration names.

use crate::support::web_server::{Answer, WebServer};
use crate::support::{found, fullclock, install, is_of, printed, refusal, unwrapped};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

const SCHEMA: &str = include_str!("../../../../schemas/bmc-1.json");

const SECRET: &str = "S3KR1T77";

/// A controller of a test's own, which ends with the test's process. It repeats what it was sent wherever it can.
struct Controller {
    server: WebServer,
    folder: TempDir,
}

impl Controller {
    fn start(pause: Duration) -> Controller {
        let server = WebServer::start(move |head| {
            sleep(pause);
            answer(head)
        });
        let folder = tempfile::tempdir().unwrap();
        let controller = Controller { server, folder };
        controller.file("password", &format!("{SECRET}\n"), 0o600);
        controller
    }

    fn file(&self, name: &str, text: &str, mode: u32) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The configuration that names it.
    fn configured(&self) -> String {
        let password = self.folder.path().join("password").display().to_string();
        let text = format!(
            "[redfish]\nurl = \"{}\"\nuser = \"reader\"\npassword-file = \"{password}\"\n",
            self.server.url()
        );
        self.file("config.toml", &text, 0o600)
    }

    fn asked(&self, options: &[&str]) -> Vec<String> {
        let password = self.folder.path().join("password").display().to_string();
        let url = self.server.url();
        let who = ["--user", "reader", "--password-file", &password];
        let all = [&["bmc", "--no-config", "--redfish", &url][..], &who, options].concat();
        all.into_iter().map(str::to_owned).collect()
    }

    /// What it prints; the secret is nowhere.
    fn printed(&self, options: &[&str]) -> String {
        let arguments = self.asked(options);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = fullclock(&arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        harmless(&output);
        String::from_utf8(output.stdout).unwrap()
    }
}

fn harmless(output: &Output) {
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // What Basic makes of it.
    let encoded = "cmVhZGVyOlMzS1IxVDc3";
    assert!(!said.contains(SECRET) && !said.contains(encoded), "{said}");
}

fn answer(head: &str) -> Answer {
    let path = head.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default();
    match resource(path, head) {
        Some(body) => Answer { status: "200 OK", body: body.to_string() },
        None => {
            let body = json!({ "error": { "message": head } });
            Answer { status: "404 Not Found", body: body.to_string() }
        }
    }
}

fn resource(path: &str, head: &str) -> Option<Value> {
    let link = |it: &str| json!({ "@odata.id": it });
    let system = "/redfish/v1/Systems/437XR1138R2";
    Some(match path {
        "/redfish/v1/" => {
            json!({ "Vendor": head, "RedfishVersion": "1.15.0", "Systems": link("/redfish/v1/Systems"),
            "ProtocolFeaturesSupported": { "ExpandQuery": { "NoLinks": true } } })
        }
        "/redfish/v1/Systems" => json!({ "Members": [link(system)] }),
        "/redfish/v1/Systems/437XR1138R2" => json!({
            "Manufacturer": "Dell Inc.", "Model": "PowerEdge R760", "SerialNumber": "437XR1138R2", "Bios": link("/redfish/v1/Systems/437XR1138R2/Bios"),
            "Processors": link("/redfish/v1/Systems/437XR1138R2/Processors"), "Links": { "Chassis": [link("/redfish/v1/Chassis/1")] } }),
        "/redfish/v1/Systems/437XR1138R2/Bios" => {
            json!({ "Attributes": { "ProcTurboMode": "Disabled" } })
        }
        "/redfish/v1/Systems/437XR1138R2/Processors" => json!({ "Members": [
            { "@odata.id": "/redfish/v1/Systems/437XR1138R2/Processors/1", "Socket": "CPU.Socket.1", "Throttled": true, "ThrottleCauses": ["PowerLimit"],
              "Metrics": link("/redfish/v1/Systems/437XR1138R2/Processors/1/M") }] }),
        "/redfish/v1/Systems/437XR1138R2/Processors/1/M" => {
            json!({ "PowerLimitThrottleDuration": "PT1M" })
        }
        "/redfish/v1/Chassis/1" => {
            json!({ "EnvironmentMetrics": link("/redfish/v1/Chassis/1/EnvironmentMetrics") })
        }
        "/redfish/v1/Chassis/1/EnvironmentMetrics" => {
            json!({ "PowerLimitWatts": { "SetPoint": 500, "AllowableMax": 1400, "ControlMode": "Automatic" },
            "PowerWatts": { "Reading": 490 } })
        }
        _ => return None,
    })
}

#[test]
fn a_controller_says_what_limits_what_throttles_and_what_it_took_so_long_for() {
    let controller = Controller::start(Duration::ZERO);
    let said = unwrapped(&controller.printed(&["--bios"]));
    assert!(said.starts_with("fullclock bmc It holds"), "{said}");
    assert!(
        said.contains(
            "It holds the board to 500 W, and 490 W are drawn; it calls 1 of 1 processor throttled."
        ),
        "{said}"
    );
    assert!(
        said.contains("PowerLimit (a power limit)") && said.contains("ProcTurboMode"),
        "{said}"
    );
    let (_, requests) = said.split_once("What did the controller take so long for?").unwrap();
    assert!(requests.contains("/redfish/v1/Chassis/1/EnvironmentMetrics"), "{requests}");
    let heads = controller.server.heads();
    assert!(
        heads.len() <= 9 && heads.iter().all(|it| it.contains("Basic cmVhZGVyOlMzS1IxVDc3")),
        "{heads:?}"
    );
}

#[test]
fn data_and_pages_say_the_same_and_hold_no_secret() {
    let controller = Controller::start(Duration::ZERO);
    let value: Value =
        serde_json::from_str(&controller.printed(&["--json", "--inventory"])).unwrap();
    is_of(SCHEMA, &value);
    assert_eq!(
        (&value["limits"][0]["set_w"], &value["processors"][0]["throttled"]),
        (&json!(500.0), &json!(true))
    );
    assert!(
        value["requests"].as_array().unwrap().iter().all(|it| it["took_s"].as_f64().unwrap() > 0.0)
    );
    let page = controller.folder.path().join("bmc.html");
    controller.printed(&["-o", page.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("490 W are drawn") && !page.contains(SECRET));
}

#[test]
fn an_audit_and_a_capture_ask_a_controller_that_the_configuration_names_and_no_other() {
    let controller = Controller::start(Duration::ZERO);
    let config = controller.configured();
    let audit = fullclock(&["--config", &config, "audit", "-q"]).output().unwrap();
    harmless(&audit);
    let said = unwrapped(&String::from_utf8_lossy(&audit.stdout));
    assert!(
        said.contains("the management controller calls processor CPU.Socket.1 throttled"),
        "{said}"
    );
    let n_asked = controller.server.heads().len();
    assert!((1..=8).contains(&n_asked), "{n_asked}");
    let capture = fullclock(&["--config", &config, "capture"]).output().unwrap();
    harmless(&capture);
    let text = String::from_utf8(capture.stdout).unwrap();
    assert!(
        text.contains("//- redfish\n")
            && !text.contains("437XR1138R2")
            && !text.contains("127.0.0.1"),
        "{text}"
    );
    let file = controller.file("a.host", &text, 0o600);
    let again = unwrapped(&printed(&["audit", "--host", &file, "-q"]));
    assert!(again.contains("CPU.Socket.1 throttled"), "{again}");
    let n_asked = controller.server.heads().len();
    printed(&["--no-config", "audit", "-q"]);
    printed(&["--no-config", "capture"]);
    // It reads none without `--redfish config`, and may refuse something here.
    fullclock(&["plan", "-q"]).output().unwrap();
    assert_eq!(controller.server.heads().len(), n_asked);
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_do_and_without_the_secret() {
    let controller = Controller::start(Duration::ZERO);
    let open = controller.file("open", SECRET, 0o644);
    let secret = controller.file("secret", SECRET, 0o600);
    let url = controller.server.url();
    for (arguments, why) in [
        (
            &["--redfish", &url, "--user", "me", "--password-file", &open][..],
            "others can read it (mode 644): chmod 600 it",
        ),
        (&["--redfish", &url, "--token-file", &open], "chmod 600 it"),
        (&["--redfish", "http://192.0.2.1", "--token-file", &secret], "unencrypted; use https"),
        (&["--redfish", "https://me:S3KR1T77@bmc"], "leave it out"),
        (&["--redfish", &url, "--user", "me"], "--password-file"),
        (&["--redfish", &url, "--fingerprint", "ab"], "expected 64 hexadecimal digits"),
        (&["--redfish", &url, "--look", "5m"], "a look takes 1s to 60s"),
        (&["--redfish", &url, "--look", "0"], "\"0\": a look takes 1s to 60s"),
        (&["--redfish", ""], "fullclock: \"\": expected http://HOST:PORT"),
        (&["--redfish", &url, "--system", "9"], "it has 437XR1138R2"),
        (&["--root", "/"], "`--redfish URL` names another's"),
    ] {
        let arguments = [&["bmc", "--no-config"], arguments].concat();
        let said = unwrapped(&refusal(&arguments));
        assert!(said.contains(why) && !said.contains(SECRET), "{arguments:?}: {said}");
    }
}

/// How it ends where SIGINT comes while the controller takes an hour for its answer about one resource.
fn interrupted_at(silent: &'static str) -> Output {
    let server = WebServer::start(move |head| {
        if head.split([' ', '?']).nth(1) == Some(silent) {
            std::thread::park();
        }
        answer(head)
    });
    let url = server.url();
    let child = fullclock(&["bmc", "--no-config", "--redfish", &url, "--look", "60s"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let is_asked = || server.heads().iter().any(|it| it.split([' ', '?']).nth(1) == Some(silent));
    found(|| is_asked().then_some(()));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn ctrl_c_while_a_controller_is_silent_ends_the_look_with_what_was_answered() {
    let output = interrupted_at("/redfish/v1/Systems/437XR1138R2/Processors/1/M");
    assert!(output.status.success(), "{output:?}");
    let said = unwrapped(&String::from_utf8_lossy(&output.stdout));
    assert!(said.contains("490 W are drawn"), "{said}");
    assert!(said.contains("how long a processor was throttled: no answer before Ctrl-C"), "{said}");
    assert!(said.contains("is unknown: Ctrl-C came before the second look"), "{said}");
}

#[test]
fn ctrl_c_before_a_controller_said_anything_ends_with_the_code_of_shells() {
    let output = interrupted_at("/redfish/v1/");
    assert_eq!((output.status.code(), &*output.stdout), (Some(130), &b""[..]), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("stopped before the controller said anything"), "{said}");
}

/// As a user, whose own configuration is read: root's is in /etc.
#[test]
fn a_plan_without_the_option_names_the_one_that_asks_the_configurations_controller() {
    let folder = tempfile::tempdir().unwrap();
    let (binary, config) = (folder.path().join("fullclock-own"), folder.path().join("fullclock"));
    install(Path::new(env!("CARGO_BIN_EXE_fullclock")), &binary);
    fs::create_dir(&config).unwrap();
    // Nobody answers at this address, and nobody is asked.
    fs::write(config.join("config.toml"), "[redfish]\nurl = \"https://192.0.2.1\"\n").unwrap();
    for path in [folder.path(), &config] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    let output = Command::new("setpriv")
        .args(["--reuid=65533", "--regid=65533", "--clear-groups"])
        .arg(&binary)
        .args(["plan", "firmware-turbo=on"])
        .env("XDG_CONFIG_HOME", folder.path())
        .stdin(Stdio::null())
        .current_dir("/")
        .output();
    let Some(output) = output.ok().filter(|it| !it.stderr.starts_with(b"setpriv: ")) else {
        println!("skipped: setpriv(1) of util-linux does not work here");
        return;
    };
    let said = unwrapped(&String::from_utf8_lossy(&output.stdout).replace('`', ""));
    let words = "fullclock plan firmware-turbo=on --redfish config asks it and prints the request";
    assert!(output.status.code() == Some(3) && said.contains(words), "{output:?}");
}

/// What one host interface, one configuration and no option make of each other: nothing is contacted that is not named.
#[test]
fn without_an_address_it_is_the_machines_own_controller_or_an_error_that_says_how_to_name_one() {
    let output = fullclock(&["bmc", "--no-config"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // This machine has no controller, or one that cannot be reached from a test; users may not look for it.
    if !output.status.success() {
        let reasons = [
            "--redfish URL",
            "run as root",
            "cannot connect",
            "did not answer",
            "not trusted",
            "denies access",
        ];
        assert!(reasons.iter().any(|it| said.contains(it)), "{said}");
    }
}
