//! Resources of a Redfish service, SMBIOS structures that lead to one, and what a capture holds of it: whatever comes, reading it ends, and
//! nothing in it leads out of the service.

use crate::text;
use facts::redfish::{Link, Redfish, Resource, host_interfaces, rises};

/// The longest text that is kept of a resource, in characters.
const LONGEST: usize = 200;

pub(crate) fn run(data: &[u8]) {
    for interface in host_interfaces(data) {
        assert!(interface.url().starts_with("https://") && interface.port > 0);
    }
    if let Ok(link) = Link::parse(text(data)) {
        assert!(
            link.path().starts_with("/redfish/") && !link.path().contains(['\r', '\n', '#', ' '])
        );
        assert!(link.is_same(&link) && link.name().len() <= link.path().len());
    }
    if let Ok(told) = Redfish::parse(text(data)) {
        looked_at(&told);
    }
    if let Ok(resource) = Resource::parse("/redfish/v1/X", data) {
        looked_at(&read(&resource));
        assert!(resource.odd().iter().all(|it| it.found.chars().count() <= LONGEST));
    }
}

/// Everything that any resource is read as.
fn read(resource: &Resource) -> Redfish {
    let chassis = resource.chassis();
    let links = [chassis.environment, chassis.power, chassis.thermal, chassis.controls];
    assert!(links.iter().flatten().all(|it| it.path().starts_with("/redfish/")));
    let collection = resource.collection();
    let members = collection.members.iter().filter_map(|it| it.resource.as_ref());
    let processors = members.chain([resource]).filter_map(Resource::processor);
    let mut told = Redfish {
        service: resource.service(),
        system: resource.system(),
        processors: processors.collect(),
        temperatures: [resource.thermal(), resource.thermal_metrics()].concat(),
        limits: [
            resource.power(),
            resource.environment().into_iter().chain(resource.control()).collect(),
        ]
        .concat(),
        words: [resource.words_of_system(), resource.words_of_power(), resource.words_of_metrics()]
            .concat(),
        inventory: resource.software().into_iter().collect(),
        odd: resource.odd(),
        ..Redfish::default()
    };
    for processor in &mut told.processors {
        processor.add_metrics(resource);
    }
    let (mut bios, _) = resource.bios();
    bios.add_settings(resource, resource);
    assert!(bios.pending.is_empty(), "what is as it was waits for no restart");
    bios.add_registry(resource);
    assert!(bios.takes.keys().all(|it| bios.attributes.contains_key(it)));
    let registry = resource.registry_place();
    assert!(registry.is_none_or(|it| {
        ["/redfish/", "/registries/"].iter().any(|folder| it.path().starts_with(folder))
    }));
    told.bios = Some(bios);
    told
}

fn looked_at(told: &Redfish) {
    let n =
        told.in_force().filter_map(facts::redfish::Limit::power).count() + told.throttled().count();
    assert!(n <= told.limits.len() + told.processors.len());
    for processor in &told.processors {
        assert!(processor.causes.iter().all(|it| it.to_string().contains(&it.0)));
    }
    assert_eq!(rises(told, told).len(), told.processors.len());
    let redacted = told.redacted();
    assert_eq!(redacted.limits.len(), told.limits.len());
    assert_eq!(Redfish::parse(&redacted.to_text()), Ok(redacted));
}
