//! The names under which management controllers have the settings of the firmware's menus, and the request that changes them (Redfish,
//! `Bios/Attributes`).
//!
//! Sources: registries and settings that makers' controllers published (HPE BiosAttributeRegistryU58 1.2.44; Dell iDRAC 9 and AMD's tuning guides for
//! PowerEdge, `ProcPwrPerf`; Lenovo XCC, `Bios/Pending`; Cisco CIMC, dumps of three C-series servers). Supermicro, Fujitsu, Oracle and OpenBMC name
//! theirs anew with each firmware, if at all: `fullclock bmc --bios` shows them.

use super::{Maker, Menu, Processor};
use facts::HostView;
use facts::change::{object, request_body};

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
pub(crate) type Attributes = &'static [(&'static str, &'static str)];

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

/// What the controller of a machine calls what a menu decides.
pub(crate) struct Request {
    /// Where a change is requested; `None` where that holds the name of the machine.
    pub settings: Option<&'static str>,
    /// Names and values, those first without which the others are refused; the last is what is meant.
    pub attributes: Attributes,
}

/// The names of what `menu` decides; `None` where this maker's, or those of this product, are not known.
pub(super) fn request(
    maker: &Maker,
    product: &str,
    menu: Menu,
    processor: Processor,
) -> Option<Request> {
    let fits = |it: &&Named| {
        let has_product = |part: &&str| product.contains(part);
        it.maker == maker.name && (it.products.is_empty() || it.products.iter().any(has_product))
    };
    let named = NAMED.iter().find(fits)?;
    let mut attributes = named.attributes.iter();
    let found = attributes.find(|(of, on, _)| (*of, *on) == (menu, processor))?;
    Some(Request { settings: named.settings, attributes: found.2 })
}

impl Request {
    /// The request, `told` being where this machine's controller says that a change is requested.
    pub(crate) fn words(&self, told: Option<&str>) -> String {
        let body = request_body(&object(self.attributes.iter().copied()), false);
        match told.or(self.settings) {
            Some(settings) => format!("PATCH {settings} {body}"),
            None => format!("PATCH to the settings of Bios {body}"),
        }
    }
}

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
    match request(maker, product, menu, processor) {
        None => "; `fullclock bmc --bios` shows what the management controller calls it".to_owned(),
        Some(request) => format!("; over Redfish: {}", request.words(told(host))),
    }
}

/// Where this machine's controller says that a change is requested.
pub(crate) fn told(host: &HostView) -> Option<&str> {
    host.redfish.as_ref().ok()?.bios.as_ref()?.settings.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::change::ATTRIBUTES;

    #[test]
    fn every_name_is_one_that_may_be_written() {
        let named = NAMED.iter().flat_map(|it| it.attributes).flat_map(|it| it.2);
        let mut names: Vec<&str> = named.map(|it| it.0).collect();
        names.sort_unstable();
        names.dedup();
        let mut listed = ATTRIBUTES.to_vec();
        listed.sort_unstable();
        assert_eq!(names, listed);
    }
}
