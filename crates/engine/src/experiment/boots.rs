//! Factors that are in force only after a reboot: which part of a study this boot can run, and what the next one takes.

use crate::change::{Executor, Stop};
use anyhow::{Context, Result, anyhow, bail};
use facts::HostView;
use facts::change::{ChangeState, Recorded, Undone};
use host::change::{Force, Guarded, Machine};
use lab::bench::BootOf;
use lab::experiment::analysis::LEAST_BLOCKS;
use lab::experiment::{Boots, Design, Experiment, Factor, Part, Parts};
use lab::record::{Fingerprint, Record};
use rules::boot_edit::activation;
use rules::plan::{Plan, Request, edited_boot_line};
use rules::setting::Effect;

/// The default number of boots of each configuration: enough to distinguish an effect of a level from variation between boots.
const ROUNDS: u32 = 4;
/// The most boots of each configuration.
const MOST: u32 = 100;

/// What to do where the boot loader's file already has the edit.
const EDITED: &str = "the boot line is edited for it (`fullclock status` shows how)";

/// The name of the boot line in a fingerprint.
const BOOT_LINE: &str = "kernel boot line";

/// What no boot line changes; another value of one of them is another machine.
const LASTING: &[&str] = &[
    "cpu model",
    "cpu family, model, stepping",
    "cpu microcode",
    "cpu packages",
    "hypervisor",
    "container",
    "machine vendor",
    "machine product",
    "firmware vendor",
    "firmware version",
    "firmware date",
    "kernel release",
    "kernel CONFIG_HZ",
];

/// Plans the boots of a design in which a factor takes one; `asked` is how often each configuration is to be booted.
///
/// Errors: boots are requested and no factor takes a reboot; too few; a level that does not say what is to be booted;
/// limits of time, which a reboot does not keep.
pub fn plan(design: &mut Design, asked: Option<u32>) -> Result<()> {
    let asked = asked.or(design.boots.take().map(|it| it.rounds));
    let mut factors = Vec::new();
    for (place, factor) in design.factors.iter().enumerate() {
        if takes_reboot(factor) {
            factors.push(place);
        }
    }
    let Some(first) = factors.first().map(|it| &design.factors[*it]) else {
        if asked.is_some() {
            bail!("--boots: nothing that is varied takes a reboot; leave it out");
        }
        return Ok(());
    };
    if let Some(it) = factors.iter().map(|it| &design.factors[*it]).find(|it| has_found(it)) {
        bail!(
            "{}: as-found cannot be a level of a setting that takes a reboot; name it, or `none` for a boot line without it: {0}=none,...",
            it.name
        );
    }
    if design.until.is_some() || design.budget.is_some() {
        bail!(
            "{} takes reboots, so its length is unknown: leave out --until and --budget",
            first.name
        );
    }
    let rounds = asked.unwrap_or(ROUNDS);
    if !(LEAST_BLOCKS..=MOST).contains(&rounds) {
        bail!(
            "{rounds} boots of each: expected {LEAST_BLOCKS} to {MOST}; fewer do not tell a level from a boot"
        );
    }
    // Every boot has as many trials of an arm, in blocks of two.
    design.trials = design.trials.div_ceil(rounds).next_multiple_of(2) * rounds;
    design.boots = Some(Boots { factors, rounds });
    Ok(())
}

fn takes_reboot(factor: &Factor) -> bool {
    let requests = factor.levels.iter().filter_map(|it| factor.request(it));
    let parsed = requests.filter_map(|it| Request::parse(&it).ok());
    parsed.into_iter().any(|it| it.setting.effect == Effect::AtBoot)
}

fn has_found(factor: &Factor) -> bool {
    factor.levels.iter().any(|it| it == Factor::AS_FOUND)
}

/// Whether every level that takes a reboot is one that a boot line of this host may have.
///
/// Errors: one is not, with why.
pub(super) fn are_possible(design: &Design, host: &HostView, i_know: bool) -> Result<()> {
    for factor in factors(design) {
        for request in factor.levels.iter().filter_map(|it| factor.request(it)) {
            let parsed = Request::parse(&request).map_err(|error| anyhow!(error))?;
            line_with(&[parsed], host, "", i_know).context(request)?;
        }
    }
    Ok(())
}

fn line_with(requests: &[Request], host: &HostView, line: &str, i_know: bool) -> Result<String> {
    edited_boot_line(host, requests, line, i_know).map_err(|refusal| anyhow!("{refusal}"))
}

/// A study in the boot that this is.
pub(super) struct ThisBoot<'a> {
    design: &'a Design,
    host: &'a HostView,
    i_know: bool,
    id: String,
    parts: Parts,
    /// The boots in which parts ran, by the block of the trial that says so.
    seen: Vec<(u32, String)>,
}

impl<'a> ThisBoot<'a> {
    /// `None` where nothing that is varied takes a reboot.
    pub(super) fn of(
        experiment: &'a Experiment,
        host: &'a HostView,
        machine: &Machine,
        i_know: bool,
    ) -> Result<Option<ThisBoot<'a>>> {
        let Some(parts) = Parts::of(experiment) else { return Ok(None) };
        let id = machine.boot().context("cannot tell which boot this is")?;
        // As much of it as tells boots apart.
        let id = id.chars().take(8).collect();
        let design = &experiment.design;
        Ok(Some(ThisBoot { design, host, i_know, id, parts, seen: Vec::new() }))
    }

    /// The trials to run in this boot, after those that have been run.
    pub(super) fn part(&mut self, so_far: &[lab::trial::Trial]) -> Result<BootOf> {
        self.seen = so_far.iter().filter_map(|it| Some((it.block, it.boot.clone()?))).collect();
        let next = self.parts.next(so_far.len());
        let part = match next.and_then(|it| Some((it, self.parts.all().get(it)?))) {
            Some((place, part)) if self.is_in_force(part)? && self.is_fresh(part) => Some(place),
            _ => None,
        };
        Ok(BootOf { id: self.id.clone(), part })
    }

    /// Whether no other part ran in it: two parts of one boot are one observation.
    fn is_fresh(&self, part: &Part) -> bool {
        self.seen.iter().all(|(block, boot)| *boot != self.id || part.blocks.contains(block))
    }

    fn is_in_force(&self, part: &Part) -> Result<bool> {
        let line = self.host.kernel.boot_line.as_ref().map_err(|it| anyhow!("{it}"))?.text();
        let requests = self.requests(part)?;
        Ok(line_with(&requests, self.host, line, self.i_know)? == line)
    }

    fn requests(&self, part: &Part) -> Result<Vec<Request>> {
        let requests = factors(self.design).zip(&part.levels).map(|(factor, level)| {
            let request = factor.request(&factor.levels[*level]).unwrap_or_default();
            Request::parse(&request).map_err(|error| anyhow!(error))
        });
        requests.collect()
    }

    /// `nohz-full=none idle=poll`.
    fn name(&self, part: &Part) -> String {
        let level = |(factor, level): (&Factor, &usize)| {
            format!("{}={}", factor.name, factor.levels[*level])
        };
        factors(self.design).zip(&part.levels).map(level).collect::<Vec<_>>().join(" ")
    }

    /// Edits the boot line for the next part, and says what to do; where there is none, reverts every edit.
    pub(super) fn next(&self, record: &Record, mut executor: Executor<'_>) -> Result<String> {
        let Some(place) = self.parts.next(record.trials.len()) else {
            return Ok(taken_back(&take_back_edits(&mut executor)?));
        };
        let part = &self.parts.all()[place];
        let (n_parts, name) = (self.parts.all().len(), self.name(part));
        let requests = self.requests(part)?;
        let controls = host::controls(executor.source, &rules::plan::reads(&requests));
        let plan = rules::plan::plan(self.host, controls, &requests, self.i_know);
        let how = match plan.refused.first() {
            Some((_, refusal)) => refusal.to_string(),
            None => {
                let activate = activating(&plan);
                if !plan.is_idle() {
                    keep_edits(&mut executor, &plan)?;
                }
                activate.map_or_else(|| EDITED.to_owned(), |it| format!("run `{it}`"))
            }
        };
        Ok(format!(
            "part {} of {n_parts} takes a boot of its own with {name}: {how}, reboot, and then \
             `fullclock experiment resume {}`",
            place + 1,
            record.id
        ))
    }
}

/// The words of the command that edits the boot line for a study, in every boot of it.
pub(super) fn command(record: &Record) -> Vec<String> {
    ["experiment", "resume", &record.id].map(str::to_owned).to_vec()
}

/// The factors of a design that take a reboot.
fn factors(design: &Design) -> impl Iterator<Item = &Factor> {
    let places = design.boots.iter().flat_map(|it| &it.factors);
    places.map(|it| &design.factors[*it])
}

/// The command by which the edits of a plan reach the boot loader.
fn activating(plan: &Plan) -> Option<String> {
    plan.steps.iter().find_map(|it| it.change.activate.clone())
}

/// What is to be done once the boot line is as it was found.
fn taken_back(undone: &[Undone]) -> String {
    let left = undone.iter().find(|it| !it.fate.is_clean());
    if let Some(left) = left {
        return format!("{} could not be brought back: see `fullclock status`", left.target);
    }
    let paths = undone.iter().map(|it| it.target.to_string());
    match paths.into_iter().find_map(|it| activation(&it)) {
        Some(activate) => format!(
            "the boot line's file is as it was found: run `{activate}`, and the next boot is as before"
        ),
        None => "give the boot line back what it had, and the next boot is as before".to_owned(),
    }
}

/// Whether this is still the machine that a study began on, but for what its boot line does: in what it differs of that, in words.
///
/// Errors: it is another one, or its boot line differs in what the study does not vary.
pub(super) fn is_the_same_machine(
    record: &Record,
    experiment: &Experiment,
    host: &HostView,
) -> Result<Vec<String>> {
    let here = Fingerprint::of(host);
    let line = |of: &Fingerprint| of.0.get(BOOT_LINE).cloned().unwrap_or_default();
    let first: Vec<Request> = factors(&experiment.design)
        .filter_map(|it| Request::parse(&it.request(it.levels.first()?)?).ok())
        .collect();
    // With the same levels in both, what is left is what the study does not vary.
    let rest = |of: &Fingerprint| {
        let line = edited_boot_line(host, &first, &line(of), true).unwrap_or_else(|_| line(of));
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        words.sort();
        words
    };
    let told = record.machine.changes(&here);
    let is_lasting = |it: &&String| {
        LASTING.iter().any(|name| it.starts_with(&format!("{name} was ")))
            || (it.starts_with(BOOT_LINE) && rest(&record.machine) != rest(&here))
    };
    let lasting: Vec<&String> = told.iter().filter(is_lasting).collect();
    if !lasting.is_empty() {
        bail!(
            "{}: the machine is not the one that it began on, and trials of both make no experiment:\n{}\nboot it as it was but \
             for {}, or begin anew; `fullclock report` shows what there is",
            record.id,
            lasting.iter().map(|it| format!("  {it}")).collect::<Vec<_>>().join("\n"),
            factors(&experiment.design)
                .map(|it| it.name.as_str())
                .collect::<Vec<_>>()
                .join(" and ")
        );
    }
    Ok(told.into_iter().filter(|it| !it.starts_with(BOOT_LINE)).collect())
}

/// Makes the edits of the boot line that a plan has, for the command of the executor. They stay until that command reverts
/// them, also in a later boot.
///
/// Errors: a write failed, and all are reverted.
fn keep_edits(executor: &mut Executor<'_>, plan: &Plan) -> Result<()> {
    let mut change = executor.begin(Guarded::No, false)?;
    match change.carry_out(plan) {
        Ok(()) => Ok(change.keep()?),
        Err(Stop::Failed { error, .. }) => bail!("{error}"),
        Err(Stop::Wanted(why)) => {
            change.undo()?;
            bail!("{why}")
        }
        Err(Stop::Broken(error)) => Err(error),
    }
}

/// Reverts every edit that the executor's command made, the latest first.
fn take_back_edits(executor: &mut Executor<'_>) -> Result<Vec<Undone>> {
    let command = &executor.command;
    let is_own = |it: &Recorded| it.command == *command && it.state != ChangeState::Reverted;
    let changes = executor.changer.journal().changes().iter();
    let mut ids: Vec<String> = changes.filter(|it| is_own(it)).map(|it| it.id.clone()).collect();
    ids.reverse();
    let mut undone = Vec::new();
    for id in ids {
        undone.extend(executor.changer.revert(&id, Force::No)?);
    }
    Ok(undone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn design(words: &[&str]) -> Design {
        let factors = words.iter().map(|it| Factor::parse(it).unwrap()).collect();
        Design { factors, trials: 16, ..Design::default() }
    }

    fn refusal(mut design: Design, asked: Option<u32>) -> String {
        plan(&mut design, asked).unwrap_err().to_string()
    }

    #[test]
    fn what_takes_a_reboot_is_booted_several_times_with_as_many_trials_in_each() {
        let mut of = design(&["governor=performance,powersave", "nohz-full=none,3"]);
        plan(&mut of, None).unwrap();
        assert_eq!((of.boots, of.trials), (Some(Boots { factors: vec![1], rounds: 4 }), 16));
        let mut of = design(&["idle=none,poll"]);
        plan(&mut of, Some(5)).unwrap();
        assert_eq!((of.boots, of.trials), (Some(Boots { factors: vec![0], rounds: 5 }), 20));
        let mut of = design(&["governor=performance,powersave"]);
        plan(&mut of, None).unwrap();
        assert_eq!((of.boots, of.trials), (None, 16));
    }

    #[test]
    fn boots_that_tell_nothing_are_refused() {
        let of = || design(&["nohz-full=none,3"]);
        assert!(refusal(of(), Some(2)).starts_with("2 boots of each: expected 3 to 100"));
        assert!(refusal(design(&["turbo=on,off"]), Some(4)).starts_with("--boots: nothing"));
        assert!(refusal(design(&["nohz-full=3"]), None).starts_with("nohz-full: as-found cannot"));
        let budget = Some(Duration::from_secs(60));
        assert!(
            refusal(Design { budget, ..of() }, None).contains("leave out --until and --budget")
        );
    }
}
