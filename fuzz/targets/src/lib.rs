//! Fuzz targets: functions that read foreign data and must not panic, whatever the bytes.
//!
//! The tests of this crate run every target over its seeds (`fuzz/seeds`), the kept corpus
//! (`fuzz/corpus`) and simple mutations of both. `cargo xtask fuzz` links the same functions with
//! libFuzzer, whose mutations are guided by coverage.

#![forbid(unsafe_code)]
#![expect(clippy::expect_used, reason = "a target reports what it finds by a panic")]
#![expect(
    clippy::let_underscore_must_use,
    reason = "most answers need only to come, whatever they are"
)]

mod advisories;
mod archive;
mod boot_line;
mod capture;
mod cgroups;
mod controller;
mod counters;
mod cpu_sets;
mod cpuinfo;
mod fleet;
mod interrupts;
mod kernel_config;
mod msrs;
mod pasted;
mod peers;
mod processes;
mod recording;
mod redfish;
#[cfg(test)]
mod replay;
mod results;
mod tape;
mod trace;
mod values;

/// One fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name of its folder of seeds and of its corpus.
    pub name: &'static str,
    /// Reads an input; panics on a bug.
    pub run: fn(&[u8]),
    /// Whether each input is read and audited as a whole host, which takes milliseconds.
    pub audits_host: bool,
}

/// Every target, by name.
pub const TARGETS: &[Target] = &[
    parser("advisories", advisories::run),
    audit("archive", archive::run),
    parser("boot_line", boot_line::run),
    audit("capture", capture::run),
    parser("cgroups", cgroups::run),
    parser("controller", controller::run),
    parser("counters", counters::run),
    parser("cpu_sets", cpu_sets::run),
    parser("cpuinfo", cpuinfo::run),
    parser("fleet", fleet::run),
    parser("interrupts", interrupts::run),
    parser("kernel_config", kernel_config::run),
    audit("msrs", msrs::run),
    audit("pasted", pasted::run),
    parser("peers", peers::run),
    parser("processes", processes::run),
    audit("recording", recording::run),
    parser("redfish", redfish::run),
    parser("results", results::run),
    parser("tape", tape::run),
    parser("trace", trace::run),
    parser("values", values::run),
];

const fn parser(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run, audits_host: false }
}

const fn audit(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run, audits_host: true }
}

/// An input as text: up to the first byte that is not UTF-8, as the `arbitrary` crate reads a `&str`.
fn text(input: &[u8]) -> &str {
    let valid = std::str::from_utf8(input).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&input[..valid]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_where_its_utf_8_does() {
        assert_eq!(text("0-3 µ".as_bytes()), "0-3 µ");
        assert_eq!(text(b"0-3\xb5,5"), "0-3");
        assert_eq!(text(b"\xff"), "");
    }
}
