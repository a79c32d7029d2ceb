//! What a machine is: the labels by which fleets are grouped, as monitoring systems and captures have them. None of them changes while
//! the machine runs, but for the governor.

use facts::cpu::cpufreq::Policy;
use facts::{Fact, HostView};

/// The labels of `fullclock_host_info`, in their order.
pub const LABELS: &[&str] = &[
    "cpu_model",
    "microcode",
    "bios_vendor",
    "bios_version",
    "bios_date",
    "board",
    "product",
    "bmc_firmware",
    "kernel",
    "cpufreq_driver",
    "governor",
    "hypervisor",
];

/// The label of `fullclock_host_info` that says which boot of which machine it is: the same in all that a machine exports by whatever
/// way, and in nothing else. Captures have none.
pub const BOOT: &str = "boot";

/// The value of each of [`LABELS`]; empty where it is unknown or there is no such thing, but for the hypervisor, which is `none` on
/// bare metal. Several values of one machine are separated by commas. The firmware of the management controller is asked apart, as
/// that is a question to the controller.
pub fn host_labels(host: &HostView, bmc_firmware: &Fact<String>) -> Vec<(&'static str, String)> {
    let dmi = &host.dmi;
    let info = host.cpuinfo.as_ref();
    let hypervisor = host.platform.hypervisor.as_ref();
    let values = [
        info.map(|it| it.model_name.clone()).unwrap_or_default(),
        info.map(|it| joined(it.microcode.known().map(|it| format!("{:#x}", it.1))))
            .unwrap_or_default(),
        known(&dmi.firmware_vendor),
        known(&dmi.firmware_version),
        known(&dmi.firmware_date),
        known(&dmi.board),
        known(&dmi.product),
        known(bmc_firmware),
        known(&host.kernel.release),
        of_policies(host, |it| &it.driver),
        of_policies(host, |it| &it.governor),
        hypervisor.map_or(String::new(), |it| it.as_deref().unwrap_or("none").to_owned()),
    ];
    LABELS.iter().copied().zip(values.map(|it| it.trim().to_owned())).collect()
}

fn known(fact: &Fact<String>) -> String {
    fact.as_ref().cloned().unwrap_or_default()
}

fn of_policies(host: &HostView, value: fn(&Policy) -> &Fact<String>) -> String {
    let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
    joined(policies.iter().filter_map(|it| value(it).clone().ok()))
}

/// The values that one machine has for a label or a setting: each once, in order, between commas.
pub fn joined(values: impl Iterator<Item = String>) -> String {
    let mut values: Vec<String> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::Missing;
    use host::Captured;

    fn labels(excerpt: &str, bmc: &Fact<String>) -> Vec<(&'static str, String)> {
        let host = host::view(&Captured::excerpt(excerpt).unwrap());
        let labels = host_labels(&host, bmc);
        labels.into_iter().filter(|it| !it.1.is_empty()).collect()
    }

    #[test]
    fn a_server_is_told_by_its_models_and_versions() {
        let text = "\
//- /proc/cpuinfo
processor : 0
vendor_id : GenuineIntel
model name : Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz
microcode : 0x2006a08
flags : tsc

processor : 1
microcode : 0x2006a08
//- /proc/sys/kernel/osrelease
5.15.0-91-generic
//- /sys/class/dmi/id/sys_vendor
Dell Inc.
//- /sys/class/dmi/id/product_name
PowerEdge R740
//- /sys/class/dmi/id/board_name
0WXD1Y
//- /sys/class/dmi/id/bios_vendor
Dell Inc.
//- /sys/class/dmi/id/bios_version
2.19.1
//- /sys/class/dmi/id/bios_date
06/04/2023
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver
intel_cpufreq
//- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor
schedutil
//- /sys/devices/system/cpu/cpufreq/policy1/scaling_driver
intel_cpufreq
//- /sys/devices/system/cpu/cpufreq/policy1/scaling_governor
performance
";
        let found = labels(text, &Ok("5.10".to_owned()));
        let expected = [
            ("cpu_model", "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"),
            ("microcode", "0x2006a08"),
            ("bios_vendor", "Dell Inc."),
            ("bios_version", "2.19.1"),
            ("bios_date", "06/04/2023"),
            ("board", "0WXD1Y"),
            ("product", "PowerEdge R740"),
            ("bmc_firmware", "5.10"),
            ("kernel", "5.15.0-91-generic"),
            ("cpufreq_driver", "intel_cpufreq"),
            ("governor", "performance,schedutil"),
            ("hypervisor", "none"),
        ];
        assert_eq!(found, expected.map(|(label, value)| (label, value.to_owned())));
    }

    #[test]
    fn what_is_unknown_has_no_label() {
        let found = labels("//- /sys/hypervisor/type\nxen\n", &Err(Missing::absent("ipmi")));
        assert_eq!(found, [("hypervisor", "xen".to_owned())]);
    }
}
