"""What goes into a claim's ``status.allocation``.

Source: kubernetes ``structured/internal/incubating/allocator_incubating.go`` (Allocate, createNodeSelector).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from hyperkube_scheduler.dynamic_resources.allocator import Allocation
from hyperkube_scheduler.dynamic_resources.reasons import CannotAllocate
from hyperkube_scheduler.dynamic_resources.search import Chosen

from hyperkube.machinery.objects import Object, name_of


def result(claim: Object, allocation: Allocation, node: str) -> Object:
    """Return the allocation as the API has it, with new share ids.

    Args:
        claim: what it is for.
        allocation: what was found.
        node: the node that it was found for.

    Raises:
        CannotAllocate: a slice's node selector has several terms.
    """
    devices: Object = {"results": [_row(each) for each in allocation.chosen]}
    config = [*_class_config(allocation), *_claim_config(claim, allocation)]
    if config:
        devices["config"] = config
    selector = _node_selector(claim, allocation, node)
    return {"devices": devices, **({"nodeSelector": selector} if selector else {})}


def _row(chosen: Chosen) -> Object:
    wanted, device = chosen.wanted, chosen.device
    row: Object = {"request": wanted.name, **device.id._asdict()}
    if wanted.admin:
        row["adminAccess"] = True
    if wanted.tolerations:
        row["tolerations"] = wanted.tolerations
    for name in ("bindingConditions", "bindingFailureConditions"):
        if device.spec.get(name):
            row[name] = device.spec[name]
    if chosen.amounts is not None:
        row["shareID"] = str(uuid.uuid4())
        if chosen.amounts:
            row["consumedCapacity"] = {name: str(amount) for name, amount in chosen.amounts.items()}
    return row


def _class_config(allocation: Allocation) -> list[Object]:
    """Return each class's configuration once, for all requests that chose the class."""
    requests: dict[str, list[str]] = {}
    classes: dict[str, Object] = {}
    for wanted in allocation.wanted:
        requests.setdefault(name_of(wanted.device_class), []).append(wanted.name)
        classes[name_of(wanted.device_class)] = wanted.device_class
    return [
        {**config, "source": "FromClass", "requests": requests[name]}
        for name, each in classes.items()
        for config in (each.get("spec") or {}).get("config") or ()
    ]


def _claim_config(claim: Object, allocation: Allocation) -> list[Object]:
    names = {wanted.name for wanted in allocation.wanted}
    names |= {name.partition("/")[0] for name in names}
    return [
        {**config, "source": "FromClaim"}
        for config in claim["spec"].get("devices", {}).get("config") or ()
        if not config.get("requests") or names & set(config["requests"])
    ]


def _node_selector(claim: Object, allocation: Allocation, node: str) -> Object | None:
    """Return where the devices can be used: on this node only, or wherever all of their selectors hold."""
    devices = [each.device for each in allocation.chosen]
    if any(device.holder.get("nodeName") or device.spec.get("bindsToNode") for device in devices):
        return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}
    term: Object = {}
    for device in devices:
        terms: Sequence[Object] = (device.holder.get("nodeSelector") or {}).get("nodeSelectorTerms") or ()
        if len(terms) > 1:
            what = f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms"
            raise CannotAllocate(f"create NodeSelector for claim {name_of(claim)}: {what}")
        for each in terms:
            for kind in ("matchExpressions", "matchFields"):
                for row in each.get(kind) or ():
                    known = term.setdefault(kind, [])
                    if not any(_same(row, other) for other in known):
                        known.append(row)
    return {"nodeSelectorTerms": [term]} if term else None


def _same(one: Object, other: Object) -> bool:
    key = (one["key"], one["operator"], set(one.get("values") or ()))
    return key == (other["key"], other["operator"], set(other.get("values") or ()))
