"""Devices, claims and classes from a few words, and an allocator asked about one node.

Driver ``a`` has class ``a``, driver ``b`` class ``b``. A device is told as ``driver/pool/device``, what a claim gets as
``request=driver/pool/device``.
"""

from __future__ import annotations

from hyperkube_scheduler.dynamic_resources.allocator import Allocator
from hyperkube_scheduler.dynamic_resources.features import Features
from hyperkube_scheduler.dynamic_resources.requests import requests_of
from hyperkube_scheduler.dynamic_resources.results import result
from hyperkube_scheduler.dynamic_resources.selectors import Selectors
from hyperkube_scheduler.dynamic_resources.slices import Slices
from hyperkube_scheduler.dynamic_resources.usage import Usage
from hyperkube_testing.scheduling.tables import table

NODES = (
    {"name": "n1", "labels": {"region": "1", "planet": "earth"}},
    {"name": "n2", "labels": {"region": "2", "planet": "earth"}},
)
LOCAL = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}


def cel(*expressions):
    return [{"cel": {"expression": each}} for each in expressions]


def device_class(name, *expressions, **spec):
    expressions = expressions or (f"device.driver == '{name}'",)
    return {"metadata": {"name": name}, "spec": {"selectors": cel(*expressions), **spec}}


CLASSES = {name: device_class(name) for name in ("a", "b")}
SHARING = {"a": device_class("a", "device.driver == 'a' && device.allowMultipleAllocations")}
"""Classes that mean devices alone which several claims may have."""


def memory(amount):
    """Return a selector for devices with at least so much memory."""
    return cel(f"device.capacity['a'].memory.compareTo(quantity('{amount}')) >= 0")


def dev(name="1", /, *, memory="", attributes=None, **spec):
    """Return a device: `memory` it has, `attributes` by name and plain value."""
    row = {"name": str(name), **spec}
    if memory:
        row.setdefault("capacity", {})["memory"] = {"value": memory}
    if attributes:
        row["attributes"] = {key: typed(value) for key, value in attributes.items()}
    return row


def attributed(*rows, **spec):
    """Return a slice with a device per row of attributes."""
    return [rslice(*[dev(n, attributes=row, **spec) for n, row in enumerate(rows, 1)])]


def typed(value):
    if isinstance(value, dict):
        return value
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    return {"version" if value.count(".") == 2 else "string": value}


def part(name, counters, /, **spec):
    """Return a device that takes from counter sets, by set and counter."""
    rows = [
        {"counterSet": each, "counters": {counter: {"value": value} for counter, value in amounts.items()}}
        for each, amounts in counters.items()
    ]
    capacity = {counter: {"value": value} for amounts in counters.values() for counter, value in amounts.items()}
    return {"name": str(name), "consumesCounters": rows, "capacity": {**capacity, **spec.pop("capacity", {})}, **spec}


def rslice(*devices, node="n1", pool="p1", driver="a", count=1, generation=1, name="", **spec):
    """Return a slice: for a node by name, or wherever a dict says."""
    where = {"nodeName": node} if isinstance(node, str) else node
    pool_spec = {"name": pool, "generation": generation, "resourceSliceCount": count}
    shown = "-".join(row["name"] for row in devices)
    body = {"driver": driver, "pool": pool_spec, **where, **({"devices": list(devices)} if devices else {}), **spec}
    return {"metadata": {"name": name or f"{driver}-{pool}-{generation}-{shown}"}, "spec": body}


def counters(sets, /, **words):
    """Return a slice with counter sets alone, by set and counter."""
    rows = [
        {"name": each, "counters": {counter: {"value": value} for counter, value in amounts.items()}}
        for each, amounts in sets.items()
    ]
    return rslice(**{"name": "counters-" + words.get("pool", "p1"), **words}, sharedCounters=rows)


def ask(name="r0", device_class="a", /, count=1, *, amount="", **words):
    """Return a request; with `amount` for so much of capacity ``x``."""
    body = {"deviceClassName": device_class, **({} if "allocationMode" in words else {"count": count}), **words}
    if amount:
        body["capacity"] = {"requests": {"x": amount}}
    return {"name": name, "exactly": body}


def ask_all(name="r0", device_class="a", /, **words):
    return ask(name, device_class, allocationMode="All", **words)


def first(name, *alternatives):
    """Return a request with alternatives named s0, s1 and so on."""
    return {"name": name, "firstAvailable": [{**row["exactly"], "name": f"s{n}"} for n, row in enumerate(alternatives)]}


def claim(*requests, name="c0", **devices):
    spec = {"devices": {"requests": list(requests), **devices}}
    return {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec}


def used(*devices, amounts=None):
    """Return what claims have: devices written ``driver/pool/device``, and of device a/p1/1 so much of ``x``."""
    rows = [dict(zip(("driver", "pool", "device"), each.split("/"), strict=True)) for each in devices]
    if amounts:
        row = {"driver": "a", "pool": "p1", "device": "1", "shareID": "s", "consumedCapacity": {"x": amounts}}
        rows.append(row)
    usage = Usage()
    usage.put("others", {"devices": {"results": rows}})
    return usage


def allocator(slices, nodes, *, usage=None, features=None, late=lambda: False):
    features = features or Features()
    reach = Slices(slices, partitions=features.partitions).reach(nodes)
    return Allocator(reach, usage or Usage(), Selectors(), features, late)


def allocate(slices, *claims, node="n1", classes=None, **words):
    """Return what each claim would have written to its status, or why there is nothing."""
    nodes = table(*NODES)
    asked = allocator(slices, nodes, **words)
    lookup = (CLASSES if classes is None else classes).get
    rows = [(each, requests_of(each, lookup, asked.features)) for each in claims]
    found = asked.allocate(node, list(nodes.names).index(node), rows)
    return (
        found
        if isinstance(found, str)
        else [result(wish, each, node) for wish, each in zip(claims, found, strict=True)]
    )


def shown(written):
    """Return ``request=driver/pool/device`` for each device of each claim."""
    if isinstance(written, str):
        return written
    return [
        [f"{row['request']}={row['driver']}/{row['pool']}/{row['device']}" for row in each["devices"]["results"]]
        for each in written
    ]
