//! Listens to a client while the machine is watched: its lines are searched for numbers and marks, which wait here for the next
//! sample.
//!
//! Lines come from what a command prints ([`Hearing::of_command`]), a file or FIFO ([`Hearing::of_file`]) or standard input
//! ([`Hearing::of_input`]). A thread for each reads, and is told by a pipe that is closed when it has to stop: it then reads what is
//! there already, and nothing that comes later. So a process that the client left running and that holds the pipe open causes no delay.

mod file;
mod lines;
mod stream;

pub use stream::Outputs;

use crate::clock::raw_ns;
use facts::client::{ClientMetric, ClientSample, Heard, MOST_MARKS, MOST_NUMBERS, MarkText};
use lab::client::{Expression, Found, Mark};
use lines::Lines;
use std::io::{self, PipeReader, PipeWriter};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// What lines are searched for.
pub struct Wanted {
    /// What the numbers are, and what finds them.
    pub metric: Option<(ClientMetric, Expression)>,
    /// What finds marks.
    pub mark: Option<Mark>,
}

/// What was found in a client's lines and is in no sample yet. Clones share it.
#[derive(Clone)]
pub struct Ear(Arc<Shared>);

struct Shared {
    wanted: Wanted,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    heard: Vec<Heard>,
    marks: Vec<MarkText>,
    /// The latest count of a client that counts since it began.
    count: Option<Heard>,
    /// How many there was no room for since the last sample.
    n_left_out: u64,
}

impl Kept {
    /// By how much a count has grown a second since the one before; nothing for the first, and for one that began anew.
    fn growth(&mut self, count: Heard) -> Option<Heard> {
        let before = self.count.replace(count)?;
        let over_s = count.at.checked_sub(before.at).filter(|ns| *ns > 0)? as f64 / 1e9;
        let grown = count.value - before.value;
        (grown >= 0.0).then_some(Heard { at: count.at, value: grown / over_s })
    }
}

impl Ear {
    /// An ear that has heard nothing yet.
    pub fn new(wanted: Wanted) -> Ear {
        Ear(Arc::new(Shared { wanted, kept: Mutex::default() }))
    }

    /// Takes what was read until `until_ns`, by CLOCK_MONOTONIC_RAW, and was not taken before. With a note where a sample has no room
    /// for all of it.
    pub fn take(&self, until_ns: u64) -> (ClientSample, Option<String>) {
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let metric = self.0.wanted.metric.as_ref().map(|(metric, _)| metric.clone());
        let heard = kept.heard.extract_if(.., |it| it.at <= until_ns).collect();
        let marks = kept.marks.extract_if(.., |it| it.at <= until_ns).collect();
        let n = std::mem::take(&mut kept.n_left_out);
        let note = (n > 0).then(|| {
            format!(
                "{n} numbers and marks of the client are left out: an interval has room for \
                 {MOST_NUMBERS} numbers and {MOST_MARKS} marks"
            )
        });
        (ClientSample { metric, heard, marks }, note)
    }

    /// Searches a line that was read at `at`.
    fn line(&self, line: &str, at: u64) {
        let Wanted { metric, mark } = &self.0.wanted;
        let found = metric.as_ref().and_then(|(_, expression)| expression.last(line));
        let mark = mark.as_ref().and_then(|it| it.of(line));
        if found.is_none() && mark.is_none() {
            return;
        }
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let number = match found {
            Some(Found::Number(value)) => Some(Heard { at, value }),
            _ => None,
        };
        let number = match metric {
            Some((_, expression)) if expression.counts() => number.and_then(|it| kept.growth(it)),
            _ => number,
        };
        let Kept { heard, marks, n_left_out, .. } = &mut *kept;
        if let Some(number) = number {
            if heard.len() < MOST_NUMBERS {
                heard.push(number);
            } else {
                *n_left_out += 1;
            }
        }
        if let Some(text) = mark {
            if marks.len() < MOST_MARKS {
                marks.push(MarkText { at, text });
            } else {
                *n_left_out += 1;
            }
        }
    }

    /// Searches the lines that end in `bytes`, which were just read.
    fn bytes(&self, lines: &mut Lines, bytes: &[u8]) {
        let at = raw_ns();
        lines.push(bytes, |line| self.line(line, at));
    }

    /// Searches what stands behind the last line end.
    fn end(&self, lines: &mut Lines) {
        let at = raw_ns();
        lines.end(|line| self.line(line, at));
    }
}

/// Threads that read the lines of a client.
pub struct Hearing {
    /// The threads stop when this is closed.
    stop: Option<PipeWriter>,
    threads: Vec<JoinHandle<()>>,
}

impl Hearing {
    fn start(works: Vec<Box<dyn FnOnce(PipeReader) + Send>>) -> io::Result<Hearing> {
        let (stops, stop) = io::pipe()?;
        let mut hearing = Hearing { stop: Some(stop), threads: Vec::new() };
        for work in works {
            let stops = stops.try_clone()?;
            let thread = Builder::new().name("client".to_owned()).spawn(move || work(stops));
            hearing.threads.push(
                thread
                    .map_err(|it| io::Error::new(it.kind(), host::process::thread_refusal(&it)))?,
            );
        }
        Ok(hearing)
    }

    /// Reads what is there, with the last line though nothing ends it, and stops. To be called when the client has ended.
    pub fn finish(&mut self) {
        drop(self.stop.take());
        for thread in self.threads.drain(..) {
            // Its panic is on standard error already.
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests;
