//! The workloads there are.

use crate::Style;
use crate::page::{BOLD, Page};
use lab::workloads::WORKLOADS;

/// Every workload with its title and what it takes.
pub fn list(style: Style) -> String {
    const COLUMN: usize = 16;
    let mut page = Page::new(style);
    for workload in WORKLOADS {
        let id = page.paint(BOLD, &format!("{:COLUMN$}", workload.id));
        let takes: Vec<&str> = workload.takes.iter().map(|it| it.option()).collect();
        page.line(&format!("{id}{}", workload.title));
        page.labelled(COLUMN, "", &format!("takes {}", takes.join(", ")));
    }
    page.line("");
    page.paragraph(
        0,
        "`fullclock explain WORKLOAD` says what it does, what moves its figures and what it cannot know.",
    );
    page.finish()
}
