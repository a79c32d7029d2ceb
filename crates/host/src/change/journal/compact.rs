//! A group as the journal keeps it: writes of the same values to places whose paths differ in one part are kept as one, with
//! the parts. A group of 128 CPUs takes half a kilobyte and not twenty, and is written through as fast as one of one CPU.

use facts::change::{Aim, Group, Target, Write};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::change) struct Compact {
    setting: String,
    value: String,
    canary: bool,
    writes: Vec<Run>,
}

/// Writes in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Run {
    /// Any write.
    One(Write),
    /// The same write of several controls, whose paths are `before`, one of `parts`, and `after`.
    Controls {
        before: String,
        parts: Vec<String>,
        after: String,
        from: Option<String>,
        to: Option<String>,
        aim: Aim,
    },
}

impl Compact {
    /// The group; [`Compact::unpack`] gives back the same.
    pub(in crate::change) fn of(group: &Group) -> Compact {
        let mut writes = Vec::new();
        let mut rest = group.writes.as_slice();
        while let Some((first, others)) = rest.split_first() {
            let (run, n) = match others.first().and_then(|next| frame(first, next)) {
                Some((before, after)) => controls(first, rest, before, after),
                None => (Run::One(first.clone()), 1),
            };
            writes.push(run);
            rest = rest.get(n..).unwrap_or_default();
        }
        let Group { setting, value, canary, .. } = group.clone();
        Compact { setting, value, canary, writes }
    }

    /// The group that was compact.
    pub(in crate::change) fn unpack(self) -> Group {
        let writes = self.writes.into_iter().flat_map(Run::unpack).collect();
        Group { setting: self.setting, value: self.value, canary: self.canary, writes }
    }
}

impl Run {
    fn unpack(self) -> Vec<Write> {
        match self {
            Run::One(write) => vec![write],
            Run::Controls { before, parts, after, from, to, aim } => {
                let target = |part| Target::Control { path: format!("{before}{part}{after}") };
                let write =
                    |part| Write { target: target(part), from: from.clone(), to: to.clone(), aim };
                parts.iter().map(write).collect()
            }
        }
    }
}

/// What the paths of two writes have in common at both ends; `None` where they are not of one kind.
fn frame<'a>(one: &'a Write, other: &Write) -> Option<(&'a str, &'a str)> {
    let (path, next) = (path(one)?, path(other)?);
    if !is_alike(one, other) || !path.is_ascii() || !next.is_ascii() {
        return None;
    }
    let n_same = path.bytes().zip(next.bytes()).take_while(|(a, b)| a == b).count();
    // A whole number differs, not its last digits.
    let before = path.get(..n_same)?.trim_end_matches(|it: char| it.is_ascii_digit());
    let shorter = path.len().min(next.len()) - before.len();
    let backwards = path.bytes().rev().zip(next.bytes().rev()).take(shorter);
    let n_same = backwards.take_while(|(a, b)| a == b).count();
    let after = path.get(path.len() - n_same..)?;
    Some((before, after.trim_start_matches(|it: char| it.is_ascii_digit())))
}

/// The run that `writes` begin with, and how many it takes.
fn controls(first: &Write, writes: &[Write], before: &str, after: &str) -> (Run, usize) {
    let part = |write: &Write| {
        let part = path(write)?.strip_prefix(before)?.strip_suffix(after)?;
        is_alike(first, write).then(|| part.to_owned())
    };
    let parts: Vec<String> = writes.iter().map_while(part).collect();
    let n = parts.len();
    let Write { from, to, aim, .. } = first.clone();
    (Run::Controls { before: before.to_owned(), parts, after: after.to_owned(), from, to, aim }, n)
}

fn path(write: &Write) -> Option<&str> {
    match &write.target {
        Target::Control { path } => Some(path),
        _ => None,
    }
}

fn is_alike(one: &Write, other: &Write) -> bool {
    (&one.from, &one.to, one.aim) == (&other.from, &other.to, other.aim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn group(writes: Vec<Write>) -> Group {
        Group { setting: "s".to_owned(), value: "v".to_owned(), canary: false, writes }
    }

    #[test]
    fn the_same_write_of_many_policies_is_kept_once() {
        let path = |it| format!("/sys/devices/system/cpu/cpufreq/policy{it}/scaling_governor");
        let write = |it| Write::of(Target::control(path(it)), "powersave", "performance");
        let compact = Compact::of(&group((0..128).map(write).collect()));
        assert_eq!(compact.writes.len(), 1);
        assert!(serde_json::to_string(&compact).unwrap().len() < 1000);
    }

    fn writes() -> impl Strategy<Value = Vec<Write>> {
        let path = prop_oneof!["/a[0-9]{0,3}/b[0-9]{0,2}", ".{0,4}", "/é[0-9]/x"];
        let target = prop_oneof![
            8 => path.clone().prop_map(Target::control),
            1 => path.prop_map(Target::file),
            1 => Just(Target::LatencyRequest),
        ];
        let write = (target, "[ab]", "[ab]", any::<bool>());
        let write = write.prop_map(|(target, from, to, taken)| {
            let write = Write::of(target, from, to);
            if taken { write.if_taken() } else { write }
        });
        prop::collection::vec(write, 0..12)
    }

    proptest! {
        #[test]
        fn any_group_is_unpacked_as_it_was(writes in writes()) {
            let group = group(writes);
            let text = serde_json::to_string(&Compact::of(&group)).unwrap();
            let compact: Compact = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(compact.unpack(), group);
        }
    }
}
