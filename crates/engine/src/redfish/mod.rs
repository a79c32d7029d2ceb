//! A management controller asked over Redfish: what limits power, what throttles the processors, and how long each answer took.
//!
//! One look costs the controller at most [`MOST`] requests, one after the other on one connection, and [`DEADLINE`] in all; settings and
//! versions of the firmware cost more and are looked at where they are requested. Links are followed within the service only, and each
//! once. What cannot be learned is told and keeps nothing else from being looked at, unless the controller is gone.
//!
//! Sources: DMTF DSP0266 1.20 (links, `$expand`, ETags, sessions). What controllers answer: published trees of HPE iLO 6, Supermicro with
//! Nvidia's HGX, Supermicro X10, Lenovo XCC, Dell iDRAC 9 and DMTF's own examples (spyroot/redfish_ctl, read 28 November 2026).

mod bootstrap;
mod budget;
mod exchange;
mod firmware;
mod host_interface;
mod source;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trees;
mod walk;

pub use bootstrap::Bootstrap;
pub use firmware::Setup;
pub use host_interface::in_band;
pub use source::{Controller, WithRedfish};
pub use walk::Stopped;

use crate::clock::now;
use crate::http::{Address, Client, Credentials, Failure, Fingerprint, Named, Options, Trust};
use crate::interrupt::{Interrupt, unless_stopped};
use anyhow::{Error, Result, anyhow, bail};
use exchange::Exchange;
use facts::redfish::{Redfish, Risen, rises};
use host::Source;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use walk::{Looked, Walk};

/// For all requests of a look together.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// For all requests of a second look that the user has ended early, and waits for.
const DEADLINE_OF_LAST: Duration = Duration::from_secs(2);

/// Requests of a look at limits and throttling.
pub const MOST: usize = 8;

/// Further requests for the settings of the firmware.
const MOST_FOR_BIOS: usize = 2;

/// Further requests for its versions; most services answer with all of them at once.
const MOST_FOR_INVENTORY: usize = 40;

/// Requests for what a change of the firmware's settings takes: its registry, and the way there.
const MOST_FOR_REGISTRY: usize = 3;

/// For what a change of the firmware's settings takes: controllers are slow at registries, and at changes.
const DEADLINE_OF_CHANGES: Duration = Duration::from_secs(60);

/// The largest answer in bytes. The settings of a firmware have some 100 KiB, its versions some 300 KiB.
const LARGEST: u64 = 2 << 20;

/// The same of registries, which have some 2 MiB.
const LARGEST_REGISTRY: u64 = 16 << 20;

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The name of the system, where the service has several; the first one by default.
    pub system: Option<String>,
    /// Whether the settings of the firmware are, too.
    pub bios: bool,
    /// Whether its versions are, too.
    pub inventory: bool,
    /// Where a change of the firmware's settings is meant: what that takes, and nothing else but the system.
    pub change: Option<Own>,
}

/// The machine that is meant, as its firmware names it.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// The UUID of the system.
    pub uuid: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
}

impl Own {
    /// As the firmware of the machine names it; only root can read that.
    pub fn of(source: &dyn Source) -> Own {
        let of = |name: &str| {
            let bytes = source.read(&format!("/sys/class/dmi/id/{name}")).ok()?;
            Some(String::from_utf8_lossy(&bytes).trim().to_owned())
        };
        Own { uuid: of("product_uuid"), serial: of("product_serial") }
    }
}

/// How a service is reached.
#[derive(Clone, Debug)]
pub struct Way {
    /// Its URL.
    pub url: String,
    /// Who asks.
    pub credentials: Credentials,
    /// The fingerprint of its certificate, which is trusted whoever issued it.
    pub fingerprint: Option<Fingerprint>,
    /// The authorities that are trusted, and no others.
    pub ca: Option<PathBuf>,
    /// How the user names what can be set.
    pub named: Named,
}

impl Way {
    /// That to a URL, without an account.
    pub fn to(url: String) -> Way {
        Way {
            url,
            credentials: Credentials::default(),
            fingerprint: None,
            ca: None,
            named: Named::Options(""),
        }
    }

    /// With what the user gives in place of what it has: who asks, and which certificates are trusted.
    #[must_use]
    pub fn given(
        mut self,
        credentials: Option<Credentials>,
        fingerprint: Option<Fingerprint>,
        ca: Option<PathBuf>,
    ) -> Way {
        if let Some(credentials) = credentials {
            self.credentials = credentials;
        }
        if fingerprint.is_some() || ca.is_some() {
            (self.fingerprint, self.ca) = (fingerprint, ca);
        }
        self
    }

    /// A client of the service. Connects to nothing yet.
    ///
    /// Errors: the URL makes no sense; a secret would go over a network unencrypted; the authorities cannot be read.
    pub fn client(&self) -> Result<Client> {
        self.client_with(DEADLINE, LARGEST, true)
    }

    /// The same for a change of the firmware's settings, each exchange on a connection of its own: of one that breaks it must be known that it
    /// is not one which the controller had closed before.
    ///
    /// Errors: those of [`Way::client`].
    fn client_of_changes(&self) -> Result<Client> {
        self.client_with(DEADLINE_OF_CHANGES, LARGEST_REGISTRY, false)
    }

    fn client_with(&self, deadline: Duration, largest: u64, reuses: bool) -> Result<Client> {
        let address = Address::parse(&self.url)?.without_end("/redfish/v1").without_end("/redfish");
        let trust = Trust::given(self.fingerprint, self.ca.as_deref());
        let credentials = self.credentials.clone();
        let options = Options { deadline, largest, trust, credentials, reuses, named: self.named };
        let client = Client::new(address, options)?;
        if client.shows_secrets() {
            bail!(
                "{}: the password or token would go over the network unencrypted; use https",
                client.address()
            );
        }
        Ok(client)
    }
}

/// A controller that is looked at once or twice: what has not changed since is not sent again (ETags).
pub struct Session<'a> {
    client: &'a Client,
    kept: exchange::Kept,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Session<'a> {
    /// Nothing is sent yet.
    pub fn new(client: &'a Client) -> Session<'a> {
        Session { client, kept: exchange::Kept::default(), stop: None }
    }

    /// The same, of which each request ends once this is set: a look has what was answered until then.
    #[must_use]
    pub fn stopped_by(self, stop: &'a AtomicBool) -> Session<'a> {
        Session { stop: Some(stop), ..self }
    }

    /// Looks at the controller.
    ///
    /// Errors: it cannot be reached, does not speak Redfish, denies access, or has no system of the requested name; [`Stopped`].
    pub fn look(&mut self, wanted: &Wanted) -> Result<Redfish> {
        let deadline = if wanted.change.is_some() { DEADLINE_OF_CHANGES } else { DEADLINE };
        Ok(self.look_within(wanted, deadline)?.told)
    }

    /// Looks, and once more after `time` or as soon as the user wants to stop: what rose between the looks, and how long that was. Of a first
    /// look that the user stopped there is no second one, and one that does not end in time leaves what the first one learned.
    ///
    /// Errors: those of [`Session::look`], of the first look.
    pub fn look_for(
        &mut self,
        wanted: &Wanted,
        time: Duration,
        interrupt: &Interrupt,
    ) -> Result<(Redfish, Risen)> {
        let told = self.look(wanted)?;
        let began = now();
        if interrupt.flag().load(Ordering::Relaxed) {
            let rises = Err("Ctrl-C came before the second look".to_owned());
            return Ok((told, Risen { time: began.elapsed(), rises }));
        }
        let is_ended = interrupt.wait(time);
        let time = began.elapsed();
        // The firmware's settings and versions stay what they were.
        let limits = Wanted { system: wanted.system.clone(), ..Wanted::default() };
        Ok(match self.look_again(&limits, is_ended) {
            Err(why) => (told, Risen { time, rises: Err(why) }),
            Ok(again) => {
                let rises = Ok(rises(&told, &again));
                (told.after(again), Risen { time, rises })
            }
        })
    }

    /// The second look: a short one, where the user has ended the time before it and waits; else it is one that a wish to stop ends.
    ///
    /// Errors: why it is not a whole one.
    fn look_again(&mut self, wanted: &Wanted, is_ended: bool) -> Result<Redfish, String> {
        self.stop = self.stop.filter(|_| !is_ended);
        let deadline = if is_ended { DEADLINE_OF_LAST } else { DEADLINE };
        match self.look_within(wanted, deadline) {
            Ok(Looked { told, ended: None }) => Ok(told),
            Ok(Looked { ended: Some(why), .. }) => {
                Err(format!("the second look ended early: {why}"))
            }
            Err(error) => Err(format!("the second look failed: {error:#}")),
        }
    }

    fn look_within(&mut self, wanted: &Wanted, deadline: Duration) -> Result<Looked> {
        let exchange = Exchange::begin(self.client, &mut self.kept, deadline, self.stop);
        let looked = Walk::new(exchange, wanted).run();
        let mut looked = looked.map_err(|failure| self.explained(failure))?;
        looked.told.address = Some(self.client.address().to_string());
        Ok(looked)
    }

    /// A certificate that nobody vouches for is what most controllers have: its fingerprint is shown, to be compared.
    fn explained(&self, error: Error) -> Error {
        let Some(failure) = error.downcast_ref::<Failure>() else { return error };
        let (client, failure) = (self.client.clone(), failure.clone());
        let found = unless_stopped(self.stop, move || client.unknown_certificate(&failure));
        match found.flatten() {
            Some(found) => anyhow!(
                "{error}; its SHA-256 fingerprint is {found}: where the controller's own page shows the same, trust it with {}",
                self.client.named().of("fingerprint")
            ),
            None => error,
        }
    }
}
