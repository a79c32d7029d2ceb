//! The adapter that a test goes over: the RDMA port of this machine, and what the device that a user names can carry.

use anyhow::{Result, bail};
use facts::links::infiniband::{Coded, state};
use facts::{Fact, HostView};
use host::{Live, Source};
use lab::net::perftest::Adapter;
use rules::ceiling::{Ceiling, Ceilings, Given, Named, ceilings};

/// The port that is called `wanted`, `mlx5_0` or `mlx5_0/1`, or the only one with a link. Errors say what to do.
pub(super) fn adapter(host: &HostView, wanted: Option<&str>) -> Result<Adapter, String> {
    let here: &dyn Source = &Live::this_machine();
    let state = |it: &Adapter| {
        let Adapter { device, port } = it;
        here.parsed(&format!("/sys/class/infiniband/{device}/ports/{port}/state"), Coded::parse)
    };
    chosen(ports(host), wanted, &state)
}

fn ports(host: &HostView) -> Vec<Adapter> {
    let adapter = |device: &str, port| Adapter { device: device.to_owned(), port };
    let infiniband = host.infiniband.ports.iter().flatten().filter_map(|it| {
        let (device, port) = it.name.split_once(" port ")?;
        Some(adapter(device, port.parse().ok()?))
    });
    let ethernet =
        host.network.rdma.iter().flatten().flat_map(|device| {
            device.ethernet.iter().map(|port| adapter(&device.name, port.number))
        });
    infiniband.chain(ethernet).collect()
}

fn chosen(
    ports: Vec<Adapter>,
    wanted: Option<&str>,
    state: &dyn Fn(&Adapter) -> Fact<Coded>,
) -> Result<Adapter, String> {
    if ports.is_empty() {
        return Err(
            "this machine has no RDMA adapter with a driver: /sys/class/infiniband holds none. --transport tcp needs none, and \
             `rdma link add rxe0 type rxe netdev INTERFACE` makes one of software"
                .to_owned(),
        );
    }
    let name = |it: &Adapter| format!("{}/{}", it.device, it.port);
    let names = |ports: &[Adapter]| ports.iter().map(name).collect::<Vec<_>>().join(", ");
    let all = names(&ports);
    let is_meant =
        |it: &Adapter| wanted.is_none_or(|wanted| wanted == it.device || wanted == name(it));
    let meant: Vec<Adapter> = ports.into_iter().filter(is_meant).collect();
    if meant.is_empty() {
        let wanted = wanted.unwrap_or_default();
        return Err(format!("no RDMA port here is called {wanted:?}: there are {all}"));
    }
    let is_active = |it: &&Adapter| state(it).is_ok_and(|it| it.code == state::ACTIVE);
    let active: Vec<&Adapter> = meant.iter().filter(is_active).collect();
    match &active[..] {
        [only] => Ok((*only).clone()),
        [] => {
            let told = |it: &Adapter| match state(it) {
                Ok(state) => format!("{} is {:?}", name(it), state.text),
                Err(missing) => missing.advice(),
            };
            let told: Vec<String> = meant.iter().map(told).collect();
            Err(format!(
                "no RDMA port has a link here: {}; `fullclock audit` says more of a port that should have one",
                told.join(", ")
            ))
        }
        [..] => Err(format!(
            "several RDMA ports have a link here: --device names one of {}",
            names(&meant)
        )),
    }
}

/// Which of the two faces of a wire that does RDMA over Ethernet is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// The RDMA port.
    Rdma,
    /// The interface of the kernel's TCP.
    Interface,
}

/// What the one device of a host that the user calls so can carry, with its name; `host_name` is what to call the host.
pub fn ceiling_of(
    host: &HostView,
    host_name: &str,
    device: &str,
    given: Given,
    face: Face,
) -> Result<(String, Ceiling)> {
    let mut found = ceilings(host, given);
    only(&mut found, device, host_name)?;
    let is_meant = |it: &Named| it.is_rdma == (face == Face::Rdma);
    if found.devices.iter().any(is_meant) {
        found.devices.retain(is_meant);
    }
    match <[Named; 1]>::try_from(found.devices) {
        Ok([only]) => Ok((only.name, only.ceiling)),
        Err(several) => {
            let names: Vec<String> = several.into_iter().map(|it| it.name).collect();
            bail!("{device:?} may be each of {}: name a port, as {device}/1", names.join(", "))
        }
    }
}

/// Leaves only what the user calls `device`.
pub fn only(ceilings: &mut Ceilings, device: &str, host_name: &str) -> Result<()> {
    if !ceilings.devices.iter().any(|it| it.is_called(device)) {
        let names: Vec<&str> = ceilings.devices.iter().map(|it| it.name.as_str()).collect();
        let others = match &names[..] {
            [] => "there is no network adapter".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        let reasons = ceilings.missing.iter().map(|it| format!("; {}", it.advice()));
        bail!(
            "no adapter of {host_name} is called {device:?}: {others}{}",
            reasons.collect::<String>()
        );
    }
    ceilings.devices.retain(|it| it.is_called(device));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::Missing;

    fn of(ports: &[(&str, u32, u32)], wanted: Option<&str>) -> Result<String, String> {
        let adapters = ports
            .iter()
            .map(|(device, port, _)| Adapter { device: (*device).to_owned(), port: *port })
            .collect();
        let state = |it: &Adapter| -> Fact<Coded> {
            let known =
                ports.iter().find(|(device, port, _)| it.device == *device && it.port == *port);
            let (.., code) = known.ok_or(Missing::not_here("state", "unknown"))?;
            Ok(Coded { code: *code, text: format!("{code}: STATE") })
        };
        chosen(adapters, wanted, &state).map(|it| format!("{}/{}", it.device, it.port))
    }

    #[test]
    fn the_only_port_with_a_link_is_taken_and_others_by_name() {
        let ports = [("mlx5_0", 1, 1), ("mlx5_0", 2, 4), ("mlx5_1", 1, 4)];
        assert_eq!(of(&ports[..2], None).unwrap(), "mlx5_0/2");
        assert_eq!(of(&ports, Some("mlx5_1")).unwrap(), "mlx5_1/1");
        assert_eq!(of(&ports, Some("mlx5_0/2")).unwrap(), "mlx5_0/2");
        let several = of(&ports, None).unwrap_err();
        assert!(
            several.contains("--device names one of mlx5_0/1, mlx5_0/2, mlx5_1/1"),
            "{several}"
        );
    }

    #[test]
    fn without_a_port_or_a_link_the_error_says_what_to_do() {
        assert!(of(&[], None).unwrap_err().contains("rdma link add rxe0"));
        let down = of(&[("mlx5_0", 1, 1)], None).unwrap_err();
        assert!(down.contains("mlx5_0/1 is \"1: STATE\""), "{down}");
        let unknown = of(&[("mlx5_0", 1, 4)], Some("mlx4_0")).unwrap_err();
        assert!(unknown.contains("there are mlx5_0/1"), "{unknown}");
    }
}
