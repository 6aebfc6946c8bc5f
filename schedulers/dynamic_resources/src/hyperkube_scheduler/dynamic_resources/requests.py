"""What claims ask for: each request as a list of alternatives, with their classes looked up.

Source of the texts: kubernetes ``structured/internal/incubating/allocator_incubating.go`` (validateDeviceRequest),
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`` (PreFilter).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from hyperkube_scheduler.dynamic_resources.features import Features
from hyperkube_scheduler.dynamic_resources.reasons import CannotAllocate, NoClaim

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, key_of
from hyperkube.machinery.quantity import Quantity, parse

MOST_DEVICES = 32
"""Devices that one claim may have."""
MOST_ALTERNATIVES = 8
"""Alternatives that one request may list."""

Classes = Callable[[str], Object | None]
"""A device class by name; None if there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """One request, or one alternative of it.

    Attributes:
        claim: ``namespace/name`` of the claim.
        name: the request, or ``request/alternative``.
        body: what it says.
        device_class: its class.
        alternative: which of the alternatives it is; None for a request without.
        everything: whether it means all devices that match.
        count: how many it means otherwise.
        admin: whether it may have devices that others have.
        amounts: what it takes of devices that are shared by capacity.
        tolerations: which taints it tolerates.
    """

    claim: str
    name: str
    body: Object
    device_class: Object
    alternative: int | None
    everything: bool
    count: int
    admin: bool
    amounts: Mapping[str, Quantity]
    tolerations: Sequence[Object]

    @property
    def own_name(self) -> str:
        """The name of the request, or of the alternative alone."""
        return self.name.rpartition("/")[2]

    @property
    def score(self) -> int:
        """How early it stands among its alternatives: the higher, the better."""
        return 0 if self.alternative is None else MOST_ALTERNATIVES - self.alternative


Requests = Sequence[Sequence[Wanted]]
"""A claim's requests, each with its alternatives."""


def check_classes(claim: Object, classes: Classes) -> None:
    """Check that all classes of a claim exist.

    Raises:
        NoClaim: one does not.
        CannotAllocate: a request names none.
    """
    for request in claim["spec"].get("devices", {}).get("requests") or ():
        if request.get("exactly"):
            rows = [(request["name"], request["exactly"])]
        elif request.get("firstAvailable"):
            rows = [(f"{request['name']}/{row['name']}", row) for row in request["firstAvailable"]]
        else:
            raise NoClaim(f"resource claim {key_of(claim)}, request {request['name']}: unknown request type")
        for name, row in rows:
            if not row.get("deviceClassName"):
                raise CannotAllocate(f"request {name}: unsupported request type")
            if classes(row["deviceClassName"]) is None:
                raise NoClaim(f"request {name}: device class {row['deviceClassName']} does not exist")


def requests_of(claim: Object, classes: Classes, features: Features) -> Requests:
    """Return what a claim asks for.

    Raises:
        CannotAllocate: it cannot be understood, or asks for too many devices.
    """
    key = key_of(claim)
    found = []
    for request in claim["spec"].get("devices", {}).get("requests") or ():
        if not features.capacity:
            _check_no_capacity(key, request)
        rows = request.get("firstAvailable")
        if rows:
            each = tuple(_alternatives(key, request["name"], rows, classes))
        else:
            each = (_wanted(key, request["name"], request["name"], request.get("exactly") or {}, None, classes),)
        found.append(each)
    check_count(key, sum(min(0 if one.everything else one.count for one in each) for each in found))
    return found


def check_count(claim: str, least: int) -> None:
    """Check how many devices a claim needs at least.

    Raises:
        CannotAllocate: more than a claim may have.
    """
    if least > MOST_DEVICES:
        text = f"number of requested devices {least} exceeds the claim limit of {MOST_DEVICES}"
        raise CannotAllocate(f"claim {claim}: {text}")


def _alternatives(key: str, request: str, rows: Sequence[Object], classes: Classes) -> Iterator[Wanted]:
    for number, row in enumerate(rows):
        yield _wanted(key, f"{request}/{row['name']}", row["name"], row, number, classes)


def _wanted(key: str, name: str, own: str, body: Object, alternative: int | None, classes: Classes) -> Wanted:
    where = f"claim {key}, request {own}"
    for number, selector in enumerate(body.get("selectors") or ()):
        if not (selector.get("cel") or {}).get("expression"):
            what = "CEL expression empty (unsupported selector type?)"
            raise CannotAllocate(f"{where}, selector #{number}: {what}")
    class_name = body.get("deviceClassName")
    if not class_name:
        raise CannotAllocate(f"{where}: missing device class name (unsupported request type?)")
    device_class = classes(class_name)
    if device_class is None:
        missing = f'deviceclass.resource.k8s.io "{class_name}" not found'
        raise CannotAllocate(f"{where}: could not retrieve device class {class_name}: {missing}")
    mode = body.get("allocationMode") or "ExactCount"
    if mode not in {"ExactCount", "All"}:
        raise CannotAllocate(f"{where}: unsupported count mode {mode}")
    amounts = (body.get("capacity") or {}).get("requests") or {}
    return Wanted(
        key,
        name,
        body,
        device_class,
        alternative,
        mode == "All",
        int(body.get("count") or 1),
        alternative is None and bool(body.get("adminAccess")),
        {each: parse(str(amount)) for each, amount in amounts.items()},
        body.get("tolerations") or (),
    )


def _check_no_capacity(key: str, request: Object) -> None:
    off = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
    if (request.get("exactly") or {}).get("capacity"):
        raise CannotAllocate(f"claim {key}, request {request['name']}: {off}")
    for row in request.get("firstAvailable") or ():
        if row.get("capacity"):
            raise CannotAllocate(f"claim {key}, subrequest {row['name']}: {off}")
