//! Messages of netlink sockets and the attributes in them, as bytes in the order of the machine.
//!
//! Source: netlink(7); include/uapi/linux/netlink.h: `struct nlmsghdr` of 16 bytes, `struct nlattr` of 4, each followed by what
//! it heads and padded to 4.

use crate::Expected;

/// An error, or the acknowledgement of a request.
pub const ERROR: u16 = 2;
/// The end of an answer of several messages.
pub const DONE: u16 = 3;

/// NLM_F_REQUEST.
pub const REQUEST: u16 = 0x1;
/// NLM_F_ACK: an answer is wanted even where all is well.
pub const ACK: u16 = 0x4;
/// NLM_F_ROOT and NLM_F_MATCH: all there are.
pub const DUMP: u16 = 0x300;

const HEADER: usize = 16;
const ATTRIBUTE: usize = 4;

/// NLA_TYPE_MASK: above it are marks, of which one says that the value has attributes of its own.
const KIND: u16 = 0x3fff;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// What it is: [`ERROR`], [`DONE`], or one of its protocol's.
    pub kind: u16,
    /// Everything behind its header.
    pub body: &'a [u8],
}

impl Message<'_> {
    /// The error number that the kernel tells, positive; 0 is an acknowledgement, `None` another message (`struct nlmsgerr`).
    pub fn error(&self) -> Option<i32> {
        let number = u32_at(self.body, 0).filter(|_| self.kind == ERROR)?;
        Some(number.cast_signed().saturating_neg())
    }
}

/// The messages of what was read at once. Where one is cut it is an error, and the last.
pub fn messages(bytes: &[u8]) -> impl Iterator<Item = Result<Message<'_>, Expected>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let length = u32_at(rest, 0).unwrap_or_default() as usize;
        let Some((kind, body)) = u16_at(rest, 4).zip(rest.get(HEADER..length)) else {
            rest = &[];
            return Some(Err(Expected("a whole message of netlink")));
        };
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Ok(Message { kind, body }))
    })
}

/// The attributes in a message or in another attribute, by kind, up to one that is cut.
pub fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        let attribute = (u16_at(rest, 2)? & KIND, rest.get(ATTRIBUTE..length)?);
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(attribute)
    })
}

/// A message to the kernel. Its sequence number and its sender are 0: the kernel fills in the sender.
pub fn request(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.resize(HEADER, 0);
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// One attribute. Its value has less than 64 KiB.
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((ATTRIBUTE + value.len()) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The number in these two bytes.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_ne_bytes)
}

/// The number in these four bytes.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

/// The number in these eight bytes.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_padding_is_none_of_it() {
        let body = [attribute(5, b"abc"), attribute(7 | 0x8000, b"")].concat();
        let bytes = [request(20, REQUEST, &body), request(DONE, 0, b"x")].concat();
        let messages: Vec<_> = messages(&bytes).collect();
        assert_eq!(messages[1], Ok(Message { kind: DONE, body: b"x" }));
        let first = messages[0].unwrap();
        assert_eq!((first.kind, messages.len()), (20, 2));
        let attributes: Vec<_> = attributes(first.body).collect();
        assert_eq!(attributes, [(5, &b"abc"[..]), (7, &[][..])]);
    }

    #[test]
    fn a_cut_message_is_an_error_and_the_last_and_nothing_goes_on_for_ever() {
        let whole = request(20, REQUEST, &attribute(5, b"abcd"));
        for length in 1..whole.len() {
            let messages: Vec<_> = messages(&whole[..length]).collect();
            assert_eq!(messages, [Err(Expected("a whole message of netlink"))], "{length}");
        }
        assert_eq!(messages(&[0; 64]).count(), 1);
        assert_eq!(attributes(&[0; 64]).count(), 0);
        assert_eq!(attributes(&attribute(5, b"abcd")[..7]).count(), 0);
    }

    #[test]
    fn an_error_has_its_number_and_an_acknowledgement_none() {
        let error = |number: i32| {
            let bytes = request(ERROR, 0, &number.to_ne_bytes());
            let message = messages(&bytes).next().unwrap().unwrap();
            message.error()
        };
        assert_eq!((error(-13), error(0)), (Some(13), Some(0)));
        assert_eq!(Message { kind: DONE, body: &[0; 4] }.error(), None);
    }
}
