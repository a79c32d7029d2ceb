//! The kernel's configuration.

use facts::system::kernel_config::KernelConfig;

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    if let Ok(config) = KernelConfig::parse("/proc/config.gz", text) {
        assert!(config.value("HZ").is_none_or(|value| text.contains(value)));
        let _ = (config.ticks_per_second(), config.has("NO_HZ_FULL"));
        // A capture keeps an excerpt, which has to be the same configuration.
        assert_eq!(
            KernelConfig::parse("/proc/config.gz", &KernelConfig::excerpt(text)),
            Ok(config)
        );
    }
}
