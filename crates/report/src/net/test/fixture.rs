//! Network tests as test data.

use facts::links::perftest::Conflict;
use facts::{Bytes, BytesPerSecond, Hertz};
use lab::known::Known;
use lab::net::protocol::{Clocks, Judgement, Slowing, Task, Test, Transport};
use lab::net::{
    Cause, Ends, Entry, Figure, Latencies, Ledger, NicLocality, Placement, Point, Run, Taken,
    Throughput, Work,
};

fn work(share: f64, clock_hz: Known<f64>) -> Vec<Work> {
    let cpu_ns = (share * 1e9) as u64;
    vec![Work { cpu_ns, elapsed_ns: 1_000_000_000, cpu: 1, cpus: "0-1".to_owned(), clock_hz }]
}

/// A clock that is lower than it should be took `slow` of the time.
fn ledger(slow: f64, is_clock_known: bool) -> Known<Ledger> {
    let entry = |loss: &str, part: &str, share| Entry {
        loss: loss.to_owned(),
        part: part.to_owned(),
        share: Known::Value(share),
        uncertainty: 0.002,
        method: "counter".to_owned(),
        causes: Vec::new(),
    };
    let fix = "cpupower -c 1 frequency-set -g performance".to_owned();
    let cause = Cause { check: "slow-governor".to_owned(), fix: Some(fix) };
    let missing = Known::Missing { missing: "no counter shows the clock".to_owned() };
    let clock = if is_clock_known { Known::Value(slow) } else { missing };
    let causes = if slow > 0.0 { vec![cause] } else { Vec::new() };
    let lines = vec![
        entry("idle", "", 0.3),
        Entry { share: clock, causes, ..entry("slow-clock", "", 0.0) },
        entry("ticks", "", 0.001),
        entry("interrupts", "eth0-TxRx-0", 0.02),
        entry("interrupts", "others", 0.001),
        entry("useful", "fullclock", 0.66 - slow),
    ];
    let notes = vec!["tasks were counted".to_owned()];
    Known::Value(Ledger {
        cpus: "0-1".to_owned(),
        wall_ns: 3_200_000_000,
        lines,
        unexplained: 0.018,
        notes,
    })
}

/// The adapter is on another node than CPUs 0 and 1, or on theirs.
fn place(near: &str) -> Placement {
    let locality = NicLocality {
        address: "0000:81:00.0".to_owned(),
        node: Known::Value(1),
        near: Known::Value(near.to_owned()),
        n_nodes: Known::Value(2),
        serving: Known::Value("1-3".to_owned()),
        interrupted: Known::Value(vec![
            Taken { cpu: 1, count: 81_220 },
            Taken { cpu: 3, count: 12 },
        ]),
    };
    Placement {
        device: Known::Value("eth0".to_owned()),
        adapter: Known::Value(locality),
        worked: "0-1".to_owned(),
        incoming: "1".to_owned(),
    }
}

fn run(test: Test, points: Vec<Point>) -> Run {
    let clocks = |slowing| Clocks { nominal_hz: Known::Value(2.534e9), slowing };
    let slowing = Slowing {
        check: "slow-governor".to_owned(),
        message: "the governor userspace holds 1600 MHz".to_owned(),
        fix: vec!["cpupower -c 1 frequency-set -g performance".to_owned()],
    };
    Run {
        server: "192.0.2.7:7079".parse().unwrap(),
        task: Task { transport: Transport::Tcp, test, streams: 1 },
        points,
        conflicts: Vec::new(),
        over: None,
        judged: Ends {
            client: Judgement {
                clocks: clocks(vec![slowing]),
                ledger: ledger(0.25, true),
                place: place("2-3"),
            },
            server: Judgement {
                clocks: clocks(Vec::new()),
                ledger: ledger(0.0, false),
                place: place("0-1"),
            },
        },
    }
}

/// Small messages keep the client's CPU busy, at 1600 of 2534 MHz; with large ones it waits, and is slower still.
pub(super) fn bandwidth() -> Run {
    let point = |size: u64, bytes: u64, client: f64, clock_hz: f64| {
        let peak = BytesPerSecond(bytes + bytes / 10);
        Point {
            message: Bytes(size),
            zero_copy: size >= 65_536,
            figure: Figure::Throughput(Throughput { bytes, elapsed_ns: 1_000_000_000, peak }),
            work: Ends {
                client: work(client, Known::Value(clock_hz)),
                server: work(0.4, Known::Value(2.534e9)),
            },
        }
    };
    let points = vec![
        point(2, 2_000_000, 0.99, 1.6e9),
        point(4096, 1 << 30, 0.97, 1.6e9),
        point(8_388_608, 1_174_405_120, 0.3, 1.2e9),
    ];
    run(Test::WriteBw, points)
}

/// Both ends work at their clock, as far as it is known.
pub(super) fn latency() -> Run {
    let halves = (1..=1000).map(|it| if it == 1000 { 90_000 } else { 9_000 + it });
    let missing = Known::Missing { missing: "the clock of CPU 1 cannot be read".to_owned() };
    let point = Point {
        message: Bytes(64),
        zero_copy: false,
        figure: Figure::Latencies(Latencies::of(halves.collect()).unwrap()),
        work: Ends { client: work(0.35, Known::Value(2.534e9)), server: work(0.25, missing) },
    };
    run(Test::Latency, vec![point])
}

/// Over RDMA perftest polls, at both ends, and finds two clocks; large messages fill the link.
pub(super) fn rdma() -> Run {
    let mut run = bandwidth();
    run.task = Task { transport: Transport::Rdma, test: Test::SendBw, streams: 1 };
    for point in &mut run.points {
        point.work = Ends {
            client: work(1.0, Known::Value(1.6e9)),
            server: work(1.0, Known::Value(2.534e9)),
        };
    }
    run.points[1].figure = Figure::Throughput(Throughput {
        bytes: 1_000_000_000,
        elapsed_ns: 1_000_000_000,
        peak: BytesPerSecond(1_100_000_000),
    });
    run.conflicts = vec![Conflict { first: Hertz(1_600_000_000), other: Hertz(2_534_000_000) }];
    run
}
