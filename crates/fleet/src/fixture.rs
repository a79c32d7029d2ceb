//! Machines of tests, in a line each.

use crate::machine::{Attribute, Audit, Figure, Kind, Machine};

/// A machine that was audited, with these attributes: kind, name and value.
pub(crate) fn machine(attributes: &[(Kind, &str, &str)]) -> Machine {
    let attributes = attributes.iter().map(|(kind, name, value)| Attribute {
        kind: *kind,
        name: (*name).into(),
        value: (*value).into(),
    });
    Machine {
        name: "db".into(),
        attributes: attributes.collect(),
        audit: Audit::But(Vec::new()),
        ..Machine::default()
    }
}

/// The same with this clock.
pub(crate) fn with_clock(clock: f64, attributes: &[(Kind, &str, &str)]) -> Machine {
    Machine { figures: vec![(Figure::Clock, clock)], ..machine(attributes) }
}
