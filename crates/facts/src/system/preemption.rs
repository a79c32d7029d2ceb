//! The preemption model: when the kernel may take the CPU from a running process.
//!
//! Sources: kernel/Kconfig.preempt, kernel/sched/core.c (`preempt_modes`, `preempt=`), kernel/sched/debug.c. Since Linux
//! 7.0 (7dadeaa6e851) architectures with PREEMPT_LAZY offer full and lazy only.

use super::kernel::Kernel;
use crate::parse::{Expected, trimmed};
use crate::{Fact, Missing};

/// The file that shows the active model, in parentheses: readable by root only, and not under lockdown.
pub const FILE: &str = "/sys/kernel/debug/sched/preempt";

/// The active model, and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preemption {
    /// `none`, `voluntary`, `full` or `lazy`.
    pub model: String,
    /// The file or boot parameter.
    pub source: String,
}

/// Parses [`FILE`]: "full (lazy)".
pub fn in_force(text: &str) -> Result<String, Expected> {
    let words = trimmed(text).split_whitespace();
    let chosen = |word: &str| Some(word.strip_prefix('(')?.strip_suffix(')')?.to_owned());
    words.filter_map(chosen).next().ok_or(Expected("models, the one in force in parentheses"))
}

impl Kernel {
    /// The active model: from [`FILE`], else from the boot line and the build configuration.
    pub fn preemption(&self) -> Fact<Preemption> {
        let of = |model: &str, source: &str| {
            Ok(Preemption { model: model.to_owned(), source: source.to_owned() })
        };
        if let Ok(model) = &self.preempt_mode {
            return of(model, FILE);
        }
        let config = self.config.as_ref().map_err(Missing::from)?;
        let chosen = self.boot_line.as_ref().map_err(Missing::from)?.value("preempt");
        match chosen {
            Some(model @ ("full" | "lazy")) if config.has("PREEMPT_DYNAMIC") => {
                of(model, "/proc/cmdline")
            }
            // Later kernels refuse them and keep what they are built for (`sched_dynamic_mode`).
            Some(model @ ("none" | "voluntary"))
                if config.has("PREEMPT_DYNAMIC") && self.version().is_ok_and(|it| it < (7, 0)) =>
            {
                of(model, "/proc/cmdline")
            }
            _ if config.has("PREEMPT_LAZY") => of("lazy", &config.path),
            _ if config.has("PREEMPT") => of("full", &config.path),
            _ if config.has("PREEMPT_VOLUNTARY") => of("voluntary", &config.path),
            _ => of("none", &config.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::kernel::BootLine;
    use crate::system::kernel_config::KernelConfig;

    fn kernel(mode: Fact<String>, boot_line: &str, config: &str) -> Kernel {
        Kernel {
            release: Ok("7.0.0".into()),
            boot_line: Ok(BootLine::new(boot_line)),
            uptime: Err(Missing::absent("/proc/uptime")),
            runnable: Err(Missing::absent("/proc/loadavg")),
            config: Ok(KernelConfig::parse("/proc/config.gz", config).unwrap()),
            suspends: Err(Missing::absent("/sys/power/suspend_stats/success")),
            preempt_mode: mode,
        }
    }

    #[test]
    fn the_model_in_force_is_the_one_in_parentheses() {
        assert_eq!(in_force("full (lazy)\n").as_deref(), Ok("lazy"));
        assert!(in_force("none voluntary full").is_err() && in_force("").is_err());
    }

    #[test]
    fn without_debugfs_the_boot_line_decides_and_then_the_build() {
        let denied = || Err(Missing::denied(FILE));
        let dynamic = "CONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_DYNAMIC=y\n";
        let model = |kernel: Kernel| kernel.preemption().unwrap().model;
        assert_eq!(model(kernel(denied(), "", dynamic)), "lazy");
        assert_eq!(model(kernel(denied(), "preempt=full", dynamic)), "full");
        assert_eq!(model(kernel(Ok("full".into()), "", dynamic)), "full");
        assert_eq!(model(kernel(denied(), "preempt=full", "CONFIG_PREEMPT_LAZY=y\n")), "lazy");
        assert_eq!(model(kernel(denied(), "", "CONFIG_PREEMPT_VOLUNTARY=y\n")), "voluntary");
        assert_eq!(model(kernel(denied(), "preempt=none", dynamic)), "lazy");
        let older =
            Kernel { release: Ok("6.12.0".into()), ..kernel(denied(), "preempt=none", dynamic) };
        assert_eq!(model(older), "none");
    }
}
