//! One session of a database: its client program, kept open, asked by its standard input.
//!
//! Both psql and mariadb read statements from a pipe as they come and print each answer at once, and end at the first
//! error, with its text on standard error.
#![expect(clippy::disallowed_methods, reason = "waits for answers no longer than it is told to")]

use crate::failure::Failure;
use crate::threads::refused;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

/// The longest row that is read; those that workloads ask for are some dozens of bytes.
const LONGEST_ROW: u64 = 1 << 16;

/// The most rows that wait to be taken.
const MOST_ROWS: usize = 1 << 10;

/// How much of what a client complains of is kept.
const LONGEST_COMPLAINT: usize = 4096;

/// The row after the last one of an answer.
const DONE: &str = "fullclock: done";

/// How long a client may take to end before it is killed.
const LEAVE: Duration = Duration::from_secs(3);

/// How long to wait for something.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'a> {
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
    /// Set when there is no use in waiting any longer.
    pub abandoned: &'a AtomicBool,
    /// The longest that one question may take.
    pub limit: Duration,
}

impl Patience<'_> {
    /// Says why to wait no longer for a program that was asked at `began`.
    pub(super) fn check(&self, program: &str, began: Instant) -> Result<(), Failure> {
        if self.stop.load(Ordering::Relaxed) || self.abandoned.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        if began.elapsed() > self.limit {
            return Err(Failure::TimedOut { program: program.to_owned(), limit: self.limit });
        }
        Ok(())
    }
}

/// An open session. Dropping it cancels what it still does in the server.
pub(super) struct Session {
    program: String,
    client: Child,
    /// Its standard input; closed when this is gone.
    statements: Option<Sender<String>>,
    rows: Receiver<String>,
    complaints: Option<JoinHandle<String>>,
    is_busy: bool,
}

impl Session {
    /// Starts the client. Whether it reaches the server shows at the first question.
    pub(super) fn open(mut command: Command) -> Result<Session, Failure> {
        let program = name(&command);
        // In its own process group: Ctrl-C reaches this program alone, which ends sessions in order.
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut client =
            command.spawn().map_err(Failure::system(format!("cannot run {program}")))?;
        let (stdin, stdout, stderr) =
            (client.stdin.take(), client.stdout.take(), client.stderr.take());
        let (sender, rows) = sync_channel(MOST_ROWS);
        // Dropped where a thread cannot be had, which ends the client.
        let mut session =
            Session { program, client, statements: None, rows, complaints: None, is_busy: false };
        if let Some(stdout) = stdout {
            start("rows", move || {
                let mut stdout = BufReader::new(stdout);
                // The receiver is gone once the session is dropped.
                while row(&mut stdout).is_some_and(|row| sender.send(row).is_ok()) {}
            })?;
        }
        let complaints = stderr.map(|it| start("complaints", move || complaints_of(it)));
        session.complaints = complaints.transpose()?;
        session.statements = stdin.map(writer).transpose()?;
        Ok(session)
    }

    /// Runs statements and gives the rows they print.
    pub(super) fn ask(
        &mut self,
        statements: &str,
        patience: Patience<'_>,
    ) -> Result<Vec<String>, Failure> {
        self.ask_and_end(statements, "", patience)
    }

    /// Runs statements, gives the rows they print, and runs `end` without waiting for it.
    pub(super) fn ask_and_end(
        &mut self,
        statements: &str,
        end: &str,
        patience: Patience<'_>,
    ) -> Result<Vec<String>, Failure> {
        let began = Instant::now();
        self.is_busy = true;
        let text = format!("{statements}\nSELECT '{DONE}';\n{end}\n");
        // A client that is gone takes nothing, and says nothing more below.
        let _is_gone = self.statements.as_ref().is_some_and(|it| it.send(text).is_err());
        let mut rows = Vec::new();
        loop {
            match self.rows.recv_timeout(Duration::from_millis(50)) {
                Ok(row) if row == DONE => {
                    self.is_busy = false;
                    return Ok(rows);
                }
                Ok(row) if rows.len() < MOST_ROWS => rows.push(row),
                Ok(_) => {
                    let program = &self.program;
                    return Err(Failure::NoFigure(format!("{program} prints rows without end")));
                }
                Err(RecvTimeoutError::Timeout) => patience.check(&self.program, began)?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        patience.check(&self.program, began)?;
        Err(self.ended())
    }

    /// Why the client is gone.
    fn ended(&mut self) -> Failure {
        self.is_busy = false;
        self.statements = None;
        let status = self.leave(LEAVE);
        let said = self.complaints.take().map(last_words).unwrap_or_default();
        Failure::Program {
            program: self.program.clone(),
            how: status.map_or("hung".into(), how),
            said,
        }
    }

    /// Waits for the client to end, and kills it if it does not.
    fn leave(&mut self, patience: Duration) -> Option<ExitStatus> {
        let began = Instant::now();
        while began.elapsed() < patience {
            match self.client.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Err(_) => break,
            }
        }
        let _ended = self.client.kill().is_err();
        self.client.wait().ok()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.statements = None;
        if self.is_busy && self.client.try_wait().is_ok_and(|it| it.is_none()) {
            // Both clients cancel the statement in the server at Ctrl-C; killed, they would leave it running there.
            let pid = i32::try_from(self.client.id()).ok().and_then(Pid::from_raw);
            let _gone = pid.is_some_and(|it| kill_process(it, Signal::INT).is_err());
        }
        let _status = self.leave(LEAVE);
    }
}

/// Writes what it is sent, on its own thread: a client that reads slowly blocks no other.
fn writer(mut stdin: ChildStdin) -> Result<Sender<String>, Failure> {
    let (sender, statements) = channel::<String>();
    start("statements", move || {
        for text in statements {
            if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                break;
            }
        }
    })?;
    Ok(sender)
}

/// Starts a thread that lasts as long as the client.
fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Failure> {
    Builder::new().name(name.to_owned()).spawn(work).map_err(|it| refused(&it))
}

/// What the client complained of, unless something else holds its standard error open.
fn last_words(complaints: JoinHandle<String>) -> String {
    let began = Instant::now();
    while !complaints.is_finished() && began.elapsed() < LEAVE {
        thread::sleep(Duration::from_millis(5));
    }
    if complaints.is_finished() { complaints.join().unwrap_or_default() } else { String::new() }
}

/// The last part of the program's path.
pub(super) fn name(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}

/// `exit code 3`, `signal 9`.
pub(super) fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// The next row without its line end; `None` at the end, or at one that is too long.
fn row(stdout: &mut impl std::io::BufRead) -> Option<String> {
    let mut row = Vec::new();
    let n_bytes = Read::take(stdout, LONGEST_ROW).read_until(b'\n', &mut row).ok()?;
    if n_bytes == 0 || row.pop() != Some(b'\n') {
        return None;
    }
    Some(String::from_utf8_lossy(&row).into_owned())
}

/// The end of what a client prints on standard error.
fn complaints_of(mut stderr: impl Read) -> String {
    let mut kept = Vec::new();
    let mut part = [0; 1024];
    while let Ok(n_bytes @ 1..) = stderr.read(&mut part) {
        kept.extend(part.iter().take(n_bytes));
        let surplus = kept.len().saturating_sub(LONGEST_COMPLAINT);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    static CALM: AtomicBool = AtomicBool::new(false);

    fn patience(limit: Duration) -> Patience<'static> {
        Patience { stop: &CALM, abandoned: &CALM, limit }
    }

    /// A client that is a shell script.
    fn asked(script: &str, limit: Duration) -> Result<Vec<String>, Failure> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Session::open(command)?.ask("SELECT 1;", patience(limit))
    }

    #[test]
    fn rows_come_up_to_the_end_of_the_answer_and_no_further() {
        let script = "read question; echo one; echo two; echo 'fullclock: done'; echo three";
        assert_eq!(asked(script, Duration::from_secs(60)).unwrap(), ["one", "two"]);
    }

    #[test]
    fn a_client_that_ends_says_why() {
        let failure = asked("read question; echo 'ERROR: no' >&2; exit 3", Duration::from_secs(60))
            .unwrap_err();
        assert_eq!(failure.to_string(), "sh failed, exit code 3: ERROR: no");
        let failure = asked("kill -9 $$", Duration::from_secs(60)).unwrap_err();
        assert_eq!(failure.to_string(), "sh failed, signal 9");
    }

    #[test]
    fn a_client_that_hangs_is_given_up_and_one_that_babbles_too() {
        let failure = asked("trap '' INT; exec sleep 60", Duration::from_millis(100)).unwrap_err();
        assert!(failure.to_string().starts_with("sh did not end within 0.1 s"), "{failure}");
        let failure = asked("yes", Duration::from_secs(60)).unwrap_err();
        assert_eq!(failure.to_string(), "sh prints rows without end");
    }

    #[test]
    fn whoever_wants_to_stop_waits_no_longer() {
        static STOP: AtomicBool = AtomicBool::new(true);
        let mut command = Command::new("/bin/sleep");
        command.arg("60");
        let patience = Patience { stop: &STOP, ..patience(Duration::from_secs(60)) };
        let failure = Session::open(command).unwrap().ask("SELECT 1;", patience).unwrap_err();
        assert!(matches!(failure, Failure::Stopped));
    }
}
