//! Which interface of this machine has which address, as the kernel tells over a netlink socket.
//!
//! Files tell it of IPv6 alone (/proc/net/if_inet6). Source: rtnetlink(7), RTM_GETADDR; include/uapi/linux/if_addr.h: `struct
//! ifaddrmsg` of 8 bytes and attributes. Addresses are those of the network namespace of this process.

use facts::netlink::{DONE, DUMP, ERROR, REQUEST, attributes, messages, request, u32_at};
use facts::{Fact, Missing, Why};
use rustix::net::netdevice::index_to_name;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const RTM_NEWADDR: u16 = 20;
const RTM_GETADDR: u16 = 22;

/// The other end's address of a point-to-point link, and this one's of any other.
const IFA_ADDRESS: u16 = 1;
/// This end's, where it is told apart.
const IFA_LOCAL: u16 = 2;

/// `struct ifaddrmsg`.
const MESSAGE: usize = 8;

/// What a dump writes at once at most (net/netlink/af_netlink.c, netlink_dump).
const BUFFER: usize = 32 << 10;

/// An address and the interface that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addressed {
    /// The address, IPv4 or IPv6.
    pub address: IpAddr,
    /// `eth0`.
    pub interface: String,
}

/// All addresses of this machine.
pub fn addresses() -> Fact<Vec<Addressed>> {
    let failed = |why: rustix::io::Errno| failed(&why.into());
    // Protocol 0 is NETLINK_ROUTE.
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(failed)?;
    // Addresses of any kind.
    let question = request(RTM_GETADDR, REQUEST | DUMP, &[0; MESSAGE]);
    rustix::net::send(&socket, &question, SendFlags::empty()).map_err(failed)?;
    let mut found = Vec::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        let (n_read, _) =
            rustix::net::recv(&socket, &mut buffer[..], RecvFlags::empty()).map_err(failed)?;
        let Part { addresses, is_last } = parse(buffer.get(..n_read).unwrap_or_default())?;
        for (address, index) in addresses {
            // One that is gone meanwhile has no name.
            found.extend(
                index_to_name(&socket, index).map(|interface| Addressed { address, interface }),
            );
        }
        if is_last {
            return Ok(found);
        }
    }
}

/// What cannot be told.
const WHAT: &str = "addresses of interfaces";

fn failed(why: &std::io::Error) -> Missing {
    Missing { what: WHAT.to_owned(), why: Why::Failed(why.to_string()) }
}

/// What was read at once.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    /// With the index of the interface.
    addresses: Vec<(IpAddr, u32)>,
    /// Whether nothing comes behind it.
    is_last: bool,
}

/// Errors: the kernel tells of one, or a message is cut, so that the list would look complete and is not.
fn parse(bytes: &[u8]) -> Fact<Part> {
    let mut addresses = Vec::new();
    for message in messages(bytes) {
        let cut = |expected: facts::Expected| {
            Missing::malformed(WHAT, &format!("{} bytes", bytes.len()), expected.0)
        };
        let message = message.map_err(cut)?;
        match message.kind {
            DONE => return Ok(Part { addresses, is_last: true }),
            ERROR => {
                let number = message.error().ok_or_else(|| {
                    let found = "an error without a number";
                    Missing::malformed(WHAT, found, "a whole message of netlink")
                })?;
                return Err(failed(&std::io::Error::from_raw_os_error(number)));
            }
            RTM_NEWADDR => addresses.extend(address(message.body)),
            _ => {}
        }
    }
    Ok(Part { addresses, is_last: false })
}

fn address(message: &[u8]) -> Option<(IpAddr, u32)> {
    let index = u32_at(message, 4)?;
    let mut found = None;
    for (kind, value) in attributes(message.get(MESSAGE..)?) {
        let is_better = kind == IFA_LOCAL || (kind == IFA_ADDRESS && found.is_none());
        if is_better {
            found = ip(value).or(found);
        }
    }
    found.map(|it| (it, index))
}

fn ip(value: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(value).map(|it| Ipv4Addr::from(it).into());
    let sixteen = || <[u8; 16]>::try_from(value).map(|it| Ipv6Addr::from(it).into());
    four.or_else(|_| sixteen()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::netlink::attribute;

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        request(kind, 0, body)
    }

    fn body(index: u32, attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![2, 24, 0, 0];
        bytes.extend(index.to_ne_bytes());
        bytes.extend(attributes.iter().flat_map(|(kind, value)| attribute(*kind, value)));
        bytes
    }

    #[test]
    fn every_address_is_told_with_its_interface_and_a_peer_is_no_own_one() {
        let lo = body(1, &[(IFA_ADDRESS, &[127, 0, 0, 1]), (IFA_LOCAL, &[127, 0, 0, 1])]);
        let tunnel = body(7, &[(IFA_LOCAL, &[10, 0, 0, 1]), (IFA_ADDRESS, &[10, 0, 0, 2])]);
        let six = body(3, &[(3, b"eth"), (IFA_ADDRESS, &Ipv6Addr::LOCALHOST.octets())]);
        let mut bytes = [lo, tunnel, six].map(|it| message(RTM_NEWADDR, &it)).concat();
        let own = |text: &str, index| (text.parse::<IpAddr>().unwrap(), index);
        let expected = vec![own("127.0.0.1", 1), own("10.0.0.1", 7), own("::1", 3)];
        assert_eq!(parse(&bytes), Ok(Part { addresses: expected.clone(), is_last: false }));
        bytes.extend(message(DONE, &[0; 4]));
        assert_eq!(parse(&bytes), Ok(Part { addresses: expected, is_last: true }));
    }

    #[test]
    fn a_cut_message_is_malformed_and_nothing_goes_on_for_ever() {
        let whole = message(RTM_NEWADDR, &body(1, &[(IFA_LOCAL, &[10, 0, 0, 1])]));
        let is_malformed =
            |bytes: &[u8]| matches!(parse(bytes).unwrap_err().why, Why::Malformed { .. });
        for length in 1..whole.len() {
            assert!(is_malformed(&whole[..length]), "{length}");
        }
        assert!(is_malformed(&[0; 64]));
        let mut endless = whole;
        // The length of the first attribute, behind the header of the message and its body.
        endless[16 + MESSAGE..][..2].fill(0);
        assert_eq!(parse(&endless), Ok(Part { addresses: Vec::new(), is_last: false }));
    }

    #[test]
    fn an_error_of_the_kernel_is_no_empty_list() {
        let mut body = (-13_i32).to_ne_bytes().to_vec();
        body.extend(request(RTM_GETADDR, REQUEST, &[]));
        let why = parse(&message(ERROR, &body)).unwrap_err().why;
        assert!(matches!(&why, Why::Failed(it) if it.contains("os error 13")), "{why:?}");
        let why = parse(&message(ERROR, &[])).unwrap_err().why;
        assert!(matches!(why, Why::Malformed { .. }), "{why:?}");
    }

    #[test]
    fn this_machine_has_its_loopback_address() {
        let found = addresses().unwrap();
        let lo = found.iter().find(|it| it.address == Ipv4Addr::LOCALHOST);
        assert_eq!(lo.map(|it| it.interface.as_str()), Some("lo"), "{found:?}");
    }
}
