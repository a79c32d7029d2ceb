//! What a controller's sensors read, and where their records come from.

use super::Reading;

/// Where records come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordsOrigin {
    /// Whether they were kept on disk, and the controller says that they are still the same.
    pub is_kept: bool,
    /// How many there are, with those that are not about sensors.
    pub n_records: usize,
    /// How many of them nobody can read: they are not what the specification says.
    pub n_unreadable: usize,
    /// How many questions fetching them took.
    pub questions: u32,
    /// Why they were fetched and not taken from the disk; empty where they were.
    pub why: String,
    /// Why they will be fetched the next time, too; empty where they will not.
    pub unkept: String,
}

/// What a sensor reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorValue {
    /// The controller's answer.
    pub reading: Reading,
    /// In the sensor's unit; none for a sensor without numbers, and where there is no reading.
    pub value: Option<f64>,
}
