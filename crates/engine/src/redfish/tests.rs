//! Looks at services in the shapes that makers publish. Whatever comes of one, the secret is in none of it.

mod rude;
mod second_opinion;

use super::trees::*;
use super::*;
use crate::http::fake::Fake;
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

const SECRET: &str = "S3cret-of-tests";

/// A way to a service with a password, in a folder that goes with it.
fn way(fake: &Fake) -> (tempfile::TempDir, Way) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("password");
    let mut file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
    writeln!(file, "{SECRET}").unwrap();
    file.as_file().set_permissions(Permissions::from_mode(0o600)).unwrap();
    file.persist(&path).unwrap();
    let credentials = Credentials::basic("reader", &path).unwrap();
    (folder, Way::to(fake.url.clone()).given(Some(credentials), None, None))
}

fn look_for(fake: &Fake, wanted: &Wanted) -> Result<Redfish> {
    let (_folder, way) = way(fake);
    let client = way.client()?;
    let looked = Session::new(&client).look(wanted);
    let said = match &looked {
        Ok(told) => told.to_text(),
        Err(error) => format!("{error:#} {error:?}"),
    };
    assert!(!said.contains(SECRET) && !said.contains(&*basic()), "{said}");
    looked
}

/// What Basic makes of the user and the secret.
fn basic() -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(format!("reader:{SECRET}"))
}

fn look(tree: Tree) -> Redfish {
    look_for(&serve(tree), &Wanted::default()).unwrap()
}

fn failed(fake: &Fake) -> String {
    let error = look_for(fake, &Wanted::default()).unwrap_err();
    format!("{error:#}").replace(&fake.url, "URL")
}

fn paths(told: &Redfish) -> Vec<&str> {
    told.requests.iter().map(|it| &*it.path).collect()
}

fn unknown(told: &Redfish) -> Vec<String> {
    told.unknown.iter().map(|it| format!("{}: {}", it.what, it.why)).collect()
}

#[test]
fn every_makers_service_is_looked_at_with_eight_requests_at_most() {
    for (maker, tree) in makers() {
        let fake = serve(tree);
        let told = look_for(&fake, &Wanted::default()).unwrap();
        assert!(told.requests.len() <= MOST, "{maker}: {:?}", paths(&told));
        assert_eq!(fake.requests().len(), told.requests.len(), "{maker}");
        assert!(
            told.requests.iter().all(|it| it.outcome == "200" && it.seconds > 0.0 && it.bytes > 2),
            "{maker}"
        );
        assert!(!told.processors.is_empty() && told.odd.is_empty(), "{maker}: {told:?}");
        let wanted = ["get /redfish/v1", "odata-version: 4.0", "authorization: basic"];
        let head = fake.requests()[1].to_lowercase();
        assert!(wanted.iter().all(|it| head.contains(it)), "{maker}: {head}");
    }
}

#[test]
fn a_limit_in_power_and_a_throttled_processor_are_found_at_dell() {
    let told = look(dell());
    let limit = told.in_force().next().unwrap();
    assert_eq!(
        limit.source,
        "/redfish/v1/Chassis/System.Embedded.1/Power PowerControl/0/PowerLimit"
    );
    assert_eq!((limit.watts, limit.is_reached()), (Some(500.0), Some(true)));
    let throttled: Vec<&str> = told.throttled().map(|it| &*it.name).collect();
    assert_eq!(throttled, ["CPU.Socket.1"]);
    assert_eq!((told.processors.len(), told.n_listed), (2, 2));
    assert!(
        paths(&told)
            .contains(&"/redfish/v1/Systems/System.Embedded.1/Processors?$expand=.($levels=1)")
    );
}

#[test]
fn what_the_new_resource_has_is_not_asked_of_the_old_one() {
    let told = look(openbmc());
    assert!(told.in_force().any(|it| it.watts == Some(1800.0)));
    assert!(!paths(&told).contains(&"/redfish/v1/Chassis/chassis/Power"), "{:?}", paths(&told));
    assert_eq!(told.processors[0].power_limited_s, Some(60.0));
    let causes: Vec<String> = told.processors[0].causes.iter().map(ToString::to_string).collect();
    assert_eq!(causes, ["ThermalLimit (heat)", "ClockLimit (a limit of the clock)"]);
    // Eight requests are enough for what links the temperatures, and not for those.
    assert_eq!(told.requests.len(), MOST);
    assert_eq!(
        unknown(&told),
        [
            "temperatures: not asked: a look sends 8 requests for limits and throttling, and they were used up"
        ]
    );
}

#[test]
fn a_service_that_says_nothing_of_processors_is_not_asked_for_each() {
    let told = look(hpe());
    assert_eq!((told.processors.len(), told.n_processors()), (1, 2));
    assert!(told.in_force().next().is_none() && told.limits[0].drawn == Some(565.0));
    assert_eq!(told.temperatures.len(), 2);
    let words: Vec<String> = told.words.iter().map(|it| it.value.clone()).collect();
    assert_eq!(words, ["Dynamic", "0", "0", "100", "dyn"]);
    assert!(told.bios.is_none() && told.inventory.is_empty());
}

#[test]
fn processors_of_another_system_are_found_and_graphics_left_out() {
    let told = look(supermicro());
    assert_eq!((told.processors.len(), told.n_processors()), (1, 1));
    assert_eq!(told.words[0].value, "SWPowerCap");
    assert!(
        told.limits.iter().all(|it| it.is_of_processor && !it.is_in_force()),
        "{:?}",
        told.limits
    );
    assert!(
        unknown(&told)[0].contains("--system NAME takes another one: System_0, HGX_Baseboard_0")
    );
    let fake = serve(supermicro());
    let wanted = Wanted { system: Some("HGX_Baseboard_0".to_owned()), ..Wanted::default() };
    assert_eq!(
        look_for(&fake, &wanted).unwrap().system.source,
        "/redfish/v1/Systems/HGX_Baseboard_0"
    );
    let wanted = Wanted { system: Some("2".to_owned()), ..Wanted::default() };
    let said = look_for(&fake, &wanted).unwrap_err().to_string();
    assert_eq!(said, "the controller has no system \"2\"; it has System_0, HGX_Baseboard_0");
}

#[test]
fn settings_and_versions_of_the_firmware_are_asked_for_where_they_are_wanted() {
    let fake = serve(hpe());
    let told =
        look_for(&fake, &Wanted { bios: true, inventory: true, ..Wanted::default() }).unwrap();
    let bios = told.bios.unwrap();
    assert_eq!(bios.attributes["PowerRegulator"], "DynamicPowerSavings");
    assert_eq!((bios.pending.len(), &*bios.pending[0].then), (1, "Disabled"));
    assert_eq!(bios.settings.as_deref(), Some("/redfish/v1/systems/1/bios/settings/"));
    let versions: Vec<String> = told.inventory.into_iter().map(|it| it.name).collect();
    assert_eq!(versions, ["iLO 6", "System ROM"]);
    assert_eq!(told.requests.len(), MOST + 2 + 4);
}

#[test]
fn a_look_uses_one_connection_and_a_second_look_asks_for_what_has_changed() {
    let fake = keeping(dell(), Duration::ZERO, usize::MAX);
    let (_folder, way) = way(&fake);
    let client = way.client().unwrap();
    let mut session = Session::new(&client);
    let first = session.look(&Wanted::default()).unwrap();
    assert_eq!(fake.connections(), 1);
    let second = session.look(&Wanted::default()).unwrap();
    assert!(second.requests.iter().all(|it| it.outcome == "304" && it.bytes == 0), "{second:?}");
    assert_eq!((first.limits, first.processors), (second.limits, second.processors));
}

#[test]
fn a_connection_that_the_controller_has_closed_is_no_failure() {
    let fake = keeping(dell(), Duration::ZERO, 4);
    let told = look_for(&fake, &Wanted::default()).unwrap();
    assert!(told.in_force().next().is_some() && !told.processors.is_empty(), "{told:?}");
}
