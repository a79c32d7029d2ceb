//! What is asked for, as a design: a plan file or a case, and the words and options of the command line over it.

use crate::commands::experiment::{ExperimentArguments, ShapeName};
use anyhow::{Context, Result, bail};
use engine::experiment::{cases, plan_boots};
use facts::HostView;
use lab::experiment::analysis::LEAST_BLOCKS;
use lab::experiment::{Design, Factor, Guards, Kind, Shape, plan_file};
use std::path::Path;

/// One thread, and every core: what helps the one may harm the other. Every core leaves none to a load.
const WORKLOADS: [&str; 2] = ["cpu-loop", "all-cores"];
/// Eight blocks of two: enough for one effect among many to stand out.
const TRIALS: u32 = 16;
/// More trials, or rounds before them, than anybody waits for.
const MOST: u32 = 100_000;
/// Where trials go on until effects are known well enough, the fewest that say how well they are known: eight blocks.
const LEAST: u32 = 16;

pub(super) fn design(options: &ExperimentArguments, host: &HostView) -> Result<Design> {
    let mut design = Design::default();
    let mut factors = Vec::new();
    for word in &options.what {
        if let Some(case) = word.strip_prefix("case:") {
            design = cases::design(case, host)?;
        } else if word.contains('=') {
            factors.push(Factor::parse(word).context("it has no =")?);
        } else if Path::new(word).extension().is_some_and(|it| it == "toml") {
            design = plan_file::read(Path::new(word))?;
            design.factors =
                design.factors.into_iter().map(|it| Factor::named(&it.name, it.levels)).collect();
        } else {
            bail!(
                "{word:?} is not FACTOR=LEVELS (governor=performance,powersave), a .toml plan file or case:NAME"
            );
        }
    }
    design.factors.extend(factors);
    whole(design, options)
}

/// A design with what the options say besides, and what nobody says.
///
/// Errors: it makes no sense on any machine.
fn whole(mut design: Design, options: &ExperimentArguments) -> Result<Design> {
    over(&mut design, options);
    check(&design)?;
    plan_boots(&mut design, options.boots)?;
    Ok(design)
}

/// The plan of a study is what it began with.
pub(super) fn refuse_on_resume(options: &ExperimentArguments) -> Result<()> {
    let given = [
        ("--workload", !options.workloads.is_empty()),
        ("--shape", options.shape.is_some()),
        ("--trials", options.trials.is_some()),
        ("--until", options.until.is_some()),
        ("--warm-up", options.warm_up.is_some()),
        ("--rest", options.rest.is_some()),
        ("--budget", options.budget.is_some()),
        ("--boots", options.boots.is_some()),
        ("--seed", options.seed.is_some()),
        ("--max-temperature", options.max_temperature.is_some()),
        ("--max-stolen", options.max_stolen.is_some()),
        ("--max-other-load", options.max_other_load.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => bail!("{option}: a study goes on as it was planned; leave it out"),
    }
}

/// Options go before what a file says.
fn over(design: &mut Design, options: &ExperimentArguments) {
    if !options.workloads.is_empty() {
        design.workloads.clone_from(&options.workloads);
    }
    if design.workloads.is_empty() {
        let is_loaded = design.factors.iter().any(|it| it.kind() == Kind::Load);
        let workloads = if is_loaded { &WORKLOADS[..1] } else { &WORKLOADS[..] };
        design.workloads = workloads.iter().map(|it| (*it).to_owned()).collect();
    }
    if let Some(shape) = options.shape {
        design.shape = match shape {
            ShapeName::Full => Shape::Full,
            ShapeName::OneAtATime => Shape::OneAtATime,
            ShapeName::Fraction => Shape::Fraction,
        };
    }
    design.until = options.until.or(design.until);
    let least = if design.until.is_some() { LEAST } else { TRIALS };
    let planned = if design.trials == 0 { least } else { design.trials };
    // Blocks hold every arm twice.
    design.trials = options.trials.unwrap_or(planned);
    design.trials = design.trials.saturating_add(design.trials % 2);
    design.warm_up = options.warm_up.unwrap_or(design.warm_up);
    design.rest = options.rest.unwrap_or(design.rest);
    design.budget = options.budget.or(design.budget);
    let guards = &mut design.guards;
    guards.temperature = options.max_temperature.or(guards.temperature);
    guards.stolen = options.max_stolen.or(guards.stolen);
    guards.other_load = options.max_other_load.or(guards.other_load);
    if design.name.is_empty() {
        let names: Vec<&str> = design.factors.iter().map(|it| it.name.as_str()).collect();
        design.name = names.join(", ");
    }
}

/// What makes no sense on any machine.
fn check(design: &Design) -> Result<()> {
    if design.factors.is_empty() {
        bail!(
            "say what to vary: governor=performance,powersave, a plan file, or case:NAME ({}); `fullclock explain` lists the \
             settings",
            cases::names()
        );
    }
    amounts(design)?;
    for (place, factor) in design.factors.iter().enumerate() {
        let name = &factor.name;
        if let Some(other) = design.factors.iter().take(place).find(|it| is_the_same(it, factor)) {
            if other.name != *name {
                bail!("{} and {name} are the same; give all levels of it at once", other.name);
            }
            bail!("{name} is varied twice; give all of its levels at once");
        }
        for (place, level) in factor.levels.iter().enumerate() {
            if factor.levels.iter().take(place).any(|it| it == level) {
                bail!("{name} has the level {level} twice");
            }
            let is_load = [Factor::IDLE, Factor::ALL_CORES].contains(&level.as_str());
            if factor.kind() == Kind::Load && !is_load {
                bail!("load={level}: the levels of load are idle and all-cores");
            }
        }
        if factor.levels.len() < 2 {
            bail!("{name} has one level, {}; give two or more", factor.levels.join(","));
        }
    }
    Ok(())
}

/// Numbers that plan nothing, or nothing that ends.
fn amounts(design: &Design) -> Result<()> {
    let least = 2 * LEAST_BLOCKS;
    if !(least..=MOST).contains(&design.trials) {
        bail!("{} trials of each combination: expected {least} to {MOST}", design.trials);
    }
    if design.warm_up > MOST {
        bail!("{} trials to warm up: expected {MOST} at most", design.warm_up);
    }
    let Guards { temperature, stolen, other_load } = design.guards;
    let is_limit = |it: f64| it.is_finite() && it > 0.0;
    if let Some(degrees) = temperature.filter(|it| !is_limit(*it)) {
        bail!("a limit of {degrees} degrees Celsius: expected a number above 0, like 90");
    }
    if let Some(share) = [stolen, other_load].into_iter().flatten().find(|it| !is_limit(*it)) {
        bail!("a limit of {} %: expected a number above 0, like 2%", share * 100.0);
    }
    Ok(())
}

/// Whether both ask for the same, as `cpuidle.C6` and `idle-state.C6` do.
fn is_the_same(one: &Factor, other: &Factor) -> bool {
    one.name == other.name || {
        let asked = |it: &Factor| it.request("level");
        asked(one).is_some() && asked(one) == asked(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{Command, Invocation};
    use clap::Parser as _;

    #[test]
    fn levels_may_stand_in_brackets_and_one_is_compared_with_what_is_found() {
        let levels = |word: &str| Factor::parse(word).unwrap().levels.join("|");
        assert_eq!(levels("governor=[performance, powersave]"), "performance|powersave");
        assert_eq!(levels("governor=performance"), "as-found|performance");
        assert_eq!(levels("cpu=2,3"), "2|3");
        assert_eq!(levels("cpu=2"), "2");
    }

    #[test]
    fn what_makes_no_sense_is_told_before_anything_is_looked_at() {
        let of = |words: &[&str]| Design {
            factors: words.iter().map(|it| Factor::parse(it).unwrap()).collect(),
            trials: 16,
            ..Design::default()
        };
        let error = |words: &[&str]| check(&of(words)).unwrap_err().to_string();
        assert_eq!(error(&["cpu=2"]), "cpu has one level, 2; give two or more");
        assert!(error(&["load=idle,half"]).starts_with("load=half"));
        assert!(error(&["turbo=on,off", "turbo=off,on"]).starts_with("turbo is varied twice"));
        assert_eq!(error(&["turbo=on,on"]), "turbo has the level on twice");
        assert_eq!(
            error(&["cpuidle.C6=on,off", "idle-state.C6=on,off"]),
            "cpuidle.C6 and idle-state.C6 are the same; give all levels of it at once"
        );
        assert!(check(&of(&["cpuidle.C1=on,off", "idle-state.C6=on,off"])).is_ok());
        assert!(error(&[]).starts_with("say what to vary"));
    }

    #[test]
    fn numbers_that_settle_nothing_or_never_end_are_refused() {
        let told = |change: &dyn Fn(&mut Design)| {
            let factors = vec![Factor::parse("turbo=on,off").unwrap()];
            let mut design = Design { factors, trials: 16, ..Design::default() };
            change(&mut design);
            check(&design).map_or_else(|why| why.to_string(), |()| String::new())
        };
        for trials in [2, 4, u32::MAX] {
            let error = told(&|it| it.trials = trials);
            assert!(error.ends_with("expected 6 to 100000"), "{error}");
        }
        assert_eq!(told(&|it| it.trials = 6), "");
        assert!(told(&|it| it.warm_up = u32::MAX).contains("expected 100000 at most"));
        for limit in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            assert!(told(&|it| it.guards.temperature = Some(limit)).starts_with("a limit of"));
            assert!(told(&|it| it.guards.stolen = Some(limit)).starts_with("a limit of"));
        }
        assert_eq!(told(&|it| it.guards.temperature = Some(90.0)), "");
    }

    #[test]
    fn a_plan_with_more_trials_than_there_are_numbers_is_refused() {
        let mut design = Design { trials: u32::MAX, ..Design::default() };
        let parsed = Invocation::try_parse_from(["fullclock", "experiment", "turbo=on,off"]);
        let Some(Command::Experiment(options)) = parsed.unwrap().command else {
            panic!("it is an experiment");
        };
        over(&mut design, &options);
        assert_eq!(design.trials, u32::MAX);
    }
}
