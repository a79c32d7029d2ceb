//! Connections that others open to this machine, each on a thread of its own.

use anyhow::{Context, Result};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::Duration;

/// More than whoever has business here needs. Strangers are gone as soon as they have not said who they are; as many as
/// this at a time do no harm.
const MOST: usize = 256;

/// Where no connection can be had, the next one may.
const PAUSE: Duration = Duration::from_millis(100);

/// Listens, on a thread, for as long as the program lives; the address, its port chosen by the kernel where it was 0.
///
/// # Errors
///
/// Where the address cannot be listened at, saying which.
pub fn listen(
    at: SocketAddr,
    serve: impl Fn(&TcpStream) + Send + Sync + 'static,
) -> Result<SocketAddr> {
    let listener = TcpListener::bind(at).with_context(|| format!("cannot listen at {at}"))?;
    let at = listener.local_addr()?;
    let (serve, n_open) = (Arc::new(serve), Arc::new(AtomicUsize::new(0)));
    Builder::new().name("listener".to_owned()).spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                std::thread::sleep(PAUSE);
                continue;
            };
            let (serve, open) = (serve.clone(), Open::one_more(&n_open));
            // One too many, or no thread to be had: the connection is closed.
            if open.n <= MOST {
                let connection = Builder::new().name("connection".to_owned());
                let serve = move || {
                    let _open = open;
                    serve(&stream);
                };
                connection.spawn(serve).ok();
            }
        }
    })?;
    Ok(at)
}

/// A connection whose thread lives.
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
