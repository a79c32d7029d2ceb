//! In which settings two machines, or one at two moments, differ.

use crate::record::Fingerprint;
use serde::{Deserialize, Serialize};

/// A setting with two values. `None` is a machine whose record does not name the setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingDifference {
    /// As the record names it.
    pub name: String,
    /// Its value on the machine of A.
    pub a: Option<String>,
    /// Its value on the machine of B.
    pub b: Option<String>,
}

/// The settings that differ, in the order of their names.
pub(crate) fn differences(a: &Fingerprint, b: &Fingerprint) -> Vec<SettingDifference> {
    let only_b = b.0.keys().filter(|it| !a.0.contains_key(*it));
    let mut names: Vec<&String> = a.0.keys().chain(only_b).collect();
    names.sort_unstable();
    names
        .into_iter()
        .map(|it| SettingDifference {
            name: it.clone(),
            a: a.0.get(it).cloned(),
            b: b.0.get(it).cloned(),
        })
        .filter(|it| it.a != it.b)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_named_and_what_one_lacks_differs() {
        let machine = |settings: &[(&str, &str)]| {
            Fingerprint(settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
        };
        let a = machine(&[("governor", "performance"), ("kernel", "6.18"), ("turbo", "on")]);
        let b = machine(&[("governor", "powersave"), ("kernel", "6.18"), ("boost", "1")]);
        let found: Vec<String> = differences(&a, &b)
            .iter()
            .map(|it| format!("{} {:?} {:?}", it.name, it.a.as_deref(), it.b.as_deref()))
            .collect();
        assert_eq!(
            found,
            [
                r#"boost None Some("1")"#,
                r#"governor Some("performance") Some("powersave")"#,
                r#"turbo Some("on") None"#
            ]
        );
    }
}
