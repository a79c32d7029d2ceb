//! States that sensors of all types may have, by type of reading (IPMI 2.0, table 42-2).

use super::List;

/// In the order of their numbers.
pub(super) const STATES: &[List] = &[
    (
        0x01,
        &[
            "Lower Non-critical going low",
            "Lower Non-critical going high",
            "Lower Critical going low",
            "Lower Critical going high",
            "Lower Non-recoverable going low",
            "Lower Non-recoverable going high",
            "Upper Non-critical going low",
            "Upper Non-critical going high",
            "Upper Critical going low",
            "Upper Critical going high",
            "Upper Non-recoverable going low",
            "Upper Non-recoverable going high",
        ],
    ),
    (0x02, &["Transition to Idle", "Transition to Active", "Transition to Busy"]),
    (0x03, &["State Deasserted", "State Asserted"]),
    (0x04, &["Predictive Failure deasserted", "Predictive Failure asserted"]),
    (0x05, &["Limit Not Exceeded", "Limit Exceeded"]),
    (0x06, &["Performance Met", "Performance Lags"]),
    (
        0x07,
        &[
            "transition to OK",
            "transition to Non-Critical from OK",
            "transition to Critical from less severe",
            "transition to Non-recoverable from less severe",
            "transition to Non-Critical from more severe",
            "transition to Critical from Non-recoverable",
            "transition to Non-recoverable",
            "Monitor",
            "Informational",
        ],
    ),
    (0x08, &["Device Removed / Device Absent", "Device Inserted / Device Present"]),
    (0x09, &["Device Disabled", "Device Enabled"]),
    (
        0x0a,
        &[
            "transition to Running",
            "transition to In Test",
            "transition to Power Off",
            "transition to On Line",
            "transition to Off Line",
            "transition to Off Duty",
            "transition to Degraded",
            "transition to Power Save",
            "Install Error",
        ],
    ),
    (
        0x0b,
        &[
            "Fully Redundant",
            "Redundancy Lost",
            "Redundancy Degraded",
            "Non-redundant: Sufficient Resources from Redundant",
            "Non-redundant: Sufficient Resources from Insufficient Resources",
            "Non-redundant: Insufficient Resources",
            "Redundancy Degraded from Fully Redundant",
            "Redundancy Degraded from Non-redundant",
        ],
    ),
    (0x0c, &["D0 Power State", "D1 Power State", "D2 Power State", "D3 Power State"]),
];
