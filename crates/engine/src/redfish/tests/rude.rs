//! Services that deny, fail, lie, loop, stop in the middle or repeat the secret.

use super::*;
use crate::clock::now;
use crate::http::fake::Reply;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn access_that_is_denied_says_so_and_ends_the_look() {
    let denied = json!({ "error": { "message": "General", "@Message.ExtendedInfo": [{ "Message": "Invalid username or password." }] } });
    let fake = {
        let denied = denied.clone();
        Fake::start(move |head| match asked(head).0 {
            "/redfish/v1/" => reply(&dell(), head),
            _ => json_reply("401 Unauthorized", "", &denied),
        })
    };
    assert_eq!(
        failed(&fake),
        "URL denies access (401: Invalid username or password.): it does not accept what --password-file gives"
    );
    assert_eq!(fake.requests().len(), 2);
    // In the middle, as of a session that has ended.
    let fake = Fake::start(move |head| match asked(head).0 {
        path if path.ends_with("/Power") => json_reply("401 Unauthorized", "", &denied),
        _ => reply(&dell(), head),
    });
    let told = look_for(&fake, &Wanted::default()).unwrap();
    assert!(told.throttled().next().is_some());
    let all = unknown(&told);
    assert!(all[0].starts_with("the power limit: the controller denies access (401"), "{all:?}");
    assert!(
        all[1].starts_with("temperatures: not asked, as the controller denies access (401"),
        "{all:?}"
    );
}

#[test]
fn a_resource_that_fails_keeps_nothing_else_from_being_looked_at() {
    let fake = Fake::start(|head| match asked(head).0 {
        path if path.ends_with("/Processors") => {
            json_reply("503 Service Unavailable", "Retry-After: 30\r\n", &json!({}))
        }
        path if path.ends_with("/EnvironmentMetrics") => {
            Reply::of("200 OK", "text/html", "<html>busy</html>")
        }
        path if path.ends_with("/Thermal") => json_reply("200 OK", "", &json!([1, 2])),
        _ => reply(&dell(), head),
    });
    let told = look_for(&fake, &Wanted::default()).unwrap();
    assert_eq!(told.in_force().count(), 1);
    let all = unknown(&told);
    let processor =
        "a processor: the controller failed (503), and wants to be asked again in 30 s".to_owned();
    assert!(all.contains(&processor), "{all:?}");
    assert!(
        all.iter().any(|it| it
            .starts_with("the power limit: the controller does not answer with the expected JSON")),
        "{all:?}"
    );
    assert!(all.contains(&"temperatures: the answer is no JSON object".to_owned()), "{all:?}");
    let outcomes: Vec<&str> = told.requests.iter().map(|it| &*it.outcome).collect();
    assert!(outcomes.contains(&"503") && outcomes.contains(&"no JSON"), "{outcomes:?}");
}

#[test]
fn links_that_are_missing_wrong_or_foreign_are_told_and_not_followed() {
    let mut tree = dell();
    let elsewhere = Fake::start(|_| Reply::json("{}"));
    let foreign = format!("{}/redfish/v1/Chassis/1", elsewhere.url);
    let system = tree.get_mut("/redfish/v1/Systems/System.Embedded.1").unwrap();
    system["Links"]["Chassis"] = json!([link(&foreign), { "@odata.id": 3 }]);
    system["Processors"] = json!("/redfish/v1/x");
    let told = look(tree);
    assert_eq!(elsewhere.requests().len(), 0);
    assert!(told.odd.iter().any(|it| it.found.contains("http://127.0.0.1")), "{:?}", told.odd);
    assert!(told.processors.is_empty() && told.limits.is_empty());
    // Without a chassis of its own, the first one is the machine's.
    assert!(
        unknown(&told)[0].contains("the controller has no /redfish/v1/Chassis (404)"),
        "{:?}",
        unknown(&told)
    );
    let mut tree = dell();
    tree.insert("/redfish/v1/".to_owned(), json!({ "Name": "Root" }));
    assert_eq!(
        failed(&serve(tree)),
        "the service names no systems: /redfish/v1/ has no link to them"
    );
    let mut tree = dell();
    tree.insert("/redfish/v1/Systems".to_owned(), json!({ "Members": [] }));
    assert!(failed(&serve(tree)).contains("its collection of systems is empty"));
}

#[test]
fn a_redirection_to_another_server_is_not_followed() {
    let elsewhere = Fake::start(|head| reply(&dell(), head));
    let to = format!("{}/redfish/v1/", elsewhere.url);
    let fake = Fake::start(move |_| {
        Reply::raw(&format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"))
    });
    assert!(failed(&fake).contains("which is not followed"));
    assert_eq!(elsewhere.requests().len(), 0);
}

#[test]
fn a_tree_that_leads_back_into_itself_ends() {
    let all = |path: &str| link(path);
    let looped = json!({
        "Systems": all("/redfish/v1/Systems"), "Members": [link("/redfish/v1/Systems"), link("/redfish/v1/Systems/")],
        "Chassis": all("/redfish/v1/Systems"), "Processors": all("/redfish/v1/Systems/"), "Power": all("/redfish/v1/systems"),
        "Links": { "Chassis": [link("/redfish/v1/Systems")] },
    });
    let fake = Fake::start(move |_| json_reply("200 OK", "", &looped));
    let said = look_for(&fake, &Wanted::default());
    assert!(fake.requests().len() <= MOST, "{said:?}");
}

#[test]
fn an_endless_tree_is_bounded() {
    // Each answer links to new ones.
    let n = Mutex::new(0);
    let fake = Fake::start(move |_| {
        let mut n = n.lock().unwrap();
        *n += 1;
        let next = |it: &str| link(&format!("/redfish/v1/{it}{n}"));
        let members: Vec<Value> = (0..200).map(|it| next(&format!("m{it}-"))).collect();
        let body = json!({
            "Systems": next("s"), "Chassis": next("c"), "Processors": next("p"), "Members": members, "EnvironmentMetrics": next("e"),
            "Power": next("w"), "Thermal": next("t"), "Metrics": next("m"), "Throttled": false, "Bios": next("b"), "UpdateService": next("u"),
            "FirmwareInventory": next("f"), "Name": "x", "Links": { "Chassis": [next("l")] },
            "@Redfish.Settings": { "SettingsObject": next("o") },
        });
        json_reply("200 OK", "", &body)
    });
    let told =
        look_for(&fake, &Wanted { bios: true, inventory: true, ..Wanted::default() }).unwrap();
    let most = MOST + MOST_FOR_BIOS + MOST_FOR_INVENTORY;
    assert!(
        told.requests.len() <= most && fake.requests().len() <= most,
        "{}",
        told.requests.len()
    );
    assert!(told.unknown.len() < 20, "{:?}", told.unknown);
}

#[test]
fn an_answer_of_ten_megabytes_is_refused() {
    let large = "x".repeat(10 << 20);
    let fake = Fake::start(move |head| match asked(head).0 {
        path if path.ends_with("/Power") => json_reply("200 OK", "", &json!({ "a": large })),
        _ => reply(&dell(), head),
    });
    let told = look_for(&fake, &Wanted::default()).unwrap();
    let all = unknown(&told);
    assert!(
        all.contains(
            &"the power limit: the answer of the controller is larger than 2 MiB".to_owned()
        ),
        "{all:?}"
    );
    assert!(told.throttled().next().is_some());
}

#[test]
fn a_slow_controller_is_given_one_deadline_for_all() {
    let deadline = Duration::from_millis(600);
    let tree = dell();
    let fake =
        Fake::start(move |head| Reply { pause: Duration::from_millis(150), ..reply(&tree, head) });
    let (_folder, way) = way(&fake);
    let client = way.client().unwrap();
    let began = now();
    let Looked { told, ended } =
        Session::new(&client).look_within(&Wanted::default(), deadline).unwrap();
    assert!(began.elapsed() < deadline * 5);
    assert!(told.requests.len() < 7, "{:?}", paths(&told));
    // What was asked had what was left, and the rest was not asked.
    let used = "not asked: the 0.6 s for all requests together were used up";
    let is_true = |it: &String| {
        let why = it.split_once(": ").unwrap().1;
        let left = "that were left of 0.6 s for all requests together";
        why == used || (why.starts_with("no answer in the 0.") && why.ends_with(left))
    };
    assert!(!told.unknown.is_empty() && unknown(&told).iter().all(is_true), "{told:?}");
    assert_eq!(ended.as_deref(), Some(used));
}

/// A service that answers all but one resource, for which it takes an hour; `reached` is told when that is asked for.
fn silent_at(path: &'static str, reached: impl Fn() + Send + Sync + 'static) -> Fake {
    let tree = dell();
    Fake::start(move |head| match asked(head).0 {
        it if it.ends_with(path) => {
            reached();
            Reply { hangs: true, ..Reply::raw("") }
        }
        _ => reply(&tree, head),
    })
}

#[test]
fn a_wish_to_stop_ends_a_look_with_what_was_answered() {
    let stop = std::sync::Arc::new(AtomicBool::new(false));
    let raised = std::sync::Arc::clone(&stop);
    let fake = silent_at("/Power", move || raised.store(true, Ordering::Relaxed));
    let (_folder, way) = way(&fake);
    let client = way.client().unwrap();
    let told = Session::new(&client).stopped_by(&stop).look(&Wanted::default()).unwrap();
    assert_eq!(told.throttled().count(), 1);
    assert_eq!(
        unknown(&told),
        ["the power limit: no answer before Ctrl-C", "temperatures: not asked: Ctrl-C came before"]
    );
    assert_eq!(told.requests.last().unwrap().outcome, "stopped");
}

#[test]
fn a_wish_to_stop_before_anything_was_said_is_an_error_of_its_own() {
    let stop = std::sync::Arc::new(AtomicBool::new(false));
    let raised = std::sync::Arc::clone(&stop);
    let fake = silent_at("/Systems", move || raised.store(true, Ordering::Relaxed));
    let (_folder, way) = way(&fake);
    let client = way.client().unwrap();
    let error = Session::new(&client).stopped_by(&stop).look(&Wanted::default()).unwrap_err();
    assert!(error.is::<Stopped>(), "{error:#}");
}

#[test]
fn a_second_look_that_is_stopped_or_fails_leaves_the_first_one_and_says_why() {
    for is_silent in [true, false] {
        let (interrupt, stop) = Interrupt::by_hand();
        let (stop, tree) = (Mutex::new(stop), dell());
        let n_looks = std::sync::atomic::AtomicUsize::new(0);
        let fake = Fake::start(move |head| {
            let is_root = asked(head).0 == "/redfish/v1/";
            match is_root && n_looks.fetch_add(1, Ordering::Relaxed) > 0 {
                true if is_silent => {
                    stop.lock().unwrap().stop();
                    Reply { hangs: true, ..Reply::raw("") }
                }
                true => json_reply("503 Service Unavailable", "", &json!({})),
                false => reply(&tree, head),
            }
        });
        let (_folder, way) = way(&fake);
        let client = way.client().unwrap();
        let mut session = Session::new(&client).stopped_by(interrupt.flag());
        let time = Duration::from_millis(1);
        let (told, risen) = session.look_for(&Wanted::default(), time, &interrupt).unwrap();
        assert_eq!(told.throttled().count(), 1);
        let why = risen.rises.unwrap_err();
        assert!(why.starts_with("the second look failed: "), "{why}");
        assert!(why.contains(if is_silent { "stopped before" } else { "503" }), "{why}");
    }
}

#[test]
fn a_time_that_the_user_has_ended_is_followed_by_a_second_look() {
    let fake = serve(dell());
    let (_folder, way) = way(&fake);
    let client = way.client().unwrap();
    let stop = AtomicBool::new(true);
    let mut session = Session::new(&client).stopped_by(&stop);
    let told = session.look_again(&Wanted::default(), true).unwrap();
    assert_eq!(told.throttled().count(), 1);
}

#[test]
fn a_controller_that_restarts_in_the_middle_leaves_what_it_had_said() {
    let tree = dell();
    let is_gone = AtomicBool::new(false);
    let fake = Fake::start(move |head| {
        if asked(head).0.ends_with("/EnvironmentMetrics") {
            is_gone.store(true, Ordering::Relaxed);
        }
        // What has no more to say closes the connection.
        if is_gone.load(Ordering::Relaxed) { Reply::raw("") } else { reply(&tree, head) }
    });
    let told = look_for(&fake, &Wanted::default()).unwrap();
    assert!(told.throttled().next().is_some());
    let all = unknown(&told);
    assert!(
        all.iter()
            .any(|it| it.starts_with("the power limit: the answer of the controller is broken")),
        "{all:?}"
    );
    assert!(told.requests.iter().any(|it| it.outcome == "broken off"));
    assert!(told.requests.len() <= MOST);
}

#[test]
fn wrong_types_are_told_and_harm_nothing() {
    let mut tree = dell();
    for (path, resource) in &mut tree {
        if path.matches('/').count() > 4 {
            for (_, value) in
                resource.as_object_mut().unwrap().iter_mut().filter(|(name, _)| *name != "Members")
            {
                *value = json!([[value.clone()]]);
            }
        }
    }
    let told = look(tree);
    assert!(!told.odd.is_empty() && told.odd.len() <= 32, "{:?}", told.odd);
    assert!(told.in_force().next().is_none() && told.throttled().next().is_none());
}

#[test]
fn a_controller_that_repeats_the_secret_is_not_quoted() {
    let spelled: String = SECRET.chars().map(|it| format!("\\u{:04x}", it as u32)).collect();
    let fake = Fake::start(move |head| {
        let mut tree = dell();
        let repeated = format!("{} and {SECRET}", head.replace(['\r', '\n'], " "));
        tree.get_mut("/redfish/v1/").unwrap()["Vendor"] = json!(repeated);
        let system = tree.get_mut("/redfish/v1/Systems/System.Embedded.1").unwrap();
        system["Model"] = json!(SECRET);
        system["Manufacturer"] = json!("@spelled@");
        system["BiosVersion"] = json!({ SECRET: 1 });
        let power = "/redfish/v1/Chassis/System.Embedded.1/Power";
        if asked(head).0 == power {
            return json_reply(
                "500 Oops",
                "",
                &json!({ "error": { "message": format!("you are {SECRET}") } }),
            );
        }
        let mut reply = reply(&tree, head);
        reply.bytes = String::from_utf8(reply.bytes)
            .unwrap()
            .replace("@spelled@", &spelled)
            .replace("Content-Length", "X-Length")
            .into_bytes();
        reply
    });
    let told = look_for(&fake, &Wanted::default()).unwrap();
    assert_eq!(told.system.model.as_deref(), Some("***"));
    assert_eq!(told.system.manufacturer.as_deref(), Some("***"));
    assert!(
        unknown(&told).iter().any(|it| it.contains("(500: you are ***)")),
        "{:?}",
        unknown(&told)
    );
}

#[test]
fn a_certificate_of_the_controllers_own_is_trusted_by_its_fingerprint_alone() {
    let fake = Fake::encrypted("127.0.0.1", |head| reply(&dell(), head));
    let (folder, mut way) = way(&fake);
    let other = Fake::encrypted("127.0.0.1", |_| Reply::json("{}"));
    let path = folder.path().join("ca.pem");
    let mut file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
    file.write_all(other.certificate.as_bytes()).unwrap();
    file.persist(&path).unwrap();
    way.ca = Some(path);
    let look = |way: &Way| {
        let client = way.client().unwrap();
        Session::new(&client).look(&Wanted::default())
    };
    let said = format!("{:#}", look(&way).unwrap_err());
    let found =
        said.split("its SHA-256 fingerprint is ").nth(1).unwrap_or_else(|| panic!("{said}"));
    assert_eq!(fake.requests().len(), 0, "nothing is sent to who is not trusted");
    way.fingerprint = Fingerprint::parse(found.split(": ").next().unwrap());
    assert!(look(&way).unwrap().in_force().next().is_some());
    way.fingerprint = Fingerprint::parse(&"ab".repeat(32));
    let said = format!("{:#}", look(&way).unwrap_err());
    assert!(said.contains("is not trusted") && !said.contains("--fingerprint"), "{said}");
}

#[test]
fn a_secret_is_not_sent_over_a_network_unencrypted() {
    let fake = serve(dell());
    let (_folder, way) = way(&fake);
    let refused = Way { url: "http://192.0.2.1".to_owned(), ..way.clone() }
        .client()
        .err()
        .unwrap()
        .to_string();
    assert!(refused.contains("unencrypted; use https"), "{refused}");
    let url = format!("{}/redfish/v1/", fake.url);
    assert!(Session::new(&Way { url, ..way }.client().unwrap()).look(&Wanted::default()).is_ok());
}
