"""The allocator: finds devices of one node for claims that have none, by trying, in a fixed order.

Claim by claim, request by request, device by device: the first complete solution is taken. Source: kubernetes
dynamic-resource-allocation ``structured/internal/stable/allocator_stable.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from hyperkube_lib.cel import EvaluationError
from hyperkube_lib.cel.admission import WrongExpression
from hyperkube_lib.cel.devices import compile_selector, device_value
from hyperkube_scheduler.dynamic_resources.claims import CannotAllocate
from hyperkube_scheduler.dynamic_resources.constraints import hold
from hyperkube_scheduler.dynamic_resources.pools import Device, DeviceId, Pool

from hyperkube.kinds.taints import is_tolerated
from hyperkube.machinery.objects import Object, key_of, name_of
from hyperkube.machinery.quantity import Quantity

MOST_DEVICES = 32
"""Devices that one claim may have."""
MOST_ALTERNATIVES = 8
"""Alternatives that one request may list."""
MOST_STEPS = 100_000
"""Devices tried for one node before the search gives up: what is left to try would take too long."""
_HARD = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One request, or one alternative of it, with its class looked up."""

    name: str
    body: Object
    device_class: Object
    alternative: int | None

    @property
    def everything(self) -> bool:
        return self.body.get("allocationMode") == "All"

    @property
    def count(self) -> int:
        return int(self.body.get("count") or 1)

    @property
    def admin(self) -> bool:
        return bool(self.body.get("adminAccess"))


@dataclass(frozen=True, slots=True)
class Allocation:
    """What was found for one claim.

    Attributes:
        devices: (request, device) in the order of the requests.
        wanted: the request or alternative that was chosen for each request of the claim.
    """

    devices: tuple[tuple[_Wanted, Device], ...]
    wanted: tuple[_Wanted, ...]

    @property
    def score(self) -> int:
        """How early the chosen alternatives stand in their lists: the higher, the better."""
        return sum(MOST_ALTERNATIVES - one.alternative for one in self.wanted if one.alternative is not None)


@dataclass(slots=True)
class Allocator:
    """Allocates for several claims together, node after node.

    Attributes:
        classes: a device class by name; None if there is none.
        pools: all pools.
        taken: the devices that claims have already.
    """

    classes: Callable[[str], Object | None]
    pools: Sequence[Pool]
    taken: frozenset[DeviceId] | set[DeviceId]
    _matches: dict[tuple[int, str, str], bool] = field(default_factory=dict)
    _left: dict[int, dict[tuple[str, str], Quantity]] = field(default_factory=dict)

    def check(self, claims: Sequence[Object]) -> list[list[tuple[_Wanted, ...]]]:
        """Return for each claim's requests their alternatives.

        Raises:
            CannotAllocate: a class does not exist, or too many devices are asked for.
        """
        return [self._requests(claim) for claim in claims]

    def allocate(
        self, column: int, claims: Sequence[Object], requests: Sequence[Sequence[tuple[_Wanted, ...]]]
    ) -> list[Allocation] | None:
        """Return devices of a node for all claims, or None if there are not enough.

        Raises:
            CannotAllocate: an expression is wrong, or all devices are asked for of a pool that changes just now.
        """
        return _Search(self, column, claims, requests).run()

    def left(self, pool: Pool) -> dict[tuple[str, str], Quantity]:
        """Return what the devices taken leave of a pool's shared counters."""
        known = self._left.get(id(pool))
        if known is None:
            known = dict(pool.counters)
            for device in pool.devices:
                if device.id in self.taken:
                    for key, amount in device.consumes.items():
                        if key in known:
                            known[key] = known[key] - amount
            self._left[id(pool)] = known
        return known

    def matches(self, wanted: _Wanted, device: Device, claim: Object) -> bool:
        """Tell whether a device is what the class and the request select.

        Raises:
            CannotAllocate: an expression is wrong, or fails for the device.
        """
        name = name_of(wanted.device_class)
        rows = [(f"class {name}", row) for row in wanted.device_class.get("spec", {}).get("selectors") or ()]
        mine = [(f"claim {key_of(claim)}", row) for row in wanted.body.get("selectors") or ()]
        numbers: dict[str, int] = {}
        for where, row in [*rows, *mine]:
            number = numbers[where] = numbers.get(where, -1) + 1
            expression = (row.get("cel") or {}).get("expression")
            if expression is None:
                raise CannotAllocate(f"{where}: selector #{number}: unsupported selector type")
            key = (id(device), where, expression)
            if key not in self._matches:
                self._matches[key] = _true_for(device, expression, f"{where}: selector #{number}")
            if not self._matches[key]:
                return False
        return True

    def _requests(self, claim: Object) -> list[tuple[_Wanted, ...]]:
        found = []
        least = 0
        for request in claim["spec"].get("devices", {}).get("requests") or ():
            alternatives = tuple(self._alternatives(request))
            least += min(1 if each.everything else each.count for each in alternatives)
            found.append(alternatives)
        if least > MOST_DEVICES:
            text = f"number of requested devices {least} exceeds the claim limit of {MOST_DEVICES}"
            raise CannotAllocate(f"claim {key_of(claim)}: {text}")
        return found

    def _alternatives(self, request: Object) -> Iterator[_Wanted]:
        if request.get("firstAvailable"):
            for number, body in enumerate(request["firstAvailable"]):
                name = f"{request['name']}/{body['name']}"
                yield _Wanted(name, body, self._class(body, name), number)
        elif request.get("exactly"):
            yield _Wanted(request["name"], request["exactly"], self._class(request["exactly"], request["name"]), None)
        else:
            raise CannotAllocate(f"request {request['name']}: unsupported request type")

    def _class(self, body: Object, request: str) -> Object:
        name = body["deviceClassName"]
        found = self.classes(name)
        if found is None:
            raise CannotAllocate(f"request {request}: device class {name} does not exist")
        return found


class _Search:
    """The search on one node: recursive, the state is what was chosen so far."""

    def __init__(
        self,
        allocator: Allocator,
        column: int,
        claims: Sequence[Object],
        requests: Sequence[Sequence[tuple[_Wanted, ...]]],
    ) -> None:
        self._allocator = allocator
        self._claims = claims
        self._todo = [(index, each) for index, rows in enumerate(requests) for each in rows]
        self._chosen: list[list[tuple[_Wanted, Device]]] = [[] for _ in claims]
        self._wanted: list[list[_Wanted]] = [[] for _ in claims]
        self._busy: set[DeviceId] = set()
        self._used: dict[int, dict[tuple[str, str], Quantity]] = {}
        self._steps = 0
        self._reachable = [
            (pool, [device for device, mask in zip(pool.devices, pool.masks, strict=True) if mask[column]])
            for pool in allocator.pools
        ]
        self._reachable = [(pool, devices) for pool, devices in self._reachable if devices]

    def run(self) -> list[Allocation] | None:
        if not self._request(0):
            return None
        rows = zip(self._chosen, self._wanted, strict=True)
        return [Allocation(tuple(devices), tuple(wanted)) for devices, wanted in rows]

    def _request(self, number: int) -> bool:
        if number == len(self._todo):
            return True
        claim, alternatives = self._todo[number]
        for wanted in alternatives:
            candidates = self._candidates(wanted, claim)
            count = len(candidates) if wanted.everything else wanted.count
            if not count or count > len(candidates):
                continue
            self._wanted[claim].append(wanted)
            if self._devices(number, wanted, candidates, count, 0):
                return True
            self._wanted[claim].pop()
        return False

    def _candidates(self, wanted: _Wanted, claim: int) -> list[tuple[Pool, Device]]:
        found = []
        for pool, devices in self._reachable:
            if pool.invalid or (wanted.everything and pool.incomplete):
                if wanted.everything:
                    why = "is invalid" if pool.invalid else "is currently being updated"
                    what = f"asks for all devices, but resource pool {pool.driver}/{pool.name} {why}"
                    raise CannotAllocate(f"claim {key_of(self._claims[claim])}, request {wanted.name}: {what}")
                continue
            found += [
                (pool, device)
                for device in devices
                if self._allocator.matches(wanted, device, self._claims[claim])
                and (wanted.everything or self._free(wanted, device, claim))
            ]
        return found

    def _devices(
        self, number: int, wanted: _Wanted, candidates: Sequence[tuple[Pool, Device]], missing: int, start: int
    ) -> bool:
        """Choose `missing` more devices among the candidates from `start` on, then go on with the next request."""
        if not missing:
            return self._request(number + 1)
        claim = self._todo[number][0]
        chosen = self._chosen[claim]
        if len(chosen) >= MOST_DEVICES:
            return False
        for index in [start] if wanted.everything else range(start, len(candidates) - missing + 1):
            pool, device = candidates[index]
            self._steps += 1
            if self._steps > MOST_STEPS:
                return False
            if not self._take(wanted, pool, device, claim):
                continue
            if self._devices(number, wanted, candidates, missing - 1, index + 1):
                return True
            self._give_back(wanted, pool, device, claim)
        return False

    def _free(self, wanted: _Wanted, device: Device, claim: int) -> bool:
        """Tell whether a device may be had: administrators look at those of others too."""
        if any(known is device for _, known in self._chosen[claim]):
            return False
        if not wanted.admin and (device.id in self._allocator.taken or device.id in self._busy):
            return False
        tolerations = wanted.body.get("tolerations") or ()
        taints = [taint for taint in device.spec.get("taints") or () if taint.get("effect") in _HARD]
        return all(is_tolerated(taint, tolerations) for taint in taints)

    def _take(self, wanted: _Wanted, pool: Pool, device: Device, claim: int) -> bool:
        """Choose a device if its pool's counters and the claim's constraints allow; tell whether they do."""
        if not self._free(wanted, device, claim):
            return False
        chosen = self._chosen[claim]
        chosen.append((wanted, device))
        constraints = self._claims[claim]["spec"]["devices"].get("constraints") or ()
        if not hold(constraints, [(one.name, each) for one, each in chosen]) or not self._count(wanted, pool, device):
            chosen.pop()
            return False
        if not wanted.admin:
            self._busy.add(device.id)
        return True

    def _give_back(self, wanted: _Wanted, pool: Pool, device: Device, claim: int) -> None:
        self._chosen[claim].pop()
        if wanted.admin:
            return
        self._busy.discard(device.id)
        used = self._used.get(id(pool), {})
        for key, amount in device.consumes.items():
            used[key] = used[key] - amount

    def _count(self, wanted: _Wanted, pool: Pool, device: Device) -> bool:
        """Take what the device consumes from its pool's shared counters; tell whether there was enough."""
        if wanted.admin or not device.consumes:
            return True
        left, used = self._allocator.left(pool), self._used.setdefault(id(pool), {})
        after = {key: used[key] + amount if key in used else amount for key, amount in device.consumes.items()}
        if any(key not in left or left[key] < amount for key, amount in after.items()):
            return False
        used.update(after)
        return True


def _true_for(device: Device, expression: str, where: str) -> bool:
    try:
        program = compile_selector(expression)
        value = program.evaluate({"device": device_value(device.id.driver, device.spec)})
    except WrongExpression as error:
        raise CannotAllocate(f"{where}: CEL compile error: {expression}: {error}") from error
    except EvaluationError as error:
        raise CannotAllocate(f"{where}: runtime error: {error}") from error
    return value is True


def result(claim: Object, allocation: Allocation, node: str) -> Object:
    """Return what goes into the claim's ``status.allocation``.

    Args:
        claim: the claim.
        allocation: what was found for it.
        node: the node that it was found for.
    """
    devices: Object = {"results": [_row(wanted, device) for wanted, device in allocation.devices]}
    config = [*_class_config(allocation), *_claim_config(claim, allocation)]
    if config:
        devices["config"] = config
    selector = _node_selector([device for _, device in allocation.devices], node)
    return {"devices": devices, **({"nodeSelector": selector} if selector else {})}


def _row(wanted: _Wanted, device: Device) -> Object:
    row: Object = {"request": wanted.name, **device.id._asdict()}
    if wanted.admin:
        row["adminAccess"] = True
    if wanted.body.get("tolerations"):
        row["tolerations"] = wanted.body["tolerations"]
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
        for config in each.get("spec", {}).get("config") or ()
    ]


def _claim_config(claim: Object, allocation: Allocation) -> list[Object]:
    names = {wanted.name for wanted in allocation.wanted}
    names |= {name.partition("/")[0] for name in names}
    return [
        {**config, "source": "FromClaim"}
        for config in claim["spec"]["devices"].get("config") or ()
        if not config.get("requests") or names & set(config["requests"])
    ]


def _node_selector(devices: Sequence[Device], node: str) -> Object | None:
    """Return where the devices can be used: on this node only, or wherever all of their selectors hold."""
    holders = [
        device.spec if device.slice_spec.get("perDeviceNodeSelection") else device.slice_spec for device in devices
    ]
    if any(holder.get("nodeName") for holder in holders):
        return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}
    rows: list[Object] = []
    for holder in holders:
        for term in (holder.get("nodeSelector") or {}).get("nodeSelectorTerms") or ():
            rows += [row for row in term.get("matchExpressions") or () if row not in rows]
    return {"nodeSelectorTerms": [{"matchExpressions": rows}]} if rows else None
