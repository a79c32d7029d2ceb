//! How the running kernel was built.
//!
//! Source: Documentation/kbuild/kconfig.rst. A kernel has ten thousand options and the checks ask for a handful: only
//! those are kept, here and in captures alike, so that both answer the same.

use crate::parse::Expected;

/// Every option that is asked for, without its `CONFIG_`; whoever asks for another adds it.
const ASKED: [&str; 18] = [
    "ACPI_CPPC_CPUFREQ",
    "HARDLOCKUP_DETECTOR_BUDDY",
    "HZ",
    "IRQ_TIME_ACCOUNTING",
    "NO_HZ_COMMON",
    "NO_HZ_FULL",
    "PARAVIRT_TIME_ACCOUNTING",
    "PREEMPT",
    "PREEMPT_DYNAMIC",
    "PREEMPT_LAZY",
    "PREEMPT_RT",
    "PREEMPT_VOLUNTARY",
    "QORIQ_CPUFREQ",
    "RCU_NOCB_CPU",
    "RCU_NOCB_CPU_ALL",
    "RCU_NOCB_CPU_DEFAULT_ALL",
    "X86_ACPI_CPUFREQ",
    "X86_AMD_PSTATE",
];

/// Tells whoever reads a capture.
const NOTICE: &str = "# an excerpt: the options that fullclock asks for\n";

/// The configuration of the running kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelConfig {
    /// The file it was read from.
    pub path: String,
    /// The lines of the options that are asked for, with a newline before the first.
    text: String,
}

impl KernelConfig {
    /// Takes the text of a `.config` file that was found at `path`, or an excerpt of one.
    pub fn parse(path: &str, text: &str) -> Result<KernelConfig, Expected> {
        // An option that is off is a comment, so a real file has both.
        if !text.lines().any(|line| line.starts_with("CONFIG_")) {
            return Err(Expected("lines like CONFIG_SMP=y"));
        }
        let asked: String = text.split_inclusive('\n').filter(is_asked).collect();
        Ok(KernelConfig { path: path.to_owned(), text: format!("\n{asked}") })
    }

    /// Of the text of a `.config` file, what makes the same configuration.
    pub fn excerpt(text: &str) -> String {
        let asked = || text.split_inclusive('\n').filter(is_asked);
        if asked().any(|line| line.starts_with("CONFIG_")) {
            [NOTICE].into_iter().chain(asked()).collect()
        } else {
            text.to_owned()
        }
    }

    /// Whether an option, without its `CONFIG_`, is asked for and so kept.
    pub fn keeps(option: &str) -> bool {
        ASKED.contains(&option)
    }

    /// The value of an option, without its `CONFIG_`; `None` where it is not set.
    pub fn value(&self, option: &str) -> Option<&str> {
        debug_assert!(ASKED.contains(&option), "{option} is not kept");
        let key = format!("\nCONFIG_{option}=");
        let (_, rest) = self.text.split_once(&key)?;
        Some(rest.lines().next().unwrap_or_default().trim_matches(['"', ' ', '\r']))
    }

    /// The options that are asked for and set, without their `CONFIG_`, with their values.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &str)> {
        ASKED.iter().filter_map(|option| Some((*option, self.value(option)?)))
    }

    /// Whether an option is built in or a module.
    pub fn has(&self, option: &str) -> bool {
        matches!(self.value(option), Some("y" | "m"))
    }

    /// Whether the configuration says that an option is not set. It does not mention one whose needs are not met, nor does an excerpt of an
    /// earlier version mention one that it was not asked for.
    pub fn is_off(&self, option: &str) -> bool {
        debug_assert!(ASKED.contains(&option), "{option} is not kept");
        self.text.contains(&format!("\n# CONFIG_{option} is not set"))
    }

    /// The timer's frequency in ticks a second (`CONFIG_HZ`).
    pub fn ticks_per_second(&self) -> Option<u64> {
        self.value("HZ")?.parse().ok().filter(|hz| (1..=10_000).contains(hz))
    }
}

/// Whether a line sets an option that is asked for, or says that it is off.
fn is_asked(line: &&str) -> bool {
    let option = line.strip_prefix("CONFIG_").and_then(|it| it.split_once('='));
    let off = || line.strip_prefix("# CONFIG_")?.split_once(" is not set");
    option.or_else(off).is_some_and(|(name, _)| ASKED.contains(&name))
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
CONFIG_PREEMPT=\"y\"
# CONFIG_PREEMPTY is not set
";

    #[test]
    fn an_option_is_found_by_its_whole_name() {
        let config = KernelConfig::parse("/proc/config.gz", TEXT).unwrap();
        assert!(config.has("PREEMPT") && !config.has("NO_HZ_FULL"));
        assert!(config.is_off("NO_HZ_FULL") && !config.is_off("PREEMPT"));
        assert!(!config.is_off("PREEMPT_RT"), "it is not mentioned");
        assert_eq!(config.value("PREEMPT"), Some("y"));
        assert!(config.options().eq([("HZ", "250"), ("PREEMPT", "y")]));
        assert_eq!(config.ticks_per_second(), Some(250));
    }

    #[test]
    fn an_excerpt_makes_the_same_configuration_and_says_that_it_is_one() {
        let excerpt = KernelConfig::excerpt(TEXT);
        assert_eq!(
            excerpt,
            "# an excerpt: the options that fullclock asks for\n\
             # CONFIG_NO_HZ_FULL is not set\nCONFIG_HZ=250\nCONFIG_PREEMPT=\"y\"\n"
        );
        assert_eq!(KernelConfig::parse("/a", &excerpt), KernelConfig::parse("/a", TEXT));
        assert_eq!(KernelConfig::excerpt(&excerpt), excerpt);
    }

    #[test]
    fn a_text_without_any_such_option_stays_what_it_was() {
        for text in ["CONFIG_SMP=y\n", "# CONFIG_HZ is not set\n", "<html>", ""] {
            assert_eq!(KernelConfig::excerpt(text), text);
        }
    }

    #[test]
    fn text_that_is_no_configuration_is_refused() {
        assert!(KernelConfig::parse("/boot/config-6", "<html>").is_err());
        assert!(KernelConfig::parse("/boot/config-6", "").is_err());
    }
}
