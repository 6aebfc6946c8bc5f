"""Which devices a container gets, and from which NUMA nodes it could get them.

Source: kubernetes ``pkg/kubelet/cm/devicemanager/manager.go`` (devicesToAllocate), ``topology_hints.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from hyperkube_host.kubelet.cm.devicemanager.endpoint import Device
from hyperkube_host.kubelet.cm.topologymanager.hints import (
    NumaInfo,
    NumaNodes,
    TopologyHint,
    node_sets,
    preferring_narrowest,
)

Preferred = Callable[[Sequence[str], Sequence[str], int], list[str]]
"""Called with the available devices, those that must be in, and the number; returns what the plugin would choose."""


def choose_devices(
    devices: Mapping[str, Device],
    free: Collection[str],
    reusable: Collection[str],
    count: int,
    nodes: NumaNodes | None,
    preferred: Preferred,
) -> set[str]:
    """Return `count` devices: reusable ones first, then those of the affinity's nodes, as the plugin prefers.

    There must be enough.
    """
    available = {*free, *reusable}
    chosen = _first(reusable, count)
    if len(chosen) == count:
        return chosen
    aligned, elsewhere = available, set[str]()
    if nodes is not None and any(device.numa_nodes for device in devices.values()):
        aligned = {one for one in available if devices[one].numa_nodes and nodes & (devices[one].numa_nodes or set())}
        elsewhere = available - aligned
    for group in (aligned, elsewhere):
        missing = count - len(chosen)
        if not missing:
            break
        if len(group | chosen) - len(chosen) <= missing:
            chosen |= group
            continue
        asked = preferred(sorted(group | chosen), sorted(chosen), count)
        # A plugin may answer with anything: only what it was offered counts.
        wanted = [one for one in asked if one in group and one not in chosen]
        chosen |= set(wanted[:missing])
        chosen |= _first(group - chosen, count - len(chosen))
    return chosen


def _first(ids: Collection[str], count: int) -> set[str]:
    return set(sorted(ids)[:count])


def device_hints(
    devices: Mapping[str, Device], available: Collection[str], reusable: Collection[str], count: int, numa: NumaInfo
) -> list[TopologyHint]:
    """Return the sets of NUMA nodes that have enough of the available devices, those with the fewest nodes preferred.

    A set must have all that is reused, and a device without a place is near to every node.
    """
    smallest = len(numa.nodes)
    found = []
    for nodes in node_sets(numa.nodes):
        if sum(_is_near(device, nodes) for device in devices.values()) >= count:
            smallest = min(smallest, len(nodes))
        if any(one in devices and not _is_near(devices[one], nodes) for one in reusable):
            continue
        if sum(one in devices and _is_near(devices[one], nodes) for one in available) >= count:
            found.append(nodes)
    return preferring_narrowest(found, smallest)


def _is_near(device: Device, nodes: NumaNodes) -> bool:
    return device.numa_nodes is None or bool(device.numa_nodes & nodes)
