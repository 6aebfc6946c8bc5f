"""What every provider reads from a Node in the same way, and says of one without a machine."""

from __future__ import annotations

from typing import Final, TypeVar

from hyperkube.hookspecs.cloud import InstanceMetadata, InstanceNotFound
from hyperkube.machinery.objects import Object, name_of

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
Machine = TypeVar("Machine")


def machine_labels(known: InstanceMetadata) -> dict[str, str]:
    """Return the labels that a machine gives its node, in both spellings."""
    pairs = {
        "beta.kubernetes.io/instance-type": known.instance_type,
        "node.kubernetes.io/instance-type": known.instance_type,
        "failure-domain.beta.kubernetes.io/zone": known.zone,
        ZONE: known.zone,
        "failure-domain.beta.kubernetes.io/region": known.region,
        REGION: known.region,
    }
    return {**known.labels, **{key: value for key, value in pairs.items() if value}}


def provider_id_of(node: Object) -> str:
    """Return the node's provider id, empty for none."""
    return str((node.get("spec") or {}).get("providerID") or "")


def found_for(node: Object, machine: Machine | None) -> Machine:
    """Return the machine that was found for a node.

    Raises:
        InstanceNotFound: it is None.
    """
    if machine is None:
        raise InstanceNotFound(f"instance of node {name_of(node)!r} not found")
    return machine
