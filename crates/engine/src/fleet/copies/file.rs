//! One file or folder: what it is, and the machines that it holds.

use super::super::attributes;
use super::super::told::Told;
use super::list::Item;
use super::{Found, Skipped};
use crate::copies::{bytes_of, refuse_nothing};
use anyhow::{Context, Error, Result, bail};
use facts::HostView;
use facts::quantity::counted;
use fleet::{Figure, Kind, Measured};
use host::{Answered, Archive, Captured, Source};
use lab::compare::work;
use lab::record::Record;
use lab::summary::summary;
use lab::trial::Better;
use serde::Deserialize;
use std::path::Path;

/// A capture of 4,096 CPUs has some 100 MiB, a result of days as much.
const LARGEST: u64 = 1 << 30;

/// CPUs that were busy for this share of a look say at which clock they work.
const BUSY: f64 = 0.5;

/// Gives `each` machine of an item, or why there is none.
pub(super) fn read(item: &Item, each: &mut dyn FnMut(Found)) {
    match item {
        Item::Host(folder) => each(of_copy(folder)),
        Item::File { path, is_named } => match beginning(path) {
            Ok(Some(Content::Archive)) => of_archive(path, each),
            Ok(Some(content)) => {
                let read =
                    bytes_of(path, LARGEST).and_then(|it| it.context("it holds 1 GiB or more"));
                give(path, read.and_then(|bytes| of_bytes(path, content, bytes)), each);
            }
            Ok(None) if !is_named => {}
            Ok(None) => each(Err(skipped(path, &Error::msg(NO_MACHINE)))),
            Err(error) => each(Err(skipped(path, &error))),
        },
    }
}

const NO_MACHINE: &str = "it is neither a capture, an audit, a result nor an archive of copies";

/// What a file is by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Capture,
    Json,
    Archive,
}

impl Content {
    fn of(beginning: &[u8]) -> Option<Content> {
        const PACKED: [&[u8]; 4] =
            [&[0x1f, 0x8b], b"BZh", b"\xfd7zXZ\0", &[0x28, 0xb5, 0x2f, 0xfd]];
        if Captured::is_begun_by(beginning) {
            Some(Content::Capture)
        } else if beginning.trim_ascii_start().starts_with(b"{") {
            Some(Content::Json)
        } else if PACKED.iter().any(|it| beginning.starts_with(it)) || is_tar(beginning) {
            Some(Content::Archive)
        } else {
            None
        }
    }
}

/// Whether this is the beginning of a plain tar archive: `ustar` stands at byte 257 (POSIX.1-1988 and GNU).
fn is_tar(beginning: &[u8]) -> bool {
    beginning.get(257..262) == Some(b"ustar")
}

/// `None`: it is nothing that is read here.
fn beginning(path: &Path) -> Result<Option<Content>> {
    Ok(Content::of(&crate::copies::beginning_of(path, 512)?))
}

fn skipped(path: &Path, error: &Error) -> Skipped {
    let name = path.display().to_string();
    let why = format!("{error:#}");
    // Errors of files begin with the name.
    let why = why.strip_prefix(&name).map_or(&*why, |it| it.trim_start_matches([':', ' ']));
    Skipped { why: why.to_owned(), name }
}

/// Gives `each` machine, or why there is none.
fn give(path: &Path, told: Result<Vec<Told>>, each: &mut dyn FnMut(Found)) {
    match told {
        Ok(told) => told.into_iter().for_each(|it| each(Ok(it))),
        Err(error) => each(Err(skipped(path, &error))),
    }
}

fn of_bytes(path: &Path, content: Content, bytes: Vec<u8>) -> Result<Vec<Told>> {
    let name = path.display().to_string();
    match content {
        Content::Capture => {
            let text = String::from_utf8(bytes).context("it is not a text file")?;
            Ok(vec![of_source(&Captured::parse(&text)?, &name)?])
        }
        Content::Json if is_audit(&bytes) => Ok(vec![of_audit(&bytes, name)?]),
        Content::Json if is_foreign(&bytes) => bail!(FOREIGN),
        Content::Json => of_record(&lab::store::read_from(path, &bytes)?, &name),
        // In an archive; what is in that is not looked at for others.
        Content::Archive => Ok(vec![of_source(&Archive::read(&name, &*bytes, "")?, &name)?]),
    }
}

/// The copy of a host in a folder, which is one.
fn of_copy(folder: &Path) -> Found {
    let name = folder.display().to_string();
    let opened = host::open_root(folder).map_err(Error::from);
    opened.and_then(|it| of_source(&*it, &name)).map_err(|error| skipped(folder, &error))
}

/// Every host of an archive, or every machine that a file in it holds.
fn of_archive(path: &Path, each: &mut dyn FnMut(Found)) {
    let (hosts, is_full) = match Archive::hosts(path) {
        Ok(hosts) => hosts,
        Err(host::ArchiveError::NoHost { .. }) => return of_files(path, each),
        // Its hosts may fit one by one.
        Err(host::ArchiveError::Broken { .. }) => return of_large(path, each),
        Err(error) => return each(Err(skipped(path, &error.into()))),
    };
    let is_one = hosts.len() == 1;
    let lost = hosts.iter().find_map(|it| it.incomplete().map(str::to_owned));
    for host in hosts {
        let root = host.roots().first().filter(|_| !is_one);
        let name = root.cloned().unwrap_or_else(|| path.display().to_string());
        each(of_source(&host, &name).map_err(|error| skipped(Path::new(&name), &error)));
    }
    if is_full {
        each(Err(skipped(path, &Error::msg(MORE_HOSTS))));
    }
    if let Some(why) = lost {
        let why = format!("{why}: what its hosts lack is unknown, and hosts may be missing");
        each(Err(skipped(path, &Error::msg(why))));
    }
}

const MORE_HOSTS: &str =
    "it holds more hosts than are read of one archive: unpack it, and name its folder";

/// The same of hosts that take more memory than one may: the archive is read again for each.
fn of_large(path: &Path, each: &mut dyn FnMut(Found)) {
    let archive = match Archive::open(path, "") {
        Ok(archive) => archive,
        Err(error) => return each(Err(skipped(path, &error.into()))),
    };
    let roots = archive.roots().to_vec();
    drop(archive);
    for root in &roots {
        let opened = host::open_root(Path::new(root)).map_err(Error::from);
        let told = opened.and_then(|it| of_source(&*it, root));
        each(told.map_err(|error| skipped(Path::new(root), &error)));
    }
}

fn of_files(path: &Path, each: &mut dyn FnMut(Found)) {
    let mut n_found = 0;
    let read = Archive::files(path, &|it| Content::of(it).is_some(), &mut |entry, bytes| {
        let Some(content) = Content::of(&bytes) else { return };
        let inner = path.join(entry);
        n_found += 1;
        give(&inner, of_bytes(&inner, content, bytes), each);
    });
    match read {
        Err(error) => each(Err(skipped(path, &error.into()))),
        Ok(_) if n_found == 0 => each(Err(skipped(path, &Error::msg(NO_MACHINE)))),
        Ok(0) => {}
        Ok(n) => {
            let n = counted(n, "member");
            let why =
                format!("not read, as links or too large: {n}; unpack it, and name its folder");
            each(Err(skipped(path, &Error::msg(why))));
        }
    }
}

/// What a copy of a host tells.
///
/// Errors: it holds no facts of a host.
pub(in super::super) fn of_source(source: &dyn Source, name: &str) -> Result<Told> {
    let answered = Answered::new(source);
    let host = host::view(&answered);
    refuse_nothing(&answered, name)?;
    let audit = rules::audit::audit(&host);
    let mut told = Told { name: name.to_owned(), ..Told::default() };
    if host.incomplete.is_some() {
        told.add(Kind::Fact, "copy of the host", "cut short or damaged");
    }
    told.figures.extend(clock_ratio(&host).map(|it| (Figure::Clock, it)));
    attributes::of_host(&mut told, source, &host, &audit);
    Ok(told)
}

/// The median clock of CPUs that were busy while the host was looked at, to the nominal one; `None` where none was, or nothing says.
fn clock_ratio(host: &HostView) -> Option<f64> {
    let (nominal, _) = host.nominal_clock()?;
    let looks = host.delivered.looks.known().filter(|(_, it)| it.busy_share() >= BUSY);
    let mut clocks: Vec<f64> = looks.map(|(_, it)| it.clock().0 as f64).collect();
    clocks.sort_by(f64::total_cmp);
    let ratio = *clocks.get(clocks.len() / 2)? / nominal.0 as f64;
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

/// What is read of an audit in JSON, of whatever version: `schemas/audit-2.json`.
#[derive(Deserialize)]
struct Audit {
    machine: AuditMachine,
    findings: Vec<AuditFinding>,
    /// What the site has decided about is there nevertheless.
    #[serde(default)]
    suppressed: Vec<AuditFinding>,
    clean: Vec<String>,
    #[serde(default)]
    unknown: Vec<Unknown>,
}

/// A check that could not be made.
#[derive(Deserialize)]
struct Unknown {
    check: String,
}

/// More findings, or unknown checks, than there are checks: somebody else wrote it.
const MOST_CHECKS: usize = 1_000;

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct AuditMachine {
    kernel: Option<String>,
    cpu_model: Option<String>,
    cpus_online: Option<String>,
    product: Option<String>,
    firmware: Option<String>,
    hypervisor: Option<String>,
}

#[derive(Deserialize)]
struct AuditFinding {
    id: String,
    severity: String,
}

/// Whether a JSON is an audit: it says which checks were clean.
fn is_audit(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        #[expect(dead_code, reason = "its presence decides")]
        clean: Vec<String>,
    }
    serde_json::from_slice::<Head>(bytes).is_ok()
}

const FOREIGN: &str =
    "it is neither an audit (`fullclock audit --json`) nor a result of `fullclock bench`";

/// Whether a JSON is no result: it does not say of which format it is.
fn is_foreign(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        format: Option<serde::de::IgnoredAny>,
    }
    // Further lines of a result are its trials.
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Head>();
    values.next().is_some_and(|it| it.is_ok_and(|it| it.format.is_none()))
}

fn of_audit(bytes: &[u8], name: String) -> Result<Told> {
    let audit: Audit = serde_json::from_slice(bytes).context("it is no audit")?;
    let mut told = Told { name, ..Told::default() };
    let machine = audit.machine;
    for (label, value) in [
        ("cpu_model", machine.cpu_model),
        ("bios_version", machine.firmware),
        ("product", machine.product),
        ("kernel", machine.kernel),
        ("hypervisor", machine.hypervisor),
    ] {
        told.add(Kind::Label, label, &value.unwrap_or_default());
    }
    told.add(Kind::Fact, "cpus online", &machine.cpus_online.unwrap_or_default());
    let Audit { findings, suppressed, clean, unknown, .. } = audit;
    if findings.len().max(suppressed.len()).max(unknown.len()) > MOST_CHECKS {
        bail!("it has more than {MOST_CHECKS} findings, and no audit has as many");
    }
    // An audit that could judge nothing says nothing of what is absent.
    let is_judged = !(findings.is_empty() && suppressed.is_empty() && clean.is_empty());
    told.unknown = is_judged.then(|| unknown.into_iter().map(|it| it.check).collect());
    for finding in findings.into_iter().chain(suppressed) {
        told.add(Kind::Finding, &finding.id, &finding.severity);
    }
    Ok(told)
}

/// What a result tells: of its first variant, or of every node of a race, which are machines of their own.
fn of_record(record: &Record, name: &str) -> Result<Vec<Told>> {
    if !record.is_race() {
        return Ok(vec![of_arm(record, 0, name.to_owned())?]);
    }
    let arms = record.arms.iter().enumerate();
    arms.map(|(at, arm)| of_arm(record, at, format!("{name} (node {})", arm.name))).collect()
}

/// The typical value of a variant, turned so that more is better.
fn of_arm(record: &Record, at: usize, name: String) -> Result<Told> {
    let arm = record.arms.get(at).context("it is a result without a variant")?;
    let summary = summary(record, at).context("it is a result without a trial")?;
    let figure = summary.figures.first().context("it is a result without a value")?;
    let value = match figure.better {
        Better::Higher => figure.typical,
        Better::Lower => figure.typical.recip(),
    };
    if !value.is_finite() || value <= 0.0 {
        bail!("its result is {} {}, which is no speed", figure.typical, figure.unit);
    }
    let measured = Measured {
        workload: work(arm).into(),
        name: figure.name.as_str().into(),
        unit: figure.unit.as_str().into(),
        is_less_better: figure.better == Better::Lower,
    };
    let mut told = Told {
        name,
        figures: vec![(Figure::Result, value)],
        result: Some(measured),
        ..Told::default()
    };
    attributes::of_fingerprint(&mut told, record.machine_of(at));
    Ok(told)
}
