//! What the wires of one card carry together, to hold it against the slot that the card sits in.

use super::links;
use facts::links::infiniband::{Port, state};
use facts::links::network::Interface;
use facts::{BytesPerSecond, Fact, HostView, Missing};

/// The wires behind one slot that have a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Wires {
    /// Interfaces and InfiniBand ports, by name.
    pub names: Vec<String>,
    /// What they carry together in one direction, headers included.
    pub rate: BytesPerSecond,
}

/// The wires of all functions of the card below the port at `slot`; no names where none has a link. What does not say how
/// fast it is makes the whole unknown.
pub fn wires(host: &HostView, slot: &str) -> Fact<Wires> {
    let mut wires = Wires { names: Vec::new(), rate: BytesPerSecond(0) };
    let interfaces = all_of(&host.network.interfaces)?;
    for interface in interfaces.iter().filter(|it| has_own_wire(it)) {
        if is_below(slot, &interface.pci)? {
            wires.add(&interface.name, rate_of(interface)?);
        }
    }
    for device in all_of(&host.network.rdma)? {
        if !is_below(slot, &device.pci)? {
            continue;
        }
        let ports = host.infiniband.ports.as_ref()?;
        for port in ports.iter().filter(|it| it.name.starts_with(&format!("{} ", device.name))) {
            wires.add(&port.name, rate_of_port(port)?);
        }
    }
    Ok(wires)
}

impl Wires {
    fn add(&mut self, name: &str, rate: Option<BytesPerSecond>) {
        if let Some(rate) = rate {
            self.names.push(name.to_owned());
            self.rate = BytesPerSecond(self.rate.0.saturating_add(rate.0));
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

    fn of(excerpt: &str) -> Fact<(String, String)> {
        wires(&host_of(excerpt), SLOT).map(|it| (it.names.join(" "), it.rate.to_string()))
    }

    const UP: [(&str, &str); 2] = [("carrier", "1"), ("speed", "25000")];

    #[test]
    fn ports_of_all_functions_with_a_link_are_added_up() {
        let down = interface("eth2", 2, &[("carrier", "0")]);
        let text = interface("eth0", 0, &UP) + &interface("eth1", 1, &UP) + &down;
        assert_eq!(of(&text), Ok(("eth0 eth1".into(), "6.25 GB/s".into())));
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
    fn a_port_that_does_not_say_how_fast_it_is_makes_the_sum_unknown() {
        let unknown = interface("eth1", 1, &[("carrier", "1"), ("speed", "-1")]);
        assert!(of(&(interface("eth0", 0, &UP) + &unknown)).is_err());
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
        assert!(wires(&host, SLOT).is_err());
    }
}
