//! A management controller that thinks before it answers.
//!
//! A kernel that has to poll its controller spins while it waits for an answer, so a slow one keeps
//! a CPU busy. This one answers what Linux asks on meeting a controller, and a watchdog's pings.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::bmc_wire::{self, Decoder, Frame, Request};

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
                    machine.write_all(&bmc_wire::hello())?;
                    greeted = true;
                }
                Frame::Command => {}
                Frame::Request(request) => {
                    thread::sleep(delay);
                    machine.write_all(&request.answer(&answer(&request)))?;
                }
            }
        }
    }
}

/// Completion code and data for a request. Numbers are those of IPMI 2.0, appendix G.
fn answer(request: &Request) -> Vec<u8> {
    const DONE: u8 = 0;
    const INVALID_COMMAND: u8 = 0xc1;
    match request.asks() {
        // Get Device ID: device 0x20 revision 1, firmware 1.0, IPMI 2.0, the functions of a controller,
        // made by no one in particular.
        (6, 0x01) => vec![DONE, 0x20, 1, 1, 0, 2, 0xbf, 0, 0, 0, 0, 0],
        // Get Device GUID.
        (6, 0x08) => [&[DONE][..], &[0x5a; 16]].concat(),
        // Reset and Set Watchdog Timer; Set and Get Global Enables; Get Message Flags.
        (6, 0x22 | 0x24 | 0x2e) => vec![DONE],
        (6, 0x2f | 0x31) => vec![DONE, 0],
        _ => vec![INVALID_COMMAND],
    }
}
