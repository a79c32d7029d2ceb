//! The order in which kernel modules have to be inserted.
//!
//! Reads `modules.dep` as depmod writes it (modules.dep(5)): a module's file, a colon, and every
//! file it needs, directly or not, the ones needed by others last.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

/// Files to insert so that each of `wanted` is in, relative to the modules' folder, each once
/// and after whatever it needs.
pub(crate) fn insertion_order(modules_dep: &str, wanted: &[&str]) -> Result<Vec<String>> {
    let by_name: BTreeMap<String, (&str, &str)> = modules_dep
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(file, needs)| (module_name(file), (file, needs)))
        .collect();
    let mut order: Vec<String> = Vec::new();
    for name in wanted {
        let (file, needs) = by_name
            .get(&module_name(name))
            .with_context(|| format!("modules.dep names no module '{name}'"))?;
        for needed in needs.split_whitespace().rev().chain([*file]) {
            if !order.iter().any(|known| known == needed) {
                order.push(needed.to_owned());
            }
        }
    }
    Ok(order)
}

/// The kernel's name for a module: its file's stem, in which it takes `-` for `_`.
fn module_name(file: &str) -> String {
    let base = file.rsplit('/').next().unwrap_or(file);
    base.split('.').next().unwrap_or(base).replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEP: &str = "\
kernel/drivers/char/ipmi/ipmi_msghandler.ko:
kernel/drivers/char/ipmi/ipmi_si.ko: kernel/drivers/char/ipmi/ipmi_msghandler.ko
kernel/drivers/char/ipmi/ipmi_watchdog.ko: kernel/drivers/char/ipmi/ipmi_msghandler.ko
kernel/a.ko: kernel/b.ko kernel/c.ko
kernel/b.ko: kernel/c.ko
kernel/c.ko:
kernel/drivers/cpufreq/acpi-cpufreq.ko:
";

    #[test]
    fn what_others_need_comes_first() {
        let order = insertion_order(DEP, &["a"]).unwrap();
        assert_eq!(order, ["kernel/c.ko", "kernel/b.ko", "kernel/a.ko"]);
    }

    #[test]
    fn a_shared_need_is_inserted_once() {
        let order = insertion_order(DEP, &["ipmi_si", "ipmi_watchdog"]).unwrap();
        let msghandler = order.iter().filter(|file| file.contains("msghandler")).count();
        assert_eq!((order.len(), msghandler), (3, 1));
    }

    #[test]
    fn dash_and_underscore_name_the_same_module() {
        let order = insertion_order(DEP, &["acpi_cpufreq"]).unwrap();
        assert_eq!(order, ["kernel/drivers/cpufreq/acpi-cpufreq.ko"]);
    }

    #[test]
    fn a_module_the_kernel_lacks_is_named_in_the_error() {
        let error = insertion_order(DEP, &["nonesuch"]).unwrap_err().to_string();
        assert_eq!(error, "modules.dep names no module 'nonesuch'");
    }
}
