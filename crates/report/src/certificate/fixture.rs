//! Certificates for tests: of a governor that was changed between two results.

use super::{Certificate, Change, Data, sha256};
use crate::bench::fixture::{Pattern, QUIET, moment};
use facts::change::{ChangeLines, ChangeState, Recorded, RecordedGroup, WriteOutcome};
use facts::change::{ChangeStanding, Standing, WrittenPlace};
use facts::change::{Group, Target, Write};
use lab::compare::{Side, Terms};
use lab::comparison::{Comparison, between};
use lab::record::Record;
use std::path::PathBuf;
use std::time::Duration;

/// 2026-11-20T16:00:00Z: between the two results.
pub(crate) const MADE: Duration = Duration::from_secs(1_795_190_400);

/// The results of before and of after, which is faster by what its clock is.
pub(crate) fn records() -> [Record; 2] {
    let slow = Pattern { seconds: 27.9, hertz: 1.2e9, ..QUIET };
    let of = |pattern, began: &str, settings: [(&str, &str); 4]| {
        let mut record = Record { began: began.to_owned(), ..moment(pattern) };
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        record.machine.0 = settings.into();
        record
    };
    let machine = |governor, firmware| {
        [
            ("cpu microcode", "0x2006e05"),
            ("firmware version", firmware),
            ("kernel release", "6.18.5"),
            ("scaling_governor", governor),
        ]
    };
    [
        of(slow, "2026-11-20T15:43:05Z", machine("powersave", "2.12.1")),
        of(QUIET, "2026-11-20T16:20:00Z", machine("performance", "2.12.1")),
    ]
}

/// What the change was, as the journal has it.
pub(crate) fn change() -> Change {
    let path = |policy| {
        Target::control(format!("/sys/devices/system/cpu/cpufreq/policy{policy}/scaling_governor"))
    };
    let writes: Vec<Write> =
        (0..2).map(|it| Write::of(path(it), "powersave", "performance")).collect();
    let place = |write: &Write| WrittenPlace {
        setting: "governor".to_owned(),
        write: write.clone(),
        standing: Standing::InForce,
    };
    let command = ["apply", "governor=performance"].map(str::to_owned).to_vec();
    let recorded = Recorded {
        id: "0007".to_owned(),
        when: MADE,
        boot: "b".to_owned(),
        command,
        brings_faults_back: false,
        state: ChangeState::Kept,
    };
    let places = writes.iter().map(place).collect();
    let done = || WriteOutcome::Done { read_back: Some("performance".to_owned()) };
    let group = Group {
        setting: "governor".to_owned(),
        value: "performance".to_owned(),
        canary: false,
        writes,
    };
    Change {
        shown: ChangeStanding { recorded, is_of_this_boot: true, places, guard: None },
        groups: vec![RecordedGroup { group, fates: vec![done(), done()] }],
        lines: ChangeLines {
            path: PathBuf::from("/var/lib/fullclock/journal"),
            text: b"{\"step\":{\"is\":\"kept\",\"change\":\"0007\"}}\n".to_vec(),
            n_lines: 1,
            n_before: 42,
            pattern: "\"change\":\"0007\"".to_owned(),
        },
        same_command: vec![MADE],
    }
}

/// What `compare` says of them.
pub(crate) fn compared([before, after]: &[Record; 2]) -> ([Side<'_>; 2], Comparison) {
    let side = |name, record| Side { name, record, arm: 0 };
    let sides = [side("before", before), side("after", after)];
    let [a, b] = sides;
    (sides, between(a, b, &Terms::of(1)).unwrap())
}

/// The files of two results.
pub(crate) fn data() -> Vec<Data> {
    let of = |name: &str| Data {
        name: format!("/tmp/{name}"),
        size: 12_345,
        sha256: sha256(name.as_bytes()),
    };
    vec![of("before.json"), of("after.json")]
}

/// What `look` sees of the certificate of two results and a change.
pub(crate) fn with<T>(
    records: &[Record; 2],
    change: Option<&Change>,
    look: impl FnOnce(&Certificate<'_>) -> T,
) -> T {
    let (sides, comparison) = compared(records);
    let data = data();
    let written = "2026-11-20T17:00:00.000Z".to_owned();
    look(&Certificate::of(sides, &comparison, &data, change, written, "db7".to_owned()).unwrap())
}
