//! Cycles, turns, and what a reading leaves alone.

use super::*;
use crate::probe::allowed;
use crate::{Captured, Live};

#[test]
fn both_cycles_go_through_each_line_once_and_never_through_two_of_a_pair() {
    let buffer = Buffer::new(LEAST_BYTES).unwrap();
    for word in [0, 1] {
        let mut at = buffer.begins[word];
        let mut pairs = std::collections::BTreeSet::new();
        for _ in 0..N_LINKED {
            assert_eq!(at % WORDS, word);
            assert!(at < buffer.words.len() / 4);
            assert!(pairs.insert(at / WORDS / 2), "{at}");
            at = buffer.words[at] as usize;
        }
        assert_eq!(at, buffer.begins[word]);
    }
    assert_ne!(buffer.words[buffer.begins[0]] + 1, buffer.words[buffer.begins[1]]);
}

#[test]
fn a_reading_says_how_long_loads_take_or_why_that_is_unknown_and_the_next_is_not_due() {
    let cpus: CpuSet = allowed().unwrap().iter().take(1).collect();
    let mut loads = Loads::new();
    let source = Live::this_machine();
    let (cpu, reading) = loads.read(&source, &cpus).unwrap();
    let reading = reading.unwrap();
    assert_eq!((Some(cpu), reading.cpu), (cpus.first(), cpu));
    assert!(reading.took_ns > 0);

    for time in [&reading.memory, &reading.last_level].into_iter().flatten() {
        assert!(time.best_ps > 0 && time.best_ps <= time.typical_ps, "{time:?}");
    }
    assert!(loads.read(&source, &cpus).is_none());
}

#[test]
fn cpus_take_turns_and_one_that_is_not_there_gives_a_reason() {
    let mut loads = Loads::new();
    let source = Live::this_machine();
    let cpus: CpuSet = allowed().unwrap().iter().take(1).chain([8191]).collect();
    let mut turn = || {
        loads.due_ns = 0;
        loads.read(&source, &cpus).unwrap()
    };
    let turns = [turn(), turn(), turn()].map(|it| it.0);
    assert_eq!(turns, [cpus.first().unwrap(), 8191, cpus.first().unwrap()]);
    loads.due_ns = 0;
    assert!(loads.read(&source, &cpus).unwrap().1.is_err());
    assert!(loads.read(&source, &CpuSet::default()).is_none());
}

#[test]
fn a_buffer_leaves_the_second_level_cache_and_stays_within_its_bounds() {
    let of = |second_bytes, last_bytes, last_level| Caches { second_bytes, last_bytes, last_level };
    let epyc = of(Some(1 << 20), 32 << 20, 3);
    assert_eq!(buffer_bytes(Some(&epyc)), 4 << 20);
    assert_eq!(has_last_level(Ok(epyc)), Ok(()));
    assert_eq!(buffer_bytes(Some(&of(Some(3 << 20), 36 << 20, 3))), 6 << 20);
    assert_eq!(buffer_bytes(Some(&of(Some(16 << 20), 64 << 20, 3))), LARGEST);
    assert_eq!(buffer_bytes(None), 4 << 20);
    let without = |caches: Caches| has_last_level(Ok(caches)).unwrap_err().to_string();
    assert!(without(of(Some(1 << 20), 1 << 20, 2)).contains("no cache beyond"));
    assert!(without(of(Some(16 << 20), 64 << 20, 3)).contains("larger than 4 MiB"));
    assert!(without(of(Some(256 << 10), 3 << 20, 3)).contains("smaller than the probe's"));
}

#[test]
fn a_buffer_that_does_not_fit_leaves_the_one_of_its_node() {
    let mut loads = Loads::new();
    for node in 0..8 {
        loads.buffer(node, 4 << 20).unwrap();
    }
    let refused = loads.buffer(0, 8 << 20).map(Buffer::bytes).unwrap_err().to_string();
    assert!(refused.contains("32 MiB"), "{refused}");
    assert_eq!(loads.buffer(0, 4 << 20).map(Buffer::bytes), Ok(4 << 20));
    assert!(loads.buffer(8, 4 << 20).is_err());
}

#[test]
fn a_cpu_that_kept_the_thread_waiting_is_left_out() {
    let source = Live::this_machine();
    let cpus: CpuSet = allowed().unwrap().iter().take(1).chain([8191]).collect();
    let first = cpus.first().unwrap();
    let mut loads = Loads::new();
    loads.visited(8191, LONGEST_VISIT_NS);
    loads.visited(first, LONGEST_VISIT_NS + 1);
    let mut turn = || {
        loads.due_ns = 0;
        loads.read(&source, &cpus).unwrap().0
    };
    assert_eq!([turn(), turn()], [8191, 8191]);
    assert!(loads.read(&source, &[first].into_iter().collect()).is_none());
}

#[test]
fn caches_that_could_not_be_read_are_read_again() {
    let mut loads = Loads::new();
    let folder = "/sys/devices/system/cpu/cpu0/cache/index0";
    let text = format!("//- {folder}/level\n2\n//- {folder}/size\n1024K\n");
    let (none, known) = (Captured::excerpt("").unwrap(), Captured::excerpt(&text).unwrap());
    assert!(loads.caches(&none, 0).is_err());
    let caches = loads.caches(&known, 0);
    assert_eq!(caches.clone().map(|it| it.second_bytes), Ok(Some(1 << 20)));
    assert_eq!(loads.caches(&none, 0), caches);
}
