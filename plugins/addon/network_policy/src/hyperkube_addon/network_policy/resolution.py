"""From policies, pods and namespaces to what each isolated pod may be reached from and may reach.

Policies only ever allow: a pod that any policy selects for a direction is isolated in it, and what any of them allows
is allowed. Pods on their node's own network have no address of their own, and so are neither selected nor peers.

Source: kubernetes ``staging/src/k8s.io/api/networking/v1/types.go``.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import Object, labels_of, name_of, namespace_of

_ADDRESS = re.compile(r"[0-9a-fA-F.:]+")
"""What an address is made of, and no word of nftables: nodes say which addresses pods have."""
_ENDED = {"Succeeded", "Failed"}


class Direction(enum.Enum):
    """Which way, seen from the isolated pod."""

    INGRESS = "Ingress"
    EGRESS = "Egress"


class Pod(NamedTuple):
    """A pod with an address of its own.

    Attributes:
        namespace: its namespace.
        name: its name.
        labels: its labels, as pairs.
        addresses: all of both families.
        ports: (name, protocol) → number, of its containers' named ports.
        node: where it runs.
    """

    namespace: str
    name: str
    labels: Mapping[str, str]
    addresses: tuple[str, ...]
    ports: Mapping[tuple[str, str], int]
    node: str


class Block(NamedTuple):
    """A range of addresses, and the ranges in it that do not count."""

    cidr: str
    excepted: tuple[str, ...]


class Port(NamedTuple):
    """Ports of a protocol: one, a range, or all.

    Attributes:
        protocol: in small letters.
        first: 0 for every port.
        last: the same as `first` but for ranges.
    """

    protocol: str
    first: int = 0
    last: int = 0


class Place(NamedTuple):
    """What a named port comes to: an address, and a protocol and port there."""

    address: str
    protocol: str
    port: int


class Rule(NamedTuple):
    """One thing that is allowed.

    Attributes:
        anyone: every peer, whatever `addresses` and `blocks` hold.
        addresses: pods that are peers.
        blocks: ranges that are peers.
        every_port: whatever `ports` and `places` hold.
        ports: by number.
        places: by name, at the side that is connected to.
    """

    anyone: bool
    addresses: tuple[str, ...]
    blocks: tuple[Block, ...]
    every_port: bool
    ports: tuple[Port, ...]
    places: tuple[Place, ...]


class Isolation(NamedTuple):
    """Pods to which the same policies apply in one direction.

    Attributes:
        direction: which.
        policies: their names, ``NAMESPACE/NAME``, sorted.
        addresses: the pods'.
        rules: what is allowed; everything else is not.
    """

    direction: Direction
    policies: tuple[str, ...]
    addresses: tuple[str, ...]
    rules: tuple[Rule, ...]


def pod_of(obj: Object) -> Pod | None:
    """Return a pod as policies see it; None for one that has no address of its own, or has ended."""
    spec, status = obj["spec"], obj.get("status") or {}
    if spec.get("hostNetwork") or status.get("phase") in _ENDED:
        return None
    told = [row.get("ip") or "" for row in status.get("podIPs") or ()] or [status.get("podIP") or ""]
    addresses = tuple(filter(_ADDRESS.fullmatch, told))
    if not addresses:
        return None
    ports = {
        (port["name"], port.get("protocol") or "TCP"): port["containerPort"]
        for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
        for port in container.get("ports") or ()
        if port.get("name")
    }
    return Pod(namespace_of(obj), name_of(obj), labels_of(obj), addresses, ports, spec.get("nodeName", ""))


class Cluster:
    """What policies are read against; built anew for each reading."""

    def __init__(self, namespaces: Mapping[str, Mapping[str, str]], pods: Iterable[Pod]) -> None:
        """Take the labels of the namespaces by name, and the pods."""
        self._namespaces = namespaces
        self.pods = sorted(pods, key=lambda pod: (pod.namespace, pod.name))
        self._by_namespace: dict[str, list[Pod]] = {}
        for pod in self.pods:
            self._by_namespace.setdefault(pod.namespace, []).append(pod)

    def selected(self, namespace: str, selector: Object | None) -> list[Pod]:
        """Return the pods of a namespace that a selector matches; None selects all."""
        matches = _matcher(selector)
        return [pod for pod in self._by_namespace.get(namespace, ()) if matches(pod.labels)]

    def peers(self, namespace: str, peer: Object) -> list[Pod]:
        """Return the pods that a peer of a policy in this namespace means."""
        if peer.get("namespaceSelector") is None:
            return self.selected(namespace, peer.get("podSelector"))
        matches = _matcher(peer["namespaceSelector"])
        names = [name for name, labels in self._namespaces.items() if matches(labels)]
        return [pod for name in sorted(names) for pod in self.selected(name, peer.get("podSelector"))]


def _matcher(selector: Object | None) -> Callable[[Mapping[str, str]], bool]:
    return (lambda _labels: True) if not selector else from_label_selector(selector).matches


def directions(policy: Object) -> list[Direction]:
    """Return in which directions a policy isolates; without ``policyTypes`` as the API defaults them."""
    spec = policy["spec"]
    types = spec.get("policyTypes")
    if types is None:
        types = ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    return [direction for direction in Direction if direction.value in types]


def isolations(
    cluster: Cluster, policies: Iterable[Object], is_here: Callable[[Pod], bool] = lambda _pod: True
) -> list[Isolation]:
    """Return what is allowed to the isolated pods, pods of the same policies together.

    Args:
        cluster: its pods and namespaces.
        policies: all of them.
        is_here: whether a pod is this node's to guard.
    """
    applied: dict[tuple[Direction, str, str], list[Object]] = {}
    pods = {(pod.namespace, pod.name): pod for pod in cluster.pods}
    for policy in sorted(policies, key=lambda one: (namespace_of(one), name_of(one))):
        for pod in cluster.selected(namespace_of(policy), policy["spec"].get("podSelector")):
            if is_here(pod):
                for direction in directions(policy):
                    applied.setdefault((direction, pod.namespace, pod.name), []).append(policy)
    groups: dict[tuple[Direction, tuple[str, ...]], tuple[list[Object], list[Pod]]] = {}
    for (direction, namespace, name), found in applied.items():
        names = tuple(f"{namespace_of(policy)}/{name_of(policy)}" for policy in found)
        groups.setdefault((direction, names), (found, []))[1].append(pods[namespace, name])
    return [
        Isolation(
            direction,
            names,
            tuple(address for pod in members for address in pod.addresses),
            tuple(rule for policy in found for rule in _rules(cluster, policy, direction, members)),
        )
        for (direction, names), (found, members) in sorted(
            groups.items(), key=lambda item: (item[0][0].value, item[0][1])
        )
    ]


def _order(item: tuple[tuple[Direction, tuple[str, ...]], object]) -> tuple[str, tuple[str, ...]]:
    direction, names = item[0]
    return direction.value, names


def _rules(cluster: Cluster, policy: Object, direction: Direction, members: Sequence[Pod]) -> Iterable[Rule]:
    section, side = ("ingress", "from") if direction is Direction.INGRESS else ("egress", "to")
    for row in policy["spec"].get(section) or ():
        peers = row.get(side) or ()
        found = [pod for peer in peers if not peer.get("ipBlock") for pod in cluster.peers(namespace_of(policy), peer)]
        blocks = [peer["ipBlock"] for peer in peers if peer.get("ipBlock")]
        if direction is Direction.INGRESS:
            targets: Sequence[Pod] = members
        else:
            # A range may hold pods as well: of its named ports, those of all pods count within it.
            targets = cluster.pods if blocks or not peers else found
        numbered = [port for port in row.get("ports") or () if not isinstance(port.get("port"), str)]
        named = [port for port in row.get("ports") or () if isinstance(port.get("port"), str)]
        yield Rule(
            anyone=not peers,
            addresses=tuple(dict.fromkeys(address for pod in found for address in pod.addresses)),
            blocks=tuple(Block(block["cidr"], tuple(block.get("except") or ())) for block in blocks),
            every_port=not row.get("ports"),
            ports=tuple(dict.fromkeys(_port(port) for port in numbered)),
            places=tuple(dict.fromkeys(place for port in named for place in _places(port, targets))),
        )


def _port(port: Object) -> Port:
    first = port.get("port") or 0
    return Port((port.get("protocol") or "TCP").lower(), first, port.get("endPort") or first)


def _places(port: Object, targets: Iterable[Pod]) -> Iterable[Place]:
    protocol = port.get("protocol") or "TCP"
    for pod in targets:
        number = pod.ports.get((port["port"], protocol))
        if number:
            for address in pod.addresses:
                yield Place(address, protocol.lower(), number)
