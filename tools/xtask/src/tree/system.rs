//! What the kernel has once: the large tables of /proc, and the settings of the whole machine.

use super::{Server, Tree};
use std::fmt::Write as _;

/// Interrupts of devices: queues of two network cards and ten NVMe drives.
const DEVICE_INTERRUPTS: u32 = 256;

/// As long as the flags of a current server, for they are most of /proc/cpuinfo.
const FLAGS: &str = "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush dts acpi mmx \
    fxsr sse sse2 ss ht tm pbe syscall nx pdpe1gb rdtscp lm constant_tsc art arch_perfmon pebs bts rep_good nopl \
    xtopology nonstop_tsc cpuid aperfmperf tsc_known_freq pni pclmulqdq dtes64 monitor ds_cpl vmx smx est tm2 ssse3 \
    sdbg fma cx16 xtpr pdcm pcid dca sse4_1 sse4_2 x2apic movbe popcnt tsc_deadline_timer aes xsave avx f16c rdrand \
    lahf_lm abm 3dnowprefetch cpuid_fault epb cat_l3 cat_l2 cdp_l3 cdp_l2 ssbd mba ibrs ibpb stibp ibrs_enhanced \
    fsgsbase tsc_adjust bmi1 avx2 smep bmi2 erms invpcid cqm rdt_a avx512f avx512dq rdseed adx smap avx512ifma \
    clflushopt clwb intel_pt avx512cd sha_ni avx512bw avx512vl xsaveopt xsavec xgetbv1 xsaves cqm_llc \
    cqm_occup_llc cqm_mbm_total cqm_mbm_local split_lock_detect user_shstk avx_vnni avx512_bf16 wbnoinvd dtherm ida \
    arat pln pts hwp hwp_act_window hwp_epp hwp_pkg_req vnmi avx512vbmi umip pku ospke waitpkg avx512_vbmi2 gfni \
    vaes vpclmulqdq avx512_vnni avx512_bitalg tme avx512_vpopcntdq la57 rdpid bus_lock_detect cldemote movdiri \
    movdir64b enqcmd fsrm md_clear serialize tsxldtrk pconfig arch_lbr ibt amx_bf16 avx512_fp16 amx_tile amx_int8";

pub(super) fn add(tree: &mut Tree, server: Server) {
    let all = format!("0-{}", server.n_cpus - 1);
    tree.lines(
        "/sys/devices/system/cpu",
        &[
            ("online", &all),
            ("present", &all),
            ("possible", &all),
            ("isolated", ""),
            ("nohz_full", ""),
            ("smt/active", "1"),
            ("smt/control", "on"),
            ("cpuidle/current_driver", "intel_idle"),
            ("cpuidle/current_governor", "menu"),
            ("intel_pstate/status", "active"),
            ("intel_pstate/no_turbo", "0"),
            ("intel_pstate/max_perf_pct", "100"),
            ("intel_pstate/min_perf_pct", "21"),
        ],
    );
    tree.lines(
        "/sys/devices/system/clocksource/clocksource0",
        &[("available_clocksource", "tsc hpet acpi_pm"), ("current_clocksource", "tsc")],
    );
    tree.lines(
        "/sys/class/dmi/id",
        &[
            ("sys_vendor", "Example Corporation"),
            ("product_name", "Large Server"),
            ("bios_version", "1.0"),
            ("chassis_type", "23"),
        ],
    );
    kernel(tree);
    tree.text("/proc/cpuinfo", cpuinfo(server));
    tree.text("/proc/interrupts", interrupts(server));
    tree.text("/proc/stat", stat(server));
}

fn kernel(tree: &mut Tree) {
    tree.line("/proc/cmdline", "BOOT_IMAGE=/vmlinuz-6.12.0 root=/dev/mapper/vg-root ro quiet");
    tree.line("/proc/uptime", "3600000.10 7000000000.00");
    tree.lines(
        "/proc/sys",
        &[
            ("kernel/osrelease", "6.12.0"),
            ("kernel/nmi_watchdog", "0"),
            ("kernel/timer_migration", "1"),
            ("kernel/split_lock_mitigate", "1"),
            ("vm/stat_interval", "1"),
        ],
    );
    let config =
        "CONFIG_SMP=y\nCONFIG_NO_HZ_FULL=y\nCONFIG_HZ=250\n# CONFIG_PREEMPT_LAZY is not set\n";
    tree.text("/boot/config-6.12.0", config.to_owned());
}

fn cpuinfo(server: Server) -> String {
    let processor = |cpu| {
        let (core, package) = (server.core(cpu), server.package(cpu));
        format!(
            "processor\t: {cpu}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n\
             model name\t: INTEL(R) XEON(R) PLATINUM 8592+\nstepping\t: 2\nmicrocode\t: 0x21000240\n\
             cpu MHz\t\t: 3500.000\ncache size\t: 327680 KB\nphysical id\t: {package}\ncore id\t\t: {core}\n\
             flags\t\t: {FLAGS}\nbogomips\t: 4000.00\n\n"
        )
    };
    server.cpus().map(processor).collect()
}

fn interrupts(server: Server) -> String {
    let mut text = String::from("      ");
    for cpu in server.cpus() {
        add_cell(&mut text, format!("CPU{cpu}"));
    }
    text.push('\n');
    for number in 0..DEVICE_INTERRUPTS {
        // A queue's interrupt is taken by one CPU.
        let taker = number * 7 % server.n_cpus;
        let count = |cpu| if cpu == taker { 123_456 } else { 0 };
        let description = format!("PCI-MSIX-0000:01:00.0 {number}-edge nvme0q{number}");
        add_line(&mut text, server, &(100 + number).to_string(), count, &description);
    }
    for (name, count, description) in [
        ("NMI", 0, "Non-maskable interrupts"),
        ("LOC", 900_000_000, "Local timer interrupts"),
        ("IWI", 2_000, "IRQ work interrupts"),
        ("RES", 7_000_000, "Rescheduling interrupts"),
        ("CAL", 40_000_000, "Function call interrupts"),
        ("TLB", 3_000_000, "TLB shootdowns"),
        ("TRM", 0, "Thermal event interrupts"),
        ("MCP", 12_000, "Machine check polls"),
    ] {
        add_line(&mut text, server, name, |cpu| count + cpu, description);
    }
    text + "ERR:          0\nMIS:          0\n"
}

fn add_line(
    text: &mut String,
    server: Server,
    name: &str,
    count: impl Fn(u32) -> u32,
    description: &str,
) {
    text.extend([name, ":"]);
    for cpu in server.cpus() {
        add_cell(text, count(cpu).to_string());
    }
    text.extend(["  ", description, "\n"]);
}

#[expect(clippy::needless_pass_by_value, reason = "made for the call")]
fn add_cell(text: &mut String, cell: String) {
    #[expect(clippy::let_underscore_must_use, reason = "a String takes everything")]
    let _ = write!(text, " {cell:>10}");
}

fn stat(server: Server) -> String {
    const TIMES: &str = "90000000 12 4000000 260000000 1000 0 300000 0 0 0";
    let cpus: String = server.cpus().map(|cpu| format!("cpu{cpu} {TIMES}\n")).collect();
    // One number for each of the interrupts that the kernel has room for.
    let interrupts = " 0".repeat(8_192);
    format!("cpu  {TIMES}\n{cpus}intr 1234567890{interrupts}\nctxt 9876543210\nprocesses 1234567\n")
}
