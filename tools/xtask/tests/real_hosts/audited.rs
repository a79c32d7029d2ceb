//! One host's audit, and the same from a capture of it.

use facts::HostView;
use host::{Captured, Recording, Source};
use rules::advice;
use rules::audit::{Audit, audit};
use rules::diagnosis;
use rules::finding::Severity;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the audit of one host said.
#[derive(Debug, Default)]
pub(crate) struct Audited {
    /// Check, severity and the line that a user sees, worst first.
    pub(crate) findings: Vec<(&'static str, Severity, String)>,
    /// Checks that found nothing.
    pub(crate) clean: BTreeSet<&'static str>,
    /// The chains of its diagnosis above a note, in words.
    pub(crate) chains: Vec<String>,
    /// All that its findings say: messages, costs, evidence and advice.
    pub(crate) words: String,
    /// What is known of the host itself; `None` where a text was explained without a host.
    pub(crate) view: Option<HostView>,
}

impl Audited {
    /// Audits the host that `open` opens. Panics count as errors, so that the other hosts still have
    /// their turn.
    pub(crate) fn new(
        open: impl FnOnce() -> anyhow::Result<Box<dyn Source>>,
    ) -> Result<Audited, String> {
        let audited = catch_unwind(AssertUnwindSafe(|| {
            let source = open().map_err(|error| format!("{error:#}"))?;
            let recording = Recording::new(&*source);
            let view = host::view(&recording);
            let words = words(&*source, &view);
            let audited = Audited { words, ..Audited::of(view) };
            audited.agrees_with_capture(&recording.capture())?;
            Ok(audited)
        }));
        audited.unwrap_or_else(|_| Err("it panics".to_owned()))
    }

    fn of(view: HostView) -> Audited {
        let audit = audit(&view);
        let chains = diagnosis::chains(&audit);
        let chains = chains.iter().filter(|it| it.severity() > Severity::Info);
        let chains = chains.map(report::diagnosis::sentences).collect();
        let Audit { findings, clean, .. } = audit;
        for (check, finding) in &findings {
            let is_right = finding.is_as_severe_as_its_loss(check.id);
            assert!(is_right, "{} has a scale of its own: {finding:#?}", check.id);
        }
        let line = |finding: &rules::finding::Finding| {
            let scope = finding.cpus.as_ref().map_or(String::new(), |it| format!(" [{it}]"));
            format!("{}{scope}", finding.message)
        };
        Audited {
            findings: findings.iter().map(|(it, f)| (it.id, f.severity, line(f))).collect(),
            clean: clean.iter().map(|it| it.id).collect(),
            chains,
            words: String::new(),
            view: Some(view),
        }
    }

    /// A capture must lead to the same findings, although names and addresses are gone.
    fn agrees_with_capture(&self, capture: &str) -> Result<(), String> {
        let captured = Captured::parse(capture).map_err(|error| format!("its capture: {error}"))?;
        let again = Audited::of(host::view(&captured));
        if self.findings == again.findings && self.clean == again.clean {
            return Ok(());
        }
        Err(format!("its capture says {:?}, the host {:?}", again.findings, self.findings))
    }
}

/// What findings say, a part in each line.
fn words(source: &dyn Source, host: &HostView) -> String {
    let mut findings = audit(host).findings;
    let controls = host::controls(source, &advice::reads(&findings));
    advice::advise(host, &controls, &mut findings);
    let mut words = Vec::new();
    for (_, it) in findings {
        words.push(it.message);
        words.extend(it.cost.map(|it| format!("{} ({})", it.estimate, it.derivation)));
        words.extend(it.evidence.into_iter().map(|it| format!("{} = {}", it.source, it.value)));
        words.extend(it.fix.lasting);
        words.extend(it.fix.now);
        words.extend(it.fix.by_hand.into_iter().map(|it| it.command));
        words.extend(it.fix.apply.into_iter().map(|it| format!("fullclock apply {it}")));
    }
    words.join("\n")
}
