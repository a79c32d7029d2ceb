//! Looks for firmware that is known to take cycles away.
//!
//! Source: the table below; every row names who published it. It knows versions, not whether the fault is active:
//! the other checks look for the fault itself.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::HostView;

pub(crate) const CHECK: Check = Check {
    id: "known-bad-firmware",
    title: "this firmware version is known to slow the processors down",
    doc: "\
## What it looks at
Vendor, product and firmware version in /sys/class/dmi/id, against a small table of versions with a published fault.

## Why it matters
Firmware sets the clock up before the kernel starts, and some of it stays as it was set. Version 12010303 of the Oracle
Database Appliance left every CPU at a 25 % duty cycle, and 12010304 did not: 673 against 2713 in the
database's own measure of the same processors. Whoever clears the register has it back after the next reset.

## When to leave it alone
Never for long: the update is the only thing that lasts. Not in this table does not mean good.
",
    references: &[Reference {
        title: "Pythian: ODA Patch Bundle 2.1.0.3.0 Fixes CPU Performance Issue (2012)",
        url: "https://blog.pythian.com/oracle-database-appliance-oda-patch-bundle-2-1-0-3-0-fixes-cpu-performance-issue/",
    }],
    run,
};

/// One published fault.
struct BadFirmware {
    /// `sys_vendor`, without regard to case.
    vendor: &'static str,
    /// How `product_name` starts, without regard to case.
    product: &'static str,
    /// `bios_version`.
    version: &'static str,
    /// What it does, in words that follow "this firmware".
    fault: &'static str,
    /// How much that hurts.
    severity: Severity,
    /// What the vendor offers.
    update: &'static str,
}

const TABLE: &[BadFirmware] = &[
    // Pythian, as referenced above. The DMI names are those that Oracle's own tools print for the appliance,
    // whose servers are Sun Fire X4370 M2.
    BadFirmware {
        vendor: "ORACLE CORPORATION",
        product: "SUN FIRE X4370 M2",
        version: "12010303",
        fault: "starts every CPU with its clock running 25 % of the time",
        severity: Severity::Critical,
        update: "firmware 12010304 or later: Oracle Database Appliance patch bundle 2.1.0.3.0 (patch 13622348)",
    },
];

fn run(host: &HostView) -> Verdict {
    host.platform.hides_devices("the firmware of the machine")?;
    let vendor = host.dmi.vendor.as_ref()?;
    let product = host.dmi.product.as_ref()?;
    let version = host.dmi.firmware_version.as_ref()?;
    let is_this = |row: &&BadFirmware| {
        vendor.eq_ignore_ascii_case(row.vendor)
            && product.to_ascii_uppercase().starts_with(&row.product.to_ascii_uppercase())
            && version == row.version
    };
    let finding = |row: &BadFirmware| {
        Finding::new(
            row.severity,
            Confidence::High,
            format!("firmware {version} of {product} {}", row.fault),
        )
        .evidence("/sys/class/dmi/id/bios_version", version)
        .evidence("/sys/class/dmi/id/product_name", product)
        .command(&commands::READ_REGISTERS, "rdmsr -a 0x19a  # bit 4 set: see clock-modulation")
        .fix_lasting(row.update)
    };
    Ok(TABLE.iter().filter(is_this).map(finding).collect())
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{XEON, findings, verdict};

    fn host(version: &str) -> String {
        let file = |name: &str, value: &str| format!("//- /sys/class/dmi/id/{name}\n{value}\n");
        format!(
            "{XEON}{}{}{}",
            file("sys_vendor", "ORACLE CORPORATION"),
            file("product_name", "SUN FIRE X4370 M2 SERVER"),
            file("bios_version", version)
        )
    }

    #[test]
    fn the_appliance_with_the_bad_version_is_critical() {
        assert_eq!(
            verdict(&CHECK, &host("12010303")),
            "critical: firmware 12010303 of SUN FIRE X4370 M2 SERVER starts every CPU with its clock running 25 % of the time"
        );
        let lasting = findings(&CHECK, &host("12010303")).remove(0).fix.lasting.unwrap();
        assert!(lasting.contains("12010304"));
    }

    #[test]
    fn the_next_version_is_clean() {
        assert_eq!(verdict(&CHECK, &host("12010304")), "clean");
    }

    #[test]
    fn a_version_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("!denied")),
            "unknown: /sys/class/dmi/id/bios_version may not be read"
        );
    }

    #[test]
    fn a_guests_firmware_is_not_the_machines() {
        let guest = host("12010303").replace("flags : ", "flags : hypervisor ");
        assert!(
            verdict(&CHECK, &guest)
                .starts_with("unknown: the firmware of the machine: not available in a guest")
        );
    }

    #[test]
    fn a_board_without_firmware_tables_has_nothing_to_look_up() {
        assert!(verdict(&CHECK, XEON).starts_with("not applicable: "));
    }
}
