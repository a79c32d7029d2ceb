//! Which management controller takes requests for the firmware, and who asks it.

use crate::cli::Arguments;
use crate::commands::bmc;
use crate::config;
use anyhow::{Context, Result, bail};
use clap::Args;
use engine::http::Fingerprint;
use engine::redfish::{Controller, Way};
use std::path::PathBuf;

/// The word in place of a URL that stands for the configuration's controller.
const CONFIGURED: &str = "config";

/// The controller of this machine, where settings of its firmware are looked at or changed.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ControllerArguments {
    /// The management controller of this machine, which firmware-* settings are requested of, as in https://bmc7; `config` is
    /// redfish.url of the configuration. Without it no controller is asked, and none is sent anything
    #[arg(long = "redfish", value_name = "URL")]
    url: Option<String>,
    /// A file that only you can read with the token of a session, or headers as lines `Name: value`
    #[arg(long, value_name = "FILE", conflicts_with = "user", requires = "url")]
    token_file: Option<PathBuf>,
    /// The user whose password --password-file holds
    #[arg(long, value_name = "NAME", requires_all = ["password_file", "url"])]
    user: Option<String>,
    /// A file that only you can read with the password
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    /// Trust the controller's certificate with this SHA-256, whoever issued it
    #[arg(long, value_name = "SHA256", value_parser = bmc::fingerprint, requires = "url")]
    fingerprint: Option<Fingerprint>,
    /// Trust certificates of the authorities in this PEM file, and no others [default: those of this machine]
    #[arg(long, value_name = "FILE", conflicts_with = "fingerprint", requires = "url")]
    ca: Option<PathBuf>,
    /// The system, where the controller has several [default: the first one]
    #[arg(long, value_name = "NAME", requires = "url")]
    system: Option<String>,
}

impl ControllerArguments {
    /// Refuses to choose a configuration of which nothing is read.
    ///
    /// Errors: the options choose one, and the controller is not that of the configuration.
    pub(super) fn needs_configuration(&self, arguments: &Arguments) -> Result<()> {
        let is_chosen = arguments.config.config.is_some() || arguments.config.no_config;
        if is_chosen && self.url.as_deref() != Some(CONFIGURED) {
            bail!(
                "this command reads the configuration for --redfish config only: add that, or leave out --config and --no-config"
            );
        }
        Ok(())
    }

    /// Whether the configuration names the controller of this machine, and the options none. A configuration that is refused names none: without
    /// `--redfish config`, nothing depends on it.
    pub(super) fn is_left_alone(&self, arguments: &Arguments) -> bool {
        let is_copy = arguments.host.is_copy();
        let names_one =
            || config::read(&arguments.config).is_ok_and(|it| it.config.redfish.is_some());
        self.url.is_none() && !is_copy && names_one()
    }

    /// The controller; `None` where none is named.
    ///
    /// Errors: a file cannot be read or trusted; the configuration names no controller; a copy of a host has none.
    pub(super) fn controller(&self, arguments: &Arguments) -> Result<Option<Controller>> {
        let Some(url) = &self.url else { return Ok(None) };
        if arguments.host.is_copy() {
            bail!(
                "--redfish names the controller of this machine, and not of a copy of a host: leave it out"
            );
        }
        let of_user = self.user.as_deref().zip(self.password_file.as_deref());
        let given = bmc::credentials(self.token_file.as_deref(), of_user)?;
        let given = |way: Way| way.given(given, self.fingerprint, self.ca.clone());
        if url != CONFIGURED {
            let way = given(Way::to(url.clone()));
            return Ok(Some(Controller { way, system: self.system.clone() }));
        }
        let configured = config::read(&arguments.config)?.config.redfish;
        let configured = configured.context(
            "--redfish config: the configuration names no controller (redfish.url); give its URL",
        )?;
        let way = given(bmc::of_config(&configured)?);
        Ok(Some(Controller { way, system: self.system.clone().or(configured.system) }))
    }
}
