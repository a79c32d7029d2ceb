//! What a finding advises on the host that has it.
//!
//! One rule: a command, or a line of `fullclock apply`, is printed only where `plan` on that host accepts the change, and only where every
//! write of it goes to a place that the finding names: one of its evidence, or one that its check adds. Checks request settings
//! ([`Finding::fix_by`]); their own writes are the commands. What no setting does comes from one list,
//! [`COMMANDS`](crate::commands::COMMANDS), each with a precondition.
//!
//! Evidence shows one example of many. A path of one CPU or cpufreq policy, or a register of one CPU, stands for the same of each CPU that
//! the finding is on.

pub(crate) mod persist;
mod shell;

pub(crate) use shell::word_list;

use crate::boot_line;
use crate::check::Check;
use crate::commands::Kind;
use crate::finding::{ByHand, Finding, Requested};
use crate::plan::{self, Request, Step};
use crate::setting::Effect;
use crate::settings;
use facts::change::{Aim, Controls, Target, matched};
use facts::system::distribution::Distribution;
use facts::{CpuSet, HostView};
use std::collections::BTreeSet;

/// Findings, each with its check, as an audit has them.
pub type Found = [(&'static Check, Finding)];

/// The files that [`advise`] plans from, as patterns of [`Controls`].
pub fn reads(findings: &Found) -> Vec<&'static str> {
    let requests = findings.iter().flat_map(|(_, finding)| &finding.fix.requests);
    let settings = requests.filter_map(|it| settings::find(it.setting));
    let all: BTreeSet<&str> = settings.flat_map(|it| it.reads.iter().copied()).collect();
    all.into_iter().collect()
}

/// Plans what each finding requests, `controls` being what [`reads`] names on this host, and gives it the commands that were accepted and
/// the reasons of those that were not.
pub fn advise(host: &HostView, controls: &Controls, findings: &mut Found) {
    for (check, finding) in findings {
        plan_requests(host, controls, check, finding);
        allow_commands(host, finding);
        tell_how(host, finding);
    }
}

/// Says how this distribution changes the boot line, where a text only names what belongs on it.
fn tell_how(host: &HostView, finding: &mut Finding) {
    if let Some(lasting) = &mut finding.fix.lasting
        && let Some(way) = boot_line::way(host, lasting)
    {
        lasting.push_str("; boot line: ");
        lasting.push_str(&way);
    }
}

/// What the check requests for one finding, as a plan takes it.
pub fn requests(host: &HostView, check: &Check, finding: &Finding) -> Vec<Request> {
    let request = |it: &Requested| {
        let setting = settings::find(it.setting)?;
        let all = host.topology.online.as_ref().ok();
        let cpus = it.cpus.clone().filter(|cpus| all.is_none_or(|all| !all.minus(cpus).is_empty()));
        Some(Request {
            fixes: Some(check.id),
            if_here: true,
            ..Request::of(setting, &it.value, cpus)
        })
    };
    finding.fix.requests.iter().filter_map(request).collect()
}

fn plan_requests(host: &HostView, controls: &Controls, check: &Check, finding: &mut Finding) {
    let mut requests = requests(host, check, finding);
    if requests.is_empty() {
        return;
    }
    // What one setting writes may change what the next one plans, so that what is left out is left out of the plan.
    let steps = loop {
        let plan = plan::plan(host, controls.clone(), &requests, false);
        let refused = plan.refused.iter().chain(&plan.left_out);
        finding.fix.refused.extend(refused.map(|(it, why)| format!("{}: {why}", it.text())));
        let unfit = plan.steps.iter().find_map(|it| Some((it, unfit(host, finding, it)?)));
        let Some((step, why)) = unfit else { break plan.steps };
        let text = step.request.text();
        finding.fix.refused.push(format!("{text}: {why}"));
        requests = plan.steps.iter().map(|it| it.request.clone()).collect();
        requests.retain(|it| it.text() != text);
    };
    finding.fix.apply = steps.iter().map(|it| it.request.text()).collect();
    let at_once = steps.iter().filter(|it| it.request.setting.effect == Effect::AtOnce);
    let has_braces = host.distribution.as_ref().map_or(true, Distribution::has_braces);
    let commands = |it: &Step| shell::commands(&it.change.writes, has_braces);
    finding.fix.now.extend(at_once.flat_map(commands));
}

/// Why an accepted step is not for this finding.
fn unfit(host: &HostView, finding: &Finding, step: &Step) -> Option<String> {
    let mut written = step.change.writes.iter().filter(|it| it.aim != Aim::Forgotten).peekable();
    if written.peek().is_none() {
        let note = step.change.notes.first().map_or("already set", String::as_str);
        return Some(note.to_owned());
    }
    let other = written.find(|it| !is_named(host, finding, &it.target))?;
    Some(format!("it would also change {}", other.target))
}

fn allow_commands(host: &HostView, finding: &mut Finding) {
    for it in std::mem::take(&mut finding.fix.commands) {
        let text = it.command.text.replace("{}", &it.argument);
        match ((it.command.holds)(host), it.command.kind) {
            (Ok(()), Kind::Looks) => finding.fix.look.push(text),
            (Ok(()), Kind::Changes { risk }) => {
                let available = it.command.available;
                finding.fix.by_hand.push(ByHand { command: text, risk, available });
            }
            (Err(_), Kind::Looks) => {}
            (Err(why), Kind::Changes { .. }) => finding.fix.refused.push(format!("{text}: {why}")),
        }
        finding.fix.commands.push(it);
    }
}

/// Whether a finding names this place.
pub fn is_named(host: &HostView, finding: &Finding, target: &Target) -> bool {
    let place = target.to_string();
    let evidence = finding.evidence.iter().map(|it| it.source.as_str());
    let mut named = evidence.chain(finding.fix.places.iter().map(String::as_str));
    named.any(|named| {
        named == place
            || (named.contains('*') && matched(named, &place).is_some())
            || is_of_its_cpus(host, finding, named, &place)
    })
}

/// Whether a place is that of the example on another CPU of the finding.
fn is_of_its_cpus(host: &HostView, finding: &Finding, example: &str, place: &str) -> bool {
    let (Some(scope), Some(example), Some(place)) =
        (&finding.cpus, PerCpu::of(example), PerCpu::of(place))
    else {
        return false;
    };
    let is_same = (example.before, example.after) == (place.before, place.after);
    let cpus = place.cpus(host);
    is_same && !cpus.is_empty() && cpus.minus(&scope.cpus).is_empty()
}

/// A path with the number of a CPU or of a policy in it.
struct PerCpu<'a> {
    before: &'a str,
    number: u32,
    after: &'a str,
}

impl<'a> PerCpu<'a> {
    fn of(path: &'a str) -> Option<PerCpu<'a>> {
        /// What stands before the number; the registers of a CPU are a file of a folder of that name.
        const BEFORE: &[&str] =
            &["/sys/devices/system/cpu/cpufreq/policy", "/sys/devices/system/cpu/cpu", "/dev/cpu/"];
        let rest = BEFORE.iter().find_map(|it| path.strip_prefix(it))?;
        let (digits, _) = rest.split_once('/')?;
        let number = digits.parse().ok()?;
        let (before, after) = (&path[..path.len() - rest.len()], rest.strip_prefix(digits)?);
        Some(PerCpu { before, number, after })
    }

    /// The CPUs that the place holds for.
    fn cpus(&self, host: &HostView) -> CpuSet {
        let Some(folder) = self.folder_of_policy() else {
            return [self.number].into_iter().collect();
        };
        let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
        let cpus = policies.iter().find(|it| it.folder == folder).map(|it| it.cpus.clone());
        match (cpus, &host.topology.online) {
            // A CPU that is offline has no clock.
            (Some(cpus), Ok(online)) => cpus.and(online),
            (cpus, _) => cpus.unwrap_or_default(),
        }
    }

    /// The folder of the policy that the place is in: on older kernels that of a CPU.
    fn folder_of_policy(&self) -> Option<String> {
        let own = format!("{}{}", self.before, self.number);
        if self.before.ends_with("policy") {
            return Some(own);
        }
        self.after.starts_with("/cpufreq/").then(|| format!("{own}/cpufreq"))
    }
}
