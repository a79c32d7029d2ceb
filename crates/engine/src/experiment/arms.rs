//! The arms of a design as trials that can be run: a workload with its options each, named after what it combines.

use anyhow::{Context, Result, bail};
use facts::CpuSet;
use lab::bench::PlannedArm;
use lab::experiment::{Combination, Design, Factor, Kind};
use lab::workload::Setting;

/// Each combination as an arm: `workloads` are those of the design, each with its options.
///
/// Errors: options that a workload does not take, a place that it cannot be put.
pub(super) fn planned(
    design: &Design,
    arms: &[Combination],
    workloads: &[PlannedArm],
) -> Result<Vec<PlannedArm>> {
    let arm = |it: &Combination| {
        let of = workloads.get(it.workload).context("no such workload")?;
        let mut arm = PlannedArm { name: name(design, it), ..of.clone() };
        if let Some(cpus) = place(design, it) {
            if !arm.workload.takes.contains(&Setting::Cpus) {
                bail!("cpu={cpus}: {} does not run where it is told", arm.workload.id);
            }
            CpuSet::parse_list(cpus).with_context(|| format!("cpu={cpus}"))?;
            arm.settings.cpus = Some(cpus.to_owned());
        }
        let text = || format!("--workload {:?}", design.workloads[it.workload]);
        arm.workload.accepts(&arm.settings).with_context(text)?;
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
    use super::*;
    use lab::experiment::arms;
    use lab::workload::Settings;
    use lab::workloads::find;

    fn names(words: &[&str], workloads: &[&str]) -> Result<Vec<(String, Option<String>)>> {
        let design = Design {
            factors: words.iter().map(|it| Factor::parse(it).unwrap()).collect(),
            workloads: workloads.iter().map(|it| (*it).to_owned()).collect(),
            ..Design::default()
        };
        let workload = |id: &&str| PlannedArm {
            name: (*id).to_owned(),
            workload: find(id).unwrap(),
            settings: Settings::default(),
        };
        let workloads: Vec<PlannedArm> = workloads.iter().map(workload).collect();
        let planned = planned(&design, &arms(&design).unwrap(), &workloads)?;
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
    fn a_place_is_a_list_of_cpus() {
        let error = format!("{:#}", names(&["cpu=0,first"], &["cpu-loop"]).unwrap_err());
        assert!(error.starts_with("cpu=first: "), "{error}");
    }
}
