//! Reads how the running kernel was built, from wherever its distribution keeps that.

use crate::Source;
use facts::parse::Expected;
use facts::system::kernel_config::KernelConfig;
use facts::{Fact, Missing, Why};
use std::io::Read;

/// The kernel's own copy first: the others only belong to a kernel of the same name.
pub(super) fn read(source: &dyn Source, release: &Fact<String>) -> Fact<KernelConfig> {
    let own = compressed(source, "/proc/config.gz");
    let Ok(release) = release else { return own.map_err(|missing| none(missing, &[])) };
    let places = [format!("/boot/config-{release}"), format!("/lib/modules/{release}/config")];
    let mut reasons = Vec::new();
    match own {
        Ok(config) => return Ok(config),
        Err(missing) => reasons.push(missing),
    }
    for path in &places {
        match source.parsed(path, |text| KernelConfig::parse(path, text)) {
            Ok(config) => return Ok(config),
            Err(missing) => reasons.push(missing),
        }
    }
    let known = reasons.iter().find(|missing| !missing.is_absence());
    Err(known.cloned().unwrap_or_else(|| none(Missing::absent("/proc/config.gz"), &places)))
}

/// A kernel always has a configuration, so that nobody kept a copy is a gap in what we know and not an
/// absence.
fn none(missing: Missing, places: &[String]) -> Missing {
    if !missing.is_absence() {
        return missing;
    }
    let also = places.first().map(|path| format!(" or {path}")).unwrap_or_default();
    let why = Why::Failed(format!("there is no {}{also}", missing.what));
    Missing { what: "the kernel's configuration".to_owned(), why }
}

fn compressed(source: &dyn Source, path: &str) -> Fact<KernelConfig> {
    let bytes = source.read(path)?;
    let text = text(&bytes)
        .ok_or_else(|| Missing::malformed(path, "no gzip data", "a compressed configuration"))?;
    KernelConfig::parse(path, &text)
        .map_err(|Expected(expected)| Missing::malformed(path, &text, expected))
}

/// The text of a compressed configuration, or of one that is text already, as captures hold it.
pub(crate) fn text(bytes: &[u8]) -> Option<String> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    if bytes.starts_with(&GZIP) { inflated(bytes) } else { String::from_utf8(bytes.to_vec()).ok() }
}

fn inflated(bytes: &[u8]) -> Option<String> {
    /// Real ones have 100 to 300 KiB; a copy of a host may hold a bomb.
    const LARGEST: u64 = 4 << 20;
    let mut text = Vec::new();
    let n_read = flate2::read::GzDecoder::new(bytes).take(LARGEST).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    (n_read as u64 != LARGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;
    use std::io::Write;

    fn config(excerpt: &str) -> Fact<KernelConfig> {
        read(&Captured::excerpt(excerpt).unwrap(), &Ok("6.1.0".into()))
    }

    fn gzip(text: &[u8]) -> String {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        let bytes = encoder.finish().unwrap();
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("//- /proc/config.gz\n!bytes {digits}\n")
    }

    #[test]
    fn the_kernels_own_copy_comes_before_the_one_in_boot() {
        let boot = "//- /boot/config-6.1.0\nCONFIG_HZ=100\n";
        let both = format!("{}{boot}", gzip(b"CONFIG_HZ=1000\n"));
        assert_eq!(config(&both).unwrap().ticks_per_second(), Some(1000));
        assert_eq!(config(boot).unwrap().path, "/boot/config-6.1.0");
    }

    #[test]
    fn a_configuration_that_nobody_kept_is_not_known() {
        assert_eq!(
            config("").unwrap_err().to_string(),
            "the kernel's configuration cannot be read: there is no /proc/config.gz or /boot/config-6.1.0"
        );
    }

    #[test]
    fn a_capture_holds_an_excerpt_as_text_that_answers_the_same() {
        let text =
            "CONFIG_HZ=1000\nCONFIG_CMDLINE=\"ip=10.1.2.3\"\n# CONFIG_NO_HZ_FULL is not set\n";
        for file in [gzip(text.as_bytes()), format!("//- /boot/config-6.1.0\n{text}")] {
            let host = Captured::excerpt(&file).unwrap();
            let recording = crate::Recording::new(&host);
            let config = read(&recording, &Ok("6.1.0".into()));
            let capture = recording.capture();
            let kept = "asks for\nCONFIG_HZ=1000\n# CONFIG_NO_HZ_FULL is not set\n";
            assert!(capture.contains(kept) && !capture.contains("CMDLINE"), "{capture}");
            assert_eq!(read(&Captured::parse(&capture).unwrap(), &Ok("6.1.0".into())), config);
        }
    }

    #[test]
    fn data_that_inflates_without_end_is_refused() {
        let bomb = gzip(&vec![b'\n'; 5 << 20]);
        assert!(config(&bomb).unwrap_err().to_string().contains("compressed configuration"));
        assert!(config("//- /proc/config.gz\n!bytes 1f8b\n").is_err());
    }
}
