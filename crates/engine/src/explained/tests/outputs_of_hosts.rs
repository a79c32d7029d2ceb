//! Texts of every output: one with a fault, and one without.

use super::{is_serious, said, serious};
use facts::pasted::{self, Output};

pub(super) const LSCPU: &str = "\
Architecture:            x86_64
  CPU op-mode(s):        32-bit, 64-bit
CPU(s):                  4
  On-line CPU(s) list:   0-3
Vendor ID:               GenuineIntel
  Model name:            Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz
    CPU family:          6
    Model:               79
    Stepping:            1
    CPU max MHz:         3300.0000
    CPU min MHz:         1200.0000
    Flags:               fpu msr tsc ida arat epb pln pts hwp";

/// Without turbo in CPUID, on a model that is sold with it.
const LSCPU_WITHOUT_TURBO: &str = "\
Architecture:          x86_64
CPU op-mode(s):        32-bit, 64-bit
CPU(s):                4
On-line CPU(s) list:   0-3
Vendor ID:             GenuineIntel
CPU family:            6
Model:                 79
Model name:            Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz
Stepping:              1
CPU MHz:               2400.000
CPU max MHz:           2400.0000
CPU min MHz:           1200.0000
Flags:                 fpu msr tsc arat epb pln pts";

pub(super) const FREQUENCY_INFO: &str = "\
analyzing CPU 0:
  driver: acpi-cpufreq
  CPUs which run at the same hardware frequency: 0 1
  CPUs which need to have their frequency coordinated by software: 0 1
  maximum transition latency: 10.0 us
  hardware limits: 1.20 GHz - 2.40 GHz
  available frequency steps:  2.40 GHz, 2.00 GHz, 1.60 GHz, 1.20 GHz
  available cpufreq governors: conservative ondemand userspace powersave performance
  current policy: frequency should be within 1.20 GHz and 2.40 GHz.
                  The governor \"ondemand\" may decide which speed to use
                  within this range.
  current CPU frequency: 1.20 GHz (asserted by call to hardware)
  boost state support:
    Supported: yes
    Active: yes
";

const CAPPED: &str = "\
analyzing CPU 3:
  driver: amd-pstate-epp
  CPUs which run at the same hardware frequency: 3
  CPUs which need to have their frequency coordinated by software: 3
  maximum transition latency:  Cannot determine or is not supported.
  hardware limits: 400 MHz - 4.46 GHz
  available cpufreq governors: performance powersave
  current policy: frequency should be within 400 MHz and 400 MHz.
                  The governor \"powersave\" may decide which speed to use
                  within this range.
  current CPU frequency: 400 MHz (asserted by call to kernel)
  boost state support:
    Supported: yes
    Active: yes
    Boost States: 0
    Total States: 3
    Pstate-P0:  3400MHz
";

/// cpufreq-info of cpufrequtils 008.
const OLDER: &str = "\
cpufrequtils 008: cpufreq-info (C) Dominik Brodowski 2004-2009
Report errors and bugs to cpufreq@vger.kernel.org, please.
analyzing CPU 0:
  driver: acpi-cpufreq
  CPUs which run at the same hardware frequency: 0
  CPUs which need to have their frequency coordinated by software: 0
  maximum transition latency: 10.0 us.
  hardware limits: 1.60 GHz - 2.40 GHz
  available frequency steps: 2.40 GHz, 1.60 GHz
  available cpufreq governors: ondemand, userspace, performance
  current policy: frequency should be within 1.60 GHz and 2.40 GHz.
                  The governor \"performance\" may decide which speed to use
                  within this range.
  current CPU frequency is 2.40 GHz (asserted by call to hardware).
";

const IDLE_INFO: &str = "\
CPUidle driver: intel_idle
CPUidle governor: menu
analyzing CPU 0:

Number of idle states: 4
Available idle states: POLL C1 C1E C6
POLL:
Flags/Description: CPUIDLE CORE POLL IDLE
Latency: 0
Residency: 0
Usage: 1234
Duration: 5678
C1:
Flags/Description: MWAIT 0x00
Latency: 2
Residency: 2
Usage: 1234
Duration: 5678
C1E:
Flags/Description: MWAIT 0x01
Latency: 10
Residency: 20
Usage: 1234
Duration: 5678
C6 (DISABLED) :
Flags/Description: MWAIT 0x20
Latency: 133
Residency: 600
Usage: 0
Duration: 0
";

const NO_IDLE_DRIVER: &str = "\
CPUidle driver: none
CPUidle governor: menu
analyzing CPU 0:

Number of idle states: 0
";

const TURBOSTAT: &str = "\
turbostat version 17.06.23 - Len Brown <lenb@kernel.org>
CPUID(0): GenuineIntel 22 CPUID levels; family:model:stepping 0x6:9e:9 (6:158:9)
CPUID(1): SSE3 MONITOR - EIST TM2 TSC MSR ACPI-TM HT TM
CPUID(6): APERF, TURBO, DTS, PTM, HWP, HWPnotify, HWPwindow, HWPepp, No-HWPpkg, EPB
cpu0: MSR_IA32_MISC_ENABLE: 0x00850089 (TCC EIST MWAIT PREFETCH TURBO)
cpu0: MSR_PLATFORM_INFO: 0x80838f1012300
cpu0: MSR_IA32_PACKAGE_THERM_STATUS: 0x88340004 (48 C)
cpu0: MSR_IA32_THERM_STATUS: 0x88340004 (48 C +/- 1)
cpu0: MSR_IA32_POWER_CTL: 0x0004005f (C1E auto-promotion: ENabled)
";

const RDMSR: &str = "\
[root@db7 ~]# rdmsr -a 0x1b1
88340004
[root@db7 ~]# rdmsr -a 0x19c
88340004
[root@db7 ~]# rdmsr 0x1a0
850089
";

const ENERGY_POLICY: &str = "\
cpu0: EPB 15
cpu0: HWP_REQ: min 8 max 12 des 0 epp 255 window 0x0 (0*10^0us) use_pkg 0
cpu0: HWP_CAP: low 1 eff 8 guar 21 high 40
";

const LSPCI: &str = "\
3a:00.0 PCI bridge: Intel Corporation Sky Lake-E PCI Express Root Port A (rev 04) (prog-if 00 [Normal decode])
\tBus: primary=3a, secondary=3b, subordinate=3b, sec-latency=0
\tCapabilities: [90] Express (v2) Root Port (Slot+), MSI 00
\t\tLnkCap:\tPort #5, Speed 8GT/s, Width x16, ASPM L1, Exit Latency L1 <16us
\t\tLnkSta:\tSpeed 8GT/s, Width x4

3b:00.0 Infiniband controller: Mellanox Technologies MT27800 Family [ConnectX-5]
\tCapabilities: [60] Express (v2) Endpoint, MSI 00
\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 8GT/s, Width x4 (downgraded)
";

const ETHTOOL: &str = "\
Settings for eth0:
\tSupported ports: [ FIBRE ]
\tSupported link modes:   1000baseT/Full
\t                        10000baseT/Full
\tSupported pause frame use: Symmetric
\tSupports auto-negotiation: Yes
\tAdvertised link modes:  1000baseT/Full
\t                        10000baseT/Full
\tAdvertised auto-negotiation: Yes
\tSpeed: 1000Mb/s
\tDuplex: Full
\tAuto-negotiation: on
\tPort: FIBRE
\tLink detected: yes
";

const IBSTAT: &str = "\
CA 'mlx5_0'
\tCA type: MT4119
\tNumber of ports: 1
\tFirmware version: 16.28.2006
\tHardware version: 0
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 25
\t\tBase lid: 1
\t\tSM lid: 1
\t\tLink layer: InfiniBand
";

const IBSTATUS: &str = "\
Infiniband device 'mlx5_0' port 1 status:
\tdefault gid:\t fe80:0000:0000:0000:0000:0000:0000:0000
\tbase lid:\t 0x1
\tsm lid:\t\t 0x1
\tstate:\t\t 4: ACTIVE
\tphys state:\t 5: LinkUp
\trate:\t\t 100 Gb/sec (4X EDR)
\tlink_layer:\t InfiniBand
";

const POWER_LIMIT: &str = "
    Current Limit State: Power Limit Active
    Exception actions:   Hard Power Off & Log Event to SEL
    Power Limit:         150 Watts
    Correction time:     1000 milliseconds
    Sampling period:     1 seconds

";

const POWER_READING: &str = "
    Instantaneous power reading:                   149 Watts
    Minimum during sampling period:                 18 Watts
    Maximum during sampling period:                150 Watts
    Average power reading over sample period:      148 Watts
    IPMI timestamp:                           Thu Feb 15 10:58:39 2018
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   activated

";

const PS: &str = "root      2393 54.3  0.0      0     0 ?        RN   Mar06 33621:07 [kipmi0]";
const PS_LIST: &str = "\
    PID    PPID     ELAPSED     TIME %CPU COMMAND
    131       2 12-03:04:05 3-04:05:06 26.1 kswapd0
      1       0 12-03:04:05 00:01:02  0.0 systemd
";

/// Each output from which a host is made: a text with a fault, and one without.
pub(super) const TEXTS: &[(&Output, &str, &str)] = &[
    (&pasted::LSCPU, LSCPU_WITHOUT_TURBO, LSCPU),
    (&pasted::FREQUENCY_INFO, CAPPED, OLDER),
    (&pasted::ENERGY_POLICY, ENERGY_POLICY, "cpu0: EPB 6\n"),
    (&pasted::IDLE_INFO, NO_IDLE_DRIVER, IDLE_INFO),
    (
        &pasted::TURBOSTAT_REGISTERS,
        TURBOSTAT,
        "cpu0: MSR_IA32_PACKAGE_THERM_STATUS: 0x88340000 (48 C)\n",
    ),
    (&pasted::RDMSR, RDMSR, "# rdmsr -a 0x1b1\n88340000\n88340000\n"),
    (
        &pasted::LSPCI,
        LSPCI,
        "3b:00.0 Ethernet controller: X\n\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x8\n\t\tLnkSta:\tSpeed 8GT/s, Width x8\n",
    ),
    (
        &pasted::ETHTOOL,
        ETHTOOL,
        "Settings for eth0:\n\tSupported link modes:   10000baseT/Full\n\tSpeed: 10000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n",
    ),
    (&pasted::IBSTAT, IBSTAT, IBSTATUS),
    (
        &pasted::POWER_LIMIT,
        POWER_LIMIT,
        "    Current Limit State: No Active Power Limit\n    Power Limit:         150   Watts\n",
    ),
    (
        &pasted::PS,
        PS,
        "root        12  0.0  0.0      0     0 ?        S    Mar06   0:07 [ksoftirqd/0]",
    ),
];

/// Outputs with rules of their own, whose texts are in the tests of these, and those that are no fault by themselves.
pub(super) const OTHERS: &[(&Output, &str, &str)] = &[
    (&pasted::PERFTEST, "Conflicting CPU frequency values detected: 1600.0 != 2534.0", ""),
    (&pasted::TURBOSTAT, "CPU Avg_MHz Busy% Bzy_MHz TSC_MHz\n0 400 100.00 400 2500\n", ""),
    (&pasted::POWER_READING, POWER_READING, ""),
    (
        &pasted::TUNED,
        "Current active profile: balanced",
        "Current active profile: throughput-performance",
    ),
    (
        &pasted::PERF_STAT,
        " Performance counter stats for 'pgbench':\n 1,012.34 msec task-clock # 0.998 CPUs utilized\n 809,872,000 cycles # 0.800 GHz",
        "",
    ),
    (&pasted::EVENT_LOG, "1 | 02/16/2018 | 01:02:03 | Processor #0x61 | Throttled | Asserted", ""),
    (&pasted::CONTROLLER_SENSORS, "CPU1 Temp | 95 degrees C | cr", "CPU1 Temp | 45 degrees C | ok"),
    (&pasted::SENSORS, "k10temp-pci-00c3\nAdapter: PCI adapter\nTctl:         +44.0°C\n", ""),
    (&pasted::VMSTAT, " r b us sy id wa st\n 1 0 50 0 20 0 30", ""),
    (&pasted::PRESSURE, "/proc/pressure/cpu:some avg10=12.00 avg60=9.00 avg300=8.00 total=123", ""),
    (&pasted::CPU_STAT, "nr_periods 12001\nnr_throttled 10921\nthrottled_usec 991234567", ""),
    (&pasted::TOP, "2393 root 39 19 0 0 0 R 54.3 0.0 33621:07 kipmi0", ""),
    (&pasted::XENPM_FREQUENCY, "cpu id : 0\ncurrent_governor : powersave", ""),
    (&pasted::XENPM_IDLE, "Max possible C-state: C1\n", ""),
];

#[test]
fn a_fault_in_a_text_is_told_and_a_sound_text_is_not_blamed() {
    let words = [
        (&pasted::LSCPU, "Medium, turbo-off: all 4 CPUs: turbo is off in firmware"),
        (&pasted::FREQUENCY_INFO, "High, capped-frequency"),
        (&pasted::ENERGY_POLICY, "High, capped-frequency"),
        (&pasted::TURBOSTAT_REGISTERS, "High, prochot-asserted"),
        (&pasted::RDMSR, "High, prochot-asserted"),
        (&pasted::LSPCI, "High, pcie-link-degraded"),
        (&pasted::ETHTOOL, "ethernet-link-degraded: eth0"),
        (&pasted::IBSTAT, "High, infiniband-link-degraded: mlx5_0 port 1 runs on 1 of its 4 lanes"),
        (&pasted::POWER_LIMIT, "bmc-power-cap: the management controller holds the board to 150 W"),
        (&pasted::PS, "High, kipmid-busy"),
    ];
    for (output, faulty, sound) in TEXTS {
        let word = words.iter().find(|(of, _)| of.what == output.what);
        let told = said(faulty);
        assert!(told.contains(output.what), "{} is unknown: {told}", output.what);
        if let Some((_, word)) = word {
            assert!(told.contains(word), "{word} in: {told}");
        }
        assert_eq!(
            serious(sound, output),
            Vec::<String>::new(),
            "{}: {}",
            output.what,
            said(sound)
        );
        assert!(said(sound).contains(output.what), "{}: {}", output.what, said(sound));
        assert!(said(sound).contains("It does not tell"), "{}", said(sound));
    }
}

#[test]
fn every_other_output_is_recognised() {
    for (output, text, sound) in OTHERS {
        assert!(said(text).contains(output.what), "{}: {}", output.what, said(text));
        assert!(
            !said(sound).lines().any(|it| is_serious(it.split_once(": ").map_or(it, |it| it.1))),
            "{}",
            said(sound)
        );
    }
}

#[test]
fn variants_of_a_shape_are_read_alike() {
    let governor = said(FREQUENCY_INFO);
    assert!(governor.contains("Medium, slow-governor: all 2 CPUs"), "{governor}");
    let idle = said(&IDLE_INFO.replace("intel_idle", "none"));
    assert!(idle.contains("idle-info"), "{idle}");
    let list = said(PS_LIST);
    assert!(list.contains("busy-kernel-threads: kswapd0"), "{list}");
    let both = said(&format!("{POWER_READING}{POWER_LIMIT}"));
    assert!(both.contains("149 W") || both.contains("holds the board to 150 W"), "{both}");
}
