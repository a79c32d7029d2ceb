//! Lines of a stream: an output of the command, copied through to where it would have gone, or standard input.
//!
//! Each piece is copied before it is searched. The command waits for us only as long as it would wait for its reader: where that is
//! gone, we go on reading, and it never gets SIGPIPE.

use super::lines::Lines;
use super::{Ear, Hearing};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionread};
use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

/// As much as a pipe holds by default (pipe(7)).
const PIECE: usize = 64 << 10;

/// Where standard output and standard error of a command go.
pub struct Outputs {
    /// Gets what it writes to standard output.
    pub stdout: File,
    /// Gets what it writes to standard error.
    pub stderr: File,
}

impl Hearing {
    /// Listens to both outputs of a command, which are to be these pipes, and copies them to `outputs`.
    ///
    /// Errors: there is no pipe or no thread to be had.
    pub fn of_command(outputs: Outputs, ear: &Ear) -> io::Result<(Hearing, [PipeWriter; 2])> {
        let ((stdout, stdout_of_command), (stderr, stderr_of_command)) = (io::pipe()?, io::pipe()?);
        let listen = |from: PipeReader, to: File| {
            let ear = ear.clone();
            let work = move |stop: PipeReader| listen(from, Some(to), &stop, &ear);
            Box::new(work) as Box<dyn FnOnce(PipeReader) + Send>
        };
        let works = vec![listen(stdout, outputs.stdout), listen(stderr, outputs.stderr)];
        Ok((Hearing::start(works)?, [stdout_of_command, stderr_of_command]))
    }

    /// Listens to standard input.
    ///
    /// Errors: it is closed, or there is no thread to be had.
    pub fn of_input(ear: &Ear) -> io::Result<Hearing> {
        let input: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
        let ear = ear.clone();
        Hearing::start(vec![Box::new(move |stop| listen(File::from(input), None, &stop, &ear))])
    }
}

/// Reads `from` until its end, or until `stop` is closed and what was there then is read.
fn listen(mut from: impl Read + AsFd, mut to: Option<File>, stop: &PipeReader, ear: &Ear) {
    let (mut lines, mut piece) = (Lines::default(), vec![0; PIECE]);
    // What may still be read, once it is to stop.
    let mut left: Option<u64> = None;
    loop {
        if left.is_none() && wait(&from, stop) {
            left = Some(ioctl_fionread(&from).unwrap_or(0));
        }
        let most = left.map_or(PIECE, |it| usize::try_from(it).unwrap_or(PIECE).min(PIECE));
        if most == 0 {
            break;
        }
        let room = piece.get_mut(..most).unwrap_or_default();
        match from.read(room) {
            Ok(0) => break,
            Ok(length) => {
                let bytes = piece.get(..length).unwrap_or_default();
                to.iter_mut().for_each(|it| copy(it, bytes));
                ear.bytes(&mut lines, bytes);
                left = left.map(|it| it.saturating_sub(length as u64));
            }
            Err(error) if is_passing(&error) => {}
            Err(_) => break,
        }
    }
    ear.end(&mut lines);
}

/// Waits for something to read; whether it is to stop instead.
fn wait(from: &impl AsFd, stop: &PipeReader) -> bool {
    let mut both = [PollFd::new(from, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
    match poll(&mut both, None) {
        Ok(_) => {
            let [_, stop] = &both;
            !stop.revents().is_empty()
        }
        Err(Errno::INTR) => wait(from, stop),
        // Without memory for it: reading waits, too.
        Err(_) => false,
    }
}

/// Writes all of it; stops where the reading end is closed.
fn copy(to: &mut File, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(length) => bytes = bytes.get(length..).unwrap_or_default(),
            // A terminal that another program made non-blocking.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                poll(&mut [PollFd::new(to, PollFlags::OUT)], None).ok();
            }
            Err(error) if is_passing(&error) => {}
            Err(_) => return,
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}
