//! The plan of a race, and the events that it reports.

use super::nodes::Node;
use crate::interrupt::Interrupt;
use anyhow::Result;
use lab::race::Offset;
use lab::trial::Trial;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// The workload that races.
pub(super) const COMMIT: &str = "commit";

/// Who races, and for how long.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The race's id, which is its result's.
    pub id: String,
    /// When it began, as results have it.
    pub began: String,
    /// At least two.
    pub nodes: Vec<Node>,
    /// How long the nodes commit, in each leg.
    pub duration: Duration,
    /// How often the nodes are started, at least once. In every other leg they get ready in the opposite order, and exchange their CPUs
    /// where [`exchanged_cpus`](super::nodes::exchanged_cpus) says so.
    pub legs: u32,
    /// The least time between two results of a node.
    pub interval: Duration,
    /// What agents that listen have to hear.
    pub token: String,
    /// Where the result and the recordings are kept; `None` where they are not.
    pub folder: Option<PathBuf>,
}

/// What happens during a race.
#[derive(Debug)]
pub enum Event<'a> {
    /// A node is ready to begin; the offset of its clock from ours.
    Ready(&'a str, &'a Offset),
    /// A leg is made ready: which one, counted from 1, and of how many.
    Leg(u32, u32),
    /// All nodes are ready and about to begin.
    Begun,
    /// An interval of the node with that number has ended.
    Interval(usize, &'a Trial),
    /// A node starts a server, or its connection was lost or made again.
    Note(&'a str, &'a str),
    /// A node's recording cannot be kept any longer, and why.
    NotRecorded(&'a str, &'a anyhow::Error),
    /// The recordings are incomplete, and why.
    NotAllRecorded(&'a anyhow::Error),
}

/// Takes events. An error ends the race.
pub type Tell<'a> = &'a mut dyn FnMut(Event<'_>) -> Result<()>;

/// What all legs share.
pub(super) struct Race<'a> {
    pub(super) plan: &'a Plan,
    /// What the user types, once it has begun.
    pub(super) notes: &'a Receiver<String>,
    pub(super) interrupt: &'a Interrupt,
    pub(super) tell: Tell<'a>,
}
