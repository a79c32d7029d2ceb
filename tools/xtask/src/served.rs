//! `fullclock serve` asked by programs of others: what its description promises, and figures as Prometheus reads them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use testbench::packages::Package;

use crate::cargo::{self, cargo, program, target};
use crate::venv;

/// What reads the figures and tests the alerts.
pub(crate) const PACKAGES: &[Package] = &[Package {
    name: "prometheus",
    purpose: "reads the figures of `fullclock serve`",
    witness: "/usr/bin/promtool",
}];

/// What asks everything.
pub(crate) const SWEEP_PACKAGES: &[Package] = venv::PACKAGES;

/// It has the answers checked by the description; another version asks other things.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// Of the server that is asked.
const INTERVAL: Duration = Duration::from_millis(100);

/// A server has measured an interval by then, also beside a compiler.
const PATIENCE: Duration = Duration::from_secs(60);

/// Streams never end, and a stage does.
const STREAMS: &str = "/now$|/intervals$";

/// `cargo xtask served`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "'cargo xtask served' takes no arguments");
    cargo::run(cargo(&["build", "--package", "fullclock"]))?;
    check_with_prometheus()?;
    ask_everything()?;
    Ok(ExitCode::SUCCESS)
}

/// Has Prometheus read the figures of a server and test the alerts; the program was built.
pub(crate) fn check_with_prometheus() -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder for results")?;
    let server = Server::start(folder.path())?;
    for accepted in ["text/plain", "application/openmetrics-text"] {
        let figures = server.figures_with_a_ledger(accepted)?;
        if accepted == "text/plain" {
            check_figures(&figures)?;
        }
    }
    cargo::run(program("promtool", &["check", "rules", "contrib/prometheus/alerts.yml"]))?;
    cargo::run(program("promtool", &["test", "rules", "contrib/prometheus/alerts_test.yml"]))
}

/// Asks a server everything that its description allows; the program was built.
pub(crate) fn ask_everything() -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder for results")?;
    let nodes = ["race", "--node", "a=embedded", "--node", "b=embedded"];
    let options = ["-d", "3s", "-i", "100ms", "--quiet"];
    cargo::run(fullclock(&[&nodes[..], &options].concat(), folder.path()))?;
    let server = Server::start(folder.path())?;
    let schemathesis = venv::program(SCHEMATHESIS, "schemathesis")?;
    let description = format!("http://{}/api/v1/openapi.json", server.address);
    let options = ["run", &description, "--checks", "all", "--exclude-path-regex", STREAMS];
    let limits = ["--max-examples", "50", "--seed", "1", "--no-color"];
    let mut asking = program(schemathesis, &[&options[..], &limits].concat());
    // It keeps what it found where it is run.
    asking.current_dir(folder.path());
    cargo::run(asking)
}

fn fullclock(arguments: &[&str], results: &Path) -> Command {
    let mut command = program(target().join("debug/fullclock"), arguments);
    command.arg("--results").arg(results).stdout(Stdio::null());
    command
}

/// A server that ends when it is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(results: &Path) -> Result<Server> {
        let arguments =
            ["serve", "--listen", "127.0.0.1:0", "-i", "100ms", "--open-to-local-users"];
        let mut command = fullclock(&arguments, results);
        let child = command.stdout(Stdio::piped()).spawn().context("cannot start to serve")?;
        let mut server = Server { child, address: String::new() };
        let mut line = String::new();
        let stdout = server.child.stdout.take().context("nothing is printed")?;
        BufReader::new(stdout).read_line(&mut line).context("nothing is printed")?;
        let address = line.trim().strip_prefix("serving http://");
        let address = address.and_then(|it| it.strip_suffix('/'));
        server.address = address.with_context(|| format!("it says {line:?}"))?.to_owned();
        Ok(server)
    }

    /// What `/metrics` answers once the first interval is over.
    fn figures_with_a_ledger(&self, accepted: &str) -> Result<String> {
        let began = Instant::now();
        loop {
            let figures = self.figures(accepted)?;
            if figures.contains("fullclock_ledger_ratio{") {
                return Ok(figures);
            }
            ensure!(began.elapsed() < PATIENCE, "there is no ledger in\n{figures}");
            thread::sleep(INTERVAL);
        }
    }

    /// What `/metrics` answers to who accepts that.
    fn figures(&self, accepted: &str) -> Result<String> {
        let mut stream = TcpStream::connect(&self.address).context("cannot connect")?;
        let host = &self.address;
        write!(stream, "GET /metrics HTTP/1.0\r\nHost: {host}\r\nAccept: {accepted}\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("an answer without a body")?;
        ensure!(head.contains(" 200 ") && head.contains(accepted), "it answers {head}");
        Ok(body.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Whether Prometheus likes the names and the texts.
fn check_figures(figures: &str) -> Result<()> {
    let mut command = program("promtool", &["check", "metrics"]);
    let mut child = command.stdin(Stdio::piped()).spawn().context("cannot run promtool")?;
    let stdin = child.stdin.take().context("promtool has no input")?;
    { stdin }.write_all(figures.as_bytes())?;
    ensure!(child.wait()?.success(), "promtool complains of the figures");
    Ok(())
}
