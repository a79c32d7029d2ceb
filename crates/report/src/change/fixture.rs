//! Plans and changes for tests.

use facts::change::{ChangeStanding, ChangeState, Recorded, Standing};
use facts::change::{RevertOutcome, Target, Undone, Write, WrittenPlace};
use rules::plan::{Plan, Request, Step};
use rules::setting::{Change, Refusal};
use std::time::Duration;

/// 2026-11-20T16:00:00Z.
const MADE: Duration = Duration::from_secs(1_795_190_400);

fn governors() -> [Write; 2] {
    [0, 1].map(|policy| {
        let path = format!("/sys/devices/system/cpu/cpufreq/policy{policy}/scaling_governor");
        Write::of(Target::control(path), "powersave", "performance")
    })
}

fn step(request: &str, writes: &[Write], note: &str) -> Step {
    let change = Change::of(writes.iter().cloned());
    let change = if note.is_empty() { change } else { change.note(note) };
    Step { request: Request::parse(request).unwrap(), change }
}

/// A setting of two places, one that is a file of the boot loader, one that is set already, and one that cannot be.
pub(super) fn plan() -> Plan {
    let boot = "/etc/default/grub.d/90-fullclock.cfg";
    let edit = Write {
        from: None,
        ..Write::of(Target::file(boot), "", "GRUB_CMDLINE_LINUX_DEFAULT+=\" nohz_full=3\"\n")
    };
    let mut at_boot = step("nohz-full=3", &[edit], "RCU's threads stay on the other CPUs");
    at_boot.change.activate = Some("update-grub".to_owned());
    let mut governor = step("governor=performance", &governors(), "");
    governor.request.because = "the governor powersave holds the lowest clock".to_owned();
    let why = "/sys/devices/system/cpu/intel_pstate does not exist".to_owned();
    Plan {
        steps: vec![governor, at_boot, step("stat-interval=10", &[], "")],
        refused: Vec::new(),
        left_out: vec![(Request::parse("turbo=on").unwrap(), Refusal::Host(why))],
    }
}

/// A plan that is not carried out.
pub(super) fn refused() -> Plan {
    let why = "policy0 has no governor \"fast\"".to_owned();
    let refused = vec![(Request::parse("governor=fast").unwrap(), Refusal::Value(why))];
    Plan { steps: Vec::new(), refused, left_out: Vec::new() }
}

/// A change of both governors, with how its places stand.
pub(super) fn change(id: u32, command: &str, state: ChangeState) -> ChangeStanding {
    let is_reverted = state == ChangeState::Reverted;
    let place = |write: Write| WrittenPlace {
        setting: "governor".to_owned(),
        write,
        standing: if is_reverted { Standing::Gone } else { Standing::InForce },
    };
    ChangeStanding {
        recorded: Recorded {
            id: format!("{id:04}"),
            when: MADE + Duration::from_secs(u64::from(id)),
            boot: "b".to_owned(),
            command: command.split(' ').map(str::to_owned).collect(),
            brings_faults_back: false,
            state,
        },
        is_of_this_boot: true,
        places: governors().map(place).into(),
        guard: None,
    }
}

/// What came of undoing the writes of a change.
pub(super) fn undone(fates: [RevertOutcome; 2]) -> Vec<Undone> {
    let of = |(write, fate): (Write, RevertOutcome)| Undone {
        change: "0001".to_owned(),
        setting: "governor".to_owned(),
        target: write.target,
        recorded: write.from,
        fate,
    };
    governors().into_iter().zip(fates).map(of).collect()
}

/// Until when a change of [`MADE`] waits to be confirmed.
pub(super) fn awaiting() -> ChangeState {
    ChangeState::Awaiting { until: MADE + Duration::from_mins(5), deadline: Duration::ZERO }
}
