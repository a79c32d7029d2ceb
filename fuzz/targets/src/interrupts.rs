//! /proc/interrupts and /proc/stat: no CPU counts more than all of them do.

use facts::system::cpu_times::CpuTimes;
use facts::system::interrupts::Interrupts;

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    if let Ok(interrupts) = Interrupts::parse(text) {
        let _ = interrupts.tick_timer();
        for line in &interrupts.lines {
            assert_eq!(line.on_all(&interrupts.cpus), line.total(), "{line:?}");
            assert!(line.cpus().iter().all(|cpu| line.on(cpu) <= line.total()), "{line:?}");
            assert!(text.contains(line.device()), "{line:?}");
        }
        let _ = interrupts.devices().count();
    }
    if let Ok(times) = CpuTimes::parse(text) {
        for (cpu, time) in times.iter() {
            assert!(
                time.busy_share().is_none_or(|share| (0.0..=1.0).contains(&share)),
                "CPU {cpu}"
            );
        }
    }
}
