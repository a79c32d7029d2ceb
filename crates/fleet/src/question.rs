//! What is asked of a fleet.

use crate::machine::Figure;
use std::sync::Arc;

/// The label whose machines are peers in every question: the processor's model.
pub const MODEL: &str = "cpu_model";

/// How machines are compared.
#[derive(Clone, Debug)]
pub struct Question {
    /// What they are compared by.
    pub figure: Figure,
    /// Labels that peers share besides [`MODEL`].
    pub by: Vec<Arc<str>>,
    /// Ids of checks whose findings say no more than that a machine is slow. They explain nothing, and are part of a contrast.
    pub symptoms: Vec<Arc<str>>,
}

impl Question {
    /// Machines of one model, by this figure.
    #[must_use]
    pub fn of(figure: Figure) -> Self {
        Self { figure, by: Vec::new(), symptoms: Vec::new() }
    }
}
