//! Settings of the firmware, planned, requested, taken and taken back over Redfish, as a user meets it. The journal and all output are
//! searched for the password.

mod controller;

use crate::support::{found, fullclock, is_of, refusal};
use controller::{Controller, Maker, Mood};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

const SECRET: &str = "S3KR1T77";

/// What Basic makes of the user and the password.
const ENCODED: &str = "YWRtaW46UzNLUjFUNzc=";

/// A controller, and a state folder of its own.
struct Bench {
    controller: Controller,
    folder: TempDir,
}

impl Bench {
    fn new(maker: Maker) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let password = folder.path().join("password");
        fs::write(&password, SECRET).unwrap();
        fs::set_permissions(&password, Permissions::from_mode(0o600)).unwrap();
        Bench { controller: Controller::start(maker), folder }
    }

    fn state_dir(&self) -> String {
        self.folder.path().join("state").display().to_string()
    }

    /// The way to the controller, as options.
    fn way(&self) -> Vec<String> {
        let password = self.folder.path().join("password").display().to_string();
        let url = self.controller.server.url();
        let way = ["--redfish", &url, "--user", "admin", "--password-file", &password];
        way.map(str::to_owned).to_vec()
    }

    fn arguments(&self, command: &[&str], has_way: bool) -> Vec<String> {
        let mut all: Vec<String> = command.iter().map(|it| (*it).to_owned()).collect();
        if has_way {
            all.extend(self.way());
        }
        if command[0] != "plan" {
            let folder = self.state_dir();
            all.extend(["--no-config", "--state-dir", &folder].map(str::to_owned));
        }
        all
    }

    /// The exit code, and all that is printed, in one line. The secret is in none of it, nor in the journal.
    fn run(&self, command: &[&str], has_way: bool) -> (i32, String) {
        let arguments = self.arguments(command, has_way);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = fullclock(&arguments).output().unwrap();
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let journal = fs::read(self.folder.path().join("state/journal")).unwrap_or_default();
        for text in [&said, &*String::from_utf8_lossy(&journal)] {
            assert!(!text.contains(SECRET) && !text.contains(ENCODED), "{text}");
        }
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        (output.status.code().unwrap(), words)
    }

    fn json(&self, command: &[&str]) -> Value {
        let arguments = self.arguments(&[command, &["--json"]].concat(), true);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        serde_json::from_slice(&fullclock(&arguments).output().unwrap().stdout).unwrap()
    }

    /// Requests it; it is done.
    fn applied(&self, what: &str) -> String {
        let (code, said) = self.run(&["apply", what, "--i-know"], true);
        assert_eq!(code, 0, "{said}");
        said
    }

    fn status(&self) -> String {
        let (code, said) = self.run(&["status"], true);
        assert_eq!(code, 0, "{said}");
        said
    }
}

const TURBO: &str = "firmware-turbo=on";

#[test]
fn a_plan_prints_the_request_and_nothing_is_sent_without_the_option() {
    let bench = Bench::new(Maker::Dell);
    let (code, said) = bench.run(&["plan", TURBO, "--i-know"], true);
    assert_eq!(code, 0, "{said}");
    let url = bench.controller.server.url();
    let request = format!(
        r#"PATCH {url}/redfish/v1/Systems/1/Bios/Settings {{"Attributes": {{"SysProfile": "Custom", "ProcTurboMode": "Enabled"}}, "@Redfish.SettingsApplyTime": {{"ApplyTime": "OnReset"}}}}"#
    );
    assert!(said.contains(&request), "{said}");
    assert!(said.contains("SysProfile=PerfOptimized, ProcTurboMode=Disabled -> SysProfile=Custom, ProcTurboMode=Enabled"), "{said}");
    let (code, said) = bench.run(&["apply", TURBO, "--i-know", "--dry-run"], true);
    assert_eq!(code, 0, "{said}");
    assert_eq!(bench.controller.changes(), Vec::<Value>::new());
    let n_asked = bench.controller.server.heads().len();
    assert!(n_asked > 0);
    let (code, said) = bench.run(&["apply", TURBO, "--i-know"], false);
    assert_eq!(code, 3, "{said}");
    assert_eq!(bench.controller.server.heads().len(), n_asked, "nobody was asked");
    // It is not known to be this machine's, or it is: then that is enough.
    let (code, said) = bench.run(&["plan", TURBO], true);
    assert!(
        code == 0 || said.contains("whether the controller is this machine's is unknown"),
        "{said}"
    );
}

/// Requested, waiting, taken, taken back, waiting, and as it was.
fn there_and_back(bench: &Bench, what: &str, given: &str, answer: &str) {
    let before = bench.controller.state().now.clone();
    let said = bench.applied(what);
    assert!(said.contains(answer) && said.contains("in force after a reboot"), "{said}");
    let said = bench.status();
    assert!(
        said.contains("waits for a restart")
            && said.contains(&format!("{given}: requested, and not yet taken")),
        "{said}"
    );
    // Without the controller it is known that it is not known.
    let (_, said) = bench.run(&["status"], false);
    assert!(said.contains("unknown now: only the management controller can tell"), "{said}");
    let (code, said) = bench.run(&["apply", what, "--i-know"], true);
    assert!(code == 3 && said.contains("changes wait for the next restart already"), "{said}");
    bench.controller.restart();
    let said = bench.status();
    assert!(said.contains(&format!("{given}: the firmware has taken it")), "{said}");
    let status = bench.json(&["status"]);
    is_of(include_str!("../../../../../schemas/status-2.json"), &status);
    assert_eq!(status["changes"][0]["places"][0]["standing"], "in-force");
    // Taken back without the controller it is not.
    let (code, said) = bench.run(&["revert"], false);
    assert!(code == 3 && said.contains("only the management controller can tell"), "{said}");
    let (code, said) = bench.run(&["revert"], true);
    assert!(code == 0 && said.contains("a restart of the machine brings them"), "{said}");
    bench.controller.restart();
    assert_eq!(bench.controller.state().now, before);
    assert!(bench.status().contains("Nothing is applied."));
    assert_eq!(bench.controller.changes().len(), 2);
}

#[test]
fn what_dells_controller_takes_waits_for_a_restart_and_is_taken_back() {
    let bench = Bench::new(Maker::Dell);
    let given = "SysProfile=Custom, ProcTurboMode=Enabled";
    there_and_back(
        &bench,
        TURBO,
        given,
        "the controller answered 202, task /redfish/v1/TaskService/Tasks/JID_1",
    );
    for change in bench.controller.changes() {
        assert_eq!(change["@Redfish.SettingsApplyTime"], json!({ "ApplyTime": "OnReset" }));
    }
}

#[test]
fn what_hpes_controller_takes_waits_for_a_restart_and_is_taken_back() {
    let bench = Bench::new(Maker::Hpe);
    let answer = "the controller answered 200: A reset is required.";
    there_and_back(&bench, "firmware-os-control=on", "PowerRegulator=OsControl", answer);
    assert_eq!(
        bench.controller.changes()[0],
        json!({ "Attributes": { "PowerRegulator": "OsControl" } })
    );
}

#[test]
fn an_answer_without_content_is_one() {
    let bench = Bench::new(Maker::Hpe);
    bench.controller.state().mood = Mood::Silent;
    let answer = "the controller answered 204";
    there_and_back(&bench, "firmware-os-control=on", "PowerRegulator=OsControl", answer);
}

#[test]
fn what_supermicros_controller_numbers_is_requested_with_its_numbers() {
    let bench = Bench::new(Maker::Supermicro);
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap();
    if cpuinfo.contains("AuthenticAMD") {
        let (code, said) = bench.run(&["apply", TURBO, "--i-know"], true);
        assert!(
            code == 3 && said.contains("what this maker's controllers call it is unknown"),
            "{said}"
        );
        assert_eq!(bench.controller.changes(), Vec::<Value>::new());
        return;
    }
    let given = "SpeedStep_P_States__FF12=Enable, TurboMode_3D06=Enable";
    there_and_back(&bench, TURBO, given, "the controller answered 200: A reset is required.");
    assert_eq!(
        bench.controller.changes()[0],
        json!({ "Attributes": { "SpeedStep_P_States__FF12": "Enable", "TurboMode_3D06": "Enable" } })
    );
}

#[test]
fn a_plan_takes_the_controller_of_the_configuration_that_the_options_name() {
    let bench = Bench::new(Maker::Dell);
    let file = |name: &str, text: &str| {
        let path = bench.folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    };
    let planned = |config: &[&str], controller: &[&str]| {
        let arguments = [config, &["plan", TURBO, "--i-know"], controller].concat();
        let output = fullclock(&arguments).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!said.contains(SECRET) && !said.contains(ENCODED), "{said}");
        (output.status.success(), said.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let password = bench.folder.path().join("password").display().to_string();
    let url = bench.controller.server.url();
    let lines = ["url", "user", "password-file"].into_iter().zip([&*url, "admin", &password]);
    let lines: Vec<String> = lines.map(|(key, value)| format!("{key} = \"{value}\"")).collect();
    let named = file("named.toml", &format!("[redfish]\n{}\n", lines.join("\n")));
    let (is_planned, said) = planned(&["--config", &named], &["--redfish", "config"]);
    assert!(is_planned && said.contains(&format!("PATCH {url}/redfish/v1/")), "{said}");
    let n_asked = bench.controller.server.heads().len();
    let empty = file("empty.toml", "");
    for config in [&["--config", &empty][..], &["--no-config"]] {
        let (is_planned, said) = planned(config, &["--redfish", "config"]);
        assert!(!is_planned && said.contains("the configuration names no controller"), "{said}");
    }
    // Nothing of it is read where the controller is another.
    let (is_planned, said) = planned(&["--config", &named], &[]);
    assert!(!is_planned && said.contains("for --redfish config only"), "{said}");
    assert_eq!(bench.controller.server.heads().len(), n_asked);
}

#[test]
fn a_change_that_is_taken_back_before_the_restart_never_comes() {
    let bench = Bench::new(Maker::Hpe);
    bench.applied("firmware-os-control=on");
    let (code, said) = bench.run(&["revert"], true);
    assert_eq!(code, 0, "{said}");
    assert!(bench.controller.state().next.is_empty());
}

#[test]
fn what_the_firmware_makes_of_it_otherwise_is_told() {
    let bench = Bench::new(Maker::Dell);
    bench.applied(TURBO);
    bench.controller.restart();
    bench.controller.state().now.insert("ProcTurboMode".to_owned(), json!("Disabled"));
    let said = bench.status();
    assert!(
        said.contains(
            "TAKEN DIFFERENTLY: the firmware has SysProfile=Custom, ProcTurboMode=Disabled"
        ),
        "{said}"
    );
    // What is somebody else's by now is left to them.
    let (code, said) = bench.run(&["revert"], true);
    assert!(code == 3 && said.contains("left alone: it was changed since"), "{said}");
}

#[test]
fn a_request_that_is_refused_changes_nothing_and_is_told_in_the_controllers_words() {
    for (mood, why) in [
        (
            Mood::Changed,
            "(412); somebody else has changed the settings since they were read: plan again",
        ),
        (Mood::Busy, "the controller failed (503: restarting)"),
        (Mood::Refuses, "(400: Unable to modify the attribute. A job is pending.)"),
    ] {
        let bench = Bench::new(Maker::Dell);
        bench.controller.state().mood = mood;
        let (code, said) = bench.run(&["apply", TURBO, "--i-know"], true);
        assert!(
            code == 3 && said.contains(why) && said.contains("Not changed."),
            "{mood:?}: {said}"
        );
        assert!(bench.controller.state().next.is_empty());
        assert_eq!(bench.controller.changes().len(), 1, "{mood:?}: it is sent once");
        assert!(bench.status().contains("Nothing is applied."));
    }
    let bench = Bench::new(Maker::Dell);
    bench.controller.state().mood = Mood::Denies;
    let (code, said) = bench.run(&["apply", TURBO, "--i-know"], true);
    assert!(code == 2 && said.contains("denies access (401"), "{said}");
    assert_eq!(bench.controller.changes(), Vec::<Value>::new());
}

#[test]
fn what_cannot_be_changed_or_shares_the_restart_is_never_sent() {
    let read_only = |bench: &Bench| bench.controller.state().registry["Dependencies"] = json!([]);
    let other_values = |bench: &Bench| {
        bench.controller.state().registry["Attributes"][1]["Value"] =
            json!([{ "ValueName": "On" }]);
    };
    let no_registry = |bench: &Bench| bench.controller.state().registry = json!({});
    let somebody = |bench: &Bench| {
        bench.controller.state().next.insert("BootMode".to_owned(), json!("Bios"));
    };
    type Disturbance<'a> = &'a dyn Fn(&Bench);
    let cases: [(Disturbance<'_>, &str); 4] = [
        (&read_only, "the controller says that ProcTurboMode cannot be changed"),
        (&other_values, "ProcTurboMode takes On, and not Enabled"),
        (&no_registry, "which values SysProfile takes"),
        (
            &somebody,
            "changes wait for the next restart already (1 more that do not concern the clock)",
        ),
    ];
    for (prepare, why) in cases {
        let bench = Bench::new(Maker::Dell);
        prepare(&bench);
        let (code, said) = bench.run(&["apply", TURBO, "--i-know"], true);
        assert!(code == 3 && said.contains(why), "{said}");
        assert_eq!(bench.controller.changes(), Vec::<Value>::new(), "{why}");
    }
}

#[test]
fn a_controller_that_is_gone_after_the_request_leaves_what_status_explains() {
    let bench = Bench::new(Maker::Dell);
    bench.controller.state().mood = Mood::Vanishes;
    let (code, said) = bench.run(&["apply", TURBO, "--i-know"], true);
    assert!(code == 3 && said.contains("whether it took the request is unknown"), "{said}");
    assert!(said.contains("`fullclock status` shows what is not"), "{said}");
    let said = bench.status();
    assert!(said.contains("reverted but for 1 place") && said.contains("unknown now"), "{said}");
    bench.controller.state().mood = Mood::Takes;
    let said = bench.status();
    assert!(said.contains("requested, and not yet taken"), "{said}");
    let (code, said) = bench.run(&["revert"], true);
    assert_eq!(code, 0, "{said}");
    assert!(bench.controller.state().next.is_empty());
}

#[test]
fn a_program_that_is_killed_while_it_waits_for_the_answer_leaves_a_change_to_take_back() {
    let bench = Bench::new(Maker::Dell);
    bench.controller.state().mood = Mood::Hangs;
    let arguments = bench.arguments(&["apply", TURBO, "--i-know"], true);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = fullclock(&arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    found(|| (!bench.controller.changes().is_empty()).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    bench.controller.state().mood = Mood::Takes;
    let said = bench.status();
    assert!(
        said.contains("It is being made, or was interrupted")
            && said.contains("requested, and not yet taken"),
        "{said}"
    );
    let (code, said) = bench.run(&["revert"], true);
    assert_eq!(code, 0, "{said}");
    assert!(bench.controller.state().next.is_empty());
    assert!(bench.status().contains("Nothing is applied."));
}

#[test]
fn nonsense_about_a_controller_is_refused_before_it_is_asked() {
    let bench = Bench::new(Maker::Dell);
    let url = bench.controller.server.url();
    for (arguments, why) in [
        (&["plan", TURBO, "--user", "me"][..], "--password-file"),
        (&["plan", TURBO, "--ca", "x.pem"], "--redfish"),
        (&["--root", "/", "plan", TURBO, "--redfish", &url], "of this machine, and not of a copy"),
        (
            &["--no-config", "apply", TURBO, "--redfish", "config"],
            "the configuration names no controller",
        ),
        (&["plan", TURBO, "--redfish", "https://me:S3KR1T77@bmc"], "leave it out"),
    ] {
        let said = refusal(arguments);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(why) && !said.contains(SECRET), "{said}");
    }
    assert_eq!(bench.controller.server.heads().len(), 0);
}
