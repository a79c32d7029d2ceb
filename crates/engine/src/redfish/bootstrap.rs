//! An account for one look, which the controller makes over IPMI for the host interface, and which is deleted after it.
//!
//! Sources: DMTF DSP0270 1.3, section 9; schemas AccountService 1.13 (`Accounts`), ManagerAccount 1.11 (`UserName`); DSP0266 1.20, "DELETE".

use super::Way;
use super::exchange::resource;
use crate::http::{Client, Credentials, Method};
use anyhow::{Result, anyhow, bail};
use facts::ipmi::{BootstrapAccount, Completion, Unanswered};
use facts::redfish::Link;
use host::ipmi::{Controller, Failure, Patience};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long the controller may take to make an account.
const PATIENCE: Duration = Duration::from_secs(10);

/// Completion code: the controller makes no accounts.
const DISABLED: Completion = Completion(0x80);

const ROOT: &str = "/redfish/v1/";

/// An account that somebody has to delete.
pub struct Bootstrap {
    client: Client,
    name: String,
}

impl Bootstrap {
    /// Has the controller behind `device` make an account, with which `way` asks from then on.
    ///
    /// Errors: no account was made; or the words say which one stays.
    pub fn create(device: &mut Controller, way: &mut Way, stop: &AtomicBool) -> Result<Bootstrap> {
        // Whether an account can be used is checked before one is made: its password may not be sent unencrypted.
        way.credentials = Credentials::account("user", "password")?;
        way.client()?;
        let question = BootstrapAccount::question();
        let answer = device.ask(&question, Patience::begin(PATIENCE, stop));
        let Some(account) = answer.map_err(refused)? else {
            bail!(
                "the management controller answered what is no account; where it has made one, it is among the accounts of its page: remove it there"
            );
        };
        let client = Credentials::account(&account.name, &account.password).and_then(|it| {
            way.credentials = it;
            way.client_of_changes()
        });
        let client = client.map_err(|error| stays(&account.name, &format!("{error:#}")))?;
        Ok(Bootstrap { client, name: account.name })
    }

    /// Deletes the account.
    ///
    /// Errors: it stays; the words say which, and how to remove it.
    pub fn delete(self) -> Result<()> {
        self.try_delete().map_err(|why| stays(&self.name, &why))
    }

    fn try_delete(&self) -> Result<(), String> {
        let own = self.place()?.ok_or("the controller does not list it among its accounts")?;
        let deleted = self.client.change(own.path(), Method::Delete, &[("odata-version", "4.0")]);
        deleted.map(|_answer| ()).map_err(|it| it.by("the controller").to_string())
    }

    /// Where the account is.
    fn place(&self) -> Result<Option<Link>, String> {
        let next = |path: &str, name: &str| -> Result<Link, String> {
            let found = resource(&self.client, path)?.0.link(name);
            found.ok_or_else(|| format!("{path} has no {name}"))
        };
        let service = next(ROOT, "AccountService")?;
        let accounts = next(service.path(), "Accounts")?;
        for member in resource(&self.client, accounts.path())?.0.collection().members {
            let account = match member.resource {
                Some(account) => account,
                None => resource(&self.client, member.link.path())?.0,
            };
            if account.user_name().as_deref() == Some(&self.name) {
                return Ok(Some(member.link));
            }
        }
        Ok(None)
    }
}

fn stays(name: &str, why: &str) -> anyhow::Error {
    anyhow!(
        "the account {name} stays on the management controller: {why}; remove it on the controller's page, or by its number: `ipmitool user list` shows that, `ipmitool user disable NUMBER` disables it"
    )
}

/// Why there is no account. What came as an answer is not shown: it may hold a secret.
fn refused(failure: Failure) -> anyhow::Error {
    const WHAT: &str = "the management controller makes no account for this machine";
    match failure {
        Failure::Unanswered { why: Unanswered::Refused(DISABLED), .. } => anyhow!(
            "{WHAT}: it is switched off (DSP0270, credential bootstrapping); give an account with --user and --password-file"
        ),
        Failure::Unanswered { why: Unanswered::Refused(code), .. } => {
            anyhow!("{WHAT}: {code}; give an account with --user and --password-file")
        }
        Failure::Unanswered { .. } => anyhow!("{WHAT}: it answers another question"),
        other => anyhow!("{WHAT}: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Session, Wanted};
    use super::*;
    use crate::http::fake::{Fake, Reply};
    use crate::interrupt::Interrupt;
    use host::ipmi::{Arrived, Asked, Carrier};
    use rustix::io::Errno;
    use serde_json::{Value, json};
    use std::sync::Mutex;

    const NAME: &str = "host_a1b2c3";
    const PASSWORD: &str = "S3KR1T77S3KR1T77";

    /// Answers each question with the same bytes.
    struct Device {
        data: Vec<u8>,
        arrived: Option<Arrived>,
    }

    impl Carrier for Device {
        fn send(&mut self, asked: &Asked<'_>) -> Result<(), Errno> {
            assert_eq!((asked.function, asked.command, asked.data), (0x2c, 2, &[0x52, 0xa5][..]));
            self.arrived = Some(asked.answer(self.data.clone()));
            Ok(())
        }

        fn receive(&mut self, _: Duration) -> Result<Option<Arrived>, Errno> {
            Ok(self.arrived.take())
        }
    }

    fn device(data: Vec<u8>) -> Controller {
        Controller::behind("/dev/x".to_owned(), Box::new(Device { data, arrived: None }))
    }

    fn account() -> Vec<u8> {
        let mut data = vec![0, 0x52];
        data.extend(NAME.as_bytes());
        data.resize(18, 0);
        data.extend(PASSWORD.as_bytes());
        data
    }

    fn resource_at(path: &str) -> Option<Value> {
        let link = |it: &str| json!({ "@odata.id": it });
        let accounts = "/redfish/v1/AccountService/Accounts";
        Some(match path {
            "/redfish/v1/" => {
                json!({ "Systems": link("/redfish/v1/Systems"), "AccountService": link("/redfish/v1/AccountService") })
            }
            "/redfish/v1/Systems" => json!({ "Members": [link("/redfish/v1/Systems/1")] }),
            "/redfish/v1/Systems/1" => json!({ "Model": "R760" }),
            "/redfish/v1/AccountService" => json!({ "Accounts": link(accounts) }),
            "/redfish/v1/AccountService/Accounts" => {
                json!({ "Members": [link(&format!("{accounts}/1")), link(&format!("{accounts}/9"))] })
            }
            "/redfish/v1/AccountService/Accounts/1" => json!({ "UserName": "root" }),
            "/redfish/v1/AccountService/Accounts/9" => json!({ "UserName": NAME }),
            _ => return None,
        })
    }

    /// A service that repeats what it was sent, and answers a DELETE so.
    fn service(deleted: &'static str, has_systems: bool) -> Fake {
        Fake::start(move |head| {
            let mut words = head.split(' ');
            let (method, path) = (words.next().unwrap(), words.next().unwrap());
            let echo = || json!({ "error": { "message": head } }).to_string();
            match resource_at(path) {
                _ if method == "DELETE" => Reply::of(deleted, "application/json", echo()),
                _ if path == "/redfish/v1/Systems" && !has_systems => {
                    Reply::of("500 Internal Server Error", "application/json", echo())
                }
                Some(body) => Reply::json(body.to_string()),
                None => Reply::of("404 Not Found", "application/json", echo()),
            }
        })
    }

    fn way(fake: &Fake) -> Way {
        Way::to(fake.url.clone())
    }

    fn harmless(text: &str) {
        assert!(!text.contains(PASSWORD), "{text}");
    }

    #[test]
    fn the_account_is_used_for_the_look_and_deleted_whether_it_succeeds_or_fails() {
        for has_systems in [true, false] {
            let fake = service("204 No Content", has_systems);
            let mut way = way(&fake);
            let stop = AtomicBool::new(false);
            let account = Bootstrap::create(&mut device(account()), &mut way, &stop).unwrap();
            assert!(fake.requests().is_empty(), "no request is sent before the look");
            let client = way.client().unwrap();
            let looked = Session::new(&client).look(&Wanted::default());
            assert_eq!(looked.is_ok(), has_systems);
            harmless(&format!("{looked:?} {way:?}"));
            account.delete().unwrap();
            let last = fake.requests().pop().unwrap();
            assert!(last.starts_with("DELETE /redfish/v1/AccountService/Accounts/9 "), "{last}");
            let deleted = fake.requests().iter().filter(|it| !it.starts_with("GET ")).count();
            assert_eq!(deleted, 1);
        }
    }

    /// The wish to stop comes while the controller takes an hour for an answer.
    #[test]
    fn ctrl_c_while_the_account_is_there_ends_the_look_and_deletes_it() {
        let (interrupt, stop) = Interrupt::by_hand();
        let stop = Mutex::new(stop);
        let fake = Fake::start(move |head| {
            let mut words = head.split(' ');
            let (method, path) = (words.next().unwrap(), words.next().unwrap());
            match resource_at(path) {
                Some(_) if method == "DELETE" => Reply::of("204 No Content", "text/plain", ""),
                Some(_) if path == "/redfish/v1/Systems/1" => {
                    stop.lock().unwrap().stop();
                    Reply { hangs: true, ..Reply::raw("") }
                }
                Some(body) => Reply::json(body.to_string()),
                None => Reply::of("404 Not Found", "text/plain", ""),
            }
        });
        let mut way = way(&fake);
        let account =
            Bootstrap::create(&mut device(account()), &mut way, interrupt.flag()).unwrap();
        let client = way.client().unwrap();
        // An hour: a wish that ended nothing would be seen.
        let hour = Duration::from_secs(3600);
        let mut session = Session::new(&client).stopped_by(interrupt.flag());
        let (told, risen) = session.look_for(&Wanted::default(), hour, &interrupt).unwrap();
        assert_eq!(told.unknown[0].why, "no answer before Ctrl-C");
        assert_eq!(risen.rises, Err("Ctrl-C came before the second look".to_owned()));
        account.delete().unwrap();
        let last = fake.requests().pop().unwrap();
        assert!(last.starts_with("DELETE /redfish/v1/AccountService/Accounts/9 "), "{last}");
    }

    #[test]
    fn an_account_that_stays_is_named_with_the_way_to_remove_it_and_without_its_password() {
        let fake = service("403 Forbidden", true);
        let (mut way, stop) = (way(&fake), AtomicBool::new(false));
        let account = Bootstrap::create(&mut device(account()), &mut way, &stop).unwrap();
        let error = format!("{:#}", account.delete().unwrap_err());
        assert!(
            error.starts_with("the account host_a1b2c3 stays")
                && error.contains("denies access (403"),
            "{error}"
        );
        assert!(error.contains("ipmitool user disable NUMBER"), "{error}");
        harmless(&error);
    }

    #[test]
    fn without_an_account_the_words_say_why_and_nothing_is_contacted() {
        let fake = service("204 No Content", true);
        let mut cut = account();
        cut.pop();
        for (data, why) in [
            (vec![0x80], "it is switched off"),
            (vec![0xc1], "does not know this command"),
            (cut, "answered what is no account"),
        ] {
            let (mut way, stop) = (way(&fake), AtomicBool::new(false));
            let made = Bootstrap::create(&mut device(data), &mut way, &stop);
            let error = format!("{:#}", made.err().unwrap());
            assert!(error.contains(why), "{error}");
            harmless(&error);
        }
        // Where its password would be seen on the way, no account is made.
        let (mut way, stop) = (way(&fake), AtomicBool::new(false));
        way.url = "http://192.0.2.1".to_owned();
        let made = Bootstrap::create(&mut device(account()), &mut way, &stop);
        assert!(format!("{:#}", made.err().unwrap()).contains("unencrypted; use https"));
        assert!(fake.requests().is_empty());
    }
}
