//! `fullclock serve`.

use clap::Args;
use facts::quantity;
use std::net::SocketAddr;
use std::path::PathBuf;
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
    /// The folder of results [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
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
                                          no token in the process list";
