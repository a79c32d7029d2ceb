//! What an experiment is going to run, before it begins.

use super::prose;
use crate::Style;
use crate::page::Page;
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

/// A plan as text.
pub fn planned(plan: &Planned<'_>, style: Style) -> String {
    let Planned { design, arms, .. } = plan;
    let mut page = Page::new(style);
    page.paragraph(0, &format!("experiment: {}", design.name));
    page.line("");
    for factor in &design.factors {
        page.paragraph(2, &format!("{}: {}", factor.name, factor.levels.join(", ")));
    }
    let seconds = plan.trial_seconds.iter();
    for (workload, seconds) in design.workloads.iter().zip(seconds) {
        page.paragraph(2, &format!("{workload}: about {seconds:.2} s a trial"));
    }
    page.line("");
    let shape = match design.shape {
        Shape::Full => "every combination",
        Shape::OneAtATime => "one factor at a time",
        Shape::Fraction => "a fraction of the combinations",
    };
    let (n_arms, trials) = (arms.len(), design.trials);
    let until = design.until.map_or_else(String::new, |it| {
        format!(" at least, and on until every effect is known to {} %", it * 100.0)
    });
    page.paragraph(
        0,
        &format!(
            "{n_arms} arms ({shape}), {trials} trials of each{until}: {} trials, about {}.",
            n_arms * trials as usize,
            roughly(plan.length.as_secs_f64())
        ),
    );
    if let Some(boots) = &design.boots {
        let names: Vec<String> =
            boots.factors.iter().map(|it| design.factors[*it].name.clone()).collect();
        page.paragraph(
            0,
            &format!(
                "In parts, each in a boot of its own: {} boots with each level of {}, in an order that chance decides. Between \
                 parts you reboot, and `fullclock experiment resume` goes on.",
                boots.rounds,
                prose::listed(&names)
            ),
        );
    }
    page.finish()
}
