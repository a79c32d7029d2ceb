//! Real engines: the same machines in Prometheus and in VictoriaMetrics are the same machines here.
//!
//! `cargo xtask test` and `sweep` run it where both are installed.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "starts engines, lays out their data, and prints what it measured"
)]

mod captures;
mod generated;

use engine::fleet::Gathered;
use engine::fleet::prometheus::{Question, gather};
use engine::http::{Address, Client, Options};
use fleet::{Attribute, Figure, Kind, Machine};
use generated::Format;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// An engine answers by then, also next to a compiler.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
#[ignore = "run by `cargo xtask test`: it starts engines"]
fn usual_fleet_is_the_same_in_both_engines() {
    compare(2_000);
}

#[test]
#[ignore = "run by `cargo xtask sweep`: it loads 20,000 machines"]
fn large_fleet_is_the_same_in_both_engines() {
    compare(20_000);
}

fn compare(machines: u64) {
    let folder = tempfile::tempdir().unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let of_prometheus = {
        let engine = Engine::prometheus(folder.path(), machines, now);
        engine.refuses_nonsense("prometheus");
        engine.gathered("Prometheus")
    };
    let of_victoria = {
        let engine = Engine::victoria(folder.path(), machines, now);
        engine.refuses_nonsense("victoria");
        engine.gathered("VictoriaMetrics")
    };
    assert_eq!(of_prometheus.machines.len() as u64, machines);
    assert_eq!(of_prometheus.machines.len(), of_victoria.machines.len());
    for (a, b) in of_prometheus.machines.iter().zip(&of_victoria.machines) {
        assert_eq!((&a.name, &a.attributes), (&b.name, &b.attributes));
        assert_eq!(a.figures.len(), 2, "{a:?}");
        for ((figure, one), (other, two)) in a.figures.iter().zip(&b.figures) {
            assert!(figure == other && (one / two - 1.0).abs() < 1e-9, "{a:?} {b:?}");
        }
    }
    let slow = |it: &&Machine| it.figures.iter().any(|it| it.0 == Figure::Clock && it.1 < 0.8);
    let n_slow = of_prometheus.machines.iter().filter(slow).count();
    let is_of_slow = |it: &Attribute| it.kind == Kind::Finding && *it.name == *generated::SLOW;
    let with_finding = |it: &&Machine| it.attributes.iter().any(is_of_slow);
    assert_eq!(of_prometheus.machines.iter().filter(with_finding).count(), n_slow);
    assert!(n_slow > 40, "{n_slow}");
    assert_eq!((&of_prometheus.notes, &of_victoria.notes), (&Vec::new(), &Vec::new()));
}

/// An engine that ends when it is dropped.
struct Engine {
    child: Child,
    address: String,
}

impl Engine {
    /// Prometheus over blocks that promtool made.
    fn prometheus(folder: &Path, machines: u64, now: u64) -> Engine {
        let (text, data) = (folder.join("fleet.om"), folder.join("blocks"));
        let mut file = BufWriter::new(File::create(&text).unwrap());
        generated::write(machines, now, Format::OpenMetrics, &mut file).unwrap();
        drop(file);
        let arguments = ["tsdb", "create-blocks-from", "openmetrics"];
        let made = Command::new("promtool").args(arguments).args([&text, &data]).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        fs::remove_file(&text).unwrap();
        let config = folder.join("prometheus.yml");
        fs::write(&config, "scrape_configs: []\n").unwrap();
        let address = free_address();
        let mut command = Command::new("prometheus");
        command
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", data.display()))
            .arg(format!("--web.listen-address={address}"));
        Engine::started(&mut command, address, "/-/ready")
    }

    /// VictoriaMetrics, and the same imported.
    fn victoria(folder: &Path, machines: u64, now: u64) -> Engine {
        let address = free_address();
        let mut command = Command::new("victoria-metrics");
        command
            .arg(format!("-storageDataPath={}", folder.join("victoria").display()))
            .arg(format!("-httpListenAddr={address}"));
        let engine = Engine::started(&mut command, address, "/health");
        let path = folder.join("fleet.prom");
        let mut file = BufWriter::new(File::create(&path).unwrap());
        generated::write(machines, now, Format::Prometheus, &mut file).unwrap();
        drop(file);
        let body = File::open(&path).unwrap();
        let length = body.metadata().unwrap().len();
        let said = engine.exchange("POST", "/api/v1/import/prometheus", length, body);
        assert!(said.starts_with("HTTP/1.1 204"), "{said}");
        engine.exchange("GET", "/internal/force_flush", 0, std::io::empty());
        engine
    }

    fn started(command: &mut Command, address: String, ready: &str) -> Engine {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let engine = Engine { child, address };
        let began = Instant::now();
        while !engine.is_ready(ready) {
            assert!(began.elapsed() < PATIENCE, "{} is not ready", engine.address);
            std::thread::sleep(Duration::from_millis(50));
        }
        engine
    }

    fn is_ready(&self, path: &str) -> bool {
        TcpStream::connect(&self.address).is_ok()
            && self.exchange("GET", path, 0, std::io::empty()).starts_with("HTTP/1.1 200")
    }

    /// What it answers, with its head.
    fn exchange(&self, method: &str, path: &str, length: u64, mut body: impl Read) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        )
        .unwrap();
        std::io::copy(&mut body, &mut stream).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn client(&self) -> Client {
        let address = Address::parse(&format!("http://{}", self.address)).unwrap();
        Client::new(address, Options::default()).unwrap()
    }

    fn gathered(&self, name: &str) -> Gathered {
        let began = Instant::now();
        let gathered = gather(&self.client(), &Question::default()).unwrap();
        let took = began.elapsed().as_secs_f64();
        let n = gathered.machines.len();
        println!("{name}: {n} machines in {took:.2} s, at most {} MiB of memory", peak_mebibytes());
        gathered
    }

    /// What it says of a selector that is none, and of one that nothing has.
    fn refuses_nonsense(&self, name: &str) {
        let said = |selector| {
            let question = Question { selector: Some(selector), ..Question::default() };
            gather(&self.client(), &question).unwrap_err().to_string()
        };
        let nonsense = said("rack=~\"r(\"");
        assert!(nonsense.contains("refuses the request (4"), "{name}: {nonsense}");
        assert!(nonsense.contains("--match takes labels as in"), "{name}: {nonsense}");
        assert!(said("rack=\"none\"").starts_with("no machine at "), "{name}");
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// An address that nothing listens at; another program may take it before the engine does, and the engine then ends.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// The most memory that this process has had (proc_pid_status(5)).
fn peak_mebibytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib = line.and_then(|it| it.trim().strip_suffix(" kB")).expect("VmHWM");
    kib.trim().parse::<u64>().expect("a number") / 1024
}
