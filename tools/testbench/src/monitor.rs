//! Asks QEMU's monitor what the CPUs of a guest do.
#![expect(clippy::disallowed_methods, reason = "waits for an emulator's answer")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

/// How often the CPUs are looked at, and how long after each other.
const N_LOOKS: u32 = 8;
const BETWEEN: Duration = Duration::from_millis(500);

/// The monitor answers at once, also where its guest does not.
const PATIENCE: Duration = Duration::from_secs(20);

const PROMPT: &str = "(qemu) ";

/// The interrupt flag of RFLAGS (Intel SDM volume 1, section 3.4.3).
const INTERRUPTS: u64 = 1 << 9;

/// A CPU, and an interrupt that waits for it.
type Waiting = (String, u8);

/// Names the CPUs on which a guest's kernel is stuck: at every look they executed the kernel with interrupts disabled, and the same interrupt
/// waited, which otherwise lasts microseconds. `None` if there is no such CPU, or the emulator has no monitor.
///
/// Disabled interrupts alone show nothing. The emulator answers while no CPU holds its lock, and a CPU that sleeps by reading a port (C2 of
/// these machines) waits for that lock most of the time, with interrupts disabled: an idle guest was seen so at 31 of 40 looks, and one
/// whose clock counts instructions at 51 of 60. Between two reads it takes its interrupts. A CPU that is stuck does not, and that
/// of its timer waits: seen at every look, with either clock.
pub(crate) fn caught(socket: &Path) -> Option<String> {
    let look = || waiting(socket).ok();
    let mut caught = look()?;
    for _ in 1..N_LOOKS {
        if caught.is_empty() {
            return None;
        }
        thread::sleep(BETWEEN);
        caught = &caught & &look()?;
    }
    let cpus: BTreeMap<String, u8> = caught.into_iter().collect();
    let cpus: Vec<String> = cpus
        .iter()
        .map(|(cpu, interrupt)| format!("{cpu} (interrupt {interrupt} waits)"))
        .collect();
    (!cpus.is_empty()).then(|| {
        let (cpus, time) = (cpus.join(", "), BETWEEN * (N_LOOKS - 1));
        format!("{cpus} in the kernel, interrupts disabled, at {N_LOOKS} looks in {time:?}")
    })
}

/// The interrupts that wait for CPUs which execute the kernel with interrupts disabled.
fn waiting(socket: &Path) -> Result<BTreeSet<Waiting>> {
    let mut monitor = UnixStream::connect(socket).context("no monitor")?;
    monitor.set_read_timeout(Some(BETWEEN))?;
    answer(&mut monitor)?;
    let mut waiting = BTreeSet::new();
    for cpu in without_interrupts(&asked(&mut monitor, "info registers -a")?) {
        // Machines of the bench number them alike.
        let apic = cpu.trim_start_matches("CPU#");
        let interrupts = requested(&asked(&mut monitor, &format!("info lapic {apic}"))?);
        waiting.extend(interrupts.into_iter().map(|it| (cpu.clone(), it)));
    }
    Ok(waiting)
}

fn asked(monitor: &mut UnixStream, question: &str) -> Result<String> {
    monitor.write_all(format!("{question}\n").as_bytes())?;
    answer(monitor)
}

/// Everything up to its next prompt.
fn answer(monitor: &mut UnixStream) -> Result<String> {
    let (mut text, since) = (String::new(), Instant::now());
    let mut piece = [0; 4096];
    while !text.ends_with(PROMPT) {
        ensure!(since.elapsed() < PATIENCE, "the monitor does not answer");
        match monitor.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => text += &String::from_utf8_lossy(piece.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(text)
}

/// The CPUs that execute the kernel with interrupts disabled.
fn without_interrupts(registers: &str) -> BTreeSet<String> {
    let (mut found, mut cpu) = (BTreeSet::new(), "");
    for line in registers.lines().map(str::trim) {
        if line.starts_with("CPU#") {
            cpu = line;
        }
        let field = |name| line.split(' ').find_map(|it: &str| it.strip_prefix(name));
        let flags = field("RFL=").and_then(|it| u64::from_str_radix(it, 16).ok());
        let is_kernel = field("CPL=") == Some("0") && field("HLT=") == Some("0");
        if is_kernel && flags.is_some_and(|it| it & INTERRUPTS == 0) {
            found.insert(cpu.to_owned());
        }
    }
    found
}

/// The interrupts in the request register of an APIC (Intel SDM volume 3, section 11.8.4): "IRR", a tab and their numbers.
fn requested(apic: &str) -> Vec<u8> {
    let line = apic.lines().find_map(|it| it.trim().strip_prefix("IRR"));
    // Those of a level say so behind the number.
    let numbers = line.unwrap_or_default().split_whitespace().filter_map(|it| it.split('(').next());
    numbers.filter_map(|it| it.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    /// Two CPUs: one in a program, the other in the kernel with these flags.
    fn registers_with(flags: &str) -> String {
        format!(
            "\r\nCPU#0\r\nRAX=0000000000000000 RBX=0000000000000000\r\n\
             RIP=000055f935280fd0 RFL=00000002 [-------] CPL=3 II=0 A20=1 SMM=0 HLT=0\r\n\
             \r\nCPU#1\r\nRIP=ffffffff81a59ac7 RFL={flags} [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=0\r\n"
        )
    }

    /// What an APIC says of itself, in lines like these.
    fn apic_with(requested: &str) -> String {
        format!("\r\nLVTT\t 0x000400ec\r\nISR\t (none)\r\nIRR\t {requested} \r\n")
    }

    /// A monitor that gives the flags and the waiting interrupts of CPU 1 of one of `looks` to each who asks, the last one again and again.
    fn monitor(folder: &Path, looks: &'static [(&'static str, &'static str)]) -> PathBuf {
        let path = folder.join("monitor");
        let listener = UnixListener::bind(&path).unwrap();
        thread::spawn(move || {
            for (at, client) in listener.incoming().enumerate() {
                let mut client = client.unwrap();
                client.write_all(PROMPT.as_bytes()).unwrap();
                let (flags, requested) = looks[at.min(looks.len() - 1)];
                let questions = BufReader::new(client.try_clone().unwrap());
                for question in questions.lines() {
                    let answer = match &*question.unwrap() {
                        "info registers -a" => registers_with(flags),
                        "info lapic 1" => apic_with(requested),
                        other => panic!("{other}"),
                    };
                    client.write_all((answer + PROMPT).as_bytes()).unwrap();
                }
            }
        });
        path
    }

    #[test]
    fn cpu_in_the_kernel_without_interrupts_for_which_one_waits_at_every_look_is_caught() {
        let folder = tempfile::tempdir().unwrap();
        let looks = &[("00000046", "48(level) 236"), ("00000046", "236 251")];
        let words = caught(&monitor(folder.path(), looks)).unwrap();
        let expected = "CPU#1 (interrupt 236 waits) in the kernel, interrupts disabled, at 8 looks";
        assert!(words.starts_with(expected), "{words}");
    }

    #[test]
    fn cpu_that_takes_interrupts_at_one_look_is_not_caught() {
        let folder = tempfile::tempdir().unwrap();
        let looks = &[("00000046", "236"), ("00000246", "236")];
        assert_eq!(caught(&monitor(folder.path(), looks)), None);
    }

    /// It sleeps by reading a port, and stands before the emulator's lock whenever that answers.
    #[test]
    fn cpu_whose_interrupts_are_disabled_at_every_look_and_taken_in_between_is_not_caught() {
        let folder = tempfile::tempdir().unwrap();
        let looks = &[("00000046", "236"), ("00000046", "253"), ("00000046", "(none)")];
        assert_eq!(caught(&monitor(folder.path(), looks)), None);
    }

    #[test]
    fn emulator_without_a_monitor_says_nothing() {
        assert_eq!(caught(Path::new("/nowhere/monitor")), None);
    }
}
