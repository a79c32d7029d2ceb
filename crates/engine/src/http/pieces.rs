//! JSON that is parsed where it lies in a buffer, one value after the other: a long list is never in memory as a whole.
//!
//! What serde_json reads from a reader it takes byte by byte, and it copies each string: that is three times as slow as from memory.

use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny};
use serde_json::{Deserializer, Error, Result};
use std::collections::BTreeMap;
use std::io::Read;

/// Bytes that are read at a time; a value that is cut at their end is parsed again with the next ones.
const PIECE: usize = 256 << 10;

/// The largest value that is parsed at once, in bytes: of a series with its labels, or of a warning.
const LARGEST_VALUE: usize = 16 << 20;

/// A JSON text that comes from a reader.
pub(crate) struct Pieces<'a> {
    from: &'a mut dyn Read,
    /// What was read, from [`Pieces::at`] on yet to be parsed.
    buffer: Vec<u8>,
    at: usize,
    is_over: bool,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(from: &'a mut dyn Read) -> Pieces<'a> {
        Pieces { from, buffer: Vec::with_capacity(2 * PIECE), at: 0, is_over: false }
    }

    /// Reads on, until there is a piece more or the text is over.
    fn fill(&mut self) -> Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        if self.buffer.len() >= LARGEST_VALUE {
            return Err(Error::custom(format_args!(
                "a value of more than {} MiB",
                LARGEST_VALUE >> 20
            )));
        }
        let more = self.from.take(PIECE as u64).read_to_end(&mut self.buffer);
        self.is_over = more.map_err(Error::custom)? < PIECE;
        Ok(())
    }

    /// The next byte that is no space, which is not taken; `None` at the end.
    fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let rest = &self.buffer[self.at..];
            let found = rest.iter().position(|it| !matches!(it, b' ' | b'\n' | b'\r' | b'\t'));
            self.at += found.unwrap_or(rest.len());
            match self.buffer.get(self.at) {
                None if !self.is_over => self.fill()?,
                byte => return Ok(byte.copied()),
            }
        }
    }

    /// Takes this byte where it is the next one; whether it is.
    fn takes(&mut self, byte: u8) -> Result<bool> {
        let is_next = self.peek()? == Some(byte);
        self.at += usize::from(is_next);
        Ok(is_next)
    }

    /// What `parse` makes of the next value: it is given the text from there on, and returns how many bytes the value has, too. Where the text
    /// is cut it is called again; it is not where it has returned an object, a list or a string.
    pub(crate) fn next<T>(
        &mut self,
        mut parse: impl FnMut(&[u8]) -> Result<(T, usize)>,
    ) -> Result<T> {
        self.peek()?;
        loop {
            let rest = &self.buffer[self.at..];
            match parse(rest) {
                Err(error) if error.is_eof() && !self.is_over => self.fill()?,
                Err(error) => return Err(error),
                // More digits may follow.
                Ok((_, length))
                    if length == rest.len()
                        && !self.is_over
                        && rest.last().is_some_and(u8::is_ascii_digit) =>
                {
                    self.fill()?;
                }
                Ok((value, length)) => {
                    self.at += length;
                    return Ok(value);
                }
            }
        }
    }

    /// The next value, which keeps nothing of the text.
    pub(crate) fn value<T: for<'de> Deserialize<'de>>(&mut self) -> Result<T> {
        self.next(|text| first(text))
    }

    /// Leaves out the next value.
    pub(crate) fn skip(&mut self) -> Result<()> {
        self.value::<IgnoredAny>().map(drop)
    }

    /// Takes an object: `each` gets the name of each member, and has to take its value.
    pub(crate) fn object(
        &mut self,
        each: &mut dyn FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<()> {
        if !self.takes(b'{')? {
            // It is none, and this says what it is.
            return self.value::<BTreeMap<String, IgnoredAny>>().map(drop);
        }
        if self.takes(b'}')? {
            return Ok(());
        }
        loop {
            let name: String = self.value()?;
            if !self.takes(b':')? {
                return Err(self.unexpected("`:`"));
            }
            each(self, &name)?;
            if self.takes(b'}')? {
                return Ok(());
            }
            if !self.takes(b',')? {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    /// Takes a list: `each` has to take one of its values each time.
    pub(crate) fn list(&mut self, each: &mut dyn FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if !self.takes(b'[')? {
            return self.value::<Vec<IgnoredAny>>().map(drop);
        }
        if self.takes(b']')? {
            return Ok(());
        }
        loop {
            each(self)?;
            if self.takes(b']')? {
                return Ok(());
            }
            if !self.takes(b',')? {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    /// Whether the next value is null, which is taken then.
    pub(crate) fn takes_null(&mut self) -> Result<bool> {
        let is_null = self.peek()? == Some(b'n');
        if is_null {
            self.value::<()>()?;
        }
        Ok(is_null)
    }

    /// Errors: something follows.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(Error::custom("trailing characters")),
        }
    }

    fn unexpected(&mut self, expected: &str) -> Error {
        // At the end of the text it is the error of a value that is not there, which says so.
        let missing = first::<IgnoredAny>(&self.buffer[self.at..]).err().filter(Error::is_eof);
        missing.unwrap_or_else(|| Error::custom(format_args!("expected {expected}")))
    }
}

/// The first value of a text, and how many bytes it has.
pub(crate) fn first<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<(T, usize)> {
    let mut values = Deserializer::from_slice(text).into_iter();
    match values.next() {
        Some(value) => value.map(|it| (it, values.byte_offset())),
        None => T::deserialize(&mut Deserializer::from_slice(text)).map(|it| (it, text.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// All members of an object and all values of its lists, a line each.
    fn read(from: &mut dyn Read) -> Result<Vec<String>> {
        let mut pieces = Pieces::new(from);
        let mut found = Vec::new();
        pieces.object(&mut |pieces, name| {
            if name == "list" {
                return pieces.list(&mut |it| {
                    found.push(it.value::<serde_json::Value>()?.to_string());
                    Ok(())
                });
            }
            if pieces.takes_null()? {
                found.push(format!("{name} is null"));
                return Ok(());
            }
            if name == "skipped" {
                return pieces.skip();
            }
            found.push(format!("{name}={}", pieces.value::<serde_json::Value>()?));
            Ok(())
        })?;
        pieces.end()?;
        Ok(found)
    }

    #[test]
    fn values_are_the_same_wherever_the_text_is_cut() {
        let tail = " { \"a\" : 1234567 , \"skipped\":[{}], \"list\":[ 12, \"x\\\"}\" ,{\"b\":[1]} ],\
                    \"no\":null,\"t\":true, \"list\":[]} \n";
        let expected = ["a=1234567", "12", "\"x\\\"}\"", "{\"b\":[1]}", "no is null", "t=true"];
        for before in PIECE - tail.len() - 1..=PIECE + 1 {
            let text = format!("{}{tail}", " ".repeat(before));
            assert_eq!(read(&mut text.as_bytes()).unwrap(), expected, "{before}");
        }
        assert_eq!(read(&mut "{}".as_bytes()).unwrap(), [""; 0]);
    }

    #[test]
    fn a_text_that_ends_early_is_said_to_and_another_is_said_to_be_wrong() {
        for text in ["", " ", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"list\":[1", "{\"list\":[1,"]
        {
            assert!(read(&mut text.as_bytes()).unwrap_err().is_eof(), "{text}");
        }
        for (text, why) in [
            ("[]", "invalid type: sequence"),
            ("{\"list\":{}}", "invalid type: map"),
            ("{\"a\" 1}", "expected `:`"),
            ("{\"a\":1 \"b\":2}", "expected `,` or `}`"),
            ("{\"list\":[1 2]}", "expected `,` or `]`"),
            ("{} {}", "trailing characters"),
            ("<html>", "expected value"),
        ] {
            let error = read(&mut text.as_bytes()).unwrap_err();
            assert!(!error.is_eof() && error.to_string().contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_value_without_end_is_refused_before_it_fills_the_memory() {
        let mut endless = b"{\"a\":\"".chain(io::repeat(b'x'));
        let error = read(&mut endless).unwrap_err().to_string();
        assert!(error.contains("more than 16 MiB"), "{error}");
        let mut spaces = b"{}".chain(io::repeat(b' ').take(1 << 25));
        assert!(read(&mut spaces).unwrap().is_empty());
    }
}
