//! Which limit of polling suits a controller: the design of a sweep, and a model of what it shows.

use super::timed;
use crate::Tell;
use crate::experiment::under;
use crate::interrupt::Interrupt;
use anyhow::{Context, Result, bail};
use facts::HostView;
use host::Live;
use lab::experiment::{Design, Factor, Tuning};
use lab::failure::Failure;
use lab::ipmi::{Asker, Forecast, Foretold, Heard, Listener, Model, Polling, Times, tick};
use std::path::Path;
use std::time::Duration;

/// Which limits are tried, and how often.
pub struct Sweep<'a> {
    /// In microseconds; 0 is none, and the others are compared with the first.
    pub limits: &'a [u32],
    /// Whether each is tried while the other CPUs are busy, too.
    pub is_loaded: bool,
    /// Round trips of each kind in a trial.
    pub iterations: u64,
    /// Trials of each limit and load.
    pub trials: u32,
    /// How long all of them may take.
    pub budget: Option<Duration>,
}

/// Every limit under every load; whoever asks has a CPU that the load leaves alone.
///
/// Errors: there are not two CPUs for that.
pub fn design(sweep: &Sweep<'_>, host: &HostView) -> Result<Design> {
    let allowed = host::probe::allowed()?;
    let online = host.topology.online.as_ref().map_err(Clone::clone)?;
    let cpus = allowed.and(online);
    let cpu = cpus.last().context("this program may run on no CPU")?;
    if cpus.len() < 2 && sweep.is_loaded {
        bail!(
            "a load during the questions takes a second CPU, and this program may run on {cpu} alone: --no-load leaves it out"
        );
    }
    let limits = sweep.limits.iter().map(u32::to_string).collect();
    let mut factors = vec![Factor { name: Tuning::SETTING.to_owned(), levels: limits }];
    if sweep.is_loaded {
        let levels = [Factor::IDLE, Factor::ALL_CORES].map(str::to_owned).to_vec();
        factors.push(Factor { name: Tuning::LOAD.to_owned(), levels });
    }
    let workload = format!("ipmi-roundtrip --cpus {cpu} --iterations {}", sweep.iterations);
    let name = "how long kipmi0 may poll this controller without a pause".to_owned();
    let workloads = vec![workload];
    let (trials, budget) = (sweep.trials.next_multiple_of(2), sweep.budget);
    Ok(Design { name, factors, workloads, trials, budget, ..Design::default() })
}

/// As many round trips of each kind are listened to.
const LISTENED: u64 = 100;

/// A model that is right of the trials without a limit, where the sweep has them: they met the machine that the others did.
pub fn fitted(model: Forecast, tuning: &Tuning) -> Forecast {
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
/// this: what it fails at now, it would fail at in every trial. `changed` is the folder of the journal, and the command that it
/// notes.
pub fn forecast(
    host: &HostView,
    polling: &Polling,
    changed: (&Path, Vec<String>),
    tell: &mut Tell<'_>,
) -> Result<Model> {
    let interrupt = Interrupt::listen()?;
    let mut heard = Err("nothing was asked".to_owned());
    let mut listen = || {
        heard = listened(host, polling, &interrupt)?;
        Ok(())
    };
    under(&format!("{}=0", Tuning::SETTING), changed, &interrupt, &mut listen, tell)?;
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
    let trips = || timed(|| asker.trips(LISTENED, interrupt.flag(), &mut times));
    let (((asked, elapsed), polled), waits) = listener.during(|| polling.during(&live, trips));
    asked?;
    let Some(polled) = polled else {
        return Ok(Err("what kipmi0 takes of a CPU is unknown".to_owned()));
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
