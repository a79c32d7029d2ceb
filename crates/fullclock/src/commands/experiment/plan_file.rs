//! A plan of an experiment as a file (TOML).
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

use super::asked;
use crate::commands::bytes_of;
use crate::duration;
use anyhow::{Context, Result, anyhow, bail};
use lab::experiment::{Boots, Design, Factor, Guards, Shape};
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;
use toml::{Table, Value};

/// Far more than any plan has.
const LARGEST: u64 = 1 << 20;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct PlanFile {
    name: String,
    factors: Table,
    workloads: Vec<String>,
    shape: Shape,
    trials: u32,
    until: Option<String>,
    warm_up: u32,
    rest: Option<String>,
    budget: Option<String>,
    boots: Option<u32>,
    guards: GuardsFile,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct GuardsFile {
    temperature: Option<f64>,
    stolen: Option<String>,
    other_load: Option<String>,
}

pub(super) fn read(path: &Path) -> Result<Design> {
    let shown = path.display();
    let Some(bytes) = bytes_of(path, LARGEST)? else {
        bail!("{shown} holds 1 MiB or more, which no plan does");
    };
    let text = String::from_utf8(bytes).with_context(|| format!("{shown} is no text"))?;
    parse(&text).with_context(|| format!("{shown} is no plan"))
}

/// The plan that a file holds.
pub(crate) fn parse(text: &str) -> Result<Design> {
    let file: PlanFile = toml::from_str(text)?;
    let share = |text: &Option<String>| {
        text.as_deref().map(crate::cli::percent).transpose().map_err(|error| anyhow!(error))
    };
    Ok(Design {
        name: file.name,
        factors: file.factors.iter().map(factor).collect::<Result<_>>()?,
        workloads: file.workloads,
        shape: file.shape,
        trials: file.trials,
        until: share(&file.until).context("until")?,
        warm_up: file.warm_up,
        rest: time(file.rest.as_deref()).context("rest")?.unwrap_or_default(),
        budget: time(file.budget.as_deref()).context("budget")?,
        // Which factors take one is known once all are.
        boots: file.boots.map(|rounds| Boots { factors: Vec::new(), rounds }),
        guards: Guards {
            temperature: file.guards.temperature,
            stolen: share(&file.guards.stolen).context("guards.stolen")?,
            other_load: share(&file.guards.other_load).context("guards.other-load")?,
        },
    })
}

fn time(text: Option<&str>) -> Result<Option<Duration>> {
    text.map(duration::parse).transpose().map_err(|error| anyhow!(error))
}

/// Levels may be written as numbers and switches, too.
fn factor((name, levels): (&String, &Value)) -> Result<Factor> {
    let level = |it: &Value| match it {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Boolean(is_on) => Ok(if *is_on { "on" } else { "off" }.to_owned()),
        other => Err(anyhow!(
            "factors.{name}: {other} is no level; expected text, a number or true or false"
        )),
    };
    let Value::Array(levels) = levels else {
        bail!("factors.{name}: expected its levels, like [\"on\", \"off\"], and found {levels}");
    };
    Ok(asked::named(name, levels.iter().map(level).collect::<Result<_>>()?))
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
            error("[factors]\nturbo = [1.5, 2.5]").starts_with("factors.turbo: 1.5 is no level")
        );
    }
}
