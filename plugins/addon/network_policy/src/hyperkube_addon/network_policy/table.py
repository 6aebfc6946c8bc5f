"""The node's table as values, and the transactions that bring the kernel from one to the next.

A transaction of nftables takes effect at once or not at all, so no packet meets half of it. Of a change only what
differs is sent: elements of sets and maps one by one, the rules of a chain together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

NAME = "inet hyperkube-network-policy"


class Elements(NamedTuple):
    """A set, or a map.

    Attributes:
        kind: ``set`` or ``map``.
        types: of its elements, as nftables writes them.
        values: key → where the key leads, of a map; of a set → nothing.
    """

    kind: str
    types: str
    values: Mapping[str, str]


class Table(NamedTuple):
    """All rules of the node.

    Attributes:
        elements: sets and maps by name.
        chains: the rules of the chains that maps lead to, by name.
        forward: the rules of the chain that the kernel asks.
        hook: where it does so.
    """

    elements: Mapping[str, Elements]
    chains: Mapping[str, tuple[str, ...]]
    forward: tuple[str, ...]
    hook: str


def removal() -> str:
    """Return the transaction that leaves nothing."""
    return f"add table {NAME}\ndelete table {NAME}\n"


def whole(table: Table) -> str:
    """Return the transaction that puts a table in the place of all that is there."""
    empty = Table({}, {}, (), table.hook)
    start = [f"add chain {NAME} forward {{ {table.hook} }}"]
    return f"{removal()}add table {NAME}\n" + _text([*start, *_changes(empty, table)])


def difference(old: Table, new: Table) -> str:
    """Return the transaction that makes one table of another; empty if they are equal."""
    return _text(_changes(old, new))


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _changes(old: Table, new: Table) -> Iterator[str]:
    """Yield commands in the order of what refers to what: sets, chains, maps, and back as things go."""
    sets, maps = _of_kind("set", new), _of_kind("map", new)
    kept = {name for name, each in new.elements.items() if _same_type(old.elements.get(name), each)}
    for name in sorted(new.elements.keys() - kept):
        yield f"add {new.elements[name].kind} {NAME} {name} {{ type {new.elements[name].types}; }}"
    for name in sorted(sets):
        yield from _element_changes(name, old.elements.get(name), sets[name])
    for name in sorted(new.chains.keys() - old.chains.keys()):
        yield f"add chain {NAME} {name}"
    for name in sorted(new.chains):
        yield from _rule_changes(name, old.chains.get(name, ()), new.chains[name])
    for name in sorted(maps):
        yield from _element_changes(name, old.elements.get(name), maps[name])
    yield from _rule_changes("forward", old.forward, new.forward)
    gone = sorted(old.chains.keys() - new.chains.keys())
    for name in gone:  # all of them first: a set may be deleted only when no rule names it
        yield f"flush chain {NAME} {name}"
    for name in gone:
        yield f"delete chain {NAME} {name}"
    for name in sorted(old.elements.keys() - new.elements.keys()):
        yield f"delete {old.elements[name].kind} {NAME} {name}"


def _of_kind(kind: str, table: Table) -> dict[str, Elements]:
    return {name: each for name, each in table.elements.items() if each.kind == kind}


def _same_type(old: Elements | None, new: Elements) -> bool:
    return old is not None and (old.kind, old.types) == (new.kind, new.types)


def _rule_changes(chain: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[str]:
    if old == new:
        return
    if old:
        yield f"flush chain {NAME} {chain}"
    for rule in new:
        yield f"add rule {NAME} {chain} {rule}"


def _element_changes(name: str, old: Elements | None, new: Elements) -> Iterator[str]:
    """Yield what brings the elements about; a key that leads elsewhere is deleted and added again."""
    before = old.values if old is not None else {}
    gone = [key for key, value in before.items() if new.values.get(key) != value]
    come = [f"{key} : {value}" if value else key for key, value in new.values.items() if before.get(key) != value]
    if gone:
        yield f"delete element {NAME} {name} {{ {', '.join(gone)} }}"
    if come:
        yield f"add element {NAME} {name} {{ {', '.join(come)} }}"
