//! Excerpts of published cases: as captures where they tell of a host, and as pasted lines where they are
//! the output of a program.

use crate::audited::Audited;
use crate::expectation::{Expectation, clean};
use crate::source::captured;
use rules::finding::Severity::{Info, Low, Medium};

/// One part of a case: what it is, what must come out, what came out.
type Case = (&'static str, Expectation, Result<Audited, String>);

/// Every part of the case `id`; none for a case that is not known.
pub(crate) fn of(id: &str, raw: &str) -> Vec<Case> {
    match id.split('-').next().unwrap_or_default() {
        "t02" => vec![explains("turbostat rows", raw, "turbostat"), yoga()],
        "t05" => vec![explains("kernel lines", raw, "too hot"), throttled()],
        "t07" => vec![power_limit("active", 0x0c00_0400), power_limit("only logged", 0x0c00_0000)],
        "t08" => vec![explains("perftest's line", raw, "perftest")],
        "t10" => vec![isolated_well()],
        "t11" => vec![raspberry()],
        "t13" => vec![nonexistent()],
        "t17" => vec![hwp_without_driver()],
        _ => Vec::new(),
    }
}

fn excerpt(expectation: Expectation, what: &'static str, text: &str) -> Case {
    // What the excerpt leaves out was not asked; an absent file is named.
    let text = format!("fullclock capture 1 (imported)\n{text}");
    (what, expectation, Audited::new(|| captured(&text)))
}

/// Something in the text must be recognised, by `program` in its name.
fn explains(what: &'static str, raw: &str, program: &str) -> Case {
    let nothing = host::view(&host::Captured::empty());
    let audited = match rules::pasted::explain(raw, &nothing) {
        found if found.iter().any(|it| it.explanation.what.contains(program)) => {
            Ok(Audited::default())
        }
        other => Err(format!("explained as {other:?}")),
    };
    (what, clean(), audited)
}

const YOGA: &str = "//- /proc/cpuinfo\nprocessor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n\
    model\t\t: 61\nmodel name\t: Intel(R) Core(TM) M-5Y10c CPU @ 0.80GHz\ncpu MHz\t\t: 500.000\n\
    flags\t\t: tsc msr acpi ida arat pln pts\n//- /sys/devices/system/cpu/online\n0\n\
    //- /dev/cpu/0/msr 0x1fc\n0x4005f\n";

/// BD PROCHOT enabled is every machine's default; that it is asserted shows in registers that the reporter
/// did not read.
fn yoga() -> Case {
    let expectation = clean()
        .never(&["clock-modulation"])
        .outside("that BD PROCHOT is asserted: 0x19C and 0x1B1 are not in the report");
    excerpt(expectation, "registers", YOGA)
}

/// The line is of drivers/thermal/intel/therm_throt.c, so the processor is Intel's.
fn throttled() -> Case {
    let counters: String = (0..4)
        .map(|cpu| {
            let folder = format!("//- /sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
            let core = if cpu % 2 == 0 { 22034 } else { 0 };
            format!(
                "{folder}/core_throttle_count\n{core}\n{folder}/package_throttle_count\n27400\n"
            )
        })
        .collect();
    let text = format!(
        "//- /proc/cpuinfo\nprocessor\t: 0\nvendor_id\t: GenuineIntel\n//- /proc/uptime\n36020.50 100000.00\n//- /sys/devices/system/cpu/online\n0-3\n{counters}"
    );
    excerpt(clean().finds("thermal-throttling", Medium), "counters", &text)
}

/// The kernel commit's i5-10600K: 12 CPUs, one package, limit reasons in 0x64F.
fn power_limit(what: &'static str, reasons: u64) -> Case {
    let text = format!(
        "//- /proc/cpuinfo\nprocessor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 165\n\
         model name\t: Intel(R) Core(TM) i5-10600K CPU @ 4.10GHz\nflags\t\t: ida hwp pln pts\n\
         //- /sys/devices/system/cpu/online\n0\n//- /dev/cpu/0/msr 0x64f\n{reasons:#x}\n"
    );
    let is_active = reasons & 0x400 != 0;
    let expectation = if is_active {
        clean().finds_one_of(&["low-power-limit", "power-limit-reached"], Info)
    } else {
        clean()
    };
    excerpt(expectation, what, &text)
}

/// CPUs 2 and 3 took 3 and 4 ticks in 30 seconds, CPU 0 took 31,204.
fn isolated_well() -> Case {
    let text = "//- /proc/cmdline\nnohz_full=2-3 isolcpus=2-3 rcu_nocbs=2-3\n\
        //- /sys/devices/system/cpu/online\n0-3\n//- /sys/devices/system/cpu/nohz_full\n2-3\n\
        //- /sys/devices/system/cpu/isolated\n2-3\n//- /proc/interrupts\n\
        \x20          CPU0       CPU1       CPU2       CPU3\n\
        LOC:      31204       3771          3          4   Local timer interrupts\n";
    let expectation = clean()
        .never(&["nohz-full-ineffective", "isolated-without-nohz-full"])
        .outside("B: the ticks of one CPU, with no other to compare; C: no CPU is isolated");
    excerpt(expectation, "A", text)
}

fn raspberry() -> Case {
    let text = "//- /proc/cmdline\nthreadirqs usbcore.autosuspend=-1 isolcpus=3 nohz_full=3 rcu_nocbs=3\n\
        //- /sys/devices/system/cpu/online\n0-3\n//- /sys/devices/system/cpu/isolated\n3\n\
        //- /sys/devices/system/cpu/nohz_full\n!absent\n";
    excerpt(clean().finds("nohz-full-unsupported", Low), "boot line", text)
}

fn nonexistent() -> Case {
    let text = "//- /proc/cmdline\nBOOT_IMAGE=/boot/bzImage rcu_nocbs=2-15 nohz_full=2-15 root=/dev/sda1 ro\n\
        //- /sys/devices/system/cpu/online\n0-3\n//- /sys/devices/system/cpu/present\n0-3\n\
        //- /sys/devices/system/cpu/possible\n0-5\n\
        //- /sys/devices/system/cpu/nohz_full\n!not-collected\n";
    excerpt(clean().finds("nonexistent-cpus-listed", Low), "boot line", text)
}

fn hwp_without_driver() -> Case {
    let text = "//- /proc/cmdline\nintel_pstate=disable\n//- /proc/cpuinfo\nprocessor\t: 0\n\
        vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 165\n\
        model name\t: Intel(R) Core(TM) i5-10600K CPU @ 4.10GHz\nflags\t\t: ida hwp hwp_epp pln pts\n\
        //- /sys/devices/system/cpu/online\n0\n\
        //- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver\nacpi-cpufreq\n\
        //- /dev/cpu/0/msr 0x770\n0x1\n//- /dev/cpu/0/msr 0x19c\n0x88450000\n\
        //- /dev/cpu/0/msr 0x1aa\n0x401cc0\n//- /dev/cpu/0/msr 0x1b1\n0x88410000\n\
        //- /dev/cpu/0/msr 0x64f\n0x0\n//- /dev/cpu/0/msr 0x1fc\n0x3c005d\n\
        //- /dev/cpu/0/msr 0x771\n0x10b2930\n//- /dev/cpu/0/msr 0x774\n0x80003001\n";
    let expectation = clean()
        .never(&["prochot-asserted", "thermal-throttling", "clock-modulation"])
        .outside("HWP is on under acpi-cpufreq: no check is about that");
    excerpt(expectation, "registers", text)
}
