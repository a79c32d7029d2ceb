//! Where the adapter of this end is plugged in and who served it during a test.

use facts::links::network::{Adapter, Network, Served};
use facts::{CpuSet, Fact, HostView, Missing, Why};
use host::Live;
use host::addresses::Addressed;
use lab::net::perftest;
use lab::net::{NicLocality, Placement, Taken};
use std::net::{IpAddr, TcpStream};

/// What the data of this end go over.
pub(super) enum Over<'a> {
    Streams(&'a [TcpStream]),
    /// An RDMA port.
    Port(&'a perftest::Adapter),
}

/// The interface that has this end's address of a connection. Both ends on one machine talk over `lo`, whatever addresses they use.
///
/// It cannot know of routes: of two interfaces in one subnet packets may go over the one that has not the address.
pub(super) fn interface(stream: &TcpStream) -> Fact<String> {
    let failed = |why: std::io::Error| Missing {
        what: "address of a connection".to_owned(),
        why: Why::Failed(why.to_string()),
    };
    let local = stream.local_addr().map_err(failed)?.ip().to_canonical();
    let peer = stream.peer_addr().map_err(failed)?.ip().to_canonical();
    let all = host::addresses::addresses()?;
    of_addresses(&all, local, peer)
}

fn of_addresses(all: &[Addressed], local: IpAddr, peer: IpAddr) -> Fact<String> {
    let of = |ip: IpAddr| {
        let it = all.iter().find(|it| it.address == ip);
        it.map(|it| it.interface.clone())
    };
    if peer.is_loopback() || of(peer).is_some() {
        return Ok(LOOPBACK.to_owned());
    }
    let unknown = |why| Missing::not_here("interface of the connection", why);
    match of(local) {
        // The address of a service: packets to another machine go over some other interface, which the route alone tells.
        Some(it) if it == LOOPBACK => {
            Err(unknown(format!("lo has {local}, and {peer} is another machine")))
        }
        Some(it) => Ok(it),
        None => Err(unknown(format!("none has {local}"))),
    }
}

const LOOPBACK: &str = "lo";

/// `before` and `after` are this machine at both ends of the test, `worked` the CPUs that did.
pub(super) fn placement(
    over: &Over<'_>,
    before: &HostView,
    after: &HostView,
    worked: &CpuSet,
) -> Placement {
    let network = &after.network;
    let (device, adapter) = match over {
        Over::Streams(streams) => {
            let none = || Missing::not_here("connection", "none carries data");
            let device = streams.first().ok_or_else(none).and_then(interface);
            let adapter = device.clone().and_then(|it| of_interface(network, &it));
            (device, adapter)
        }
        Over::Port(port) => {
            let device = Ok(format!("{}/{}", port.device, port.port));
            (device, of_rdma(network, &port.device))
        }
    };
    Placement {
        device: device.into(),
        adapter: adapter.map(|it| locality(it, before, after)).into(),
        worked: worked.to_string(),
        incoming: incoming(over).to_string(),
    }
}

fn of_interface<'a>(network: &'a Network, name: &str) -> Fact<&'a Adapter> {
    let interfaces = network.interfaces.as_ref().map_err(Clone::clone)?;
    let is_virtual =
        || Missing::not_here(format!("adapter behind {name}"), "the kernel makes it up");
    let interface = interfaces.iter().find(|it| it.name == name).ok_or_else(is_virtual)?;
    behind(network, &interface.pci, name)
}

fn of_rdma<'a>(network: &'a Network, name: &str) -> Fact<&'a Adapter> {
    let devices = network.rdma.as_ref().map_err(Clone::clone)?;
    let is_gone = || Missing::absent(format!("/sys/class/infiniband/{name}"));
    let device = devices.iter().find(|it| it.name == name).ok_or_else(is_gone)?;
    behind(network, &device.pci, name)
}

fn behind<'a>(network: &'a Network, pci: &Fact<String>, name: &str) -> Fact<&'a Adapter> {
    let folder = pci.as_ref().map_err(Clone::clone)?;
    let unread = || Missing::not_collected(format!("adapter behind {name}"));
    network.adapter(folder).ok_or_else(unread)
}

fn locality(adapter: &Adapter, before: &HostView, after: &HostView) -> NicLocality {
    let network = &after.network;
    let number = adapter.numa_node.clone().and_then(|it| {
        let unnamed = || Missing::not_here("NUMA node of the adapter", "firmware names none");
        it.ok_or_else(unnamed)
    });
    let near = number.clone().and_then(|number| {
        let nodes = network.nodes.as_ref().map_err(Clone::clone)?;
        let node = nodes.iter().find(|it| it.number == number);
        node.ok_or_else(|| Missing::absent(format!("NUMA node {number}")))?.cpus.clone()
    });
    let live = Live::this_machine();
    let served = after
        .interrupts
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|it| host::serving(&live, adapter, it));
    let serving = served.clone().and_then(|it| who_serves(&it));
    let interrupted = served.and_then(|it| taken(&it, before, after));
    NicLocality {
        address: adapter.address().to_owned(),
        node: number.into(),
        near: near.map(|it| it.to_string()).into(),
        n_nodes: n_nodes(network).into(),
        serving: serving.map(|it| it.to_string()).into(),
        interrupted: interrupted.into(),
    }
}

/// A kernel without NUMA has no folder of nodes: all memory is as near.
fn n_nodes(network: &Network) -> Fact<u32> {
    match &network.nodes {
        Ok(nodes) => Ok(u32::try_from(nodes.len()).unwrap_or(u32::MAX)),
        Err(missing) if missing.is_absence() => Ok(1),
        Err(missing) => Err(missing.clone()),
    }
}

fn who_serves(served: &[Served]) -> Fact<CpuSet> {
    let mut all = CpuSet::default();
    for it in served {
        all.extend(it.cpus.as_ref().map_err(Clone::clone)?.iter());
    }
    Ok(all)
}

/// What the counts of its interrupts rose by, the most first.
fn taken(served: &[Served], before: &HostView, after: &HostView) -> Fact<Vec<Taken>> {
    let (before, after) = (
        before.interrupts.as_ref().map_err(Clone::clone)?,
        after.interrupts.as_ref().map_err(Clone::clone)?,
    );
    let rise = |cpu: u32| -> u64 {
        let of = |it: &Served| {
            let name = it.number.to_string();
            let on = |table: &facts::system::interrupts::Interrupts| {
                table.named(&name).map_or(0, |it| it.on(cpu))
            };
            on(after).saturating_sub(on(before))
        };
        served.iter().map(of).fold(0, u64::saturating_add)
    };
    let all = after.cpus.iter().map(|cpu| Taken { cpu, count: rise(cpu) });
    let mut some: Vec<Taken> = all.filter(|it| it.count > 0).collect();
    some.sort_by_key(|it| std::cmp::Reverse(it.count));
    Ok(some)
}

fn incoming(over: &Over<'_>) -> CpuSet {
    let Over::Streams(streams) = over else { return CpuSet::default() };
    // A connection that nothing came over has none, which is -1.
    let cpus = streams.iter().filter_map(|it| rustix::net::sockopt::socket_incoming_cpu(it).ok());
    cpus.filter(|it| i32::try_from(*it).is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Captured;
    use std::net::TcpListener;

    const PCI: &str = "/sys/devices/pci0000:80/0000:80:03.0/0000:81:00.0";

    /// Two nodes of two CPUs; eth0 is on node 1, and CPU 0 takes its interrupt.
    fn host(count: u64) -> HostView {
        let nodes = "/sys/devices/system/node/node";
        let place = &PCI["/sys".len()..];
        let excerpt = format!(
            "//- {nodes}0/cpulist\n0-1\n//- {nodes}0/distance\n10 21\n\
             //- {nodes}1/cpulist\n2-3\n//- {nodes}1/distance\n21 10\n\
             //- /sys/class/net/eth0 -> ../..{place}/net/eth0\n//- /sys/class/net/eth0/carrier\n1\n\
             //- /sys/class/net/veth0 -> ../../devices/virtual/net/veth0\n\
             //- {PCI}/numa_node\n1\n//- /proc/interrupts\n\
             CPU0 CPU1 CPU2 CPU3\n40: {count} 0 7 0 PCI-MSI 1-edge eth0-TxRx-0\n"
        );
        host::view(&Captured::excerpt(&excerpt).unwrap())
    }

    #[test]
    fn an_adapter_is_known_with_its_node_and_what_it_interrupted_during_the_test() {
        let (before, after) = (host(1000), host(91_000));
        let locality = locality(of_interface(&after.network, "eth0").unwrap(), &before, &after);
        assert_eq!((&locality.address[..], locality.n_nodes.value()), ("0000:81:00.0", Some(&2)));
        assert_eq!(
            (locality.node.value(), locality.near.value().map(String::as_str)),
            (Some(&1), Some("2-3"))
        );
        let served = [Served { number: 40, path: String::new(), cpus: Ok(CpuSet::default()) }];
        assert_eq!(taken(&served, &before, &after), Ok(vec![Taken { cpu: 0, count: 90_000 }]));
    }

    #[test]
    fn what_the_kernel_makes_up_has_no_adapter() {
        let why = of_interface(&host(1).network, "veth0").unwrap_err().to_string();
        assert!(why.contains("adapter behind veth0") && why.contains("makes it up"), "{why}");
    }

    #[test]
    fn the_address_of_a_service_on_lo_does_not_tell_what_packets_to_another_machine_go_over() {
        let ip = |it: &str| it.parse::<IpAddr>().unwrap();
        let all = [("10.9.9.9", "lo"), ("10.0.0.1", "eth0")]
            .map(|(address, it)| Addressed { address: ip(address), interface: it.to_owned() });
        let of = |local, peer| of_addresses(&all, ip(local), ip(peer));
        let why = of("10.9.9.9", "10.0.0.2").unwrap_err().to_string();
        assert!(why.contains("lo has 10.9.9.9, and 10.0.0.2 is another machine"), "{why}");
        assert_eq!(of("10.0.0.1", "10.0.0.2"), Ok("eth0".to_owned()));
        assert_eq!(of("10.9.9.9", "10.0.0.1"), Ok("lo".to_owned()));
    }

    #[test]
    fn both_ends_on_one_machine_talk_over_lo() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(interface(&stream), Ok("lo".to_owned()));
    }
}
