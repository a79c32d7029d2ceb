//! `fullclock serve` asked by programs of others: what its description promises, and figures as Prometheus reads them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::net::TcpStream;
use std::ops::Add as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rules::losses::LOSSES;
use serde_json::Value;
use testbench::packages::Package;

use crate::cargo::{self, cargo, program, target, workspace};
use crate::venv;

/// What reads the figures and tests the alerts.
pub(crate) const PACKAGES: &[Package] = &[
    Package {
        name: "prometheus",
        purpose: "reads the figures of `fullclock serve`",
        witness: "/usr/bin/promtool",
    },
    Package {
        name: "jsonnet",
        purpose: "renders rules and boards from their source",
        witness: "/usr/bin/jsonnet",
    },
];

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
    let file = folder.path().join("fullclock.prom");
    let mut once = program(target().join("debug/fullclock"), &["metrics", "--quiet", "--textfile"]);
    once.arg(&file);
    cargo::run(once)?;
    check_figures(&fs::read_to_string(&file).context("no file was written")?)?;
    against_the_ledger(folder.path())?;
    check_mixin()
}

/// The rules, alerts and boards of contrib/mixin: that what is rendered is what their source makes, and what the rules' tests say.
fn check_mixin() -> Result<()> {
    let mixin = workspace().join("contrib/mixin");
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let mut render = program("jsonnet", &["-S", "-m"]);
    render.arg(folder.path()).arg("main.jsonnet").current_dir(&mixin).stdout(Stdio::null());
    cargo::run(render)?;
    for made in fs::read_dir(folder.path())? {
        let name = made?.file_name();
        let [made, kept] = [folder.path(), &mixin.join("rendered")].map(|it| it.join(&name));
        let kept = fs::read(&kept).with_context(|| format!("there is no {}", kept.display()))?;
        ensure!(
            fs::read(made)? == kept,
            "rendered/{} is not what main.jsonnet makes",
            name.display()
        );
    }
    for arguments in [
        &["check", "rules", "rendered/rules.yml", "rendered/alerts.yml"][..],
        &["test", "rules", "rules_test.yml"],
    ] {
        let mut promtool = program("promtool", arguments);
        promtool.current_dir(&mixin);
        cargo::run(promtool)?;
    }
    Ok(())
}

/// How long counters are compared with a ledger.
const COMPARED: Duration = Duration::from_secs(60);

/// A line of the counters and the same of a ledger differ by at most this share of the capacity.
const CLOSE: f64 = 0.005;

/// The same of a line that each of the two knows by probes of its own.
const CLOSE_OF_PROBES: f64 = 0.015;

/// How busy time splits into these is up to probes of the clock.
const PROBED: [&str; 2] = ["slow-clock", "useful"];

/// The time between two samples of the server that is compared, and between two looks at its counters.
const SAMPLED: Duration = Duration::from_secs(1);

/// Compares what the counters of a server gained with a ledger of the same time.
fn against_the_ledger(results: &Path) -> Result<()> {
    let server = Server::start_at(results, "1s")?;
    server.figures_with_a_ledger("text/plain")?;
    let _load = Ended(program("yes", &[]).stdout(Stdio::null()).spawn().context("cannot run yes")?);
    let Beside { ledger, before, after } = Beside::a_ledger(&server)?;
    let gained = |line: &str| {
        let of = |figures: &str| {
            let name = format!("fullclock_ledger_cpu_seconds_total{{line=\"{line}\"}} ");
            figures.lines().find_map(|it| it.strip_prefix(&name)?.parse::<f64>().ok())
        };
        // A line has no series before it is first known, and then what it has since.
        Some(of(&after)? - of(&before).unwrap_or(0.0))
    };
    let capacity = gained("capacity").context("the counters have no capacity")?;
    let parts: f64 = LOSSES.iter().filter_map(|it| gained(it.id)).sum();
    let rest = gained("unexplained").unwrap_or(0.0) - gained("overlap").unwrap_or(0.0);
    let off = (parts + rest - capacity).abs() / capacity;
    ensure!(off < 1e-6, "the lines sum to {} of {capacity} s", parts + rest);
    let held = |id: &str| share_in(&ledger, id);
    // There are two of this program: what one of them calls its own time, the other calls useful. So is to one what only the other knows:
    // a ledger finds out what an interrupt costs before it begins, and a server does not.
    let (useful, others): (Vec<&str>, Vec<&str>) = LOSSES.iter().map(|it| it.id).partition(|id| {
        ["useful", "measuring"].contains(id) || gained(id).is_some() != held(id).is_some()
    });
    let mut groups: Vec<Vec<&str>> = others.into_iter().map(|id| vec![id]).collect();
    groups.extend([[&PROBED[..1], &useful].concat(), useful]);
    for lines in groups {
        let counted = lines.iter().filter_map(|id| gained(id)).reduce(f64::add);
        let share = lines.iter().filter_map(|id| held(id)).reduce(f64::add);
        let (Some(counted), Some(share)) = (counted, share) else { continue };
        let is_probed = PROBED.iter().filter(|it| lines.contains(it)).count() == 1;
        let close = if is_probed { CLOSE_OF_PROBES } else { CLOSE };
        let (counted, id) = (counted / capacity, lines.join(" and "));
        println!("{id}: {:.2} % by counters, {:.2} % by a ledger", counted * 100.0, share * 100.0);
        ensure!(
            (counted - share).abs() <= close,
            "{id} is {counted} by counters, {share} by a ledger"
        );
    }
    Ok(())
}

/// A ledger, and the counters of a server at two moments within its time.
struct Beside {
    ledger: Value,
    before: String,
    after: String,
}

impl Beside {
    /// Makes a ledger, and looks at the counters meanwhile.
    ///
    /// A ledger prepares itself first, and audits at its end: both take what runs longer than it measures, so that counters of the time in
    /// between are of no other time than the ledger's. The load is steady, so that the share of a part of it is that of all.
    fn a_ledger(server: &Server) -> Result<Beside> {
        let seconds = format!("{}s", COMPARED.as_secs());
        // A pipe would hold up what nobody reads before it ends.
        let mut said = tempfile::tempfile().context("cannot make a file for a ledger")?;
        let mut ledger =
            program(target().join("debug/fullclock"), &["ledger", "--json", "-d", &seconds]);
        ledger.args(["--trace", "never"]).stdout(said.try_clone()?).stderr(Stdio::null());
        let began = Instant::now();
        let mut running = Ended(ledger.spawn().context("cannot run a ledger")?);
        let mut looks = Vec::new();
        while running.0.try_wait().context("cannot wait for a ledger")?.is_none() {
            looks.push((began.elapsed(), server.figures("text/plain")?));
            thread::sleep(SAMPLED);
        }
        let took = began.elapsed();
        said.rewind()?;
        let ledger = serde_json::from_reader(&said).context("the ledger is no JSON")?;
        let edge = took.saturating_sub(COMPARED);
        // What a server shows is up to a sample old.
        let from = edge + 2 * SAMPLED;
        let within = |(at, _): &(Duration, String)| *at >= from && *at + edge <= took;
        looks.retain(within);
        let [(first, before), .., (last, after)] = &looks[..] else {
            bail!("a ledger of {seconds} took {took:?}");
        };
        ensure!(*last - *first > COMPARED / 2, "a ledger of {seconds} took {took:?}");
        Ok(Beside { ledger, before: before.clone(), after: after.clone() })
    }
}

/// The share of a line in a ledger; `None` where any part of it is unknown.
fn share_in(ledger: &Value, line: &str) -> Option<f64> {
    let lines = ledger["lines"].as_array()?;
    lines.iter().filter(|it| it["loss"] == line).map(|it| it["share"].as_f64()).sum()
}

/// A process that is ended when it is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
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
        Server::start_at(results, "100ms")
    }

    fn start_at(results: &Path, interval: &str) -> Result<Server> {
        let arguments =
            ["serve", "--listen", "127.0.0.1:0", "-i", interval, "--open-to-local-users"];
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
            if figures.contains("fullclock_ledger_cpu_seconds_total{") {
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
