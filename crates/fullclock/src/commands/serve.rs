//! `fullclock serve`: this machine in a browser.

use super::{bmc, fleet};
use crate::cli::Arguments;
use crate::config;
use crate::output;
use anyhow::{Context, Result, bail};
use clap::Args;
use engine::fleet::{Gathered, prometheus};
use engine::http::{Fingerprint, Trust};
use engine::interrupt::Interrupt;
use engine::results_folder::results_folder;
use engine::secret;
use facts::quantity;
use std::io::{IsTerminal, stderr, stdout};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Who is let in, and what is shown.
#[derive(Args, Debug)]
pub(crate) struct ServeArguments {
    /// The address to listen at. Where other machines reach it, every request has to show the token; nothing is encrypted: see
    /// the examples
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7077")]
    pub(crate) listen: SocketAddr,
    /// A name that browsers may call this machine by, in addition to its addresses and localhost; may be repeated
    #[arg(long = "host-name", value_name = "NAME", value_parser = host_name)]
    pub(crate) host_names: Vec<String>,
    /// The file that holds the token, made if it does not exist. Requests have to show the token as root, where other machines
    /// reach the server, and with this option [default: serve.token in /var/lib/fullclock as root, or in
    /// ~/.local/state/fullclock]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// As root, require no token on a loopback address: every user of this machine can then read all results with their
    /// commands, audits, and the names of the tasks that run
    #[arg(long, conflicts_with = "token_file")]
    pub(crate) open_to_local_users: bool,
    /// The time between two samples: 100ms, 1s, 5s
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub(crate) interval: Duration,
    /// Never probe how fast an idle CPU is, which /metrics shows as fullclock_speed_ratio and which takes 50 ms of one CPU in 500 s,
    /// or of three CPUs in 1500 s
    #[arg(long)]
    pub(crate) no_speed_probe: bool,
    /// Add series of each CPU to /metrics: some 15 for each
    #[arg(long)]
    pub(crate) per_cpu: bool,
    /// The folder of results [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    fleet: FleetArguments,
}

/// The engine that the Fleet page asks.
#[derive(Args, Debug, Default)]
struct FleetArguments {
    /// Show a page of the fleet, too, that this Prometheus, VictoriaMetrics, Mimir or Thanos knows: http://prometheus:9090. It is
    /// asked when somebody looks, at most once a minute
    #[arg(long, value_name = "URL")]
    prometheus: Option<String>,
    /// A file that holds a bearer token for it, or headers as lines `Name: value`: no page shows them
    #[arg(long, value_name = "FILE", requires = "prometheus")]
    prometheus_token_file: Option<PathBuf>,
    /// Trust certificates of the authorities in this PEM file for it, and no others
    #[arg(
        long,
        value_name = "FILE",
        requires = "prometheus",
        conflicts_with = "prometheus_fingerprint"
    )]
    prometheus_ca: Option<PathBuf>,
    /// Trust its certificate with this SHA-256, whoever issued it
    #[arg(long, value_name = "SHA256", requires = "prometheus", value_parser = bmc::fingerprint)]
    prometheus_fingerprint: Option<Fingerprint>,
    /// Only machines whose series have these labels, as their scrape adds them: 'cluster="a",rack=~"r1.*"'
    #[arg(long = "match", value_name = "SELECTOR", requires = "prometheus")]
    selector: Option<String>,
    /// Labels that peers have in common, in addition to the CPU model: rack,kernel
    #[arg(long, value_name = "LABEL", value_delimiter = ',', requires = "prometheus")]
    by: Vec<String>,
}

impl FleetArguments {
    /// The fleet that is asked; `None` where there is none.
    ///
    /// Errors: those of the client.
    fn fleet(&self, arguments: &Arguments) -> Result<Option<web::Fleet>> {
        let Some(url) = &self.prometheus else { return Ok(None) };
        let token = self.prometheus_token_file.as_deref();
        let trust = Trust::given(self.prometheus_fingerprint, self.prometheus_ca.as_deref());
        let client = fleet::client(arguments, url, token, trust, "prometheus-")?;
        let source = client.address().to_string();
        let (selector, by) = (self.selector.clone(), self.by.clone());
        let ask = move || {
            let selector = selector.as_deref();
            let question = prometheus::Question {
                selector,
                is_time_chosen: false,
                ..prometheus::Question::default()
            };
            let Gathered { machines, notes, .. } = prometheus::gather(&client, &question)?;
            let answer = fleet::judge(&machines, fleet::most_known(&machines), &by);
            Ok(web::Judged { machines, answer, notes })
        };
        Ok(Some(web::Fleet { source, ask: Box::new(ask) }))
    }
}

/// A browser draws no more often.
const SHORTEST: Duration = Duration::from_millis(100);

fn interval(text: &str) -> Result<Duration, String> {
    match quantity::duration(text)? {
        interval if interval < SHORTEST => {
            Err("a browser draws every 100ms at most; `fullclock watch` samples more often"
                .to_owned())
        }
        interval => Ok(interval),
    }
}

/// A name without a port, as others may call this machine.
fn host_name(text: &str) -> Result<String, String> {
    let is_name = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    if text.is_empty() || !text.chars().all(is_name) {
        return Err("expected a name without a port, as in db1.example".to_owned());
    }
    Ok(text.to_owned())
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock serve                         prints a link; as root it signs you in
  ssh -t -L 7077:127.0.0.1:7077 db1 fullclock serve
                                          the same of db1, encrypted
  fullclock serve --listen 0.0.0.0:7077 --host-name db1.example
                                          other machines sign in with the token
  printf 'Authorization: Bearer %s' \"$(cat /var/lib/fullclock/serve.token)\" |
    curl -H @- http://127.0.0.1:7077/metrics
                                          no token in the process list
  fullclock serve --prometheus http://prometheus:9090
                                          a page of the whole fleet, too";

/// The file of a server's token.
const TOKEN: &str = "serve.token";

pub(super) fn run(arguments: &Arguments, options: &ServeArguments) -> Result<ExitCode> {
    let token_file = token_file(options, host::ownership::is_root())?;
    // What is refused is refused before a token is made.
    let results = results_folder(options.results.as_deref())?;
    let config = config::with_advisories(&arguments.config)?;
    let fleet = options.fleet.fleet(arguments)?;
    let listener = TcpListener::bind(options.listen).with_context(|| {
        format!("cannot listen at {}; --listen takes another address", options.listen)
    })?;
    let token = token_file.as_deref().map(secret::read_or_make).transpose()?;
    let interrupt = Interrupt::listen()?;
    let served = web::Options {
        listener,
        host_names: options.host_names.clone(),
        token: token.clone(),
        interval: options.interval,
        results,
        config,
        speed_probe: !options.no_speed_probe,
        by_cpu: options.per_cpu,
        fleet,
    };
    web::serve(served, &interrupt, |at| {
        output::print(&format!("serving http://{at}/\n"))?;
        match (token, &token_file) {
            (Some(token), Some(file)) => say_token(arguments, options, at, &token, file),
            _ => Ok(()),
        }?;
        if options.open_to_local_users && host::ownership::is_root() {
            let text = "every user of this machine can read what root sees here: results with their commands, audits, \
                 names of tasks";
            output::note(&arguments.output, text);
        }
        if !options.listen.ip().is_loopback() {
            output::note(&arguments.output, "nothing is encrypted; `ssh -L` does that");
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The file of the token that requests have to show; `None` where they need none. What an ordinary user sees is no secret from
/// the machine's other users by itself; root's results and the names of its tasks are.
fn token_file(options: &ServeArguments, is_root: bool) -> Result<Option<PathBuf>> {
    let is_local = options.listen.ip().is_loopback();
    if options.open_to_local_users && !is_local {
        bail!(
            "--open-to-local-users: --listen {} is open to other machines, so the token is required",
            options.listen
        );
    }
    let is_open = is_local && (options.open_to_local_users || !is_root);
    match &options.token_file {
        None if is_open => Ok(None),
        chosen => secret::path(chosen.as_deref(), TOKEN).map(Some),
    }
}

/// Says where the token is, and to a person the link that has it; a journal or a file never gets the token.
fn say_token(
    arguments: &Arguments,
    options: &ServeArguments,
    at: SocketAddr,
    token: &str,
    file: &Path,
) -> Result<()> {
    let link = link(at, options.host_names.first().map(String::as_str), token);
    if stdout().is_terminal() {
        output::print(&format!("open {link}\n"))?;
    } else if stderr().is_terminal() {
        output::note(&arguments.output, &format!("open {link}"));
    }
    let text = format!(
        "every request needs the token in {}: in the header `Authorization` as a bearer, or as the password of any user name",
        file.display()
    );
    output::note(&arguments.output, &text);
    Ok(())
}

/// A link that signs a browser in. What is after the # stays in the browser (RFC 9110, 4.2.5).
fn link(at: SocketAddr, name: Option<&str>, token: &str) -> String {
    let here: IpAddr = match at.ip() {
        IpAddr::V4(it) if it.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(it) if it.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        it => it,
    };
    let port = at.port();
    let place = match name {
        Some(name) if at.ip().is_unspecified() => format!("{name}:{port}"),
        _ => SocketAddr::new(here, port).to_string(),
    };
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~".contains(&it);
    let shown =
        |it: u8| if is_plain(it) { char::from(it).to_string() } else { format!("%{it:02X}") };
    let token: String = token.bytes().map(shown).collect();
    format!("http://{place}/#token={token}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// The file of the token with these options.
    fn required(listen: &str, file: Option<&str>, is_open: bool, is_root: bool) -> String {
        let options = ServeArguments {
            listen: listen.parse().unwrap(),
            host_names: vec![],
            token_file: file.map(PathBuf::from),
            open_to_local_users: is_open,
            interval: Duration::from_secs(1),
            no_speed_probe: false,
            per_cpu: false,
            results: None,
            fleet: FleetArguments::default(),
        };
        match token_file(&options, is_root) {
            Ok(None) => "none".to_owned(),
            Ok(Some(file)) => file.file_name().unwrap().to_string_lossy().into_owned(),
            Err(_) => "refused".to_owned(),
        }
    }

    #[test]
    fn root_requires_a_token_from_local_users_unless_it_is_told_not_to() {
        for (listen, file, is_open, is_root, expected) in [
            ("127.0.0.1:7077", None, false, true, "serve.token"),
            ("[::1]:7077", None, false, true, "serve.token"),
            ("127.0.0.1:7077", None, true, true, "none"),
            ("127.0.0.1:7077", None, false, false, "none"),
            ("127.0.0.1:7077", None, true, false, "none"),
            ("127.0.0.1:7077", Some("own"), false, false, "own"),
            ("127.0.0.1:7077", Some("own"), false, true, "own"),
            ("0.0.0.0:7077", None, false, false, "serve.token"),
            ("10.0.0.1:7077", None, true, true, "refused"),
            ("[::]:7077", None, true, false, "refused"),
        ] {
            let found = required(listen, file, is_open, is_root);
            assert_eq!(found, expected, "{listen} {file:?} open {is_open} root {is_root}");
        }
    }

    #[test]
    fn a_link_leads_to_where_a_browser_finds_the_server() {
        for (at, name, expected) in [
            ("127.0.0.1:7077", None, "http://127.0.0.1:7077/#token=ab1"),
            ("127.0.0.1:7077", Some("db1"), "http://127.0.0.1:7077/#token=ab1"),
            ("0.0.0.0:7077", None, "http://127.0.0.1:7077/#token=ab1"),
            ("0.0.0.0:7077", Some("db1"), "http://db1:7077/#token=ab1"),
            ("[::]:7077", None, "http://[::1]:7077/#token=ab1"),
            ("10.0.0.7:7077", Some("db1"), "http://10.0.0.7:7077/#token=ab1"),
        ] {
            assert_eq!(link(at.parse().unwrap(), name, "ab1"), expected, "{at} {name:?}");
        }
        let odd = link("127.0.0.1:1".parse().unwrap(), None, "a+b&c=d#e%");
        assert_eq!(odd, "http://127.0.0.1:1/#token=a%2Bb%26c%3Dd%23e%25");
    }
}
