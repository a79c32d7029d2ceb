//! The boots that scenarios share: each machine starts when the first scenario asks for it.

use std::path::Path;
use std::sync::LazyLock;

use testbench::{Bench, Boot, Step, Transcript, machines};

/// A sound machine that is made slow in several ways and mended after each.
pub(crate) static SOUND: LazyLock<Transcript> = LazyLock::new(|| {
    run(
        &machines::sound(),
        &[
            audit("performance", "for cpu in 0 1; do governor $cpu performance; done"),
            audit("one CPU at 1600 MHz", "governor 0 userspace; frequency 0 1600000"),
            Step::new(
                "ledger of one CPU at 1600 MHz",
                include_str!("steps/ledger_of_a_slow_cpu.sh"),
            ),
            audit("ondemand", "for cpu in 0 1; do governor $cpu ondemand; done"),
            audit("powersave", "for cpu in 0 1; do governor $cpu powersave; done"),
            audit("mended", "for cpu in 0 1; do governor $cpu performance; done"),
            audit("C2 disabled", "for cpu in 0 1; do idle_state $cpu 2 off; done"),
            audit("C2 enabled", "for cpu in 0 1; do idle_state $cpu 2 on; done"),
        ],
    )
});

/// See [`machines::half_isolated`].
pub(crate) static HALF_ISOLATED: LazyLock<Transcript> =
    LazyLock::new(|| run(&machines::half_isolated(), &[audit("as booted", "")]));

/// See [`machines::tickless`].
pub(crate) static TICKLESS: LazyLock<Transcript> = LazyLock::new(|| {
    run(
        &machines::tickless(),
        &[
            audit("statistics every second", "sysctl -w vm.stat_interval=1 >&2"),
            audit("statistics every minute", "sysctl -w vm.stat_interval=60 >&2"),
            audit("busy BMC", "ping_bmc 300"),
            Step::new("ledger of a busy BMC", include_str!("steps/ledger_of_a_busy_bmc.sh")),
        ],
    )
});

/// See [`machines::misspelt`].
pub(crate) static MISSPELT: LazyLock<Transcript> =
    LazyLock::new(|| run(&machines::misspelt(), &[audit("as booted", "")]));

/// See [`machines::throttled`].
pub(crate) static THROTTLED: LazyLock<Transcript> = LazyLock::new(|| {
    run(&machines::throttled(), &[audit("as booted", ""), audit("mended", "write_msr 0 0x19a 0")])
});

/// A step that prepares the machine with `script` and audits it.
fn audit(name: &str, script: &str) -> Step {
    Step::new(name, &format!("set -e\n{script}\nfullclock audit --json\n"))
}

fn run(boot: &Boot, steps: &[Step]) -> Transcript {
    let programs = ["FULLCLOCK_BINARY", "THIEF_BINARY"].map(program);
    Bench::new(&programs.each_ref().map(Path::new))
        .and_then(|bench| bench.run(boot, steps))
        .unwrap_or_else(|error| panic!("{error:?}"))
}

#[expect(clippy::disallowed_methods, reason = "how the caller names the programs of the tests")]
fn program(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} must name a program; 'cargo xtask test' sets it"))
}
