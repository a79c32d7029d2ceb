//! `fullclock net server`: the other end of a client's test.

mod desk;
mod session;

use crate::cli::{Arguments, ServerArguments};
use crate::interrupt::Interrupt;
use crate::output;
use crate::secret;
use anyhow::{Context, Result};
use desk::Desk;
use session::Door;
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::Duration;

/// A client has [`lab::wire::MOST_STREAMS`] and one more. Strangers are gone soon; as many as this at a time do no harm.
const MOST: usize = 256;

/// How often it is looked whether the server should end.
const GLANCE: Duration = Duration::from_millis(200);

/// How long a client that is served may take to notice that the server ends.
const FAREWELL: Duration = Duration::from_secs(2);

pub(super) fn run(arguments: &Arguments, options: &ServerArguments) -> Result<ExitCode> {
    let path = secret::path(options.token_file.as_deref(), super::TOKEN)?;
    let token = secret::read_or_make(&path)?;
    let interrupt = Interrupt::listen()?;
    let (desk, cpus) = (Arc::new(Desk::new()), options.cpus.clone());
    let door = Arc::new(Door { token, cpus, desk: desk.clone() });
    let listener = TcpListener::bind(options.listen)
        .with_context(|| format!("cannot listen at {}", options.listen))?;
    let at = listener.local_addr()?;
    Builder::new().name("listener".to_owned()).spawn(move || listen(&listener, &door))?;
    output::print(&format!("listening at {at}; the token is in {}\n", path.display()))?;
    while !interrupt.wait(GLANCE) {
        if desk.idle().is_some_and(|it| it >= options.timeout) {
            let idle = crate::duration::roughly(options.timeout.as_secs_f64());
            output::note(&arguments.output, &format!("no client was there for {idle}: it ends"));
            return Ok(ExitCode::SUCCESS);
        }
    }
    desk.stop();
    let mut waited = Duration::ZERO;
    while desk.idle().is_none() && waited < FAREWELL {
        std::thread::sleep(GLANCE);
        waited += GLANCE;
    }
    Ok(ExitCode::SUCCESS)
}

/// Listens for as long as the program lives.
fn listen(listener: &TcpListener, door: &Arc<Door>) {
    let n_open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Where no connection can be had, the next one may.
            std::thread::sleep(GLANCE);
            continue;
        };
        let (door, opened) = (door.clone(), Open::one_more(&n_open));
        // One too many, or no thread to be had: the connection is closed.
        if opened.n <= MOST {
            let connection = Builder::new().name("connection".to_owned());
            let serve = move || {
                let _opened = opened;
                // Whoever is not there any more needs no answer.
                door.serve(&stream).ok();
            };
            connection.spawn(serve).ok();
        }
    }
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
