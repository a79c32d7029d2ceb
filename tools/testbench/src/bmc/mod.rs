//! A management controller that thinks before it answers.
//!
//! A kernel that has to poll its controller spins while it waits for an answer, so a slow one keeps
//! a CPU busy. This one answers what Linux asks on meeting a controller, a watchdog's pings, and whoever wants its sensors and
//! its log. By its maker's commands it is told to do what it should not.

mod controller;
mod power;
mod records;
mod wire;

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result};

use controller::{Answer, Controller, Fault, published};
use wire::{Decoder, Frame};

/// How long a controller thinks about an answer.
#[derive(Debug, Clone, Copy)]
pub enum Pace {
    /// Always so long.
    Fixed(Duration),
    /// As was published of one in a server: 0.3 to 1.7 ms.
    Published,
}

impl Pace {
    /// How long it thinks after so many other answers.
    fn after(self, n_answers: u32) -> Duration {
        match self {
            Pace::Fixed(delay) => delay,
            Pace::Published => published(n_answers),
        }
    }
}

/// A controller listening on a loopback port until it is dropped.
#[derive(Debug)]
pub(crate) struct SlowBmc {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SlowBmc {
    /// Starts a controller that answers at that pace.
    pub(crate) fn start(pace: Pace) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .context("cannot listen on a loopback port for the BMC")?;
        let address = listener.local_addr().context("cannot tell the BMC's port")?;
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        let thread = thread::spawn(move || {
            let mut controller = Controller::new();
            for machine in listener.incoming() {
                if stop.load(Ordering::Acquire) {
                    return;
                }
                // A connection that breaks is a machine switched off: wait for the next one.
                machine.and_then(|machine| converse(machine, &mut controller, pace)).ok();
            }
        });
        Ok(Self { address, stopping, thread: Some(thread) })
    }

    /// The port it listens on.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for SlowBmc {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Release);
        // The thread sees the flag on its next connection, so that is what it gets.
        if TcpStream::connect(self.address).is_ok()
            && let Some(thread) = self.thread.take()
        {
            thread.join().ok();
        }
    }
}

/// Answers one machine until it is switched off, or the controller starts anew.
fn converse(mut machine: TcpStream, controller: &mut Controller, pace: Pace) -> io::Result<()> {
    machine.set_nodelay(true)?;
    let mut decoder = Decoder::default();
    let (mut greeted, mut n_answers, mut had_events) = (false, 0, false);
    let mut received = [0; 512];
    loop {
        let n_bytes = machine.read(&mut received)?;
        if n_bytes == 0 {
            return Ok(());
        }
        for frame in received[..n_bytes].iter().filter_map(|&byte| decoder.push(byte)) {
            match frame {
                // QEMU speaks first; a word before that finds no interface and crashes it.
                Frame::Command if !greeted => {
                    machine.write_all(&wire::hello())?;
                    greeted = true;
                }
                Frame::Command => {}
                Frame::Request(request) => {
                    let Answer { data, fault, has_events } = controller.answer(&request);
                    thread::sleep(pace.after(n_answers));
                    n_answers += 1;
                    machine.write_all(&match fault {
                        Some(Fault::Reset) => return Ok(()),
                        Some(Fault::Hang) => Vec::new(),
                        Some(Fault::Checksum) => request.damaged_answer(&data),
                        Some(Fault::Another) => request.answer_to_another(&data),
                        Some(Fault::Short | Fault::Long) | None => request.answer(&data),
                    })?;
                    if has_events != had_events {
                        machine.write_all(&wire::attention(has_events))?;
                        had_events = has_events;
                    }
                }
            }
        }
    }
}
