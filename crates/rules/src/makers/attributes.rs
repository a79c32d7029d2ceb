//! The names under which management controllers have the settings of the firmware's menus, and the request that changes them (Redfish,
//! `Bios/Attributes`).
//!
//! Sources: registries and settings that makers' controllers published (HPE BiosAttributeRegistryU58 1.2.44; Dell iDRAC 9 and AMD's tuning guides for
//! PowerEdge, `ProcPwrPerf`; Lenovo XCC, `Bios/Pending`; Cisco CIMC, dumps of three C-series servers). Supermicro, Fujitsu, Oracle and OpenBMC name
//! theirs anew with each firmware, if at all: `fullclock bmc --bios` shows them.

use super::{Maker, Menu, Processor};
use facts::HostView;

/// What one maker's controllers call their settings.
struct Named {
    /// The maker.
    maker: &'static str,
    /// Part of the names of the products that it holds for; any where it is empty.
    products: &'static [&'static str],
    /// Where a change is requested; `None` where that holds the name of the machine.
    settings: Option<&'static str>,
    /// By menu and processor.
    attributes: &'static [(Menu, Processor, Attributes)],
}

/// Names and values, those first without which the others are refused.
type Attributes = &'static [(&'static str, &'static str)];

use Processor::{Amd, Intel};

const NAMED: &[Named] = &[
    Named {
        maker: "Dell",
        products: &[],
        settings: Some("/redfish/v1/Systems/System.Embedded.1/Bios/Settings"),
        attributes: &[
            (Menu::Clock, Intel, &[("SysProfile", "Custom"), ("ProcPwrPerf", "OsDbpm")]),
            (Menu::Clock, Amd, &[("SysProfile", "Custom"), ("ProcPwrPerf", "OsDbpm")]),
            (Menu::Turbo, Intel, &[("SysProfile", "Custom"), ("ProcTurboMode", "Enabled")]),
            (Menu::Turbo, Amd, &[("SysProfile", "Custom"), ("ProcTurboMode", "Enabled")]),
        ],
    },
    Named {
        maker: "HPE",
        products: &["Gen10", "Gen11", "Gen12"],
        settings: Some("/redfish/v1/Systems/1/Bios/Settings"),
        attributes: &[
            (Menu::Clock, Intel, &[("WorkloadProfile", "Custom"), ("PowerRegulator", "OsControl")]),
            (Menu::Clock, Amd, &[("WorkloadProfile", "Custom"), ("PowerRegulator", "OsControl")]),
            (Menu::Turbo, Intel, &[("WorkloadProfile", "Custom"), ("ProcTurbo", "Enabled")]),
        ],
    },
    Named {
        maker: "Lenovo",
        products: &[],
        settings: Some("/redfish/v1/Systems/1/Bios/Pending"),
        attributes: &[
            (Menu::Clock, Intel, &[("Processors_CPUPstateControl", "Legacy")]),
            (Menu::Turbo, Intel, &[("Processors_TurboMode", "Enable")]),
        ],
    },
    Named {
        maker: "Cisco",
        products: &[],
        settings: None,
        attributes: &[
            (Menu::Clock, Intel, &[("EnhancedIntelSpeedStep", "Enabled")]),
            (Menu::Turbo, Intel, &[("IntelTurboBoostTech", "Enabled")]),
        ],
    },
];

/// The request that changes what `menu` decides, as words that follow others; of a maker whose names are not known, where they are shown. Nothing
/// of no maker.
pub(super) fn over_redfish(
    host: &HostView,
    maker: Option<&Maker>,
    menu: Menu,
    processor: Processor,
) -> String {
    let Some(maker) = maker else { return String::new() };
    let product = host.dmi.product.as_deref().unwrap_or_default();
    let fits = |it: &&Named| {
        let has_product = |part: &&str| product.contains(part);
        it.maker == maker.name && (it.products.is_empty() || it.products.iter().any(has_product))
    };
    let named = NAMED.iter().find(fits).and_then(|named| {
        let mut attributes = named.attributes.iter();
        let found = attributes.find(|(of, on, _)| (*of, *on) == (menu, processor))?;
        Some((named.settings, found.2))
    });
    match named {
        None => "; `fullclock bmc --bios` shows what the management controller calls it".to_owned(),
        Some((settings, attributes)) => {
            let pairs: Vec<String> =
                attributes.iter().map(|(name, value)| format!("\"{name}\": \"{value}\"")).collect();
            let body = format!("{{\"Attributes\": {{{}}}}}", pairs.join(", "));
            match told(host).or(settings) {
                Some(settings) => format!("; over Redfish: PATCH {settings} {body}"),
                None => format!("; over Redfish: PATCH to the settings of Bios {body}"),
            }
        }
    }
}

/// Where this machine's controller says that a change is requested.
fn told(host: &HostView) -> Option<&str> {
    host.redfish.as_ref().ok()?.bios.as_ref()?.settings.as_deref()
}
