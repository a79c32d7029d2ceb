//! A temporary server: made, started, and gone when it is dropped.
#![expect(
    clippy::disallowed_methods,
    reason = "runs the database's own programs and waits for them"
)]

use super::engine::{Engine, Keeping};
use super::folder::{Folder, sweep};
use super::programs;
use super::programs::{Account, Layout, run_as, unprivileged};
use super::session::{Patience, Session, how, name};
use crate::failure::Failure;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest path of a Unix socket (unix(7)), without the zero at its end.
const LONGEST_SOCKET: usize = 107;

/// The longest name that a server gives its socket: PostgreSQL's.
const SOCKET: &str = ".s.PGSQL.5432.lock";

/// How long making and starting a server may take, each: seconds on an idle machine.
const STARTING: Duration = Duration::from_secs(180);

/// How much of the log is shown of a server that failed.
const END_OF_LOG: i64 = 2048;

/// A temporary server that runs.
pub(super) struct Cluster {
    pub layout: Layout,
    server: Child,
    /// Dropped last: whatever still runs in it is stopped then.
    _folder: Folder,
}

impl Cluster {
    /// Makes and starts a server in a new folder in `temporary`, with room for that many sessions and with the durability that
    /// `keeping` says. Removes what earlier servers left there first.
    pub(super) fn start(
        engine: Engine,
        client: &Path,
        temporary: &Path,
        (n_sessions, keeping): (usize, Keeping),
        patience: Patience<'_>,
    ) -> Result<Cluster, Failure> {
        let patience = Patience { limit: STARTING, ..patience };
        // What cannot be swept is tried again at the next start, and hinders nothing here.
        let _swept = sweep(temporary);
        let programs = programs::server(engine)?;
        let account = account(engine)?;
        let folder = Folder::make(temporary, account.as_ref())?;
        let layout = Layout {
            data: folder.path.join("data"),
            run: folder.path.join("run"),
            temporary: folder.path.join("tmp"),
            log: folder.path.join("log"),
        };
        check_length(&layout)?;
        create(engine.create(&programs, &layout), account.as_ref(), &layout, patience)?;
        let command = engine.serve(&programs, &layout, n_sessions, keeping);
        let server = started(command, account.as_ref(), &layout)?;
        let mut cluster = Cluster { layout, server, _folder: folder };
        cluster.wait(engine, client, patience)?;
        Ok(cluster)
    }

    /// Waits until the server answers.
    fn wait(
        &mut self,
        engine: Engine,
        client: &Path,
        patience: Patience<'_>,
    ) -> Result<(), Failure> {
        let began = Instant::now();
        loop {
            if let Some(failure) = self.ended() {
                return Err(failure);
            }
            let mut session = Session::open(engine.client_of(client, &self.layout))?;
            match session.ask("SELECT 1;", patience) {
                Ok(_) => return Ok(()),
                Err(Failure::Program { .. }) => {}
                Err(failure) => return Err(failure),
            }
            patience.check("the database server", began)?;
            sleep(Duration::from_millis(100));
        }
    }

    /// The number of its main process.
    pub(super) fn pid(&self) -> u32 {
        self.server.id()
    }

    /// Why the server does not run any more; `None` while it does.
    pub(super) fn ended(&mut self) -> Option<Failure> {
        let status = self.server.try_wait().ok()??;
        Some(failed("the database server", status, &self.layout))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // PostgreSQL gives back its shared memory at this one, and does nothing else.
        let pid = i32::try_from(self.server.id()).ok().and_then(Pid::from_raw);
        let is_running = self.server.try_wait().is_ok_and(|it| it.is_none());
        let _gone = pid.is_some_and(|it| is_running && kill_process(it, Signal::QUIT).is_err());
        let began = Instant::now();
        while self.server.try_wait().is_ok_and(|it| it.is_none()) {
            if began.elapsed() > Duration::from_secs(10) {
                let _gone = self.server.kill().is_err();
            }
            sleep(Duration::from_millis(10));
        }
    }
}

/// The account to run under: none where this process is not root's.
fn account(engine: Engine) -> Result<Option<Account>, Failure> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    const PASSWD: &str = "/etc/passwd";
    let passwd = std::fs::read_to_string(PASSWD).map_err(Failure::system(PASSWD))?;
    let names = engine.accounts();
    unprivileged(names, &passwd).map(Some).ok_or_else(|| {
        let (name, names) = (engine.name(), names.join(" or "));
        Failure::Unready(format!(
            "{name} does not run as root, and {PASSWD} has no account {names} to run it as"
        ))
    })
}

fn check_length(layout: &Layout) -> Result<(), Failure> {
    let length = layout.run.join(SOCKET).as_os_str().len();
    if length <= LONGEST_SOCKET {
        return Ok(());
    }
    let run = layout.run.display();
    Err(Failure::Unready(format!(
        "{run} is too long for a Unix socket in it: use a shorter temporary folder"
    )))
}

/// Starts a program in the data directory, by which a later start finds what runs for this folder.
fn started(
    mut command: Command,
    account: Option<&Account>,
    layout: &Layout,
) -> Result<Child, Failure> {
    run_as(&mut command, account);
    let refused = |what: String| Failure::system(what);
    let log = || File::options().create(true).append(true).open(&layout.log);
    let log = || log().map_err(refused(format!("cannot write {}", layout.log.display())));
    // MariaDB removes every temporary table it finds where its own will be, those of running servers, too
    // (mysql_rm_tmp_tables in its sql/sql_base.cc).
    command.env("TMPDIR", &layout.temporary);
    command.current_dir(&layout.data).process_group(0);
    command.stdin(Stdio::null()).stdout(log()?).stderr(log()?);
    let what = format!("cannot run {} in {}", name(&command), layout.data.display());
    command.spawn().map_err(refused(what))
}

/// Runs the program that makes the server's files to its end.
fn create(
    command: Command,
    account: Option<&Account>,
    layout: &Layout,
    patience: Patience<'_>,
) -> Result<(), Failure> {
    let program = name(&command);
    let mut child = started(command, account, layout)?;
    let began = Instant::now();
    loop {
        match child.try_wait().map_err(Failure::system(format!("cannot wait for {program}")))? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(failed(&program, status, layout)),
            None => sleep(Duration::from_millis(20)),
        }
        if let Err(failure) = patience.check(&program, began) {
            // It is a leader of a group, and has not been waited for: the number is its own.
            let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let _gone = group.is_some_and(|it| kill_process_group(it, Signal::KILL).is_err());
            let _status = child.wait();
            return Err(failure);
        }
    }
}

fn failed(program: &str, status: ExitStatus, layout: &Layout) -> Failure {
    let said = end_of_log(&layout.log);
    Failure::Program { program: program.to_owned(), how: how(status), said }
}

fn end_of_log(path: &Path) -> String {
    let mut end = Vec::new();
    if let Ok(mut log) = File::open(path) {
        // A log shorter than that is read from its start.
        let _shorter = log.seek(SeekFrom::End(-END_OF_LOG)).is_err();
        let _unread = log.take(END_OF_LOG.unsigned_abs()).read_to_end(&mut end).is_err();
    }
    String::from_utf8_lossy(&end).trim().to_owned()
}
