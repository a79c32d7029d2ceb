//! An engine that speaks as much PromQL as `fullclock fleet` asks, and a fleet in it.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What it answers.
#[derive(Clone, Copy)]
pub(crate) enum Answering {
    /// Machines of two models, of which those with one BIOS run at 25 %, and one by itself at 50 %.
    Fleet,
    /// No machine.
    Nothing,
    /// That the token is wrong, which it repeats.
    Unauthorized,
}

/// A server of a test's own, which ends with the test's process.
pub(crate) struct Engine {
    pub(crate) at: SocketAddr,
    /// The heads of the requests that came.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Engine {
    pub(crate) fn start(answering: Answering) -> Engine {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let heads = Arc::clone(&own);
                std::thread::spawn(move || answer(stream, answering, &heads));
            }
        });
        Engine { at, heads }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.at)
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, answering: Answering, heads: &Mutex<Vec<String>>) {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut head = String::new();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    while lines.read_line(&mut head).is_ok_and(|n| n > 2) {}
    heads.lock().unwrap().push(head.clone());
    let target = head.lines().next().unwrap_or_default().to_owned();
    let (status, body) = match answering {
        Answering::Unauthorized => {
            let repeated = head.lines().find(|it| it.to_lowercase().starts_with("authorization"));
            ("401 Unauthorized", format!("wrong: {}", repeated.unwrap_or_default()))
        }
        Answering::Nothing => ("200 OK", vector(&[])),
        Answering::Fleet => ("200 OK", vector(&series(&target))),
    };
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .ok();
    // What the client still sends would have the kernel reset the connection before the answer is read.
    stream.shutdown(std::net::Shutdown::Write).ok();
    stream.read_to_end(&mut Vec::new()).ok();
}

/// The machines of a model.
const N: usize = 60;

/// Labels and a value for each series that a query is of; the names of metrics stand in its address as they are.
fn series(target: &str) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for (model, at) in
        ["Xeon 6130", "EPYC 9654"].iter().flat_map(|it| (0..N).map(move |at| (it, at)))
    {
        let first = model.split(' ').next().unwrap_or_default().to_lowercase();
        let own = format!("\"instance\":\"{first}{at:02}:7077\",\"job\":\"fullclock\"");
        let is_bad = *model == "Xeon 6130" && at < 12;
        // Healthy ones differ by 1 %, without a pattern that a label has.
        let healthy = 1.0 + ((at * 37 + 11) % 23) as f64 / 1000.0 - 0.011;
        let clock = match (is_bad, at) {
            (true, _) => healthy * 0.25,
            (false, 40) if *model == "EPYC 9654" => healthy * 0.5,
            (false, _) => healthy,
        };
        if target.contains("fullclock_host_info") {
            let bios = if is_bad { "12010303" } else { "12010400" };
            let kernel = if at % 2 == 0 { "6.1.0" } else { "6.12.0" };
            let labels = format!(
                "{own},\"cpu_model\":\"{model}\",\"bios_version\":\"{bios}\",\"kernel\":\"{kernel}\""
            );
            found.push((labels, 1.0));
        } else if target.contains("fullclock_clock_ratio") {
            found.push((format!("{own},\"quantile\":\"0.5\""), clock));
        } else if target.contains("fullclock_unknown_checks") {
            found.push((own, 0.0));
        } else if target.contains("fullclock_finding") && is_bad {
            let id =
                "\"id\":\"clock-modulation\",\"severity\":\"critical\",\"confidence\":\"high\"";
            found.push((format!("{own},{id}"), 1.0));
        }
    }
    found
}

fn vector(series: &[(String, f64)]) -> String {
    let mut text = r#"{"status":"success","data":{"resultType":"vector","result":["#.to_owned();
    for (at, (labels, value)) in series.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(text, "{comma}{{\"metric\":{{{labels}}},\"value\":[1795000000,\"{value}\"]}}")
            .unwrap();
    }
    text + "]}}"
}
