//! Where the makers' firmware setups have what they decide about clocks, in the makers' own words.
//!
//! Only the words of the maker that the firmware names are said, and only for servers: laptops of the same makers have other menus.
//! Sources: Dell, OpenManage Server Administrator, "System Profile Settings"; HPE, "ProLiant Server Power Management" (RHEL 6.x and 7.x) and
//! "UEFI System Utilities User Guide"; Lenovo Press LP1836 and LP1977, "Tuning UEFI Settings for Performance and Energy Efficiency"; Supermicro,
//! SuperServer 1019D user's manual, "Advanced Power Management Configuration"; Cisco, "UCS Server BIOS Tokens"; Fujitsu, "BIOS optimizations for
//! Xeon E5 v4 & E7 v4 based systems".

mod attributes;

pub(crate) use attributes::{Attribute, Request, told};

use facts::HostView;
use facts::cpu::cpuinfo::CpuInfo;
use facts::system::hpe;

/// What a setup decides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Menu {
    /// Whether Linux may drive the clock.
    Clock,
    /// Whether clocks above the nominal one are allowed.
    Turbo,
}

struct Maker {
    /// How the vendor's name begins.
    vendors: &'static [&'static str],
    /// How the names of its servers begin; every name where there is none.
    products: &'static [&'static str],
    name: &'static str,
    /// By menu, whether for Intel's processors or for AMD's, and what is to be chosen.
    menus: &'static [(Menu, Processor, &'static str)],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Processor {
    Intel,
    Amd,
}

use Processor::{Amd, Intel};

const MAKERS: &[Maker] = &[
    Maker {
        vendors: &["Dell"],
        products: &["PowerEdge"],
        name: "Dell",
        menus: &[
            (Menu::Clock, Intel, "System Profile Settings, CPU Power Management: OS DBPM"),
            (Menu::Clock, Amd, "System Profile Settings, CPU Power Management: OS DBPM"),
            (Menu::Turbo, Intel, "System Profile Settings, Turbo Boost: Enabled"),
            (Menu::Turbo, Amd, "System Profile Settings, Turbo Boost: Enabled"),
        ],
    },
    Maker {
        vendors: &["HP", "Hewlett"],
        products: &["ProLiant", "Synergy"],
        name: "HPE",
        menus: &[
            (Menu::Clock, Intel, hpe::OS_CONTROL),
            (Menu::Clock, Amd, hpe::OS_CONTROL),
            (Menu::Turbo, Intel, "Intel Turbo Boost Technology: Enabled"),
            (Menu::Turbo, Amd, "AMD Core Performance Boost: Enabled"),
        ],
    },
    Maker {
        vendors: &["Lenovo", "LENOVO"],
        products: &["ThinkSystem", "ThinkAgile"],
        name: "Lenovo",
        menus: &[
            (Menu::Clock, Intel, "Processors, CPU P-state Control: neither None nor Autonomous"),
            (Menu::Turbo, Intel, "Processors, Turbo Mode: Enabled"),
            (Menu::Turbo, Amd, "Processors, Core Performance Boost: Enabled"),
        ],
    },
    Maker {
        vendors: &["Supermicro"],
        products: &[],
        name: "Supermicro",
        menus: &[
            (
                Menu::Clock,
                Intel,
                "Advanced Power Management Configuration, SpeedStep (P-States): Enable, and Hardware P-States: not Out of Band Mode",
            ),
            (
                Menu::Turbo,
                Intel,
                "Advanced Power Management Configuration, CPU P State Control, Turbo Mode: Enable",
            ),
        ],
    },
    Maker {
        vendors: &["Cisco"],
        products: &[],
        name: "Cisco",
        menus: &[
            (Menu::Clock, Intel, "Enhanced Intel SpeedStep Technology: Enabled"),
            (Menu::Turbo, Intel, "Intel Turbo Boost Technology: Enabled"),
        ],
    },
    Maker {
        vendors: &["FUJITSU", "Fujitsu"],
        products: &["PRIMERGY"],
        name: "Fujitsu",
        menus: &[
            (Menu::Clock, Intel, "CPU Configuration, Enhanced SpeedStep: Enabled"),
            (Menu::Turbo, Intel, "CPU Configuration, Turbo Mode: Enabled"),
        ],
    },
];

/// What is to be chosen in the firmware's setup; in the maker's words where it is known.
pub(crate) fn setup(host: &HostView, menu: Menu) -> String {
    let processor = processor(host);
    let words = maker(host).and_then(|maker| {
        let mut menus = maker.menus.iter();
        let words = menus.find(|(of, on, _)| (*of, *on) == (menu, processor))?.2;
        Some(format!("{}: {words}", maker.name))
    });
    let (what, neutral) = match (menu, processor) {
        (Menu::Clock, Intel) => (
            "let the operating system control P-states in the firmware's setup",
            "EIST, SpeedStep or P-states enabled",
        ),
        (Menu::Clock, Amd) => (
            "let the operating system control P-states in the firmware's setup",
            "CPPC and P-states enabled",
        ),
        (Menu::Turbo, Intel) => {
            ("switch on turbo in the firmware's setup", "Turbo Boost or Turbo Mode")
        }
        (Menu::Turbo, Amd) => ("switch on turbo in the firmware's setup", "Core Performance Boost"),
    };
    format!("{what} ({})", words.as_deref().unwrap_or(neutral))
}

/// The same in the names of the management controller, as words that follow others: "; over Redfish: PATCH ...".
pub(crate) fn over_redfish(host: &HostView, menu: Menu) -> String {
    attributes::over_redfish(host, maker(host), menu, processor(host))
}

/// What the machine's controller calls what a menu decides, by its own word for who made the machine, or by the firmware's; `None` where no
/// source has these names.
pub(crate) fn request(host: &HostView, menu: Menu) -> Option<Request> {
    let of = |vendor: &str, product: &str| {
        attributes::request(maker_of(vendor, product)?, product, menu, processor(host))
    };
    let system = host.redfish.as_ref().ok().map(|it| &it.system);
    let told = system.and_then(|it| of(it.manufacturer.as_deref()?, it.model.as_deref()?));
    let by_firmware = || {
        let dmi = &host.dmi;
        of(dmi.vendor.as_deref().ok()?, dmi.product.as_deref().unwrap_or_default())
    };
    told.or_else(by_firmware)
}

fn processor(host: &HostView) -> Processor {
    if host.cpuinfo.as_ref().is_ok_and(CpuInfo::is_amd) { Amd } else { Intel }
}

/// Whether the firmware names another maker than HP or HPE.
pub(crate) fn is_not_hpe(host: &HostView) -> bool {
    let vendor = host.dmi.vendor.as_deref().unwrap_or("HP");
    !["HP", "Hewlett"].iter().any(|it| vendor.starts_with(it))
}

fn maker(host: &HostView) -> Option<&'static Maker> {
    let dmi = &host.dmi;
    maker_of(dmi.vendor.as_deref().ok()?, dmi.product.as_deref().unwrap_or_default())
}

fn maker_of(vendor: &str, product: &str) -> Option<&'static Maker> {
    let begins = |names: &[&str], text: &str| names.iter().any(|it| text.starts_with(it));
    let is_server = |it: &Maker| it.products.is_empty() || begins(it.products, product);
    MAKERS.iter().find(|it| begins(it.vendors, vendor) && is_server(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::host_of;

    fn server(vendor: &str, product: &str, processor: &str) -> String {
        format!(
            "//- /sys/class/dmi/id/sys_vendor\n{vendor}\n//- /sys/class/dmi/id/product_name\n{product}\n\
             //- /proc/cpuinfo\nprocessor : 0\nvendor_id : {processor}\n"
        )
    }

    fn of(vendor: &str, product: &str, processor: &str, menu: Menu) -> String {
        setup(&host_of(&server(vendor, product, processor)), menu)
    }

    #[test]
    fn the_controllers_name_of_a_setting_comes_with_the_request_that_changes_it() {
        let text = |vendor, product, processor, menu| {
            over_redfish(&host_of(&server(vendor, product, processor)), menu)
        };
        let intel = |vendor, product, menu| text(vendor, product, "GenuineIntel", menu);
        assert_eq!(
            intel("Dell Inc.", "PowerEdge R760", Menu::Turbo),
            "; over Redfish: PATCH /redfish/v1/Systems/System.Embedded.1/Bios/Settings {\"Attributes\": {\"SysProfile\": \"Custom\", \"ProcTurboMode\": \"Enabled\"}}"
        );
        assert!(
            intel("HPE", "ProLiant DL380 Gen10", Menu::Clock)
                .ends_with("\"PowerRegulator\": \"OsControl\"}}")
        );
        assert!(intel("Lenovo", "ThinkSystem SR650", Menu::Clock).contains("Bios/Pending"));
        assert!(
            intel("Cisco Systems Inc", "UCSC-C240-M5", Menu::Turbo)
                .contains("PATCH to the settings of Bios")
        );
        assert_eq!(
            intel("Supermicro", "SYS-1029P", Menu::Turbo),
            "; over Redfish: PATCH to the settings of Bios {\"Attributes\": {\"SpeedStep_P_States__NNNN\": \"Enable\", \"TurboMode_NNNN\": \"Enable\"}}, \
             where `fullclock bmc --bios` shows the number in place of _NNNN"
        );
        // An older one, another processor, and a maker whose names no source shows.
        for shown in [
            intel("HP", "ProLiant DL580 G7", Menu::Clock),
            text("Lenovo", "ThinkSystem SR665", "AuthenticAMD", Menu::Turbo),
            text("Supermicro", "AS-1115HS-TNR", "AuthenticAMD", Menu::Turbo),
            intel("FUJITSU", "PRIMERGY RX2540 M4", Menu::Turbo),
        ] {
            assert_eq!(
                shown,
                "; `fullclock bmc --bios` shows what the management controller calls it"
            );
        }
        assert_eq!(intel("Gigabyte Technology Co., Ltd.", "R282-Z90", Menu::Turbo), "");
        let told =
            "//- redfish\n{\"bios\": {\"settings\": \"/redfish/v1/Systems/X/Bios/Settings\"}}\n";
        let host = format!("{}{told}", server("Cisco Systems Inc", "UCSC-C240-M5", "GenuineIntel"));
        assert!(
            over_redfish(&host_of(&host), Menu::Turbo)
                .contains("PATCH /redfish/v1/Systems/X/Bios/Settings {")
        );
        let told = "//- redfish\n{\"bios\": {\"settings\": \"/redfish/v1/Systems/1/Bios/SD\", \"attributes\": \
                    {\"SpeedStep_P_States__FF12\": \"Enable\", \"HardwareP_States_F282\": \"Out of Band Mode\"}}}\n";
        let host = format!("{}{told}", server("Supermicro", "SYS-821GE-TNHR", "GenuineIntel"));
        assert_eq!(
            over_redfish(&host_of(&host), Menu::Clock),
            "; over Redfish: PATCH /redfish/v1/Systems/1/Bios/SD {\"Attributes\": {\"SpeedStep_P_States__FF12\": \"Enable\", \"HardwareP_States_F282\": \
             \"Native Mode\"}}"
        );
    }

    #[test]
    fn a_server_is_told_in_its_makers_words() {
        let intel = |vendor, product| of(vendor, product, "GenuineIntel", Menu::Clock);
        assert!(intel("Dell Inc.", "PowerEdge R740").contains("OS DBPM"));
        assert!(intel("HPE", "ProLiant DL380 Gen10").contains("OS Control Mode"));
        assert!(intel("HP", "ProLiant DL580 G7").contains("OS Control Mode"));
        assert!(intel("Lenovo", "ThinkSystem SR650").contains("CPU P-state Control"));
        assert!(intel("Supermicro", "SYS-1029P").contains("SpeedStep"));
        assert!(intel("Cisco Systems Inc", "UCSC-C240-M5").contains("Enhanced Intel SpeedStep"));
        assert!(intel("FUJITSU", "PRIMERGY RX2540 M4").contains("Enhanced SpeedStep"));
    }

    #[test]
    fn an_unknown_maker_and_a_laptop_get_neutral_words() {
        for (vendor, product) in [
            ("Gigabyte Technology Co., Ltd.", "R282-Z90"),
            ("ASRockRack", "ROMED8-2T"),
            ("Dell Inc.", "Latitude 7490"),
            ("LENOVO", "20L7002AUS"),
            ("HP", "HP EliteBook 840 G5"),
        ] {
            for menu in [Menu::Clock, Menu::Turbo] {
                let text = of(vendor, product, "AuthenticAMD", menu);
                let is_neutral = MAKERS.iter().all(|it| !text.contains(&format!("{}:", it.name)));
                assert!(is_neutral, "{vendor}: {text}");
            }
        }
        // Of Supermicro's boards for EPYC no source names the menu.
        assert!(!of("Supermicro", "H12", "AuthenticAMD", Menu::Turbo).contains("Supermicro"));
    }
}
