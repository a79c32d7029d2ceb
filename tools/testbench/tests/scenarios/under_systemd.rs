//! Debian's systemd as the first process: a guard that outlives its session and its service, and units that make a change
//! last, in the sandbox that they are written with.

use std::sync::LazyLock;

use testbench::{Bench, Disk, Step, Transcript, machines};

use crate::boots::{bench, change};

/// The three boots that follow each other.
struct Boots {
    made: Transcript,
    next: Transcript,
    last: Transcript,
}

static BOOTS: LazyLock<Boots> =
    LazyLock::new(|| boots(&bench(&[])).unwrap_or_else(|error| panic!("{error:?}")));

fn boots(bench: &Bench) -> anyhow::Result<Boots> {
    let disk = Disk::new()?;
    let boot = machines::with_systemd(&disk);
    let guarded = step("guarded", include_str!("steps/guarded.sh"));
    Ok(Boots {
        made: bench.run(&boot, &[served(), guarded, step("made to last", MADE)])?,
        next: bench.run(&boot, &[step("next boot", include_str!("steps/next_boot.sh"))])?,
        last: bench.run(&boot, &[step("last boot", LAST)])?,
    })
}

/// The service that packages install.
fn served() -> Step {
    let unit = include_str!("../../../../packaging/systemd/fullclock.service");
    let script = include_str!("steps/served.sh");
    step("served", &format!("cat >/tmp/fullclock.service <<'END'\n{unit}END\n{script}"))
}

fn step(name: &str, script: &str) -> Step {
    change(name, &format!("{}\n{script}", include_str!("steps/systemd.sh")))
}

/// The database runs as somebody else, and is slow to start.
const MADE: &str = "\
service database User=65534 'ExecStartPre=/bin/usleep 3000000' 'ExecStart=/bin/sleep 10000'
in_force
fullclock apply --persist governor=performance stat-interval=10 cpu-dma-latency=20us process-affinity=sleep:1 >&2
echo \"apply: $?\"
in_force";

const LAST: &str = "\
booted
in_force
systemctl list-units --all --no-legend 'fullclock*'
fullclock status";

const BEFORE: &str = "vm.stat_interval = 1\ngovernors: schedutil schedutil\n\
                      latency: 2000000000\ndatabase: 3\nfiles: 0\n";

const IN_FORCE: &str = "vm.stat_interval = 10\ngovernors: performance performance\n\
                        latency: 20\ndatabase: 2\nfiles: 6\n";

#[track_caller]
fn expect(transcript: &Transcript, step: &str, said: &str) {
    let output = transcript.step(step).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(output.stdout, said, "{}\n{}", output.stderr, transcript.kernel_log);
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn the_service_of_the_packages_serves_without_root_and_asks_for_a_token() {
    expect(
        &BOOTS.made,
        "served",
        "answers with the ledger\nuser: fullclock\nwithout a token: refused\nstopped: success\n",
    );
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn change_is_reverted_unless_confirmed_though_systemd_ends_its_session_or_service() {
    expect(
        &BOOTS.made,
        "guarded",
        "in a scope: 0\nin a service: 0\nunits: inactive failed\nwithout them: powersave powersave, 0\n\
         killed: signal\nundone without a deadline\n\
         out of reach of nobody: 2\nleave out --confirm-within\nvm.stat_interval = 1\n\
         after the deadline: schedutil schedutil, 1\nnothing is applied\nleft: \n",
    );
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn units_of_a_lasting_change_apply_it_at_boot_and_after_sleep_and_are_gone_after_revert() {
    expect(&BOOTS.made, "made to last", &format!("{BEFORE}apply: 0\n{IN_FORCE}"));
    // What sysctl did at boot stays until the next.
    let reverted = BEFORE.replace("interval = 1\n", "interval = 10\n");
    expect(
        &BOOTS.next,
        "next boot",
        &format!(
            "running\n{IN_FORCE}status: 0\n0000000000000001\n0000000000850089\n\
             awake: performance performance\nsuccess\nrevert: 0\n{reverted}"
        ),
    );
    expect(&BOOTS.last, "last boot", &format!("running\n{BEFORE}Nothing is applied.\n"));
}
