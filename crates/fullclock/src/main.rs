//! fullclock: finds what keeps a server's CPUs below the clock they were bought for.
//!
//! The binary reads the command line, asks `host` for facts and `rules` for verdicts, and prints them.
#![forbid(unsafe_code)]

mod build;
mod cli;
mod commands;
mod complete;
mod config;
mod head;
mod new_file;
mod output;
mod result;
mod tell;
mod tui;

use signal_hook::consts::SIGXFSZ;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Exit codes: 0 clean, 1 findings at or above `--fail-on`, 2 could not run, 3 a change was refused or
/// did not stick; that of the command, where one was measured.
fn main() -> ExitCode {
    clap_complete::CompleteEnv::with_factory(commands::command)
        .var(commands::manual::VARIABLE)
        .completer("fullclock")
        .complete();
    let invocation = commands::parse();
    outlive_file_size_limit();
    match invocation.and_then(|it| commands::run(&it)) {
        Ok(code) => code,
        // No failure of ours.
        Err(error) if error.is::<output::NobodyReads>() => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            ExitCode::from(2)
        }
    }
}

/// The kernel sends SIGXFSZ with EFBIG to a process that writes beyond its limit of file sizes (setrlimit(2)). Its default action
/// would end the process between a write to the host and undoing it. It is handled, not ignored: an ignored signal stays ignored
/// in the commands that are measured (execve(2)).
fn outlive_file_size_limit() {
    if let Err(error) = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))) {
        output::complain(&anyhow::Error::new(error).context("cannot handle SIGXFSZ"));
    }
}
