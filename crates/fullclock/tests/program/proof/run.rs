//! A client's run in a server, recorded and measured by the program, with the sampler next to it.

use super::sampler::{Sampler, Sums, Times, now, stat};
use super::servers::{Product, Server};
use crate::support::{found, fullclock, is_of, printed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// What happens in a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) seconds: u32,
    /// Whether the ledgers are traced.
    pub(super) is_traced: bool,
    /// When an intruder begins and ends, in seconds of the run.
    pub(super) intruder: Option<(u32, u32)>,
}

/// What the program and the sampler say of a run.
pub(super) struct Run {
    pub(super) pieces: Vec<Piece>,
    /// The ledger of the client, as JSON.
    pub(super) ledger: Value,
    /// What the client ran until it ended, by the kernel's word to its parent, in seconds.
    pub(super) client_ran: f64,
    /// That of the server's sessions, over some seconds before the intruder came, and when its program ran.
    pub(super) sessions: Value,
    pub(super) sums: Sums,
    /// When the intruder began and ended, in seconds since 1970.
    pub(super) intruder: Option<(f64, f64)>,
    /// pidstat's sums by program over some seconds, as a share of the CPUs' time; `None` where it is not installed.
    pub(super) pidstat: Option<Pidstat>,
}

/// What pidstat said, and of which time.
pub(super) struct Pidstat {
    pub(super) from: f64,
    pub(super) to: f64,
    /// In seconds, by the program's name.
    pub(super) run: BTreeMap<String, f64>,
}

/// A second of the recording.
pub(super) struct Piece {
    pub(super) from: f64,
    pub(super) to: f64,
    /// A share of the CPUs' time.
    pub(super) idle: f64,
    pub(super) tasks: BTreeMap<String, Times>,
    /// Of those who are neither the client's nor a server's, as shares of the CPUs' time.
    pub(super) others: BTreeMap<String, f64>,
}

pub(super) fn n_cpus() -> f64 {
    std::thread::available_parallelism().unwrap().get() as f64
}

/// How long `ledger --pid` and pidstat measure, in seconds, from the first second on.
const BESIDES: u32 = 3;

/// Runs the client in `server`: `watch` records it, `ledger` measures the client and, for some seconds, the server's sessions.
pub(super) fn run(server: &Server, product: Product, plan: Plan, tape: &Path) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let trace = if plan.is_traced { "always" } else { "never" };
    let ledger = folder.path().join("ledger.json");
    let ledger_file = ledger.to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_fullclock");
    let watch =
        ["watch", "--csv", "--record", tape.to_str().unwrap(), "--client", product.client()];
    let measured = [program, "ledger", "--json", "--output", ledger_file, "--trace", trace, "--"];
    let reaped = folder.path().join("reaped");
    let parent = ["sh", "-c", "\"$@\" && cat /proc/$$/stat >\"$0\"", reaped.to_str().unwrap()];
    let client = server.client(plan.seconds);
    let client: Vec<&str> = parent.into_iter().chain(client.iter().map(String::as_str)).collect();

    let sampler = Sampler::start();
    sleep(Duration::from_millis(500));
    let mut watch = traceable(&[&watch[..], &["--"], &measured, &client].concat(), plan.is_traced);
    let talk = folder.path().join("talk");
    let mut watch =
        watch.stdout(Stdio::null()).stderr(File::create(&talk).unwrap()).spawn().unwrap();
    // Sessions that work; the client's of a server that serves them by one process.
    found(|| {
        (is_running(product.client()) && server.sessions().len() >= product.n_sessions())
            .then_some(())
    });
    let began = now();
    sleep(Duration::from_secs(1));
    let pidstat = Command::new("pidstat")
        .args(["-u", &BESIDES.to_string(), "1"])
        .env("LC_ALL", "C")
        .stdout(Stdio::piped())
        .spawn();
    let pidstat_from = now();
    let sessions = sessions(server, trace, plan.is_traced);
    let pidstat = pidstat.ok().map(|it| read_pidstat(it, pidstat_from));
    let intruder = plan.intruder.map(|at| intrude(began, at));
    let status = watch.wait().unwrap();
    let said = std::fs::read_to_string(&talk).unwrap();
    assert!(status.success(), "{said}");
    // What has ended is in its parent's time at the next sample.
    sleep(Duration::from_millis(500));
    let sums = sampler.finish();

    let ledger: Value = serde_json::from_str(&std::fs::read_to_string(&ledger).unwrap()).unwrap();
    is_of(include_str!("../../../../../schemas/ledger-2.json"), &ledger);
    let client_ran = stat(&std::fs::read_to_string(&reaped).unwrap()).unwrap().children;
    Run { pieces: pieces(tape, began), ledger, client_ran, sessions, sums, intruder, pidstat }
}

impl Product {
    fn n_sessions(self) -> usize {
        match self {
            Product::Postgresql => 4,
            Product::Mariadb => 1,
        }
    }
}

/// The program with these arguments, with tracefs where it is to trace.
pub(super) fn traceable(arguments: &[&str], is_traced: bool) -> Command {
    if !is_traced {
        return fullclock(arguments);
    }
    let mut command = Command::new("unshare");
    let script = "mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing; exec \"$@\"";
    command.args(["-m", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_fullclock")]);
    command.args(arguments).stdin(Stdio::null());
    command
}

/// The ledger of the server's sessions for some seconds.
fn sessions(server: &Server, trace: &str, is_traced: bool) -> Value {
    let duration = format!("{BESIDES}s");
    let mut arguments = vec!["ledger", "--json", "--trace", trace, "-d", &duration];
    let pids: Vec<String> = server.sessions().iter().map(u32::to_string).collect();
    pids.iter().for_each(|pid| arguments.extend(["--pid", pid]));
    let from = now();
    let output = traceable(&arguments, is_traced).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut value: Value = serde_json::from_slice(&output.stdout).unwrap();
    value["from"] = from.into();
    value["to"] = now().into();
    value
}

/// A compressor from one second of the run to another; when it ran.
fn intrude(began: f64, (from, to): (u32, u32)) -> (f64, f64) {
    let sleep_until = |moment: f64| sleep(Duration::from_secs_f64((moment - now()).max(0.0)));
    sleep_until(began + f64::from(from));
    let started = now();
    let mut gzip = Command::new("gzip");
    gzip.args(["-9", "-c", "/dev/zero"]).stdout(Stdio::null());
    let mut gzip = gzip.spawn().unwrap();
    sleep_until(began + f64::from(to));
    gzip.kill().unwrap();
    gzip.wait().unwrap();
    (started, now())
}

fn is_running(program: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut names = processes.filter_map(|it| std::fs::read_to_string(it.path().join("comm")).ok());
    names.any(|it| it.trim_end() == program)
}

/// The seconds of a recording: each with what ran by name.
pub(super) fn pieces(tape: &Path, near: f64) -> Vec<Piece> {
    let text = printed(&["ledger", "--from", tape.to_str().unwrap(), "--by", "1s", "--json"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    is_of(include_str!("../../../../../schemas/ledger-by-1.json"), &value);
    let pieces = value["pieces"].as_array().unwrap();
    pieces.iter().map(|it| piece(it, near)).collect()
}

fn piece(value: &Value, near: f64) -> Piece {
    let from = moment(value["from"].as_str().unwrap(), near);
    let (mut tasks, mut others) = (BTreeMap::<String, Times>::new(), BTreeMap::new());
    let listed = value["tasks"].as_array();
    for task in listed.unwrap_or_else(|| panic!("no tasks: {value}")) {
        let name = task["name"].as_str().unwrap().trim_end_matches(" (ended)");
        // All threads of MariaDB are one role of the sampler's.
        let role = match task["product"].as_str() {
            Some("MariaDB") => "MariaDB".to_owned(),
            Some(product) => format!("{product} {name}"),
            None => name.to_owned(),
        };
        let number = |of: &str| task[of].as_f64().unwrap();
        let sum = tasks.entry(role.clone()).or_default();
        sum.run += number("run_s");
        sum.wait += number("wait_s");
        if task["who"] == "other" {
            *others.entry(role).or_default() += number("share");
        }
    }
    let length = value["length_s"].as_f64().unwrap();
    Piece { from, to: from + length, idle: value["idle"].as_f64().unwrap(), tasks, others }
}

/// Seconds since 1970 of a time of day, on the day of a moment that is less than half a day off.
fn moment(text: &str, near: f64) -> f64 {
    const DAY: f64 = 86_400.0;
    let time = text.split_once('T').unwrap().1.trim_end_matches('Z');
    let of_day = time.split(':').fold(0.0, |sum, it| 60.0 * sum + it.parse::<f64>().unwrap());
    let here = near % DAY;
    let difference = (of_day - here + DAY / 2.0).rem_euclid(DAY) - DAY / 2.0;
    near + difference
}

/// Waits for pidstat, which sums up from its start on; its first columns are the time, the user's number and the process's.
fn read_pidstat(child: Child, from: f64) -> Pidstat {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut run = BTreeMap::<String, f64>::new();
    for line in text.lines().filter(|it| it.starts_with("Average:")) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // Average: UID PID %usr %system %guest %wait %CPU CPU Command
        if let [_, _, _, .., percent, _, name] = fields[..]
            && let Ok(percent) = percent.parse::<f64>()
        {
            *run.entry(name.to_owned()).or_default() += percent / 100.0 * f64::from(BESIDES);
        }
    }
    Pidstat { from, to: from + f64::from(BESIDES), run }
}

/// Where a recording is kept.
pub(super) fn tape(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(format!("{name}.tape"))
}
