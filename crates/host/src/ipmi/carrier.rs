//! What takes questions to a controller and brings what comes back.

use facts::ipmi::SensorOwner;
use rustix::io::Errno;
use std::ffi::c_long;
use std::time::Duration;

/// The driver's device, or a controller of a test.
pub trait Carrier {
    /// Hands over a question.
    fn send(&mut self, asked: &Asked<'_>) -> Result<(), Errno>;

    /// Wants to be brought events as well, where any come by themselves.
    fn want_events(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    /// What arrives within that time; `None` where nothing does.
    fn receive(&mut self, within: Duration) -> Result<Option<Arrived>, Errno>;
}

/// A question to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// Who is asked.
    pub whom: SensorOwner,
    /// A number that its answer will bear.
    pub number: c_long,
    /// Its function, an even number.
    pub function: u8,
    /// Its command.
    pub command: u8,
    /// Its data.
    pub data: &'a [u8],
}

impl Asked<'_> {
    /// The answer to it that brings these data.
    pub fn answer(&self, data: Vec<u8>) -> Arrived {
        let Asked { number, function, command, .. } = *self;
        Arrived { kind: Kind::Answer, number, function: function | 1, command, data }
    }
}

/// A message from the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// What it is.
    pub kind: Kind,
    /// The number of the question.
    pub number: c_long,
    /// Its function, an odd number in an answer.
    pub function: u8,
    /// Its command.
    pub command: u8,
    /// Its data; that of an answer begins with a completion code.
    pub data: Vec<u8>,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An answer to a question.
    Answer,
    /// An event: its data are an entry as the log would have it.
    Event,
    /// A command from elsewhere: nobody here has asked for it.
    Other,
}
