//! The advisories that come with the program are sound, and broken files are refused with their place.

use super::standing::{State, Unseen, depend_on_controller, standings};
use super::{Advisory, KEYS, catalog, node, shipped};
use crate::checks;
use crate::fixture::{XEON, host_of};
use facts::site::AdvisoryFile;
use facts::{HostView, Missing};
use proptest::prelude::*;

const GOOD: &str = "\
id = 'slow-box'
title = 'the box is slow'
party = 'firmware'
action = 'update the firmware'
about = 'It is slow.'

[[affected]]
maker = 'Acme'
firmware = ['< 1.2']

[[source]]
title = 'Acme: notes of 1.2'
url = 'https://acme.example/notes'
read = 2026-11-20
";

#[test]
fn every_advisory_can_be_parsed_and_names_checks_that_there_are() {
    assert!(node::SHIPPED.len() >= 25, "{}", node::SHIPPED.len());
    for (name, node) in node::SHIPPED {
        Advisory::of_node(name, node).unwrap();
    }
    assert_eq!(shipped().len(), node::SHIPPED.len());
    for advisory in shipped() {
        let id = &advisory.id;
        for symptom in &advisory.symptoms {
            assert!(checks::find(&symptom.check).is_some(), "{id}: no check {}", symptom.check);
            assert_ne!(symptom.check, "known-fault", "{id}");
        }
        assert!(advisory.about.len() > 80 && advisory.about.ends_with('.'), "{id}: about");
        for text in [&advisory.title, &advisory.action] {
            assert!(!text.ends_with('.') && text.len() <= 160, "{id}: {text}");
        }
        assert!(checks::find(id).is_none(), "{id} is a check's id, too");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_name_and_key() {
    assert!(Advisory::parse("a.toml", "slow-box", GOOD).is_ok());
    let error = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        let text = GOOD.replace(from, to);
        Advisory::parse("a.toml", "slow-box", &text).unwrap_err()
    };
    for (from, to, expected) in [
        (
            "id = 'slow-box'",
            "id = 'fast'",
            "a.toml: id = \"fast\": expected the name of the file, \"slow-box\"",
        ),
        (
            "party = 'firmware'",
            "party = 'me'",
            "a.toml: party = \"me\": expected one of firmware, operating system, management controller",
        ),
        (
            "['< 1.2']",
            "['1.2']",
            "a.toml: affected 1: firmware = \"1.2\": expected a range like \">= 6.1.94, < 6.1.97\" or \"= 1.2\"",
        ),
        (
            "firmware = ['< 1.2']\n",
            "",
            "a.toml: affected 1: expected firmware, bmc, microcode, kernel or config",
        ),
        (
            "firmware = [",
            "backports = ['5.14']\nfirmware = [",
            "a.toml: affected 1: backports = \"5.14\": expected a build like \"5.14.0-181.el9\"",
        ),
        (
            "firmware = [",
            "config = 'CONFIG_X=y'\nfirmware = [",
            "a.toml: affected 1: config = \"CONFIG_X=y\": fullclock does not keep this option",
        ),
        (
            "https://acme.example/notes",
            "acme.example",
            "a.toml: source 1: url = \"acme.example\": expected https://HOST/... or http://...",
        ),
        ("2026-11-20", "2026-11", "a.toml, line 14, column 8: "),
        (
            "2026-11-20",
            "'yesterday'",
            "a.toml: source 1: read = \"yesterday\": expected a day, as in 2026-11-20",
        ),
        ("about = ", "abuot = ", "a.toml, line 5, column 1: unknown field `abuot`"),
        ("title = 'the box is slow'", "title = ' '", "a.toml: title is empty"),
        (
            "[[source]]",
            "[loss]\nwhat = 'half'\nsource = 2\n[[source]]",
            "a.toml: loss: expected what it costs, and a source from 1 to 1",
        ),
    ] {
        let error = error(from, to);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn the_page_has_every_key() {
    const PAGE: &str = include_str!("../../../../docs/config.md");
    let (_, page) = PAGE.split_once("\n## Advisories of the site\n").unwrap();
    for (key, about) in KEYS {
        assert!(page.contains(&format!("| `{key}` | {about} |")), "| `{key}` | {about} |");
    }
    let error = Advisory::parse("a", "a", "x = 1").unwrap_err();
    let named = error.split('`').skip(3).step_by(2).collect::<Vec<_>>();
    let keys: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
    let sorted = |mut it: Vec<&str>| {
        it.sort_unstable();
        it.join(" ")
    };
    assert_eq!(sorted(named), sorted(keys), "{error}");
    let (_, rest) = page.split_once("```toml\n").unwrap();
    Advisory::parse("example", "acme-9000-half-clock", rest.split("```").next().unwrap()).unwrap();
}

fn site(text: &str) -> AdvisoryFile {
    AdvisoryFile { name: "a.toml".into(), stem: "slow-box".into(), text: text.into() }
}

/// What the advisory of a test is to a host.
fn state_of(excerpt: &str, text: &str) -> State {
    state_on(&host_of(excerpt), text)
}

fn state_on(host: &HostView, text: &str) -> State {
    let all = standings(host, catalog(&[site(text)]).unwrap(), None);
    all.into_iter().find(|it| it.advisory.id == "slow-box").unwrap().state
}

#[test]
fn an_advisory_of_the_site_is_one_more_or_takes_the_place_of_another() {
    let n_shipped = shipped().len();
    assert_eq!(catalog(&[site(GOOD)]).unwrap().len(), n_shipped + 1);
    let name = &*shipped()[0].id;
    let text = GOOD.replace("slow-box", name).replace("title = '", "title = 'our own: ");
    let own = AdvisoryFile { name: "own".into(), stem: name.into(), text };
    let all = catalog(&[own]).unwrap();
    assert_eq!(all.len(), n_shipped);
    assert!(all.iter().any(|it| it.id == name && it.title.starts_with("our own: ")));
    assert!(catalog(&[site("id = 1")]).unwrap_err().starts_with("a.toml, line 1"));
}

#[test]
fn all_that_an_entry_names_has_to_fit() {
    let dmi = |maker: &str, version: &str| {
        format!(
            "{XEON}//- /sys/class/dmi/id/sys_vendor\n{maker}\n//- /sys/class/dmi/id/bios_version\n{version}\n"
        )
    };
    assert_eq!(state_of(&dmi("ACME Inc.", "1.1"), GOOD), State::Affected(Unseen::NoCheck));
    assert_eq!(state_of(&dmi("ACME Inc.", "1.2"), GOOD), State::Not);
    assert_eq!(state_of(&dmi("Dell Inc.", "1.1"), GOOD), State::Not);
    assert_eq!(state_of(&dmi("Dell Inc.", "!denied"), GOOD), State::Not);
    assert!(matches!(state_of(&dmi("ACME Inc.", "!denied"), GOOD), State::Unknown(_)));
    let guest = dmi("ACME Inc.", "1.1").replace("flags : ", "flags : hypervisor ");
    assert!(matches!(state_of(&guest, GOOD), State::Unknown(_)));
    let with = |line: &str| GOOD.replace("firmware = [", &format!("{line}\nfirmware = ["));
    let acme = dmi("ACME Inc.", "1.1");
    for (line, fits) in [
        ("models = [85, 86]", true),
        ("models = [86]", false),
        ("cpu_maker = 'AuthenticAMD'", false),
        ("driver = 'amd-pstate'", false),
        ("boot = 'nosmt'", false),
        ("cpu_flag = 'hwp'", true),
        ("cpu_flag = 'hw'", false),
        ("kernel = ['>= 5.0']", false),
    ] {
        assert_eq!(state_of(&acme, &with(line)) != State::Not, fits, "{line}");
    }
}

#[test]
fn a_build_of_a_distribution_with_the_fix_is_not_affected() {
    let text = GOOD.replace(
        "maker = 'Acme'\nfirmware = ['< 1.2']",
        "kernel = ['>= 5.11, < 5.15.92']\nbackports = ['5.14.0-181.el9']",
    );
    let on = |release: &str| {
        state_of(&format!("{XEON}//- /proc/sys/kernel/osrelease\n{release}\n"), &text)
    };
    assert_eq!(on("5.14.0-70.el9.x86_64"), State::Perhaps);
    assert_eq!(on("5.14.0-427.el9.x86_64"), State::Not);
    assert_eq!(on("5.14.21"), State::Affected(Unseen::NoCheck));
    assert_eq!(on("5.15.92"), State::Not);
}

#[test]
fn the_firmware_of_the_controller_is_compared_once_it_was_asked_and_asked_only_where_all_else_fits()
{
    let text = GOOD.replace("firmware = ['< 1.2']", "bmc = ['>= 2.3, < 2.44']");
    let on = |maker: &str, told: Option<&str>| {
        let mut host = host_of(&format!("{XEON}//- /sys/class/dmi/id/sys_vendor\n{maker}\n"));
        host.bmc_firmware = told.map(|it| Ok(it.to_owned()));
        host
    };
    for (told, state) in [
        ("2.3", State::Affected(Unseen::NoCheck)),
        ("2.43", State::Affected(Unseen::NoCheck)),
        ("2.44", State::Not),
        ("U30", State::Not),
    ] {
        assert_eq!(state_on(&on("Acme", Some(told)), &text), state, "{told}");
    }
    assert!(matches!(state_on(&on("Acme", None), &text), State::Unknown(_)));
    let mut none = on("Acme", None);
    none.bmc_firmware = Some(Err(Missing::absent("ipmi_bmc.*")));
    assert_eq!(state_on(&none, &text), State::Not);
    let own = catalog(&[site(&text)]).unwrap();
    assert!(depend_on_controller(&on("Acme", None), &own));
    assert!(!depend_on_controller(&on("Acme", Some("2.3")), &own));
    assert!(!depend_on_controller(&on("Dell Inc.", None), &own));
    assert!(!depend_on_controller(&on("Acme", None), shipped()));
    let all = standings(&on("Acme", Some("2.3")), own, None);
    let compared = &all.iter().find(|it| it.advisory.id == "slow-box").unwrap().compared;
    assert_eq!((compared.len(), &*compared[0].value), (1, "2.3"));
}

#[test]
fn microcode_is_compared_as_a_number() {
    let text = GOOD.replace("maker = 'Acme'\nfirmware = ['< 1.2']", "microcode = ['>= 0x59']");
    let on = |revision: &str| {
        let with = format!("flags : acpi tm2\nmicrocode : {revision}\n");
        state_of(&XEON.replace("flags : acpi tm2 est ida pln pts epb hwp\n", &with), &text)
    };
    assert_eq!((on("0x57"), on("0x100")), (State::Not, State::Affected(Unseen::NoCheck)));
}

proptest! {
    #[test]
    fn hostile_advisories_are_errors_and_no_panics(text in "\\PC{0,200}", at in 0usize..300) {
        let mut good = GOOD.to_owned();
        if good.is_char_boundary(at.min(good.len())) {
            good.insert_str(at.min(good.len()), &text);
        }
        for text in [&text, &good] {
            if let Ok(advisory) = Advisory::parse("a", "slow-box", text) {
                prop_assert_eq!(advisory.id, "slow-box");
            }
        }
    }
}
