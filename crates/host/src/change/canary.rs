//! Whether a CPU still answers after its register was written: clearing clock modulation has stopped some for good.

use crate::probe::{keep_off, pinned};
use facts::CpuSet;
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::Duration;

/// How long a CPU may take to run a thread. One at an eighth of its clock under load takes milliseconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// Whether `cpu` runs a thread that is pinned to it. It is waited for on another CPU, where there is one.
pub(super) fn answers(cpu: u32) -> bool {
    let (sender, receiver) = channel();
    let runner = Builder::new().name("canary".to_owned()).spawn(move || {
        // Nobody listens any more where it took too long.
        let _late = sender.send(pinned(cpu, || std::hint::black_box(cpu)).is_ok());
    });
    if runner.is_err() {
        return false;
    }
    let waiter = Builder::new().name("canary-watch".to_owned()).spawn(move || {
        let cpu: CpuSet = [cpu].into_iter().collect();
        let _is_the_only_cpu = keep_off(&cpu);
        receiver.recv_timeout(PATIENCE).unwrap_or(false)
    });
    waiter.is_ok_and(|it| it.join().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_is_there_answers_and_one_that_is_not_does_not() {
        let cpu = crate::probe::allowed().unwrap().last().unwrap();
        assert!(answers(cpu));
        assert!(!answers(8191));
    }
}
