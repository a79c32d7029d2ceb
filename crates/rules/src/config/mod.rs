//! What a site says once for all commands: its folders, its thresholds, where `serve` listens, and findings that it has decided about.
//!
//! The text of a file; where such files are, and whether they may be trusted, is the program's matter.

use crate::advisory::Advisory;
use crate::check::Check;
use crate::checks::{self, CHECKS};
use crate::finding::Finding;
use crate::profile::toml_fault;
use facts::site::{AdvisoryFile, THRESHOLDS, Threshold, Thresholds};
use facts::{CpuSet, utc};
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::Path;
use toml::Value;
use toml::map::Map;

/// A configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The folder of the journal; an absolute path.
    pub state: Option<String>,
    /// The folder of results; an absolute path.
    pub results: Option<String>,
    /// Where `serve` listens.
    pub listen: Option<SocketAddr>,
    /// The management controller, which audits and captures ask where it is named.
    pub redfish: Option<Redfish>,
    /// From which amounts on there are findings.
    pub thresholds: Thresholds,
    /// Findings that the site has decided about.
    pub ignored: Vec<Ignored>,
    /// The advisories that it adds, from files of their own.
    pub advisories: Vec<AdvisoryFile>,
}

/// How the management controller of this machine is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redfish {
    /// Its address: `https://HOST`.
    pub url: String,
    /// The file of a token; an absolute path.
    pub token_file: Option<String>,
    /// The user whose password is in a file.
    pub user: Option<String>,
    /// That file; an absolute path.
    pub password_file: Option<String>,
    /// The SHA-256 of its certificate.
    pub fingerprint: Option<String>,
    /// The file of the authorities that are trusted; an absolute path.
    pub ca: Option<String>,
    /// The name of this machine, where the controller has several.
    pub system: Option<String>,
}

/// Findings that are shown as suppressed.
#[derive(Clone, Debug, PartialEq)]
pub struct Ignored {
    /// Of which check.
    pub check: &'static Check,
    /// On which CPUs only; `None` for wherever it is.
    pub cpus: Option<CpuSet>,
    /// The last day on which they are, UTC: `2027-03-31`.
    pub until: String,
    /// Why, in the site's words.
    pub because: String,
}

impl Ignored {
    /// Whether its day is not over, `today` being a day as in `2026-11-20`.
    pub fn is_valid(&self, today: &str) -> bool {
        today <= self.until.as_str()
    }

    /// Whether a finding of `check` is one of those: of CPUs, where the decision names some, none but these.
    pub(crate) fn is_about(&self, check: &Check, finding: &Finding) -> bool {
        let fits = match (&self.cpus, &finding.cpus) {
            (None, _) => true,
            (Some(cpus), Some(scope)) => scope.cpus.minus(cpus).is_empty(),
            (Some(_), None) => false,
        };
        self.check.id == check.id && fits
    }
}

/// More than anybody writes by hand; a larger file is something else.
pub const LARGEST: usize = 1 << 16;

/// A reason is a sentence or two.
const LONGEST_REASON: usize = 500;

/// Each key with a sentence, as the documentation lists them.
pub const KEYS: &[(&str, &str)] = &[
    ("folders.state", "the folder of the journal, an absolute path (`--state-dir`)"),
    ("folders.results", "the folder of results, an absolute path (`--results`)"),
    ("serve.listen", "the address that `serve` listens at (`--listen`)"),
    (
        "redfish.url",
        "the management controller of this machine, as in `https://bmc7`; where it is named, `audit` and `capture` ask it over Redfish, up to 10 s long",
    ),
    ("redfish.token-file", "an absolute path, as `bmc --token-file`"),
    ("redfish.user", "the user whose password is in `redfish.password-file`"),
    ("redfish.password-file", "an absolute path, as `bmc --password-file`"),
    ("redfish.fingerprint", "the SHA-256 of the controller's certificate, as `bmc --fingerprint`"),
    ("redfish.ca", "an absolute path, as `bmc --ca`"),
    ("redfish.system", "this machine's name there, where the controller has several"),
    ("thresholds", "by the id of a check: from which amount on it finds something (below)"),
    (
        "ignore",
        "a list of findings that are shown as suppressed: `id`, `until` and `because`, and `cpus` where they are about CPUs",
    ),
];

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    folders: Folders,
    serve: Serve,
    redfish: Option<Controller>,
    thresholds: Map<String, Value>,
    ignore: Vec<Entry>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Folders {
    state: Option<String>,
    results: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Serve {
    listen: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Controller {
    url: String,
    token_file: Option<String>,
    user: Option<String>,
    password_file: Option<String>,
    fingerprint: Option<String>,
    ca: Option<String>,
    system: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    cpus: Option<String>,
    until: Value,
    because: String,
}

impl Config {
    /// Parses a file, `name` being what errors call it.
    ///
    /// Errors: no TOML; a key that is missing or unknown; a value that is none of its kind.
    pub fn parse(name: &str, text: &str) -> Result<Config, String> {
        let file: File =
            toml::from_str(text).map_err(|error| format!("{name}{}", toml_fault(text, &error)))?;
        let named = |error: String| format!("{name}: {error}");
        let mut thresholds = Thresholds::default();
        for (id, value) in &file.thresholds {
            let (threshold, value) = threshold(id, value).map_err(named)?;
            thresholds.insert(threshold, value).map_err(|it| named(format!("thresholds.{it}")))?;
        }
        let ignored = file.ignore.into_iter().enumerate();
        let ignored = ignored.map(|(at, it)| {
            ignored_of(it).map_err(|error| named(format!("entry {} of ignore: {error}", at + 1)))
        });
        Ok(Config {
            state: folder("folders.state", file.folders.state).map_err(named)?,
            results: folder("folders.results", file.folders.results).map_err(named)?,
            listen: listen(file.serve.listen).map_err(named)?,
            redfish: file.redfish.map(controller).transpose().map_err(named)?,
            thresholds,
            ignored: ignored.collect::<Result<_, _>>()?,
            advisories: Vec::new(),
        })
    }

    /// Adds an advisory of the site, `name` being what errors call its file, and `stem` the file's name without `.toml`.
    ///
    /// Errors: it is none, or names a check that there is not.
    pub fn add_advisory(&mut self, name: &str, stem: &str, text: String) -> Result<(), String> {
        let advisory = Advisory::parse(name, stem, &text)?;
        // What an advisory concerns is found by other checks.
        let is_sign = |id: &str| id != "known-fault" && checks::find(id).is_some();
        if let Some(symptom) = advisory.symptoms.iter().find(|it| !is_sign(&it.check)) {
            let tip = match near(&symptom.check, CHECKS.iter().map(|it| it.id)) {
                Some(near) => format!("did you mean {near}?"),
                None => "`fullclock explain` lists them".to_owned(),
            };
            return Err(format!(
                "{name}: symptom.check = {:?} is not a check; {tip}",
                symptom.check
            ));
        }
        let (name, stem) = (name.to_owned(), stem.to_owned());
        self.advisories.push(AdvisoryFile { name, stem, text });
        Ok(())
    }
}

fn folder(key: &str, path: Option<String>) -> Result<Option<String>, String> {
    match path {
        Some(path) if !Path::new(&path).is_absolute() => {
            Err(format!("{key} = {path:?}: expected an absolute path"))
        }
        path => Ok(path),
    }
}

fn controller(it: Controller) -> Result<Redfish, String> {
    if it.user.is_some() != it.password_file.is_some() {
        return Err("redfish: user and password-file belong together".to_owned());
    }
    if it.token_file.is_some() && it.user.is_some() {
        return Err("redfish: expected token-file, or user and password-file".to_owned());
    }
    Ok(Redfish {
        url: it.url,
        token_file: folder("redfish.token-file", it.token_file)?,
        user: it.user,
        password_file: folder("redfish.password-file", it.password_file)?,
        fingerprint: it.fingerprint,
        ca: folder("redfish.ca", it.ca)?,
        system: it.system,
    })
}

fn listen(address: Option<String>) -> Result<Option<SocketAddr>, String> {
    let parse = |text: String| {
        let expected =
            || format!("serve.listen = {text:?}: expected ADDRESS:PORT, as in 127.0.0.1:7077");
        text.parse().map_err(|_| expected())
    };
    address.map(parse).transpose()
}

fn threshold(id: &str, value: &Value) -> Result<(&'static Threshold, f64), String> {
    let Some(threshold) = THRESHOLDS.iter().find(|it| it.check == id) else {
        let all = || THRESHOLDS.iter().map(|it| it.check);
        let why =
            if checks::find(id).is_some() { "is a check without one" } else { "is not a check" };
        let tip = match near(id, all()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("those with one are {}", all().collect::<Vec<_>>().join(", ")),
        };
        return Err(format!("thresholds.{id}: {id} {why}; {tip}"));
    };
    match value {
        Value::Integer(number) => Ok((threshold, *number as f64)),
        Value::Float(number) => Ok((threshold, *number)),
        other => Err(format!(
            "thresholds.{id}: found a {}, expected a number ({})",
            other.type_str(),
            threshold.unit
        )),
    }
}

fn ignored_of(entry: Entry) -> Result<Ignored, String> {
    let Entry { id, cpus, until, because } = entry;
    let Some(check) = checks::find(&id) else {
        return Err(match near(&id, CHECKS.iter().map(|it| it.id)) {
            Some(near) => format!("id {id:?} is not a check; did you mean {near}?"),
            None => format!("id {id:?} is not a check; `fullclock explain` lists them"),
        });
    };
    let cpus = cpus.map(|text| cpu_list(&text)).transpose()?;
    let until = day(&until)?;
    let because = because.trim().to_owned();
    let length = because.chars().count();
    if !(1..=LONGEST_REASON).contains(&length) {
        return Err(format!("because has {length} characters, expected 1 to {LONGEST_REASON}"));
    }
    Ok(Ignored { check, cpus, until, because })
}

fn cpu_list(text: &str) -> Result<CpuSet, String> {
    match CpuSet::parse_list(text) {
        Ok(cpus) if !cpus.is_empty() => Ok(cpus),
        _ => Err(format!("cpus = {text:?}: expected a list like 0-3,8")),
    }
}

/// A day, as TOML's own date or as text.
fn day(value: &Value) -> Result<String, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Datetime(day) => day.to_string(),
        other => other.to_string(),
    };
    match utc::is_date(&text) {
        true => Ok(text),
        false => Err(format!("until = {text:?}: expected a day, as in 2027-03-31")),
    }
}

/// What is spelled nearly so.
fn near<'a>(id: &str, all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = id.to_lowercase();
    let distance = |it: &str| strsim::damerau_levenshtein(&word, it);
    let nearest = all.min_by_key(|it| distance(it))?;
    (distance(nearest) <= nearest.len() / 4 + 1).then_some(nearest)
}

#[cfg(test)]
mod tests;
