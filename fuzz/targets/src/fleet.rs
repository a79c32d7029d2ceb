//! What a monitoring system answers: whatever the bytes, they are machines that can be compared, or a reason.
//!
//! An input is up to five answers, a line each: labels, clocks, speeds, findings, audits.

use engine::fleet::prometheus::answered;
use fleet::{Figure, Question, judge};

pub(crate) fn run(bytes: &[u8]) {
    let answers: Vec<&[u8]> = bytes.split(|it| *it == b'\n').take(5).collect();
    let Ok(gathered) = answered(&answers) else { return };
    for machine in &gathered.machines {
        assert!(!machine.name.is_empty());
        assert!(machine.figures.iter().all(|(_, value)| *value > 0.0), "{machine:?}");
    }
    for figure in [Figure::Clock, Figure::Speed] {
        let answer = judge(&gathered.machines, &Question::of(figure));
        let lost = answer.slow.iter().map(|it| it.lost);
        let lost = lost.chain(answer.suspects.iter().map(|it| it.lost));
        assert!(lost.clone().all(|it| it > 0.0 && it <= 1.0), "{:?}", lost.collect::<Vec<_>>());
        let n_grouped: usize = answer.groups.iter().map(|it| it.machines.len()).sum();
        let n_silent = answer.silent.len() + answer.unusable.len();
        assert_eq!(n_grouped + n_silent, gathered.machines.len());
    }
}
