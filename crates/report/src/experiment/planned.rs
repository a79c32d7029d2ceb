//! What an experiment is going to run, before it begins.

use super::prose;
use crate::document::{Document, Text};
use facts::quantity::roughly;
use lab::experiment::{Combination, Design, Shape};
use std::time::Duration;

/// A plan, and how long it takes.
pub struct Planned<'a> {
    /// What was asked for.
    pub design: &'a Design,
    /// What each arm combines.
    pub arms: &'a [Combination],
    /// What each arm is called.
    pub names: Vec<&'a str>,
    /// How long it takes.
    pub length: Duration,
    /// How long a trial of each workload took, in seconds.
    pub trial_seconds: &'a [f64],
}

/// A plan as a document.
pub fn planned(plan: &Planned<'_>) -> Document {
    let Planned { design, arms, .. } = plan;
    let mut document = Document::new(format!("fullclock experiment: {}", design.name));
    for factor in &design.factors {
        document.labelled(&*factor.name, factor.levels.join(", "));
    }
    for (workload, seconds) in design.workloads.iter().zip(plan.trial_seconds) {
        document.labelled(&**workload, format!("about {seconds:.2} s a trial"));
    }
    let shape = match design.shape {
        Shape::Full => "every combination",
        Shape::OneAtATime => "one factor at a time",
        Shape::Fraction => "a fraction of the combinations",
    };
    let (n_arms, trials) = (arms.len(), design.trials);
    let until = design.until.map_or_else(String::new, |it| {
        format!(" at least, and on until every effect is known to {} %", it * 100.0)
    });
    document.paragraph(format!(
        "{n_arms} combinations ({shape}), {trials} trials of each{until}: {} trials, about {}.",
        n_arms * trials as usize,
        roughly(plan.length.as_secs_f64())
    ));
    if let Some(boots) = &design.boots {
        let factors = boots.factors.iter().filter_map(|it| design.factors.get(*it));
        let names: Vec<String> = factors.map(|it| it.name.clone()).collect();
        document.paragraph(Text::sentence(&format!(
            "In parts, each in a boot of its own: {} boots with each level of {}, in random order. Between parts you \
             reboot, and `fullclock experiment resume` goes on.",
            boots.rounds,
            prose::listed(&names)
        )));
    }
    document
}
