//! How the running kernel was built.
//!
//! Source: Documentation/kbuild/kconfig.rst. The text is kept as it is and searched on demand: a kernel
//! has ten thousand options and the checks ask for a handful.

use crate::parse::Expected;

/// The configuration of the running kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelConfig {
    /// The file it was read from.
    pub path: String,
    /// The text, with a newline before its first line.
    text: String,
}

impl KernelConfig {
    /// Takes the text of a `.config` file that was found at `path`.
    pub fn parse(path: &str, text: &str) -> Result<KernelConfig, Expected> {
        let text = format!("\n{text}");
        // An option that is off is a comment, so a real file has both.
        if !text.contains("\nCONFIG_") {
            return Err(Expected("lines like CONFIG_SMP=y"));
        }
        Ok(KernelConfig { path: path.to_owned(), text })
    }

    /// The value of an option, without its `CONFIG_`; `None` where it is not set.
    pub fn value(&self, option: &str) -> Option<&str> {
        let key = format!("\nCONFIG_{option}=");
        let (_, rest) = self.text.split_once(&key)?;
        Some(rest.lines().next().unwrap_or_default().trim_matches(['"', ' ', '\r']))
    }

    /// Whether an option is built in or a module.
    pub fn has(&self, option: &str) -> bool {
        matches!(self.value(option), Some("y" | "m"))
    }

    /// The timer's frequency in ticks a second (`CONFIG_HZ`).
    pub fn ticks_per_second(&self) -> Option<u64> {
        self.value("HZ")?.parse().ok().filter(|hz| (1..=10_000).contains(hz))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
CONFIG_SMP=y
# CONFIG_NO_HZ_FULL is not set
CONFIG_NO_HZ_FULL_X=y
CONFIG_HZ_250=y
CONFIG_HZ=250
CONFIG_CC_VERSION_TEXT=\"gcc\"
";

    #[test]
    fn an_option_is_found_by_its_whole_name() {
        let config = KernelConfig::parse("/proc/config.gz", TEXT).unwrap();
        assert!(config.has("SMP") && !config.has("NO_HZ_FULL") && !config.has("HZ_25"));
        assert_eq!(config.value("CC_VERSION_TEXT"), Some("gcc"));
        assert_eq!(config.ticks_per_second(), Some(250));
    }

    #[test]
    fn text_that_is_no_configuration_is_refused() {
        assert!(KernelConfig::parse("/boot/config-6", "<html>").is_err());
        assert!(KernelConfig::parse("/boot/config-6", "").is_err());
    }
}
