//! What the wires of one card carry together, to hold it against the slot that the card sits in.

use super::links;
use facts::links::infiniband::{Port, state};
use facts::links::network::Interface;
use facts::{BytesPerSecond, Fact, HostView, Missing};

/// The wires behind one slot that have a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wires {
    /// Interfaces and InfiniBand ports.
    pub ports: Vec<Wire>,
    /// Why there may be others, or others that carry more.
    pub missing: Option<Missing>,
}

/// One wire with a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Wire {
    /// `eth0`, `mlx4_0 port 1`.
    pub name: String,
    /// What it carries in one direction, headers included.
    pub rate: BytesPerSecond,
}

/// The wires of all functions of the card below the port at `slot`.
pub fn wires(host: &HostView, slot: &str) -> Wires {
    let mut wires = Wires::default();
    let interfaces = wires.known(all_of(&host.network.interfaces)).unwrap_or_default();
    for interface in interfaces.iter().filter(|it| has_own_wire(it)) {
        let rate = is_below(slot, &interface.pci)
            .map_err(Clone::clone)
            .and_then(|it| if it { rate_of(interface) } else { Ok(None) });
        wires.add(&interface.name, rate);
    }
    for device in wires.known(all_of(&host.network.rdma)).unwrap_or_default() {
        if wires.known(is_below(slot, &device.pci)) != Some(true) {
            continue;
        }
        let ports = wires.known(host.infiniband.ports.as_deref()).unwrap_or_default();
        for port in ports.iter().filter(|it| it.name.starts_with(&format!("{} ", device.name))) {
            wires.add(&port.name, rate_of_port(port));
        }
    }
    wires
}

impl Wires {
    /// The names, as a list in a sentence.
    pub fn names(&self) -> String {
        self.ports.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// What they carry together in one direction, headers included.
    pub fn rate(&self) -> BytesPerSecond {
        let sum = |sum: u64, it: &Wire| sum.saturating_add(it.rate.0);
        BytesPerSecond(self.ports.iter().fold(0, sum))
    }

    /// The fastest; of several the first.
    pub fn fastest(&self) -> Option<&Wire> {
        self.ports.iter().rev().max_by_key(|it| it.rate)
    }

    /// What was asked, or a note that it is missing.
    fn known<T>(&mut self, asked: Result<T, &Missing>) -> Option<T> {
        match asked {
            Ok(known) => Some(known),
            Err(missing) => {
                self.missing.get_or_insert_with(|| missing.clone());
                None
            }
        }
    }

    /// Adds a wire that carries anything.
    fn add(&mut self, name: &str, rate: Fact<Option<BytesPerSecond>>) {
        match rate {
            Ok(Some(rate)) => self.ports.push(Wire { name: name.to_owned(), rate }),
            Ok(None) => {}
            Err(missing) => self.missing = self.missing.take().or(Some(missing)),
        }
    }
}

/// None where the host has no such thing.
fn all_of<T>(things: &Fact<Vec<T>>) -> Result<&[T], &Missing> {
    match things {
        Err(missing) if missing.is_absence() => Ok(&[]),
        things => things.as_deref(),
    }
}

/// What is on another bus is not below it.
fn is_below<'a>(slot: &str, folder: &'a Fact<String>) -> Result<bool, &'a Missing> {
    match folder {
        Ok(folder) => Ok(folder.rsplit_once('/').is_some_and(|(above, _)| above == slot)),
        Err(missing) if missing.is_absence() => Ok(false),
        Err(missing) => Err(missing),
    }
}

/// IP over InfiniBand is a face of its port, and a virtual function one of the function that it is of.
fn has_own_wire(interface: &Interface) -> bool {
    !interface.is_infiniband() && !interface.shares_wire
}

/// `None` without a link. The nominal rate of Ethernet is that of its data.
fn rate_of(interface: &Interface) -> Fact<Option<BytesPerSecond>> {
    if interface.carrier == Ok(false) {
        return Ok(None);
    }
    Ok(Some(interface.speed.as_ref()?.bytes()))
}

fn rate_of_port(port: &Port) -> Fact<Option<BytesPerSecond>> {
    if port.state.as_ref()?.code != state::ACTIVE {
        return Ok(None);
    }
    links::infiniband(port.rate.as_ref()?, None).map(|it| Some(it.data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::host_of;

    const SLOT: &str = "/sys/devices/pci0000:3a/0000:3a:00.0";

    /// An interface of function `number`, with what its files hold.
    fn interface(name: &str, number: u32, files: &[(&str, &str)]) -> String {
        let net = format!("//- /sys/class/net/{name}");
        let place = format!("{}/0000:3b:00.{number}/net/{name}", &SLOT["/sys".len()..]);
        let files: String =
            files.iter().map(|(file, text)| format!("{net}/{file}\n{text}\n")).collect();
        format!("{net} -> ../..{place}\n{files}")
    }

    fn whole(host: &HostView) -> Fact<Wires> {
        let wires = wires(host, SLOT);
        wires.missing.clone().map_or(Ok(wires), Err)
    }

    fn of(excerpt: &str) -> Fact<(String, String)> {
        whole(&host_of(excerpt)).map(|it| (it.names(), it.rate().to_string()))
    }

    const UP: [(&str, &str); 2] = [("carrier", "1"), ("speed", "25000")];

    #[test]
    fn ports_of_all_functions_with_a_link_are_added_up() {
        let down = interface("eth2", 2, &[("carrier", "0")]);
        let text = interface("eth0", 0, &UP) + &interface("eth1", 1, &UP) + &down;
        assert_eq!(of(&text), Ok(("eth0, eth1".into(), "6.25 GB/s".into())));
        assert_eq!(of(&down).unwrap().0, "");
    }

    #[test]
    fn other_faces_of_a_wire_are_not_added_to_it() {
        let infiniband = interface("ib0", 0, &[("type", "32"), ("speed", "100000")]);
        let virtual_function = format!(
            "{}//- {SLOT}/0000:3b:00.3/physfn -> ../0000:3b:00.0\n",
            interface("eth3", 3, &UP)
        );
        let rdma = "//- /sys/class/infiniband/mlx5_0 -> ../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/infiniband/mlx5_0\n\
                    //- /sys/class/infiniband/mlx5_0/ports/1/state\n4: ACTIVE\n\
                    //- /sys/class/infiniband/mlx5_0/ports/1/rate\n100 Gb/sec (4X EDR)\n\
                    //- /sys/class/infiniband/mlx5_0/ports/1/link_layer\nInfiniBand\n";
        assert_eq!(
            of(&(infiniband + rdma + &virtual_function)),
            Ok(("mlx5_0 port 1".into(), "12.50 GB/s".into()))
        );
    }

    #[test]
    fn a_port_that_does_not_say_how_fast_it_is_makes_the_sum_unknown_and_hides_no_other() {
        let unknown = interface("eth1", 1, &[("carrier", "1"), ("speed", "-1")]);
        let text = unknown + &interface("eth0", 0, &UP);
        assert!(of(&text).is_err());
        assert_eq!(wires(&host_of(&text), SLOT).names(), "eth0");
        assert!(of("//- /sys/class/net/\n!denied\n").is_err());
    }

    #[test]
    fn what_may_not_be_read_may_be_a_wire_of_the_card_and_makes_the_sum_unknown() {
        let up = interface("eth0", 0, &UP);
        assert!(of(&format!("{up}//- /sys/class/infiniband/\n!denied\n")).is_err());
        let elsewhere = "//- /sys/class/net/eth1 -> ../../devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0/net/eth1\n";
        assert_eq!(of(&format!("{up}{elsewhere}")), Ok(("eth0".into(), "3.12 GB/s".into())));
        let mut host = host_of(&(up + &interface("eth1", 0, &UP)));
        host.network.interfaces.as_mut().unwrap()[1].pci =
            Err(Missing::denied("/sys/class/net/eth1"));
        assert!(whole(&host).is_err());
    }
}
