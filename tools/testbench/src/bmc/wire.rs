//! The protocol between QEMU's `ipmi-bmc-extern` device and a management controller elsewhere.
//!
//! It is that of OpenIPMI's simulator, in `README.vm` there and `hw/ipmi/ipmi_bmc_extern.c` in QEMU:
//! bytes in frames, a frame ended by a byte that tells a message from a command, and bytes that would
//! look like an end escaped. Message: sequence, function << 2 | unit, command, data, checksum.

const END_OF_MESSAGE: u8 = 0xa0;
const END_OF_COMMAND: u8 = 0xa1;
const ESCAPE: u8 = 0xaa;
/// Set in a byte that follows an escape.
const ESCAPED: u8 = 0x10;

/// Set in the function of an answer (IPMI 2.0, section 5.1).
const ANSWER: u8 = 1 << 2;

/// The command that states the protocol's version, first on either side, and that version.
const VERSION: [u8; 2] = [0xff, 1];

// Completion codes of IPMI 2.0, table 5-2.
pub(super) const DONE: u8 = 0;
pub(super) const INVALID_COMMAND: u8 = 0xc1;
pub(super) const RESERVATION_LOST: u8 = 0xc5;
pub(super) const WRONG_LENGTH: u8 = 0xc7;
pub(super) const OUT_OF_RANGE: u8 = 0xc9;
pub(super) const NOT_PRESENT: u8 = 0xcb;

/// What arrives in a frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A request for the controller.
    Request(Request),
    /// A word on the machine's state: power, interrupts, version.
    Command,
}

/// One IPMI request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    sequence: u8,
    function_and_unit: u8,
    command: u8,
    data: Vec<u8>,
}

/// Cuts a stream of bytes into frames.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    frame: Vec<u8>,
    escaped: bool,
}

impl Decoder {
    /// Takes one byte in; gives a frame when the byte completes one. A message too short to be a
    /// request is dropped, as hardware drops noise.
    pub(super) fn push(&mut self, byte: u8) -> Option<Frame> {
        match byte {
            ESCAPE => {
                self.escaped = true;
                None
            }
            END_OF_COMMAND => {
                self.frame.clear();
                Some(Frame::Command)
            }
            END_OF_MESSAGE => match *std::mem::take(&mut self.frame) {
                [sequence, function_and_unit, command, ref data @ .., _checksum] => {
                    let data = data.to_vec();
                    Some(Frame::Request(Request { sequence, function_and_unit, command, data }))
                }
                _ => None,
            },
            _ => {
                let escaped = std::mem::take(&mut self.escaped);
                self.frame.push(if escaped { byte & !ESCAPED } else { byte });
                None
            }
        }
    }
}

/// The frame a controller opens the conversation with.
pub(super) fn hello() -> Vec<u8> {
    encode(&VERSION, END_OF_COMMAND)
}

/// The frame that tells the machine whether there is something to be fetched.
pub(super) fn attention(is_wanted: bool) -> Vec<u8> {
    encode(&[u8::from(is_wanted)], END_OF_COMMAND)
}

impl Request {
    /// Function and command, which say what is asked.
    pub(super) fn asks(&self) -> (u8, u8) {
        (self.function_and_unit >> 2, self.command)
    }

    /// What it is asked with.
    pub(super) fn data(&self) -> &[u8] {
        &self.data
    }

    /// The frame that answers with `data`, of which the first byte is the completion code.
    pub(super) fn answer(&self, data: &[u8]) -> Vec<u8> {
        encode(&self.summed(self.command, data), END_OF_MESSAGE)
    }

    /// The same, but that its bytes do not add up.
    pub(super) fn damaged_answer(&self, data: &[u8]) -> Vec<u8> {
        let mut message = self.summed(self.command, data);
        if let Some(sum) = message.last_mut() {
            *sum = sum.wrapping_add(1);
        }
        encode(&message, END_OF_MESSAGE)
    }

    /// The same, but it says that it answers another command.
    pub(super) fn answer_to_another(&self, data: &[u8]) -> Vec<u8> {
        encode(&self.summed(self.command.wrapping_add(1), data), END_OF_MESSAGE)
    }

    fn summed(&self, command: u8, data: &[u8]) -> Vec<u8> {
        let head = [self.sequence, self.function_and_unit | ANSWER, command];
        let mut message = [&head, data].concat();
        let sum = message.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
        message.push(sum.wrapping_neg());
        message
    }
}

fn encode(bytes: &[u8], end: u8) -> Vec<u8> {
    let mut frame = Vec::with_capacity(bytes.len() + 1);
    for &byte in bytes {
        if matches!(byte, END_OF_MESSAGE | END_OF_COMMAND | ESCAPE) {
            frame.extend([ESCAPE, byte | ESCAPED]);
        } else {
            frame.push(byte);
        }
    }
    frame.push(end);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Vec<Frame> {
        let mut decoder = Decoder::default();
        bytes.iter().filter_map(|&byte| decoder.push(byte)).collect()
    }

    #[test]
    fn request_is_read_and_answered_with_a_sum_of_zero() {
        let frames = frames(&[0x07, 0x18, 0x01, 0xe0, END_OF_MESSAGE]);
        let [Frame::Request(request)] = &frames[..] else { panic!("{frames:?}") };
        assert_eq!(request.asks(), (6, 1));
        assert_eq!(request.answer(&[0]), [0x07, 0x1c, 0x01, 0x00, 0xdc, END_OF_MESSAGE]);
    }

    #[test]
    fn bytes_that_look_like_an_end_are_escaped_both_ways() {
        let frame = encode(&[0xa0, 0x18, 0xaa, 0xa1, 0xfd], END_OF_MESSAGE);
        assert_eq!(frame, [0xaa, 0xb0, 0x18, 0xaa, 0xba, 0xaa, 0xb1, 0xfd, 0xa0]);
        let data = vec![0xa1];
        let request = Request { sequence: 0xa0, function_and_unit: 0x18, command: 0xaa, data };
        assert_eq!(frames(&frame), [Frame::Request(request)]);
    }

    #[test]
    fn command_between_messages_leaves_them_whole() {
        let frames = frames(&[0xff, 1, END_OF_COMMAND, 1, 0x18, 8, 0, END_OF_MESSAGE]);
        let request = Request { sequence: 1, function_and_unit: 0x18, command: 8, data: vec![] };
        assert_eq!(frames, [Frame::Command, Frame::Request(request)]);
    }

    #[test]
    fn noise_is_no_request() {
        assert_eq!(frames(&[END_OF_MESSAGE, 1, END_OF_MESSAGE]), []);
    }
}
