//! Thermal zones: where the kernel measures heat, and the trip points from which on it does something.
//!
//! Sources: Documentation/driver-api/thermal/sysfs-api.rst; drivers/thermal/thermal_sysfs.c, in thousandths of a degree Celsius. A trip point
//! that is not in use reads THERMAL_TEMP_INVALID (-274000, include/linux/thermal.h), or 0 in older drivers (x86_pkg_temp_thermal.c), also on
//! healthy machines.

use crate::Fact;

/// A thermal zone with the trip points from which on the kernel slows the CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct ThermalZone {
    /// Its folder: `/sys/class/thermal/thermal_zone0`.
    pub folder: String,
    /// `type`: acpitz, x86_pkg_temp.
    pub kind: String,
    /// `temp`, in thousandths of a degree.
    pub temperature: Fact<i64>,
    /// The passive ones that are in use, by number, with their temperature.
    pub passive: Vec<(u32, i64)>,
}

/// Whether a trip point of this temperature is in use.
pub fn is_in_use(thousandths: i64) -> bool {
    thousandths > 0
}

impl ThermalZone {
    /// The lowest passive trip point that the zone has reached, with both temperatures.
    pub fn reached(&self) -> Option<(u32, i64, i64)> {
        let temperature = *self.temperature.as_ref().ok()?;
        let reached = self.passive.iter().filter(|(_, trip)| temperature >= *trip);
        reached.min_by_key(|(_, trip)| *trip).map(|&(number, trip)| (number, trip, temperature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_trip_point_that_was_reached_counts() {
        let mut zone = ThermalZone {
            folder: "/sys/class/thermal/thermal_zone0".to_owned(),
            kind: "acpitz".to_owned(),
            temperature: Ok(70_000),
            passive: vec![(0, 80_000), (1, 65_000), (2, 45_000)],
        };
        assert_eq!(zone.reached(), Some((2, 45_000, 70_000)));
        zone.temperature = Ok(40_000);
        assert_eq!(zone.reached(), None);
    }

    #[test]
    fn placeholders_are_no_trip_points() {
        assert_eq!([-274_000, -273_200, 0, 95_000].map(is_in_use), [false, false, false, true]);
    }
}
