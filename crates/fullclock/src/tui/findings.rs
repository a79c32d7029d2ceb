//! What an audit found: in short next to the table, and all of it on a page.

use super::text::{counted, cut, rule, wrap, wrapped};
use super::theme::{ASIDE, HEADING, Theme};
use facts::HostView;
use ratatui::text::{Line, Span};
use report::Style;
use report::document::{Document, Format};
use rules::audit::Audit;
use rules::check::Check;
use rules::finding::{Finding, Severity};

/// An audit in the words of the screen.
pub(crate) struct Findings {
    /// A sentence or two.
    verdict: String,
    /// The worst first.
    found: Vec<Found>,
    /// How many the configuration suppresses.
    n_suppressed: usize,
    /// All of the audit.
    document: Document,
}

/// A finding in short.
struct Found {
    severity: Severity,
    check: &'static str,
    /// The CPUs that have it, in words; empty where it is not a matter of CPUs.
    cpus: String,
    /// What it costs or, where nobody can estimate that, what it is.
    words: String,
    /// The command that fixes it, where there is one.
    fix: Option<String>,
}

impl Findings {
    /// Those of the host called `name`.
    pub(crate) fn of(name: &str, host: &HostView, audit: &Audit) -> Findings {
        let detail = report::audit::Detail { quiet: false, verbose: false };
        Findings {
            verdict: report::audit::verdict(host, audit),
            found: audit.findings.iter().map(|(check, it)| found(check, it)).collect(),
            n_suppressed: audit.suppressed.len(),
            document: report::audit::document(name, host, audit, detail),
        }
    }

    /// `2 findings`, for a line of several things; nothing where there are none.
    pub(super) fn count(&self) -> Option<String> {
        let worst = self.found.first()?;
        let n = counted(self.found.len(), "finding");
        Some(format!("{n}, worst {}", worst.severity.name()))
    }

    /// All of the audit, in lines of at most so many columns where its words allow it.
    pub(super) fn page(&self, columns: usize) -> Vec<String> {
        let text = self.document.render(Format::Text(Style { color: false, width: columns }));
        text.lines().map(str::to_owned).collect()
    }
}

fn found(check: &Check, finding: &Finding) -> Found {
    let fix = &finding.fix;
    let apply =
        || (!fix.apply.is_empty()).then(|| format!("fullclock apply {}", fix.apply.join(" ")));
    let by_hand = || fix.by_hand.first().map(|it| it.command.clone());
    let cost = finding.cost.as_ref().map(|it| format!("costs {}", it.estimate));
    Found {
        severity: finding.severity,
        check: check.id,
        cpus: finding.cpus.as_ref().map(ToString::to_string).unwrap_or_default(),
        words: cost.unwrap_or_else(|| finding.message.clone()),
        fix: apply().or_else(|| fix.now.first().cloned()).or_else(by_hand),
    }
}

/// A rule and the findings, in at most `height` lines: each with its fix where there is room, else in a line, and at last their
/// number. Without an audit yet, that it is being made.
pub(super) fn lines(
    findings: Option<&Findings>,
    (columns, height): (u16, usize),
    theme: Theme,
) -> Vec<Line<'static>> {
    let mut words = match findings.map(|it| it.found.len()) {
        None | Some(0) => vec!["findings".to_owned()],
        Some(n) => vec![counted(n, "finding"), "f shows all".to_owned()],
    };
    if let Some(n) = findings.map(|it| it.n_suppressed).filter(|it| *it > 0) {
        words.insert(1, format!("{n} suppressed"));
    }
    let mut lines = vec![Line::styled(rule(&words, columns, theme), ASIDE)];
    let room = height.saturating_sub(1);
    let columns = usize::from(columns);
    match findings {
        None => lines.push(Line::styled("auditing ...", ASIDE)),
        Some(it) if it.found.is_empty() => {
            let text = wrapped(&it.verdict, columns, room.max(1), theme.ellipsis());
            lines.extend(text.into_iter().map(Line::raw));
        }
        Some(it) => {
            let whole: Vec<Line> =
                it.found.iter().flat_map(|it| in_full(it, columns, theme)).collect();
            if whole.len() <= room {
                lines.extend(whole);
            } else {
                lines.extend(in_short(&it.found, columns, room, theme));
            }
        }
    }
    lines
}

/// The longest name of a severity, and the space behind it.
const MARGIN: usize = 10;

fn in_full(found: &Found, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut head = head(found, theme);
    head.push_span(Span::raw(format!("  {}", found.cpus)));
    let room = columns.saturating_sub(MARGIN).max(1);
    let indented = |text: &str| format!("{:MARGIN$}{text}", "");
    let words = wrap(&found.words, room, "");
    let fix = found.fix.iter().flat_map(|it| wrap(it, room, "  "));
    let mut lines = vec![head];
    lines.extend(words.iter().map(|it| Line::raw(indented(it))));
    lines.extend(fix.map(|it| Line::styled(indented(&it), HEADING)));
    lines
}

fn in_short(found: &[Found], columns: usize, room: usize, theme: Theme) -> Vec<Line<'static>> {
    let n_shown = if found.len() <= room { room } else { room.saturating_sub(1) };
    let line = |it: &Found| {
        let mut line = head(it, theme);
        let used = MARGIN + it.check.len() + 2;
        if used < columns {
            let words = wrapped(&it.words, columns - used, 1, theme.ellipsis());
            line.push_span(Span::raw(format!("  {}", words.concat())));
        }
        line
    };
    let mut lines: Vec<Line> = found.iter().take(n_shown).map(line).collect();
    if found.len() > n_shown && room > 0 {
        let text = format!("and {} more (f)", found.len() - n_shown);
        lines.push(Line::styled(cut(&text, columns), ASIDE));
    }
    lines
}

fn head(found: &Found, theme: Theme) -> Line<'static> {
    let severity = found.severity.name().to_uppercase();
    Line::from(vec![
        Span::styled(format!("{severity:MARGIN$}"), theme.severity(found.severity)),
        Span::styled(found.check, HEADING),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::Colors;
    use rules::config::Config;

    const SLOW: &str = "//- /sys/devices/system/cpu/online\n0-1\n//- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver\nacpi-cpufreq\n\
        //- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor\npowersave\n\
        //- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0 1\n\
        //- /sys/devices/system/cpu/cpufreq/policy0/related_cpus\n0 1\n";

    #[test]
    fn what_the_site_suppresses_is_counted_and_is_on_the_page() {
        let text =
            "ignore = [{ id = 'slow-governor', until = 2999-01-01, because = 'saves power' }]";
        let host = host::view(&host::Captured::excerpt(SLOW).unwrap());
        let mut audit = rules::audit::audit(&host);
        audit.suppress(&Config::parse("c", text).unwrap().ignored, "2026-11-27");
        let findings = Findings::of("db1", &host, &audit);
        let theme = Theme { colors: Colors::None, unicode: true };
        let lines = lines(Some(&findings), (80, 5), theme);
        assert!(lines[0].to_string().contains("1 suppressed"), "{lines:?}");
        let page = findings.page(80).join("\n");
        for words in ["Suppressed by the configuration", "slow-governor", "2999-01-01: saves power"]
        {
            assert!(page.contains(words), "{page}");
        }
    }
}
