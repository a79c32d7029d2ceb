//! What `fullclock audit --json` says, as far as scenarios ask.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde_json::Value;
use testbench::Transcript;

/// One audit's report.
pub(crate) struct Audit {
    step: String,
    report: Value,
}

impl Audit {
    /// The report that the step called `step` printed.
    pub(crate) fn of(transcript: &Transcript, step: &str) -> Self {
        let output = transcript.step(step).unwrap_or_else(|error| panic!("{error:#}"));
        let report = serde_json::from_str(&output.stdout).unwrap_or_else(|error| {
            panic!("step '{step}' printed no report ({error}): {output:#?}")
        });
        Self { step: step.to_owned(), report }
    }

    /// Every finding `id`: one each for CPUs that are not in the same state.
    pub(crate) fn findings(&self, id: &str) -> Vec<&Value> {
        self.entries("findings").iter().filter(|finding| finding["id"] == id).collect()
    }

    /// The CPUs that findings `id` name.
    pub(crate) fn cpus(&self, id: &str) -> BTreeSet<u32> {
        let lists = self.findings(id).into_iter().filter_map(|it| it["cpus"]["list"].as_str());
        lists.flat_map(|list| list.split(',')).flat_map(cpu_range).collect()
    }

    /// Panics unless the audit has a finding `id`; returns the first.
    pub(crate) fn expect(&self, id: &str) -> &Value {
        let found = self.findings(id).first().copied();
        found.unwrap_or_else(|| panic!("{}: no '{id}' in {:#}", self.step, self.report))
    }

    /// Panics if the audit has the finding `id`, or could not tell.
    pub(crate) fn expect_clean(&self, id: &str) {
        let clean = self.entries("clean").iter().any(|check| check == id);
        assert!(clean, "{}: '{id}' is not clean in {:#}", self.step, self.report);
    }

    /// Panics if the audit has the finding `id`.
    pub(crate) fn expect_silent(&self, id: &str) {
        assert!(self.findings(id).is_empty(), "{}: '{id}' is in {:#}", self.step, self.report);
    }

    /// Panics unless one chain of the diagnosis, and no other, has any of these findings, and has them in this order; returns it.
    pub(crate) fn expect_one_chain(&self, findings: &[&str]) -> &Value {
        let ids = |chain: &Value| -> Vec<String> {
            let ids = chain["findings"].as_array().into_iter().flatten();
            ids.filter_map(|it| it.as_str().map(str::to_owned)).collect()
        };
        let has_any = |it: &&Value| ids(it).iter().any(|id| findings.contains(&id.as_str()));
        let found: Vec<&Value> = self.entries("diagnosis").iter().filter(has_any).collect();
        let step = &self.step;
        let [chain] = found.as_slice() else {
            panic!("{step}: {} chains have {findings:?}: {found:#?}", found.len())
        };
        assert_eq!(ids(chain), findings, "{step}: {chain:#}");
        chain
    }

    /// Whether the audit says that it could not judge `id`, or that it does not apply.
    pub(crate) fn leaves_open(&self, id: &str) -> bool {
        let open = |list| self.entries(list).iter().any(|entry| entry["check"] == id);
        open("unknown") || open("not_applicable")
    }

    /// Everything the findings are based on, as `source=value`.
    pub(crate) fn evidence(&self) -> Vec<String> {
        let all =
            self.entries("findings").iter().filter_map(|finding| finding["evidence"].as_array());
        all.flatten().map(|one| format!("{}={}", one["source"], one["value"])).collect()
    }

    fn entries(&self, list: &str) -> &Vec<Value> {
        self.report[list]
            .as_array()
            .unwrap_or_else(|| panic!("{}: no list '{list}' in {:#}", self.step, self.report))
    }
}

/// The CPUs of `3` or `0-3`.
fn cpu_range(text: &str) -> RangeInclusive<u32> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let cpu = |text: &str| text.parse().unwrap_or_else(|_| panic!("'{text}' is no CPU"));
    cpu(first)..=cpu(last)
}
