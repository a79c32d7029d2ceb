//! What this program lacks on a host, as a document and as JSON: what is missing first, each with what it would add and its command.

mod configuration;
mod json;

pub use configuration::{Configuration, Controller};
pub(crate) use json::DoctorDocument;
pub use json::json;

use crate::audit::describe;
use crate::document::{Block, Document, Role, Text};
use crate::wording::{capital, once_then_nothing};
use facts::HostView;
use facts::access::Access;
use facts::quantity::counted;
use rules::means::{Examined, Kind, Provision, State};
use std::collections::BTreeSet;

/// So many checks are named where not all are to be.
const NAMED: usize = 4;

/// What was looked for on one host.
pub struct Examination<'a> {
    /// The host.
    pub host: &'a HostView,
    /// What this program may do there.
    pub access: &'a Access,
    /// Each thing, what is missing first.
    pub examined: &'a [Examined],
    /// What became of the configuration.
    pub configuration: &'a Configuration,
}

/// What is missing on the host called `name`; if `verbose`, also what is not needed there, and what shows each thing.
pub fn document(name: &str, examination: &Examination<'_>, verbose: bool) -> Document {
    let mut document = Document::new(format!("fullclock doctor of {name}"));
    document.paragraph(describe_user(examination));
    document.paragraph(Text::strong(verdict(examination.examined)));
    let groups = by_command(examination.examined);
    for group in &groups {
        provided(&mut document, group, verbose);
    }
    list(&mut document, "No command of this host provides", examination.examined, unprovided);
    list(&mut document, "For single commands", examination.examined, tool);
    list(&mut document, "Unknown", examination.examined, unknown);
    if verbose {
        list(&mut document, "Here", examination.examined, here);
        list(&mut document, "Not needed here", examination.examined, not_needed);
    } else {
        let is_here = |it: &&Examined| matches!(it.state, State::Here(_));
        let here = examination.examined.iter().filter(is_here).map(|it| it.means.id);
        document.heading("Here");
        document.paragraph(here.collect::<Vec<_>>().join(", "));
    }
    document.heading("Configuration");
    configuration::describe(&mut document, examination.configuration);
    let more =
        if verbose { "" } else { " `-v` says what shows each, and what is not needed here." };
    document.note(Text::sentence(&format!(
        "`fullclock audit -v` lists the reason of each check that is unknown.{more}"
    )));
    document
}

/// The host in a line, and who looks at it.
fn describe_user(examination: &Examination<'_>) -> String {
    let user = match &examination.access.rights {
        Ok(rights) if rights.is_root() => Some("as root".to_owned()),
        Ok(rights) => Some(format!("as user {}", rights.user)),
        Err(_) => None,
    };
    let parts = [Some(describe(examination.host)).filter(|it| !it.is_empty()), user];
    capital(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn is_tool(it: &Examined) -> bool {
    it.means.kind == Kind::Tool
}

/// What is missing, in a sentence. Programs that a single command starts are no fault of a host.
fn verdict(examined: &[Examined]) -> String {
    let n_of =
        |is: fn(&State) -> bool| examined.iter().filter(|it| !is_tool(it) && is(&it.state)).count();
    let n = n_of(|it| matches!(it, State::Lacking { by: Provision::Command { .. }, .. }));
    let n_beyond = n_of(|it| matches!(it, State::Lacking { by: Provision::Nothing(_), .. }));
    let n_unknown = n_of(|it| matches!(it, State::Unknown(_)));
    let checks = |is: fn(&State) -> bool| -> BTreeSet<&str> {
        let lacking = examined.iter().filter(|it| is(&it.state));
        lacking.flat_map(|it| it.unknown.iter().copied()).collect()
    };
    let provided = checks(|it| matches!(it, State::Lacking { by: Provision::Command { .. }, .. }));
    let beyond = checks(|it| matches!(it, State::Lacking { by: Provision::Nothing(_), .. }));
    let things = |n: usize| format!("{} {}", counted(n as u64, "thing"), is_are(n));
    let first = match (n, n_beyond, n_unknown) {
        (0, 0, 0) => "Nothing is missing that an audit or a measurement uses.".to_owned(),
        (0, 0, n) => format!("Nothing is known to be missing; {} unknown.", things(n)),
        (0, ..) => "Nothing is missing that a command of this host provides.".to_owned(),
        (n, ..) => format!("{} missing that a command provides.", things(n)),
    };
    let lacks = [
        (provided.len(), "for lack of what is missing"),
        (beyond.difference(&provided).count(), "that no command of this host makes known"),
    ];
    let lacks = lacks.into_iter().filter(|it| it.0 > 0);
    let lacks = lacks
        .map(|(n, why)| format!(" {} {} unknown {why}.", counted(n as u64, "check"), is_are(n)));
    lacks.fold(first, |text, it| text + &it)
}

fn is_are(n: usize) -> &'static str {
    if n == 1 { "is" } else { "are" }
}

/// What one and the same command provides.
struct Group<'a> {
    now: &'a str,
    more: Option<&'a str>,
    members: Vec<&'a Examined>,
}

fn by_command(examined: &[Examined]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for it in examined.iter().filter(|it| !is_tool(it)) {
        let State::Lacking { by: Provision::Command { now, more }, .. } = &it.state else {
            continue;
        };
        match groups.iter_mut().find(|group| group.now == now) {
            Some(group) => group.members.push(it),
            None => groups.push(Group { now, more: more.as_deref(), members: vec![it] }),
        }
    }
    groups
}

fn provided(document: &mut Document, group: &Group<'_>, verbose: bool) {
    let titles: Vec<&str> = group.members.iter().map(|it| it.means.title).collect();
    document.heading(capital(&titles.join(", ")));
    let is_alone = group.members.len() == 1;
    let seen = group.members.iter().filter_map(|it| match &it.state {
        State::Lacking { seen, .. } if verbose || is_alone => Some(seen),
        _ => None,
    });
    for (seen, label) in seen.zip(once_then_nothing("seen")) {
        document.labelled(label, &**seen);
    }
    document.labelled("now", Text::code(group.now));
    if let Some(more) = group.more {
        document.labelled("", Text::sentence(more));
    }
    let adds: Vec<&str> = group.members.iter().map(|it| it.means.adds.text).collect();
    document.labelled("adds", adds.join("; "));
    let unknown: BTreeSet<&str> =
        group.members.iter().flat_map(|it| it.unknown.iter().copied()).collect();
    if !unknown.is_empty() {
        document.labelled("", checks(&unknown.into_iter().collect::<Vec<_>>(), verbose));
    }
}

/// "2 checks that are unknown here: a, b".
fn checks(ids: &[&str], verbose: bool) -> String {
    let shown = if verbose { ids.len() } else { NAMED };
    let named: Vec<&str> = ids.iter().take(shown).copied().collect();
    let rest = match ids.len().saturating_sub(named.len()) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let n = ids.len();
    let are = if n == 1 { "check that is" } else { "checks that are" };
    format!("{n} {are} unknown here: {}{rest}", named.join(", "))
}

/// A line for each that `of` has one for, under a heading.
fn list(
    document: &mut Document,
    heading: &str,
    examined: &[Examined],
    of: fn(&Examined) -> Option<Text>,
) {
    let lines = examined.iter().filter_map(|it| Some(Block::labelled(it.means.id, of(it)?)));
    let lines: Vec<Block> = lines.collect();
    if !lines.is_empty() {
        document.heading(heading);
        document.extend(lines);
    }
}

fn unprovided(it: &Examined) -> Option<Text> {
    match &it.state {
        State::Lacking { seen, by: Provision::Nothing(why) } if !is_tool(it) => {
            Some(Text::sentence(&format!("{seen}: {why}")))
        }
        _ => None,
    }
}

fn tool(it: &Examined) -> Option<Text> {
    let State::Lacking { seen, by } = &it.state else { return None };
    if !is_tool(it) {
        return None;
    }
    let adds = Text::sentence(&format!("{}: ", it.means.adds.text));
    Some(match by {
        Provision::Command { now, .. } => adds.with(Role::Code, &**now),
        Provision::Nothing(why) => {
            Text::sentence(&format!("{}: {seen}; {why}", it.means.adds.text))
        }
    })
}

fn unknown(it: &Examined) -> Option<Text> {
    match &it.state {
        State::Unknown(missing) => Some(Text::from(missing.to_string())),
        _ => None,
    }
}

fn here(it: &Examined) -> Option<Text> {
    match &it.state {
        State::Here(text) => Some(Text::from(&**text)),
        _ => None,
    }
}

fn not_needed(it: &Examined) -> Option<Text> {
    match &it.state {
        State::NotNeeded(text) => Some(Text::from(&**text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::every_form::in_every_form;
    use facts::{Missing, Origin};
    use host::Captured;
    use rules::config::Config;

    const HOST: &str = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\n\
        flags : acpi est ida hwp\nmodel name : Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\n\
        //- /sys/devices/system/cpu/online\n0-3\n//- /proc/sys/kernel/osrelease\n6.1.0-18-amd64\n\
        //- /etc/os-release\nID=debian\nVERSION_ID=\"12\"\n//- /proc/self/status\nUid:\t1000\t1000\t1000\t1000\n\
        CapEff:\t0000000000000000\nCpus_allowed_list:\t0-3\n//- /dev/kmsg\n!denied\n\
        //- /sys/kernel/tracing/events/\n!denied\n//- /sys/fs/cgroup/cgroup.controllers\ncpu\n//- /proc/schedstat\n\
        version 17\n//- /sys/kernel/security/lockdown\nnone [integrity] confidentiality\n//- /usr/bin/\nssh\n\
        //- /run/systemd/system/\n//- /dev/cpu_dma_latency\n!denied\n";

    #[test]
    fn what_is_missing_comes_first_with_its_command() {
        let source = Captured::excerpt(HOST).unwrap();
        let mut host = host::view(&source);
        let audit = rules::audit::audit(&host);
        host.origin = Origin::Live;
        let mut access = host::access(&source);
        access.perf = Err(Missing::denied(
            "perf event context-switches, with kernel.perf_event_paranoid above 0,",
        ));
        access.exits = Err(Missing::denied("times of tasks that ended (taskstats)"));
        let examined = rules::means::examine(&host, &access, &audit);
        let text = "ignore = [\n{ id = 'turbo-off', until = 2027-01-31, because = 'licence' },\n\
                    { id = 'slow-governor', cpus = '0-1', until = 2026-01-31, because = 'rack' },\n]\n\
                    [folders]\nstate = '/s'\n[thresholds]\nstolen-time = 3\n";
        let configuration = Configuration::Read {
            path: "/etc/fullclock/config.toml".to_owned(),
            config: Box::new(Config::parse("c", text).unwrap()),
            today: "2026-11-27".to_owned(),
            controller: None,
        };
        let examination = Examination {
            host: &host,
            access: &access,
            examined: &examined,
            configuration: &configuration,
        };
        let short = document("this machine", &examination, false);
        insta::assert_snapshot!("user", in_every_form(&short));
        let long = document("this machine", &examination, true);
        insta::assert_snapshot!("user_verbose", crate::document::every_form::text(&long, 100));
    }

    #[test]
    fn what_no_command_makes_known_is_not_for_lack_of_what_is_missing() {
        let means = rules::means::MEANS.iter().copied().find(|it| it.kind != Kind::Tool).unwrap();
        let of = |by: Provision, unknown: &[&'static str]| {
            let state = State::Lacking { seen: String::new(), by };
            Examined { means, state, unknown: unknown.to_vec() }
        };
        let command = || Provision::Command { now: "mount".to_owned(), more: None };
        let nothing = || Provision::Nothing("a guest".to_owned());
        assert_eq!(
            verdict(&[of(command(), &[]), of(nothing(), &["a", "b"])]),
            "1 thing is missing that a command provides. 2 checks are unknown that no command of this host makes known."
        );
        assert_eq!(
            verdict(&[of(command(), &["a"]), of(nothing(), &["a"])]),
            "1 thing is missing that a command provides. 1 check is unknown for lack of what is missing."
        );
        let unknown = State::Unknown(Missing::absent("a file"));
        let unknown = Examined { means, state: unknown, unknown: Vec::new() };
        assert_eq!(verdict(&[unknown]), "Nothing is known to be missing; 1 thing is unknown.");
    }
}
