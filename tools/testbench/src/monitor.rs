//! Asks QEMU's monitor what the CPUs of a guest do.
#![expect(clippy::disallowed_methods, reason = "waits for an emulator's answer")]

use std::collections::BTreeSet;
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

/// Names the CPUs on which a guest's kernel is stuck: at every look they executed the kernel with interrupts disabled, which
/// otherwise lasts microseconds. `None` if there is no such CPU, or the emulator has no monitor.
pub(crate) fn caught(socket: &Path) -> Option<String> {
    let look = || Some(without_interrupts(&registers(socket).ok()?));
    let mut caught = look()?;
    for _ in 1..N_LOOKS {
        if caught.is_empty() {
            return None;
        }
        thread::sleep(BETWEEN);
        caught = &caught & &look()?;
    }
    let cpus: Vec<String> = caught.into_iter().collect();
    (!cpus.is_empty()).then(|| {
        let (cpus, time) = (cpus.join(", "), BETWEEN * (N_LOOKS - 1));
        format!("{cpus} in the kernel, interrupts disabled, at {N_LOOKS} looks in {time:?}")
    })
}

/// What it says of the registers of every CPU.
fn registers(socket: &Path) -> Result<String> {
    let mut monitor = UnixStream::connect(socket).context("no monitor")?;
    monitor.set_read_timeout(Some(BETWEEN))?;
    answer(&mut monitor)?;
    monitor.write_all(b"info registers -a\n")?;
    answer(&mut monitor)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// Two CPUs: one in a program, the other in the kernel with these flags.
    fn registers_with(flags: &str) -> String {
        format!(
            "\r\nCPU#0\r\nRAX=0000000000000000 RBX=0000000000000000\r\n\
             RIP=000055f935280fd0 RFL=00000002 [-------] CPL=3 II=0 A20=1 SMM=0 HLT=0\r\n\
             \r\nCPU#1\r\nRIP=ffffffff81a59ac7 RFL={flags} [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=0\r\n"
        )
    }

    /// A monitor that gives one of `answers` to each question, the last one again and again.
    fn monitor(folder: &Path, answers: &'static [&'static str]) -> std::path::PathBuf {
        let path = folder.join("monitor");
        let listener = UnixListener::bind(&path).unwrap();
        thread::spawn(move || {
            for (at, client) in listener.incoming().enumerate() {
                let mut client = client.unwrap();
                client.write_all(PROMPT.as_bytes()).unwrap();
                let mut question = [0; 64];
                assert!(client.read(&mut question).unwrap() > 0);
                let flags = answers[at.min(answers.len() - 1)];
                client.write_all((registers_with(flags) + PROMPT).as_bytes()).unwrap();
            }
        });
        path
    }

    #[test]
    fn cpu_that_is_in_the_kernel_without_interrupts_at_every_look_is_caught() {
        let folder = tempfile::tempdir().unwrap();
        let words = caught(&monitor(folder.path(), &["00000046"])).unwrap();
        assert!(
            words.starts_with("CPU#1 in the kernel, interrupts disabled, at 8 looks"),
            "{words}"
        );
    }

    #[test]
    fn cpu_that_takes_interrupts_at_one_look_is_not_caught() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(caught(&monitor(folder.path(), &["00000046", "00000246"])), None);
    }

    #[test]
    fn emulator_without_a_monitor_says_nothing() {
        assert_eq!(caught(Path::new("/nowhere/monitor")), None);
    }
}
