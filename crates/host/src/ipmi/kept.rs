//! Sensor records that were fetched once, in a file.
#![expect(clippy::disallowed_methods, reason = "keeps a file of its own")]

use super::stamp::Stamp;
use crate::{state_folder, trusted_file};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What stands in a file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    format: u32,
    pub(super) stamp: Stamp,
    /// Each whole.
    pub(super) records: Vec<Vec<u8>>,
}

/// Of the file. Another one is not read.
const FORMAT: u32 = 1;

/// 65,535 records (IPMI 2.0, 33.11: a record's number has 16 bits) of up to 5 + 255 bytes, each up to four characters of JSON.
const LARGEST: usize = 65_535 * 260 * 4;

impl Kept {
    pub(super) fn new(stamp: Stamp, records: Vec<Vec<u8>>) -> Kept {
        Kept { format: FORMAT, stamp, records }
    }

    /// The file of a controller's records.
    fn path(folder: &Path, stamp: &Stamp) -> PathBuf {
        let name = stamp.guid.as_deref().unwrap_or("unnamed");
        folder.join(format!("ipmi-{name}.records"))
    }

    /// The records that have this stamp.
    ///
    /// Errors: in words that go behind "not kept: ".
    pub(super) fn read(folder: &Path, stamp: &Stamp) -> Result<Kept, String> {
        let path = Kept::path(folder, stamp);
        let read = trusted_file::read(&path, LARGEST).map_err(|why| why.to_string())?;
        let bytes = read.ok_or("this is the first time")?;
        match serde_json::from_slice::<Kept>(&bytes) {
            Ok(kept) if kept.format != FORMAT => {
                Err(format!("{} was written by another version", path.display()))
            }
            Ok(kept) if kept.stamp != *stamp => Err("they have changed since".to_owned()),
            Ok(kept) => Ok(kept),
            Err(why) => Err(format!("{} is damaged: {why}", path.display())),
        }
    }

    /// Writes them, so that the file is there with all of them or as it was.
    pub(super) fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        state_folder::create(folder)?;
        let path = Kept::path(folder, &self.stamp);
        // A name of its own: two of these programs may write at the same time.
        let new = path.with_extension(format!("{}.new", std::process::id()));
        fs::remove_file(&new).ok();
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(serde_json::to_string(self)?.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn stamp() -> Stamp {
        Stamp {
            guid: Some("5a".repeat(16)),
            device: "maker 0".to_owned(),
            n_records: Some(2),
            last_addition: Some(0x6000_0000),
            last_erase: None,
            is_unset: false,
        }
    }

    fn kept() -> Kept {
        Kept::new(stamp(), vec![vec![1, 0, 0x51, 1, 0], vec![2, 0, 0x51, 1, 1, 0xff]])
    }

    /// Why they are not had.
    fn why(folder: &Path, stamp: &Stamp) -> String {
        Kept::read(folder, stamp).unwrap_err()
    }

    #[test]
    fn what_was_written_is_read_back_while_its_stamp_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        assert_eq!(why(&folder, &stamp()), "this is the first time");
        let path = kept().write(&folder).unwrap();
        assert_eq!(Kept::read(&folder, &stamp()), Ok(kept()));
        let changed = Stamp { last_erase: Some(0x6000_0001), ..stamp() };
        assert_eq!(why(&folder, &changed), "they have changed since");
        // Over what is there, and nothing else is left.
        kept().write(&folder).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_damaged_or_others_wrote_or_another_version_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = kept().write(folder.path()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let change = |text: &str| {
            fs::write(&path, text).unwrap();
            why(folder.path(), &stamp())
        };
        assert!(change(&text[..text.len() / 2]).contains("is damaged"));
        assert!(change(&text.replace("\"format\":1", "\"format\":2")).contains("another version"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(change(&text).contains("others can write it"));
    }
}
