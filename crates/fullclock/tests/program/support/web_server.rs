//! A web server of a test's own, which ends with the test's process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use std::time::Duration;

/// A server that answers one request on each connection.
pub(crate) struct WebServer {
    pub(crate) at: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

/// What it answers.
pub(crate) struct Answer {
    /// As `200 OK`, with further headers in lines after it; where it is empty, the connection is closed without an answer.
    pub(crate) status: &'static str,
    pub(crate) body: String,
}

impl WebServer {
    /// Serves what `answer` makes of a request, its head and what comes after that.
    pub(crate) fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> WebServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (own, answer) = (Arc::clone(&heads), Arc::new(answer));
        spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let (heads, answer) = (Arc::clone(&own), Arc::clone(&answer));
                spawn(move || exchange(stream, &heads, &*answer));
            }
        });
        WebServer { at, heads }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.at)
    }

    /// The requests that came, their heads and what came after these.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn exchange(mut stream: TcpStream, heads: &Mutex<Vec<String>>, answer: &dyn Fn(&str) -> Answer) {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut head = String::new();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    while lines.read_line(&mut head).is_ok_and(|n| n > 2) {}
    let length = head.lines().find_map(|it| {
        let (name, value) = it.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    lines.read_exact(&mut body).unwrap();
    head.push_str(&String::from_utf8(body).unwrap());
    heads.lock().unwrap().push(head.clone());
    let Answer { status, body } = answer(&head);
    if status.is_empty() {
        return;
    }
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .ok();
    // What the client still sends would have the kernel reset the connection before the answer is read.
    stream.shutdown(Shutdown::Write).ok();
    stream.read_to_end(&mut Vec::new()).ok();
}
