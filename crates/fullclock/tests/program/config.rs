//! The configuration: what it changes, that what it suppresses is shown, and which files are refused.

use crate::support::{fullclock, is_of, printed, ran, refusal};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Two CPUs whose governor is slow.
const HOST: &str = "fullclock capture 1\n//- /sys/devices/system/cpu/online\n0-1\n\
    //- /sys/devices/system/cpu/cpufreq/\npolicy0\n\
    //- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver\nacpi-cpufreq\n\
    //- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor\npowersave\n\
    //- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0 1\n\
    //- /sys/devices/system/cpu/cpufreq/policy0/related_cpus\n0 1\n";

struct Site {
    folder: TempDir,
    host: String,
}

impl Site {
    fn new() -> Site {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let host = folder.path().join("a.host");
        fs::write(&host, HOST).unwrap();
        Site { host: host.display().to_string(), folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    /// The file with this text, by its path.
    fn config(&self, text: &str) -> String {
        fs::write(self.path(), text).unwrap();
        self.path().display().to_string()
    }
}

#[test]
fn an_explanation_of_pasted_text_is_of_the_site_that_is_named() {
    let site = Site::new();
    let config = site.config(&ignored("2999-12-31"));
    let text = "analyzing CPU 0:\n  driver: acpi-cpufreq\n  hardware limits: 1.20 GHz - 2.40 GHz\n\
                \u{20} The governor \"powersave\" may decide which speed to use\n";
    assert!(printed(&["explain", text]).contains("High, slow-governor"));
    let said = printed(&["explain", "--config", &config, text]);
    assert!(!said.contains("High, slow-governor"), "{said}");
    assert!(said.contains("The configuration suppresses what is wrong in it: slow-governor."));
    // Of this machine, whatever is found on it, the same file is read.
    assert!(printed(&["explain", "--config", &config, "slow-governor"]).contains("References"));
    let refused = refusal(&["explain", "--config", "/nowhere/config.toml", "slow-governor"]);
    assert!(refused.contains("/nowhere/config.toml"), "{refused}");
}

fn ignored(until: &str) -> String {
    format!(
        "ignore = [{{ id = \"slow-governor\", until = {until}, because = \"saves power: ticket 4711\" }}]"
    )
}

#[test]
fn a_suppressed_finding_is_shown_in_every_form_and_fails_nothing() {
    let site = Site::new();
    let config = site.config(&ignored("2999-12-31"));
    let audit = ["audit", "--host", &site.host, "--fail-on", "low"];
    let code =
        |more: &[&str]| fullclock(&[&audit[..], more].concat()).output().unwrap().status.code();
    assert_eq!(code(&[]), Some(1));
    assert_eq!(code(&["--config", &config]), Some(0));
    for more in [&[][..], &["--quiet"], &["--format", "markdown"], &["--format", "html"]] {
        let text = printed(&[&audit[..], &["--config", &config], more].concat());
        for word in ["slow-governor", "2999-12-31", "saves power: ticket 4711", "Suppressed"] {
            assert!(text.contains(word), "{more:?} {word}: {text}");
        }
    }
    let json: Value =
        serde_json::from_str(&printed(&[&audit[..], &["--config", &config, "--json"]].concat()))
            .unwrap();
    is_of(include_str!("../../../../schemas/audit-2.json"), &json);
    let suppressed = &json["suppressed"][0];
    assert_eq!(
        (&suppressed["id"], &suppressed["until"]),
        (&"slow-governor".into(), &"2999-12-31".into())
    );
    assert!(json["findings"].as_array().unwrap().iter().all(|it| it["id"] != "slow-governor"));
}

#[test]
fn an_entry_whose_day_is_over_has_no_effect_and_is_said() {
    let site = Site::new();
    let config = site.config(&ignored("\"2020-01-01\""));
    let output =
        fullclock(&["audit", "--host", &site.host, "--config", &config, "--fail-on", "low"])
            .output()
            .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("No longer suppressed: slow-governor, until 2020-01-01"), "{text}");
    assert!(!text.contains("Suppressed by"), "{text}");
}

#[test]
fn a_copy_of_another_host_is_not_of_this_site_unless_the_file_is_named() {
    let site = Site::new();
    let config = site.config(&ignored("2999-12-31"));
    let home = site.folder.path().join("home/fullclock");
    fs::create_dir_all(&home).unwrap();
    fs::copy(&config, home.join("config.toml")).unwrap();
    let mut command = fullclock(&["audit", "--host", &site.host]);
    let output = command.env("XDG_CONFIG_HOME", site.folder.path().join("home")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("Suppressed"), "{text}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_is_no_file_of_ours_is_refused_and_no_config_does_without_it() {
    let site = Site::new();
    let audit =
        |path: &Path| refusal(&["audit", "--host", &site.host, "--config", path.to_str().unwrap()]);
    let at = |name: &str| site.folder.path().join(name);
    fs::create_dir(at("folder")).unwrap();
    assert!(audit(&at("folder")).contains("it is a folder, and not a file"));
    assert!(audit(&at("absent")).contains("does not exist"));
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    assert!(audit(&at("fifo")).contains("not a regular file"));
    assert!(audit(Path::new("/dev/zero")).contains("not a regular file"));
    let sparse = fs::File::create(at("sparse")).unwrap();
    sparse.set_len(1 << 30).unwrap();
    assert!(audit(&at("sparse")).contains("more than 65536 bytes"));
    fs::write(at("binary"), b"\xff\xfe").unwrap();
    assert!(audit(&at("binary")).contains("not UTF-8"));
    let config = site.config("");
    symlink(&config, at("link")).unwrap();
    printed(&["audit", "--host", &site.host, "--config", at("link").to_str().unwrap()]);
    symlink("/proc/self/environ", at("out")).unwrap();
    assert!(audit(&at("out")).contains("the configuration is refused"));
    fs::set_permissions(&config, Permissions::from_mode(0o666)).unwrap();
    let said = audit(&site.path());
    assert!(said.contains("config.toml") && said.contains("--no-config"), "{said}");
    printed(&["audit", "--host", &site.host, "--no-config"]);
    let both = refusal(&["audit", "--no-config", "--config", &config]);
    assert!(both.contains("cannot be used with"), "{both}");
    assert!(refusal(&["diff", "--config", "x", "a", "b"]).contains("reads no configuration"));
}

#[test]
fn what_makes_no_sense_is_refused_with_the_line_and_a_near_spelling() {
    let site = Site::new();
    for (text, expected) in [
        (
            ignored("2999-12-31").replace("slow-governor", "slow-govenor"),
            "did you mean slow-governor?",
        ),
        (ignored("\"tomorrow\""), "until = \"tomorrow\": expected a day"),
        ("ignor = []".to_owned(), "line 1, column 1: unknown field `ignor`"),
        ("[serve]\nlisten = 7077".to_owned(), "line 2, column 10: invalid type"),
        ("[thresholds]\nstolen-time = 1e9".to_owned(), "expected 1 to 50"),
    ] {
        let config = site.config(&text);
        let said = refusal(&["audit", "--host", &site.host, "--config", &config]);
        assert!(said.contains(expected) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn folders_are_those_of_the_configuration_unless_an_option_names_others() {
    let site = Site::new();
    let results = site.folder.path().join("results");
    let config =
        site.config(&format!("[folders]\nresults = \"{}\"\nstate = \"{0}\"\n", results.display()));
    printed(&["bench", "cpu-loop", "--iterations", "1000", "-n", "3", "--config", &config]);
    let listed = printed(&["history", "--config", &config]);
    assert!(listed.contains("cpu-loop"), "{listed}");
    let other = site.folder.path().join("other");
    let listed = printed(&["history", "--config", &config, "--results", other.to_str().unwrap()]);
    assert!(!listed.contains("cpu-loop"), "{listed}");
    // A broken one stops a command that it has a say in, and no other.
    let broken = site.config("x = 1");
    assert!(refusal(&["history", "--config", &broken]).contains("unknown field `x`"));
    printed(&["history", "--config", &broken, "--results", other.to_str().unwrap()]);
}

#[test]
fn doctor_says_which_file_is_read_and_what_is_wrong_with_it() {
    let site = Site::new();
    let config = site.config(&ignored("2999-12-31"));
    let text = printed(&["doctor", "--config", &config]);
    assert!(
        text.contains(&config) && text.contains("suppresses slow-governor, until 2999-12-31"),
        "{text}"
    );
    let broken = site.config("x = 1");
    let text = printed(&["doctor", "--config", &broken]);
    assert!(text.contains("unknown field `x`"), "{text}");
    let json: Value =
        serde_json::from_str(&printed(&["doctor", "--config", &broken, "--json"])).unwrap();
    is_of(include_str!("../../../../schemas/doctor-1.json"), &json);
    assert_eq!(json["config"]["state"], "refused");
    assert!(printed(&["doctor", "--no-config"]).contains("None is read"));
}

#[test]
fn a_plugin_whose_configuration_is_refused_is_unknown() {
    let site = Site::new();
    let config = site.config("foo = 1\n");
    let audited = |format: &str| {
        ran(&["audit", "--format", format, "--config", &config, "--host", &site.host])
    };
    let (code, text, _) = audited("nagios");
    assert_eq!((code, text.lines().count()), (3, 1), "{text}");
    assert!(text.starts_with("FULLCLOCK UNKNOWN: "), "{text}");
    let (code, text, _) = audited("checkmk");
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("3 \"fullclock audit\" - "), "{text}");
}
