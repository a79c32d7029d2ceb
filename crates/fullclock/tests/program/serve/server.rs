//! A server of a test's own, and what it says.

use crate::support::fullclock;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that sends nothing for this long hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server that ends with its test.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) at: SocketAddr,
    pub(crate) results: tempfile::TempDir,
}

impl Server {
    pub(crate) fn start(options: &[&str]) -> Server {
        Server::over(tempfile::tempdir().unwrap(), "127.0.0.1:0", options)
    }

    /// A server of the results in a folder. On a loopback address it requires no token, whoever runs the test, unless the
    /// options name a file for it.
    pub(crate) fn over(results: tempfile::TempDir, listen: &str, options: &[&str]) -> Server {
        let folder = results.path().to_str().unwrap();
        let arguments = ["serve", "-q", "--listen", listen, "--results", folder, "-i", "100ms"];
        let needs_token = options.contains(&"--token-file") || !listen.starts_with("127.");
        let open: &[&str] = if needs_token { &[] } else { &["--open-to-local-users"] };
        let command = fullclock(&[&arguments, open, options].concat());
        Server::of(command, results)
    }

    /// A server that requires a token, and the token.
    pub(crate) fn with_token() -> (Server, String) {
        let results = tempfile::tempdir().unwrap();
        let file = results.path().join("serve.token");
        let server =
            Server::over(results, "127.0.0.1:0", &["--token-file", file.to_str().unwrap()]);
        (server, std::fs::read_to_string(&file).unwrap().trim().to_owned())
    }

    /// The server that a command starts.
    pub(crate) fn of(mut command: Command, results: tempfile::TempDir) -> Server {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("serving http://").and_then(|it| it.strip_suffix('/'));
        let port = address.unwrap().parse::<SocketAddr>().unwrap().port();
        Server { child, at: SocketAddr::from(([127, 0, 0, 1], port)), results }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.at).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Its answer to these bytes, which say that the connection ends with it.
    pub(crate) fn answer(&self, said: &[u8]) -> Answer {
        let mut stream = self.connect();
        // Who is refused early may find the door closed while it still speaks.
        stream.write_all(said).ok();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).ok();
        Answer::of(&String::from_utf8_lossy(&bytes))
    }

    pub(crate) fn get(&self, path: &str, headers: &str) -> Answer {
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
        self.answer(head.as_bytes())
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(path, "");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        serde_json::from_str(&answer.body).unwrap()
    }

    /// Events of a stream, behind one where it is given.
    pub(crate) fn events(&self, path: &str, behind: Option<&str>) -> Events {
        let mut stream = self.connect();
        let last = behind.map_or_else(String::new, |it| format!("Last-Event-ID: {it}\r\n"));
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n{last}\r\n").unwrap();
        Events(BufReader::new(stream))
    }

    /// The id of the race that runs, as soon as there is one.
    pub(crate) fn running(&self) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let results = self.json("/api/v1/results");
            let first = &results["results"][0];
            if first["is_live"] == true && first["is_race"] == true {
                return first["id"].as_str().unwrap().to_owned();
            }
            assert!(Instant::now() < deadline, "no race began: {results}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it as Ctrl-C does, and gives what it leaves.
    pub(crate) fn stop(mut self) -> (tempfile::TempDir, Option<i32>) {
        let stopped = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(stopped.unwrap().success());
        let status = self.child.wait().unwrap();
        let empty = tempfile::tempdir().unwrap();
        (std::mem::replace(&mut self.results, empty), status.code())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn of(text: &str) -> Answer {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }
}

/// A stream of events, as lines.
pub(crate) struct Events(BufReader<TcpStream>);

pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

impl Events {
    pub(crate) fn next(&mut self) -> Event {
        let (mut name, mut id, mut data) = (None, None, None::<Value>);
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            match line.trim_end().split_once(": ") {
                Some(("event", it)) => name = Some(it.to_owned()),
                Some(("id", it)) => id = Some(it.to_owned()),
                Some(("data", it)) => data = Some(serde_json::from_str(it).unwrap()),
                _ => {}
            }
            if let (Some(name), Some(data)) = (&name, &data) {
                return Event { name: name.clone(), id, data: data.clone() };
            }
        }
    }
}

/// Nodes that race, until the end of their test at the latest.
pub(crate) struct Race(pub(crate) Child);

/// Two nodes that race for so long.
pub(crate) fn race(results: &Path, time: &str) -> Race {
    let folder = results.to_str().unwrap();
    let nodes = ["race", "--node", "a=embedded", "--node", "b=embedded", "--sessions", "2"];
    let options = ["-d", time, "-i", "100ms", "--quiet", "--results", folder];
    let mut command = fullclock(&[&nodes[..], &options].concat());
    Race(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

impl Drop for Race {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
