//! Made-up hosts that are watched, and what is left of that.

use super::*;
use crate::Captured;
use facts::ipmi::Question;
use facts::{Hertz, Missing, Origin};
use std::cell::Cell;

/// A host that answers as the first text until it was waited for, and as the second from then on.
struct Two {
    texts: [Captured; 2],
    at: Cell<usize>,
    n_registers: Cell<usize>,
}

impl Two {
    fn now(&self) -> &Captured {
        &self.texts[self.at.get()]
    }
}

impl Source for Two {
    fn origin(&self) -> Origin {
        Origin::Live
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        self.now().read(path)
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        self.now().list(folder)
    }

    fn link(&self, path: &str) -> Fact<String> {
        self.now().link(path)
    }

    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        self.n_registers.set(self.n_registers.get() + 1);
        self.now().msr(cpu, register)
    }

    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        self.now().cpuid(leaf, subleaf)
    }

    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
        Err(Missing::absent(question.path()))
    }
}

const CPU: &str = "/sys/devices/system/cpu";

/// A Xeon of two cores, of which the second is kept free; its status, throttle count, and counters of the clock.
fn xeon(status: &str, count: u32, clocks: [u64; 3]) -> String {
    let [tsc, mperf, aperf] = clocks;
    format!(
        "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nflags : acpi aperfmperf\n\
         //- {CPU}/online\n0-1\n//- {CPU}/nohz_full\n1\n//- {CPU}/cpufreq/policy0/affected_cpus\n0 1\n\
         //- {CPU}/cpu0/topology/core_cpus_list\n0\n//- {CPU}/cpu1/topology/core_cpus_list\n1\n\
         //- {CPU}/cpu0/topology/package_cpus_list\n0-1\n//- /dev/cpu/0/msr 0xce\n0xa0080001800\n\
         //- /dev/cpu/0/msr 0x19c\n{status}\n//- /dev/cpu/1/msr 0x19c\n{status}\n\
         //- /dev/cpu/0/msr 0x10\n{tsc:#x}\n//- /dev/cpu/0/msr 0xe7\n{mperf:#x}\n//- /dev/cpu/0/msr 0xe8\n{aperf:#x}\n\
         //- {CPU}/cpu0/thermal_throttle/core_throttle_count\n{count}\n\
         //- {CPU}/cpu1/thermal_throttle/core_throttle_count\n0\n\
         //- {CPU}/cpu0/thermal_throttle/package_throttle_count\n0\n\
         //- twice TSC, MPERF and APERF of CPU 0\n1 1 1 1\n2 2 2 2\n"
    )
}

fn two() -> (Two, HostView) {
    let texts =
        [xeon("0x88450000", 7, [1000, 1000, 1000]), xeon("0x88450004", 9, [3000, 2000, 1500])];
    let texts = texts.map(|it| Captured::excerpt(&it).unwrap());
    // A live machine looks by itself; this one is looked at as a capture of it.
    let host = crate::view(&texts[0]);
    (Two { texts, at: Cell::new(0), n_registers: Cell::new(0) }, host)
}

#[test]
fn counters_are_read_at_both_ends_and_registers_in_between_and_cpus_kept_free_not_at_all() {
    let (source, mut host) = two();
    let sights = [Sight::Throttling, Sight::Signals];
    let watch = Watch::of(&host, &sights, Duration::from_millis(500));
    let cost = watch.cost();
    assert_eq!((cost.n_clocks, cost.n_registers, cost.n_readings), (1, 1, 6));
    // Of the core that may be interrupted, of the other one, and of their package.
    assert_eq!((cost.n_counts, cost.n_files), (0, 3));
    assert_eq!(cost.left_alone.to_string(), "1");
    watch.run(&source, &mut host, &mut |time| {
        assert_eq!(time, Duration::from_millis(100));
        source.at.set(1);
        false
    });
    let watched = host.watched.as_ref().unwrap();
    let readings = &watched.registers[&(0x19c, 0)];
    assert_eq!((readings.len(), readings[0], readings[5]), (6, 0x8845_0000, 0x8845_0004));
    assert!(!watched.registers.contains_key(&(0x19c, 1)));
    let events = |it: &Throttling| it.cores.get(0).unwrap().as_ref().unwrap().events;
    assert_eq!((events(&watched.throttling), events(&host.throttling)), (7, 9));
    let look = host.delivered.looks.get(0).unwrap().as_ref().unwrap();
    assert_eq!((look.ticks, look.reference, look.cycles), (2000, 1000, 500));
    assert!(look.clock() > Hertz(0));
    let kept = host.delivered.looks.get(1).unwrap().as_ref().unwrap_err().to_string();
    assert!(kept.contains("kept free"), "{kept}");
}

#[test]
fn somebody_who_has_seen_enough_ends_it_after_one_more_reading() {
    let (source, mut host) = two();
    let watch = Watch::of(&host, &[Sight::Signals], Duration::from_secs(60));
    assert_eq!(watch.cost().n_readings, 61);
    let mut n_waits = 0;
    watch.run(&source, &mut host, &mut |_| {
        n_waits += 1;
        n_waits == 2
    });
    assert_eq!(host.watched.unwrap().registers[&(0x19c, 0)].len(), 3);
}

#[test]
fn a_register_that_counts_is_a_register_of_the_cost() {
    let text = format!("{}//- /dev/cpu/0/msr 0x34\n0x5\n", xeon("0x0", 0, [1, 1, 1]));
    let host = crate::view(&Captured::excerpt(&text).unwrap());
    let cost = Watch::of(&host, &[Sight::Smis], Duration::from_millis(500)).cost();
    assert_eq!((cost.n_counts, cost.n_registers, cost.n_files), (1, 0, 0));
}

#[test]
fn what_is_not_watched_is_not_asked_again() {
    let (source, mut host) = two();
    host.delivered.looks = PerCpu::default();
    let before = host.throttling.clone();
    source.at.set(1);
    Watch::of(&host, &[], Duration::from_millis(50)).run(&source, &mut host, &mut |_| false);
    assert_eq!((source.n_registers.get(), &host.throttling), (0, &before));
}

#[test]
fn where_no_counter_tells_the_clock_the_shown_ones_are_sampled_with_how_much_the_cpus_worked() {
    let shown = |mhz: u32, busy: u32, idle: u32| {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\nflags : acpi\ncpu MHz : {mhz}.0\n\
             //- {CPU}/online\n0\n//- {CPU}/cpufreq/policy0/affected_cpus\n0\n//- /proc/stat\ncpu0 {busy} 0 0 {idle} 0 0 0 0\n"
        )
    };
    let texts = [shown(2000, 100, 900), shown(900, 150, 901)];
    let texts = texts.map(|it| Captured::excerpt(&it).unwrap());
    let mut host = crate::view(&texts[0]);
    let source = Two { texts, at: Cell::new(0), n_registers: Cell::new(0) };
    let watch = Watch::of(&host, &[], Duration::from_millis(500));
    assert_eq!((watch.cost().n_samples, watch.is_empty()), (5, false));
    watch.run(&source, &mut host, &mut |_| {
        source.at.set(1);
        false
    });
    let watched = host.watched.as_ref().unwrap();
    assert_eq!((watched.clocks[&0].len(), watched.clock(0)), (5, Some(Hertz::from_mhz(900))));
    let share = host.delivered.worked.unwrap().share(0).unwrap();
    assert!(share > 0.9, "{share}");
}
