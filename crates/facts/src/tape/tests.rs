//! Tapes of made-up samples: every kind of change comes back, and no payload makes anybody panic.

use super::deflate::Inflater;
use super::frame::{HEAD_LENGTH, Head, Kind, frame};
use super::*;
use crate::client::{ClientMetric, ClientSample, Heard, MarkText};
use crate::counters::users::{self, Owner, UserTime, UserTimes};
use crate::counters::{Counters, Family, Group, Groups, Moment, Name, Table, Task, Tasks};
use crate::database::{Count, LogCounters, Look, ServerSample, SessionGroup, Syncing};
use crate::probe::{ClockReading, LoadReading, LoadTime};
use crate::trace::{Cause, CauseTime, Comm, CpuTotals, TaskTime, TickStop};
use crate::{Fact, Hertz, Missing, PerCpu};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

/// A payload as a stored block of DEFLATE (RFC 1951, section 3.2.4): its bytes as they are.
fn stored(payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u16;
    [&[0][..], &length.to_le_bytes(), &(!length).to_le_bytes(), payload].concat()
}

/// A number as counters have them: often nothing, often little, sometimes all there is.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0..300u64, any::<u64>()]
}

fn missing() -> impl Strategy<Value = Missing> {
    select(vec![
        Missing::absent("/a"),
        Missing::denied("/b"),
        Missing::hidden("c", "KVM"),
        Missing::malformed("d", "3 after 5", "a counter that does not go backwards"),
    ])
}

fn fact<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Fact<T>> {
    prop_oneof![1 => missing().prop_map(Err), 3 => value.prop_map(Ok)]
}

prop_compose! {
    /// Of two sets of rows and three of columns, so that shapes stay as often as they change.
    fn table()(
        rows in select(vec![&[0u32, 1][..], &[0, 1, 2, 7], &[]]),
        columns in select(vec![&["idle", "user"][..], &["24 virtio0-input"], &[]]),
    )(
        cells in vec((count(), vec(count(), columns.len())), rows.len()),
        blank_rows in vec((0..3u32, missing()), 0..2),
        blank_columns in vec(missing(), 0..2),
        source in select(vec![None, Some("/proc/elsewhere"), Some("")]),
        rows in Just(rows),
        columns in Just(columns),
    ) -> Table {
        let mut table = Table::new(rows.into(), columns.iter().map(|&it| it.into()).collect());
        for (row, (read_at, cells)) in cells.iter().enumerate() {
            table.row_mut(row, *read_at).copy_from_slice(cells);
        }
        blank_rows.into_iter().for_each(|(row, why)| table.blank_row(row, why));
        blank_columns.into_iter().for_each(|why| table.blank_column("é", why));
        if let Some(source) = source {
            table.set_source(source);
        }
        table
    }
}

prop_compose! {
    fn task()(
        name in select(vec!["postgres", "kworker/0:1", ""]),
        is_kernel_thread: bool,
        started in 0..3u64,
        cpu in 0..4u32,
        counts in [count(), count(), count()],
    ) -> Task {
        let [run_ns, wait_ns, slices] = counts;
        let name = Name::new(name.as_bytes());
        Task { tid: 0, pid: 1, name, is_kernel_thread, started, cpu, run_ns, wait_ns, slices }
    }
}

fn tasks() -> impl Strategy<Value = Tasks> {
    (any::<bool>(), count(), btree_map(0..6u32, task(), 0..6)).prop_map(
        |(complete, read_at, tasks)| {
            let list = tasks.into_iter().map(|(tid, task)| Task { tid, ..task }).collect();
            Tasks { complete, read_at, list }
        },
    )
}

fn groups() -> impl Strategy<Value = Groups> {
    let paths = select(vec![&["/a"][..], &["/a", "/b"], &[]]);
    (count(), paths, vec([count(), count(), count()], 2)).prop_map(|(read_at, paths, counts)| {
        let group = |(path, counts): (&&str, [u64; 3])| {
            let [periods, throttled_periods, throttled_ns] = counts;
            Group { path: (*path).to_owned(), periods, throttled_periods, throttled_ns }
        };
        Groups { read_at, list: paths.iter().zip(counts).map(group).collect() }
    })
}

fn users() -> impl Strategy<Value = UserTimes> {
    let roles = [("postgresql", "walwriter"), ("postgresql", "backend")];
    let kind =
        (any::<bool>(), any::<bool>(), proptest::option::of(select(roles.to_vec())), "[a-c]{0,3}");
    let kind = kind.prop_map(|(is_command, is_ended, role, name)| users::Kind {
        owner: if is_command { Owner::Command } else { Owner::Other },
        role,
        name: Name::new(name.as_bytes()),
        is_ended,
    });
    let time = (kind, any::<u32>(), count(), count());
    (count(), vec(time, 0..5), any::<u32>(), any::<u32>()).prop_map(
        |(over_ns, list, unread, ended)| {
            let time = |(kind, cpu, run_ns, wait_ns)| UserTime { kind, cpu, run_ns, wait_ns };
            let mut users =
                UserTimes { over_ns, list: list.into_iter().map(time).collect(), unread, ended };
            users.add_up();
            users
        },
    )
}

prop_compose! {
    fn counters()(
        at in [count(), count(), count()],
        online in btree_set(0..200u32, 0..5),
        tables in vec(fact(table()), Family::ALL.len()),
        tasks in fact(tasks()),
        groups in fact(groups()),
        users in fact(users()),
    ) -> Counters {
        let mut counters = Counters::unread();
        counters.at = Moment { raw_ns: at[0], boot_ns: at[1], real_ns: at[2] };
        counters.online = online.into_iter().collect();
        for (&family, table) in Family::ALL.iter().zip(tables) {
            *counters.table_mut(family) = table;
        }
        (counters.tasks, counters.groups, counters.users) = (tasks, groups, users);
        counters
    }
}

/// Shares have 24 bits on a tape.
fn clock() -> impl Strategy<Value = ClockReading> {
    let share = (0.0..1.0f32).prop_map(f64::from);
    (count(), count(), share, any::<u32>()).prop_map(|(hertz, ns, share, windows)| ClockReading {
        cpu: 0,
        best: Hertz(hertz),
        median: Hertz(hertz / 2),
        mean: Hertz(hertz.wrapping_add(ns)),
        spread: share,
        disagreement: -share,
        windows,
        rejected: windows / 2,
        at_ns: ns,
        took_ns: hertz,
    })
}

fn totals() -> impl Strategy<Value = CpuTotals> {
    let cause =
        select(vec![Cause::LocalTimer, Cause::Spurious, Cause::Device(300), Cause::Softirq(9)]);
    let tasks = btree_map(any::<i32>(), (any::<[u8; 16]>(), count()), 0..4);
    (tasks, btree_map(cause, count(), 0..4), count()).prop_map(|(tasks, causes, ns)| CpuTotals {
        wall_ns: ns,
        unknown_ns: 1,
        idle_ns: 2,
        tasks: tasks
            .into_iter()
            .map(|(tid, (comm, run_ns))| {
                let time = TaskTime {
                    comm: Comm(comm),
                    run_ns,
                    interrupts: 6,
                    interrupted_ns: run_ns / 2,
                };
                (tid, time)
            })
            .collect(),
        causes: causes
            .into_iter()
            .map(|(cause, count)| {
                let from_tasks = count / 2;
                (cause, CauseTime { count, from_tasks, in_idle_ns: ns, in_task_ns: 3 })
            })
            .collect(),
        softirq_tasks: [].into(),
        switches: 4,
        tick_stops: [(TickStop { dependency: 2, success: ns > 9 }, ns)].into(),
        lost: 5,
    })
}

prop_compose! {
    fn client()(
        names in select(vec![None, Some(("pgbench", "tps")), Some(("", ""))]),
        heard in vec((count(), any::<f64>().prop_filter("finite", |it| it.is_finite())), 0..4),
        marks in vec((count(), select(vec!["CREATING INDEXES", "", "é"])), 0..3),
    ) -> ClientSample {
        let metric = names.map(|(client, unit)| ClientMetric {
            client: client.to_owned(),
            unit: unit.to_owned(),
        });
        let heard = heard.into_iter().map(|(at, value)| Heard { at, value }).collect();
        let mark = |(at, text): (u64, &str)| MarkText { at, text: text.to_owned() };
        ClientSample { metric, heard, marks: marks.into_iter().map(mark).collect() }
    }
}

prop_compose! {
    fn look()(
        at in count(),
        counts in vec(proptest::option::of(count()), Count::N),
        is_timed in proptest::option::of(any::<bool>()),
        syncing in select(vec![None, Some(Syncing::Off), Some(Syncing::ByWrites), Some(Syncing::ByCalls)]),
        groups in vec((select(vec!["client backend", "", "é"]), any::<u32>()), 0..3),
    ) -> Look {
        let mut log = LogCounters::default();
        (log.is_timed, log.syncing, log.log_reset) = (is_timed, syncing, "2026".to_owned());
        Count::all().zip(counts).for_each(|(count, value)| log.set(count, value));
        let group = |(name, n): (&str, u32)| SessionGroup {
            backend: name.to_owned(),
            wait: name.to_owned(),
            n,
            ..SessionGroup::default()
        };
        Look { at, sessions: groups.into_iter().map(group).collect(), log }
    }
}

fn server() -> impl Strategy<Value = ServerSample> {
    let phase = (count(), select(vec!["COPY begins", ""]));
    (vec(look(), 0..4), vec(phase, 0..3)).prop_map(|(looks, phases)| {
        let mark = |(at, text): (u64, &str)| MarkText { at, text: text.to_owned() };
        ServerSample { looks, phases: phases.into_iter().map(mark).collect() }
    })
}

fn loads() -> impl Strategy<Value = LoadReading> {
    let time = || {
        let of = |(best_ps, typical_ps)| LoadTime { best_ps, typical_ps };
        (count(), count()).prop_map(of)
    };
    let times = (fact(time()), fact(time()));
    (times, count(), count()).prop_map(|((memory, last_level), at_ns, took_ns)| LoadReading {
        cpu: 0,
        memory,
        last_level,
        at_ns,
        took_ns,
    })
}

fn sample() -> impl Strategy<Value = Sample> {
    let clocks = btree_map(0..3u32, fact(clock()), 0..2);
    let totals = btree_map(0..3u32, fact(totals()), 0..2);
    let client = proptest::option::of(client());
    let loads = btree_map(0..3u32, fact(loads()), 0..2);
    let both = (client, proptest::option::of(server()));
    let parts = (counters(), clocks, totals, both, loads);
    parts.prop_map(|(counters, clocks, totals, (client, server), loads)| {
        let of_cpu = |(cpu, clock): (u32, Fact<ClockReading>)| {
            (cpu, clock.map(|it| ClockReading { cpu, ..it }))
        };
        let clocks: PerCpu<ClockReading> = clocks.into_iter().map(of_cpu).collect();
        let on_cpu = |(cpu, loads): (u32, Fact<LoadReading>)| {
            (cpu, loads.map(|it| LoadReading { cpu, ..it }))
        };
        let loads = loads.into_iter().map(on_cpu).collect();
        let totals = totals.into_iter().collect();
        Sample { counters, clocks, totals, client, server, loads }
    })
}

fn read(decoder: &mut Decoder, frame: &[u8]) -> Result<Sample, Undecoded> {
    let head = Head::parse(frame).unwrap();
    let payload = &frame[HEAD_LENGTH..];
    assert!(head.fits(payload));
    decoder.sample(&head, payload)
}

proptest! {
    #[test]
    fn every_sample_comes_back_whatever_changed_between_them(samples in vec(sample(), 1..5)) {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(Version::Three));
        for sample in samples {
            let frame = encoder.frame(&sample).unwrap();
            prop_assert_eq!(read(&mut decoder, &frame), Ok(sample));
        }
        prop_assert_eq!(decoder.unknown_parts(), 0);
    }

    #[test]
    fn a_damaged_payload_with_a_right_checksum_does_no_harm(
        samples in [sample(), sample()],
        flips in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        is_stored: bool,
    ) {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(Version::Three));
        let mut inflater = Inflater::new();
        for sample in samples {
            let whole = encoder.frame(&sample).unwrap();
            let head = Head::parse(&whole).unwrap();
            let mut payload = whole[HEAD_LENGTH..].to_vec();
            if is_stored {
                payload = inflater.unpack(&payload).unwrap();
            }
            for (at, byte) in &flips {
                let length = payload.len();
                payload[at.index(length)] = *byte;
            }
            let payload = if is_stored { stored(&payload) } else { payload };
            let forged = frame(head.kind, head.number, &payload).unwrap();
            // A value or an error, and no panic, is all that can be asked of it.
            drop(read(&mut decoder, &forged));
        }
    }

    #[test]
    fn random_bytes_do_no_harm(payload in vec(any::<u8>(), 1..200), is_stored: bool) {
        let payload = if is_stored { stored(&payload) } else { payload };
        let forged = frame(Kind::Key, 0, &payload).unwrap();
        for version in Version::ALL {
            drop(read(&mut Decoder::new(version), &forged));
        }
    }
}

/// A sample of two CPUs, `second` seconds after the first.
fn at_second(second: u64) -> Sample {
    let mut counters = Counters::unread();
    let ns = second * 1_000_000_000;
    counters.at = Moment { raw_ns: ns, boot_ns: ns, real_ns: ns };
    counters.online = [0, 1].into_iter().collect();
    let mut table = Table::new([0, 1].into(), ["LOC".into(), "RES".into()].into());
    table.row_mut(0, ns + 2000).copy_from_slice(&[second * 250, 7]);
    table.row_mut(1, ns + 2000).copy_from_slice(&[second * 251, 9]);
    *counters.table_mut(Family::Interrupts) = Ok(table);
    Sample::from(counters)
}

#[test]
fn a_second_in_which_two_counters_moved_takes_36_bytes() {
    let mut encoder = Encoder::new();
    encoder.frame(&at_second(1)).unwrap();
    let frame = encoder.frame(&at_second(2)).unwrap();
    assert_eq!(frame.len(), 36);
}

#[test]
fn a_reading_of_loads_takes_at_most_32_bytes() {
    let length = |loads: PerCpu<LoadReading>| {
        let mut encoder = Encoder::new();
        encoder.frame(&at_second(1)).unwrap();
        encoder.frame(&Sample { loads, ..at_second(2) }).unwrap().len()
    };
    let time = |ps| Ok(LoadTime { best_ps: ps - 5_431, typical_ps: ps });
    let reading = LoadReading {
        cpu: 1,
        memory: time(151_234),
        last_level: time(17_345),
        at_ns: 2_001_234_567,
        took_ns: 351_234,
    };
    let with = length([(1, Ok(reading))].into_iter().collect());
    let without = length(PerCpu::default());
    assert!((10..=32).contains(&(with - without)), "{}", with - without);
}

#[test]
fn after_a_lost_frame_the_next_key_frame_is_read_again() {
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(Version::Three));
    let frames: Vec<Vec<u8>> = (0..130).map(|it| encoder.frame(&at_second(it)).unwrap()).collect();
    let read_back = |(second, frame): (u64, &Vec<u8>)| {
        let is_lost = second == 10;
        (!is_lost && read(&mut decoder, frame) == Ok(at_second(second))).then_some(second)
    };
    let seconds: Vec<u64> = (0..).zip(&frames).filter_map(read_back).collect();
    assert_eq!(seconds, (0..10).chain(60..130).collect::<Vec<_>>());
}

#[test]
fn a_part_that_only_a_later_fullclock_knows_is_stepped_over_and_counted() {
    let whole = Encoder::new().frame(&at_second(1)).unwrap();
    let mut payload = Inflater::new().unpack(&whole[HEAD_LENGTH..]).unwrap();
    payload.extend([99, 2, 0xde, 0xad]);
    let mut decoder = Decoder::new(Version::Three);
    let later = frame(Kind::Key, 0, &stored(&payload)).unwrap();
    assert_eq!(read(&mut decoder, &later), Ok(at_second(1)));
    assert_eq!(decoder.unknown_parts(), 1);
}

#[test]
fn a_few_bytes_that_claim_a_huge_table_are_refused() {
    let mut payload = Vec::new();
    // The moment; then a table of 2^28 rows and one column, all zero.
    payload.extend([1, 3, 2, 0, 0]);
    let table = [3, 0x80, 0x80, 0x80, 0x80, 1, 1, 0, 0xff, 0xff, 0xff, 0x7f, 1, b'a'];
    payload.extend([16, table.len() as u8]);
    payload.extend(table);
    let forged = frame(Kind::Key, 0, &stored(&payload)).unwrap();
    let refused = read(&mut Decoder::new(Version::Three), &forged).unwrap_err().to_string();
    assert_eq!(refused, "expected fewer cells");
}
