//! Why a level cannot be compared, where that is since trials failed: more trials would fail, too.

use super::LEAST_BLOCKS;
use super::study::Study;

/// As many arms as this are named one by one.
const FEW: usize = 3;

/// Which trials failed, of a level of a factor that cannot be compared with the first one; `None` where that is not the reason.
pub(super) fn why(
    study: &Study<'_>,
    workload: usize,
    (factor, level): (usize, usize),
) -> Option<String> {
    // With fewer there is no estimate, whatever failed.
    if study.measured.figure.n_blocks() < LEAST_BLOCKS as usize {
        return None;
    }
    for level in [level, 0] {
        let counts: Vec<(usize, usize)> =
            study.grid.at(workload, factor, level).iter().map(|it| failed(study, *it)).collect();
        let is_run = counts.iter().any(|it| it.1 > 0);
        if is_run && counts.iter().all(|(failed, of)| failed == of) {
            let what = setting(study, factor, level);
            return Some(format!(
                "every trial with {what} failed: mend what fails there, or leave that level out"
            ));
        }
    }
    let arms = [level, 0].map(|it| study.grid.at(workload, factor, it)).concat();
    let with_failures: Vec<usize> =
        arms.into_iter().filter(|it| failed(study, *it).0 > 0).collect();
    let mut names: Vec<String> =
        with_failures.iter().take(FEW).map(|it| settings(study, *it)).collect();
    let others = with_failures.len() - names.len();
    if others > 0 {
        names.push(format!("{others} other arms"));
    }
    (!names.is_empty()).then(|| {
        format!(
            "trials failed with {}, so that too few blocks have a good one of every arm that this takes: mend what fails \
             there, or leave it out",
            names.join("; ")
        )
    })
}

/// How many of the trials of an arm failed, and how many there are.
fn failed(study: &Study<'_>, arm: usize) -> (usize, usize) {
    let of_arm = study.record.trials.iter().filter(|it| it.arm == arm);
    (of_arm.clone().filter(|it| it.failed.is_some()).count(), of_arm.count())
}

/// `governor=powersave, turbo=on`.
fn settings(study: &Study<'_>, arm: usize) -> String {
    let levels = study.experiment.arms[arm].levels.iter().enumerate();
    levels.map(|(at, level)| setting(study, at, *level)).collect::<Vec<_>>().join(", ")
}

fn setting(study: &Study<'_>, factor: usize, level: usize) -> String {
    let factor = &study.design().factors[factor];
    format!("{}={}", factor.name, factor.levels[level])
}
