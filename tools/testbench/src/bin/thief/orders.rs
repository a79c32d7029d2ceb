//! The order to stop: SIGINT or SIGTERM. A theft looks for it at least once in every period.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

/// Whether the thief has been told to stop.
#[derive(Debug)]
pub(crate) struct Orders {
    stop: Arc<AtomicBool>,
}

impl Orders {
    /// Listens from here on: a signal ends the theft, not the process, so that what was taken is told and what
    /// was made is removed.
    pub(crate) fn listen() -> Result<Orders> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&stop))
                .context("cannot listen to signals")?;
        }
        Ok(Orders { stop })
    }

    /// The thief has been told to stop.
    pub(crate) fn to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
