//! Results that are called alike: of one workload, by their names alone.

use super::{RESULT, folder};
use std::path::{Path, PathBuf};

/// The results in the folder `place` whose ids differ from this one by the moment only, the latest first; none where the folder
/// cannot be read. No index is made and no file is read: `20261120T154305Z-memory.json` is like `20261121T090000Z-memory-2`.
pub fn results_like(place: &Path, id: &str) -> Vec<PathBuf> {
    let Some((_, called)) = parts(id) else { return Vec::new() };
    let is_like = |it: &PathBuf| {
        let stem = it.file_stem().and_then(|it| it.to_str());
        stem.and_then(parts).is_some_and(|it| it.1 == called)
    };
    let mut found = folder::files(place, RESULT).unwrap_or_default();
    found.retain(is_like);
    found.reverse();
    found
}

/// The moment of an id, and what it is of; without the number that it has where several began at one moment.
fn parts(id: &str) -> Option<(&str, &str)> {
    const DIGITS_AND_T: usize = 15;
    let (moment, called) = id.split_once("Z-")?;
    let is_moment =
        moment.len() == DIGITS_AND_T && moment.bytes().all(|it| it.is_ascii_digit() || it == b'T');
    let counted = called.rsplit_once('-').filter(|it| it.1.parse::<u32>().is_ok());
    is_moment.then_some((moment, counted.map_or(called, |it| it.0)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "makes files to find")]

    use super::*;

    #[test]
    fn results_are_found_by_what_they_are_called_the_latest_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "20261120T154305Z-memory.json",
            "20261121T154305Z-memory-2.json",
            "20261122T154305Z-memory.trials",
            "20261122T154305Z-memory-pair.json",
            "20261122T154305Z-timer.json",
            "memory.json",
            "yesterdayZ-memory.json",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = |id: &str| -> Vec<String> {
            let paths = results_like(folder.path(), id);
            paths.iter().map(|it| it.file_stem().unwrap().to_string_lossy().into_owned()).collect()
        };
        let of_memory = ["20261121T154305Z-memory-2", "20261120T154305Z-memory"];
        assert_eq!(found("20270101T000000Z-memory"), of_memory);
        assert_eq!(found("20270101T000000Z-memory-7"), of_memory);
        assert_eq!(found("20270101T000000Z-timer").len(), 1);
        assert!(found("memory").is_empty() && found("20270101T000000Z-commit").is_empty());
        assert!(results_like(Path::new("/nonexistent"), "20270101T000000Z-timer").is_empty());
    }
}
