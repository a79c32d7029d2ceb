//! A fleet of three machines that a Prometheus scrapes: one of them runs at a quarter of the clock of its twins.
//!
//! Their time goes by their instructions, so that what they tell of their speed is the same on every machine that emulates them.
#![expect(clippy::disallowed_methods, reason = "starts Prometheus and connects to guests")]
#![expect(clippy::unwrap_used, reason = "parts of a test, which panics with the reason")]

use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use testbench::{Boot, Forward, GUEST_ADDRESS, Step, machines};

use crate::boots::{bench, program};

/// The guests' ports: of their metrics, and of a connection that ends their step.
const SERVE: u16 = 7077;
const LEAVE: u16 = 7078;

/// Nanoseconds of an instruction, as a power of two: four, and sixteen where a machine is throttled.
const FULL: u8 = 2;
const QUARTER: u8 = 4;

const TOKEN: &str = "scraped";

/// Three boots at the same time, a first audit of each, and two scrapes, also next to a compiler.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often it is looked whether all were scraped.
const EACH: Duration = Duration::from_secs(2);

/// How many machines it has the clock and an audit of.
const KNOWN: &str = "count(fullclock_clock_ratio{quantile=\"0.5\"} \
    and on (instance) sum by (instance) (fullclock_unknown_checks))";

/// A machine of the fleet, and where this machine reaches it.
struct Member {
    name: &'static str,
    boot: Boot,
    steps: Vec<Step>,
    serves: SocketAddr,
    leaves: SocketAddr,
}

impl Member {
    /// One of this speed, whose CPU has that governor.
    fn new(name: &'static str, speed: u8, governor: &str) -> Member {
        let [serves, leaves] = [free_address(), free_address()];
        let forward = |at: SocketAddr, to| Forward { from: at.port(), to };
        let forwards = vec![forward(serves, SERVE), forward(leaves, LEAVE)];
        let serve = format!(
            "ADDRESS={GUEST_ADDRESS} SERVE={SERVE} LEAVE={LEAVE} TOKEN={TOKEN}\n{}",
            include_str!("steps/served_until_left.sh")
        );
        let script = format!("governor 0 {governor}\n{serve}");
        let steps = vec![Step::new("serve", &script)];
        Member { name, boot: machines::clocked(speed, forwards), steps, serves, leaves }
    }
}

/// Ends the step of each machine that is not off yet.
fn leave(fleet: &[Member], n_ended: &dyn Fn() -> usize) {
    let began = Instant::now();
    // The emulator accepts connections before the guest listens: the guest then ends nothing.
    while n_ended() < fleet.len() && began.elapsed() < PATIENCE {
        for member in fleet {
            drop(TcpStream::connect_timeout(&member.leaves, EACH));
        }
        sleep(EACH);
    }
}

/// A Prometheus that ends when it is dropped.
struct Prometheus {
    child: Child,
    address: SocketAddr,
}

impl Prometheus {
    /// One that scrapes these machines.
    fn over(fleet: &[Member], folder: &Path) -> Prometheus {
        let mut config = format!(
            "scrape_configs:\n- job_name: fullclock\n  scrape_interval: 15s\n  scrape_timeout: 15s\n  authorization:\n    \
             credentials: {TOKEN}\n  static_configs:\n"
        );
        for Member { name, serves, .. } in fleet {
            // A label `instance` of the target is kept: without it the address would be the name.
            writeln!(config, "  - targets: ['{serves}']\n    labels: {{instance: {name}}}")
                .unwrap();
        }
        let file = folder.join("prometheus.yml");
        fs::write(&file, config).unwrap();
        let address = free_address();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Prometheus { child, address }
    }

    /// Waits until it has the clock and an audit of so many machines.
    ///
    /// Errors: a guest ended before, or it takes too long; with what it has.
    fn wait_for(&self, n_machines: usize, n_ended: &dyn Fn() -> usize) -> Result<(), String> {
        let began = Instant::now();
        let answer = format!("{{}} => {n_machines} @");
        loop {
            let known = self.asked(KNOWN);
            if known.contains(&answer) {
                return Ok(());
            }
            if n_ended() > 0 || began.elapsed() >= PATIENCE {
                let [up, probed, audited] =
                    ["up", "fullclock_clock_ratio", "fullclock_unknown_checks"]
                        .map(|it| self.asked(it));
                return Err(format!("{}{known}{up}{probed}{audited}", n_ended()));
            }
            sleep(EACH);
        }
    }

    /// What a query answers, in the words of its own tool.
    fn asked(&self, query: &str) -> String {
        let url = format!("http://{}", self.address);
        let output =
            Command::new("promtool").args(["query", "instant", &url, query]).output().unwrap();
        [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat()
    }

    /// What `fullclock fleet` says of its machines.
    fn judged(&self) -> Value {
        let url = format!("http://{}", self.address);
        let arguments = ["fleet", "--json", "--figure", "clock", "--prometheus", &url];
        let output = Command::new(program()).args(arguments).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// An address that nothing listens at; where another program takes it before the emulator does, that does not start.
fn free_address() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
}

/// Boots these machines at the same time, has them scraped, and asks about them.
fn judged(fleet: &[Member]) -> Value {
    let machines: Vec<_> = fleet.iter().map(|it| (it.boot.clone(), it.steps.clone())).collect();
    let (judged, ended) = bench(&[]).run_together(&machines, |n_ended| {
        let folder = tempfile::tempdir().unwrap();
        let prometheus = Prometheus::over(fleet, folder.path());
        let judged = prometheus.wait_for(fleet.len(), n_ended).map(|()| prometheus.judged());
        leave(fleet, n_ended);
        judged
    });
    for transcript in ended {
        let transcript = transcript.unwrap_or_else(|error| panic!("{judged:?} {error:?}"));
        transcript.step("serve").unwrap_or_else(|error| panic!("{judged:?} {error:#}"));
    }
    let judged = judged.unwrap_or_else(|known| panic!("{known}"));
    assert_eq!((&judged["n_machines"], &judged["n_audited"]), (&3.into(), &3.into()), "{judged:#}");
    assert_eq!(judged["groups"][0]["n_machines"], 3, "{judged:#}");
    judged
}

/// Three machines and a Prometheus take a minute.
mod sweep {
    use super::*;

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn throttled_machine_is_named_with_its_finding_by_what_a_prometheus_scraped() {
        let judged = judged(&[
            Member::new("twin-1", FULL, "performance"),
            Member::new("twin-2", FULL, "performance"),
            Member::new("throttled", QUARTER, "powersave"),
        ]);
        let suspects = judged["suspects"].as_array().unwrap();
        let [suspect] = &suspects[..] else { panic!("{judged:#}") };
        assert_eq!(suspect["machine"], "throttled", "{judged:#}");
        let lost = suspect["lost"].as_f64().unwrap();
        assert!((lost - 0.75).abs() < 0.02, "a quarter of the clock: {suspect:#}");
        let contrasts = suspect["contrasts"].as_array().unwrap();
        let found = contrasts.iter().find(|it| it["name"] == "slow-governor");
        let found = found.unwrap_or_else(|| panic!("{suspect:#}"));
        let counts = ["kind", "n_inside", "n_outside", "of_outside"].map(|it| found[it].clone());
        assert_eq!(counts, [Value::from("finding"), 1.into(), 0.into(), 2.into()], "{suspect:#}");
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn of_three_machines_of_the_same_speed_none_is_named() {
        let judged = judged(&[
            Member::new("twin-1", FULL, "performance"),
            Member::new("twin-2", FULL, "performance"),
            Member::new("twin-3", FULL, "powersave"),
        ]);
        let named = ["suspects", "slow"].map(|it| judged[it].as_array().unwrap().len());
        assert_eq!(named, [0, 0], "{judged:#}");
    }
}
