//! `fullclock ipmi tune`: which limit of polling suits this controller, by an experiment.

use super::latency::lasting;
use crate::cli::{Arguments, TuneArguments};
use crate::commands::change::{apply, command_words, refuse_other_host};
use crate::commands::experiment;
use crate::output::{self};
use crate::tell::tell;
use anyhow::{Context, Result, anyhow, bail};
use engine::change::apply::{Task, What};
use engine::experiment::{Task as StudyTask, begin, reserve, under};
use engine::interrupt::Interrupt;
use facts::HostView;
use host::Live;
use lab::experiment::{Design, Factor, Tuning};
use lab::failure::Failure;
use lab::ipmi::{Asker, Forecast, Foretold, Heard, Listener, Polling, Times, tick};
use report::experiment::Study;
use report::ipmi::{Model, tune_json, tune_text};
use rules::plan::Request;
use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &TuneArguments) -> Result<ExitCode> {
    let host = host::view(&Live::this_machine());
    // Why there is none to ask goes before who polls it.
    drop(lab::ipmi::open(&host)?);
    let polling = Polling::of(&host, &Live::this_machine());
    polling
        .task()
        .map_err(|why| anyhow!("there is no kipmid to tune, as far as is known: {why}"))?;
    if arguments.output.json && (options.apply || options.persist) {
        bail!(
            "--json tells of the sweep alone: leave out --apply and --persist, and apply what it advises"
        );
    }
    refuse_other_host(arguments)?;
    let design = design(options, &host)?;
    let workloads = experiment::workloads(&design)?;
    let model: Model = if options.dry_run {
        Err("nothing was asked".to_owned())
    } else {
        forecast(arguments, &options.state.state_dir, &host, &polling)?
    };
    let found = RefCell::new(None);
    let words = |it: &Study<'_>| -> Result<String> {
        let tuning = Tuning::of(it.record).context("it varies no limit")?;
        let model = model.clone().map(|it| fitted(it, &tuning));
        let text = if arguments.output.json {
            tune_json(&tuning, &model, it)?
        } else {
            tune_text(&tuning, &model, it, output::style(arguments.output.color))
        };
        found.replace(it.record.is_complete.then_some(tuning));
        Ok(text)
    };
    let mut tell = tell(arguments);
    let changer = match options.dry_run {
        true => None,
        false => reserve(&options.state.state_dir, &mut tell)?,
    };
    let task = StudyTask {
        i_know: false,
        dry_run: options.dry_run,
        seed: options.seed,
        results: options.results.as_deref(),
        command: command_words(),
    };
    let host = host::view(&Live::this_machine());
    let ran = begin(design, &workloads, &host, changer, &task, &mut tell)?;
    drop(tell);
    let Some(ran) = ran else { return Ok(ExitCode::SUCCESS) };
    let code = experiment::end(arguments, ran, &words)?;
    if !options.apply && !options.persist {
        return Ok(code);
    }
    match found.into_inner() {
        Some(tuning) => apply(arguments, options, &tuning),
        None => bail!("the sweep is not whole: nothing is applied"),
    }
}

/// Every limit under every load; whoever asks has a CPU that the load leaves alone.
fn design(options: &TuneArguments, host: &HostView) -> Result<Design> {
    let allowed = host::probe::allowed()?;
    let online = host.topology.online.as_ref().map_err(Clone::clone)?;
    let cpus = allowed.and(online);
    let cpu = cpus.last().context("this program may run on no CPU")?;
    if cpus.len() < 2 && !options.no_load {
        bail!(
            "a load beside the questions takes a second CPU, and this program may run on {cpu} alone: --no-load leaves it out"
        );
    }
    let limits = options.limits.iter().map(u32::to_string).collect();
    let mut factors = vec![Factor { name: Tuning::SETTING.to_owned(), levels: limits }];
    if !options.no_load {
        let levels = [Factor::IDLE, Factor::ALL_CORES].map(str::to_owned).to_vec();
        factors.push(Factor { name: Tuning::LOAD.to_owned(), levels });
    }
    let workload = format!("ipmi-roundtrip --cpus {cpu} --iterations {}", options.iterations);
    let name = "how long kipmi0 may poll this controller without a pause".to_owned();
    let workloads = vec![workload];
    let (trials, budget) = (options.trials.next_multiple_of(2), options.budget);
    Ok(Design { name, factors, workloads, trials, budget, ..Design::default() })
}

/// As many round trips of each kind are listened to.
const LISTENED: u64 = 100;

/// A model that is right of the trials without a limit, where the sweep has them: they met the machine that the others did.
fn fitted(model: Forecast, tuning: &Tuning) -> Forecast {
    let unlimited = tuning.limits.iter().find(|it| it.limit == "0");
    let measured = unlimited
        .and_then(|it| it.conditions.first())
        .and_then(|it| Some(Foretold { both_ms: it.both_ms?, polled_ms: it.polled_ms? }));
    match measured {
        Some(measured) => model.fitted(measured),
        None => model,
    }
}

/// Listens to what the driver waits for while nothing limits it, and makes a model of that. The controller has to answer for
/// this: what it fails at now, it would fail at in every trial.
fn forecast(
    arguments: &Arguments,
    state_dir: &Path,
    host: &HostView,
    polling: &Polling,
) -> Result<Model> {
    let interrupt = Interrupt::listen()?;
    let mut heard = Err("nothing was asked".to_owned());
    let mut listen = || {
        heard = listened(host, polling, &interrupt)?;
        Ok(())
    };
    output::with_progress(&arguments.output, "listening to the interface ...", || {
        let request = format!("{}=0", Tuning::SETTING);
        let changed = (state_dir, command_words());
        under(&request, changed, &interrupt, &mut listen, &mut tell(arguments))
    })?;
    Ok(heard.and_then(Forecast::of))
}

fn listened(
    host: &HostView,
    polling: &Polling,
    interrupt: &Interrupt,
) -> Result<Result<Heard, String>, Failure> {
    let live = Live::this_machine();
    let mut asker = Asker::begin(lab::ipmi::open(host)?, LISTENED, None, interrupt.flag())?;
    let listener = match Listener::open(host, polling, &live) {
        Ok(listener) => listener,
        Err(why) => return Ok(Err(why)),
    };
    let mut times = Times::default();
    let trips = || lasting(|| asker.trips(LISTENED, interrupt.flag(), &mut times));
    let (((asked, elapsed), polled), waits) = listener.during(|| polling.during(&live, trips));
    asked?;
    let Some(polled) = polled else {
        return Ok(Err("what kipmi0 takes of a CPU is not known".to_owned()));
    };
    /// Since this version a timer of a jiffy ends with the second tick ([`lab::ipmi::PollingLoop`]).
    const ROUNDS_UP_SINCE: (u32, u32) = (4, 8);
    Ok(waits.map(|waits| Heard {
        waits,
        n_pairs: LISTENED,
        elapsed,
        polled,
        tick: tick(),
        rounds_up: host.kernel.version().is_ok_and(|it| it >= ROUNDS_UP_SINCE),
    }))
}

/// Applies the knee, as `fullclock apply` does.
fn apply(arguments: &Arguments, options: &TuneArguments, tuning: &Tuning) -> Result<ExitCode> {
    let Some(limit) = tuning.advised() else {
        let told = "nothing is applied: no limit was shown to be worth having";
        output::note(&arguments.output, told);
        return Ok(ExitCode::SUCCESS);
    };
    let request = Request::parse(&format!("{}={limit}", Tuning::SETTING));
    let task = Task {
        what: What::Requested(request.map_err(|error| anyhow!(error))?),
        i_know: false,
        persist: options.persist,
        confirm_within: None,
        prove: None,
        state_dir: &options.state.state_dir,
        command: command_words(),
    };
    apply::apply(arguments, task)
}
