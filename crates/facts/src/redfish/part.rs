//! A resource as it came, and the parts of it; whatever is in it, taking a property out of it ends.

use super::{Odd, Word};
use crate::Expected;
use jiff::{Span, SpanRelativeTo};
use serde_json::{Map, Value};
use std::cell::RefCell;

/// Characters of a value that are kept: names and versions have some tens.
const LONGEST: usize = 200;

/// Items of an array that are looked at. A machine of 8 sockets has some hundreds of sensors.
const MOST_ITEMS: usize = 1024;

/// Oddities of one resource that are told.
const MOST_ODD: usize = 8;

/// The longest link: DSP0266 asks for no less than 1,024 characters, and real ones have some 200.
const LONGEST_LINK: usize = 1024;

/// No power, clock or temperature is above this.
const LARGEST: f64 = 1e9;

/// One resource: a JSON object, and the path that it came from.
#[derive(Clone, Debug)]
pub struct Resource {
    path: String,
    body: Map<String, Value>,
    odd: RefCell<Vec<Odd>>,
}

/// A link to another resource of the same service: a path below `/redfish/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(String);

impl Link {
    /// A path of this service.
    ///
    /// Errors: it leads to another server or out of /redfish, or is no path. A fragment is left out: it names a part of the resource.
    pub fn parse(text: &str) -> Result<Link, Expected> {
        Link::below(&["/redfish/"], text).ok_or(Expected("a path that begins with /redfish/"))
    }

    /// The path of a registry, which some services keep in a folder of its own (Supermicro, "Redfish Reference Guide", "Configuring BIOS over
    /// Redfish": /registries/BiosAttributeRegistry.1.0.0.json).
    ///
    /// Errors: those of [`Link::parse`], but for that folder.
    pub fn of_registry(text: &str) -> Result<Link, Expected> {
        let link = Link::below(&["/redfish/", "/registries/"], text);
        link.ok_or(Expected("a path that begins with /redfish/ or /registries/"))
    }

    fn below(folders: &[&str], text: &str) -> Option<Link> {
        let path = text.split('#').next().unwrap_or_default();
        let is_plain = |it: u8| it.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&it);
        let climbs = path.split(['/', '?']).any(|it| it == "..");
        let is_below = folders.iter().any(|it| path.starts_with(it));
        let is_path = is_below && path.len() <= LONGEST_LINK && !climbs;
        (is_path && path.bytes().all(is_plain)).then(|| Link(path.to_owned()))
    }

    /// The path.
    pub fn path(&self) -> &str {
        &self.0
    }

    /// Two spellings of one path are one resource: some services add a slash, some do not.
    pub fn is_same(&self, other: &Link) -> bool {
        self.0.trim_end_matches('/').eq_ignore_ascii_case(other.0.trim_end_matches('/'))
    }

    /// The last name of the path.
    pub fn name(&self) -> &str {
        self.0.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
    }
}

impl Resource {
    /// The resource that `path` answered with.
    ///
    /// Errors: it is no JSON object.
    pub fn of(path: &str, value: Value) -> Result<Resource, Expected> {
        match value {
            Value::Object(body) => {
                Ok(Resource { path: path.to_owned(), body, odd: RefCell::default() })
            }
            _ => Err(Expected("a JSON object")),
        }
    }

    /// The same of its text.
    pub fn parse(path: &str, text: &[u8]) -> Result<Resource, Expected> {
        let value = serde_json::from_slice(text).map_err(|_| Expected("JSON"))?;
        Resource::of(path, value)
    }

    /// Where it came from.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What was found to be no value of its property, in what has been taken out so far.
    pub fn odd(&self) -> Vec<Odd> {
        self.odd.borrow().clone()
    }

    /// The whole of it as a part.
    pub(super) fn whole(&self) -> Part<'_> {
        Part { resource: self, at: String::new(), body: Some(&self.body) }
    }

    /// Those of the maker's properties that are there; `names` are paths with slashes.
    pub(super) fn words(&self, names: &[&str]) -> Vec<Word> {
        let word = |name: &&str| {
            let value = self.whole().inner(name)?;
            let value = match value {
                Value::String(text) => shown(text),
                Value::Bool(_) | Value::Number(_) => value.to_string(),
                Value::Array(items) if !items.is_empty() => {
                    let texts = items.iter().take(MOST_ITEMS).filter_map(Value::as_str);
                    shown(&texts.collect::<Vec<_>>().join(", "))
                }
                Value::Null | Value::Array(_) | Value::Object(_) => return None,
            };
            Some(Word { source: format!("{} {name}", self.path), value })
        };
        names.iter().filter_map(word).collect()
    }
}

/// An object within a resource, which may be absent: then all of its properties are.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    resource: &'a Resource,
    /// Empty, or names with a slash behind each.
    at: String,
    body: Option<&'a Map<String, Value>>,
}

impl<'a> Part<'a> {
    /// Whether it is there.
    pub(super) fn exists(&self) -> bool {
        self.body.is_some()
    }

    /// The resource and the property, for evidence.
    pub(super) fn source(&self, name: &str) -> String {
        let (path, at) = (&self.resource.path, &self.at);
        format!("{path} {at}{name}").trim_end_matches('/').to_owned()
    }

    /// The same of this part itself.
    pub(super) fn own_source(&self) -> String {
        self.source("").trim_end().to_owned()
    }

    /// What a property holds, unless that is null.
    fn value(&self, name: &str) -> Option<&'a Value> {
        self.body?.get(name).filter(|it| !it.is_null())
    }

    /// A value deeper inside, by names with slashes between them.
    fn inner(&self, names: &str) -> Option<&'a Value> {
        let (first, rest) = match names.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (names, None),
        };
        let value = self.value(first)?;
        match rest {
            None => Some(value),
            Some(rest) => {
                let body = Some(value.as_object()?);
                Part { resource: self.resource, at: String::new(), body }.inner(rest)
            }
        }
    }

    fn take<T>(
        &self,
        name: &str,
        expected: &'static str,
        of: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(name)?;
        let taken = of(value);
        if taken.is_none() {
            self.tell(name, &value.to_string(), expected);
        }
        taken
    }

    fn tell(&self, name: &str, found: &str, expected: &'static str) {
        let mut odd = self.resource.odd.borrow_mut();
        if odd.len() < MOST_ODD {
            let (source, found) = (self.source(name), shown(&cut(found, 60)));
            odd.push(Odd { source, found, expected: expected.to_owned() });
        }
    }

    /// A text, on one line and cut; an empty one says nothing.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = self.take(name, "text", |it| it.as_str().map(shown))?;
        Some(text).filter(|it| !it.is_empty())
    }

    /// A number; one that no such thing can have is odd.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        let number = |it: &Value| it.as_f64().filter(|it| it.is_finite() && it.abs() <= LARGEST);
        self.take(name, "a number", number)
    }

    /// A number that is not negative.
    pub(super) fn amount(&self, name: &str) -> Option<f64> {
        let amount = |it: &Value| it.as_f64().filter(|it| (0.0..=LARGEST).contains(it));
        self.take(name, "a number that is not negative", amount)
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.take(name, "true or false", Value::as_bool)
    }

    /// A duration of ISO 8601 in seconds, as DSP0266 has it: P1DT2H3M4.5S.
    pub(super) fn seconds(&self, name: &str) -> Option<f64> {
        self.take(name, "a duration like PT1M30S", |it| seconds(it.as_str()?))
    }

    /// Texts; other items are left out, and told.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let text = |it: &Value| {
            if it.as_str().is_none() {
                self.tell(name, &it.to_string(), "a list of texts");
            }
            it.as_str().map(shown)
        };
        self.items(name).iter().filter_map(text).collect()
    }

    /// All items of a list as they are.
    pub(super) fn values(&self, name: &str) -> &'a [Value] {
        self.take(name, "a list", |it| it.as_array().map(Vec::as_slice)).unwrap_or_default()
    }

    fn items(&self, name: &str) -> &'a [Value] {
        let items = self.values(name);
        &items[..items.len().min(MOST_ITEMS)]
    }

    /// An object inside.
    pub(super) fn part(&self, name: &str) -> Part<'a> {
        let body = self.take(name, "an object", Value::as_object);
        Part { resource: self.resource, at: format!("{}{name}/", self.at), body }
    }

    /// The objects of a list.
    pub(super) fn parts(&self, name: &str) -> Vec<Part<'a>> {
        let part = |(at, it): (usize, &'a Value)| {
            if !it.is_object() && !it.is_null() {
                self.tell(name, &it.to_string(), "a list of objects");
            }
            let at = format!("{}{name}/{at}/", self.at);
            Some(Part { resource: self.resource, at, body: Some(it.as_object()?) })
        };
        self.items(name).iter().enumerate().filter_map(part).collect()
    }

    /// The link of a property: `{"@odata.id": "/redfish/v1/..."}`.
    pub(super) fn link(&self, name: &str) -> Option<Link> {
        self.part(name).own_link()
    }

    /// The links of a list.
    pub(super) fn links(&self, name: &str) -> Vec<Link> {
        self.parts(name).iter().filter_map(Part::own_link).collect()
    }

    /// Where this part itself is.
    pub(super) fn own_link(&self) -> Option<Link> {
        const EXPECTED: &str = "a path that begins with /redfish/: it is not followed";
        self.take("@odata.id", EXPECTED, |it| Link::parse(it.as_str()?).ok())
    }

    /// Whether it has more than its link.
    pub(super) fn is_expanded(&self) -> bool {
        self.body.is_some_and(|it| it.keys().any(|it| !it.starts_with('@')))
    }

    /// A copy of it as a resource of its own.
    pub(super) fn resource(&self, link: &Link) -> Option<Resource> {
        let body = self.body?.clone();
        Some(Resource { path: link.path().to_owned(), body, odd: RefCell::default() })
    }

    /// The names and values of an object whose names are not known beforehand.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.body.into_iter().flatten()
    }
}

/// On one line, without control characters, and not too long.
pub(super) fn shown(text: &str) -> String {
    cut(text.trim(), LONGEST).replace(char::is_control, " ")
}

fn cut(text: &str, longest: usize) -> String {
    text.chars().take(longest).collect()
}

fn seconds(text: &str) -> Option<f64> {
    let span: Span = text.parse().ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Some(duration.as_secs_f64()).filter(|it| *it >= 0.0)
}
