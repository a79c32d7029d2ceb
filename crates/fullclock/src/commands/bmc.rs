//! `fullclock bmc`: what the management controller says over Redfish about limits and throttling.

use crate::cli::Arguments;
use crate::config;
use crate::head::head;
use crate::output;
use crate::result::ResultArguments;
use anyhow::{Context, Result, bail};
use clap::Args;
use engine::http::{Credentials, Fingerprint, Named};
use engine::interrupt::Interrupt;
use engine::redfish::{Bootstrap, Session, Stopped, Wanted, Way, WithRedfish, in_band};
use facts::quantity;
use host::ipmi::Controller;
use host::{Live, Source};
use report::document::Format;
use report::redfish::{Report, document, json};
use rules::config::{Config, Redfish};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Which controller, who asks, and what.
#[derive(Args, Debug)]
pub(crate) struct BmcArguments {
    #[command(flatten)]
    way: WayArguments,
    /// The system, where the controller has several [default: the first one]
    #[arg(long, value_name = "NAME")]
    system: Option<String>,
    /// Show the settings of the firmware that concern the clock, and those that wait for a restart; two more requests
    #[arg(long)]
    bios: bool,
    /// Show the versions of all firmware; up to 40 more requests
    #[arg(long)]
    inventory: bool,
    /// Look twice, that long apart (1s to 60s), and show for how long processors were throttled meanwhile
    #[arg(long, value_name = "TIME", value_parser = look)]
    look: Option<Duration>,
    #[command(flatten)]
    result: ResultArguments,
}

/// How the controller is reached.
#[derive(Args, Debug)]
struct WayArguments {
    /// The controller's address, as in https://bmc7 [default: redfish.url of the configuration, or the host interface that the
    /// firmware describes, which only root can read]
    #[arg(long = "redfish", value_name = "URL")]
    url: Option<String>,
    /// A file that only you can read with the token of a session, or headers as lines `Name: value`
    #[arg(long, value_name = "FILE", conflicts_with = "user")]
    token_file: Option<PathBuf>,
    /// The user whose password --password-file holds: one that may only read
    #[arg(long, value_name = "NAME", requires = "password_file")]
    user: Option<String>,
    /// A file that only you can read with the password
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    /// Have the controller make an account for this look, over IPMI, and delete it afterwards (DSP0270); takes root and /dev/ipmi0
    #[arg(long, conflicts_with_all = ["token_file", "user"])]
    bootstrap: bool,
    /// Trust the certificate with this SHA-256, whoever issued it
    #[arg(long, value_name = "SHA256", value_parser = fingerprint)]
    fingerprint: Option<Fingerprint>,
    /// Trust certificates of the authorities in this PEM file, and no others [default: those of this machine]
    #[arg(long, value_name = "FILE", conflicts_with = "fingerprint")]
    ca: Option<PathBuf>,
}

fn look(text: &str) -> Result<Duration, String> {
    const TIMES: std::ops::RangeInclusive<Duration> =
        Duration::from_secs(1)..=Duration::from_secs(60);
    let time = quantity::duration(text).ok().filter(|it| TIMES.contains(it));
    time.ok_or_else(|| format!("{text:?}: a look takes 1s to 60s"))
}

pub(super) fn fingerprint(text: &str) -> Result<Fingerprint, String> {
    Fingerprint::parse(text).ok_or_else(|| {
        "expected 64 hexadecimal digits, as `openssl x509 -fingerprint -sha256` prints them"
            .to_owned()
    })
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  sudo fullclock bmc               by the host interface, without a network
  fullclock bmc --redfish https://bmc7 --user ro --password-file bmc.pw
  fullclock bmc --redfish https://bmc7 --token-file token --bios
  sudo fullclock bmc --bootstrap   with an account for this look alone
  fullclock bmc --look 10s         is a processor throttled just now?
  fullclock bmc --inventory --json   versions of all firmware, for a pipeline";

/// The exit code where Ctrl-C came before there was anything to show: what shells report of a program that SIGINT ended.
const INTERRUPTED: u8 = 130;

pub(super) fn run(arguments: &Arguments, options: &BmcArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let configured = config::read(&arguments.config)?.config.redfish;
    let (mut way, system) = way(&options.way, configured.as_ref(), &Live::this_machine())?;
    let system = options.system.clone().or(system);
    let interrupt = Interrupt::listen()?;
    let account = match options.way.bootstrap {
        true => Some(bootstrapped(arguments, &mut way, &interrupt)?),
        false => None,
    };
    let shown = shown(arguments, options, &way, system, &interrupt, destination.format());
    // Whatever came of the look, the account goes.
    let deleted = account.map_or(Ok(()), Bootstrap::delete);
    let shown = match (shown, &deleted) {
        (Err(error), Err(stays)) => {
            output::complain(&error);
            bail!("{stays:#}");
        }
        (Err(error), Ok(())) if error.is::<Stopped>() => {
            output::complain(&error);
            return Ok(ExitCode::from(INTERRUPTED));
        }
        (shown, _) => shown?,
    };
    destination.print(&shown)?;
    deleted.map(|()| ExitCode::SUCCESS)
}

/// An account that the controller makes for this look. It is told before it is there.
fn bootstrapped(arguments: &Arguments, way: &mut Way, interrupt: &Interrupt) -> Result<Bootstrap> {
    output::note(
        &arguments.output,
        "has the management controller make an account for this look, over IPMI, which is deleted at its end (--bootstrap) ...",
    );
    let mut device = Controller::open(Path::new("/"))?;
    Bootstrap::create(&mut device, way, interrupt.flag())
}

/// What the controller says, in the form that the options want.
fn shown(
    arguments: &Arguments,
    options: &BmcArguments,
    way: &Way,
    system: Option<String>,
    interrupt: &Interrupt,
    format: Option<Format>,
) -> Result<String> {
    let (bios, inventory) = (options.bios, options.inventory);
    let wanted = Wanted { system, bios, inventory, change: None };
    let client = way.client()?;
    let mut session = Session::new(&client).stopped_by(interrupt.flag());
    let (told, risen) =
        output::with_progress(&arguments.output, "asking the controller ...", || {
            let Some(time) = options.look else { return Ok((session.look(&wanted)?, None)) };
            let (told, risen) = session.look_for(&wanted, time, interrupt)?;
            anyhow::Ok((told, Some(risen)))
        })?;
    let address = client.address().to_string();
    let report = Report { address: &address, told: &told, second: risen.as_ref() };
    Ok(match format {
        None => json(&head(arguments), &report)?,
        Some(format) => document(&report).render(format),
    })
}

/// The controller that the options name, the configuration or the firmware; and its name of this machine. What a configuration holds of
/// one controller is not sent to another one.
fn way(
    options: &WayArguments,
    configured: Option<&Redfish>,
    machine: &dyn Source,
) -> Result<(Way, Option<String>)> {
    let given = credentials(
        options.token_file.as_deref(),
        options.user.as_deref().zip(options.password_file.as_deref()),
    )?;
    // The account of --bootstrap is one of the host interface alone.
    let configured = configured.filter(|_| !options.bootstrap);
    let (way, system) = match (&options.url, configured) {
        (Some(url), _) => (Way::to(url.clone()), None),
        (None, Some(configured)) => (of_config(configured)?, configured.system.clone()),
        (None, None) => (Way::to(in_band(machine)?.url()), None),
    };
    let way = way.given(given, options.fingerprint, options.ca.clone());
    Ok((Way { named: Named::Options(""), ..way }, system))
}

/// `None` where none are given.
pub(super) fn credentials(
    token: Option<&Path>,
    user: Option<(&str, &Path)>,
) -> Result<Option<Credentials>> {
    let of_token = token.map(Credentials::session);
    let of_user = || user.map(|(user, file)| Credentials::basic(user, file));
    of_token.or_else(of_user).transpose()
}

/// The way that a configuration describes.
pub(super) fn of_config(configured: &Redfish) -> Result<Way> {
    let path = |it: &Option<String>| it.as_ref().map(PathBuf::from);
    let (token, password) = (path(&configured.token_file), path(&configured.password_file));
    let given = credentials(token.as_deref(), configured.user.as_deref().zip(password.as_deref()))?;
    let parse =
        |it: &String| fingerprint(it).map_err(anyhow::Error::msg).context("redfish.fingerprint");
    Ok(Way {
        url: configured.url.clone(),
        credentials: given.unwrap_or_default(),
        fingerprint: configured.fingerprint.as_ref().map(parse).transpose()?,
        ca: path(&configured.ca),
        named: Named::Configuration("redfish"),
    })
}

/// This machine, with its controller where the configuration names it. Others are not contacted. What keeps the controller from being
/// asked, a file that only root can read, is told where somebody looks at what it says.
pub(super) fn with_controller(source: Box<dyn Source>, config: &Config) -> Box<dyn Source> {
    let Some(configured) = &config.redfish else { return source };
    let wanted = Wanted { system: configured.system.clone(), ..Wanted::default() };
    Box::new(WithRedfish::new(source, of_config(configured), wanted))
}
