//! Asks the driver of a network interface of this machine.
//!
//! Source: net/ethtool/ioctl.c. These three commands are for everybody (`dev_ethtool`). The kernel says first how long its
//! bitmaps of link modes are, as a length below 0, and gives them to those who know.
#![expect(
    unsafe_code,
    reason = "SIOCETHTOOL takes a name and a pointer to what it reads and writes"
)]

use super::missing;
use facts::links::ethtool::Question;
use facts::links::ethtool::binary::{HEADER, N_WORDS, SINGLE_BYTES};
use facts::{Fact, Missing};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// include/uapi/linux/sockios.h.
const SIOCETHTOOL: Opcode = 0x8946;

/// IFNAMSIZ, with the NUL at the end.
const LONGEST_NAME: usize = 16;

/// As many words as a bitmap may have: its length is a signed byte.
const MOST_WORDS: usize = 127;

/// Words of the longest answer: a header and three bitmaps.
const LONGEST: usize = HEADER / 4 + 3 * MOST_WORDS;

/// `struct ifreq`, or more: it is 40 bytes long on machines of 64 bits, and 32 on those of 32.
#[repr(C)]
struct Request {
    name: [u8; LONGEST_NAME],
    answer: *mut [u32; LONGEST],
    rest: [usize; 3],
}

/// What the driver of `interface` answers, numbers with their lowest byte first.
pub(super) fn ask(interface: &str, question: Question) -> Fact<Vec<u8>> {
    let asked = || -> Result<Vec<u8>, Errno> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?;
        answer(socket.as_fd(), interface, question)
    };
    let name = question.name(interface);
    asked().map_err(|error| match error {
        // A driver, or a kernel from before the command.
        Errno::OPNOTSUPP => Missing::not_here(name, "its driver does not report it"),
        error => missing(&name, error),
    })
}

fn answer(socket: BorrowedFd<'_>, interface: &str, question: Question) -> Result<Vec<u8>, Errno> {
    let mut words = [0; LONGEST];
    words[0] = question.command();
    command(socket, interface, &mut words)?;
    let length = if question == Question::Settings {
        let wish = bytes(&words)[N_WORDS];
        let n_words = usize::from(wish.wrapping_neg());
        // A kernel that knows no modes at all would have taken the first question for whole.
        if !(1..=MOST_WORDS).contains(&n_words) {
            return Err(Errno::MSGSIZE);
        }
        words = [0; LONGEST];
        words[0] = question.command();
        set_byte(&mut words, N_WORDS, wish.wrapping_neg());
        command(socket, interface, &mut words)?;
        HEADER / 4 + 3 * n_words
    } else {
        // Four numbers, in both structures.
        4
    };
    let settings = if question == Question::Settings { SINGLE_BYTES } else { 0..0 };
    Ok(turned(&words[..length], &settings))
}

fn command(
    socket: BorrowedFd<'_>,
    interface: &str,
    words: &mut [u32; LONGEST],
) -> Result<(), Errno> {
    let mut name = [0; LONGEST_NAME];
    let room = name.get_mut(..interface.len()).filter(|it| it.len() < LONGEST_NAME);
    room.ok_or(Errno::NODEV)?.copy_from_slice(interface.as_bytes());
    let mut request = Request { name, answer: words, rest: [0; 3] };
    // SAFETY: the layout is that of struct ifreq, with room for all of it, a name that ends with NUL, and a pointer to as
    // many writable words as the longest answer of the three commands has, which outlive the call. The kernel writes
    // bitmaps of the length that it asked for itself, and numbers, for which any bits are good.
    unsafe { ioctl(socket, Updater::<SIOCETHTOOL, Request>::new(&mut request)) }
}

/// The bytes of the words as they stand in memory.
fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|it| it.to_ne_bytes()).collect()
}

fn set_byte(words: &mut [u32; LONGEST], at: usize, value: u8) {
    let mut word = words[at / 4].to_ne_bytes();
    word[at % 4] = value;
    words[at / 4] = u32::from_ne_bytes(word);
}

/// The same with the lowest byte of each number first; `single` are bytes that are numbers by themselves.
fn turned(words: &[u32], single: &std::ops::Range<usize>) -> Vec<u8> {
    let word = |(number, word): (usize, &u32)| {
        if single.contains(&(number * 4)) { word.to_ne_bytes() } else { word.to_le_bytes() }
    };
    words.iter().enumerate().flat_map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_no_shorter_than_the_kernels() {
        let expected = if cfg!(target_pointer_width = "64") { 40 } else { 32 };
        assert!(size_of::<Request>() >= expected);
    }

    #[test]
    fn an_interface_that_is_not_there_is_absent() {
        for name in ["fullclock-none", "a-name-that-no-interface-can-have", ""] {
            for question in Question::ALL {
                assert_eq!(ask(name, question), Err(Missing::absent(question.name(name))));
            }
        }
    }

    #[test]
    fn loopback_has_no_wire_and_its_driver_says_so_or_nothing() {
        for question in Question::ALL {
            let asked = ask("lo", question);
            assert!(asked.as_ref().is_err_and(Missing::is_absence), "{asked:?}");
        }
    }

    #[test]
    fn single_bytes_stay_where_they_are() {
        let words = [0x4c, 1, u32::from_ne_bytes([1, 2, 3, 4]), u32::from_ne_bytes([0, 1, 0, 3])];
        let bytes = turned(&words, &SINGLE_BYTES);
        assert_eq!(bytes, [0x4c, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4, 0, 1, 0, 3]);
    }
}
