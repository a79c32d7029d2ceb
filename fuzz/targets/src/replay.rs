//! Runs every target over its seeds, its kept corpus and simple mutations of both.
//!
//! The same inputs in the same order each time. An input is written to `target/fuzz/replay/TARGET`
//! before it runs and stays there if the target panics, aborts or hangs. To keep it, copy it into
//! `fuzz/seeds/TARGET`.

#![expect(clippy::disallowed_methods, reason = "tests that read the inputs of the repository")]

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fastrand::Rng;
use flate2::read::GzDecoder;

use super::{TARGETS, Target};

/// Mutations of each seed, and of each input of the corpus.
const MUTATIONS: (u64, u64) = (500, 2);

struct Input {
    /// Where it comes from, for a reader.
    origin: String,
    bytes: Vec<u8>,
}

/// Runs one target over all its inputs; panics if the target does.
fn replay(name: &str) {
    let target = TARGETS.iter().find(|it| it.name == name).unwrap();
    let inputs = inputs(name).unwrap();
    let folder = workspace().join("target/fuzz/replay");
    if let Err(failure) = run_each(target, &inputs, &folder) {
        panic!("{failure}");
    }
}

/// Runs inputs one after the other, each written into `folder` first. Error: the first that panics.
fn run_each(target: &Target, inputs: &[Input], folder: &Path) -> Result<(), String> {
    let place = folder.join(target.name);
    let cannot = |error: io::Error| format!("{}: {error}", place.display());
    fs::create_dir_all(folder).map_err(cannot)?;
    let file = File::create(&place).map_err(cannot)?;
    for Input { origin, bytes } in inputs {
        file.set_len(0).and_then(|()| file.write_all_at(bytes, 0)).map_err(cannot)?;
        if catch_unwind(AssertUnwindSafe(|| (target.run)(bytes))).is_err() {
            return Err(format!(
                "fuzz target '{}' panicked (message above) with {origin}, kept as {}",
                target.name,
                place.display()
            ));
        }
    }
    fs::remove_file(&place).map_err(cannot)
}

fn inputs(name: &str) -> io::Result<Vec<Input>> {
    let (seeds, kept) = (seeds(name)?, kept(name)?);
    let sources: Vec<&[u8]> = seeds.iter().chain(&kept).map(|it| &*it.bytes).collect();
    let numbers = seeds.iter().map(|_| MUTATIONS.0).chain(kept.iter().map(|_| MUTATIONS.1));
    let mut mutations = Vec::new();
    for (input, n) in seeds.iter().chain(&kept).zip(numbers) {
        for number in 0..n {
            let origin = format!("mutation {number} of {}", input.origin);
            mutations.push(Input { origin, bytes: mutation(&input.bytes, &sources, number) });
        }
    }
    Ok(seeds.into_iter().chain(kept).chain(mutations).collect())
}

/// The inputs in the target's folder of seeds.
fn seeds(name: &str) -> io::Result<Vec<Input>> {
    let folder = workspace().join("fuzz/seeds").join(name);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut seeds = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let file = path.file_name().unwrap_or_default().display();
        seeds.push(Input { origin: format!("seed {name}/{file}"), bytes: fs::read(&path)? });
    }
    seeds.sort_by(|a, b| a.origin.cmp(&b.origin));
    Ok(seeds)
}

/// The inputs that long runs of libFuzzer kept.
fn kept(name: &str) -> io::Result<Vec<Input>> {
    let path = workspace().join(format!("fuzz/corpus/{name}.tar.gz"));
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(path)?));
    let mut kept = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.header().entry_type().is_file() {
            let file = entry.path()?.file_name().unwrap_or_default().display().to_string();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            kept.push(Input { origin: format!("corpus input {name}/{file}"), bytes });
        }
    }
    Ok(kept)
}

/// An input with one to four changes. The same input and number give the same result.
fn mutation(input: &[u8], others: &[&[u8]], number: u64) -> Vec<u8> {
    let mut random = Rng::with_seed(number);
    let mut bytes = input.to_vec();
    for _ in 0..random.u8(1..=4) {
        let range = part(&bytes, &mut random);
        match random.u8(0..8) {
            0..4 if !bytes.is_empty() => {
                let at = random.usize(..bytes.len());
                bytes[at] ^= 1 << random.u8(..8);
            }
            4 => bytes.truncate(range.start),
            5 => drop(bytes.drain(range)),
            _ => {
                let other = random.choice(others).copied().unwrap_or_default();
                let spliced = &other[part(other, &mut random)];
                drop(bytes.splice(range.start..range.start, spliced.iter().copied()));
            }
        }
    }
    bytes
}

/// A range of at most 64 bytes.
fn part(bytes: &[u8], random: &mut Rng) -> Range<usize> {
    let start = random.usize(..=bytes.len());
    let length = random.usize(..=64);
    start..bytes.len().min(start + length)
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// A test for each target, named as it.
macro_rules! replays {
    ($($name:ident)*) => {
        const REPLAYED: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*
    };
}

replays! {
    advisories archive boot_line capture cgroups controller counters cpu_sets cpuinfo fleet interrupts
    kernel_config msrs pasted peers processes recording redfish results tape trace values
}

#[test]
fn every_target_is_replayed_and_all_inputs_belong_to_one() {
    let targets: Vec<&str> = TARGETS.iter().map(|it| it.name).collect();
    assert_eq!(targets, REPLAYED);
    for folder in ["fuzz/seeds", "fuzz/corpus"] {
        for entry in fs::read_dir(workspace().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let target = name.strip_suffix(".tar.gz").unwrap_or(&name);
            assert!(targets.contains(&target), "{folder}/{name}");
        }
    }
    for target in TARGETS {
        let n_inputs = seeds(target.name).unwrap().len() + kept(target.name).unwrap().len();
        assert!(n_inputs > 10, "{}: {n_inputs}", target.name);
    }
}

#[test]
fn a_panic_is_reported_with_its_input_which_is_kept() {
    let run: fn(&[u8]) = |bytes| assert!(!bytes.ends_with(b"0"), "a zero");
    let target = Target { name: "ends", run, audits_host: false };
    let inputs = ["123", "120", "1"]
        .map(|it| Input { origin: format!("seed {it}"), bytes: it.as_bytes().to_vec() });
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("ends");
    let error = run_each(&target, &inputs, folder.path()).unwrap_err();
    let at = place.display();
    assert_eq!(
        error,
        format!("fuzz target 'ends' panicked (message above) with seed 120, kept as {at}")
    );
    assert_eq!(fs::read(&place).unwrap(), b"120");
    run_each(&target, &inputs[..1], folder.path()).unwrap();
    assert!(!place.exists());
}

#[test]
fn a_number_gives_the_same_mutation_and_others_give_others() {
    let (input, others) = (b"0-3,7:1/2".as_slice(), [b"left".as_slice(), b"".as_slice()]);
    let mutations: Vec<_> = (0..100).map(|n| mutation(input, &others, n)).collect();
    assert!(mutations.iter().zip(0..).all(|(it, n)| *it == mutation(input, &others, n)));
    let different: std::collections::BTreeSet<_> = mutations.iter().collect();
    assert!(different.len() > 70, "{}", different.len());
    for number in 0..100 {
        mutation(b"", &[], number);
    }
}
