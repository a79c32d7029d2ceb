//! Who chooses the clock, and within which limits.

pub(super) mod capped_frequency;
pub(super) mod mixed_frequency_settings;
pub(super) mod no_frequency_driver;
pub(super) mod power_saving_bias;
pub(super) mod rival_tuner;
pub(super) mod slow_governor;
pub(super) mod turbo_off;
