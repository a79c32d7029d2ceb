//! What stops or clips the clock behind the kernel's back: firmware, heat, the board, the management
//! controller.

pub(super) mod clock_below_minimum;
pub(super) mod clock_modulation;
pub(super) mod forced_idle;
pub(super) mod known_bad_firmware;
pub(super) mod prochot_asserted;
pub(super) mod smi_storm;
pub(super) mod thermal_throttling;
