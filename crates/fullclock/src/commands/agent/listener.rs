//! Connections to this machine, each on a thread of its own.

use super::desk::Desk;
use super::session::{self, Door, HANDSHAKE};
use lab::lines::Timed;
use std::cell::Cell;
use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::Duration;

/// A race has one. Strangers are gone after [`HANDSHAKE`]; as many as this at a time do no harm.
const MOST: usize = 256;

/// Where no connection can be had, the next one may.
const PAUSE: Duration = Duration::from_millis(100);

/// Listens, on a thread, for as long as the program lives; the address.
pub(super) fn listen(at: SocketAddr, token: String, desk: Arc<Desk>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(at)?;
    let at = listener.local_addr()?;
    let (token, n_open) = (Arc::new(token), Arc::new(AtomicUsize::new(0)));
    Builder::new().name("listener".to_owned()).spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                std::thread::sleep(PAUSE);
                continue;
            };
            let opened = Open::one_more(&n_open);
            let (token, desk) = (token.clone(), desk.clone());
            // One too many, or no thread to be had: the connection is closed.
            if opened.n <= MOST {
                let connection = Builder::new().name("connection".to_owned());
                connection.spawn(move || serve(&stream, &token, &desk, opened)).ok();
            }
        }
    })?;
    Ok(at)
}

fn serve(stream: &TcpStream, token: &str, desk: &Desk, _opened: Open) {
    let until = Cell::new(Some(session::now() + HANDSHAKE));
    let (timed, door) = (Timed { stream, until: &until }, Door { token, until: &until });
    // Whoever is not there any more needs no answer.
    session::serve(BufReader::new(timed), stream, Some(&door), desk).ok();
}

/// A connection that is open.
struct Open {
    n: usize,
    all: Arc<AtomicUsize>,
}

impl Open {
    fn one_more(all: &Arc<AtomicUsize>) -> Open {
        Open { n: all.fetch_add(1, Ordering::Relaxed) + 1, all: all.clone() }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}
