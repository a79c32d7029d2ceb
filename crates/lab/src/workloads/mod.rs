//! Every workload, one file each.

mod cpu_loop;

use crate::workload::Workload;

/// In the order in which they are listed.
pub const WORKLOADS: &[Workload] = &[cpu_loop::WORKLOAD];

/// The workload of that id.
pub fn find(id: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|it| it.id == id)
}
