"""The node's rules: one table for both IP families.

A map leads from a pod's address to the chain of its policies; there, what is allowed returns and all else is dropped.
First the source's egress is asked, then the destination's ingress. Connections that were allowed once go on, and a pod
may always reach itself, through a Service too. What the node's own programs send and receive does not pass here: it is
always allowed, as Kubernetes wants it for probes.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hyperkube_addon.network_policy.resolution import Block, Direction, Isolation, Place, Port, Rule
from hyperkube_addon.network_policy.table import Elements, Table

PRIORITY = -5
"""Before the chains in which others accept traffic; addresses are translated by then."""


class _Family(NamedTuple):
    number: int
    word: str
    type: str


FAMILIES = (_Family(4, "ip", "ipv4_addr"), _Family(6, "ip6", "ipv6_addr"))


def ruleset(isolations: Sequence[Isolation]) -> Table:
    """Return all rules that these isolations need."""
    elements: dict[str, Elements] = {}
    chains = {chain_name(isolation): tuple(_chain(isolation, elements)) for isolation in isolations}
    for family in FAMILIES:
        everyone = dict.fromkeys(a for isolation in isolations for a in _of(family, isolation.addresses))
        pairs = dict.fromkeys((f"{address} . {address}" for address in everyone), "")
        elements[f"self{family.number}"] = Elements("set", f"{family.type} . {family.type}", pairs)
        for direction in Direction:
            leads = {
                address: f"jump {chain_name(isolation)}"
                for isolation in isolations
                if isolation.direction is direction
                for address in _of(family, isolation.addresses)
            }
            name = f"{direction.value.lower()}{family.number}"
            elements[name] = Elements("map", f"{family.type} : verdict", leads)
    forward = (
        "ct state established,related accept",
        *(f"{family.word} saddr . {family.word} daddr @self{family.number} accept" for family in FAMILIES),
        *(f"{family.word} saddr vmap @egress{family.number}" for family in FAMILIES),
        *(f"{family.word} daddr vmap @ingress{family.number}" for family in FAMILIES),
    )
    return Table(elements, chains, forward, f"type filter hook forward priority {PRIORITY};")


def chain_name(isolation: Isolation) -> str:
    """Return the name of the chain of pods to which the same policies apply."""
    text = f"{isolation.direction.value} {' '.join(isolation.policies)}"
    return f"{isolation.direction.value.lower()}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _chain(isolation: Isolation, elements: dict[str, Elements]) -> Iterator[str]:
    """Yield the rules of a chain, and put the sets that they name into `elements`."""
    name = chain_name(isolation)
    rules: list[str] = []
    for number, rule in enumerate(isolation.rules):
        for family in FAMILIES:
            prefix = f"{name}-{number}-{family.number}"
            peers = list(_peers(rule, family, isolation.direction, f"{prefix}-peers"))
            ports = list(_ports(rule, family, f"{prefix}-ports"))
            if rule.addresses and not rule.anyone:
                elements[f"{prefix}-peers"] = _set(family.type, _of(family, rule.addresses))
            if rule.places and not rule.every_port:
                kinds = f"{family.type} . inet_proto . inet_service"
                elements[f"{prefix}-ports"] = _set(kinds, _elements(family, rule.places))
            rules += [" ".join(filter(None, (peer, port, "return"))) for peer in peers for port in ports]
    yield from dict.fromkeys(rules)
    policies = ", ".join(isolation.policies)
    yield f'drop comment "{policies[:120]}"'


def _peers(rule: Rule, family: _Family, direction: Direction, name: str) -> Iterator[str]:
    """Yield matches of the other side; nothing where no peer is of this family."""
    field = f"{family.word} {'saddr' if direction is Direction.INGRESS else 'daddr'}"
    if rule.anyone:
        yield f"meta nfproto ipv{family.number}"
        return
    if any(_of(family, rule.addresses)):
        yield f"{field} @{name}"
    for block in rule.blocks:
        if _version(block.cidr) == family.number:
            yield " ".join(_block(block, field))


def _block(block: Block, field: str) -> Iterator[str]:
    yield f"{field} {ipaddress.ip_network(block.cidr, strict=False)}"
    if block.excepted:
        # Ranges within one another may not stand in one set.
        merged = ipaddress.collapse_addresses([ipaddress.ip_network(cidr, strict=False) for cidr in block.excepted])  # type: ignore[type-var]
        yield f"{field} != {{ {', '.join(map(str, merged))} }}"


def _ports(rule: Rule, family: _Family, name: str) -> Iterator[str]:
    if rule.every_port:
        yield ""
        return
    protocols: dict[str, list[Port]] = {}
    for port in rule.ports:
        protocols.setdefault(port.protocol, []).append(port)
    for protocol, ports in protocols.items():
        if any(not port.first for port in ports):
            yield f"meta l4proto {protocol}"
        else:
            yield f"{protocol} dport {{ {', '.join(_spans(ports))} }}"
    if any(True for _ in _elements(family, rule.places)):
        yield f"{family.word} daddr . meta l4proto . th dport @{name}"


def _spans(ports: Iterable[Port]) -> Iterator[str]:
    """Yield ranges of ports that do not overlap."""
    first = last = 0
    for port in sorted(ports, key=lambda one: (one.first, one.last)):
        if last and port.first <= last + 1:
            last = max(last, port.last)
            continue
        if last:
            yield _span(first, last)
        first, last = port.first, port.last
    yield _span(first, last)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _elements(family: _Family, places: Iterable[Place]) -> Iterator[str]:
    for place in places:
        if _version(place.address) == family.number:
            yield f"{place.address} . {place.protocol} . {place.port}"


def _set(kinds: str, elements: Iterable[str]) -> Elements:
    return Elements("set", kinds, dict.fromkeys(elements, ""))


def _of(family: _Family, addresses: Iterable[str]) -> Iterator[str]:
    return (address for address in addresses if _version(address) == family.number)


def _version(text: str) -> int:
    return 6 if ":" in text else 4
