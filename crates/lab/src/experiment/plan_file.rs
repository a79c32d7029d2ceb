//! A plan of an experiment as a file (TOML): what `fullclock experiment` reads and a report writes.
//!
//! ```toml
//! name = "do idle states cost us more than they save"
//! workloads = ["cpu-loop --cpus 3", "wakeup --cpus 2,3"]
//! shape = "full"            # or "one-at-a-time", "fraction"
//! trials = 16
//! rest = "500ms"
//! budget = "20m"
//! boots = 4                # of each level that takes a reboot
//!
//! [factors]
//! governor = ["performance", "powersave"]
//! "idle-state.C6" = ["on", "off"]
//! load = ["idle", "all-cores"]
//!
//! [guards]
//! temperature = 90.0        # degrees Celsius
//! stolen = "2%"
//! ```

use super::{Boots, Design, Factor, Guards, Shape};
use anyhow::{Context, Result, anyhow, bail};
use facts::quantity::{duration, percent};
use host::trusted_file;
use rules::profile::toml_fault;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;
use toml::{Table, Value};

/// Far more than any plan has.
const LARGEST: usize = 1 << 20;

/// The shape of the file. What is `None` is not in it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct PlanFile {
    name: String,
    workloads: Vec<String>,
    shape: Shape,
    trials: u32,
    until: Option<String>,
    warm_up: u32,
    rest: Option<String>,
    budget: Option<String>,
    boots: Option<u32>,
    /// In the order of the design.
    factors: Table,
    guards: GuardsFile,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct GuardsFile {
    temperature: Option<f64>,
    stolen: Option<String>,
    other_load: Option<String>,
}

/// The plan in a file, its factors with the levels that are written there.
///
/// Errors: users other than root and the caller can write it, whose commands it would run; it is no plan.
pub fn read(path: &Path) -> Result<Design> {
    let shown = path.display();
    let bytes = trusted_file::read(path, LARGEST)?;
    let bytes = bytes.with_context(|| format!("{shown}: there is no such file"))?;
    let text = String::from_utf8(bytes).with_context(|| format!("{shown} is not a text file"))?;
    parse(&text).with_context(|| format!("{shown} is not a plan"))
}

fn parse(text: &str) -> Result<Design> {
    let plan = toml::from_str::<PlanFile>(text);
    plan.map_err(|error| anyhow!("its TOML{}", toml_fault(text, &error)))?.design()
}

/// The text of the file that [`read`] makes this plan of.
pub fn text(design: &Design) -> String {
    // A plan is texts and numbers: what TOML can hold.
    toml::to_string_pretty(&PlanFile::of(design)).unwrap_or_else(|error| format!("# {error}\n"))
}

impl PlanFile {
    fn of(design: &Design) -> Self {
        let Guards { temperature, stolen, other_load } = design.guards;
        let levels = |it: &Factor| Value::from(it.levels.clone());
        Self {
            name: design.name.clone(),
            workloads: design.workloads.clone(),
            shape: design.shape,
            trials: design.trials,
            until: design.until.map(percentage),
            warm_up: design.warm_up,
            rest: Some(design.rest).filter(|it| !it.is_zero()).map(time),
            budget: design.budget.map(time),
            boots: design.boots.as_ref().map(|it| it.rounds),
            factors: design.factors.iter().map(|it| (it.name.clone(), levels(it))).collect(),
            guards: GuardsFile {
                temperature,
                stolen: stolen.map(percentage),
                other_load: other_load.map(percentage),
            },
        }
    }

    fn design(self) -> Result<Design> {
        Ok(Design {
            name: self.name,
            factors: self.factors.iter().map(factor).collect::<Result<_>>()?,
            workloads: self.workloads,
            shape: self.shape,
            trials: self.trials,
            until: parsed(self.until.as_deref(), percent).context("until")?,
            warm_up: self.warm_up,
            rest: parsed(self.rest.as_deref(), duration).context("rest")?.unwrap_or_default(),
            budget: parsed(self.budget.as_deref(), duration).context("budget")?,
            // Which factors take one is known once all are.
            boots: self.boots.map(|rounds| Boots { factors: Vec::new(), rounds }),
            guards: Guards {
                temperature: self.guards.temperature,
                stolen: parsed(self.guards.stolen.as_deref(), percent).context("guards.stolen")?,
                other_load: parsed(self.guards.other_load.as_deref(), percent)
                    .context("guards.other-load")?,
            },
        })
    }
}

fn parsed<T>(text: Option<&str>, parse: fn(&str) -> Result<T, String>) -> Result<Option<T>> {
    text.map(parse).transpose().map_err(|error| anyhow!(error))
}

/// Levels may be written as numbers and switches, too.
fn factor((name, levels): (&String, &Value)) -> Result<Factor> {
    let level = |it: &Value| match it {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Boolean(is_on) => Ok(if *is_on { "on" } else { "off" }.to_owned()),
        other => Err(anyhow!(
            "factors.{name}: {other} is not a level; expected text, a number or true or false"
        )),
    };
    let Value::Array(levels) = levels else {
        bail!("factors.{name}: expected its levels, like [\"on\", \"off\"], and found {levels}");
    };
    let levels = levels.iter().map(level).collect::<Result<_>>()?;
    Ok(Factor { name: name.clone(), levels })
}

/// `0.3%`, without the digits that a share has beyond those that somebody wrote.
fn percentage(share: f64) -> String {
    format!("{}%", (share * 1e8).round() / 1e6)
}

/// `500ms`.
fn time(time: Duration) -> String {
    match time.subsec_nanos() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_secs_f64() * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_says_what_the_command_line_says() {
        let text = "workloads = ['cpu-loop --cpus 3']\nuntil = '0.5%'\nrest = '500ms'\n\
                    [factors]\nturbo = [true, false]\nkipmid-max-busy = [100, 1000]\n[guards]\nstolen = '2%'";
        let design = parse(text).unwrap();
        let factor =
            |at: usize| (design.factors[at].name.as_str(), design.factors[at].levels.join("|"));
        assert_eq!(factor(0), ("turbo", "on|off".to_owned()));
        assert_eq!(factor(1), ("kipmid-max-busy", "100|1000".to_owned()));
        assert_eq!((design.until, design.guards.stolen), (Some(0.005), Some(0.02)));
        assert_eq!(design.rest, Duration::from_millis(500));
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let error = |text: &str| format!("{:#}", parse(text).unwrap_err());
        assert!(error("trails = 3").contains("unknown field `trails`"), "{}", error("trails = 3"));
        assert!(error("rest = 'soon'").starts_with("rest: "));
        assert!(error("[factors]\nturbo = 'on'").starts_with("factors.turbo: expected its levels"));
        assert!(
            error("[factors]\nturbo = [1.5, 2.5]").starts_with("factors.turbo: 1.5 is not a level")
        );
    }

    #[test]
    fn the_page_has_every_key_and_an_example_that_is_read() {
        const PAGE: &str = include_str!("../../../../docs/plan.md");
        // Where a key is unknown, the parser lists those that there are.
        let keys = |text: &str, of: &str| -> Vec<String> {
            let error = format!("{:#}", parse(text).unwrap_err());
            let (_, expected) = error.split_once("expected ").unwrap();
            expected.split('`').skip(1).step_by(2).map(|it| format!("{of}{it}")).collect()
        };
        let expected = [keys("unknown = 1", ""), keys("[guards]\nunknown = 1", "guards.")].concat();
        let rows = PAGE.lines().filter_map(|it| it.strip_prefix("| `")?.split('`').next());
        assert_eq!(rows.collect::<Vec<&str>>(), expected);
        let (_, rest) = PAGE.split_once("```toml\n").unwrap();
        let example = parse(rest.split("```").next().unwrap()).unwrap();
        assert!(example.factors.len() == 2 && example.guards.stolen == Some(0.02));
    }

    #[test]
    fn a_plan_is_read_back_as_the_design_it_was() {
        let factor = |name: &str, levels: [&str; 2]| Factor {
            name: name.to_owned(),
            levels: levels.map(str::to_owned).into(),
        };
        let design = Design {
            name: "it's \"quoted\"\nin two lines".to_owned(),
            // Neither is in the order of the alphabet.
            factors: vec![
                factor("governor", ["powersave", "performance"]),
                factor("\"c\" = states", ["on", "off"]),
            ],
            workloads: vec!["cpu-loop --cpus 3".to_owned(), "wakeup".to_owned()],
            shape: Shape::OneAtATime,
            trials: 16,
            until: Some(0.003),
            warm_up: 1,
            rest: Duration::from_millis(1500),
            budget: Some(Duration::from_secs(1200)),
            guards: Guards { temperature: Some(90.0), stolen: Some(0.02), other_load: Some(0.07) },
            boots: Some(Boots { factors: Vec::new(), rounds: 4 }),
        };
        let text = text(&design);
        let back = parse(&text).unwrap_or_else(|error| panic!("{error:#}: {text}"));
        assert_eq!(back, design);
    }
}
