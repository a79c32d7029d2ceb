//! The task of this host that does a session's work: a process of PostgreSQL, a thread of MariaDB.
//!
//! A server tells the number of that task as it sees it. That is a number here only where the server runs on this host
//! and in the same PID namespace, so it is believed only of sessions over a Unix socket or the loopback device, and only
//! where a task of that number belongs to such a server; PostgreSQL's must have started when the server says so, too.
#![expect(clippy::disallowed_methods, reason = "reads what the kernel says of a server's task")]

use super::engine::Engine;
use facts::counters::task_stat::{Scheduled, TaskStat};
use facts::{Fact, Missing};
use host::Live;
use host::process::process_of;
use rustix::time::{ClockId, clock_gettime};
use std::fs;

/// A task that does a session's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backend {
    tid: u32,
}

/// Asks a session for its task: its number, the address of the server as the session reaches it (none for a Unix
/// socket), and when it started, in seconds since 1970.
pub(super) fn question(engine: Engine) -> &'static str {
    match engine {
        Engine::Postgresql => {
            "SELECT pg_backend_pid() || ' ' || coalesce(host(inet_server_addr()), 'socket') || ' ' || \
             extract(epoch FROM backend_start) FROM pg_stat_activity WHERE pid = pg_backend_pid();"
        }
        Engine::Mariadb => {
            "SELECT CONCAT(TID, ' ', IF(HOST = 'localhost', 'socket', HOST), ' 0') \
             FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID();"
        }
    }
}

/// What a session says of its task.
struct SessionTask<'a> {
    tid: u32,
    address: &'a str,
    started: f64,
}

fn session_task(row: &str) -> Option<SessionTask<'_>> {
    let mut words = row.split(' ');
    let (tid, address, started) = (words.next()?, words.next()?, words.next()?);
    Some(SessionTask { tid: tid.parse().ok()?, address, started: started.parse().ok()? })
}

impl Backend {
    /// The task that a session says is its own, by the answer to [`question`].
    pub(super) fn of(engine: Engine, rows: &[String]) -> Fact<Backend> {
        const WHAT: &str = "the server's task on this host";
        let row = rows.first().map_or("", |it| it.as_str());
        let task = session_task(row)
            .ok_or_else(|| Missing::malformed(WHAT, row, "a number, an address and a time"))?;
        let is_here = matches!(task.address, "socket" | "::1") || task.address.starts_with("127.");
        if !is_here {
            return Err(Missing::not_here(WHAT, format!("the server is at {}", task.address)));
        }
        let is_its_own = match engine {
            Engine::Postgresql => is_process_of_postgresql(&task),
            Engine::Mariadb => is_thread_of_mariadb(task.tid),
        };
        let others = "the server runs in another PID namespace, or /proc hides it";
        if is_its_own == Some(true) {
            Ok(Backend { tid: task.tid })
        } else {
            Err(Missing::not_here(WHAT, others))
        }
    }

    pub(super) fn tid(self) -> u32 {
        self.tid
    }

    /// What the scheduler has counted of it.
    pub(super) fn scheduled(self) -> Fact<Scheduled> {
        let path = format!("/proc/{}/schedstat", self.tid);
        let text = fs::read(&path).map_err(|_| Missing::absent(path.as_str()))?;
        let malformed =
            |expected| Missing::malformed(path.as_str(), &String::from_utf8_lossy(&text), expected);
        let scheduled = Scheduled::parse(&text).map_err(|it| malformed(it.0))?;
        // It has run before anybody asks.
        if scheduled.run_ns == 0 {
            Err(malformed("an accounted run time (CONFIG_SCHED_INFO)"))
        } else {
            Ok(scheduled)
        }
    }

    /// Keeps it on one CPU.
    pub(super) fn pin(self, cpu: u32) -> Fact<()> {
        host::probe::pin_task(self.tid, cpu)
    }
}

fn is_process_of_postgresql(task: &SessionTask<'_>) -> Option<bool> {
    /// The kernel counts starts in ticks, and PostgreSQL looks at its clock a little later; the clock may be slewed.
    const TOLERANCE_SECONDS: f64 = 2.0;
    let text = fs::read(format!("/proc/{}/stat", task.tid)).ok()?;
    let stat = TaskStat::parse(&text).ok()?;
    let seconds = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let boot = seconds(ClockId::Realtime) - seconds(ClockId::Boottime);
    // USER_HZ is 100 on every architecture of today (include/asm-generic/param.h).
    let started = boot + stat.started as f64 / 100.0;
    Some(stat.name.as_str() == "postgres" && (started - task.started).abs() <= TOLERANCE_SECONDS)
}

fn is_thread_of_mariadb(tid: u32) -> Option<bool> {
    let group = process_of(&Live::this_machine(), tid)?;
    let name = fs::read_to_string(format!("/proc/{group}/comm")).ok()?;
    Some(matches!(name.trim(), "mariadbd" | "mysqld"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(engine: Engine, row: &str) -> String {
        Backend::of(engine, &[row.to_owned()]).unwrap_err().to_string()
    }

    #[test]
    fn a_server_elsewhere_has_no_task_here() {
        let text = of(Engine::Postgresql, "1234 10.0.0.7 1700000000.5");
        assert!(text.contains("the server is at 10.0.0.7"), "{text}");
    }

    #[test]
    fn a_number_that_is_somebody_elses_here_is_not_believed() {
        let own = std::process::id();
        for engine in Engine::ALL {
            for tid in [own, 1, u32::MAX] {
                let text = of(*engine, &format!("{tid} socket 1700000000.5"));
                assert!(text.contains("another PID namespace"), "{text}");
            }
        }
    }

    #[test]
    fn nonsense_is_missing() {
        for row in ["", "x socket 1", "12 socket", "-1 socket 1"] {
            assert!(of(Engine::Mariadb, row).contains("a number, an address and a time"), "{row}");
        }
    }
}
