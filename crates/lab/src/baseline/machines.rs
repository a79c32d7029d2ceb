//! The states of the machine in a history: settings that baselines share, written once, and then what differs from them.

use super::record::{Machine, VERSION};
use crate::record::{Fingerprint, SettingDifference, setting_differences};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The states that lines of a history told of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Machines {
    known: BTreeMap<String, Arc<Fingerprint>>,
    /// The last whole one.
    last_whole: Option<String>,
}

impl Machines {
    /// Learns of a line.
    ///
    /// Errors: it needs a line that could not be read; its settings are not those that its id is the hash of.
    pub(super) fn learn(&mut self, line: Machine) -> Result<(), String> {
        let Machine { id, like, settings, .. } = line;
        let mut all = match &like {
            None => BTreeMap::new(),
            Some(base) => match self.known.get(base) {
                Some(base) => base.0.clone(),
                None => return Err(format!("it needs settings {base:?}, which no line has")),
            },
        };
        for (name, value) in settings {
            match value {
                Some(value) => all.insert(name, value),
                None => all.remove(&name),
            };
        }
        let all = Fingerprint(all);
        if hash(&all) != id {
            return Err("its settings are not those that its id is of".to_owned());
        }
        if like.is_none() {
            self.last_whole = Some(id.clone());
        }
        self.known.insert(id, Arc::new(all));
        Ok(())
    }

    /// The settings of that name.
    pub(super) fn get(&self, id: &str) -> Option<&Arc<Fingerprint>> {
        self.known.get(id)
    }

    /// The line to write for these settings; `None` where one has them already.
    pub(super) fn line_of(&self, settings: &Fingerprint) -> Option<Machine> {
        let id = hash(settings);
        if self.get(&id).is_some_and(|it| **it == *settings) {
            return None;
        }
        let whole = || {
            let all = settings.0.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
            Machine { v: VERSION, id: id.clone(), like: None, settings: all.collect() }
        };
        let base = self.last_whole.as_ref().and_then(|it| Some((it, self.known.get(it)?)));
        let Some((base, earlier)) = base else { return Some(whole()) };
        let differ = setting_differences(earlier, settings);
        let length = |it: &SettingDifference| it.name.len() + it.b.as_ref().map_or(0, String::len);
        let differing: usize = differ.iter().map(length).sum();
        let all: usize = settings.0.iter().map(|(name, value)| name.len() + value.len()).sum();
        // What shares little with the earlier state begins anew: the next ones are like it.
        if 2 * differing > all {
            return Some(whole());
        }
        let settings = differ.into_iter().map(|it| (it.name, it.b)).collect();
        Some(Machine { v: VERSION, id, like: Some(base.clone()), settings })
    }
}

/// What baselines call these settings.
pub(super) fn hash(settings: &Fingerprint) -> String {
    let parts = settings.0.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
    // FNV-1a of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/), with a byte between parts that no text has.
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let bytes = parts.flat_map(|it| it.iter().copied().chain([0xff]));
    let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    format!("{hash:016x}")
}

/// What a fingerprint says of a setting that it could not read.
const UNKNOWN: &str = "unknown: ";

/// The settings that are known to differ: what could not be read once is no change.
pub(super) fn known_differences(a: &Fingerprint, b: &Fingerprint) -> Vec<SettingDifference> {
    let is_known = |it: &Option<String>| it.as_ref().is_some_and(|it| !it.starts_with(UNKNOWN));
    let mut differ = setting_differences(a, b);
    differ.retain(|it| is_known(&it.a) && is_known(&it.b));
    differ
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Fingerprint {
        Fingerprint(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
    }

    fn large(kernel: &str) -> Fingerprint {
        let mut all = settings(&[("kernel release", kernel)]);
        for it in 0..50 {
            all.0.insert(format!("setting {it}"), "a value as others have".to_owned());
        }
        all
    }

    #[test]
    fn a_state_is_written_once_and_then_what_differs() {
        let mut machines = Machines::default();
        let whole = machines.line_of(&large("6.1")).unwrap();
        assert!(whole.like.is_none() && whole.settings.len() == 51);
        machines.learn(whole.clone()).unwrap();
        assert_eq!(machines.line_of(&large("6.1")), None);
        let mut next = large("6.2");
        next.0.remove("setting 3");
        let differing = machines.line_of(&next).unwrap();
        assert_eq!(differing.like.as_ref(), Some(&whole.id));
        assert_eq!(differing.settings["kernel release"].as_deref(), Some("6.2"));
        assert_eq!((differing.settings["setting 3"].clone(), differing.settings.len()), (None, 2));
        machines.learn(differing.clone()).unwrap();
        assert_eq!(machines.get(&differing.id).map(|it| &**it), Some(&next));
        // Of a later state the difference is from the whole one, too, so that no line needs two others.
        let third = machines.line_of(&large("6.3")).unwrap();
        assert_eq!(third.like.as_ref(), Some(&whole.id));
        assert!(machines.line_of(&settings(&[("other", "machine")])).unwrap().like.is_none());
    }

    #[test]
    fn a_line_whose_whole_one_is_lost_is_said_to_need_it() {
        let mut machines = Machines::default();
        machines.learn(machines.line_of(&large("6.1")).unwrap()).unwrap();
        let line = machines.line_of(&large("6.2")).unwrap();
        let why = Machines::default().learn(line).unwrap_err();
        assert!(why.contains("which no line has"), "{why}");
    }

    #[test]
    fn names_and_values_are_told_apart_in_a_hash() {
        let hashes = [
            hash(&settings(&[("ab", "c")])),
            hash(&settings(&[("a", "bc")])),
            hash(&settings(&[])),
            hash(&settings(&[("a", "")])),
        ];
        for (at, one) in hashes.iter().enumerate() {
            assert!(hashes[..at].iter().all(|it| it != one) && one.len() == 16, "{hashes:?}");
        }
    }

    #[test]
    fn what_could_not_be_read_once_is_no_change() {
        let a = settings(&[("bios", "1"), ("bmc", "unknown: no answer"), ("turbo", "0")]);
        let b = settings(&[("bios", "2"), ("bmc", "4.1"), ("turbo", "0"), ("new", "x")]);
        let differ = known_differences(&a, &b);
        assert_eq!(differ.len(), 1);
        assert_eq!(differ[0].name, "bios");
    }
}
