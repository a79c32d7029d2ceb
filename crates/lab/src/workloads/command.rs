//! `command`: any command, by its elapsed time or by a figure that it prints.

use crate::child::{Group, Run, tail};
use crate::client::{Expression, Found};
use crate::failure::Failure;
use crate::known::Known;
use crate::server::{FoundServer, ServerSelection, find as find_server};
use crate::trial::{Better, Figure, FigureShape, Outcome};
use crate::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use facts::CpuSet;
use host::Live;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(super) const WORKLOAD: Workload = Workload {
    id: "command",
    title: "any command, by its elapsed time or a number that it prints",
    help: "\
## What it does
Runs a command to its end, again and again. `elapsed` is the time from its start to its end; with `--metric REGEX`, the figure
is the number that the expression's one group finds in what it prints, the last one where there are several (pgbench,
sysbench, HammerDB...). More of it is faster, as of a rate; `--better lower` says that it is a time.

With `--cpus`, the command and everything it starts run on those CPUs; a server that it talks to does not. A command that
fails, prints no such number or does not end within `--timeout` fails the trial. It reads nothing, and what it prints is not
shown. What it leaves running is ended with the bench, also where that is killed, unless it makes itself a process group or
a session of its own, as timeout(1) and servers do. A command that is stopped is stopped with all its descendants, those too.

With a connection string as `--server`, the counters of that server's log are read before each trial and after it, and a
comparison says what they explain: how many log syncs a commit takes, and how long each of them. The command is not told of it.

The result keeps its words, so a password or token among them is refused: give it in ~/.pgpass, an option file or the environment.

## What changes the result
Whatever moves the command's. Start and end of a process are in its time: `fullclock bench -- true` tells what they take.

## What it cannot know
Whether the command did the same each time. What a server did for it is known where `--server` names it: its CPU time and its
wait for a CPU are then kept with each trial, and its processes are no other tasks.
",
    figure: FigureShape::ELAPSED,
    takes: &[
        Setting::Cpus,
        Setting::Server,
        Setting::Metric,
        Setting::Better,
        Setting::Timeout,
        Setting::Command,
    ],
    placement: Placement::Anywhere,
    preparation: Preparation::Stateless,
    prepare,
};

const METRIC: FigureShape = FigureShape { name: "metric", unit: "", better: Better::Higher };

struct Command {
    words: Vec<String>,
    cpus: Option<CpuSet>,
    metric: Option<Expression>,
    better: Better,
    timeout: Option<Duration>,
    server: Option<(ServerSelection, FoundServer)>,
    temporary: PathBuf,
    /// The latest one, which has not been waited for.
    run: Option<Run>,
    /// What they run in; none before the first one, and after one that failed. It goes after the run.
    group: Option<Group>,
}

fn prepare(settings: &Settings, scene: &Scene<'_>) -> Result<Box<dyn Ready>, Failure> {
    if settings.command.is_empty() {
        let text = "command needs one: fullclock bench command -- PROGRAM ARGUMENTS";
        return Err(Failure::Unready(text.to_owned()));
    }
    if settings.better.is_some() && settings.metric.is_none() {
        let text = "--better is about the number of --metric; of elapsed time lower is better";
        return Err(Failure::Unready(text.to_owned()));
    }
    Ok(Box::new(Command {
        words: settings.command.clone(),
        cpus: settings.cpus()?,
        metric: settings.metric.as_deref().map(expression).transpose()?,
        better: settings.better.unwrap_or(METRIC.better),
        timeout: settings.timeout,
        server: settings.server.as_deref().map(|it| server(it, scene)).transpose()?,
        temporary: scene.temporary.clone(),
        run: None,
        group: None,
    }))
}

impl Ready for Command {
    fn trial(&mut self, scene: &Scene<'_>) -> Result<Outcome, Failure> {
        self.run = None;
        let group = self.group.take().map_or_else(Group::new, Ok)?;
        let mut run = Run::start(&group, &self.words, self.cpus.as_ref(), &self.temporary)?;
        let elapsed = run.wait(self.timeout, &|| scene.stop.load(Ordering::Relaxed))?;
        let printed = run.printed()?;
        let cpu_ns = run.cpu_ns();
        (self.run, self.group) = (Some(run), Some(group));
        let figure = match &self.metric {
            None => Figure::of(FigureShape::ELAPSED, elapsed.as_secs_f64()),
            Some(metric) => {
                let shape = FigureShape { better: self.better, ..METRIC };
                Figure::of(shape, find(metric, &self.words[0], &printed)?)
            }
        };
        Ok(Outcome {
            elapsed_ns: Known::Value(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)),
            cpu_ns,
            tasks: 0,
            figures: vec![figure].into(),
        })
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }

    fn settle(&mut self) -> Result<(), Failure> {
        self.run.take().map_or(Ok(()), Run::settle)
    }

    fn processes(&self) -> Vec<u32> {
        self.run.iter().map(Run::pid).collect()
    }

    fn ends_with_trial(&self) -> bool {
        true
    }

    fn server(&self) -> Option<ServerSelection> {
        self.server.as_ref().map(|it| it.0.clone())
    }

    fn about(&self) -> Vec<(String, String)> {
        let about = |(selection, found): &(ServerSelection, FoundServer)| {
            let value = match found.n_servers {
                1 => selection.to_string(),
                n => format!("{selection}, all {n} of them"),
            };
            ("server".to_owned(), value)
        };
        self.server.iter().map(about).collect()
    }
}

/// The server that the command works with, which has to run.
fn server(text: &str, scene: &Scene<'_>) -> Result<(ServerSelection, FoundServer), Failure> {
    let selection: ServerSelection =
        text.parse().map_err(|why| Failure::Unready(format!("--server: {why}")))?;
    let found = find_server(&selection, &Live::this_machine(), scene.stop)?;
    Ok((selection, found))
}

/// Errors: `text` is no regular expression with one group.
fn expression(text: &str) -> Result<Expression, Failure> {
    Expression::parse(text).map_err(|why| Failure::Unready(format!("--metric {text:?}: {why}")))
}

/// The number that `metric` finds in what `program` printed; the last one, which is that of the whole run where others
/// are of its parts.
fn find(metric: &Expression, program: &str, printed: &str) -> Result<f64, Failure> {
    match metric.last(printed) {
        Some(Found::Number(value)) => Ok(value),
        Some(Found::Text(text)) => Err(Failure::NoFigure(format!(
            "{program} printed {text:?} as its metric, which is not a finite number"
        ))),
        None => {
            let (regex, tail) = (metric.as_str(), tail(printed));
            let text = format!(
                "{program} printed nothing that matches --metric {regex:?}; its last words: {tail}"
            );
            Err(Failure::NoFigure(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::HostView;
    use host::probe::allowed;
    use std::sync::atomic::AtomicBool;

    fn host() -> HostView {
        host::view(&Live::this_machine())
    }

    /// What comes of one trial of a shell script.
    fn outcome(script: &str, change: impl Fn(&mut Settings)) -> Result<Outcome, Failure> {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let mut settings = Settings { command, ..Settings::default() };
        change(&mut settings);
        let stop = AtomicBool::new(false);
        let host = host();
        let temporary = PathBuf::from("/tmp");
        let scene = Scene { host: &host, allowed: allowed().unwrap(), temporary, stop: &stop };
        let mut ready = prepare(&settings, &scene)?;
        let outcome = ready.trial(&scene)?;
        ready.settle()?;
        Ok(outcome)
    }

    fn failure(script: &str, change: impl Fn(&mut Settings)) -> String {
        outcome(script, change).unwrap_err().to_string()
    }

    #[test]
    fn without_a_metric_the_time_from_start_to_end_is_the_figure() {
        let outcome = outcome("sleep 0.05", |_| ()).unwrap();
        let elapsed_ns = *outcome.elapsed_ns.value().unwrap();
        assert!(outcome.figures.first().unwrap().value >= 0.05 && elapsed_ns >= 50_000_000);
        assert!(*outcome.cpu_ns.value().unwrap() < elapsed_ns);
    }

    #[test]
    fn a_metric_is_taken_from_either_output() {
        let metric = |it: &mut Settings| it.metric = Some("tps = ([0-9.]+)".to_owned());
        for script in ["echo 'tps = 812.5 (x)'", "echo 'tps = 812.5' >&2"] {
            assert_eq!(outcome(script, metric).unwrap().figures.first().unwrap().value, 812.5);
        }
        assert!(failure("echo tps: none", metric).contains("tps: none"));
    }

    #[test]
    fn a_command_that_fails_says_how_and_its_last_words() {
        assert_eq!(
            failure("echo no such table >&2; exit 3", |_| ()),
            "sh failed, exit status 3: no such table"
        );
        assert_eq!(failure("kill -9 $$", |_| ()), "sh failed, killed by signal 9");
        let absent = |it: &mut Settings| it.command = vec!["/nowhere/at-all".to_owned()];
        assert!(failure("", absent).starts_with("cannot run /nowhere/at-all"));
    }

    #[test]
    fn a_command_that_hangs_is_stopped_with_everything_it_started() {
        let short = |it: &mut Settings| it.timeout = Some(Duration::from_millis(50));
        let text = failure("trap '' TERM; sleep 600 & wait", short);
        assert!(text.starts_with("sh did not end within 0.05 s"), "{text}");
    }

    #[test]
    fn a_command_in_a_session_of_its_own_is_stopped_too() {
        let folder = tempfile::tempdir().unwrap();
        let end = folder.path().join("end");
        let script = format!("exec setsid sh -c 'sleep 5; echo reached > {}'", end.display());
        let text = failure(&script, |it| it.timeout = Some(Duration::from_secs(1)));
        assert!(text.starts_with("sh did not end within 1 s"), "{text}");
        assert!(!end.exists());
    }

    #[test]
    fn a_pinned_command_runs_where_it_was_told_to() {
        let cpu = allowed().unwrap().last().unwrap().to_string();
        let pinned = |it: &mut Settings| {
            it.cpus = Some(cpu.clone());
            it.metric = Some("Cpus_allowed_list:\\s+(\\S+)".to_owned());
        };
        let found = outcome("grep Cpus_allowed_list /proc/self/status", pinned).unwrap();
        assert_eq!(found.figures.first().unwrap().value.to_string(), cpu);
    }

    fn found(regex: &str, text: &str) -> String {
        let found = expression(regex).and_then(|it| find(&it, "pgbench", text));
        found.map_or_else(|error| error.to_string(), |it| it.to_string())
    }

    #[test]
    fn the_last_number_counts() {
        assert_eq!(found("tps = ([0-9.]+)", "tps = 1\ntps = 812.5 (without)\n"), "812.5");
    }

    #[test]
    fn what_is_no_number_is_told_and_never_a_figure() {
        let no_number = "pgbench printed \"NaN\" as its metric, which is not a finite number";
        assert_eq!(found("tps = (\\S+)", "tps = NaN"), no_number);
        assert!(found("tps = (\\S+)", "tps = inf").ends_with("not a finite number"));
        assert!(
            found("tps = ([0-9.]+)", "ERROR: no table\n")
                .ends_with("its last words: ERROR: no table")
        );
    }

    #[test]
    fn an_expression_has_one_group() {
        assert!(found("tps", "").contains("has 0"));
        assert!(found("(a)(b)", "").contains("has 2"));
        assert!(found("(", "").starts_with("--metric \"(\": "));
    }
}
