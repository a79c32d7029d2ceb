//! A fleet of three machines that a Prometheus scrapes: one of them runs at a quarter of the clock of its twins.
//!
//! Their time goes by their instructions, so that what they tell of their speed is the same on every machine that emulates them.
#![expect(clippy::disallowed_methods, reason = "starts Prometheus and connects to guests")]

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

const TOKEN: &str = "scraped";

/// Three boots at the same time, a first audit of each, and two scrapes, also next to a compiler.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often the fleet is asked about.
const EACH: Duration = Duration::from_secs(2);

/// A machine of the fleet, and where this machine reaches it.
struct Member {
    name: &'static str,
    boot: Boot,
    steps: Vec<Step>,
    serves: SocketAddr,
    leaves: SocketAddr,
}

impl Member {
    /// One whose instructions take 2^`shift` ns each, and whose CPUs have that governor.
    fn new(name: &'static str, shift: u8, governor: &str) -> Member {
        let [serves, leaves] = [free_address(), free_address()];
        let forward = |at: SocketAddr, to| Forward { from: at.port(), to };
        let forwards = vec![forward(serves, SERVE), forward(leaves, LEAVE)];
        let serve = format!(
            "ADDRESS={GUEST_ADDRESS} SERVE={SERVE} LEAVE={LEAVE} TOKEN={TOKEN}\n{}",
            include_str!("steps/served_until_left.sh")
        );
        let governors = format!("for cpu in 0 1; do governor $cpu {governor}; done\n{serve}");
        let steps = vec![Step::new("serve", &governors)];
        Member { name, boot: machines::clocked(shift, forwards), steps, serves, leaves }
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

    /// What `fullclock fleet` says once it names a machine with what its peers lack, and all three machines are there; what it said last
    /// where a guest ended, or time was up.
    fn asked_until_a_suspect_has_findings(
        &self,
        n_ended: &dyn Fn() -> usize,
    ) -> Result<Value, String> {
        let began = Instant::now();
        let mut last = "nothing was asked".to_owned();
        while n_ended() == 0 && began.elapsed() < PATIENCE {
            let url = format!("http://{}", self.address);
            let output = Command::new(program())
                .args(["fleet", "--json", "--figure", "speed", "--prometheus", &url])
                .output()
                .unwrap();
            if let Ok(said) = serde_json::from_slice::<Value>(&output.stdout) {
                let contrasts = said["suspects"][0]["contrasts"].as_array();
                let mut contrasts = contrasts.into_iter().flatten();
                if said["n_machines"] == 3 && contrasts.any(|it| it["kind"] == "finding") {
                    return Ok(said);
                }
            }
            last = format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            sleep(EACH);
        }
        Err(last)
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

/// Three emulated machines at the same time, each with an audit, take longer than each run should.
mod sweep {
    use super::*;

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn throttled_machine_is_named_with_its_finding_by_what_a_prometheus_scraped() {
        let fleet = [
            Member::new("twin-1", 0, "performance"),
            Member::new("twin-2", 0, "performance"),
            Member::new("throttled", 2, "powersave"),
        ];
        let machines = fleet.each_ref().map(|it| (it.boot.clone(), it.steps.clone()));
        let (said, ended) = bench(&[]).run_together(&machines, |n_ended| {
            let folder = tempfile::tempdir().unwrap();
            let prometheus = Prometheus::over(&fleet, folder.path());
            let said = prometheus.asked_until_a_suspect_has_findings(n_ended);
            leave(&fleet, n_ended);
            said
        });
        for transcript in ended {
            let transcript = transcript.unwrap_or_else(|error| panic!("{said:?} {error:?}"));
            transcript.step("serve").unwrap_or_else(|error| panic!("{said:?} {error:#}"));
        }
        let said = said.unwrap_or_else(|said| panic!("{said}"));
        let suspects = said["suspects"].as_array().unwrap();
        let [suspect] = &suspects[..] else { panic!("{said:#}") };
        assert_eq!(suspect["machine"], "throttled", "{said:#}");
        let lost = suspect["lost"].as_f64().unwrap();
        assert!((lost - 0.75).abs() < 0.02, "a quarter of the clock: {suspect:#}");
        let contrasts = suspect["contrasts"].as_array().unwrap();
        let found = contrasts.iter().find(|it| it["name"] == "slow-governor");
        let found = found.unwrap_or_else(|| panic!("{suspect:#}"));
        let counts = ["kind", "n_inside", "n_outside", "of_outside"].map(|it| found[it].clone());
        assert_eq!(counts, [Value::from("finding"), 1.into(), 0.into(), 2.into()], "{suspect:#}");
        assert_eq!((&said["n_machines"], &said["groups"][0]["n_machines"]), (&3.into(), &3.into()));
    }
}
