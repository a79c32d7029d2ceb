//! A management controller asked over Redfish: what limits power, what throttles the processors, and how long each answer took.
//!
//! One look costs the controller at most [`MOST`] requests, one after the other on one connection, and [`DEADLINE`] in all; settings and
//! versions of the firmware cost more and are looked at where they are requested. Links are followed within the service only, and each
//! once. What cannot be learned is told and keeps nothing else from being looked at, unless the controller is gone.
//!
//! Sources: DMTF DSP0266 1.20 (links, `$expand`, ETags, sessions). What controllers answer: published trees of HPE iLO 6, Supermicro with
//! Nvidia's HGX, Supermicro X10, Lenovo XCC, Dell iDRAC 9 and DMTF's own examples (spyroot/redfish_ctl, read 28 November 2026).

mod exchange;
mod host_interface;
mod source;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trees;
mod walk;

pub use host_interface::in_band;
pub use source::WithRedfish;

use crate::http::{
    Address, Client, Credentials, Failure, Fingerprint, Named, Options, Problem, Trust,
};
use anyhow::{Error, Result, anyhow, bail};
use exchange::Exchange;
use facts::redfish::Redfish;
use std::path::PathBuf;
use std::time::Duration;
use walk::Walk;

/// For all requests of a look together.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// Requests of a look at limits and throttling.
pub const MOST: usize = 8;

/// Further requests for the settings of the firmware.
const MOST_FOR_BIOS: usize = 2;

/// Further requests for its versions; most services answer with all of them at once.
const MOST_FOR_INVENTORY: usize = 40;

/// The largest answer in bytes. The settings of a firmware have some 100 KiB, its versions some 300 KiB.
const LARGEST: u64 = 2 << 20;

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The name of the system, where the service has several; the first one by default.
    pub system: Option<String>,
    /// Whether the settings of the firmware are, too.
    pub bios: bool,
    /// Whether its versions are, too.
    pub inventory: bool,
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
    /// A client of the service. Connects to nothing yet.
    ///
    /// Errors: the URL makes no sense; a secret would go over a network unencrypted; the authorities cannot be read.
    pub fn client(&self) -> Result<Client> {
        let address = Address::parse(&self.url)?.without_end("/redfish/v1").without_end("/redfish");
        let trust = match (self.fingerprint, &self.ca) {
            (Some(fingerprint), _) => Trust::Pinned(fingerprint),
            (None, Some(path)) => Trust::Authorities(path.clone()),
            (None, None) => Trust::System,
        };
        let credentials = self.credentials.clone();
        let options = Options {
            deadline: DEADLINE,
            largest: LARGEST,
            trust,
            credentials,
            reuses: true,
            named: self.named,
        };
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
}

impl<'a> Session<'a> {
    /// Nothing is sent yet.
    pub fn new(client: &'a Client) -> Session<'a> {
        Session { client, kept: exchange::Kept::default() }
    }

    /// Looks at the controller.
    ///
    /// Errors: it cannot be reached, does not speak Redfish, denies access, or has no system of the requested name.
    pub fn look(&mut self, wanted: &Wanted) -> Result<Redfish> {
        self.look_within(wanted, DEADLINE)
    }

    fn look_within(&mut self, wanted: &Wanted, deadline: Duration) -> Result<Redfish> {
        let exchange = Exchange::begin(self.client, &mut self.kept, deadline);
        Walk::new(exchange, wanted).run().map_err(|failure| self.explained(failure))
    }

    /// A certificate that nobody vouches for is what most controllers have: its fingerprint is shown, to be compared.
    fn explained(&self, error: Error) -> Error {
        let is_untrusted = |it: &Failure| matches!(it.problem, Problem::Untrusted { .. });
        if !error.downcast_ref::<Failure>().is_some_and(is_untrusted) || self.client.is_pinned() {
            return error;
        }
        match fingerprint_of(self.client.address()) {
            Some(found) => anyhow!(
                "{error}; its SHA-256 fingerprint is {found}: where the controller's own page shows the same, trust it with {}",
                self.client.named().of("fingerprint")
            ),
            None => error,
        }
    }
}

/// The fingerprint of a service's certificate. Nothing but the handshake is sent.
fn fingerprint_of(address: &Address) -> Option<Fingerprint> {
    let trust = Trust::Pinned(Fingerprint::NONE);
    let options = Options { deadline: DEADLINE, largest: LARGEST, trust, ..Options::default() };
    let failure = Client::new(address.clone(), options).ok()?.get("/redfish/v1/", &[]).err()?;
    match failure.problem {
        Problem::Untrusted { why, .. } => Fingerprint::parse(why.rsplit(' ').next()?),
        _ => None,
    }
}
