//! What to do, why, and the exact command for it: whether it, or repeating the study, needs `--i-know`.

use super::interaction::dependence;
use super::tradeoffs::{given_up, left_out};
use super::{listed, settings};
use crate::experiment::Study;
use lab::experiment::Experiment;
use lab::experiment::analysis::Recommendation;
use rules::setting::Risk;

pub(in crate::experiment) struct Advice {
    /// What the verdict rests on and what it leaves out, in sentences.
    pub(in crate::experiment) reason: String,
    /// `fullclock apply governor=performance`; `None` where there is nothing to change.
    pub(in crate::experiment) command: Option<String>,
}

/// The recommendation with its reason.
pub(in crate::experiment) fn advice(study: &Study<'_>) -> Advice {
    match &study.analysis.recommendation {
        Recommendation::Nothing if !study.varies_settings() => {
            let reason = "No setting was varied: there is nothing to apply.".to_owned();
            Advice { reason, command: None }
        }
        Recommendation::Nothing => {
            let reason = "No change is recommended.".to_owned();
            Advice { reason, command: None }
        }
        Recommendation::Unsettled { .. } => {
            let reason = "No change is recommended.".to_owned();
            Advice { reason, command: None }
        }
        Recommendation::Depends => Advice { reason: depends(study), command: None },
        Recommendation::Keep { because, left_out } => Advice {
            reason: kept(study, because, left_out),
            command: command(study, &vec![0; study.design().factors.len()], because),
        },
        Recommendation::Change { levels, was_run, left_out: left, .. } => {
            let factors = needed(study, levels);
            let mut reason = against(study, levels);
            if !was_run {
                reason += " These levels were not run together: measure them before you keep them.";
            }
            reason.extend(left_out(study, left).map(|it| format!(" {it}")));
            Advice { reason, command: command(study, levels, &factors) }
        }
    }
}

fn depends(study: &Study<'_>) -> String {
    let (setting, condition) = dependence(study).map_or(("any setting", "load"), |it| {
        (study.factor_name(it.setting), study.factor_name(it.condition))
    });
    format!(
        "No change is recommended: no level of {setting} was shown to be faster on the whole. Choose it for the \
         {condition} that you have."
    )
}

/// Why the first levels stay, and what that costs.
fn kept(study: &Study<'_>, because: &[usize], left: &[Vec<usize>]) -> String {
    let mattering: Vec<String> =
        because.iter().map(|it| study.factor_name(*it).to_owned()).collect();
    let verb = if mattering.len() == 1 { "was" } else { "were" };
    let mut sentences = vec![format!(
        "{} {verb} shown to matter, and no other combination was shown to be faster on the whole.",
        listed(&mattering)
    )];
    sentences.extend(given_up(study, left));
    sentences.extend(left_out(study, left));
    sentences.extend(dependence(study).map(|it| {
        let (setting, condition) = (study.factor_name(it.setting), study.factor_name(it.condition));
        format!("What {setting} does depends on {condition}: {}.", it.sentence)
    }));
    sentences.join(" ")
}

/// Those that it changes, or whose level it needs all the same: they were shown to matter.
fn needed(study: &Study<'_>, levels: &[usize]) -> Vec<usize> {
    let is_moved = |factor: usize| levels.get(factor).is_some_and(|it| *it != 0);
    settings(study).into_iter().filter(|it| is_moved(*it) || matters(study, *it)).collect()
}

/// Whether a level of a factor was shown to change the figure of a workload, alone or together with another factor.
fn matters(study: &Study<'_>, factor: usize) -> bool {
    study.analysis.workloads.iter().any(|workload| {
        let effects = workload.effects.iter().filter(|it| it.factor == factor);
        let pairs = workload
            .interactions
            .iter()
            .filter(|it| it.factors.0 == factor || it.factors.1 == factor);
        let mut estimates = effects.map(|it| &it.estimate).chain(pairs.map(|it| &it.estimate));
        estimates.any(|it| it.value().is_some_and(|it| it.is_claimed))
    })
}

fn against(study: &Study<'_>, levels: &[usize]) -> String {
    let is_moved = |factor: &usize| levels.get(*factor).is_some_and(|it| *it != 0);
    let (moved, stay): (Vec<usize>, Vec<usize>) = settings(study).into_iter().partition(is_moved);
    let (stay, others): (Vec<usize>, Vec<usize>) =
        stay.into_iter().partition(|it| matters(study, *it));
    let first =
        |of: &[usize]| listed(&of.iter().map(|it| study.setting(*it, 0)).collect::<Vec<_>>());
    let name = |it: &usize| study.factor_name(*it).to_owned();
    let others: Vec<String> = others.iter().map(name).collect();
    let mut reason = format!("Compared with {}.", first(&moved));
    match stay.len() {
        0 => {}
        1 => reason.extend([" ", &first(&stay), " matters, too, and stays."]),
        _ => reason.extend([" ", &first(&stay), " matter, too, and stay."]),
    }
    match others.len() {
        0 => {}
        1 => reason.extend([" ", &listed(&others), " was not shown to matter, and is left alone."]),
        _ => {
            reason.extend([
                " ",
                &listed(&others),
                " were not shown to matter, and are left alone.",
            ]);
        }
    }
    reason
}

fn command(study: &Study<'_>, levels: &[usize], factors: &[usize]) -> Option<String> {
    let request = |factor: &usize| {
        let level = study.level(*factor, levels.get(*factor).copied().unwrap_or(0));
        study.design().factors.get(*factor)?.request(level)
    };
    let requests: Vec<String> = factors.iter().filter_map(request).collect();
    let words: Vec<String> = requests.iter().map(|it| for_shell(it)).collect();
    let consent = i_know(&requests, study.experiment);
    (!words.is_empty()).then(|| format!("fullclock apply{consent} {}", words.join(" ")))
}

/// Quoted where a shell would read more than a word.
fn for_shell(request: &str) -> String {
    // The library would quote an equals sign, too, which means something to a shell in its first word only.
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "=:.,_-+/@%".contains(it);
    if request.chars().all(is_plain) {
        return request.to_owned();
    }
    // Only a NUL byte cannot be quoted, and no argument holds one.
    shlex::try_quote(request).map_or_else(|_| request.to_owned(), std::borrow::Cow::into_owned)
}

/// ` --i-know` if any request (`c1e=off`) is refused without it, on any machine or on that of the study.
pub(super) fn i_know<'a>(
    requests: impl IntoIterator<Item = &'a String>,
    experiment: &Experiment,
) -> &'static str {
    let is_refused = |request: &String| {
        let id = request.split_once('=').map_or(&**request, |it| it.0);
        rules::settings::find(id).is_some_and(|it| it.risk == Risk::High)
            || experiment.with_consent.iter().any(|it| it == id)
    };
    if requests.into_iter().any(is_refused) { " --i-know" } else { "" }
}

/// ` --i-know` if the study varies a setting that needs it, or its trials bring back a fault that a setting fixes.
pub fn i_know_of(experiment: &Experiment) -> &'static str {
    let factors = &experiment.design.factors;
    let requests = factors
        .iter()
        .flat_map(|factor| factor.levels.iter().filter_map(move |level| factor.request(level)));
    if factors.iter().any(|it| rules::settings::only_fixes(&it.name)) {
        return " --i-know";
    }
    i_know(&requests.collect::<Vec<String>>(), experiment)
}

/// The command that runs the plan of `plan.toml`.
pub(in crate::experiment) fn command_line(study: &Study<'_>) -> String {
    format!("fullclock experiment{} plan.toml", i_know_of(study.experiment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture;
    use lab::experiment::{Design, Factor};

    fn of(recommendation: Recommendation) -> Advice {
        let (record, mut analysis) = fixture::study();
        analysis.recommendation = recommendation;
        advice(&Study::of(&record, &analysis).unwrap())
    }

    #[test]
    fn a_change_has_the_line_that_makes_it_and_says_what_is_left_alone() {
        let advice = of(Recommendation::Change {
            levels: vec![1, 0, 0],
            expected: vec![-0.55, -0.55],
            slower: Vec::new(),
            slower_where: Vec::new(),
            was_run: false,
            left_out: vec![vec![1, 1, 0]],
        });
        // C6 was shown to matter together with the load, so its level is part of what is recommended.
        assert_eq!(
            advice.command.as_deref(),
            Some("fullclock apply governor=performance idle-state=C6:on")
        );
        assert_eq!(
            advice.reason,
            "Compared with governor=powersave. idle-state.C6=on matters, too, and stays. These levels were not run \
             together: measure them before you keep them. Left out, because trials failed with it: governor=performance \
             with idle-state.C6=off, which is expected to be faster."
        );
    }

    #[test]
    fn keeping_the_first_levels_has_the_line_that_brings_them_about() {
        let advice = of(Recommendation::Keep { because: vec![0], left_out: Vec::new() });
        assert_eq!(advice.command.as_deref(), Some("fullclock apply governor=powersave"));
        let start = "governor was shown to matter, and no other combination was shown to be faster on the whole. \
                     governor=performance makes cpu-loop";
        assert!(advice.reason.starts_with(start), "{}", advice.reason);
        let depends = "What idle-state.C6 does depends on load: idle-state.C6=off makes the speed of cpu-speed 13.1 % lower";
        assert!(advice.reason.contains(depends), "{}", advice.reason);
    }

    #[test]
    fn what_depends_on_a_condition_has_no_command() {
        let advice = of(Recommendation::Depends);
        assert_eq!(advice.command, None);
        assert_eq!(
            advice.reason,
            "No change is recommended: no level of idle-state.C6 was shown to be faster on the whole. Choose it for \
             the load that you have."
        );
    }

    #[test]
    fn what_apply_refuses_without_a_word_has_it_in_the_command() {
        let (mut record, mut analysis) = fixture::study();
        let design = &mut record.experiment.as_mut().unwrap().design;
        "c1e".clone_into(&mut design.factors[0].name);
        design.factors[0].levels = vec!["on".to_owned(), "off".to_owned()];
        analysis.recommendation = Recommendation::Keep { because: vec![0], left_out: Vec::new() };
        let advice = advice(&Study::of(&record, &analysis).unwrap());
        assert_eq!(advice.command.as_deref(), Some("fullclock apply --i-know c1e=on"));
    }

    #[test]
    fn a_request_is_one_word_for_a_shell() {
        assert_eq!(for_shell("idle-state=C6:off"), "idle-state=C6:off");
        assert_eq!(for_shell("governor=x; reboot"), "'governor=x; reboot'");
    }

    #[test]
    fn nothing_to_do_has_no_command() {
        let advice = of(Recommendation::Unsettled { why: "every trial failed".to_owned() });
        assert_eq!(advice.command, None);
    }

    fn experiment(design: Design) -> Experiment {
        Experiment::of(design, Vec::new(), 1)
    }

    #[test]
    fn only_what_is_refused_without_it_asks_for_it() {
        let mut study = experiment(Design::default());
        let of = |requests: &[&str], study: &Experiment| {
            i_know(&requests.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>(), study)
        };
        assert_eq!(of(&["governor=performance", "c1e=off@0-3"], &study), " --i-know");
        assert_eq!(of(&["governor=performance", "idle-state=C6:off"], &study), "");
        study.with_consent = vec!["clocksource".to_owned()];
        assert_eq!(of(&["governor=performance"], &study), "");
        assert_eq!(of(&["governor=performance", "clocksource=hpet"], &study), " --i-know");
    }

    #[test]
    fn a_study_that_brings_a_fault_back_asks_for_it_and_mending_the_fault_does_not() {
        let levels = [Factor::AS_FOUND, "off"].map(str::to_owned).to_vec();
        let factor = Factor { name: "on-demand-modulation".to_owned(), levels };
        let request = factor.request("off").unwrap();
        let mut study = experiment(Design { factors: vec![factor], ..Design::default() });
        assert_eq!(i_know_of(&study), " --i-know");
        assert_eq!(i_know(std::slice::from_ref(&request), &study), "");
        // On this model the register is not known to work as documented.
        study.with_consent = vec!["on-demand-modulation".to_owned()];
        assert_eq!(i_know(&[request], &study), " --i-know");
    }

    #[test]
    fn the_command_asks_for_what_can_do_harm_where_the_plan_varies_it() {
        let (mut record, analysis) = fixture::study();
        let of =
            |record: &lab::record::Record| command_line(&Study::of(record, &analysis).unwrap());
        assert_eq!(of(&record), "fullclock experiment plan.toml");
        let design = &mut record.experiment.as_mut().unwrap().design;
        design.factors[0] =
            Factor { name: "c1e".to_owned(), levels: vec!["on".to_owned(), "off".to_owned()] };
        assert_eq!(of(&record), "fullclock experiment --i-know plan.toml");
    }
}
