//! `fullclock experiment`: settings by workloads, run in random order and settled by analysis, with a report.

mod arms;
mod asked;
mod beside;
mod boots;
mod cases;
mod guards;
mod load;
mod looks;
mod machine;
mod resume;
mod session;
mod study;
mod until;

pub(crate) use load::{Busy, occupy};
pub(crate) use machine::under;

use crate::cli::{Arguments, ExperimentArguments, ReportArguments};
use crate::commands::{bench, change};
use crate::output::{self};
use anyhow::{Context, Result, anyhow, bail};
use beside::{Loads, Work};
use boots::ThisBoot;
use engine::change::Executor;
use engine::interrupt::Interrupt;
use engine::measure::costs;
use engine::results_folder::results_folder;
use facts::quantity::roughly;
use facts::{CpuSet, HostView};
use host::Live;
use host::change::Changer;
use lab::bench::{Plan, PlannedArm};
use lab::doubt::Doubt;
use lab::experiment::analysis::LEAST_BLOCKS;
use lab::experiment::{Combination, Design, Experiment, Kind};
use lab::failure::Failure;
use lab::record::{Fingerprint, Record};
use lab::workload::Scene;
use machine::{Arena, Changing, Mending, Plans};
use report::experiment::Study as Told;
use session::Session;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub(super) fn run(arguments: &Arguments, options: &ExperimentArguments) -> Result<ExitCode> {
    if let [first, rest @ ..] = &options.what[..]
        && first == "resume"
    {
        return resume::run(arguments, options, rest);
    }
    let changer =
        if options.dry_run { None } else { machine::recover(arguments, &options.state.state_dir)? };
    let host = host::view(&Live::this_machine());
    let design = asked::design(options, &host)?;
    let tell = |study: &Told<'_>| study::words(arguments, study);
    anew((arguments, options, &tell), changer, design, &host)
}

/// A study that another command plans, and tells in its own words.
pub(crate) fn of_design(
    (arguments, options): (&Arguments, &ExperimentArguments),
    design: Design,
    tell: &Tell<'_>,
) -> Result<ExitCode> {
    let changer =
        if options.dry_run { None } else { machine::recover(arguments, &options.state.state_dir)? };
    let host = host::view(&Live::this_machine());
    let design = asked::whole(design, options)?;
    anew((arguments, options, tell), changer, design, &host)
}

/// What a study is told in when its trials are over.
pub(crate) type Tell<'a> = dyn Fn(&Told<'_>) -> Result<String> + 'a;

fn anew(
    (arguments, options, tell): (&Arguments, &ExperimentArguments, &Tell<'_>),
    changer: Option<Changer>,
    design: Design,
    host: &HostView,
) -> Result<ExitCode> {
    let mut study = Study::of(design, host, options)?;
    let interrupt = Interrupt::listen()?;
    study.fit(&interrupt, arguments)?;
    let plan = study.plan(options.seed.unwrap_or_else(|| fastrand::u64(..Experiment::SEEDS)))?;
    study.show(arguments, options.dry_run)?;
    if options.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    let folder = folder(options)?.join(&plan.id);
    let means = Means { arguments, options, interrupt: &interrupt, changer, tell };
    study.run(means, plan, Begin::Anew(folder))
}

/// With what a study is run.
struct Means<'a> {
    arguments: &'a Arguments,
    options: &'a ExperimentArguments,
    interrupt: &'a Interrupt,
    /// Held from before the machine was looked at; none without root.
    changer: Option<Changer>,
    tell: &'a Tell<'a>,
}

/// `fullclock report STUDY`.
pub(super) fn report(arguments: &Arguments, options: &ReportArguments) -> Result<ExitCode> {
    let (record, folder) = study::read(&options.study)?;
    let to = options.to.as_deref().unwrap_or(&folder);
    study::report((arguments, &|it| study::words(arguments, it)), &record, to)?;
    Ok(ExitCode::SUCCESS)
}

/// Where studies are kept, each in a folder of its own.
fn folder(options: &ExperimentArguments) -> Result<PathBuf> {
    match &options.results {
        Some(chosen) => Ok(chosen.clone()),
        None => Ok(results_folder(None)?.join("experiments")),
    }
}

/// How a run begins.
enum Begin {
    /// In this folder.
    Anew(PathBuf),
    /// Behind the trials of an earlier one.
    Behind(Box<resume::Earlier>),
}

/// Where a study is kept.
struct Place {
    folder: PathBuf,
    /// There once it began.
    journal: Option<lab::store::Journal>,
}

impl Begin {
    /// The plan of what is left, and where it is kept.
    fn place(self, plan: Plan) -> Result<(Plan, Place)> {
        match self {
            Begin::Anew(folder) => Ok((plan, Place { folder, journal: None })),
            Begin::Behind(earlier) => {
                let resume::Earlier { journal, record, folder } = *earlier;
                Ok((resume::behind(plan, record)?, Place { folder, journal: Some(journal) }))
            }
        }
    }
}

/// A design, and what it comes to on this machine.
struct Study<'h> {
    design: Design,
    host: &'h HostView,
    allowed: CpuSet,
    combinations: Vec<Combination>,
    arms: Vec<PlannedArm>,
    plans: Plans,
    /// The settings that this machine takes only with the user's consent.
    with_consent: Vec<String>,
    /// Where a level mends a fault.
    mending: Option<Mending>,
    /// Whether a setting is changed around trials.
    varies_settings: bool,
    /// How long a trial of each workload took, in seconds.
    lengths: Vec<f64>,
}

impl<'h> Study<'h> {
    /// Errors: everything that the plan asks for and this machine does not have.
    fn of(design: Design, host: &'h HostView, options: &ExperimentArguments) -> Result<Study<'h>> {
        let allowed = host::probe::allowed()?;
        let combinations = lab::experiment::arms(&design)?;
        let arms = arms::planned(&design, &combinations, &allowed)?;
        boots::are_possible(&design, host, options.i_know)?;
        let plans = Plans::of(&design, &combinations, host, options.i_know)?;
        let mending = Mending::of(&plans, host);
        // Without consent there would be no plans of what is refused without it.
        let with_consent = if options.i_know { plans.with_consent(host) } else { Vec::new() };
        let at_boot = design.boots.as_ref().map_or(&[][..], |it| &it.factors);
        let mut factors = design.factors.iter().enumerate();
        let varies_settings =
            factors.any(|(at, it)| it.kind() == Kind::Setting && !at_boot.contains(&at));
        Ok(Study {
            design,
            host,
            allowed,
            combinations,
            arms,
            plans,
            with_consent,
            mending,
            varies_settings,
            lengths: Vec::new(),
        })
    }

    fn scene<'s>(&'s self, interrupt: &'s Interrupt) -> Scene<'s> {
        let (allowed, temporary) = (self.allowed.clone(), std::env::temp_dir());
        Scene { host: self.host, allowed, temporary, stop: interrupt.flag() }
    }

    /// Runs each workload once, to know how long a trial takes, and fits the trials into the budget.
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a trial takes is to be told before the first"
    )]
    fn fit(&mut self, interrupt: &Interrupt, arguments: &Arguments) -> Result<()> {
        bench::clear_up(arguments, &std::env::temp_dir(), None);
        let loads = Loads::on(self.host, &self.allowed);
        for workload in 0..self.design.workloads.len() {
            let first = self.combinations.iter().position(|it| it.workload == workload);
            let Some(arm) = first.and_then(|it| self.arms.get(it)) else { continue };
            let scene = self.scene(interrupt);
            let mut ready = (arm.workload.prepare)(&arm.settings, &scene)?;
            self.leaves_room(workload, ready.cpus(), &loads)?;
            let began = Instant::now();
            ready.trial(&scene).with_context(|| format!("a first trial of {}", arm.name))?;
            ready.settle()?;
            self.lengths.push(began.elapsed().as_secs_f64());
        }
        let Some(budget) = self.design.budget else { return Ok(()) };
        let of_one = session::length(
            &self.lengths,
            self.n_combinations(),
            &Design { trials: 1, warm_up: 0, ..self.design.clone() },
        );
        let rounds = (budget.as_secs_f64() / of_one.as_secs_f64().max(1e-9)) as u32;
        let fitting = rounds.saturating_sub(self.design.warm_up) / 2 * 2;
        if fitting < 2 * LEAST_BLOCKS {
            bail!(
                "--budget {}: {} arms take {} for one trial each, and fewer than {} trials of each tell nothing; leave out \
                 levels, or give it {}",
                words(budget),
                self.arms.len(),
                words(of_one),
                2 * LEAST_BLOCKS,
                words(of_one * (2 * LEAST_BLOCKS + self.design.warm_up))
            );
        }
        self.design.trials = self.design.trials.min(fitting);
        Ok(())
    }

    /// Whether the arms of a workload, which keeps to these CPUs where it is told of none, leave CPUs to their loads.
    fn leaves_room(&self, workload: usize, cpus: Option<&CpuSet>, loads: &Loads) -> Result<()> {
        let arms = self.combinations.iter().zip(&self.arms);
        for (combination, arm) in arms.filter(|it| it.0.workload == workload) {
            let cpus = arm.settings.cpus()?.or_else(|| cpus.cloned());
            loads.beside(&self.design, combination, &Work { id: arm.workload.id, cpus })?;
        }
        Ok(())
    }

    fn n_combinations(&self) -> usize {
        self.arms.len() / self.design.workloads.len().max(1)
    }

    /// What is going to be run. For programs it is told where it is all that there is: a report follows otherwise.
    fn show(&self, arguments: &Arguments, is_all: bool) -> Result<()> {
        let output = &arguments.output;
        if self.mending.is_some() {
            let text = "what was found is a fault: it is mended for some of the trials, brought back for the others, and in \
                        force again at the end";
            output::note(output, text);
        }
        if (output.json && !is_all) || (output.quiet && !output.json) {
            return Ok(());
        }
        let length = session::length(&self.lengths, self.n_combinations(), &self.design);
        let planned = report::experiment::Planned {
            design: &self.design,
            arms: &self.combinations,
            names: self.arms.iter().map(|it| it.name.as_str()).collect(),
            length,
            trial_seconds: &self.lengths,
        };
        let text = if output.json {
            report::experiment::planned_json(&planned)?
        } else {
            report::experiment::planned(&planned, output::style(output.color))
        };
        output::print(&text)
    }

    /// The trials, in an order that a seed decides.
    fn plan(&self, seed: u64) -> Result<Plan> {
        let (id, began) = bench::moment(&slug(&self.design));
        Ok(Plan {
            arms: Vec::new(),
            trials: self.design.trials,
            seed,
            id,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            began,
            machine: Fingerprint::of(self.host),
            costs: costs::costs(self.host, &self.allowed),
            is_whole: true,
            warm_up: self.design.warm_up,
            experiment: Some(Experiment {
                with_consent: self.with_consent.clone(),
                ..Experiment::of(self.design.clone(), self.combinations.clone(), seed)
            }),
            so_far: Vec::new(),
            boot: None,
        })
    }

    fn run(mut self, means: Means<'_>, plan: Plan, begin: Begin) -> Result<ExitCode> {
        let arguments = means.arguments;
        let mending = self.mending.take();
        let ended = self.in_this_boot(means, plan, begin);
        let is_due = |it: &Mending| it.is_due(&host::view(&Live::this_machine()));
        if let Some(Mending { command, .. }) = mending.filter(is_due) {
            let text = format!("the fault that was found is in force again: `{command}` mends it");
            output::note(&arguments.output, &text);
        }
        ended
    }

    /// Runs what can be run before the next reboot; all of it where it takes none.
    fn in_this_boot(mut self, means: Means<'_>, plan: Plan, begin: Begin) -> Result<ExitCode> {
        let Means { arguments, options, interrupt, mut changer, tell } = means;
        let i_know = options.i_know;
        let (mut plan, place) = begin.place(plan)?;
        let is_changed = self.varies_settings || self.design.boots.is_some();
        if is_changed {
            machine::may_vary(arguments)?;
        }
        let source = Live::this_machine();
        let experiment = plan.experiment.clone();
        let mut boot = match (&experiment, &changer) {
            (Some(it), Some(changer)) => ThisBoot::of(it, self.host, changer.machine(), i_know)?,
            _ => None,
        };
        plan.boot = boot.as_mut().map(|it| it.part(&plan.so_far)).transpose()?;
        let plans = std::mem::replace(&mut self.plans, Plans::none());
        let changing = changer.as_mut().filter(|_| self.varies_settings).map(|changer| {
            let command = change::command_words();
            Changing::of(Executor { changer, source: &source, interrupt, i_know, command }, plans)
        });
        let (loads, rest) = (Loads::on(self.host, &self.allowed), self.design.rest);
        let arena = Arena { arguments, interrupt, rest, changing, loads };
        let (record, outcome, place) = self.trials(plan, arena, place)?;
        let (Some(boot), Some(changer), Ok(())) = (boot, &mut changer, &outcome) else {
            return study::end((arguments, tell), place, &record, outcome);
        };
        let code = match record.is_complete {
            true => study::end((arguments, tell), place, &record, outcome)?,
            false => ExitCode::SUCCESS,
        };
        let command = boots::command(&record);
        let executor = Executor { changer, source: &source, interrupt, i_know, command };
        output::note(&arguments.output, &boot.next(&record, executor)?);
        Ok(code)
    }

    /// Runs them, and notes what is to be doubted.
    fn trials(
        &mut self,
        plan: Plan,
        arena: Arena<'_>,
        place: Place,
    ) -> Result<(Record, Result<(), Failure>, Place)> {
        let plan = Plan { arms: std::mem::take(&mut self.arms), ..plan };
        let scene = self.scene(arena.interrupt);
        let mut session = Session::new(arena, place, plan.so_far.len(), self.design.clone());
        let (mut record, outcome) = lab::bench::run(plan, &scene, &mut session)?;
        record.doubts.extend(lab::doubts::of(&record));
        if outcome.as_ref().is_err_and(|it| !matches!(it, Failure::Stopped)) {
            record.doubts.push(Doubt::CutShort.into());
        }
        let before = Fingerprint::of(self.host);
        for line in resume::differences(&before, &host::view(&Live::this_machine())) {
            output::complain(&anyhow!("meanwhile {line}: not by this experiment"));
        }
        Ok((record, outcome, session.place))
    }
}

/// The name of a study's folder: `case-tick`, `governor-load`.
fn slug(design: &Design) -> String {
    let names: Vec<&str> = design.factors.iter().map(|it| it.name.as_str()).collect();
    let case = design.name.split_once(": ").map(|(case, _)| case);
    let name =
        case.filter(|it| it.starts_with("case:")).map_or_else(|| names.join("-"), str::to_owned);
    let plain = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
    name.chars().map(plain).take(40).collect()
}

/// A time in a unit that one can wait in.
fn words(time: Duration) -> String {
    roughly(time.as_secs_f64())
}
