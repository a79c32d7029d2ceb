//! The names under which management controllers have the settings of the firmware's menus, and the request that changes them (Redfish,
//! `Bios/Attributes`).
//!
//! Sources: registries and settings that makers' controllers published.
//! - HPE: BiosAttributeRegistryU58 1.2.44. Dell: iDRAC 9, and AMD's tuning guides for PowerEdge (`ProcPwrPerf`). Cisco: dumps of the CIMC of three
//!   C-series servers.
//! - Lenovo: the registry of a ThinkSystem SR670 V2, of a firmware of 2025 (`Enabled`; earlier ones have `Enable`),
//!   <https://github.com/NVIDIA/libredfish/tree/c094c9e68366039c2edc2313642fbcedc42e10de/tests/mockups/lenovo/redfish/v1/schemas/registries>,
//!   read 2026-11-28.
//! - Supermicro, boards for Intel's processors: registry and settings of a SYS-821GE-TNHR, BIOS 1.4,
//!   <https://github.com/NVIDIA/libredfish/tree/c094c9e68366039c2edc2313642fbcedc42e10de/tests/mockups/supermicro/registries>, read 2026-11-28. Each
//!   name ends with a number of the firmware, as in <https://supermicro.com/manuals/other/redfish-ref-guide-html/Content/general-content/bios-configuration.htm>
//!   (`QuietBoot_0027`), read 2026-11-28; the program is told which.
//!
//! No source shows the names of Supermicro's boards for AMD's processors, of Fujitsu and of Oracle. OpenBMC has those of the host's firmware, and IBM's
//! has a cap of the clock in place of a switch (`hb_cap_freq_mhz_request`). `fullclock bmc --bios` shows them.

use super::{Maker, Menu, Processor};
use facts::HostView;
use facts::change::{object, request_body, without_number};
use facts::redfish::Bios;
use std::borrow::Cow;

/// What one maker's controllers call their settings.
struct Named {
    /// The maker.
    maker: &'static str,
    /// Part of the names of the products that it holds for; any where it is empty.
    products: &'static [&'static str],
    /// Where a change is requested; `None` where that holds the name of the machine, or differs among its controllers.
    settings: Option<&'static str>,
    /// Whether each name ends with a number of the firmware.
    is_numbered: bool,
    /// By menu and processor.
    attributes: &'static [(Menu, Processor, Attributes)],
}

/// Settings, those first without which the others are refused.
pub(crate) type Attributes = &'static [Attribute];

/// A setting that is requested.
pub(crate) struct Attribute {
    /// Its name, without the number of the firmware.
    pub name: &'static str,
    /// The first of these that the firmware takes is requested. What holds any of them is left alone.
    pub values: &'static [&'static str],
    /// Whether it is what is meant; else it keeps what is meant from being changed, where the firmware has it at all.
    pub is_meant: bool,
}

const fn profile(name: &'static str, values: &'static [&'static str]) -> Attribute {
    Attribute { name, values, is_meant: false }
}

const fn meant(name: &'static str, values: &'static [&'static str]) -> Attribute {
    Attribute { name, values, is_meant: true }
}

use Processor::{Amd, Intel};

const DELL_PROFILE: Attribute = profile("SysProfile", &["Custom"]);
const DELL_CLOCK: Attributes = &[DELL_PROFILE, meant("ProcPwrPerf", &["OsDbpm"])];
const DELL_TURBO: Attributes = &[DELL_PROFILE, meant("ProcTurboMode", &["Enabled"])];
const HPE_PROFILE: Attribute = profile("WorkloadProfile", &["Custom"]);
const HPE_CLOCK: Attributes = &[HPE_PROFILE, meant("PowerRegulator", &["OsControl"])];
const LENOVO_PROFILE: Attribute = profile("OperatingModes_ChooseOperatingMode", &["CustomMode"]);

const NAMED: &[Named] = &[
    Named {
        maker: "Dell",
        products: &[],
        settings: Some("/redfish/v1/Systems/System.Embedded.1/Bios/Settings"),
        is_numbered: false,
        attributes: &[
            (Menu::Clock, Intel, DELL_CLOCK),
            (Menu::Clock, Amd, DELL_CLOCK),
            (Menu::Turbo, Intel, DELL_TURBO),
            (Menu::Turbo, Amd, DELL_TURBO),
        ],
    },
    Named {
        maker: "HPE",
        products: &["Gen10", "Gen11", "Gen12"],
        settings: Some("/redfish/v1/Systems/1/Bios/Settings"),
        is_numbered: false,
        attributes: &[
            (Menu::Clock, Intel, HPE_CLOCK),
            (Menu::Clock, Amd, HPE_CLOCK),
            (Menu::Turbo, Intel, &[HPE_PROFILE, meant("ProcTurbo", &["Enabled"])]),
        ],
    },
    Named {
        maker: "Lenovo",
        products: &[],
        settings: Some("/redfish/v1/Systems/1/Bios/Pending"),
        is_numbered: false,
        attributes: &[
            (
                Menu::Clock,
                Intel,
                &[
                    LENOVO_PROFILE,
                    meant(
                        "Processors_CPUPstateControl",
                        &["Legacy", "CooperativeWithLegacy", "CooperativeWithoutLegacy"],
                    ),
                ],
            ),
            (
                Menu::Turbo,
                Intel,
                &[LENOVO_PROFILE, meant("Processors_TurboMode", &["Enabled", "Enable"])],
            ),
        ],
    },
    Named {
        maker: "Supermicro",
        products: &[],
        // `Bios/SD` on newer controllers, `Bios` itself on older ones.
        settings: None,
        is_numbered: true,
        attributes: &[
            (
                Menu::Clock,
                Intel,
                &[
                    meant("SpeedStep_P_States_", &["Enable"]),
                    // Not "Out of Band Mode": that one does without the operating system.
                    meant(
                        "HardwareP_States",
                        &["Native Mode", "Native Mode with No Legacy Support", "Disable"],
                    ),
                ],
            ),
            // Without SpeedStep the setup does not show it.
            (
                Menu::Turbo,
                Intel,
                &[profile("SpeedStep_P_States_", &["Enable"]), meant("TurboMode", &["Enable"])],
            ),
        ],
    },
    Named {
        maker: "Cisco",
        products: &[],
        settings: None,
        is_numbered: false,
        attributes: &[
            (Menu::Clock, Intel, &[meant("EnhancedIntelSpeedStep", &["Enabled"])]),
            (Menu::Turbo, Intel, &[meant("IntelTurboBoostTech", &["Enabled"])]),
        ],
    },
];

/// What the controller of a machine calls what a menu decides.
pub(crate) struct Request {
    /// Where a change is requested; `None` where that is told by the controller alone.
    settings: Option<&'static str>,
    is_numbered: bool,
    /// Those first without which the others are refused.
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
    let (settings, is_numbered) = (named.settings, named.is_numbered);
    Some(Request { settings, is_numbered, attributes: found.2 })
}

/// What stands for a number of the firmware that is not known.
const NUMBER: &str = "_NNNN";

impl Request {
    /// The names under which this firmware has a setting: one, none where it lacks it, several where its number does not tell which is meant.
    pub(crate) fn names<'a>(&self, bios: &'a Bios, name: &str) -> Vec<&'a str> {
        let is_it = |it: &&str| {
            *it == name || (self.is_numbered && without_number(it).is_some_and(|it| it == name))
        };
        bios.attributes.keys().map(String::as_str).filter(is_it).collect()
    }

    /// The request, `bios` being what this machine's controller says of its firmware.
    pub(crate) fn words(&self, bios: Option<&Bios>) -> String {
        let pair = |it: &Attribute| (self.name(bios, it.name), self.value(bios, it));
        let pairs: Vec<_> = self.attributes.iter().map(pair).collect();
        let body = object(pairs.iter().map(|(name, value)| (&**name, *value)));
        let body = request_body(&body, false);
        let told = bios.and_then(|it| it.settings.as_deref());
        let request = match told.or(self.settings) {
            Some(settings) => format!("PATCH {settings} {body}"),
            None => format!("PATCH to the settings of Bios {body}"),
        };
        match pairs.iter().any(|(name, _)| name.ends_with(NUMBER)) {
            true => format!(
                "{request}, where `fullclock bmc --bios` shows the number in place of {NUMBER}"
            ),
            false => request,
        }
    }

    /// The name as this firmware has it, or with what stands for its number.
    fn name<'a>(&self, bios: Option<&'a Bios>, name: &'static str) -> Cow<'a, str> {
        let told = bios.map(|it| self.names(it, name)).unwrap_or_default();
        match (told.as_slice(), self.is_numbered) {
            ([told], _) => Cow::Borrowed(told),
            (_, true) => Cow::Owned(format!("{name}{NUMBER}")),
            (_, false) => Cow::Borrowed(name),
        }
    }

    /// The first value that this firmware takes, or the first of all where it does not say.
    fn value(&self, bios: Option<&Bios>, of: &Attribute) -> &'static str {
        let name = self.name(bios, of.name);
        let takes = bios.and_then(|it| it.takes.get(&*name));
        let is_taken =
            |value: &&&str| takes.is_some_and(|it| it.values.iter().any(|it| it == **value));
        of.values.iter().find(is_taken).or(of.values.first()).copied().unwrap_or_default()
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

/// What this machine's controller says of its firmware.
pub(crate) fn told(host: &HostView) -> Option<&Bios> {
    host.redfish.as_ref().ok()?.bios.as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::change::{ATTRIBUTES, NUMBERED};

    #[test]
    fn every_name_is_one_that_may_be_written() {
        let sorted = |is_numbered: bool| {
            let named = NAMED.iter().filter(|it| it.is_numbered == is_numbered);
            let named = named.flat_map(|it| it.attributes).flat_map(|it| it.2);
            let mut names: Vec<&str> = named.map(|it| it.name).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        for (is_numbered, listed) in [(false, ATTRIBUTES), (true, NUMBERED)] {
            let mut listed = listed.to_vec();
            listed.sort_unstable();
            assert_eq!(sorted(is_numbered), listed);
        }
    }

    #[test]
    fn every_request_has_something_that_is_meant_and_values() {
        for (.., attributes) in NAMED.iter().flat_map(|it| it.attributes) {
            assert!(attributes.iter().any(|it| it.is_meant));
            assert!(attributes.iter().all(|it| !it.values.is_empty()));
        }
    }
}
