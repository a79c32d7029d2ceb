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
    /// As `200 OK`.
    pub(crate) status: &'static str,
    pub(crate) body: String,
}

impl WebServer {
    /// Serves what `answer` makes of the head of a request.
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

    /// The heads of the requests that came.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn exchange(mut stream: TcpStream, heads: &Mutex<Vec<String>>, answer: &dyn Fn(&str) -> Answer) {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut head = String::new();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    while lines.read_line(&mut head).is_ok_and(|n| n > 2) {}
    heads.lock().unwrap().push(head.clone());
    let Answer { status, body } = answer(&head);
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
