//! A plan: what was asked for, in the order in which it can be changed; and what became of it.
//!
//! Each setting is planned on the host as those before it will leave it, as far as that can be foreseen.

use crate::boot_edit;
use crate::setting::{Change, Effect, Planned, Refusal, Risk, Scene, Setting, Wanted};
use crate::settings::{self, SETTINGS};
use facts::change::{Controls, Group, Target, Undone, Write, cpus_of};
use facts::{CpuSet, HostView, Subjects};
use std::collections::BTreeSet;
use std::time::Duration;

/// One setting and the value that is asked of it.
#[derive(Clone)]
pub struct Request {
    /// The setting that is to be changed.
    pub setting: &'static Setting,
    /// The value, without its CPUs.
    pub value: String,
    /// The CPUs it is asked for; `None` for all.
    pub cpus: Option<CpuSet>,
    /// Why, in the words of whoever asks; empty where nobody said.
    pub because: String,
    /// The check whose finding it is to fix, where it was requested for that.
    pub fixes: Option<&'static str>,
    /// Whether a host that has no such thing is left as it is, as a profile for many hosts wants it.
    pub if_here: bool,
}

/// What is going to be done, and what is not.
pub struct Plan {
    /// In the order to do it; each with its writes.
    pub steps: Vec<Step>,
    /// What cannot be done, and why. A plan with one is not carried out.
    pub refused: Vec<(Request, Refusal)>,
    /// What a profile asks of other hosts, and why not of this one.
    pub left_out: Vec<(Request, Refusal)>,
}

/// A setting and the writes that change it.
pub struct Step {
    /// The request that the step carries out.
    pub request: Request,
    /// What that takes; no writes where it is so already.
    pub change: Change,
}

impl Request {
    /// Parses `governor=performance` or `idle-state=C6:off@0-3`.
    ///
    /// Errors: no `=`, no such setting, or no list of CPUs behind the `@`.
    pub fn parse(text: &str) -> Result<Request, String> {
        let Some((id, value)) = text.split_once('=') else {
            return Err(format!("{text:?} is not SETTING=VALUE, such as governor=performance"));
        };
        let setting = settings::find(id).ok_or_else(|| unknown_setting(id))?;
        let (value, cpus) = cpus_of(value)?;
        Ok(Request::of(setting, value, cpus))
    }

    /// A request for a value of a setting, on some CPUs or all.
    pub fn of(setting: &'static Setting, value: &str, cpus: Option<CpuSet>) -> Request {
        let (value, because) = (value.to_owned(), String::new());
        Request { setting, value, cpus, because, fixes: None, if_here: false }
    }

    /// All of it as the user would write it: `governor=performance`.
    pub fn text(&self) -> String {
        format!("{}={}", self.setting.id, self.value_text())
    }

    /// The value as the user would write it: `off@4-7`.
    pub fn value_text(&self) -> String {
        match &self.cpus {
            None => self.value.clone(),
            Some(cpus) => format!("{}@{cpus}", self.value),
        }
    }

    /// Plans it on a host as it is.
    pub fn plan(&self, scene: &Scene<'_>, i_know: bool) -> Planned {
        if self.setting.risk == Risk::High && !i_know {
            let id = self.setting.id;
            let text =
                format!("{id} can do harm: read `fullclock explain {id}`, then add --i-know");
            return Err(Refusal::NeedsConsent(text));
        }
        let wanted = Wanted { value: &self.value, cpus: self.cpus.as_ref(), i_know };
        (self.setting.plan)(scene, &wanted)
    }
}

fn unknown_setting(id: &str) -> String {
    let is_near = |it: &&str| id.len() > 2 && (it.contains(id) || id.contains(it));
    let near = SETTINGS.iter().map(|it| it.id).filter(is_near);
    let near: Vec<&str> = near.take(4).collect();
    match near.as_slice() {
        [] => format!("there is no setting {id:?}; `fullclock explain` lists them"),
        near => format!("there is no setting {id:?}; did you mean {}?", near.join(", ")),
    }
}

impl Step {
    /// Its writes, for the journal.
    pub fn group(&self) -> Group {
        Group {
            setting: self.request.setting.id.to_owned(),
            value: self.request.value_text(),
            canary: self.change.canary,
            writes: self.change.writes.clone(),
        }
    }
}

impl Plan {
    /// Whether everything is as it was asked already.
    pub fn is_idle(&self) -> bool {
        self.steps.iter().all(|step| step.change.writes.is_empty())
    }

    /// Counts as refused what was left out, where nothing else of the plan fixes that check: it was requested by name.
    pub fn must_fix(&mut self, check: &str) {
        let is_of_check = |request: &Request| request.fixes == Some(check);
        if self.steps.iter().any(|step| is_of_check(&step.request)) {
            return;
        }
        let (of_check, others) =
            std::mem::take(&mut self.left_out).into_iter().partition(|it| is_of_check(&it.0));
        self.left_out = others;
        self.refused.extend::<Vec<_>>(of_check);
    }

    /// Whether some of it is in force only after a reboot.
    pub fn needs_reboot(&self) -> bool {
        let at_boot = |step: &Step| {
            step.request.setting.effect == Effect::AtBoot && !step.change.writes.is_empty()
        };
        self.steps.iter().any(at_boot)
    }
}

/// The files that planning these requests reads.
pub fn reads(requests: &[Request]) -> Vec<&'static str> {
    let all: BTreeSet<&str> =
        requests.iter().flat_map(|it| it.setting.reads.iter().copied()).collect();
    all.into_iter().collect()
}

/// What planning these requests looks at of the host.
pub fn looks_at(requests: &[Request]) -> Subjects {
    requests.iter().map(|it| it.setting.looks_at).collect()
}

/// Plans the requests on a host, of which [`looks_at`] names what has to be known, `controls` being what [`reads`] names there.
///
/// What is refused is tried once more behind all others: to lower both limits of the clock, the lower one goes first, which
/// the host does not show before.
pub fn plan(host: &HostView, controls: Controls, requests: &[Request], i_know: bool) -> Plan {
    let mut plan = Plan { steps: Vec::new(), refused: Vec::new(), left_out: Vec::new() };
    let mut foreseen = controls;
    let mut waiting = Vec::new();
    for request in ordered(requests) {
        if add(&mut plan, host, &mut foreseen, request, i_know).is_err() {
            waiting.push(request);
        }
    }
    for request in waiting {
        if let Err(refusal) = add(&mut plan, host, &mut foreseen, request, i_know) {
            let is_left_out = request.if_here && refusal.is_absence();
            let list = if is_left_out { &mut plan.left_out } else { &mut plan.refused };
            list.push((request.clone(), refusal));
        }
    }
    plan
}

fn add(
    plan: &mut Plan,
    host: &HostView,
    controls: &mut Controls,
    request: &Request,
    i_know: bool,
) -> Result<(), Refusal> {
    let change = request.plan(&Scene { host, controls }, i_know)?;
    *controls = std::mem::take(controls).after(&change.writes);
    plan.steps.push(Step { request: request.clone(), change });
    Ok(())
}

/// Each request behind those that its setting comes after; otherwise as they were asked.
fn ordered(requests: &[Request]) -> Vec<&Request> {
    let mut ordered: Vec<&Request> = Vec::new();
    let mut left: Vec<&Request> = requests.iter().collect();
    while !left.is_empty() {
        let is_free = |request: &Request| {
            let waits_for = |other: &&Request| request.setting.after.contains(&other.setting.id);
            !left.iter().any(waits_for)
        };
        let free = left.iter().position(|request| is_free(request)).unwrap_or_default();
        ordered.push(left.remove(free));
    }
    ordered
}

/// The boot line that these requests would make of `line`, whatever keeps it on this host; `line` itself where all that they ask for
/// is in it.
///
/// Errors: a request is not about the boot line of this host, or for what it does not take.
pub fn edited_boot_line(
    host: &HostView,
    requests: &[Request],
    line: &str,
    i_know: bool,
) -> Result<String, Refusal> {
    requests.iter().try_fold(line.to_owned(), |line, request| {
        // As a host would have it that keeps the line in a file.
        let controls = Controls::from_iter([(boot_edit::CMDLINE.to_owned(), Ok(line.clone()))]);
        let change = request.plan(&Scene { host, controls: &controls }, i_know)?;
        let written = change.writes.into_iter().next().and_then(|it| it.to);
        Ok(written.map_or(line, |it| it.trim_end().to_owned()))
    })
}

/// What became of a plan.
pub struct Applied {
    /// What was to be done.
    pub plan: Plan,
    /// The id of the change; `None` where there was nothing to do, or nothing was done.
    pub id: Option<String>,
    /// How many writes were made.
    pub n_writes: usize,
    /// What the kernel refused, which it may, and its words.
    pub not_taken: Vec<(Target, String)>,
    /// Why nothing is changed, where something went wrong.
    pub error: Option<String>,
    /// What was undone then.
    pub undone: Vec<Undone>,
    /// The files that make it last.
    pub files: Vec<Write>,
    /// How long it waits to be confirmed.
    pub confirm_within: Option<Duration>,
}

impl Applied {
    /// Whether files that make it last were written, and are still there.
    pub fn lasts(&self) -> bool {
        self.error.is_none() && !self.files.is_empty()
    }

    /// Whether something of it was refused or went wrong.
    pub fn is_refused(&self) -> bool {
        self.error.is_some() || !self.plan.refused.is_empty()
    }

    /// A plan of which nothing was done.
    pub fn nothing(plan: Plan) -> Applied {
        Applied {
            plan,
            id: None,
            n_writes: 0,
            not_taken: Vec::new(),
            error: None,
            undone: Vec::new(),
            files: Vec::new(),
            confirm_within: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::host_of;
    use crate::fixture::planned::files;
    use facts::change::Write;
    use host::Captured;

    /// What is planned of `requests`, a line each: `setting: from -> to from -> to`, then what is refused and left out.
    fn planned(requests: &[Request], excerpt: &str) -> String {
        let captured = Captured::excerpt(excerpt).unwrap();
        let controls = host::controls(&captured, &reads(requests));
        let plan = plan(&host_of(excerpt), controls, requests, false);
        let value = |value: &Option<String>| value.clone().unwrap_or_default();
        let write = |it: &Write| format!(" {} -> {}", value(&it.from), value(&it.to));
        let step = |it: &Step| {
            let writes: String = it.change.writes.iter().map(write).collect();
            format!("{}:{writes}", it.request.setting.id)
        };
        let without = |word: &'static str| {
            move |(request, refusal): &(Request, Refusal)| {
                format!("{word} {}: {refusal}", request.setting.id)
            }
        };
        let steps = plan.steps.iter().map(step);
        let refused = plan.refused.iter().map(without("refused"));
        let left_out = plan.left_out.iter().map(without("left out"));
        steps.chain(refused).chain(left_out).collect::<Vec<_>>().join("\n")
    }

    fn requests(texts: &[&str]) -> Vec<Request> {
        texts.iter().map(|it| Request::parse(it).unwrap()).collect()
    }

    /// One policy that runs between 1 and 3 GHz, its limits set to 2 and 3.
    fn one_policy() -> String {
        files(
            "online 0\npossible 0\ncpu0/cpufreq x\ncpufreq/policy0/affected_cpus 0\n\
             cpufreq/policy0/scaling_driver acpi-cpufreq\n\
             cpufreq/policy0/scaling_available_frequencies 3000000 2000000 1500000 1000000\n\
             cpufreq/policy0/scaling_governor powersave\n\
             cpufreq/policy0/scaling_available_governors performance powersave\n\
             cpufreq/policy0/cpuinfo_min_freq 1000000\ncpufreq/policy0/cpuinfo_max_freq 3000000\n\
             cpufreq/policy0/scaling_min_freq 2000000\ncpufreq/policy0/scaling_max_freq 3000000\n",
        )
    }

    #[test]
    fn both_limits_may_be_lowered_in_whichever_order_works() {
        for order in [
            ["scaling-max=1500000", "scaling-min=1000000"],
            ["scaling-min=1000000", "scaling-max=1500000"],
        ] {
            let plan = planned(&requests(&order), &one_policy());
            let lines: Vec<&str> = plan.lines().collect();
            assert_eq!(
                lines,
                ["scaling-min: 2000000 -> 1000000", "scaling-max: 3000000 -> 1500000"]
            );
        }
    }

    #[test]
    fn what_a_profile_asks_of_other_hosts_is_left_out_and_what_a_user_asks_is_refused() {
        let asked = requests(&["energy-perf-bias=0"]);
        assert!(planned(&asked, &one_policy()).starts_with("refused energy-perf-bias: "));
        let profile: Vec<Request> =
            asked.into_iter().map(|it| Request { if_here: true, ..it }).collect();
        assert!(planned(&profile, &one_policy()).starts_with("left out energy-perf-bias: "));
    }

    #[test]
    fn a_wrong_value_is_refused_also_in_a_profile() {
        let asked = requests(&["scaling-max=fast"]).pop().unwrap();
        let profile = [Request { if_here: true, ..asked }];
        assert!(planned(&profile, &one_policy()).starts_with("refused scaling-max: "));
    }

    #[test]
    fn a_finding_that_was_named_and_cannot_be_fixed_is_refused() {
        let check = "power-saving-bias";
        let setting = settings::find("energy-perf-bias").unwrap();
        let request = Request::of(setting, "performance", None);
        let asked = [Request { fixes: Some(check), if_here: true, ..request }];
        let excerpt = one_policy();
        let controls = host::controls(&Captured::excerpt(&excerpt).unwrap(), &reads(&asked));
        let mut plan = plan(&host_of(&excerpt), controls, &asked, false);
        assert!(plan.refused.is_empty() && !plan.left_out.is_empty());
        plan.must_fix("slow-governor");
        assert!(plan.refused.is_empty());
        plan.must_fix(check);
        assert!(!plan.refused.is_empty() && plan.left_out.is_empty());
    }

    #[test]
    fn edits_of_one_file_add_up() {
        use crate::fixture::boot_loaders::DEBIAN;
        let plan = planned(&requests(&["nohz-full=2-3", "idle=halt"]), DEBIAN);
        let last = plan.lines().last().unwrap();
        assert!(last.contains("nohz_full=2-3 idle=halt"), "{plan}");
        assert!(plan.contains("idle: # Written"), "{plan}");
    }

    #[test]
    fn a_name_that_is_no_setting_is_answered_by_those_like_it() {
        let error = |text: &str| Request::parse(text).err().unwrap();
        assert_eq!(
            error("gov=x"),
            "there is no setting \"gov\"; did you mean governor, governor-tunable, idle-governor?"
        );
        assert_eq!(
            error("performance"),
            "\"performance\" is not SETTING=VALUE, such as governor=performance"
        );
        assert!(error("governor=x@y").contains("list of CPUs"));
    }
}
