//! The speed of each boot: what one with other firmware, and one that is held to half a CPU, are said to be; and that boots without a
//! change are said to be nothing.
//!
//! Time passes with the instructions of these guests, so that a busy host is no change. What boots of a real machine differ by they do not
//! have: that these find nothing shows that no setting is taken for changed, and that equal speeds are.

use std::sync::LazyLock;

use anyhow::Result;
use serde_json::Value;
use testbench::{Disk, Step, machines};

use crate::boots::bench;

/// Boots without a change.
const BOOTS: usize = 40;

/// Nanoseconds of an instruction, as a power of two: four, and eight where a machine is held to half a CPU.
const FULL: u8 = 2;
const HALF: u8 = 3;

/// What a boot says: what was kept, what changed, and what an audit finds.
struct Said {
    taken: Value,
    diff: Value,
    findings: Vec<String>,
}

const STEP: &str = "\
fullclock baseline --json --wait 2m | tr -d '\\n'
echo
fullclock baseline diff --json | tr -d '\\n'
echo
fullclock audit --quiet --no-config --json | tr -d '\\n'
echo";

/// Boots a machine of this firmware and speed.
fn boot(disk: &Disk, firmware: &'static str, speed: u8) -> Result<Said> {
    let machine = machines::paced(disk, firmware, speed);
    let transcript = bench(&[]).run(&machine, &[Step::new("baseline", STEP)])?;
    let step = transcript.step("baseline")?;
    let lines: Vec<&str> = step.stdout.lines().collect();
    let [taken, diff, audit] = lines[..] else { panic!("{}{}", step.stdout, step.stderr) };
    let audit: Value = serde_json::from_str(audit)?;
    let found = audit["findings"].as_array().into_iter().flatten();
    let slower = found.filter(|it| it["id"] == "slower-than-before");
    Ok(Said {
        taken: serde_json::from_str(taken)?,
        diff: serde_json::from_str(diff)?,
        findings: slower.filter_map(|it| it["message"].as_str().map(str::to_owned)).collect(),
    })
}

/// Boots a machine as it was after the boots without a change, but for this firmware and speed.
fn changed(firmware: &'static str, speed: u8) -> Said {
    let boot = || boot(&SAME.0.copy()?, firmware, speed);
    boot().unwrap_or_else(|error| panic!("{error:?}"))
}

impl Said {
    /// What changed last: what it is called, and whether one core is slower.
    fn last(&self) -> (&str, bool) {
        let last = || {
            let change = self.diff["changes"].get(0)?;
            let parts = change["parts"].as_array()?;
            let single = parts.iter().find(|it| it["part"] == "single-core")?;
            Some((change["text"].as_str()?, single["is_slower"].as_bool()?))
        };
        last().unwrap_or_else(|| panic!("{:#}", self.diff))
    }

    /// The one thing that is slower.
    fn finding(&self) -> &str {
        let [finding] = &self.findings[..] else { panic!("{:?} {:#}", self.findings, self.diff) };
        finding
    }
}

/// The boots without a change, and the disk after them.
static SAME: LazyLock<(Disk, Vec<Said>)> = LazyLock::new(|| {
    let boots = || -> Result<(Disk, Vec<Said>)> {
        let disk = Disk::new()?;
        let said = (0..BOOTS).map(|_| boot(&disk, "2.1", FULL)).collect::<Result<_>>()?;
        Ok((disk, said))
    };
    boots().unwrap_or_else(|error| panic!("{error:?}"))
});

/// Each is one more boot of a machine of whose boots there are enough.
mod sweep {
    use super::*;

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn boots_without_a_change_find_nothing() {
        let (_, boots) = &*SAME;
        for (at, said) in boots.iter().enumerate() {
            assert_eq!(said.taken["kept"], "now", "{at}: {:#}", said.taken);
            assert!(said.findings.is_empty(), "{at}: {:?}", said.findings);
            assert_eq!(
                said.diff["changes"].as_array().map(Vec::len),
                Some(0),
                "{at}: {:#}",
                said.diff
            );
            assert_eq!(said.diff["boots"], at + 1, "{:#}", said.diff);
        }
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn firmware_that_came_with_half_of_the_speed_is_named() {
        let said = changed("2.3", HALF);
        let (text, is_slower) = said.last();
        assert!(is_slower && text.starts_with("BIOS 2.1 -> 2.3 on "), "{text}");
        let finding = said.finding();
        assert!(finding.contains("BIOS 2.1 -> 2.3: single-core speed 50"), "{finding}");
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn a_machine_that_is_held_to_half_a_cpu_is_slower_although_nothing_changed() {
        let said = changed("2.1", HALF);
        let (text, is_slower) = said.last();
        assert!(is_slower && text.starts_with("nothing that is recorded changed on"), "{text}");
        let finding = said.finding();
        assert!(finding.contains("single-core speed 50"), "{finding}");
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn firmware_without_a_loss_is_a_change_and_no_finding() {
        let said = changed("2.3", FULL);
        let (text, is_slower) = said.last();
        assert!(!is_slower && text.starts_with("BIOS 2.1 -> 2.3 on "), "{text}");
        assert!(said.findings.is_empty(), "{:?}", said.findings);
    }
}
