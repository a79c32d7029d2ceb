//! The emulation data of pepc (github.com/intel/pepc, tests/emul-data): sysfs values and registers in two
//! text files, and some plain files of /proc.

use super::Members;
use anyhow::{Context as _, Result};
use host::{Answers, Identity};

/// MSR_PPIN_CTL, MSR_PPIN and their AMD twins (msr-index.h): a serial number of the processor.
const SERIAL_NUMBERS: [u32; 4] = [0x4e, 0x4f, 0xc001_02f0, 0xc001_02f1];

pub(super) fn import(members: &Members) -> Result<(Answers, Identity)> {
    let mut answers = Answers::default();
    for (name, text) in members.below("proc") {
        answers.file(&format!("/proc/{name}"), text);
    }
    // "Linux version 6.17.1-300.fc43.x86_64 (...": the format has no osrelease.
    let version = members.ending("/proc/version").unwrap_or_default();
    let release = version.split_whitespace().nth(2).unwrap_or_default().to_owned();
    answers.file("/proc/sys/kernel/osrelease", format!("{release}\n"));
    for (name, text) in members.below("sys/kernel/debug").filter(|(name, _)| is_of_limits(name)) {
        answers.file(&format!("/sys/kernel/debug/{name}"), text);
    }
    each_line(members.ending("/sys/inlinefiles.txt"), |line| sysfs(&mut answers, line))?;
    each_line(members.ending("/msr/msr.txt"), |line| registers(&mut answers, line))?;
    Ok((answers, Identity { host_name: members.folder().to_owned(), release }))
}

/// Whether a file of TPMI in debugfs is of the performance limits, which is all that an audit reads there.
fn is_of_limits(name: &str) -> bool {
    name.ends_with(facts::power::plr::DUMP) || (name.contains("/plr/") && name.ends_with("/status"))
}

/// Hands every line that says something to `import`.
fn each_line(text: Option<&str>, mut import: impl FnMut(&str) -> Option<()>) -> Result<()> {
    for (number, line) in (1..).zip(text.unwrap_or_default().lines()) {
        if !line.starts_with('#') && !line.trim().is_empty() {
            import(line).with_context(|| format!("line {number} makes no sense: {line:.80}"))?;
        }
    }
    Ok(())
}

/// `ro|/sys/path|value`.
fn sysfs(answers: &mut Answers, line: &str) -> Option<()> {
    let (_mode, rest) = line.split_once('|')?;
    let (path, value) = rest.split_once('|')?;
    answers.file(path, format!("{value}\n"));
    Some(())
}

/// `1fc:0|2b240059 1|2b240059`: an address, and for each CPU its value, all hexadecimal but the CPU.
fn registers(answers: &mut Answers, line: &str) -> Option<()> {
    let (address, values) = line.split_once(':')?;
    let register = u32::from_str_radix(address, 16).ok()?;
    for pair in values.split_whitespace() {
        let (cpu, value) = pair.split_once('|')?;
        if !SERIAL_NUMBERS.contains(&register) {
            let value = u64::from_str_radix(value, 16).ok()?;
            answers.msr(cpu.parse().ok()?, register, value);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(sysfs: &str, msr: &str) -> Result<String> {
        let members = Members::from([
            ("box1/proc/version", "Linux version 6.17.1 (me@box1) (gcc)\n"),
            ("box1/sys/inlinefiles.txt", sysfs),
            ("box1/msr/msr.txt", msr),
        ]);
        let (answers, identity) = import(&members)?;
        Ok(answers.capture(facts::Origin::Tree, &identity))
    }

    #[test]
    fn values_and_registers_become_answers() {
        assert_eq!(
            capture("# Format\nro|/sys/a|1-2\n", "# Format\n1fc:0|2b 1|2c\n4f:0|1234\n").unwrap(),
            "fullclock capture 1 (imported)\n# its last line is `//- end`\n\
             //- /dev/cpu/0/msr 0x1fc\n0x2b\n//- /dev/cpu/1/msr 0x1fc\n0x2c\n\
             //- /proc/sys/kernel/osrelease\n6.17.1\n\
             //- /proc/version\nLinux version 6.17.1 (me@<host>) (gcc)\n\
             //- /sys/a\n1-2\n//- end\n"
        );
    }

    #[test]
    fn a_line_that_makes_no_sense_is_an_error_with_its_number() {
        let error = |sysfs, msr| capture(sysfs, msr).unwrap_err().to_string();
        assert_eq!(error("# Format\nhello", ""), "line 2 makes no sense: hello");
        assert_eq!(error("", "1fc:0|xyz"), "line 1 makes no sense: 1fc:0|xyz");
    }
}
