//! Whether two arms ran the same thing.

use crate::record::Arm;
use serde_json::Value;
use std::collections::BTreeSet;

/// What two arms have that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    /// `workload`, or the name of a setting.
    pub what: String,
    /// What the first arm has; `none` where it has nothing.
    pub a: String,
    /// What the other one has.
    pub b: String,
}

/// The first thing in which the workloads of two arms differ, or what was asked of them; `None` where they ran the same.
pub fn unlike(a: &Arm, b: &Arm) -> Option<Unlike> {
    if a.workload != b.workload {
        let (a, b) = (a.workload.clone(), b.workload.clone());
        return Some(Unlike { what: "workload".to_owned(), a, b });
    }
    let [of_a, of_b] = [a, b].map(|it| serde_json::to_value(&it.settings).unwrap_or_default());
    let names = [&of_a, &of_b].into_iter().filter_map(Value::as_object).flat_map(|it| it.keys());
    let names: BTreeSet<&String> = names.collect();
    let what = names.into_iter().find(|it| of_a.get(*it) != of_b.get(*it))?;
    let [a, b] = [of_a.get(what), of_b.get(what)].map(shown);
    Some(Unlike { what: what.clone(), a, b })
}

/// What an arm ran, in words: its workload, and what was asked of it. Where it ran, and for how long at most, is left out, as machines of
/// a fleet differ in that: arms with the same words did the same work.
pub fn work(arm: &Arm) -> String {
    const WHERE: [&str; 4] = ["dsn", "folder", "server", "timeout"];
    let settings = serde_json::to_value(&arm.settings).unwrap_or_default();
    let given = settings.as_object().into_iter().flatten();
    let given = given.filter(|(name, _)| !WHERE.contains(&name.as_str()));
    let given: Vec<String> =
        given.map(|(name, value)| format!("{name} {}", shown(Some(value)))).collect();
    if given.is_empty() {
        return arm.workload.clone();
    }
    format!("{} ({})", arm.workload, given.join(", "))
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Settings;

    #[test]
    fn the_first_thing_that_differs_is_named() {
        let of = |workload, iterations| {
            let settings = Settings { iterations, ..Settings::default() };
            Arm { settings, ..Arm::of("A", workload) }
        };
        let differs = |a: &Arm, b: &Arm| {
            unlike(a, b).map(|Unlike { what, a, b }| format!("{what}: {a}, {b}"))
        };
        let one = of("cpu-loop", Some(7));
        assert_eq!(differs(&one, &Arm { name: "B".to_owned(), ..one.clone() }), None);
        assert_eq!(differs(&one, &of("timer", None)).unwrap(), "workload: cpu-loop, timer");
        assert_eq!(differs(&one, &of("cpu-loop", Some(8))).unwrap(), "iterations: 7, 8");
        assert_eq!(differs(&of("cpu-loop", None), &one).unwrap(), "iterations: none, 7");
    }

    #[test]
    fn work_is_the_same_wherever_it_is_done() {
        let of = |folder: &str, iterations| {
            let folder = Some(folder.to_owned());
            let settings = Settings { folder, iterations, ..Settings::default() };
            work(&Arm { settings, ..Arm::of("A", "fsync") })
        };
        assert_eq!(
            (of("/a", Some(7)), of("/b", None)),
            ("fsync (iterations 7)".to_owned(), "fsync".to_owned())
        );
    }
}
