"""What sushy reads of a Redfish service, as JSON: second_opinion.py URL USER PASSWORD."""

import json
import sys

import sushy
from sushy import auth, exceptions


def read(look):
    """What it reads, or None where the service has none."""
    try:
        return look()
    except (exceptions.MissingAttributeError, exceptions.ResourceNotFoundError):
        return None


url, user, password = sys.argv[1:]
service = sushy.Sushy(url, auth=auth.BasicAuth(username=user, password=password), verify=False)
systems = service.get_system_collection().get_members()
# A baseboard of accelerators is a system of its own, and may hold the host's processors.
processors = [cpu for it in systems for cpu in read(lambda: it.processors.get_members()) or []]
system = next(it for it in systems if read(lambda: it.chassis))
temperatures = read(lambda: system.chassis[0].thermal.temperatures) or []
inventory = read(lambda: service.get_update_service().firmware_inventory.get_members()) or []
json.dump(
    {
        "maker": system.manufacturer,
        "model": system.model,
        "processors": [
            {"name": it.socket or it.identity, "model": it.model, "max_mhz": it.max_speed_mhz}
            for it in processors
        ],
        "temperatures": [
            {"name": it.name, "celsius": it.reading_celsius} for it in temperatures
        ],
        "bios": read(lambda: system.bios.attributes),
        "pending": read(lambda: system.bios.pending_attributes),
        "inventory": [{"name": it.name, "version": it.version} for it in inventory],
    },
    sys.stdout,
)
