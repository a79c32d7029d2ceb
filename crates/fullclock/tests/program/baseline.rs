//! `fullclock baseline` as a user meets it.

use crate::support::{fullclock, is_of, printed, refusal, unwrapped};
use facts::baseline::Part;
use lab::baseline::{History, Measured, Moment, rounded};
use lab::known::Known;
use lab::record::Fingerprint;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The arguments with the folder of the results.
fn of<'a>(folder: &'a Path, arguments: &[&'a str]) -> Vec<&'a str> {
    [&["baseline"], arguments, &["--results", folder.to_str().unwrap()]].concat()
}

/// A boot a day: six with one firmware, then three with another, which is slower by a fifth.
fn kept() -> TempDir {
    let (mut history, mut file) = (History::default(), Vec::new());
    for day in 1..=9_u32 {
        let (bios, level) = if day <= 6 { ("2.1", 2713.0) } else { ("2.3", 2197.0) };
        let trials = |part: Part| {
            let value = |trial: u32| {
                let wiggle = f64::from((trial * 7 + day * 3) % 5) - 2.0;
                rounded(part.speed(level) * (1.0 + 0.0008 * wiggle))
            };
            (part, Known::Value((0..8).map(value).collect()))
        };
        let measured = Known::Value(Measured(Part::ALL.into_iter().map(trials).collect()));
        let moment = Moment {
            boot: format!("boot-{day}"),
            at: format!("2026-05-{day:02}T08:00:00.000Z"),
            up_s: 900,
        };
        let settings = [("firmware version".to_owned(), bios.to_owned())];
        let machine = Fingerprint(settings.into_iter().collect());
        file.extend(history.add(moment, &machine, measured).unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("baseline")).unwrap();
    fs::write(folder.path().join("baseline/history.jsonl"), file).unwrap();
    folder
}

#[test]
fn the_change_that_made_a_machine_slower_is_named() {
    let folder = kept();
    let text = printed(&of(folder.path(), &["diff"]));
    assert!(text.contains("BIOS 2.1 -> 2.3 on 2026-05-07: single-core speed 19"), "{text}");
    let since = printed(&of(folder.path(), &["diff", "2026-05-08"]));
    assert!(since.contains("Nothing changed since 2026-05-08"), "{since}");
    let page = printed(&of(folder.path(), &["diff", "1", "--format", "html"]));
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("BIOS 2.1 -&gt; 2.3"), "{page}");
    let rows = printed(&of(folder.path(), &["list", "-n", "2", "--csv"]));
    assert_eq!(rows.lines().count(), 9, "{rows}");
}

#[test]
fn json_is_what_the_schemas_say() {
    let folder = kept();
    for (arguments, schema) in [
        (&["list", "--json"][..], include_str!("../../../../schemas/baseline-list-1.json")),
        (&["diff", "--json"], include_str!("../../../../schemas/baseline-diff-1.json")),
        (&["diff", "9", "--json"], include_str!("../../../../schemas/baseline-diff-1.json")),
    ] {
        let value = serde_json::from_str(&printed(&of(folder.path(), arguments))).unwrap();
        is_of(schema, &value);
    }
}

#[test]
fn a_damaged_history_is_reported_and_no_byte_of_it_is_lost() {
    let folder = kept();
    let file = folder.path().join("baseline/history.jsonl");
    let mut bytes = fs::read(&file).unwrap();
    bytes.extend(b"\xff{\"line\":\"baseline\",\"v\":1,\"numb");
    fs::write(&file, &bytes).unwrap();
    let text = printed(&of(folder.path(), &["list"]));
    assert!(text.contains("Line 12 of ") && text.contains("it breaks off"), "{text}");
    let output = fullclock(&of(folder.path(), &["--wait", "1ms", "--json"])).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    assert!(fs::read(&file).unwrap().starts_with(&bytes));
    let listed: Value =
        serde_json::from_str(&printed(&of(folder.path(), &["list", "--json"]))).unwrap();
    assert_eq!(listed["baselines"][0]["number"], 10, "{listed:#}");
}

#[test]
fn what_is_no_file_in_the_historys_place_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("baseline");
    fs::create_dir(&place).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let (fifo, cwd) = (rustix::fs::FileType::Fifo, rustix::fs::CWD);
    for name in ["history.jsonl", "standing.json"] {
        rustix::fs::mknodat(cwd, place.join(name), fifo, mode, 0).unwrap();
    }
    for arguments in [&["list"][..], &["diff"], &["--wait", "1ms"]] {
        let said = refusal(&of(folder.path(), arguments));
        assert!(said.contains("a pipe is in its place: move that away"), "{arguments:?}: {said}");
    }
    let config = folder.path().join("config.toml");
    fs::write(&config, format!("[folders]\nresults = \"{}\"\n", folder.path().display())).unwrap();
    let audit = fullclock(&["audit", "-v", "--config", config.to_str().unwrap()]).output().unwrap();
    let said =
        String::from_utf8_lossy(&audit.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(matches!(audit.status.code(), Some(0 | 1)), "{audit:?}");
    assert!(said.contains("slower-than-before"), "{said}");
}

#[test]
fn a_time_or_a_number_from_which_on_there_is_nothing_is_refused_with_what_there_is() {
    let folder = kept();
    let refused = |since: &str| refusal(&of(folder.path(), &["diff", since]));
    let kept = "baselines 1 to 9 are kept, of 2026-05-01 to 2026-05-09";
    for since in ["99", "0", "2026-05-10", "1h"] {
        assert!(refused(since).contains(kept), "{since}: {}", refused(since));
    }
    for since in ["-1", "tomorrow", "", "2026-02-30"] {
        assert!(
            refused(since).contains("number of a baseline (41)"),
            "{since}: {}",
            refused(since)
        );
    }
    assert!(printed(&of(folder.path(), &["diff", "9"])).contains("Nothing changed since 9"));
}

/// A line of each kind of damage, among good ones.
#[test]
fn damage_of_every_kind_is_counted_and_nothing_is_printed_that_cannot_be() {
    let folder = kept();
    let file = folder.path().join("baseline/history.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let text = text
        .replacen("\"number\":2", "\"number\":18446744073709551615", 1)
        .replacen("2026-05-03T08:00:00.000Z", "not-a-date-at-all", 1)
        .replacen("\"number\":5", "\"number\":4", 1)
        .replacen("\"number\":6,\"boot\"", "\"number\":6,\"boat\"", 1)
        .replacen("2026-05-08T08:00:00.000Z", "1994-05-08T08:00:00.000Z", 1)
        .replacen("\"single-core\":[2197", "\"single-core\":[-2197", 1);
    let noise: Vec<u8> = b"\x00\xff\xfe\n".repeat(30);
    fs::write(&file, [text.as_bytes(), &noise].concat()).unwrap();
    let before = fs::read(&file).unwrap();
    let output = printed(&of(folder.path(), &["list", "-n", "50"]));
    let words = unwrapped(&output);
    for told in [
        "cannot be read: its number is none that a baseline has",
        "Baseline 3 (line 4 of ",
        "is another baseline 4: both count",
        "missing field `boot`",
        "its single-core speed has a value that no machine has",
        "Baseline 8 (line 10 of ",
        "more lines of ",
    ] {
        assert!(words.contains(told), "{told}: {words}");
    }
    for csv in [
        output,
        printed(&of(folder.path(), &["list", "--csv"])),
        printed(&of(folder.path(), &["diff", "--csv"])),
    ] {
        for number in ["18446744073709551615", "-2197", "not-a-date", "1994"] {
            assert!(!csv.contains(number), "{number}: {csv}");
        }
    }
    for (arguments, schema) in [
        (&["list", "--json"][..], include_str!("../../../../schemas/baseline-list-1.json")),
        (&["diff", "1", "--json"], include_str!("../../../../schemas/baseline-diff-1.json")),
    ] {
        is_of(schema, &serde_json::from_str(&printed(&of(folder.path(), arguments))).unwrap());
    }
    let taken = fullclock(&of(folder.path(), &["--wait", "1ms"])).output().unwrap();
    assert!(matches!(taken.status.code(), Some(0 | 1)), "{taken:?}");
    assert!(fs::read(&file).unwrap().starts_with(&before));
}

/// Whether this machine is idle while tests run is for nobody to say: both ends are tried.
#[test]
fn this_boot_is_kept_with_its_speed_or_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let output = fullclock(&of(folder.path(), &["--wait", "1ms", "--json"])).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_of(include_str!("../../../../schemas/baseline-1.json"), &value);
    let is_measured = value["kept"] == "now";
    assert_eq!(output.status.code(), Some(if is_measured { 0 } else { 1 }), "{value:#}");
    assert_eq!(value["baseline"]["not_measured"].is_null(), is_measured);
    assert!(value["settings"]["kernel release"].is_string(), "{value:#}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str]| refusal(&of(folder.path(), arguments));
    assert!(refused(&["diff", "yesterday"]).contains("number of a baseline"));
    assert!(refusal(&["baseline", "--root", "/"]).contains("--results FOLDER"));
    assert!(refusal(&["baseline", "--wait", "soon"]).contains("not a time"));
    assert!(refused(&["--again", "list"]).contains("neither list nor diff"));
    let text = printed(&of(folder.path(), &["list"]));
    assert!(text.contains("No baselines."), "{text}");
}
