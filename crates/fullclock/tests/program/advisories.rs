//! `fullclock advisories`: which concern a host, what one says, and that a site's own are read or refused.

use crate::support::{fullclock, is_of, printed, refusal, unwrapped};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

const SCHEMA: &str = include_str!("../../../../schemas/advisories-1.json");

/// The appliance whose firmware stops the clock for three quarters of the time, under an old kernel of the stable releases.
const APPLIANCE: &str = "fullclock capture 1\n//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\n\
    model : 44\nflags : acpi tm2 est\n//- /sys/devices/system/cpu/online\n0\n//- /proc/sys/kernel/osrelease\n4.19.80\n\
    //- /sys/class/dmi/id/sys_vendor\nORACLE CORPORATION\n//- /sys/class/dmi/id/product_name\nSUN FIRE X4370 M2 SERVER\n\
    //- /sys/class/dmi/id/bios_version\n12010303\n//- /dev/cpu/0/msr 0x19a\n0x14\n";

/// An advisory of the site about the same machine.
const OWN: &str = "id = 'our-appliance'\ntitle = 'it is slow on Mondays'\nparty = 'firmware'\naction = 'wait for Tuesday'\n\
    about = 'Ticket 4711.'\n\n[[affected]]\nmaker = 'Oracle'\nfirmware = ['= 12010303']\n\n[[source]]\ntitle = 'our wiki'\n\
    url = 'https://wiki.example.com/4711'\nread = 2026-11-20\n";

struct Site {
    folder: TempDir,
    host: String,
    config: String,
}

impl Site {
    fn new() -> Site {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (host, config) = (path("a.host"), path("config.toml"));
        fs::write(&host, APPLIANCE).unwrap();
        fs::write(&config, "").unwrap();
        fs::create_dir(folder.path().join("advisories")).unwrap();
        Site { folder, host, config }
    }

    fn add(&self, name: &str, text: &str) -> std::path::PathBuf {
        let path = self.folder.path().join("advisories").join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn listed(&self, more: &[&str]) -> Value {
        let arguments = [&["advisories", "--host", &self.host, "--json"], more].concat();
        let value: Value = serde_json::from_str(&printed(&arguments)).unwrap();
        is_of(SCHEMA, &value);
        value
    }
}

fn of<'a>(document: &'a Value, id: &str) -> Option<&'a Value> {
    document["advisories"].as_array().unwrap().iter().find(|it| it["id"] == id)
}

#[test]
fn what_is_seen_is_first_and_what_a_version_says_behind_it() {
    let site = Site::new();
    let json = site.listed(&[]);
    let all = json["advisories"].as_array().unwrap();
    assert!(all.len() >= 25);
    assert_eq!(
        (&all[0]["id"], &all[0]["state"]),
        (&"oda-clock-modulation".into(), &"seen here".into())
    );
    assert_eq!(of(&json, "cfs-quota-slices-expire").unwrap()["state"], "affected by version");
    assert_eq!(of(&json, "lazy-preemption-spinlocks").unwrap()["state"], "not affected");
    let text = printed(&["advisories", "--host", &site.host]);
    let (seen, affected) =
        (text.find("Seen here").unwrap(), text.find("Affected by version").unwrap());
    assert!(seen < affected && !text.contains("lazy-preemption-spinlocks"), "{text}");
    let verbose = printed(&["advisories", "--host", &site.host, "-v"]);
    assert!(verbose.contains("lazy-preemption-spinlocks"), "{verbose}");
}

#[test]
fn a_release_that_is_no_version_is_unknown_and_said_so() {
    let site = Site::new();
    fs::write(&site.host, APPLIANCE.replace("4.19.80", "next-20261120")).unwrap();
    let json = site.listed(&[]);
    let kernel = of(&json, "cfs-quota-slices-expire").unwrap();
    assert_eq!(kernel["state"], "unknown");
    assert!(kernel["why"].as_str().unwrap().contains("next-20261120"), "{kernel:#}");
    let text = printed(&["advisories", "--host", &site.host]);
    let words = unwrapped(&text);
    assert!(words.contains("osrelease: found \"next-20261120\", expected"), "{text}");
    let audit = printed(&["audit", "--host", &site.host, "-v"]);
    let words = unwrapped(&audit);
    assert!(words.contains("/proc/sys/kernel/osrelease has no version"), "{audit}");
}

#[test]
fn one_is_explained_with_its_sources_and_explain_knows_it() {
    let site = Site::new();
    let text = printed(&["advisories", "oda-clock-modulation", "--host", &site.host]);
    for words in
        ["seen here (by clock-modulation)", "12010304", "https://blog.pythian.com/", "read 2026-"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(site.listed(&["oda-clock-modulation"])["advisories"].as_array().unwrap().len(), 1);
    let text = printed(&["explain", "oda-clock-modulation"]);
    assert!(text.contains("12010304") && text.contains("https://blog.pythian.com/"), "{text}");
    assert!(refusal(&["advisories", "no-such"]).contains("there is no advisory \"no-such\""));
}

#[test]
fn an_audit_names_the_advisory_and_its_diagnosis_the_fault() {
    let site = Site::new();
    let text = printed(&["audit", "--host", &site.host]);
    assert!(text.contains("advisory oda-clock-modulation"), "{text}");
    let json: Value =
        serde_json::from_str(&printed(&["audit", "--host", &site.host, "--json"])).unwrap();
    let chain = &json["diagnosis"][0];
    assert_eq!(chain["party"], "firmware", "{chain:#}");
    assert!(chain.to_string().contains("known-fault"), "{chain:#}");
}

#[test]
fn a_sites_own_is_read_from_beside_its_configuration() {
    let site = Site::new();
    site.add("our-appliance.toml", OWN);
    site.add("notes.txt", "not an advisory");
    assert!(of(&site.listed(&[]), "our-appliance").is_none());
    let own = site.listed(&["--config", &site.config]);
    assert_eq!(of(&own, "our-appliance").unwrap()["state"], "affected by version");
    let audit = printed(&["audit", "--host", &site.host, "--config", &site.config]);
    assert!(audit.contains("it is slow on Mondays"), "{audit}");
}

#[test]
fn a_broken_or_foreign_file_is_an_error_with_its_place() {
    let site = Site::new();
    let refused = || refusal(&["advisories", "--host", &site.host, "--config", &site.config]);
    let path = site.add("our-appliance.toml", &OWN.replace("title = ", "titel = "));
    // What undoes a change needs no advisory.
    printed(&["status", "--config", &site.config]);
    let error = refused();
    assert!(
        error.contains("our-appliance.toml, line 2, column 1: unknown field `titel`"),
        "{error}"
    );
    fs::write(&path, OWN.replace("[[source]]", "[[symptom]]\ncheck = 'slow-governer'\n[[source]]"))
        .unwrap();
    assert!(refused().contains("did you mean slow-governor?"), "{}", refused());
    fs::write(&path, OWN).unwrap();
    assert!(
        fullclock(&["advisories", "--host", &site.host, "--config", &site.config])
            .output()
            .unwrap()
            .status
            .success()
    );
    fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    assert!(refused().contains("our-appliance.toml"), "{}", refused());
    assert!(Path::new(&path).exists());
}
