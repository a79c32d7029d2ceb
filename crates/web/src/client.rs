//! Which local user a connection comes from, as the kernel's table of sockets has it.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the sockets of this machine for each sign-in, which are no fact of it"
)]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::OnceLock;
use tokio::net::TcpStream;

/// The client at the other end of a connection.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// Its address, and ours.
    ends: Option<[SocketAddr; 2]>,
    user: OnceLock<Option<u32>>,
}

impl Client {
    /// That of a connection.
    pub(super) fn of(stream: &TcpStream) -> Client {
        let ends = stream.peer_addr().ok().zip(stream.local_addr().ok());
        Client { ends: ends.map(|(theirs, ours)| [theirs, ours]), user: OnceLock::new() }
    }

    /// The user whose socket it is; `None` where it is not one of this network namespace, or cannot be found.
    pub(super) fn user(&self) -> Option<u32> {
        *self.user.get_or_init(|| {
            let ends = self.ends?;
            // A socket of IPv6 can have a connection of IPv4.
            ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|path| {
                let lines = BufReader::new(File::open(path).ok()?).lines();
                lines.map_while(Result::ok).find_map(|line| user_of(&line, ends))
            })
        })
    }

    /// Whether a session that `owner` began may be this client's. Where a connection of this machine is not found, as where
    /// /proc is closed, the cookie decides alone.
    pub(super) fn may_be(&self, owner: Option<u32>) -> bool {
        let is_loopback = self.ends.is_some_and(|it| it[0].ip().to_canonical().is_loopback());
        let user = self.user();
        user == owner || (user.is_none() && is_loopback)
    }

    /// One of this user, for tests.
    #[cfg(test)]
    pub(super) fn with_user(user: Option<u32>, from: &str) -> Client {
        let ends = [from.parse().unwrap(), "127.0.0.1:7077".parse().unwrap()];
        Client { ends: Some(ends), user: OnceLock::from(user) }
    }
}

/// The user of a line of /proc/net/tcp (`get_tcp4_sock` in net/ipv4/tcp_ipv4.c), if it is of the socket with these ends.
fn user_of(line: &str, ends: [SocketAddr; 2]) -> Option<u32> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    for end in ends {
        let (address, port) = fields.next()?.split_once(':')?;
        let is_port = u16::from_str_radix(port, 16).ok()? == end.port();
        if !is_port || ip(address)?.to_canonical() != end.ip().to_canonical() {
            return None;
        }
    }
    let user = fields.nth(4)?.parse().ok()?;
    // A socket that its process has closed has neither: both are 0.
    let inode = fields.nth(1)?;
    (inode != "0").then_some(user)
}

/// Words of 32 bits, each as this machine's number of what is in network order.
fn ip(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| u32::from_str_radix(hex.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    if hex.len() == 8 {
        return Some(Ipv4Addr::from(word(0)?).into());
    }
    let words = [word(0)?, word(8)?, word(16)?, word(24)?];
    let bytes: [u8; 16] = words.concat().try_into().ok()?;
    Some(Ipv6Addr::from(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_of_a_connection_is_found_with_its_user() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let own = rustix::process::geteuid().as_raw();
        for (listen, connect) in
            [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1"), ("[::]:0", "127.0.0.1")]
        {
            let Ok(listener) = std::net::TcpListener::bind(listen) else { continue };
            let at = (connect, listener.local_addr().unwrap().port());
            let Ok(near) = std::net::TcpStream::connect(at) else { continue };
            let (far, _) = listener.accept().unwrap();
            far.set_nonblocking(true).unwrap();
            let client = runtime.block_on(async { Client::of(&TcpStream::from_std(far).unwrap()) });
            assert_eq!(client.user(), Some(own), "{listen}");
            assert!(client.may_be(Some(own)) && !client.may_be(Some(own + 1)));
            assert!(!client.may_be(None));
            drop(near);
        }
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_line_is_of_the_socket_with_both_ends() {
        let line = "   3: 0100007F:9C40 0100007F:1BA5 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 20";
        let ends = |theirs: &str, ours: &str| [theirs.parse().unwrap(), ours.parse().unwrap()];
        let right = ends("127.0.0.1:40000", "127.0.0.1:7077");
        assert_eq!(user_of(line, right), Some(1000));
        assert_eq!(user_of(line, ends("[::ffff:127.0.0.1]:40000", "127.0.0.1:7077")), Some(1000));
        assert_eq!(user_of(line, ends("127.0.0.1:7077", "127.0.0.1:40000")), None);
        assert_eq!(user_of(line, ends("127.0.0.2:40000", "127.0.0.1:7077")), None);
        assert_eq!(user_of(&line.replace(" 4711 ", " 0 "), right), None);
        assert_eq!(user_of("  sl  local_address rem_address   st", right), None);
    }
}
