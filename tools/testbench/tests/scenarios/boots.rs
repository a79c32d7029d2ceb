//! The boots that scenarios share: each machine starts when the first scenario asks for it.

use std::path::Path;
use std::sync::LazyLock;

use facts::change::WRITABLE;
use testbench::guide::{self, Page};
use testbench::{Bench, Boot, Step, Transcript, machines};

use crate::{struct_ops, there_and_back};

/// Ticks a second: CONFIG_HZ of Debian's kernels.
pub(crate) const FULL_RATE: f64 = 250.0;

/// Says how much is tried: `usual` or `sweep`.
const LENGTH: &str = "BENCH_LENGTH";

/// Of the package linux-perf.
const PERF: &str = "/usr/bin/perf";

/// Of the package of that name.
const IPMITOOL: &str = "/usr/bin/ipmitool";

/// Of the package of that name.
const PERFTEST: [&str; 4] =
    ["/usr/bin/ib_send_bw", "/usr/bin/ib_write_bw", "/usr/bin/ib_read_bw", "/usr/bin/ib_send_lat"];
const IPROUTE2: [&str; 3] = ["/usr/bin/rdma", "/bin/ip", "/usr/sbin/tc"];

/// A sound machine that is made slow in several ways and fixed after each.
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
            audit("fixed", "for cpu in 0 1; do governor $cpu performance; done"),
            audit("C2 disabled", "for cpu in 0 1; do idle_state $cpu 2 off; done"),
            audit("C2 enabled", "for cpu in 0 1; do idle_state $cpu 2 on; done"),
            Step::new("round trips", ROUND_TRIPS),
            Step::new(GUIDE, &follow_the_guide()),
        ],
    )
});

/// The step of [`SOUND`] that runs the commands of README and guide.
pub(crate) const GUIDE: &str = "guide";

fn follow_the_guide() -> String {
    let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let pages = Page::all(workspace).unwrap_or_else(|error| panic!("{error:#}"));
    format!("for cpu in 0 1; do governor $cpu ondemand; done\n{}", guide::script(&pages))
}

/// See [`machines::half_isolated`].
pub(crate) static HALF_ISOLATED: LazyLock<Transcript> = LazyLock::new(|| {
    let busy = Step::new("one task", "busy; sleep 1; fullclock tick --json -d 3s; idle");
    let away = Step::new("CPU 1 away", include_str!("steps/ledger_and_ticks_of_an_absent_cpu.sh"));
    run(&machines::half_isolated(), &[audit("as booted", ""), busy, away])
});

/// [`machines::tickless`] with perf at hand.
pub(crate) static TICKLESS: LazyLock<Transcript> = LazyLock::new(|| {
    run_with(
        &[PERF],
        &machines::tickless(),
        &[
            audit("statistics every second", "sysctl -w vm.stat_interval=1 >&2"),
            audit("statistics every minute", "sysctl -w vm.stat_interval=60 >&2"),
            Step::new("cpu loop", include_str!("steps/cpu_loop.sh")),
            audit("busy BMC", "ping_bmc 300"),
            Step::new("ledger of a busy BMC", include_str!("steps/ledger_of_a_busy_bmc.sh")),
            Step::new("round trips", include_str!("steps/round_trips.sh")),
            Step::new("latency", "fullclock ipmi latency -n 5 --load --timeout 60s --json"),
        ],
    )
});

/// Three times: perf counts on CPU 1 for as long as fullclock runs, and writes down when each tick came; half a second of
/// ticks comes in between, with quiet before and after. The ticks are so few that fullclock does not stay to ask why.
const BESIDE_PERF: &str = "\
for round in 1 2 3; do
    perf record -q -C 1 -c 1 -k CLOCK_MONOTONIC_RAW -e irq_vectors:local_timer_entry -o /tmp/events \
        perf stat -C 1 -x, -e irq_vectors:local_timer_entry -o /tmp/perf \
        fullclock tick --json --cpus 1 -d 10s >/tmp/tick &
    perf=$!
    until pidof fullclock >/dev/null; do sleep 0.2; done
    sleep 5
    busy; busy; sleep 0.5; idle
    wait $perf
    cat /tmp/tick
    grep local_timer /tmp/perf >&2
    perf script -i /tmp/events --ns -F time >&2
done";

/// What keeps the tick of a CPU of `nohz_full=`.
pub(crate) static TICKS: LazyLock<Transcript> = LazyLock::new(|| {
    let steps = [
        settled(),
        Step::new("one task", "busy; sleep 2; fullclock tick --json -d 4s; idle"),
        Step::new("two tasks", "busy; busy; sleep 1; fullclock tick --json -d 3s; idle"),
    ];
    run(&machines::tickless(), &steps)
});

/// [`machines::tickless`] with perf at hand.
pub(crate) static TICKS_BESIDE_PERF: LazyLock<Transcript> = LazyLock::new(|| {
    let steps = [
        settled(),
        Step::new("beside perf", BESIDE_PERF),
        Step::new(
            "perf record",
            "busy; perf record -F 100 -e cpu-clock -C 1 -o /dev/null sleep 20 >&2 &\n\
             sleep 4; fullclock tick --json -d 3s; idle; kill %1",
        ),
    ];
    run_with(&[PERF], &machines::tickless(), &steps)
});

/// Whatever the boot left to do on CPU 1 is done.
fn settled() -> Step {
    Step::new("settled", "sysctl -w vm.stat_interval=600 >&2; sleep 5")
}

/// [`machines::half_isolated`], changed in every way that fullclock knows.
pub(crate) static CHANGED: LazyLock<Transcript> = LazyLock::new(|| {
    let steps = [
        change("there and back", &there_and_back::script()),
        change("did not stick", include_str!("steps/did_not_stick.sh")),
        change("other actors", include_str!("steps/other_actors.sh")),
        change("drift", include_str!("steps/drift.sh")),
        change("unconfirmed", include_str!("steps/unconfirmed.sh")),
    ];
    run(&machines::half_isolated(), &steps)
});

/// [`machines::half_isolated`], where a change of `plan` is killed at every `stride`th point. A machine for each plan: all of them
/// take longer than one machine may run.
pub(crate) fn killed(plan: &str, stride: u32) -> Transcript {
    let script =
        format!("{}\nkilled_everywhere {stride} '{plan}'\n", include_str!("steps/killed.sh"));
    let mut machine = machines::half_isolated();
    // Where this program has to wait for its CPUs, the kernel would take the TSC for unstable in the middle of a run.
    machine.kernel_arguments.push("tsc=nowatchdog".to_owned());
    run(&machine, &[change(plan, &script)])
}

/// See [`machines::with_sensors`]; with ipmitool at hand.
pub(crate) static WITH_SENSORS: LazyLock<Transcript> = LazyLock::new(|| {
    let step =
        |name, script| Step::new(name, &format!("{}\n{script}", include_str!("steps/sensors.sh")));
    run_with(
        &[IPMITOOL],
        &machines::with_sensors(),
        &[
            step("ipmitool", "cost ipmitool -c sdr"),
            step("first", "cost fullclock ipmi sensors --thresholds --json"),
            step("ten rounds", "cost fullclock ipmi sensors --watch -i 1ms -n 10 --json"),
            step("changed", "maker 3; cost fullclock ipmi sensors --json"),
            step("faults", include_str!("steps/sensors_of_a_faulty_bmc.sh")),
            step("power", include_str!("steps/power_limit.sh")),
        ],
    )
});

/// See [`machines::wired`]; with perftest at hand.
pub(crate) static WIRED: LazyLock<Transcript> = LazyLock::new(|| {
    let steps = [
        Step::new("rdma", include_str!("steps/rdma.sh")),
        Step::new("shaped", include_str!("steps/shaped.sh")),
    ];
    run_with(&[&PERFTEST[..], &IPROUTE2].concat(), &machines::wired(), &steps)
});

/// See [`machines::debian_13`].
pub(crate) static DEBIAN_13: LazyLock<Transcript> =
    LazyLock::new(|| run(&machines::debian_13(), &scheduled()));

/// See [`machines::backports`]; with bpftool at hand.
pub(crate) static BACKPORTS: LazyLock<Transcript> = LazyLock::new(|| {
    let object: String =
        struct_ops::scheduler(SCHEDULER).iter().map(|it| format!("{it:02x}")).collect();
    let foreign = format!("OBJECT={object}\n{}", include_str!("steps/foreign_scheduler.sh"));
    let more = [
        Step::new("clamped", include_str!("steps/clamped.sh")),
        Step::new("foreign scheduler", &foreign),
        audit("own scheduler", ""),
    ];
    run_with(&[BPFTOOL], &machines::backports(), &[&scheduled()[..], &more].concat())
});

/// Judges the newest of these kernels in each run, and all of them in a sweep.
pub(crate) fn on_each_that_schedules(judge: impl Fn(&Transcript)) {
    let kernels = in_usual_and_sweep(vec![&BACKPORTS], vec![&BACKPORTS, &DEBIAN_13]);
    kernels.into_iter().for_each(|it| judge(it));
}

/// What a scheduler of sched_ext calls itself.
pub(crate) const SCHEDULER: &str = "bench";

/// Of the package of that name.
const BPFTOOL: &str = "/usr/sbin/bpftool";

/// What is tried on each kernel that schedules as those of Debian 13 do.
fn scheduled() -> Vec<Step> {
    let invalid = "\
group db.slice 0-2
echo isolated >/sys/fs/cgroup/db.slice/cpuset.cpus.partition || true";
    let shared = "\
echo member >/sys/fs/cgroup/db.slice/cpuset.cpus.partition
echo 2 >/sys/fs/cgroup/db.slice/cpuset.cpus";
    vec![
        Step::new("ledger of a real-time hog", include_str!("steps/ledger_of_a_real_time_hog.sh")),
        audit("fair servers", ""),
        change("isolated partition", include_str!("steps/isolated_partition.sh")),
        audit("invalid partition", invalid),
        audit("shared", shared),
        audit("isolated", "fullclock apply isolated-partition=db.slice >&2"),
        audit("not isolated", "fullclock revert --all >&2"),
        Step::new("ledger of a quota", include_str!("steps/ledger_of_a_quota.sh")),
        audit(
            "hot",
            "heat 52\nuntil grep -qx 1600000 $cpus/cpu0/cpufreq/scaling_max_freq; do sleep 0.2; done",
        ),
        audit(
            "cool",
            "heat 30\nuntil grep -qx 2534000 $cpus/cpu0/cpufreq/scaling_max_freq; do sleep 0.2; done",
        ),
    ]
}

/// See [`machines::misspelt`].
pub(crate) static MISSPELT: LazyLock<Transcript> = LazyLock::new(|| {
    let steps = [audit("as booted", ""), Step::new("round trips", ROUND_TRIPS)];
    run(&machines::misspelt(), &steps)
});

/// Questions to the BMC, in two trials.
const ROUND_TRIPS: &str =
    "fullclock bench ipmi-roundtrip --json --no-save -n 2 --iterations 20 --cpus 0";

/// See [`machines::throttled`].
pub(crate) static THROTTLED: LazyLock<Transcript> = LazyLock::new(|| {
    run(
        &machines::throttled(),
        &[
            audit("as booted", ""),
            change("cured", include_str!("steps/cured.sh")),
            audit("fixed", "write_msr 0 0x19a 0"),
        ],
    )
});

/// A step that prepares the machine with `script` and audits it.
fn audit(name: &str, script: &str) -> Step {
    Step::new(name, &format!("set -e\n{script}\nfullclock audit --json\n"))
}

/// A step that changes the machine, with what looks at everything that a change may write.
pub(crate) fn change(name: &str, script: &str) -> Step {
    let looks = include_str!("steps/changes.sh");
    Step::new(name, &format!("WRITABLE='{}'\n{looks}\n{script}", WRITABLE.join(" ")))
}

fn run(boot: &Boot, steps: &[Step]) -> Transcript {
    run_with(&[], boot, steps)
}

/// With other programs besides: a machine that does not need them boots faster without.
fn run_with(others: &[&str], boot: &Boot, steps: &[Step]) -> Transcript {
    bench(others).run(boot, steps).unwrap_or_else(|error| panic!("{error:?}"))
}

/// A bench with the programs under test and others.
pub(crate) fn bench(others: &[&str]) -> Bench {
    let programs = ["FULLCLOCK_BINARY", "THIEF_BINARY"].map(variable);
    let programs: Vec<&Path> =
        programs.iter().map(Path::new).chain(others.iter().map(Path::new)).collect();
    Bench::new(&programs).unwrap_or_else(|error| panic!("{error:?}"))
}

/// The program under test, for this machine.
pub(crate) fn program() -> String {
    variable("FULLCLOCK_BINARY")
}

/// How often something is tried: a few times in each run, and at every point or many moments in a sweep.
pub(crate) fn in_usual_and_sweep<T>(usual: T, sweep: T) -> T {
    if variable(LENGTH) == "sweep" { sweep } else { usual }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how the caller names programs, and how much is tried"
)]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; 'cargo xtask test' sets it"))
}
