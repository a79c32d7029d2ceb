//! An advisory as a file of TOML has it, parsed strictly.

use super::node::Node;
use super::version::{Range, Version};
use super::{Advisory, Affected, Loss, Source, Symptom};
use crate::party::Party;
use crate::profile::toml_fault;
use facts::system::kernel_config::KernelConfig;
use facts::utc;
use serde::Deserialize;
use toml::Value;

/// More than anybody writes by hand; a larger file is something else.
pub const LARGEST: usize = 1 << 16;

/// Each key with a sentence, as the documentation lists them.
pub const KEYS: &[(&str, &str)] = &[
    ("id", "its name: that of the file without `.toml`, small letters, digits and dashes"),
    ("title", "what is wrong, in a few words that follow its name"),
    ("party", "whose it is: `firmware`, `operating system` or `management controller`"),
    ("action", "what to do, in the imperative"),
    ("fixed", "in which versions it is fixed; absent where none is known"),
    ("about", "what happens, to which machines, in some sentences"),
    (
        "affected",
        "tables, of which one has to fit; in a table, all keys have to: `maker`, `product` and `board` as they begin in /sys/class/dmi/id, \
         `firmware_name` that is in the firmware's version, `firmware` ranges, `bmc` ranges (the first two numbers of the management controller's firmware), \
         `cpu_maker` (empty on ARM), `cpu_flag`, `family`, `models`, `model_name` that is in the processor's, `microcode` ranges, `kernel` ranges, `backports` (builds of distributions in which it is fixed), `driver` of the \
         frequency, `config` as CONFIG_X=y, `boot` parameter, `hypervisor` as it begins (empty for any)",
    ),
    (
        "symptom",
        "tables: the `check` that sees it act, and what its finding `mentions` where the check sees other things, too",
    ),
    ("loss", "a table: `what` it costs, with figures, and the number of the `source` that says so"),
    ("source", "tables: `title`, `url`, and the day on which it was `read`"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    id: String,
    title: String,
    party: String,
    action: String,
    fixed: Option<String>,
    about: String,
    affected: Vec<Table>,
    #[serde(default)]
    symptom: Vec<Symptom>,
    loss: Option<Cost>,
    source: Vec<Document>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    maker: Option<String>,
    product: Option<String>,
    board: Option<String>,
    firmware_name: Option<String>,
    firmware: Vec<String>,
    bmc: Vec<String>,
    cpu_maker: Option<String>,
    cpu_flag: Option<String>,
    family: Option<u32>,
    models: Vec<u32>,
    model_name: Option<String>,
    microcode: Vec<String>,
    kernel: Vec<String>,
    backports: Vec<String>,
    driver: Option<String>,
    config: Option<String>,
    boot: Option<String>,
    hypervisor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cost {
    what: String,
    source: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    title: String,
    url: String,
    read: Value,
}

impl Advisory {
    /// Parses a file, `name` being what errors call it, and `stem` its name without `.toml`.
    ///
    /// Errors: no TOML, with the line; a key that is missing or unknown; a value that is none of its kind; an id that is not the
    /// file's name. Whether the checks that it names exist is not looked at.
    pub fn parse(name: &str, stem: &str, text: &str) -> Result<Advisory, String> {
        let file: File =
            toml::from_str(text).map_err(|error| format!("{name}{}", toml_fault(text, &error)))?;
        file.advisory(name, stem)
    }

    /// The same of one that comes with the program.
    ///
    /// Errors: those of a file, without lines.
    pub(super) fn of_node(stem: &str, node: &'static Node) -> Result<Advisory, String> {
        let file = File::deserialize(node).map_err(|error| format!("{stem}: {error}"))?;
        file.advisory(stem, stem)
    }
}

impl File {
    fn advisory(self, name: &str, stem: &str) -> Result<Advisory, String> {
        let named = |error: String| format!("{name}: {error}");
        if self.id != stem || !is_id(&self.id) {
            return Err(named(format!(
                "id = {:?}: expected the name of the file, {stem:?}",
                self.id
            )));
        }
        let said = [("title", &self.title), ("action", &self.action), ("about", &self.about)];
        if let Some((key, _)) = said.iter().find(|(_, it)| it.trim().is_empty()) {
            return Err(named(format!("{key} is empty")));
        }
        let affected = self.affected.into_iter().enumerate().map(|(at, it)| {
            it.affected().map_err(|error| named(format!("affected {}: {error}", at + 1)))
        });
        let affected = affected.collect::<Result<Vec<_>, _>>()?;
        let sources = self.source.into_iter().enumerate().map(|(at, it)| {
            it.source().map_err(|error| named(format!("source {}: {error}", at + 1)))
        });
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        if affected.is_empty() || sources.is_empty() {
            return Err(named("expected at least one [[affected]] and one [[source]]".to_owned()));
        }
        let loss = self.loss.map(|it| it.loss(sources.len()).map_err(named)).transpose()?;
        Ok(Advisory {
            id: self.id,
            title: self.title,
            party: party(&self.party).map_err(named)?,
            action: self.action,
            fixed: self.fixed,
            about: self.about.split_whitespace().collect::<Vec<_>>().join(" "),
            affected,
            symptoms: self.symptom,
            loss,
            sources,
        })
    }
}

/// Whether an id can be a file's name and a word of a command line.
fn is_id(text: &str) -> bool {
    let is_part = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    !text.is_empty() && text.len() <= 64 && text.bytes().all(is_part) && !text.starts_with('-')
}

fn party(text: &str) -> Result<Party, String> {
    let known = [Party::Firmware, Party::OperatingSystem, Party::ManagementController];
    let names = || known.map(Party::name).join(", ");
    known
        .into_iter()
        .find(|it| it.name() == text)
        .ok_or_else(|| format!("party = {text:?}: expected one of {}", names()))
}

fn ranges(key: &str, texts: &[String]) -> Result<Vec<Range>, String> {
    let range = |text: &String| Range::parse(text).map_err(|error| format!("{key} = {error}"));
    texts.iter().map(range).collect()
}

impl Table {
    fn affected(self) -> Result<Affected, String> {
        let firmware = ranges("firmware", &self.firmware)?;
        let bmc = ranges("bmc", &self.bmc)?;
        let microcode = ranges("microcode", &self.microcode)?;
        let kernel = ranges("kernel", &self.kernel)?;
        let is_bounded = !firmware.is_empty()
            || !bmc.is_empty()
            || !microcode.is_empty()
            || !kernel.is_empty()
            || self.config.is_some();
        if !is_bounded {
            return Err("expected firmware, bmc, microcode, kernel or config".to_owned());
        }
        let build = self.backports.iter().find(|it| {
            let numbers = it.split(|it: char| it.is_ascii_alphabetic()).next().unwrap_or_default();
            Version::parse(numbers.trim_end_matches(['.', '-'])).is_none() || numbers == **it
        });
        if let Some(build) = build {
            return Err(format!("backports = {build:?}: expected a build like \"5.14.0-181.el9\""));
        }
        Ok(Affected {
            maker: self.maker,
            product: self.product,
            board: self.board,
            firmware_name: self.firmware_name,
            firmware,
            bmc,
            cpu_maker: self.cpu_maker,
            cpu_flag: self.cpu_flag,
            family: self.family,
            models: self.models,
            model_name: self.model_name,
            microcode,
            kernel,
            backports: self.backports,
            driver: self.driver,
            config: self.config.map(|it| option(&it)).transpose()?,
            boot: self.boot,
            hypervisor: self.hypervisor,
        })
    }
}

/// The option and its value, of `CONFIG_X=y`.
fn option(text: &str) -> Result<(String, String), String> {
    let parts = text.strip_prefix("CONFIG_").and_then(|it| it.split_once('='));
    match parts {
        Some((name, value)) if KernelConfig::keeps(name) => Ok((name.to_owned(), value.to_owned())),
        Some(_) => Err(format!("config = {text:?}: fullclock does not keep this option")),
        None => Err(format!("config = {text:?}: expected one like CONFIG_PREEMPT_LAZY=y")),
    }
}

impl Cost {
    fn loss(self, n_sources: usize) -> Result<Loss, String> {
        let Cost { what, source } = self;
        if what.trim().is_empty() || !(1..=n_sources).contains(&source) {
            return Err(format!(
                "loss: expected what it costs, and a source from 1 to {n_sources}"
            ));
        }
        Ok(Loss { what, source: source - 1 })
    }
}

impl Document {
    fn source(self) -> Result<Source, String> {
        let read = match &self.read {
            Value::Datetime(day) => day.to_string(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if !utc::is_date(&read) {
            return Err(format!("read = {read:?}: expected a day, as in 2026-11-20"));
        }
        if !is_url(&self.url) {
            return Err(format!("url = {:?}: expected https://HOST/... or http://...", self.url));
        }
        if self.title.trim().is_empty() {
            return Err("title is empty".to_owned());
        }
        Ok(Source { title: self.title, url: self.url, read })
    }
}

/// Whether a text is an address of the web: a scheme, a host with a dot in it, a path, and nothing that no address has.
fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some((host, _)) = rest.and_then(|it| it.split_once('/')) else { return false };
    let is_of_host = |it: u8| it.is_ascii_alphanumeric() || it == b'.' || it == b'-';
    let has_host = host.contains('.') && !host.starts_with('.') && host.bytes().all(is_of_host);
    has_host && text.bytes().all(|it| it.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&it))
}
