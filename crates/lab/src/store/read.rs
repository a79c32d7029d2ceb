//! Reading a result, finished or not.
#![expect(clippy::disallowed_methods, reason = "reads results that the user names")]

use super::input::{Input, end_of_lines, of_bytes};
use crate::doubt::Doubt;
use crate::record::{Arm, FORMAT, Record};
use crate::trial::Trial;
use facts::secrets;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::error::Category;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Why a file is no result.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct Unreadable {
    path: PathBuf,
    why: Why,
}

impl Unreadable {
    /// A file that cannot be read.
    pub(super) fn io(path: &Path, why: io::Error) -> Unreadable {
        Unreadable { path: path.to_owned(), why: Why::Io(why) }
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.path.file_name()?.to_str()
    }
}

#[derive(Debug, thiserror::Error)]
enum Why {
    #[error("{0}")]
    Io(io::Error),
    #[error("is no result of fullclock bench: {0}")]
    Syntax(serde_json::Error),
    #[error(
        "was written by a later version of fullclock (format {0}; this one reads up to {FORMAT})"
    )]
    Later(u32),
    #[error("is cut short, and no trial of it can be read")]
    Cut,
    #[error("is larger than 1 GiB, which no result is")]
    Large,
    #[error("names arm {0}, and has {1}")]
    Arm(usize, usize),
    #[error("holds a number that is none, in trial {0}")]
    NotFinite(u32),
}

/// The result in a file. One that was cut short, or is still being written, has the trials that are whole and the doubts
/// that they raise, and is not complete.
pub fn read(path: &Path) -> Result<Record, Unreadable> {
    let parsed = File::open(path).map_err(Why::Io).and_then(|file| parse_file(&file));
    parsed.map(without_secrets).map_err(|why| Unreadable { path: path.to_owned(), why })
}

/// The same from bytes that were read already: a pipe can be read only once.
pub fn read_from(path: &Path, bytes: &[u8]) -> Result<Record, Unreadable> {
    let parsed = parse(&|| Ok(of_bytes(bytes))).map(without_secrets);
    parsed.map_err(|why| Unreadable { path: path.to_owned(), why })
}

/// The arms of the result at `path`, whose trials are skipped; `None` where it cannot be read.
pub fn read_arms(path: &Path) -> Option<Vec<Arm>> {
    #[derive(Deserialize)]
    struct Head {
        arms: Vec<Arm>,
    }
    let file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let Head { arms } = serde_json::from_reader(&mut beginning(&file, length).ok()?).ok()?;
    Some(without_secrets(Record::of(arms)).arms)
}

/// The result in the lines of an opened journal that have an end, and how long those are together, in bytes. It is as it was
/// written, to be resumed: a plan that holds a password is refused then, and one with a mark in its place would be run.
pub(super) fn whole_lines(path: &Path, file: &File) -> Result<(Record, u64), Unreadable> {
    let read = end_of_lines(file).map_err(Why::Io);
    let read =
        read.and_then(|length| Ok((parse_as_written(&|| beginning(file, length))?.0, length)));
    read.map_err(|why| Unreadable { path: path.to_owned(), why })
}

/// The trials of the journal at `path`, which may still be written.
pub(super) fn kept_trials(path: &Path) -> Result<Vec<Trial>, Unreadable> {
    let parsed = File::open(path).map_err(Why::Io).and_then(|file| {
        let length = file.metadata().map_err(Why::Io)?.len();
        parse_as_written(&|| beginning(&file, length))
    });
    let parsed = parsed.map(|(record, _)| without_secrets(record).trials);
    parsed.map_err(|why| Unreadable { path: path.to_owned(), why })
}

/// What stands in front of the trials of a journal, and how long it is.
pub(super) fn head(path: &Path, file: &mut File) -> Result<(Record, u64), Unreadable> {
    let mut line = Vec::new();
    let read = BufReader::new(file).take(LARGEST).read_until(b'\n', &mut line);
    let parsed = read.map_err(Why::Io).and_then(|_| parse_as_written(&|| Ok(of_bytes(&line))));
    let (record, _) = parsed.map_err(|why| Unreadable { path: path.to_owned(), why })?;
    let record = without_secrets(Record { doubts: Vec::new(), ..record });
    Ok((record, line.len() as u64))
}

/// The trials in whole lines of a journal, after its head.
pub(super) fn trials(path: &Path, lines: &[u8]) -> Result<Vec<Trial>, Unreadable> {
    let each = lines.split(|it| *it == b'\n').filter(|it| !it.is_empty());
    let parsed: Result<_, _> = each.map(serde_json::from_slice).collect();
    parsed.map_err(|why| Unreadable { path: path.to_owned(), why: Why::Syntax(why) })
}

/// A trial takes some kilobytes.
const LARGEST: u64 = 1 << 30;

/// A result of hours is larger than what it is in memory: it is read piece by piece.
fn parse_file(file: &File) -> Result<Record, Why> {
    let about = file.metadata().map_err(Why::Io)?;
    if about.is_file() {
        return parse(&|| beginning(file, about.len()));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(Why::Io)?;
    if bytes.len() as u64 > LARGEST { Err(Why::Large) } else { parse(&|| Ok(of_bytes(&bytes))) }
}

/// The first `length` bytes of a file.
fn beginning(mut file: &File, length: u64) -> Result<Input<'_>, Why> {
    if length > LARGEST {
        return Err(Why::Large);
    }
    file.rewind().map_err(Why::Io)?;
    Ok(BufReader::new(Box::new(file.take(length))))
}

/// Only the version: everything else may differ in a later one.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// A result, with the doubts that the trials of an unfinished one raise.
fn parse<'a>(open: &dyn Fn() -> Result<Input<'a>, Why>) -> Result<Record, Why> {
    let (mut record, is_journal) = parse_as_written(open)?;
    if is_journal {
        record.doubts.extend(crate::doubts::of(&record));
        record.doubts.push(Doubt::CutShort.into());
    }
    Ok(record)
}

/// A result as it was written, and whether it is a journal. What `open` gives is read once, and once more where it is no result
/// of this version.
fn parse_as_written<'a>(open: &dyn Fn() -> Result<Input<'a>, Why>) -> Result<(Record, bool), Why> {
    let mut input = open()?;
    let first = first_value::<Record>(&mut input);
    let format = match &first {
        Ok(record) => record.format,
        Err(_) => first_value::<Version>(&mut open()?)?.format,
    };
    if format > FORMAT {
        return Err(Why::Later(format));
    }
    let mut record = first?;
    let is_journal = record.trials.is_empty();
    add_lines(&mut record.trials, &mut input)?;
    let mut record = checked(record)?;
    record.is_complete &= !is_journal;
    Ok((record, is_journal))
}

/// A result, over many lines where another program has laid it out, or the head of a journal.
fn first_value<T: DeserializeOwned>(input: &mut Input<'_>) -> Result<T, Why> {
    let value = T::deserialize(&mut serde_json::Deserializer::from_reader(&mut *input));
    value.map_err(|error| match error.classify() {
        // serde_json reports `1.` at the end of the input as a syntax error, not as an early end.
        Category::Syntax if input.fill_buf().is_ok_and(<[u8]>::is_empty) => Why::Cut,
        _ => cut(error),
    })
}

/// The trials of a journal, of which each line is one.
fn add_lines(trials: &mut Vec<Trial>, input: &mut Input<'_>) -> Result<(), Why> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line).map_err(Why::Io)?;
    if !line.trim_ascii().is_empty() {
        return Err(Why::Syntax(serde_json::Error::custom("trailing characters")));
    }
    loop {
        line.clear();
        input.read_until(b'\n', &mut line).map_err(Why::Io)?;
        if line.is_empty() {
            return Ok(());
        }
        match serde_json::from_slice::<Trial>(&line) {
            Ok(trial) => trials.push(trial),
            // The line that was being written when the program ended; a machine that lost its power may leave zeros for it.
            Err(_) if !line.ends_with(b"\n") => return Ok(()),
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(error) => return Err(Why::Syntax(error)),
        }
    }
}

fn cut(error: serde_json::Error) -> Why {
    match error.classify() {
        Category::Eof => Why::Cut,
        Category::Io => Why::Io(error.into()),
        Category::Syntax | Category::Data => Why::Syntax(error),
    }
}

/// Earlier versions kept passwords that this one knows by their spelling.
fn without_secrets(mut record: Record) -> Record {
    for arm in &mut record.arms {
        arm.settings = arm.settings.without_secrets();
    }
    let workloads = record.experiment.iter_mut().flat_map(|it| &mut it.design.workloads);
    for workload in workloads {
        *workload = secrets::masked_command(workload).into_owned();
    }
    record
}

/// Everything that the types do not promise.
fn checked(record: Record) -> Result<Record, Why> {
    let n_arms = record.arms.len();
    for trial in &record.trials {
        if trial.arm >= n_arms {
            return Err(Why::Arm(trial.arm, n_arms));
        }
        if (trial.outcome.figures.is_empty() && trial.failed.is_none())
            || trial.outcome.figures.iter().any(|it| !it.value.is_finite())
        {
            return Err(Why::NotFinite(trial.number));
        }
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{record, trial};
    use super::super::{JOURNAL, Journal};
    use super::*;
    use crate::experiment::{Design, Experiment};
    use crate::workload::Settings;

    fn parsed(bytes: &[u8]) -> Result<Record, Why> {
        parse(&|| Ok(of_bytes(bytes)))
    }

    #[test]
    fn a_result_that_ends_anywhere_is_cut_short_and_not_another_file() {
        let whole = record(2);
        let text = serde_json::to_string(&whole).unwrap();
        assert!(text.contains('.'), "a number with a point: {text}");
        for end in 1..text.len() {
            let error = parsed(&text.as_bytes()[..end]).unwrap_err();
            assert!(matches!(error, Why::Cut), "{end}: {error}");
        }
        assert!(matches!(parsed(b"{\"id\": 1.x}").unwrap_err(), Why::Syntax(_)));
    }

    #[test]
    fn a_result_is_read_as_it_was_written_trial_by_trial() {
        let folder = tempfile::tempdir().unwrap();
        let mut written = record(0);
        let mut journal = Journal::begin(folder.path(), &mut written).unwrap();
        for number in 1..=3 {
            written.trials.push(trial(number));
            journal.add(&written).unwrap();
            let read = read(&folder.path().join(format!("x.{JOURNAL}"))).unwrap();
            assert_eq!(read.trials, written.trials);
            assert!(read.doubts.contains(&Doubt::CutShort.into()) && !read.is_complete);
        }
        written.is_complete = true;
        let path = journal.finish(&written).unwrap();
        assert_eq!(read(&path).unwrap(), written);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn two_results_of_one_name_are_both_kept() {
        let folder = tempfile::tempdir().unwrap();
        let begin = || {
            let mut record = record(0);
            Journal::begin(folder.path(), &mut record).unwrap().finish(&record).unwrap();
            record.id
        };
        assert_eq!([begin(), begin()], ["x", "x-2"]);
    }

    #[test]
    fn cut_at_any_byte_a_journal_keeps_every_whole_trial_and_invents_none() {
        let line = |value: String| value + "\n";
        let header = line(serde_json::to_string(&record(0)).unwrap());
        let trials: Vec<String> =
            (1..=3).map(|it| line(serde_json::to_string(&trial(it)).unwrap())).collect();
        let whole = header.clone() + &trials.concat();
        for end in 0..=whole.len() {
            let n_whole = |rest: usize| {
                let mut ends = trials.iter().scan(0, |at, line| {
                    *at += line.len();
                    Some(*at - 1)
                });
                ends.by_ref().take_while(|end| *end <= rest).count()
            };
            match parsed(&whole.as_bytes()[..end]) {
                Ok(read) => {
                    assert_eq!(read.trials.len(), n_whole(end - header.len().min(end)), "at {end}");
                }
                Err(why) => assert!(end < header.len(), "at {end}: {why}"),
            }
        }
    }

    #[test]
    fn a_password_that_an_earlier_version_kept_is_not_read() {
        let dsns = ["postgres://me:s3kr1t@db1/x", "host=db1 password=s3kr1t", "password=s3kr1t"];
        let folder = tempfile::tempdir().unwrap();
        for (dsn, public) in dsns.into_iter().zip(["postgres://me@db1/x", "host='db1'", ""]) {
            let mut kept = record(1);
            let words = ["sh", "-c", "mysql -ps3kr1t x"];
            let command = words.iter().map(|it| (*it).to_owned()).collect();
            kept.arms[0].settings =
                Settings { dsn: Some(dsn.to_owned()), command, ..Settings::default() };
            let workloads = vec![format!("plsql-loop --dsn '{dsn}'")];
            let design = Design { workloads, ..Design::default() };
            kept.experiment = Some(Experiment::of(design, Vec::new(), 1));
            let line = serde_json::to_string(&kept).unwrap() + "\n";
            let path = folder.path().join("x.json");
            std::fs::write(&path, &line).unwrap();
            let head = head(&path, &mut File::open(&path).unwrap()).unwrap().0;
            for read in [read(&path).unwrap(), head] {
                let text = serde_json::to_string(&read).unwrap();
                assert!(!text.contains("s3kr1t"), "{text}");
                let settings = &read.arms[0].settings;
                assert_eq!(settings.dsn.as_deref(), Some(public));
                assert_eq!(settings.command[2], "mysql -p*** x");
                assert_eq!(settings.without_secrets(), *settings);
            }
            // What is run again is what was written.
            let file = File::open(&path).unwrap();
            assert_eq!(whole_lines(&path, &file).unwrap().0.arms, kept.arms);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), line);
        }
    }

    #[test]
    fn a_result_that_another_program_has_laid_out_is_that_result() {
        let written = record(2);
        let text = serde_json::to_string_pretty(&written).unwrap();
        assert_eq!(parsed(text.as_bytes()).unwrap(), written);
    }

    #[test]
    fn a_result_that_says_nothing_of_pieces_ran_its_trials_as_a_whole() {
        let cut = serde_json::to_string(&Record { pieces: 20, ..record(1) }).unwrap();
        let silent = cut.replace(r#""pieces":20,"#, "");
        assert_eq!(parsed(cut.as_bytes()).unwrap().pieces, 20);
        assert!(silent != cut && parsed(silent.as_bytes()).unwrap().pieces == 1);
    }

    #[test]
    fn a_later_version_is_refused_by_name_and_nonsense_by_reason() {
        let error = |text: &str| parsed(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            error(r#"{"format": 9, "strange": []}"#),
            "was written by a later version of fullclock (format 9; this one reads up to 1)"
        );
        assert!(error("elapsed 12.4 s").starts_with("is no result of fullclock bench: "));
        let cut = "is cut short, and no trial of it can be read";
        assert_eq!([error(""), error(r#"{"format": 1, "id": "x"#)], [cut, cut]);
        let mut strange = record(1);
        strange.trials[0].arm = 4;
        assert_eq!(error(&serde_json::to_string(&strange).unwrap()), "names arm 4, and has 1");
    }
}
