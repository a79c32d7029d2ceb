//! Folders that this program keeps its own files in: journal, results, tokens, sensor records.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// What is in them says what a machine is, what it runs and who may ask it: they are for their owner alone.
const MODE: u32 = 0o700;

/// Creates the folder, and those on the way to it that are absent, for their owner alone. One that exists is left as it is.
pub fn create(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(MODE).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_folder_and_those_above_it_are_created_for_their_owner_alone() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("state/results");
        create(&path).unwrap();
        for created in [&path, path.parent().unwrap()] {
            assert_eq!(created.metadata().unwrap().mode() & 0o7777, 0o700);
        }
        create(&path).unwrap();
    }
}
