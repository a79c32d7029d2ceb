//! Results of strangers: whatever the file holds, it is refused, or what is said of it ends.

use lab::compare::{Side, Terms};
use lab::comparison::{between, within};
use lab::summary::summary;
use std::path::Path;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(record) = lab::store::read_from(Path::new("fuzz"), bytes) else { return };
    for arm in 0..record.arms.len() {
        let _ = summary(&record, arm);
    }
    let _ = within(&record);
    if !record.arms.is_empty() {
        let side = |name| Side { name, record: &record, arm: 0 };
        let _ = between(side("A"), side("B"), &Terms::of(1));
    }
    let _ = lab::peers::of_record(&record);
}
