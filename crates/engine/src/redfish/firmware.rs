//! Reads settings of the firmware from the controller, and requests other values. A request is sent once, on the condition that the
//! settings are as they were read (ETag, `If-Match`).
//!
//! Sources: DMTF DSP0266 1.20, "PATCH (update)", "Settings resource", "Asynchronous operations"; RFC 9110, 13.1.1 (`If-Match`).

use super::Way;
use super::exchange::{CONTROLLER, resource};
use crate::http::{Client, Failure, Method, Problem};
use anyhow::Result;
use facts::change::{FirmwarePlace, Held, request_body};
use facts::redfish::pending_names;
use host::change::Firmware;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The firmware's setup of one machine, through its controller.
pub struct Setup {
    client: Client,
    /// What a request goes by, of the latest read.
    latest: Mutex<Option<Latest>>,
}

/// What was read right before a request.
struct Latest {
    settings: String,
    etag: Option<String>,
    on_reset: bool,
    /// All settings that the next restart changes.
    pending: Vec<String>,
}

/// Names of pending settings that are told.
const MOST_TOLD: usize = 5;

impl Setup {
    /// Connects to nothing yet.
    ///
    /// Errors: those of [`Way::client`].
    pub fn new(way: &Way) -> Result<Setup> {
        Ok(Setup { client: way.client_of_changes()?, latest: Mutex::new(None) })
    }

    fn is_other(&self, place: &FirmwarePlace) -> Option<String> {
        let own = self.client.address().to_string();
        (place.controller != own).then(|| {
            format!("it was requested of {}, and {own} is given: give that one", place.controller)
        })
    }

    fn latest(&self) -> std::sync::MutexGuard<'_, Option<Latest>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Firmware for Setup {
    fn read(&self, place: &FirmwarePlace) -> Result<Held, String> {
        if let Some(why) = self.is_other(place) {
            return Err(why);
        }
        let (own, _) = resource(&self.client, &place.bios)?;
        let (settings, etag) = resource(&self.client, &place.settings)?;
        *self.latest() = Some(Latest {
            settings: place.settings.clone(),
            etag,
            on_reset: own.bios().0.on_reset(),
            pending: pending_names(&own, &settings),
        });
        own.held(&settings, place)
    }

    fn request(
        &self,
        place: &FirmwarePlace,
        values: &str,
        is_back: bool,
    ) -> Result<String, String> {
        let latest = self.latest().take().filter(|it| it.settings == place.settings);
        let Some(latest) = latest else {
            return Err("what it holds was not read before".to_owned());
        };
        // Only what is taken back may find its own change waiting.
        if !is_back && !latest.pending.is_empty() {
            return Err(in_the_way(&latest.pending));
        }
        let condition = latest.etag.as_deref().map(|it| ("if-match", it));
        let headers: Vec<(&'static str, &str)> =
            [Some(("odata-version", "4.0")), condition].into_iter().flatten().collect();
        let body = request_body(values, latest.on_reset);
        match self.client.change(&place.settings, Method::Patch(&body), &headers) {
            Ok(answer) => {
                let (status, task) = (answer.status(), answer.location());
                let task = task.map_or_else(String::new, |it| format!(", task {it}"));
                let words = answer.words();
                let words = if words.is_empty() { words } else { format!(": {words}") };
                Ok(format!("the controller answered {status}{task}{words}"))
            }
            Err(failure) => Err(refused(failure)),
        }
    }
}

/// What stands in the way of a request: it would come into force with it.
fn in_the_way(pending: &[String]) -> String {
    let names = pending.iter().take(MOST_TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if pending.len() > MOST_TOLD { ", ..." } else { "" };
    format!(
        "changes wait for the next restart already ({names}{more}): restart the machine or take them back first"
    )
}

fn refused(failure: Failure) -> String {
    let is_changed = matches!(failure.problem, Problem::Refused { status: 412 | 428, .. });
    let is_open = matches!(
        failure.problem,
        Problem::Broken { .. }
            | Problem::Timeout { .. }
            | Problem::Failed { status: 500 | 502 | 504, .. }
    );
    let words = failure.by(CONTROLLER).to_string();
    match (is_changed, is_open) {
        (true, _) => format!(
            "{words}; somebody else has changed the settings since they were read: plan again"
        ),
        (_, true) => format!("{words}; whether it took the request is unknown"),
        _ => words,
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("address", &self.client.address().to_string())
            .finish_non_exhaustive()
    }
}
