//! The kernel's configuration.
#![no_main]

use facts::system::kernel_config::KernelConfig;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(config) = KernelConfig::parse("/proc/config.gz", text) {
        assert!(config.value("HZ").is_none_or(|value| text.contains(value)));
        let _ = (config.ticks_per_second(), config.has("NO_HZ_FULL"));
        // A capture keeps an excerpt, which has to be the same configuration.
        assert_eq!(KernelConfig::parse("/proc/config.gz", &KernelConfig::excerpt(text)), Ok(config));
    }
});
