//! Writes a tape.
//!
//! Each sample is one write(2) at the end of the file, so that a program that is killed leaves a tape without its
//! last sample at worst. Nothing is synced before the end: on a database server whose disk is busy, fdatasync(2)
//! would hold up the samples for seconds, and spoil what is being measured. What a crash of the whole machine
//! costs is therefore what the kernel had not written back: by default the last 30 seconds
//! (vm.dirty_expire_centisecs).

use super::packed;
use crate::Recording;
use facts::tape::frame::{Kind, frame};
use facts::tape::{Encoder, FIRST_LINE, Label, Sample, TooLarge};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// A tape that is being written.
#[derive(Debug)]
pub struct Writer {
    file: File,
    /// As the user wrote it.
    path: String,
    /// The length of what is whole.
    length: u64,
    encoder: Encoder,
}

/// What to do where there is a file already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Leave it alone.
    Refuse,
    /// Put another in its place: what has the old one open goes on with it.
    Replace,
}

/// Why a sample, or a whole tape, is not written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is a file already.
    #[error("{path} exists already: name another file, or say that it may be replaced")]
    Exists {
        /// As the user wrote it.
        path: String,
    },
    /// A device, a pipe or a folder.
    #[error("{path} is no regular file, and only into one can be recorded")]
    NotAFile {
        /// As the user wrote it.
        path: String,
    },
    /// The operating system's refusal.
    #[error("cannot write to {path}: {error}")]
    Io {
        /// As the user wrote it.
        path: String,
        /// The operating system's words.
        error: io::Error,
    },
    /// A sample that no tape can hold.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

impl Writer {
    /// Starts a tape of the host whose answers `recording` holds: those that [`view`](crate::view) asked for, so that the tape
    /// can be audited. This process is its observer.
    ///
    /// The file is readable by its owner only: it names processes, control groups and settings that the host may
    /// show to root alone.
    pub fn create(
        path: &Path,
        existing: Existing,
        recording: &Recording<'_>,
    ) -> Result<Writer, RecordError> {
        let name = path.display().to_string();
        let file = open(path, &name, existing)?;
        Writer::on(file, name, recording)
    }

    /// The same in a file that is empty, and called `name` in errors.
    pub fn on(file: File, name: String, recording: &Recording<'_>) -> Result<Writer, RecordError> {
        Writer::start(file, name, &recording.capture())
    }

    /// Starts a tape in an empty file.
    pub(super) fn start(file: File, path: String, capture: &str) -> Result<Writer, RecordError> {
        let mut writer = Writer { file, path, length: 0, encoder: Encoder::new() };
        let label = Label {
            capture: packed(capture).map_err(|error| writer.error(error))?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            observer: std::process::id(),
        };
        let mut start = FIRST_LINE.as_bytes().to_vec();
        start.extend(frame(Kind::Label, 0, &label.payload()).ok_or(TooLarge)?);
        writer.append_bytes(&start)?;
        Ok(writer)
    }

    /// Appends a sample. After an error the tape is what it was, lacks this sample, says so to its readers, and
    /// can be appended to: a full disk may have room later.
    pub fn append(&mut self, sample: &Sample) -> Result<(), RecordError> {
        let frame = self.encoder.frame(sample)?;
        self.append_bytes(&frame).inspect_err(|_| self.encoder.restart())
    }

    /// The length of the tape in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Waits until the disk has everything.
    pub fn finish(self) -> Result<(), RecordError> {
        self.file.sync_data().map_err(|error| self.error(error))
    }

    /// The file, to be exchanged for one on a full disk.
    #[cfg(test)]
    pub(super) fn file_mut(&mut self) -> &mut File {
        &mut self.file
    }

    fn append_bytes(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        if let Err(error) = self.file.write_all_at(bytes, self.length) {
            #[expect(
                clippy::let_underscore_must_use,
                reason = "a reader steps over half a frame; the first error is the one to tell"
            )]
            let _ = self.file.set_len(self.length);
            return Err(self.error(error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn error(&self, error: io::Error) -> RecordError {
        RecordError::Io { path: self.path.clone(), error }
    }
}

#[expect(clippy::disallowed_methods, reason = "the file that the user requested")]
fn open(path: &Path, name: &str, existing: Existing) -> Result<File, RecordError> {
    const OWNER_ONLY: u32 = 0o600;
    let create =
        |path: &Path| OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path);
    let error = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => RecordError::Exists { path: name.to_owned() },
        _ => RecordError::Io { path: name.to_owned(), error },
    };
    match existing {
        Existing::Replace if path.exists() => {
            if !path.is_file() {
                return Err(RecordError::NotAFile { path: name.to_owned() });
            }
            // A link stays, and leads to the tape.
            let path = path.canonicalize().map_err(error)?;
            // Emptied, it would keep its mode, and whoever has it open could go on reading.
            std::fs::remove_file(&path).and_then(|()| create(&path)).map_err(error)
        }
        Existing::Refuse | Existing::Replace => create(path).map_err(error),
    }
}
