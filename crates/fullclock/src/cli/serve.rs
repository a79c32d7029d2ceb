//! `fullclock serve`.

use crate::duration;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Who is let in, and what is shown.
#[derive(Args, Debug)]
pub(crate) struct ServeArguments {
    /// The address to listen at; beyond this machine everybody has to know the token, and nothing is encrypted: see the examples
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7077")]
    pub(crate) listen: SocketAddr,
    /// A name that browsers may call this machine by, besides its addresses and localhost; may be repeated
    #[arg(long = "host-name", value_name = "NAME", value_parser = host_name)]
    pub(crate) host_names: Vec<String>,
    /// The file that holds the token, made where there is none; given, this machine has to know it too [default: serve.token in
    /// /var/lib/fullclock as root, or in ~/.local/state/fullclock]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
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
    match duration::parse(text)? {
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

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock serve                         then open http://127.0.0.1:7077/
  ssh -t -L 7077:127.0.0.1:7077 db1 fullclock serve
                                          the same of db1, encrypted
  fullclock serve --listen 0.0.0.0:7077 --host-name db1.example
                                          for others: the password is the token
  curl -u :$(cat serve.token) http://db1.example:7077/metrics
  curl -s http://127.0.0.1:7077/metrics | promtool check metrics";
