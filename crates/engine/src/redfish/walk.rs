//! The way through a service: from its root to what limits and throttles, the most telling resources first.

use super::Wanted;
use super::budget::{Budget, What};
use super::exchange::{Exchange, NoResource};
use anyhow::{Error, Result, bail};
use facts::redfish::{Link, Member, OTHER_SYSTEMS, Redfish, Resource, Unknown, is_registry};
use std::fmt;

/// Oddities that are told: more of them say nothing more.
const MOST_ODD: usize = 32;

/// Where every service begins (DSP0266, "Redfish-defined URIs").
const ROOT: &str = "/redfish/v1/";

/// The controller has no system of the requested name.
#[derive(Debug)]
pub(super) struct NoSuchSystem {
    name: String,
    has: String,
}

impl std::error::Error for NoSuchSystem {}

impl fmt::Display for NoSuchSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the controller has no system {:?}; it has {}", self.name, self.has)
    }
}

/// The user wanted to stop before the controller had named its systems.
#[derive(Debug)]
pub struct Stopped;

impl std::error::Error for Stopped {}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped before the controller said anything about this machine")
    }
}

/// What a look learned.
pub(super) struct Looked {
    pub(super) told: Redfish,
    /// Why it ended before all was asked for, where it did.
    pub(super) ended: Option<String>,
}

/// One look.
pub(super) struct Walk<'a> {
    exchange: Exchange<'a>,
    wanted: &'a Wanted,
    told: Redfish,
    todo: Vec<(What, Link)>,
    seen: Vec<Link>,
    others: Vec<Link>,
    /// The settings of the firmware as they came.
    bios: Option<Resource>,
    budget: Budget,
    /// Why nothing more is asked for.
    ended: Option<String>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(exchange: Exchange<'a>, wanted: &'a Wanted) -> Walk<'a> {
        Walk {
            exchange,
            wanted,
            told: Redfish::default(),
            todo: Vec::new(),
            seen: Vec::new(),
            others: Vec::new(),
            bios: None,
            budget: Budget::whole(),
            ended: None,
        }
    }

    /// Errors: nothing at all could be learned.
    pub(super) fn run(mut self) -> Result<Looked> {
        let root = self.ask(What::Systems, ROOT).map_err(error)?;
        self.root(&root);
        if self.todo.is_empty() {
            bail!("the service names no systems: {ROOT} has no link to them");
        }
        while let Some((what, link)) = self.next() {
            self.visit(what, &link)?;
        }
        self.told.requests = self.exchange.into_requests();
        Ok(Looked { told: self.told, ended: self.ended })
    }

    /// The most telling of what is left, which is taken out.
    fn next(&mut self) -> Option<(What, Link)> {
        let at = (0..self.todo.len()).min_by_key(|at| (self.todo[*at].0, *at))?;
        Some(self.todo.remove(at))
    }

    fn push(&mut self, what: What, link: Option<Link>) {
        let Some(link) = link else { return };
        if !self.seen.iter().any(|it| it.is_same(&link)) {
            self.seen.push(link.clone());
            self.todo.push((what, link));
        }
    }

    fn unknown(&mut self, what: &str, why: impl Into<String>) {
        let unknown = Unknown { what: what.to_owned(), why: why.into() };
        if !self.told.unknown.contains(&unknown) {
            self.told.unknown.push(unknown);
        }
    }

    /// A request, which counts.
    fn ask(&mut self, what: What, path: &str) -> Result<Resource, NoResource> {
        let before = self.exchange.count();
        let may_repeat = *self.budget.of(what) > 1;
        let resource = self.exchange.get(path, may_repeat);
        let sent = self.exchange.count() - before;
        let left = self.budget.of(what);
        *left = left.saturating_sub(sent);
        resource
    }

    fn visit(&mut self, what: What, link: &Link) -> Result<()> {
        if *self.budget.of(what) == 0 {
            self.unknown(what.name(), Budget::spent(what));
            return Ok(());
        }
        let query = self.told.service.expand.filter(|_| what.is_expanded());
        let path = match query {
            Some(query) if !link.path().contains('?') => format!("{}?{query}", link.path()),
            _ => link.path().to_owned(),
        };
        let is_first = what == What::Systems;
        match self.ask(what, &path) {
            Ok(resource) => {
                let gone = self.take(what, &resource);
                let room = MOST_ODD.saturating_sub(self.told.odd.len());
                self.told.odd.extend(resource.odd().into_iter().take(room));
                gone
            }
            Err(why) if is_first => Err(error(why)),
            Err(why) => {
                let (words, others) = why.words();
                self.unknown(what.name(), words);
                if let Some(why) = others {
                    for (what, _) in std::mem::take(&mut self.todo) {
                        self.unknown(what.name(), &*why);
                    }
                    self.ended = Some(why);
                }
                Ok(())
            }
        }
    }

    fn root(&mut self, root: &Resource) {
        self.told.service = root.service();
        self.told.odd.extend(root.odd());
        self.push(What::Systems, self.told.service.systems.clone());
        if self.wanted.inventory {
            self.push(What::Updates, self.told.service.updates.clone());
        }
    }

    /// Takes over what a resource says, and goes on from it.
    fn take(&mut self, what: What, resource: &Resource) -> Result<()> {
        match what {
            What::Systems => return self.systems(resource),
            What::System => self.system(resource),
            What::OtherSystem => self.push(What::Processors, resource.system().processors),
            What::ChassisCollection => {
                let first = resource.collection().members.into_iter().next();
                self.push(What::Chassis, first.map(|it| it.link));
            }
            What::Chassis => self.chassis(resource),
            What::Processors => self.processors(resource),
            What::Processor => self.processor(resource),
            What::Metrics(at) => {
                self.told.words.extend(resource.words_of_metrics());
                if let Some(processor) = self.told.processors.get_mut(at) {
                    processor.add_metrics(resource);
                }
            }
            What::ProcessorEnvironment(at) => {
                let name = self.told.processors.get(at).map(|it| it.name.clone());
                let limit = resource.environment();
                self.told.limits.extend(limit.map(|it| it.of_processor(&name.unwrap_or_default())));
            }
            What::Environment => self.environment(resource),
            What::Power => {
                self.told.words.extend(resource.words_of_power());
                self.told.limits.extend(resource.power());
            }
            What::Controls => self.members(What::Control, resource),
            What::Control => self.told.limits.extend(resource.control()),
            What::Thermal => self.told.temperatures.extend(resource.thermal()),
            What::ThermalSubsystem => {
                self.push(What::ThermalMetrics, resource.link("ThermalMetrics"));
            }
            What::ThermalMetrics => self.told.temperatures.extend(resource.thermal_metrics()),
            What::Bios => self.bios(resource),
            What::BiosSettings => {
                if let (Some(bios), Some(own)) = (&mut self.told.bios, &self.bios) {
                    bios.add_settings(own, resource);
                }
            }
            What::Registries => self.registries(resource),
            What::RegistryFile => self.push(What::Registry, resource.registry_place()),
            What::Registry => {
                if let Some(bios) = &mut self.told.bios {
                    bios.add_registry(resource);
                }
            }
            What::Updates => self.push(What::Inventory, resource.link("FirmwareInventory")),
            What::Inventory => self.members(What::Software, resource),
            What::Software => self.told.inventory.extend(resource.software()),
        }
        Ok(())
    }

    fn systems(&mut self, resource: &Resource) -> Result<()> {
        let links: Vec<Link> =
            resource.collection().members.into_iter().map(|it| it.link).collect();
        let names = || links.iter().map(Link::name).collect::<Vec<_>>().join(", ");
        let chosen = match &self.wanted.system {
            None => links.first(),
            Some(name) => match links.iter().find(|it| it.name() == name) {
                None => bail!(NoSuchSystem { name: name.clone(), has: names() }),
                found => found,
            },
        };
        let Some(chosen) = chosen.cloned() else {
            bail!("the controller names no system: its collection of systems is empty");
        };
        if self.wanted.system.is_none() && links.len() > 1 {
            let system = self.exchange.option("system");
            let why =
                format!("{} is shown; {system} NAME takes another one: {}", chosen.name(), names());
            self.unknown(OTHER_SYSTEMS, why);
            self.others = links.into_iter().skip(1).collect();
        }
        self.push(What::System, Some(chosen));
        Ok(())
    }

    fn system(&mut self, resource: &Resource) {
        self.told.words.extend(resource.words_of_system());
        let system = resource.system();
        match &self.wanted.change {
            Some(own) => {
                self.told.is_own = resource.is_machine(own.uuid.as_deref(), own.serial.as_deref());
            }
            None => {
                self.push(What::Processors, system.processors.clone());
                match system.chassis.first() {
                    Some(chassis) => self.push(What::Chassis, Some(chassis.clone())),
                    None => self.push(What::ChassisCollection, self.told.service.chassis.clone()),
                }
            }
        }
        if self.wanted.bios || self.wanted.change.is_some() {
            match &system.bios {
                None => self.unknown(What::Bios.name(), "the system has no link to them"),
                bios => self.push(What::Bios, bios.clone()),
            }
        }
        self.told.system = system;
    }

    fn bios(&mut self, resource: &Resource) {
        let (bios, settings) = resource.bios();
        self.bios = Some(resource.clone());
        let has_registry = self.wanted.change.is_some() && bios.registry.is_some();
        self.told.bios = Some(bios);
        self.push(What::BiosSettings, settings);
        if has_registry {
            self.push(What::Registries, self.told.service.registries.clone());
        }
    }

    /// The registry of the firmware's settings among all others.
    fn registries(&mut self, resource: &Resource) {
        let name = self.told.bios.as_ref().and_then(|it| it.registry.clone()).unwrap_or_default();
        let mut links = resource.collection().members.into_iter().map(|it| it.link);
        match links.find(|it| is_registry(it, &name)) {
            None => {
                self.unknown(What::Registry.name(), format!("the service has no registry {name}"));
            }
            found => self.push(What::RegistryFile, found),
        }
    }

    fn chassis(&mut self, resource: &Resource) {
        let chassis = resource.chassis();
        // What has both, has what is new in the one and what is set in the other.
        self.push(What::Environment, chassis.environment);
        self.push(What::Power, chassis.power);
        self.push(What::Controls, chassis.controls);
        match chassis.thermal {
            None => self.push(What::ThermalSubsystem, chassis.thermal_subsystem),
            thermal => self.push(What::Thermal, thermal),
        }
    }

    /// Where it has a limit, what older services have need not be asked for.
    fn environment(&mut self, resource: &Resource) {
        if let Some(limit) = resource.environment() {
            let is_set = limit.watts.is_some();
            self.told.limits.push(limit);
            if !is_set {
                return;
            }
            self.todo.retain(|(what, _)| !matches!(what, What::Power | What::Controls));
        }
    }

    /// The members that came with their collection are taken at once, the others are asked for.
    fn members(&mut self, what: What, resource: &Resource) {
        let collection = resource.collection();
        if collection.left_out > 0 {
            self.unknown(what.name(), format!("{} more are left out", collection.left_out));
        }
        for Member { link, resource } in collection.members {
            match resource {
                None => self.push(what, Some(link)),
                Some(member) => {
                    // Only the root and systems end a look.
                    self.take(what, &member).unwrap_or_default();
                    self.told.odd.extend(member.odd());
                }
            }
        }
        self.told.odd.truncate(MOST_ODD);
    }

    fn processors(&mut self, resource: &Resource) {
        let collection = resource.collection();
        let n_listed = collection.members.len() + collection.left_out;
        self.told.n_listed = self.told.n_listed.saturating_add(n_listed);
        self.members(What::Processor, resource);
        let is_empty = self.told.processors.is_empty()
            && !self.todo.iter().any(|(what, _)| *what == What::Processor);
        if is_empty && !self.others.is_empty() {
            let other = self.others.remove(0);
            self.push(What::OtherSystem, Some(other));
        }
    }

    fn processor(&mut self, resource: &Resource) {
        let Some(processor) = resource.processor() else {
            // Graphics and empty sockets are in the same list.
            self.told.n_listed = self.told.n_listed.saturating_sub(1);
            return;
        };
        if !processor.tells() {
            // The others are of the same service, and say as little.
            self.todo.retain(|(what, _)| *what != What::Processor);
        }
        let at = self.told.processors.len();
        self.push(What::Metrics(at), processor.metrics.clone());
        self.push(What::ProcessorEnvironment(at), processor.environment.clone());
        self.told.processors.push(processor);
    }
}

fn error(why: NoResource) -> Error {
    match why {
        NoResource::Failed(failure) => failure.into(),
        NoResource::Stopped => Stopped.into(),
        other => Error::msg(other.words().0),
    }
}
