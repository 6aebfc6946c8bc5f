"""Which slices a service is to have, with as few writes as possible.

Slices are grouped by their ports, because a named port may be another number in each pod. An endpoint stays in the
slice that has it; slices that change anyway are filled first, then the one that comes closest to full, then new ones.
A service without endpoints has one empty slice, the placeholder, which shows that it is looked after.
Source: kubernetes ``staging/src/k8s.io/endpointslice/reconciler.go``, ``utils.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any

from hyperkube_lib import endpoints

from hyperkube.client.actions import Create, Delete, Update
from hyperkube.kinds.resources import ENDPOINT_SLICES
from hyperkube.kinds.workloads import controller_reference
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import (
    Object,
    copy_object,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    owners_of,
    uid_of,
)

CONTROLLER = "endpointslice-controller.k8s.io"
ZONE = "topology.kubernetes.io/zone"
MAX_ENDPOINTS = 100
_NAME_LIMIT = 253
_RESERVED = frozenset({endpoints.SERVICE_NAME, endpoints.MANAGED_BY, endpoints.HEADLESS})

SliceAction = Create | Update | Delete
"""What is done with a slice."""
Ports = tuple[tuple[tuple[str, Any], ...], ...]
"""The ports of a group of slices, as sorted rows."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What a decision knows: the service, the pods it selects, how nodes are found, and the slices it has."""

    service: Object
    pods: Sequence[endpoints.EndpointPod]
    node_of: Callable[[str], Object | None]
    slices: Sequence[Object]
    limit: int = MAX_ENDPOINTS


@dataclass(slots=True)
class SlicePlan:
    """What becomes of the slices of one address type.

    Those in `create` and `update` are copies, which hints are written into; those in `unchanged` and `delete` come from
    the cache and are not to be touched.
    """

    address_type: str
    create: list[Object] = field(default_factory=list)
    update: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    unchanged: list[Object] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """Why pods are left out that will be looked at again."""
    added: int = 0
    removed: int = 0
    sizes: list[tuple[int, int]] = field(default_factory=list)
    """For each group of ports, how many endpoints there are in how many slices."""

    def change(self, unchanged: Object) -> None:
        """Make a copy of an unchanged slice one of those to update."""
        self.unchanged = [each for each in self.unchanged if each is not unchanged]
        self.update.append(copy_object(unchanged))

    def actions(self, service: Object) -> list[SliceAction]:
        """Return the writes; a slice to delete is overwritten by one to create where that is possible.

        Slices of an earlier service of this name are not reused: the garbage collector is about to delete them.
        """
        create, delete = list(self.create), []
        update = list(self.update)
        for gone in self.delete:
            if create and is_owned_by(gone, service):
                made = create.pop()
                update.append({**made, "metadata": {**metadata(gone), "labels": labels_of(made)}})
            else:
                delete.append(gone)
        return [
            *(Create(ENDPOINT_SLICES, made) for made in create),
            *(Update(ENDPOINT_SLICES, changed) for changed in update),
            *(Delete.of(ENDPOINT_SLICES, gone) for gone in delete),
        ]


def plan_slices(observed: Observed) -> list[SlicePlan]:
    """Return a plan for each address type that the service has, and one that deletes the slices of others."""
    families = families_of(observed.service)
    others = SlicePlan("", delete=[each for each in observed.slices if each.get("addressType") not in families])
    plans = [_plan_family(observed, family) for family in families]
    return [*plans, others] if others.delete else plans


def families_of(service: Object) -> list[str]:
    """Return the address types that the service has: IPv4, IPv6 or both."""
    spec = service.get("spec") or {}
    families = [family for family in spec.get("ipFamilies") or () if family in {"IPv4", "IPv6"}]
    if families:
        return families
    cluster_ip = spec.get("clusterIP") or "None"
    if cluster_ip == "None":
        return ["IPv4", "IPv6"]
    return ["IPv6" if ":" in cluster_ip else "IPv4"]


def is_owned_by(slice_: Object, service: Object) -> bool:
    """Tell whether the slice belongs to this very service, not to an earlier one of its name."""
    return any(
        owner.get("uid") == uid_of(service) and owner.get("kind") == "Service" and owner.get("apiVersion") == "v1"
        for owner in owners_of(slice_)
    )


def _plan_family(observed: Observed, family: str) -> SlicePlan:
    plan = SlicePlan(family)
    wanted = _wanted(observed, family, plan.skipped)
    present = [each for each in observed.slices if each.get("addressType") == family]
    by_ports: dict[Ports, list[Object]] = {}
    for each in present:
        if is_owned_by(each, observed.service):
            by_ports.setdefault(_ports_key(each), []).append(each)
        else:
            plan.delete.append(each)
    for ports, entries in wanted.items():
        _plan_ports(plan, observed, ports, entries, by_ports.pop(ports, []))
    plan.delete += [each for stale in by_ports.values() for each in stale]
    if len(plan.delete) == len(present) and not plan.create:
        _keep_placeholder(plan, observed.service)
    return plan


def _wanted(observed: Observed, family: str, skipped: list[str]) -> dict[Ports, dict[object, Object]]:
    """Return the endpoints that are wanted by their ports and their identity.

    An entry is the same dict in each sync until its pod changes, or what else it is made of: it is read-only.
    """
    service = observed.service
    wanted: dict[Ports, dict[object, Object]] = {}
    common = endpoints.common_ports_of(service)
    ports = None if common is None else _sorted(common)
    publishes, is_ipv6 = endpoints.publishes_not_ready(service), family == "IPv6"
    for pod in observed.pods:
        if not endpoints.has_address(pod, service, terminating=True):
            continue
        entries = wanted.setdefault(_sorted(endpoints.ports_of(pod, service)) if ports is None else ports, {})
        node = observed.node_of(pod.node_name)
        if node is None and not publishes:
            # A pod of a node that is gone must not keep the others from being listed; the pod garbage collector ends
            # it, or the node appears: the service is looked at again until then.
            where = f"{namespace_of(service)}/{name_of(service)}"
            skipped.append(f"skipping Pod {pod.name} for Service {where}: Node {pod.node_name} Not Found")
            continue
        zone = labels_of(node).get(ZONE, "") if node is not None else ""
        depends = is_ipv6, publishes, zone, endpoints.hostname_of(pod, service)
        made = pod.made  # read once: another service may select the pod, too
        if made is None or made[0] != depends:
            addresses = endpoints.addresses_of(pod, ipv6=is_ipv6)
            entry = _entry(addresses, pod, zone, depends[-1], publishes=publishes) if addresses else {}
            made = pod.made = depends, entry, _identity(entry)
        if made[1]:
            entries[made[2]] = made[1]
    return wanted


def _entry(addresses: list[str], pod: endpoints.EndpointPod, zone: str, hostname: str, *, publishes: bool) -> Object:
    entry: Object = {
        "addresses": sorted(addresses),
        "conditions": {
            "ready": publishes or (pod.is_ready and not pod.is_going),
            "serving": pod.is_ready,
            "terminating": pod.is_going,
        },
        "targetRef": endpoints.target_of(pod),
    }
    if hostname:
        entry["hostname"] = hostname
    if pod.node_name:
        entry["nodeName"] = pod.node_name
    if zone:
        entry["zone"] = zone
    return entry


def _identity(entry: Object) -> tuple[object, ...]:
    """Return what makes two entries the same endpoint; everything else of it may change in place.

    The uid is none of it: a pod that was made again under its name and address is the same endpoint.
    """
    target = entry.get("targetRef") or {}
    addresses = entry.get("addresses", ())
    written = addresses if len(addresses) == 1 else sorted(addresses)
    return (*written, entry.get("hostname", ""), target.get("namespace"), target.get("name"))


def _are_alike(before: Sequence[Object], kept: Sequence[Object]) -> bool:
    """Tell whether a slice with the first entries need not be written again to have the second ones."""
    if len(before) != len(kept):
        return False
    return all(old == new or _compared(old) == _compared(new) for old, new in zip(before, kept, strict=True))


def _compared(entry: Object) -> tuple[object, ...]:
    """Return what makes a slice be written again when it changes in an endpoint that stays.

    Hints are none of it: what made them may not be asked at all for a slice that stays. Nor is the resource version
    that references to pods once had.
    """
    target = entry.get("targetRef") or {}
    if "resourceVersion" in target:
        target = {key: value for key, value in target.items() if key != "resourceVersion"}
    return entry.get("nodeName"), entry.get("zone"), entry.get("conditions"), target


def _plan_ports(
    plan: SlicePlan, observed: Observed, ports: Ports, wanted: dict[object, Object], slices: Sequence[Object]
) -> None:
    """Plan the slices of one group of ports: keep endpoints where they are, then place the new ones."""
    left = dict(wanted)
    changed: list[Object] = []
    same: list[Object] = []
    labels = slice_labels(observed.service)
    for present in sorted(slices, key=name_of):
        before = present.get("endpoints") or []
        kept = [left.pop(identity) for entry in before if (identity := _identity(entry)) in left]
        plan.removed += len(before) - len(kept)
        if not _are_alike(before, kept):
            if kept:
                changed.append({**present, "metadata": {**metadata(present), "labels": labels}, "endpoints": kept})
            else:
                plan.delete.append(present)
        elif _plain(labels_of(present)) != _plain(labels):
            again = copy_object(present)
            again["metadata"]["labels"] = labels
            changed.append(again)
        else:
            same.append(present)
    rest = list(left.values())
    plan.added += len(rest)
    created = -len(plan.create)
    for slice_ in sorted(changed, key=lambda each: -len(each["endpoints"])):
        _fill(slice_, rest, observed.limit)
    while rest:
        chosen = _slice_to_fill(same, len(rest), observed.limit)
        if chosen is None:
            plan.create.append(
                _fill(_new_slice(observed.service, plan.address_type, ports, labels), rest, observed.limit)
            )
        else:
            same.remove(chosen)
            changed.append(_fill(copy_object(chosen), rest, observed.limit))
    plan.update += changed
    plan.unchanged += same
    plan.sizes.append((len(wanted), len(changed) + len(same) + created + len(plan.create)))


def _fill(slice_: Object, rest: list[Object], limit: int) -> Object:
    """Move as many of the entries into the slice as there is room for; return the slice."""
    listed = slice_["endpoints"] = [*(slice_.get("endpoints") or ())]
    room = max(0, limit - len(listed))
    listed += rest[:room]
    del rest[:room]
    return slice_


def _slice_to_fill(slices: Iterable[Object], count: int, limit: int) -> Object | None:
    """Return the slice that so many more endpoints make fullest; None if none has room, or they fill a new one."""
    if count >= limit:
        return None
    best: Object | None = None
    least = limit
    for each in slices:
        room = limit - count - len(each.get("endpoints") or ())
        if 0 <= room < least:
            best, least = each, room
    return best


def _keep_placeholder(plan: SlicePlan, service: Object) -> None:
    """Leave the one empty slice, or plan it."""
    plan.sizes.append((0, 1))
    labels = slice_labels(service)
    made = _new_slice(service, plan.address_type, (), labels)
    if len(plan.delete) == 1:
        (present,) = plan.delete
        same = labels_of(present) == labels and is_owned_by(present, service)
        if same and not present.get("endpoints") and not present.get("ports"):
            plan.delete, plan.unchanged = [], [present]
            return
    plan.create.append(made)


def _new_slice(service: Object, family: str, ports: Ports, labels: dict[str, str]) -> Object:
    prefix = f"{name_of(service)}-"
    return {
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": {
            "generateName": prefix if len(prefix) <= _NAME_LIMIT else name_of(service),
            "namespace": namespace_of(service),
            "labels": labels,
            "ownerReferences": [controller_reference(service, "v1", "Service")],
        },
        "addressType": family,
        "endpoints": [],
        "ports": [dict(row) for row in ports],
    }


def _sorted(ports: Ports) -> Ports:
    return tuple(sorted(ports, key=repr))


def _ports_key(present: Object) -> Ports:
    """Return a slice's ports in the shape that `hyperkube_lib.endpoints.ports_of` has."""
    rows = []
    for port in present.get("ports") or []:
        row: list[tuple[str, Any]] = [("name", port.get("name", "")), ("port", port.get("port"))]
        row.append(("protocol", port.get("protocol", "TCP")))
        if port.get("appProtocol"):
            row.append(("appProtocol", port["appProtocol"]))
        rows.append(tuple(row))
    return _sorted(tuple(rows))


def slice_labels(service: Object) -> dict[str, str]:
    """Return the labels of the service's slices: its own, and those that say what they are."""
    labels = _plain(labels_of(service))
    if endpoints.is_headless(service):
        labels[endpoints.HEADLESS] = ""
    return {**labels, endpoints.MANAGED_BY: CONTROLLER, endpoints.SERVICE_NAME: name_of(service)}


def _plain(labels: dict[str, str]) -> dict[str, str]:
    """Return the labels that a service and its slices share."""
    return {key: value for key, value in labels.items() if key not in _RESERVED}
