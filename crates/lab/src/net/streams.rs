//! The threads of one end: one for each stream, each on its own CPU where the user names CPUs.

use super::Broken;
use super::channel::Channel;
use super::figures::{Received, Throughput, Work};
use super::flow;
use super::protocol::{Part, Test};
use crate::known::Known;
use crate::threads::Timed;
use facts::CpuSet;
use facts::probe::ClockReading;
use host::probe::{Windows, clock, pinned};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::AtomicBool;

/// Which end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It asks for the test.
    Client,
    /// It serves it.
    Server,
}

/// The threads of one end of a test.
#[derive(Clone, Copy, Debug)]
pub struct Streams<'a> {
    /// Which one.
    pub side: Side,
    /// Each has a thread.
    pub streams: &'a [TcpStream],
    /// The threads take turns on these; without them, they go where the scheduler puts them.
    pub cpus: Option<&'a CpuSet>,
    /// Set where the user wants to stop.
    pub stop: &'a AtomicBool,
}

/// One message size, as one end saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its result.
    pub found: Found,
    /// What each thread did.
    pub work: Vec<Work>,
    /// What the clock probe read right after it.
    pub clocks: Vec<ClockReading>,
}

/// The result of one end for a message size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It sent, or answered: the other end knows.
    Nothing,
    /// What arrived.
    Throughput(Throughput),
    /// Half of each round trip of all streams, in nanoseconds.
    Latencies(Vec<u64>),
}

/// What one thread found, did, and saw of its CPU's clock.
type Share = (Seen, Work, Option<ClockReading>);

/// What one thread found.
enum Seen {
    Nothing,
    Received(Received),
    Latencies(Vec<u64>),
}

impl Streams<'_> {
    /// Does this end's part of one message size; the other end has to do its own.
    ///
    /// Errors: a stream broke, and all of them are closed; no thread can be had.
    pub fn measure(&self, test: Test, part: &Part) -> Result<Outcome, Broken> {
        let seen = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.streams.len())
                .map(|number| {
                    let work = move || self.guarded(number, test, part);
                    crate::threads::start(scope, &format!("stream/{number}"), work)
                })
                .collect();
            if threads.iter().any(Result::is_err) {
                self.close();
            }
            let join = |thread: Result<std::thread::ScopedJoinHandle<'_, _>, _>| match thread {
                Ok(thread) => {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                }
                Err(why) => Err(Broken::Unready(format!("{why}"))),
            };
            // All are waited for, and the first that broke says why: the others broke because it closed them.
            let all: Vec<Result<Share, Broken>> = threads.into_iter().map(join).collect();
            cause(all)
        })?;
        let (mut found, mut work, mut clocks) = (Vec::new(), Vec::new(), Vec::new());
        for (seen, did, clock) in seen {
            found.push(seen);
            work.push(did);
            clocks.extend(clock);
        }
        Ok(Outcome { found: together(found), work, clocks })
    }

    /// Where one stream breaks, all are shut down: no thread waits for data that does not come.
    fn guarded(&self, number: usize, test: Test, part: &Part) -> Result<Share, Broken> {
        let placed = match self.cpu_of(number) {
            Some(cpu) => pinned(cpu, || self.work(number, test, part))
                .unwrap_or_else(|why| Err(Broken::Unready(why.to_string()))),
            None => self.work(number, test, part),
        };
        if placed.is_err() {
            self.close();
        }
        placed
    }

    fn work(&self, number: usize, test: Test, part: &Part) -> Result<Share, Broken> {
        let stream = self.streams.get(number).ok_or(Broken::Closed)?;
        let channel = Channel::of(stream, self.stop)?;
        let sends = matches!(
            (test, self.side),
            (Test::WriteBw | Test::SendBw, Side::Client) | (Test::ReadBw, Side::Server)
        );
        let timed = match (test, self.side) {
            (Test::Latency, Side::Client) => as_seen(flow::ask(&channel, part)?, Seen::Latencies),
            (Test::Latency, Side::Server) => {
                as_seen(flow::answer(&channel, part)?, |()| Seen::Nothing)
            }
            _ if sends => as_seen(flow::send(&channel, part)?, |()| Seen::Nothing),
            _ => as_seen(flow::receive(&channel, part)?, Seen::Received),
        };
        let Timed { answer, elapsed_ns, cpu_ns } = timed;
        let cpu = u32::try_from(rustix::thread::sched_getcpu()).unwrap_or(u32::MAX);
        let cpus = channel.cpus().to_string();
        // Before it has time to fall.
        let reading = pinned(cpu, || clock(Windows::SHORT)).and_then(|it| it);
        let clock = reading.as_ref().ok().copied();
        let clock_hz = Known::from(reading.map(|it| it.mean.0 as f64));
        Ok((answer, Work { cpu_ns, elapsed_ns, cpu, cpus, clock_hz }, clock))
    }

    fn cpu_of(&self, number: usize) -> Option<u32> {
        let cpus = self.cpus.filter(|it| !it.is_empty())?;
        cpus.iter().nth(number % cpus.len())
    }

    fn close(&self) {
        for stream in self.streams {
            // It may be closed already.
            stream.shutdown(Shutdown::Both).ok();
        }
    }
}

fn as_seen<T>(timed: Timed<T>, seen: impl FnOnce(T) -> Seen) -> Timed<Seen> {
    let Timed { answer, elapsed_ns, cpu_ns } = timed;
    Timed { answer: seen(answer), elapsed_ns, cpu_ns }
}

/// What all found, or why the first broke that was not closed for another's sake.
fn cause(all: Vec<Result<Share, Broken>>) -> Result<Vec<Share>, Broken> {
    let mut found = Vec::with_capacity(all.len());
    let mut broken = None;
    for one in all {
        match one {
            Ok(one) => found.push(one),
            Err(why) if matches!(broken, None | Some(Broken::Closed)) => broken = Some(why),
            Err(_) => {}
        }
    }
    broken.map_or(Ok(found), Err)
}

fn together(all: Vec<Seen>) -> Found {
    let (mut received, mut halves) = (Vec::new(), Vec::new());
    for one in all {
        match one {
            Seen::Nothing => {}
            Seen::Received(it) => received.push(it),
            Seen::Latencies(mut more) => halves.append(&mut more),
        }
    }
    match Throughput::of(&received) {
        Some(moved) => Found::Throughput(moved),
        None if halves.is_empty() => Found::Nothing,
        None => Found::Latencies(halves),
    }
}

#[cfg(test)]
mod tests {
    use super::super::protocol::Amount;
    use super::*;
    use std::net::TcpListener;
    use std::sync::atomic::Ordering;

    fn streams(count: usize) -> (Vec<TcpStream>, Vec<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let pair = |_| (TcpStream::connect(at).unwrap(), listener.accept().unwrap().0);
        (0..count).map(pair).unzip()
    }

    /// What client and server found.
    fn measured(test: Test, part: Part, count: usize) -> [Outcome; 2] {
        let (ours, theirs) = streams(count);
        let stop = AtomicBool::new(false);
        let end = |side, streams| Streams { side, streams, cpus: None, stop: &stop };
        let (client, server) = (end(Side::Client, &ours[..]), end(Side::Server, &theirs[..]));
        std::thread::scope(|scope| {
            let serving = scope.spawn(|| server.measure(test, &part).unwrap());
            [client.measure(test, &part).unwrap(), serving.join().unwrap()]
        })
    }

    fn bytes(outcome: &Outcome) -> u64 {
        let Found::Throughput(moved) = &outcome.found else { panic!("{outcome:?}") };
        moved.bytes
    }

    #[test]
    fn everything_that_was_sent_arrives_and_the_receiver_counts_it() {
        let part = Part { bytes: 4096, amount: Amount::Iterations(100), zero_copy: false };
        let [client, server] = measured(Test::WriteBw, part, 3);
        assert_eq!((bytes(&server), client.found), (3 * 100 * 4096, Found::Nothing));
        assert_eq!((client.work.len(), server.work.len()), (3, 3));
        let [client, server] = measured(Test::ReadBw, part, 1);
        assert_eq!((bytes(&client), server.found), (100 * 4096, Found::Nothing));
    }

    #[test]
    fn what_is_sent_without_a_copy_arrives_as_well_in_both_directions() {
        for (size, n) in [(2, 100), (65_536, 50), (8 << 20, 3)] {
            let part = Part { bytes: size, amount: Amount::Iterations(n), zero_copy: true };
            let [_, server] = measured(Test::WriteBw, part, 2);
            assert_eq!(bytes(&server), 2 * size * n);
            let [client, _] = measured(Test::ReadBw, part, 1);
            assert_eq!(bytes(&client), size * n);
        }
    }

    #[test]
    fn the_smallest_and_the_largest_messages_go_through() {
        for (size, n) in [(2, 5000), (8 << 20, 3)] {
            let part = Part { bytes: size, amount: Amount::Iterations(n), zero_copy: false };
            let [_, server] = measured(Test::WriteBw, part, 1);
            assert_eq!(bytes(&server), size * n);
        }
    }

    #[test]
    fn a_time_ends_by_itself_and_nothing_beyond_it_counts() {
        let part = Part { bytes: 65536, amount: Amount::Time(50_000_000), zero_copy: false };
        let [_, server] = measured(Test::WriteBw, part, 2);
        let Found::Throughput(moved) = server.found else { panic!("{server:?}") };
        assert!(moved.bytes > 0 && moved.peak.0 > 0);
        // Two streams, which begin one after the other.
        assert!(moved.elapsed_ns >= 40_000_000, "{moved:?}");
    }

    #[test]
    fn each_round_trip_is_told_over_all_streams() {
        let part = Part { bytes: 64, amount: Amount::Iterations(50), zero_copy: false };
        let [client, server] = measured(Test::Latency, part, 2);
        let Found::Latencies(halves) = client.found else { panic!("{client:?}") };
        assert_eq!((halves.len(), server.found), (100, Found::Nothing));
        assert!(halves.iter().all(|it| *it > 0));
    }

    #[test]
    fn a_size_can_follow_another_over_the_same_streams() {
        let (ours, theirs) = streams(1);
        let stop = AtomicBool::new(false);
        let end = |side, streams| Streams { side, streams, cpus: None, stop: &stop };
        let (client, server) = (end(Side::Client, &ours[..]), end(Side::Server, &theirs[..]));
        for (test, size) in [(Test::ReadBw, 2), (Test::Latency, 8), (Test::WriteBw, 1024)] {
            let part = Part { bytes: size, amount: Amount::Iterations(10), zero_copy: false };
            std::thread::scope(|scope| {
                let serving = scope.spawn(|| server.measure(test, &part).unwrap());
                client.measure(test, &part).unwrap();
                serving.join().unwrap();
            });
        }
    }

    #[test]
    fn who_is_left_alone_notices_and_so_does_who_is_told_to_stop() {
        let part = Part { bytes: 64, amount: Amount::Time(60_000_000_000), zero_copy: false };
        let (ours, theirs) = streams(2);
        drop(theirs);
        let stop = AtomicBool::new(false);
        let end = Streams { side: Side::Client, streams: &ours, cpus: None, stop: &stop };
        assert!(matches!(end.measure(Test::WriteBw, &part), Err(Broken::Closed)));
        let (ours, _theirs) = streams(2);
        stop.store(true, Ordering::Relaxed);
        let end = Streams { side: Side::Client, streams: &ours, cpus: None, stop: &stop };
        assert!(matches!(end.measure(Test::ReadBw, &part), Err(Broken::Stopped)));
    }

    #[test]
    fn what_is_no_part_of_a_test_is_refused() {
        use std::io::Write;
        let (ours, mut theirs) = streams(1);
        theirs[0].write_all(b"HTTP/1.1 400 Bad Request\r\n").unwrap();
        let stop = AtomicBool::new(false);
        let end = Streams { side: Side::Client, streams: &ours, cpus: None, stop: &stop };
        let part = Part { bytes: 64, amount: Amount::Iterations(1), zero_copy: false };
        assert!(matches!(end.measure(Test::ReadBw, &part), Err(Broken::Strange)));
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named() {
        let (ours, _theirs) = streams(1);
        let stop = AtomicBool::new(false);
        let absent: CpuSet = [8191].into_iter().collect();
        let end = Streams { side: Side::Client, streams: &ours, cpus: Some(&absent), stop: &stop };
        let part = Part { bytes: 64, amount: Amount::Iterations(1), zero_copy: false };
        let refused = end.measure(Test::WriteBw, &part).unwrap_err().to_string();
        assert!(refused.contains("CPU 8191"), "{refused}");
    }
}
