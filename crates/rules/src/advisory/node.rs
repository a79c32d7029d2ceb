//! A document of TOML as data of the program: what `build.rs` makes of the advisories that come with it.

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// A value of a document. A day is a text, as an advisory takes it, too.
#[derive(Debug)]
pub(super) enum Node {
    Text(&'static str),
    Number(i64),
    List(&'static [Node]),
    Table(&'static [(&'static str, Node)]),
}

/// Each by its name, in the order of the names.
pub(super) const SHIPPED: &[(&str, Node)] = include!(concat!(env!("OUT_DIR"), "/advisories.rs"));

impl<'de> Deserializer<'de> for &'static Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Node::Text(text) => visitor.visit_borrowed_str(text),
            Node::Number(number) => visitor.visit_i64(*number),
            Node::List(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Node::Table(entries) => {
                let entries = entries.iter().map(|(key, value)| (*key, value));
                visitor.visit_map(MapDeserializer::new(entries))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

impl IntoDeserializer<'_, Error> for &'static Node {
    type Deserializer = &'static Node;

    fn into_deserializer(self) -> &'static Node {
        self
    }
}
