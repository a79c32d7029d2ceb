//! The nodes that the command line names, and the recordings of their machines, which are kept with the result.

use crate::sampling::Taping;
use crate::secret;
use anyhow::{Context, Result, anyhow, bail};
use facts::{CpuSet, HostView, quantity, secrets};
use host::Recording;
use host::tape::Writer;
use lab::commit::ENGINES;
use lab::store::Journal;
use lab::workload::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::Write;

/// Where a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A process of this machine, in that control group where one is named.
    Here(Option<String>),
    /// An agent that ssh starts on another one.
    Ssh(String),
    /// An agent that listens, HOST:PORT.
    Agent(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Here(None) => f.write_str("this machine"),
            Place::Here(Some(group)) => write!(f, "this machine, control group {group}"),
            Place::Ssh(host) => write!(f, "{host}, by ssh"),
            Place::Agent(address) => write!(f, "agent at {address}"),
        }
    }
}

/// A node of the race.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// What is asked of its engine.
    pub settings: Settings,
    /// How many CPUs it may use, in a control group that its agent makes for it; `None` where it makes none.
    pub quota: Option<f64>,
}

impl Node {
    /// Whether it is a process of this machine.
    pub(super) fn is_here(&self) -> bool {
        matches!(self.place, Place::Here(_))
    }

    /// It without its name and its CPUs.
    fn nameless(&self) -> Node {
        let settings = Settings { cpus: None, ..self.settings.clone() };
        Node { name: String::new(), settings, ..self.clone() }
    }
}

/// The CPUs of the nodes in every other leg, where nodes of this machine exchange them: all of them name as many CPUs, and they
/// differ in something else, so that CPUs are not what is compared.
pub fn exchanged_cpus(nodes: &[Node]) -> Option<Vec<Option<String>>> {
    let (first, others) = nodes.split_first().filter(|_| nodes.iter().all(Node::is_here))?;
    let n_cpus =
        |it: &Node| Some(CpuSet::parse_list(it.settings.cpus.as_ref()?).ok()?.iter().count());
    let as_many = n_cpus(first)?;
    let are_alike = others.iter().all(|it| it.nameless() == first.nameless());
    let have_as_many = others.iter().all(|it| n_cpus(it) == Some(as_many));
    let exchanged = || nodes.iter().rev().map(|it| it.settings.cpus.clone()).collect();
    (!are_alike && have_as_many).then(exchanged)
}

/// The nodes as they are in a leg, counted from 0.
pub(super) fn of_leg(nodes: &[Node], leg: u32) -> Vec<Node> {
    let mut nodes = nodes.to_vec();
    let exchanged = exchanged_cpus(&nodes).filter(|_| leg % 2 == 1);
    for (node, cpus) in nodes.iter_mut().zip(exchanged.into_iter().flatten()) {
        node.settings.cpus = cpus;
    }
    nodes
}

/// The options that may follow where a node is.
const OPTIONS: &[&str] = &["cgroup", "quota", "cpus", "sessions", "folder", "engine", "dsn"];

/// The nodes `NAME=WHERE[,OPTION=VALUE]...`, in the order given, and then those that are named by where they are. What a node does
/// not say of its own is that of all, `shared`.
pub fn planned(named: &[String], unnamed: &[String], shared: &Settings) -> Result<Vec<Node>> {
    let named = named.iter().map(|text| {
        let (name, rest) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .context("--node: expected NAME=WHERE, as in a=embedded")?;
        secret::refuse_secrets_in("--node", name)?;
        node(name, rest, shared).with_context(|| format!("--node {name}"))
    });
    let unnamed = unnamed.iter().map(|text| {
        let name = host(text).with_context(|| {
            let shown = secrets::masked_command(text);
            format!("--nodes {shown}: expected ssh:HOST or agent:HOST:PORT; --node names others")
        })?;
        node(name, text, shared).with_context(|| format!("--nodes, {name}"))
    });
    let nodes: Vec<Node> = named.chain(unnamed).collect::<Result<_>>()?;
    if nodes.len() < 2 {
        bail!("a race takes two nodes, as in --node a=embedded --node b=embedded,cgroup=FOLDER");
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = nodes.iter().find(|it| !names.insert(&it.name)) {
        bail!("two nodes are called {}: --node NAME=WHERE gives each a name", twice.name);
    }
    Ok(nodes)
}

/// The host of a place elsewhere.
fn host(place: &str) -> Option<&str> {
    if let Some(host) = place.strip_prefix("ssh:") {
        return Some(host.rsplit('@').next().unwrap_or(host));
    }
    // Two tunnels of one machine differ by their ports.
    place.strip_prefix("agent:")
}

fn node(name: &str, text: &str, shared: &Settings) -> Result<Node> {
    let (place, own) = split(text)?;
    let mut settings = shared.clone();
    let (mut group, mut quota) = (None, None);
    for (option, value) in own {
        let value = value.clone();
        match option {
            "cgroup" => group = Some(value),
            "quota" => {
                let cpus = quantity::cpus(&value);
                quota = Some(cpus.map_err(|why| anyhow!("quota={value}: {why}"))?);
            }
            "cpus" => settings.cpus = Some(value),
            "sessions" => {
                let count = value.parse().ok().filter(|it| *it > 0);
                settings.sessions =
                    Some(count.with_context(|| format!("sessions={value}: expected a number"))?);
            }
            "folder" => settings.folder = Some(value),
            "engine" => settings.engine = Some(value),
            _ => settings.dsn = Some(value),
        }
    }
    let place = if let Some(host) = place.strip_prefix("ssh:") {
        // A host that begins with a dash would be an option of ssh.
        if host.is_empty() || host.starts_with('-') {
            bail!("{host:?} is not a host for ssh");
        }
        Place::Ssh(host.to_owned())
    } else if let Some(address) = place.strip_prefix("agent:") {
        let port = address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        if port.is_none() {
            bail!("expected agent:HOST:PORT, as in agent:127.0.0.1:7078");
        }
        Place::Agent(address.to_owned())
    } else {
        let given =
            if ENGINES.contains(&&*place) { &mut settings.engine } else { &mut settings.dsn };
        if given.replace(place).is_some() {
            bail!("it says already what commits; leave out engine= or dsn=");
        }
        Place::Here(group.take())
    };
    if quota.is_some() && matches!(place, Place::Agent(_)) {
        bail!(
            "quota= makes a control group for the agent that a race starts; start this agent in a group with a quota, or let \
             ssh:HOST,quota= start one"
        );
    }
    if quota.is_some() && matches!(place, Place::Here(Some(_))) {
        bail!(
            "quota= makes a control group of its own: leave out cgroup=, or set the quota of that group"
        );
    }
    if let Some(group) = group {
        bail!(
            "cgroup={group} is for nodes of this machine; start the agent of another one in its group"
        );
    }
    Ok(Node { name: name.to_owned(), place, settings, quota })
}

/// A place and the options after it. A comma in a value is one: `cpus=0,2`, a DSN with two hosts.
fn split(text: &str) -> Result<(String, Vec<(&'static str, String)>)> {
    let mut parts = text.split(',');
    let mut place = parts.next().unwrap_or_default().to_owned();
    let mut own: Vec<(&'static str, String)> = Vec::new();
    for part in parts {
        let option = part.split_once('=');
        let known =
            option.and_then(|(key, value)| Some((*OPTIONS.iter().find(|it| **it == key)?, value)));
        match (known, own.last_mut()) {
            (Some((key, value)), _) => own.push((key, value.to_owned())),
            (None, Some((_, value))) => value.extend([",", part]),
            (None, None) => place.extend([",", part]),
        }
    }
    let is_dsn = !ENGINES.iter().any(|it| place.starts_with(&format!("{it},")))
        && !["ssh:", "agent:"].iter().any(|it| place.starts_with(it));
    if !is_dsn && place.contains(',') {
        let known = OPTIONS.join(", ");
        let unknown = place.split_once(',').map_or("", |it| it.1);
        bail!("{unknown}: no option of a node; there are {known}");
    }
    if place.is_empty() {
        bail!("it does not say where the node is");
    }
    Ok((place, own))
}

/// Recordings that are being made; those of nodes elsewhere come in pieces.
#[derive(Default)]
pub(super) struct Recordings {
    here: Option<Taping>,
    /// By the number of the node; `None` once one could not be written, which was reported.
    there: BTreeMap<usize, Option<File>>,
}

impl Recordings {
    /// Begins to record this machine, which is `host` by the answers in `recording`.
    ///
    /// Errors: there is no room for it, or no thread.
    pub(super) fn begin(
        journal: &Journal,
        recording: &Recording<'_>,
        host: &HostView,
    ) -> Result<Recordings> {
        let (file, path) = journal.recording(None)?;
        let tape = Writer::on(file, path.display().to_string(), recording)?;
        let taping = Taping::begin(tape, host, |_| {})
            .map_err(|it| anyhow!(host::process::thread_refusal(&it)))?;
        Ok(Recordings { here: Some(taping), there: BTreeMap::new() })
    }

    /// Writes the next piece of a node's recording. The first error is returned and ends that recording.
    pub(super) fn add(
        &mut self,
        journal: &Journal,
        node: usize,
        name: &str,
        piece: &Piece,
    ) -> Result<()> {
        if piece.is_first {
            self.there.insert(node, None);
            let (file, _) = journal.recording(Some(name))?;
            self.there.insert(node, Some(file));
        }
        let Some(Some(file)) = self.there.get_mut(&node) else { return Ok(()) };
        let written = file.write_all(&piece.bytes);
        if written.is_err() {
            self.there.insert(node, None);
        }
        Ok(written?)
    }

    /// Waits until all of them are on the disk.
    pub(super) fn finish(self) -> Result<()> {
        let here = self.here.map_or(Ok(()), Taping::finish);
        let there = self.there.into_values().flatten().try_for_each(|it| it.sync_data());
        here?;
        Ok(there?)
    }
}

/// A piece of a recording.
pub(super) struct Piece {
    /// Whether a tape begins with it: the first one, or one of a node that began anew.
    pub(super) is_first: bool,
    pub(super) bytes: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of options and their values.
    fn nodes(words: &[&str]) -> Result<Vec<Node>, String> {
        let (mut named, mut unnamed, mut shared) = (Vec::new(), Vec::new(), Settings::default());
        for option in words.chunks(2) {
            match option {
                ["--node", node] => named.push((*node).to_owned()),
                ["--nodes", nodes] => unnamed.extend(nodes.split(',').map(str::to_owned)),
                ["--sessions", count] => shared.sessions = Some(count.parse().unwrap()),
                other => panic!("{other:?}"),
            }
        }
        planned(&named, &unnamed, &shared).map_err(|it| format!("{it:#}"))
    }

    #[test]
    fn a_node_is_an_engine_or_a_server_here_or_an_agent_elsewhere() {
        let words = [
            "--node",
            "a=embedded,cgroup=/sys/fs/cgroup/b,cpus=0,2-3",
            "--node",
            "b=host=/tmp,/var/run port=5433,sessions=4",
            "--node",
            "c=ssh:root@db1,dsn=postgresql:///t,engine=postgresql,quota=1.5",
            "--nodes",
            "agent:127.0.0.1:7078,ssh:root@db2",
            "--sessions",
            "64",
        ];
        let found = nodes(&words).unwrap();
        let names: Vec<&str> = found.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["a", "b", "c", "127.0.0.1:7078", "db2"]);
        assert_eq!(found[0].place, Place::Here(Some("/sys/fs/cgroup/b".to_owned())));
        let Settings { engine, cpus, sessions, .. } = &found[0].settings;
        assert_eq!(
            (engine.as_deref(), cpus.as_deref(), *sessions),
            (Some("embedded"), Some("0,2-3"), Some(64))
        );
        let Settings { engine, dsn, sessions, .. } = &found[1].settings;
        assert_eq!(
            (engine, dsn.as_deref(), *sessions),
            (&None, Some("host=/tmp,/var/run port=5433"), Some(4))
        );
        assert_eq!(found[2].place, Place::Ssh("root@db1".to_owned()));
        assert_eq!(found[2].settings.dsn.as_deref(), Some("postgresql:///t"));
        assert_eq!([&found[0], &found[2]].map(|it| it.quota), [None, Some(1.5)]);
        assert_eq!(
            nodes(&["--node", "a=embedded,quota=25%", "--node", "b=embedded"]).unwrap()[0].quota,
            Some(0.25)
        );
        assert_eq!(found[3].place, Place::Agent("127.0.0.1:7078".to_owned()));
    }

    #[test]
    fn cpus_are_exchanged_where_they_are_not_what_is_compared() {
        let exchanged = |a: &str, b: &str| {
            let found = nodes(&["--node", &format!("a={a}"), "--node", &format!("b={b}")]).unwrap();
            let cpus = |leg| of_leg(&found, leg).into_iter().map(|it| it.settings.cpus);
            assert!(
                cpus(0).eq(cpus(2)) && cpus(0).eq(found.iter().map(|it| it.settings.cpus.clone()))
            );
            !cpus(1).eq(cpus(0))
        };
        assert!(exchanged("embedded,cpus=0", "embedded,cpus=1,quota=25%"));
        assert!(exchanged("embedded,cpus=0,2", "postgresql,cpus=4-5"));
        assert!(!exchanged("embedded,cpus=0", "embedded,cpus=1"), "CPUs are what is compared");
        assert!(!exchanged("embedded,cpus=0", "embedded,cpus=1-2,sessions=4"), "more CPUs");
        assert!(!exchanged("embedded,cpus=0", "embedded,sessions=4"), "the scheduler chooses");
        assert!(!exchanged("embedded,cpus=0", "ssh:db1,cpus=1"), "another machine");
    }

    #[test]
    fn what_names_no_node_is_refused_and_says_what_would() {
        for (words, why) in [
            (&["--node", "a=embedded"][..], "two nodes"),
            (&["--node", "embedded", "--node", "b=embedded"], "NAME=WHERE"),
            (&["--node", "a=embedded", "--node", "a=embedded"], "two nodes are called a"),
            (&["--node", "a=", "--node", "b=embedded"], "where the node is"),
            (&["--node", "a=ssh:db1,colour=red", "--node", "b=embedded"], "colour=red: no option"),
            (&["--node", "a=embedded,colour=red", "--node", "b=embedded"], "colour=red: no option"),
            (&["--node", "a=embedded,sessions=many", "--node", "b=embedded"], "expected a number"),
            (&["--node", "a=embedded,dsn=x,engine=mariadb", "--node", "b=embedded"], "leave out"),
            (&["--node", "a=embedded,quota=half", "--node", "b=embedded"], "25% of one CPU"),
            (
                &["--node", "a=embedded,quota=1,cgroup=/g", "--node", "b=embedded"],
                "leave out cgroup=",
            ),
            (
                &["--node", "a=agent:127.0.0.1:7078,quota=1", "--node", "b=embedded"],
                "ssh:HOST,quota=",
            ),
            (&["--nodes", "db1,db2"], "ssh:HOST"),
            (&["--nodes", "agent:db1,ssh:db2"], "agent:HOST:PORT"),
            (&["--nodes", "ssh:-oProxyCommand=x,ssh:db2"], "not a host"),
            (
                &["--node", "a=ssh:db1,cgroup=/sys/fs/cgroup/b", "--nodes", "ssh:db2"],
                "this machine",
            ),
        ] {
            let refused = nodes(words).unwrap_err();
            assert!(refused.contains(why), "{words:?}: {refused}");
        }
    }
}
