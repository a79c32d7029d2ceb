//! Why a test of the wire ended early.

use super::{LONGEST, SILENCE};
use std::io;

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The other side is gone.
    #[error("the other side closed the connection; what it said itself tells why")]
    Closed,
    /// The connection is.
    #[error("the connection is lost: {0}")]
    Lost(#[from] io::Error),
    /// Nothing moved for [`SILENCE`].
    #[error(
        "nothing came through for {} s: the other side stands still, or something between both drops packets",
        SILENCE.as_secs()
    )]
    Silent,
    /// What came is not what is sent here.
    #[error("what came over a stream is no part of this test: something between both changes it")]
    Strange,
    /// It would go on.
    #[error("one message size took longer than {} s: ask for fewer messages, or for a time", LONGEST.as_secs())]
    TooLong,
    /// The user wants to stop.
    #[error("interrupted")]
    Stopped,
    /// A program of perftest failed.
    #[error("{0}")]
    Perftest(#[from] crate::failure::Failure),
    /// No thread could be had, or none on that CPU.
    #[error("{0}")]
    Unready(String),
}
