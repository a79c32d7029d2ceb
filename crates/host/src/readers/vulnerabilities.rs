//! Reads what the kernel does about faults of the processor.

use crate::Source;
use facts::system::vulnerabilities::{FOLDER, Vulnerability};
use facts::{Fact, parse};

pub(super) fn read(source: &dyn Source) -> Fact<Vec<Vulnerability>> {
    let of = |name: String| {
        let state = source.parsed(&format!("{FOLDER}/{name}"), parse::line);
        Vulnerability { name, state }
    };
    Ok(source.list(FOLDER)?.into_iter().map(of).collect())
}
