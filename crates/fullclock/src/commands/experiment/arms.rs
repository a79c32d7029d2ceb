//! The arms of a design as trials that can be run: a workload with its options each, named after what it combines.

use crate::commands::bench;
use anyhow::{Context, Result, bail};
use engine::passwords;
use facts::CpuSet;
use lab::bench::PlannedArm;
use lab::experiment::{Combination, Design, Factor, Kind};
use lab::workload::Setting;

/// Each combination as an arm.
///
/// Errors: a workload that does not exist, options it does not take, a place that it cannot be put.
pub(super) fn planned(
    design: &Design,
    arms: &[Combination],
    allowed: &CpuSet,
) -> Result<Vec<PlannedArm>> {
    let arm = |it: &Combination| {
        let text = design.workloads.get(it.workload).context("no such workload")?;
        passwords::refused_in("--workload", text)?;
        let name = name(design, it);
        let mut arm = bench::arms::of_text(&name, text, allowed)
            .with_context(|| format!("--workload {text:?}"))?;
        if let Some(cpus) = place(design, it) {
            if !arm.workload.takes.contains(&Setting::Cpus) {
                bail!("cpu={cpus}: {} does not run where it is told", arm.workload.id);
            }
            CpuSet::parse_list(cpus).with_context(|| format!("cpu={cpus}"))?;
            arm.settings.cpus = Some(cpus.to_owned());
        }
        arm.workload.accepts(&arm.settings).with_context(|| format!("--workload {text:?}"))?;
        Ok(arm)
    };
    arms.iter().map(arm).collect()
}

/// `governor=performance load=idle`, with the workload in front where there are several.
fn name(design: &Design, arm: &Combination) -> String {
    let level = |(factor, level): (&Factor, &usize)| {
        Some(format!("{}={}", factor.name, factor.levels.get(*level)?))
    };
    let levels: Vec<String> = design.factors.iter().zip(&arm.levels).filter_map(level).collect();
    let levels = levels.join(" ");
    match design.workloads.get(arm.workload) {
        Some(workload) if design.workloads.len() > 1 => format!("{workload}: {levels}"),
        _ => levels,
    }
}

/// The CPUs that a factor puts it on.
fn place<'d>(design: &'d Design, arm: &Combination) -> Option<&'d str> {
    let at = design.factors.iter().position(|it| it.kind() == Kind::Place)?;
    Some(design.factors[at].levels.get(*arm.levels.get(at)?)?)
}

#[cfg(test)]
mod tests {
    use super::super::asked::factor;
    use super::*;
    use lab::experiment::arms;

    fn names(words: &[&str], workloads: &[&str]) -> Result<Vec<(String, Option<String>)>> {
        let design = Design {
            factors: words.iter().map(|it| factor(it).unwrap()).collect(),
            workloads: workloads.iter().map(|it| (*it).to_owned()).collect(),
            ..Design::default()
        };
        let planned = planned(&design, &arms(&design).unwrap(), &[0, 1].into_iter().collect())?;
        Ok(planned.into_iter().map(|it| (it.name, it.settings.cpus)).collect())
    }

    #[test]
    fn arms_are_named_after_what_they_combine_and_run_where_a_factor_puts_them() {
        let found = names(&["cpu=0,1"], &["cpu-loop"]).unwrap();
        assert_eq!(found[1], ("cpu=1".to_owned(), Some("1".to_owned())));
        let found = names(&["load=idle,all-cores"], &["cpu-loop", "all-cores"]).unwrap();
        assert_eq!(found[3].0, "all-cores: load=all-cores");
    }

    #[test]
    fn a_password_goes_into_no_result_and_no_message() {
        let text = "plsql-loop --dsn postgres://me:secret@db1/x";
        let error = format!("{:#}", names(&["governor=a,b"], &[text]).unwrap_err());
        assert!(error.contains("PGPASSFILE") && !error.contains("secret"), "{error}");
        let without = "plsql-loop --dsn postgres://me@db1:5432/x";
        assert!(names(&["governor=a,b"], &[without, "./query --a=b"]).is_ok());
    }

    #[test]
    fn what_is_no_workload_is_a_command_and_a_place_is_a_list_of_cpus() {
        let found = names(&["cpu=0,1"], &["./query --fast"]).unwrap();
        assert_eq!(found[0].1.as_deref(), Some("0"));
        let error = format!("{:#}", names(&["cpu=0,first"], &["cpu-loop"]).unwrap_err());
        assert!(error.starts_with("cpu=first: "), "{error}");
    }
}
