//! The prose of truth.tsv, host by host, as ids of checks.

use crate::expectation::{Expectation, clean};
use facts::links::pcie::Shown;
use facts::{Fact, HostView};
use rules::finding::Severity::{Info, Low, Medium};

/// Checks about registers and firmware of x86, which say nothing of any other machine.
const X86_ONLY: [&str; 10] = [
    "clock-modulation",
    "known-fault",
    "low-power-limit",
    "power-saving-bias",
    "prochot-asserted",
    "smi-storm",
    "split-lock-penalty",
    "thermal-throttling",
    "turbo-off",
    "uncore-capped",
];

/// Checks about frequencies, which a guest cannot see.
const FREQUENCY: [&str; 8] = [
    "capped-frequency",
    "clock-below-minimum",
    "mixed-frequency-settings",
    "no-frequency-driver",
    "power-saving-bias",
    "slow-governor",
    "turbo-headroom-lost",
    "turbo-off",
];

const LOCALITY: &str = "memory locality";
const NUMA_LAYOUT: &str = "layout of NUMA nodes";

/// What the audit of the host with this id must and must not say; `None` for an unknown id.
pub(crate) fn of(id: &str) -> Option<Expectation> {
    match id.split_once('-')?.0 {
        "ul" => util_linux(id),
        "hw" | "hwx" => hwloc(id),
        "pcp" | "prom" => monitoring(id),
        "cnto" | "ghw" => inventory(id),
        "stc" => stats_collect(id),
        "pepc" => pepc(id),
        _ => None,
    }
}

/// Another architecture without cpufreq: nothing to find, and nothing to call clean.
fn foreign() -> Expectation {
    clean().not_judged("slow-governor").not_judged("capped-frequency").never(&X86_ONLY)
}

fn guest() -> Expectation {
    clean().never(&FREQUENCY).shows("a guest", |host: &HostView| host.platform.is_guest())
}

fn util_linux(id: &str) -> Option<Expectation> {
    Some(match id {
        "ul-x7550" => clean()
            .finds("slow-governor", Medium)
            .says("fullclock apply governor=performance")
            .never(&["thermal-throttling", "capped-frequency", "turbo-off"]),
        "ul-epyc7451" => clean().never(&[
            "slow-governor",
            "capped-frequency",
            "nohz-full-unsupported",
            "nonexistent-cpus-listed",
            "clock-below-minimum",
        ]),
        "ul-e4310" => clean()
            .finds("slow-governor", Low)
            .says("fullclock apply governor=performance")
            .never(&["capped-frequency"]),
        "ul-exynos5" => clean()
            .finds("slow-governor", Low)
            .says("fullclock apply governor=performance")
            .never(&X86_ONLY),
        "ul-ppc64-POWER7-64cpu"
        | "ul-rv64-milkvpioneer"
        | "ul-s390-lpar-drawer"
        | "ul-s390-zvm"
        | "ul-s390-lpar"
        | "ul-ppc-qemu"
        | "ul-loongarch-loongson_3a5000_hv" => foreign(),
        _ => return None,
    })
}

fn hwloc(id: &str) -> Option<Expectation> {
    Some(match id {
        "hw-32em64t-2n8c+dax+nvme+mic+dimms" => clean()
            .never(&[
                "slow-governor",
                "capped-frequency",
                "turbo-off",
                "offline-cpus",
                "infiniband-link-degraded",
            ])
            .outside("node 1 allocates 10 % of its memory remotely: memory locality"),
        "hw-16amd64-8n2c" => clean().outside(LOCALITY),
        "hw-16amd64-8n2c-cpusets" => clean().finds("offline-cpus", Low).outside(LOCALITY),
        "hw-48amd64-4pa2n6c-sparse" => clean()
            .never(&["slow-governor", "capped-frequency"])
            .outside("unbalanced memory: memory locality"),
        "hw-8em64t-2s2ca2c-buggynuma" | "hw-8em64t-2s2ca2c" => clean().outside(NUMA_LAYOUT),
        "hw-8em64t-2s4c-asymcaches" | "hw-2i386-2t-hugepagesizecount" => clean(),
        "hw-8ia64-2s2c2t" => clean()
            .finds("slow-governor", Low)
            .says("fullclock apply governor=performance")
            .never(&X86_ONLY),
        "hw-20em64t-hybrid-1p6c2t+2ca4co1t" => {
            clean().never(&["slow-governor", "capped-frequency", "mixed-frequency-settings"])
        }
        "hw-memorysidecaches" => clean().outside(NUMA_LAYOUT),
        "hw-128arm-2pa2n8cluster4co" => {
            clean().not_judged("slow-governor").never(&X86_ONLY).outside(LOCALITY)
        }
        "hw-256ppc-8n8s4t" => clean().never(&X86_ONLY),
        "hw-2pa-pcidomain32bits" => guest(),
        "hwx-lakefield" => clean().never(&["capped-frequency", "mixed-frequency-settings"]),
        _ => return None,
    })
}

fn monitoring(id: &str) -> Option<Expectation> {
    Some(match id {
        "pcp-4005u" => clean().never(&["slow-governor", "capped-frequency", "turbo-off"]),
        "pcp-sgi480" => clean().shows("479 of 480 CPUs at 1200 MHz", |host| {
            let Ok(cpuinfo) = &host.cpuinfo else { return false };
            let slow = cpuinfo.clocks.cpus_where(|clock| clock.0 / 1_000_000 == 1200);
            cpuinfo.clocks.len() == 480 && slow.len() == 479
        }),
        "pcp-t480s" => clean().never(&["pcie-link-degraded"]),
        "pcp-irq8" => clean().shows("interrupts of 8 CPUs", |host| has_interrupts_of(host, 8)),
        "pcp-irqs390" => clean().shows("interrupts of 16 CPUs", |host| has_interrupts_of(host, 16)),
        // Several machines mixed, so that a finding about one may be contradicted by another.
        "prom-procfs" => clean()
            .finds("infiniband-link-degraded", Info)
            .finds("thermal-throttling", Info)
            .shows("00:02.1 at x4 of x8", |host| has_link(host, "0000:00:02.1", 4, 8))
            .outside("00:03.0 at x8 of x16: no device behind it is in /sys/bus/pci of the tree")
            .never(&["pcie-link-degraded", "nohz-full-ineffective", "irqs-on-isolated"]),
        _ => return None,
    })
}

fn has_interrupts_of(host: &HostView, n_cpus: usize) -> bool {
    host.interrupts.as_ref().is_ok_and(|it| it.cpus.len() == n_cpus)
}

/// Whether the port at `slot` runs at `lanes`, all that the device in it has, of `of`.
fn has_link(host: &HostView, slot: &str, lanes: u32, of: u32) -> bool {
    let links = host.pcie.links.as_deref().unwrap_or_default();
    let link = links.iter().find(|it| it.folder.contains(&format!("/{slot}/")));
    let lanes_of = |shown: &Fact<Shown>| shown.as_ref().map_or(0, |it| it.speed.lanes);
    link.is_some_and(|it| {
        [lanes_of(&it.current), lanes_of(&it.device_max), lanes_of(&it.slot_max)]
            == [lanes, lanes, of]
    })
}

fn inventory(id: &str) -> Option<Expectation> {
    Some(match id {
        "cnto-worker2" => clean().finds("offline-cpus", Info),
        "cnto-master" => clean()
            .finds("turbo-off", Medium)
            .never(&["nohz-full-unsupported", "nohz-full-ineffective"])
            .outside("billions of function-call and TLB interrupts: the ledger's subject"),
        "ghw-2e9d8b3d3d6d" => clean(),
        "ghw-ad7975ed4773" => clean().finds("turbo-off", Low),
        "ghw-accel-nvidia" => guest(),
        "ghw-93b2a4e61939" => clean().never(&X86_ONLY),
        _ => return None,
    })
}

fn stats_collect(id: &str) -> Option<Expectation> {
    Some(match id {
        "stc-adl0" => {
            clean().never(&["slow-governor", "capped-frequency", "mixed-frequency-settings"])
        }
        // That the driver leaves C6 disabled on this model is true, and not in the truth's list.
        "stc-knl0" => clean()
            .finds("slow-governor", Low)
            .may_find("turbo-headroom-lost")
            .finds("power-saving-bias", Info)
            .shows("272 CPUs", |host| {
                host.topology.online.as_ref().is_ok_and(|it| it.len() == 272)
            }),
        "stc-milan0" => {
            clean().finds("slow-governor", Low).never(&["capped-frequency", "pcie-link-degraded"])
        }
        "stc-srf0" => clean().shows("interrupts of every CPU", |host| {
            host.interrupts.as_ref().is_ok_and(|it| it.cpus.len() > 100)
        }),
        _ => return None,
    })
}

/// Machines of a laboratory in their default state, with all that is observed of them.
fn pepc(id: &str) -> Option<Expectation> {
    let default = || clean().never(&["capped-frequency", "turbo-off", "clock-modulation"]);
    let passive = || default().finds_between("slow-governor", Low..=Low);
    let active = || default().never(&["slow-governor"]);
    Some(match id {
        "pepc-adl0" | "pepc-clxap1" | "pepc-cpx0" | "pepc-dell-9360-kbl" | "pepc-emr0"
        | "pepc-gnr0" | "pepc-gnrd0" | "pepc-icx2s3" | "pepc-lnl0" | "pepc-mhl0"
        | "pepc-ptl-h-4" | "pepc-sklep0" => active(),
        // The register of each die with cores has logged a power limit (tpmi-id-0c/mem_dump).
        "pepc-srf2" => active()
            .finds("power-limit-reached", Info)
            .says("a power limit of the package or the platform held the clock down at some time"),
        "pepc-spr1" => active().outside("a prefetcher is disabled (MSR 0x1A4)"),
        "pepc-bdwde0" | "pepc-knl0" | "pepc-milan0" => passive(),
        "pepc-bdwex0-nocpuidle" => {
            passive().outside("HWP is there and off: no check is about that")
        }
        // A package limit (0xE2) takes no turbo from busy cores.
        "pepc-bdw0" => {
            passive().never(&["turbo-headroom-lost"]).finds_between("uncore-capped", Info..=Info)
        }
        "pepc-clx2s0" => active().never(&["turbo-headroom-lost"]),
        "pepc-ivbep1" => passive().never(&["turbo-headroom-lost"]),
        "pepc-hswep0" => {
            passive().finds("turbo-headroom-lost", Info).finds("power-saving-bias", Info)
        }
        "pepc-cwf0" => active().finds("no-idle-driver", Info).finds("power-limit-reached", Info),
        _ => return None,
    })
}
