//! A pool of sessions that work at the same time, each on its own CPU where CPUs are named.
#![expect(
    clippy::disallowed_methods,
    reason = "an answer is timed from outside, to check the server's own clock"
)]

use super::backend::{self, Backend};
use super::server::Server;
use super::session::{Patience, Session};
use crate::failure::Failure;
use crate::known::Known;
use crate::threads::start;
use facts::counters::task_stat::Scheduled;
use facts::{CpuSet, Fact, Missing, Why};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// Open sessions of one server, at least one.
pub(crate) struct Pool {
    connections: Vec<Connection>,
}

struct Connection {
    session: Session,
    backend: Fact<Backend>,
}

/// What a session answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub rows: Vec<String>,
    /// Wall time seen from this process, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of its task, in nanoseconds.
    pub cpu_ns: Known<u64>,
}

impl Pool {
    /// Opens sessions, one pinned to each of `cpus`, or `n` that run where the scheduler puts them; each runs `setup`
    /// first.
    pub(crate) fn open(
        server: &Server,
        n: usize,
        cpus: Option<&CpuSet>,
        setup: &str,
        patience: Patience<'_>,
    ) -> Result<Pool, Failure> {
        let places: Vec<Option<u32>> = match cpus {
            Some(cpus) => cpus.iter().map(Some).collect(),
            None => vec![None; n.max(1)],
        };
        let connections = places.into_iter().map(|cpu| {
            let mut session = server.session()?;
            session.ask(setup, patience)?;
            let rows = session.ask(backend::question(server.engine), patience)?;
            let backend = Backend::of(server.engine, &rows);
            if let Some(cpu) = cpu {
                backend.clone().and_then(|it| it.pin(cpu)).map_err(|why| unpinned(cpu, &why))?;
            }
            Ok(Connection { session, backend })
        });
        Ok(Pool { connections: connections.collect::<Result<_, Failure>>()? })
    }

    /// How many sessions there are.
    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    /// The tasks of this host that do the sessions' work, where they are known.
    pub(crate) fn tasks(&self) -> Vec<u32> {
        let backends = self.connections.iter().filter_map(|it| it.backend.as_ref().ok());
        backends.map(|it| it.tid()).collect()
    }

    /// What the scheduler has counted of each of these tasks, or why that is not known of one of them.
    pub(crate) fn scheduled(&self) -> Fact<Vec<Scheduled>> {
        self.connections.iter().map(|it| it.backend.clone().and_then(Backend::scheduled)).collect()
    }

    /// Asks the first session alone.
    pub(crate) fn first(
        &mut self,
        statements: &str,
        patience: Patience<'_>,
    ) -> Result<Answer, Failure> {
        let connection = self.connections.first_mut();
        connection.map_or(Err(Failure::Stopped), |it| it.ask(statements, patience))
    }

    /// Asks all of them at the same time, each its own statements; the first failure ends the others' work.
    pub(crate) fn all(
        &mut self,
        statements: impl Fn(usize) -> String + Sync,
        patience: Patience<'_>,
    ) -> Result<Vec<Answer>, Failure> {
        let abandoned = AtomicBool::new(false);
        let patience = Patience { abandoned: &abandoned, ..patience };
        let (statements, abandoned) = (&statements, &abandoned);
        let answers: Vec<Result<Answer, Failure>> = thread::scope(|scope| {
            let threads: Vec<_> = self
                .connections
                .iter_mut()
                .enumerate()
                .map(|(index, connection)| {
                    let answer = start(scope, &format!("session/{index}"), move || {
                        let answer = connection.ask(&statements(index), patience);
                        answer.inspect_err(|_| abandoned.store(true, Ordering::Relaxed))
                    });
                    answer.inspect_err(|_| abandoned.store(true, Ordering::Relaxed))
                })
                .collect();
            let join = |it: ScopedJoinHandle<'_, _>| it.join().unwrap_or(Err(Failure::Stopped));
            threads.into_iter().map(|it| it.and_then(join)).collect()
        });
        // Those that were abandoned say that they were stopped; what stopped them is the failure of another.
        let mut failure = None;
        let mut done = Vec::with_capacity(answers.len());
        for answer in answers {
            match (answer, &failure) {
                (Ok(answer), _) => done.push(answer),
                (Err(why), None | Some(Failure::Stopped)) => failure = Some(why),
                (Err(_), Some(_)) => {}
            }
        }
        failure.map_or(Ok(done), Err)
    }
}

impl Connection {
    fn ask(&mut self, statements: &str, patience: Patience<'_>) -> Result<Answer, Failure> {
        let before = self.run_ns();
        let began = Instant::now();
        let rows = self.session.ask(statements, patience)?;
        let wall = began.elapsed();
        let cpu_ns = before.and_then(|before| ran(before, self.run_ns()?, wall));
        Ok(Answer { rows, wall_ns: nanoseconds(wall), cpu_ns: cpu_ns.into() })
    }

    fn run_ns(&self) -> Fact<u64> {
        self.backend.clone().and_then(Backend::scheduled).map(|it| it.run_ns)
    }
}

/// The time that a task ran on a CPU between two readings, where it can be that of a session that worked for `wall`.
fn ran(before: u64, after: u64, wall: Duration) -> Fact<u64> {
    /// The answer arrives here before the server's task has finished: the rest of its time is outside of `wall`.
    const SLACK: Duration = Duration::from_millis(100);
    let found = format!("{before} ns, then {after} ns");
    let ran = after.checked_sub(before).filter(|it| (1..=nanoseconds(wall + SLACK)).contains(it));
    ran.ok_or_else(|| {
        Missing::malformed(
            "the run time of the server's task",
            &found,
            "a rise by at most the time that passed",
        )
    })
}

fn unpinned(cpu: u32, why: &Missing) -> Failure {
    let rights = match &why.why {
        Why::Failed(text) if text.contains("not permitted") => {
            "; run as root, or as the server's user"
        }
        _ => "",
    };
    Failure::Unready(format!(
        "--cpus: cannot keep the server's session on CPU {cpu}: {why}{rights}"
    ))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_time_that_cannot_be_is_missing() {
        let second = Duration::from_secs(1);
        assert_eq!(ran(5, 1_000_000_005, second), Ok(1_000_000_000));
        for (before, after) in [(5, 5), (6, 5), (0, 2_000_000_000)] {
            assert!(ran(before, after, second).is_err(), "{before} {after}");
        }
    }

    #[test]
    fn who_may_not_pin_is_told_what_would_help() {
        let why = Missing {
            what: "CPU 1, by running on it,".into(),
            why: Why::Failed("Operation not permitted (os error 1)".into()),
        };
        assert_eq!(
            unpinned(1, &why).to_string(),
            "--cpus: cannot keep the server's session on CPU 1: CPU 1, by running on it, cannot be read: \
             Operation not permitted (os error 1); run as root, or as the server's user"
        );
    }
}
