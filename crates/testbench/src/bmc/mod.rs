//! A management controller that thinks before it answers.
//!
//! A kernel that has to poll its controller spins while it waits for an answer, so a slow one keeps
//! a CPU busy. This one answers what Linux asks on meeting a controller, a watchdog's pings, and whoever wants its sensor
//! records.

mod controller;
mod records;
mod wire;

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result};

use controller::Controller;
use wire::{Decoder, Frame};

/// A controller listening on a loopback port until it is dropped.
#[derive(Debug)]
pub(crate) struct SlowBmc {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SlowBmc {
    /// Starts a controller that takes `delay` over every answer.
    pub(crate) fn start(delay: Duration) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .context("cannot listen on a loopback port for the BMC")?;
        let address = listener.local_addr().context("cannot tell the BMC's port")?;
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        let thread = thread::spawn(move || {
            for machine in listener.incoming() {
                if stop.load(Ordering::Acquire) {
                    return;
                }
                // A connection that breaks is a machine switched off: wait for the next one.
                machine.and_then(|machine| converse(machine, delay)).ok();
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

/// Answers one machine until it is switched off.
fn converse(mut machine: TcpStream, delay: Duration) -> io::Result<()> {
    machine.set_nodelay(true)?;
    let mut decoder = Decoder::default();
    let mut controller = Controller::new();
    let mut greeted = false;
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
                    thread::sleep(delay);
                    machine.write_all(&request.answer(&controller.answer(&request)))?;
                }
            }
        }
    }
}
