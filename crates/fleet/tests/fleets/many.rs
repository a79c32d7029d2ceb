//! Many generated fleets: how many of the slow machines are found, and how many of the accused are slow.

use crate::generated::{Fleet, accused, said};
use fleet::{Answer, Figure, Question, judge};
use std::collections::HashSet;

/// Something that makes machines slow.
struct Hidden {
    machines: Vec<usize>,
    /// What explains them, as [`said`] has it; empty of a lone machine.
    words: String,
    /// How many standard errors of their group they are below it.
    errors: f64,
}

/// A fleet of up to six groups of 10 to 1,000 machines, of a spread from 0.5 to 2 %, with up to three reasons.
fn generated(seed: u64) -> (Fleet, Vec<Hidden>) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let sizes: Vec<usize> =
        (0..rng.usize(1..=6)).map(|_| (10.0 * 100.0_f64.powf(rng.f64())) as usize).collect();
    let n: usize = sizes.iter().sum();
    let labels = [
        ("microcode", 3),
        ("bios_version", 4),
        ("kernel", 4),
        ("rack", (n / 30).max(2)),
        ("board", 2),
        ("governor", 2),
    ];
    let mut fleet = Fleet::new(seed, &sizes, &labels, &["microcode", "board"]);
    let spread = 0.005 + 0.015 * rng.f64();
    fleet.spread(spread);
    let mut all = Vec::new();
    for _ in 0..rng.usize(1..=3) {
        let any = rng.usize(..n);
        let value = |name: &str| fleet.value(any, name);
        let (model, microcode, bios) =
            (value("cpu_model"), value("microcode"), value("bios_version"));
        let rack = value("rack");
        let (labels, words) = match rng.u32(..4) {
            0 => (vec![("microcode", &*microcode)], microcode.clone()),
            1 => {
                let both = vec![("microcode", &*microcode), ("bios_version", &*bios)];
                (both, format!("{bios} + {microcode}"))
            }
            2 => (vec![("rack", &*rack)], rack.clone()),
            _ => (vec![], String::new()),
        };
        let machines = if labels.is_empty() { vec![any] } else { fleet.with(&labels) };
        let group = if words == rack { n } else { fleet.with(&[("cpu_model", &model)]).len() };
        let outside = group - machines.len();
        if machines.iter().any(|it| fleet.slow.contains(it)) || outside < 5 || machines.len() == 2 {
            continue;
        }
        let error = spread * (1.0 / machines.len() as f64 + 1.0 / outside as f64).sqrt();
        let errors = 5.0 * 8.0_f64.powf(rng.f64());
        // A few per cent are not worth a word; and no machine stands still.
        let loss = (errors * error).clamp(0.035, 1.2);
        fleet.slow(&machines, (-loss).exp());
        all.push(Hidden { machines, words, errors: loss / error });
    }
    (fleet, all)
}

/// What was found in many fleets.
#[derive(Debug, Default)]
struct Tally {
    fleets: usize,
    accused: usize,
    wrongly: usize,
    slow: usize,
    missed: usize,
    reasons: usize,
    reasons_found: usize,
    explanations: usize,
    explanations_wrong: usize,
}

impl Tally {
    fn add(&mut self, seed: u64) {
        let (fleet, hidden) = generated(seed);
        let answer = judge(&fleet.machines, &Question::of(Figure::Clock));
        let accused = accused(&answer);
        self.fleets += 1;
        self.accused += accused.len();
        self.wrongly += accused.difference(&fleet.slow).count();
        for it in &hidden {
            let missed = it.machines.iter().filter(|it| !accused.contains(it)).count();
            self.slow += it.machines.len();
            self.missed += missed;
            let is_cohort = !it.words.is_empty();
            let is_found = answer.explanations.iter().any(|found| said(found).contains(&it.words));
            self.reasons += usize::from(is_cohort);
            self.reasons_found += usize::from(is_cohort && is_found);
            if missed > 0 || (is_cohort && !is_found) {
                println!(
                    "{seed}: {missed} of {} missed, {} errors, {:?}",
                    it.machines.len(),
                    it.errors,
                    it.words
                );
            }
        }
        for it in &answer.explanations {
            let right = hidden.iter().any(|hidden| said(it).contains(&hidden.words));
            self.explanations += 1;
            if !right {
                self.explanations_wrong += 1;
                let inside: HashSet<usize> = it.inside.iter().copied().collect();
                println!(
                    "{seed}: {:?} {} of {} are slow",
                    said(it),
                    inside.intersection(&fleet.slow).count(),
                    it.inside.len()
                );
            }
        }
    }
}

#[test]
#[ignore = "200 fleets, for an optimised build"]
fn two_hundred_fleets() {
    let mut tally = Tally::default();
    (0..200).for_each(|it| tally.add(it));
    println!("{tally:?}");
}

fn _unused(_: &Answer) {}
