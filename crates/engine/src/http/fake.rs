//! A server for tests: it answers each connection once, as it is told, and may be slow about it.

use crate::clock::now;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What a server sends.
#[derive(Clone, Default)]
pub(crate) struct Reply {
    /// Status line, headers and body.
    pub(crate) bytes: Vec<u8>,
    /// How many bytes at a time; 0 for all.
    pub(crate) piece: usize,
    /// The time before each piece.
    pub(crate) pause: Duration,
    /// Whether the connection stays open after it.
    pub(crate) hangs: bool,
    /// Whether the connection is good for another request.
    pub(crate) keeps: bool,
}

impl Reply {
    /// A whole answer.
    pub(crate) fn of(status: &str, kind: &str, body: impl AsRef<[u8]>) -> Reply {
        let body = body.as_ref();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        Reply { bytes: [head.as_bytes(), body].concat(), ..Reply::default() }
    }

    pub(crate) fn json(body: impl AsRef<[u8]>) -> Reply {
        Reply::of("200 OK", "application/json", body)
    }

    pub(crate) fn raw(text: &str) -> Reply {
        Reply { bytes: text.as_bytes().to_vec(), ..Reply::default() }
    }
}

type Answer = dyn Fn(&str) -> Reply + Send + Sync;

/// The server; it ends when it is dropped.
pub(crate) struct Fake {
    /// `http://127.0.0.1:PORT`, or https.
    pub(crate) url: String,
    /// Its certificate as PEM, where it has one.
    pub(crate) certificate: String,
    /// The heads of the requests, as they came.
    requests: Arc<Mutex<Vec<String>>>,
    n_connections: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Fake {
    /// Answers the head of each request.
    pub(crate) fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Fake {
        Fake::with(Arc::new(answer), None, String::new())
    }

    /// The same with TLS, and a certificate of its own making for `name`.
    pub(crate) fn encrypted(
        name: &str,
        answer: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Fake {
        Fake::of_certificate(name, IsCa::NoCa, Arc::new(answer))
    }

    /// The same with a certificate that says CA:TRUE, as `openssl req -x509` makes them.
    pub(crate) fn authority(
        name: &str,
        answer: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Fake {
        let is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Fake::of_certificate(name, is_ca, Arc::new(answer))
    }

    fn of_certificate(name: &str, is_ca: IsCa, answer: Arc<Answer>) -> Fake {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.is_ca = is_ca;
        let own = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&own).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Fake::with(answer, Some(Arc::new(config)), certificate.pem())
    }

    fn with(answer: Arc<Answer>, tls: Option<Arc<ServerConfig>>, certificate: String) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let is_over = Arc::new(AtomicBool::new(false));
        let n_connections = Arc::new(AtomicUsize::new(0));
        let fake = Fake {
            url,
            certificate,
            requests: Arc::clone(&requests),
            n_connections: Arc::clone(&n_connections),
            is_over: Arc::clone(&is_over),
        };
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                n_connections.fetch_add(1, Ordering::Relaxed);
                let (answer, tls) = (Arc::clone(&answer), tls.clone());
                let (requests, is_over) = (Arc::clone(&requests), Arc::clone(&is_over));
                std::thread::spawn(move || match tls {
                    // A client that is gone is a part of many tests.
                    None => serve(stream, &*answer, &requests, &is_over).unwrap_or_default(),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        let stream = StreamOwned::new(connection, stream);
                        serve(stream, &*answer, &requests, &is_over).unwrap_or_default();
                    }
                });
            }
        });
        fake
    }

    /// How many connections there have been.
    pub(crate) fn connections(&self) -> usize {
        self.n_connections.load(Ordering::Relaxed)
    }

    /// The heads of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let address = self.url.split("://").nth(1).unwrap_or_default();
        drop(TcpStream::connect(address));
    }
}

fn serve(
    mut stream: impl Read + Write,
    answer: &Answer,
    requests: &Mutex<Vec<String>>,
    is_over: &AtomicBool,
) -> std::io::Result<()> {
    while serve_one(&mut stream, answer, requests, is_over)? {}
    Ok(())
}

/// Whether the connection is good for another request.
fn serve_one(
    stream: &mut (impl Read + Write),
    answer: &Answer,
    requests: &Mutex<Vec<String>>,
    is_over: &AtomicBool,
) -> std::io::Result<bool> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    requests.lock().unwrap_or_else(PoisonError::into_inner).push(head.clone());
    let reply = answer(&head);
    let piece = if reply.piece == 0 { reply.bytes.len().max(1) } else { reply.piece };
    for bytes in reply.bytes.chunks(piece) {
        std::thread::sleep(reply.pause);
        stream.write_all(bytes)?;
        stream.flush()?;
    }
    let began = now();
    while reply.hangs && !is_over.load(Ordering::Relaxed) && began.elapsed().as_secs() < 60 {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(reply.keeps)
}
