//! A list of named numbers in a tenth of the memory that their texts would take.

use super::labels::{Label, Labels};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::sync::Arc;

/// What a packed list holds.
pub trait Entry: Sized {
    /// The entry with texts that are borrowed from the list.
    type View<'a>: Debug + PartialEq + Serialize;

    /// Its label, and its number where the label has one.
    fn packed(self) -> (Label, f64);

    /// The entry of this label and this number.
    fn view(label: &Label, number: f64) -> Self::View<'_>;

    /// The same with texts of its own.
    fn unpacked(label: &Label, number: f64) -> Self;
}

/// Entries in their order. In JSON it is a list like any other.
pub struct PackedList<T> {
    labels: Arc<Labels>,
    /// Of each entry twice the id of its label, by [`push`]; or one more, with the eight bytes of its number after it, where that
    /// is not 0.
    bytes: Box<[u8]>,
    entry: PhantomData<fn() -> T>,
}

impl<T> PackedList<T> {
    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn pairs(&self) -> Pairs<'_> {
        Pairs { labels: &self.labels, rest: &self.bytes }
    }
}

impl<T: Entry> PackedList<T> {
    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.pairs().count()
    }

    /// Its entries, one after the other.
    pub fn iter(&self) -> Entries<'_, T> {
        Entries { pairs: self.pairs(), entry: PhantomData }
    }

    /// The first entry; `None` of an empty list.
    pub fn first(&self) -> Option<T::View<'_>> {
        self.iter().next()
    }

    /// The entry at that place, counted from 0.
    pub fn get(&self, place: usize) -> Option<T::View<'_>> {
        self.iter().nth(place)
    }

    /// Changes its entries, which are unpacked for that.
    pub fn edit(&mut self, change: impl FnOnce(&mut Vec<T>)) {
        let mut entries = self.pairs().map(|(label, number)| T::unpacked(label, number)).collect();
        change(&mut entries);
        *self = entries.into();
    }
}

impl<T: JsonSchema> JsonSchema for PackedList<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<T>::json_schema(generator)
    }
}

/// Labels and numbers, one after the other.
struct Pairs<'a> {
    labels: &'a Labels,
    rest: &'a [u8],
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a Label, f64);

    fn next(&mut self) -> Option<(&'a Label, f64)> {
        let word = taken(&mut self.rest)?;
        let label = self.labels.get(word >> 1)?;
        if word & 1 == 0 {
            return Some((label, 0.0));
        }
        let (number, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some((label, f64::from_le_bytes(*number)))
    }
}

/// The entries of a packed list.
pub struct Entries<'a, T> {
    pairs: Pairs<'a>,
    entry: PhantomData<fn() -> T>,
}

impl<'a, T: Entry> Iterator for Entries<'a, T> {
    type Item = T::View<'a>;

    fn next(&mut self) -> Option<T::View<'a>> {
        self.pairs.next().map(|(label, number)| T::view(label, number))
    }
}

impl<'a, T: Entry> IntoIterator for &'a PackedList<T> {
    type Item = T::View<'a>;
    type IntoIter = Entries<'a, T>;

    fn into_iter(self) -> Entries<'a, T> {
        self.iter()
    }
}

/// Packs one entry after the other.
struct Packer {
    labels: Arc<Labels>,
    bytes: Vec<u8>,
}

impl Packer {
    fn new() -> Packer {
        Packer { labels: Labels::current(), bytes: Vec::new() }
    }

    fn push(&mut self, entry: impl Entry) {
        let (label, number) = entry.packed();
        let is_zero = number.to_bits() == 0;
        push(&mut self.bytes, self.labels.id(label) << 1 | usize::from(!is_zero));
        if !is_zero {
            self.bytes.extend(number.to_le_bytes());
        }
    }

    fn list<T>(self) -> PackedList<T> {
        // A copy: to shrink each buffer would leave as many holes between the lists.
        let bytes = self.bytes.as_slice().into();
        PackedList { labels: self.labels, bytes, entry: PhantomData }
    }
}

/// Adds a number in as many bytes as it takes, seven bits in each, the lowest first.
fn push(bytes: &mut Vec<u8>, mut word: usize) {
    while word > 0x7f {
        bytes.push(0x80 | (word & 0x7f) as u8);
        word >>= 7;
    }
    bytes.push(word as u8);
}

/// Takes such a number from the front of `bytes`.
fn taken(bytes: &mut &[u8]) -> Option<usize> {
    let mut word = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        word |= usize::from(byte & 0x7f) << shift;
        if *byte <= 0x7f {
            return Some(word);
        }
    }
    None
}

impl<T: Entry> FromIterator<T> for PackedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> PackedList<T> {
        let mut packer = Packer::new();
        entries.into_iter().for_each(|it| packer.push(it));
        packer.list()
    }
}

impl<T: Entry> From<Vec<T>> for PackedList<T> {
    fn from(entries: Vec<T>) -> PackedList<T> {
        entries.into_iter().collect()
    }
}

impl<T> Default for PackedList<T> {
    fn default() -> PackedList<T> {
        Packer::new().list()
    }
}

impl<T> Clone for PackedList<T> {
    fn clone(&self) -> PackedList<T> {
        let labels = Arc::clone(&self.labels);
        PackedList { labels, bytes: self.bytes.clone(), entry: PhantomData }
    }
}

impl<T: Entry> PartialEq for PackedList<T> {
    fn eq(&self, other: &PackedList<T>) -> bool {
        self.iter().eq(other)
    }
}

impl<T: Entry> Debug for PackedList<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<T: Entry> Serialize for PackedList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de, T: Entry + Deserialize<'de>> Deserialize<'de> for PackedList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PackedList<T>, D::Error> {
        /// Packs each entry before the next is read.
        struct OneByOne<T>(PhantomData<T>);

        impl<'de, T: Entry + Deserialize<'de>> Visitor<'de> for OneByOne<T> {
            type Value = PackedList<T>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<PackedList<T>, A::Error> {
                let mut packer = Packer::new();
                while let Some(entry) = list.next_element::<T>()? {
                    packer.push(entry);
                }
                Ok(packer.list())
            }
        }

        deserializer.deserialize_seq(OneByOne(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Known;
    use crate::trial::{Better, Figure, Outcome, Reading, Share, Trial, TrialContext};
    use proptest::prelude::*;

    /// Few texts, so that entries share some of them, and any text.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof!["[abc]?", any::<String>()]
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(0.0),
            Just(-0.0),
            -1.0..1.0,
            any::<f64>().prop_filter("JSON has it", |it| it.is_finite())
        ]
    }

    fn known() -> impl Strategy<Value = Known<f64>> {
        prop_oneof![number().prop_map(Known::Value), text().prop_map(Known::missing)]
    }

    fn shares() -> impl Strategy<Value = Vec<Share>> {
        let share =
            (text(), text(), known()).prop_map(|(loss, part, share)| Share { loss, part, share });
        proptest::collection::vec(share, 0..200)
    }

    fn figures() -> impl Strategy<Value = Vec<Figure>> {
        let better = prop_oneof![Just(Better::Lower), Just(Better::Higher)];
        let parts = (text(), text(), number(), better);
        let figure =
            parts.prop_map(|(name, unit, value, better)| Figure { name, unit, value, better });
        proptest::collection::vec(figure, 0..20)
    }

    /// Packs and unpacks; compares both with the list as it is without packing, and as it is in JSON.
    fn check<T>(entries: &[T])
    where
        T: Entry + Clone + Debug + PartialEq + Serialize + for<'de> Deserialize<'de>,
    {
        let json = serde_json::to_string(entries).unwrap();
        let mut packed = PackedList::from(entries.to_vec());
        assert_eq!(serde_json::to_string(&packed).unwrap(), json);
        // A number may be another one in its last digit once it is read (serde_json), in either kind of list.
        let read: Vec<T> = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::from_str::<PackedList<T>>(&json).unwrap(), read.into());
        assert_eq!((packed.len(), packed.is_empty()), (entries.len(), entries.is_empty()));
        let mut unpacked = Vec::new();
        packed.edit(|it| unpacked.clone_from(it));
        assert_eq!(unpacked, entries);
    }

    proptest! {
        #[test]
        fn a_list_is_in_json_and_unpacked_what_it_was_before(shares in shares(), figures in figures()) {
            let reading = |it: Share| Reading { metric: it.loss, part: it.part, value: it.share };
            check(&shares.iter().cloned().map(reading).collect::<Vec<_>>());
            check(&shares);
            check(&figures);
        }

        #[test]
        fn a_word_of_any_size_is_taken_as_it_was_pushed(words in proptest::collection::vec(any::<usize>(), 0..9)) {
            let mut bytes = Vec::new();
            words.iter().for_each(|it| push(&mut bytes, *it));
            let mut rest = &*bytes;
            let read: Vec<usize> = std::iter::from_fn(|| taken(&mut rest)).collect();
            prop_assert_eq!(read, words);
        }
    }

    #[test]
    fn a_metric_that_comes_or_goes_or_is_missing_in_a_later_trial_is_that_of_its_own_trial() {
        let lines = [
            r#"[{"metric":"busy","value":0.25},{"metric":"watts","part":"package-0","value":41.5}]"#,
            r#"[{"metric":"busy","value":{"missing":"denied"}}]"#,
            r#"[{"metric":"steal","value":0.0},{"metric":"watts","part":"package-0","value":1e300}]"#,
            "[]",
        ];
        let read: Vec<PackedList<Reading>> =
            lines.iter().map(|it| serde_json::from_str(it).unwrap()).collect();
        let written: Vec<String> =
            read.iter().map(|it| serde_json::to_string(it).unwrap()).collect();
        assert_eq!(
            written.iter().map(|it| it.replace("1e+300", "1e300")).collect::<Vec<_>>(),
            lines
        );
        assert_eq!(read[1].first().unwrap().value.reason(), Some("denied"));
        assert_eq!(read[2].get(1).unwrap().part, "package-0");
        assert_eq!((read[3].first(), read[2].get(2)), (None, None));
    }

    /// As it was written before lists were packed.
    #[test]
    fn a_trial_is_in_json_what_it_always_was() {
        let line = concat!(
            r#"{"number":3,"arm":0,"block":1,"began_ns":7,"elapsed_ns":2000000000,"cpu_ns":{"missing":"it slept"},"tasks":1,"#,
            r#""figures":[{"name":"commits","unit":"1/s","value":28828.24839562748,"better":"higher"},"#,
            r#"{"name":"commit","unit":"us","value":277.505,"better":"lower"}],"clock":{"missing":"nobody looked"},"#,
            r#""surroundings":{"cpus":"0-1","window_ns":99997033,"ledger":[{"loss":"idle","share":0.0},"#,
            r#"{"loss":"slow-clock","share":{"missing":"APERF and MPERF: not available in a guest of KVM"}},"#,
            r#"{"loss":"kernel-threads","part":"migration/0","share":0.00005191654036375259}],"unexplained":-0.001,"#,
            r#""metrics":[{"metric":"busy","value":99.9},{"metric":"smi","value":{"missing":"hidden"}}]}}"#
        );
        let trial: Trial = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&trial).unwrap(), line);
        let Trial { outcome: Outcome { figures, .. }, surroundings: Known::Value(around), .. } =
            trial
        else {
            panic!("it has a context")
        };
        let TrialContext { ledger, metrics, .. } = around;
        assert_eq!((figures.len(), ledger.len(), metrics.len()), (2, 3, 2));
        assert_eq!(ledger.get(2).unwrap().part, "migration/0");
    }
}
