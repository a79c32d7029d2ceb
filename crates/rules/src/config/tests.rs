//! What a file may say, and what is refused in words.

use super::*;
use crate::fixture::host_of;
use facts::HostView;
use facts::site::{KERNEL_THREAD, STOLEN_TIME};
use proptest::prelude::*;

const WHOLE: &str = r#"
ignore = [
    { id = "slow-governor", cpus = "0-3", until = 2027-03-31, because = "the rack saves power until it moves" },
    { id = "turbo-off", until = "2027-01-01", because = "licence" },
]

[folders]
state = "/srv/fullclock"
results = "/srv/results"

[serve]
listen = "[::1]:7177"

[redfish]
url = "https://bmc7"
user = "reader"
password-file = "/etc/fullclock/bmc"
fingerprint = "AB:CD"

[thresholds]
stolen-time = 3
busy-kernel-threads = 12.5
"#;

fn error(text: &str) -> String {
    Config::parse("c.toml", text).unwrap_err()
}

#[test]
fn every_key_is_read() {
    let config = Config::parse("c.toml", WHOLE).unwrap();
    assert_eq!(config.state.as_deref(), Some("/srv/fullclock"));
    assert_eq!(config.results.as_deref(), Some("/srv/results"));
    assert_eq!(config.listen.unwrap().to_string(), "[::1]:7177");
    let controller = config.redfish.as_ref().unwrap();
    assert_eq!((&*controller.url, controller.user.as_deref()), ("https://bmc7", Some("reader")));
    assert_eq!(controller.password_file.as_deref(), Some("/etc/fullclock/bmc"));
    assert_eq!(
        (controller.fingerprint.as_deref(), controller.token_file.as_deref()),
        (Some("AB:CD"), None)
    );
    assert_eq!(config.thresholds.of(&STOLEN_TIME), 3.0);
    assert_eq!(config.thresholds.of(&KERNEL_THREAD), 12.5);
    let [governor, turbo] = &*config.ignored else { panic!("{config:?}") };
    assert_eq!((governor.check.id, &*governor.until), ("slow-governor", "2027-03-31"));
    assert_eq!(governor.cpus.as_ref().map(ToString::to_string).as_deref(), Some("0-3"));
    assert_eq!((turbo.cpus.as_ref(), &*turbo.because), (None, "licence"));
    assert_eq!(Config::parse("c.toml", ""), Ok(Config::default()));
}

#[test]
fn what_is_no_configuration_is_refused_with_its_place_and_what_was_expected() {
    for (found, expected) in [
        (error("ignor = []"), "c.toml, line 1, column 1: unknown field `ignor`"),
        (error("[serve]\nlisten = 7"), "c.toml, line 2, column 10: invalid type: integer"),
        (error("[serve]\nlisten = \"here\""), "serve.listen = \"here\": expected ADDRESS:PORT"),
        (error("[folders]\nstate = \"var\""), "folders.state = \"var\": expected an absolute path"),
        (error("[redfish]\nuser = \"me\""), "missing field `url`"),
        (
            error("[redfish]\nurl = \"https://b\"\nuser = \"me\""),
            "redfish: user and password-file belong together",
        ),
        (error("[redfish]\nurl = \"https://b\"\npassword = \"me\""), "unknown field `password`"),
        (
            error("[redfish]\nurl = \"https://b\"\ntoken-file = \"t\""),
            "redfish.token-file = \"t\": expected an absolute path",
        ),
        (
            error("[folders]\njournal = \"/x\""),
            "unknown field `journal`, expected `state` or `results`",
        ),
        (
            error("[thresholds]\nstolen-tme = 2"),
            "stolen-tme is not a check; did you mean stolen-time?",
        ),
        (
            error("[thresholds]\nslow-governor = 2"),
            "slow-governor is a check without one; those with one are stolen-time",
        ),
        (
            error("[thresholds]\nstolen-time = \"2\""),
            "thresholds.stolen-time: found a string, expected a number (percent",
        ),
        (
            error("[thresholds]\nstolen-time = 90"),
            "thresholds.stolen-time = 90: expected 1 to 50 (percent",
        ),
        (error("[thresholds]\nstolen-time = nan"), "expected 1 to 50"),
        (error("thresholds = 3"), "invalid type: integer `3`"),
    ] {
        is_refused(&found, expected);
    }
}

/// It is one line that begins with the file.
fn is_refused(found: &str, expected: &str) {
    assert!(found.contains(expected) && found.starts_with("c.toml"), "{found}\n{expected}");
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn an_entry_of_ignore_that_makes_no_sense_is_refused_by_its_number() {
    let entry = |more: &str| error(&format!("ignore = [{{ id = \"turbo-off\", {more} }}]"));
    for (found, expected) in [
        (
            error("ignore = [{ id = \"slow-govenor\", until = 2027-01-01, because = \"x\" }]"),
            "entry 1 of ignore: id \"slow-govenor\" is not a check; did you mean slow-governor?",
        ),
        (
            error("ignore = [{ id = \"zebra\", until = 2027-01-01, because = \"x\" }]"),
            "`fullclock explain` lists them",
        ),
        (entry("because = \"x\""), "missing field `until`"),
        (entry("until = 2027-01-01"), "missing field `because`"),
        (
            entry("until = \"tomorrow\", because = \"x\""),
            "until = \"tomorrow\": expected a day, as in 2027-03-31",
        ),
        (
            entry("until = \"2027-02-30\", because = \"x\""),
            "until = \"2027-02-30\": expected a day",
        ),
        (entry("until = 2027-01-01T12:00:00Z, because = \"x\""), "expected a day"),
        (entry("until = true, because = \"x\""), "until = \"true\": expected a day"),
        (
            entry("until = 2027-01-01, because = \" \""),
            "because has 0 characters, expected 1 to 500",
        ),
        (
            entry("until = 2027-01-01, because = \"x\", cpus = \"\""),
            "cpus = \"\": expected a list like 0-3,8",
        ),
        (
            entry("until = 2027-01-01, because = \"x\", cpus = \"3-1\""),
            "expected a list like 0-3,8",
        ),
        (entry("until = 2027-01-01, because = \"x\", why = \"y\""), "unknown field `why`"),
    ] {
        is_refused(&found, expected);
    }
}

#[test]
fn every_threshold_is_that_of_a_check() {
    for threshold in THRESHOLDS {
        assert!(checks::find(threshold.check).is_some(), "{}", threshold.check);
    }
}

/// A host on which a check finds an amount, and a threshold above that.
fn above(check: &str) -> (String, f64) {
    let text = match check {
        "stolen-time" => {
            "//- /sys/class/dmi/id/sys_vendor\nQEMU\n//- /proc/stat\ncpu  9 9 9 9\ncpu0 980 0 0 4000 0 0 0 20 0 0\n"
        }
        "cgroup-quota-throttling" => {
            "//- /sys/devices/system/cpu/online\n0-15\n\
             //- /proc/self/mountinfo\n31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n//- /proc/self/cgroup\n0::/\n\
             //- /sys/fs/cgroup/pod/cpu.max\n10000 100000\n\
             //- /sys/fs/cgroup/pod/cpu.stat\nusage_usec 5\nnr_periods 10000\nnr_throttled 200\nthrottled_usec 8000\n\
             //- /sys/fs/cgroup/pod/cgroup.procs\n42\n\
             //- /proc/42/stat\n42 (exporter) S 1 1 1 0 -1 4194560 0 0 0 0 9 0 0 0 20 0 1 0 500\n"
        }
        "busy-kernel-threads" => {
            "//- /sys/devices/system/cpu/online\n0-3\n//- /proc/uptime\n864010.00 900000.00\n\
             //- /proc/sys/kernel/osrelease\n6.1.0\n\
             //- /proc/2/stat\n2 (kswapd0) S 2 0 0 0 -1 2129984 0 0 0 0 0 8640000 0 0 20 0 1 0 1000 0 0\n"
        }
        "irqs-on-isolated" => {
            "//- /sys/devices/system/cpu/online\n0-3\n//- /sys/devices/system/cpu/isolated\n2-3\n\
             //- /sys/devices/system/cpu/nohz_full\n\n//- /proc/cmdline\nisolcpus=2-3\n\
             //- /proc/uptime\n1000.00 900.00\n//- /proc/interrupts\nCPU0 CPU1 CPU2 CPU3\n\
             24: 9 0 5000 0 PCI-MSI 512000-edge eth0-TxRx-2\nLOC: 5 5 5 5 Local timer interrupts\n\
             //- /proc/irq/24/smp_affinity_list\n0-1\n"
        }
        other => panic!("{other} has a threshold and no host in this test"),
    };
    let value = if check == "busy-kernel-threads" { 50.0 } else { 10.0 };
    (text.to_owned(), value)
}

#[test]
fn below_the_threshold_of_a_site_a_check_finds_nothing() {
    for &threshold in THRESHOLDS {
        let check = checks::find(threshold.check).unwrap();
        let (text, value) = above(check.id);
        let mut host = host_of(&text);
        let found = |host: &HostView| (check.run)(host).map(|it| it.len());
        assert_eq!(found(&host), Ok(1), "{}", check.id);
        host.thresholds.insert(threshold, value).unwrap();
        assert_eq!(found(&host), Ok(0), "{}", check.id);
    }
}

#[test]
fn the_page_has_every_key_every_threshold_and_an_example_that_is_read() {
    const PAGE: &str = include_str!("../../../../docs/config.md");
    for (key, what) in KEYS {
        assert!(PAGE.contains(&format!("| `{key}` | {what} |\n")), "{key}");
    }
    for it in THRESHOLDS {
        let Threshold { check, what, unit, default, range: (_, most) } = it;
        let row = format!("| `{check}` | {what} | {unit} | {default} | {most} |\n");
        assert!(PAGE.contains(&row), "{row}");
    }
    let (_, rest) = PAGE.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let config = Config::parse("example", example).unwrap();
    assert!(config.state.is_some() && config.listen.is_some() && config.ignored.len() == 1);
}

proptest! {
    #[test]
    fn hostile_configurations_are_errors_and_no_panics(text in "\\PC{0,200}") {
        if let Ok(config) = Config::parse("c", &text) {
            prop_assert!(config.ignored.len() <= text.len());
        }
    }
}
