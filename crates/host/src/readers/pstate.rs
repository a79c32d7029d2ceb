//! Reads what intel_pstate and amd-pstate say of themselves.

use crate::Source;
use facts::cpu::pstate::{AmdPstate, IntelPstate, Pstate};
use facts::parse;

pub(super) fn read(source: &dyn Source) -> Pstate {
    let intel = |file: &str| format!("{}/{file}", IntelPstate::FOLDER);
    let amd = |file: &str| format!("{}/{file}", AmdPstate::FOLDER);
    Pstate {
        intel: IntelPstate {
            status: source.parsed(&intel("status"), parse::line),
            no_turbo: source.parsed(&intel("no_turbo"), parse::switch),
            max_perf_pct: source.parsed(&intel("max_perf_pct"), parse::number),
            min_perf_pct: source.parsed(&intel("min_perf_pct"), parse::number),
            hwp_dynamic_boost: source.parsed(&intel("hwp_dynamic_boost"), parse::switch),
        },
        amd: AmdPstate {
            status: source.parsed(&amd("status"), parse::line),
            prefcore: source.parsed(&amd("prefcore"), parse::line),
        },
    }
}
