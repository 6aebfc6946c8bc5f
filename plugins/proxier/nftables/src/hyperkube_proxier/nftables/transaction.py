"""Changes of one table, as ``nft -f`` reads them: all of them are made, or none.

Their order is what the kernel wants: a chain is there before a rule or an element names it, and a set goes when no
rule uses it any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from hyperkube_proxier.nftables.names import TABLE
from hyperkube_proxier.nftables.service_rules import Element

_ELEMENTS_PER_LINE = 500


class Transaction:
    """Changes in the order they were asked for within each kind."""

    def __init__(self, ip: str) -> None:
        """Take what the family of the table is called: ``ip`` or ``ip6``."""
        self._table = f"{ip} {TABLE}"
        self._setup: list[str] = []
        self._flushes: list[str] = []
        self._deletions: list[str] = []
        self._rules: list[str] = []
        self._removed: dict[str, list[str]] = {}
        self._added: dict[str, list[str]] = {}

    def add_table(self, *, afresh: bool = False) -> None:
        """Make the table; `afresh`: without anything that was in it."""
        text = f'add table {self._table} {{ comment "rules for kube-proxy" ; }}'
        self._setup += [text, f"delete table {self._table}", text] if afresh else [text]

    def delete_table(self) -> None:
        """Delete the table, if there is one."""
        self._setup += [f"add table {self._table}", f"delete table {self._table}"]

    def add_chain(self, name: str, definition: str = "") -> None:
        """Make a chain, if there is none."""
        self._setup.append(f"add chain {self._table} {name}{f' {{ {definition} }}' if definition else ''}")

    def flush_chain(self, name: str) -> None:
        """Empty a chain of what was in it."""
        self._flushes.append(f"flush chain {self._table} {name}")

    def delete_chain(self, name: str) -> None:
        """Delete an empty chain."""
        self._deletions.append(f"delete chain {self._table} {name}")

    def add_rules(self, chain: str, rules: Iterable[str]) -> None:
        """Append rules."""
        self._rules += [f"add rule {self._table} {chain} {rule}" for rule in rules]

    def add_container(self, kind: str, name: str, definition: str) -> None:
        """Make a ``set`` or ``map``, if there is none."""
        self._deletions.append(f"add {kind} {self._table} {name} {{ {definition} }}")

    def flush_container(self, kind: str, name: str) -> None:
        """Empty a set or map."""
        self._deletions.append(f"flush {kind} {self._table} {name}")

    def delete_set(self, name: str) -> None:
        """Delete a set or map that no rule uses."""
        self._deletions.append(f"delete set {self._table} {name}")

    def add_element(self, element: Element) -> None:
        """Add an element that is not there."""
        self._added.setdefault(element.container, []).append(str(element))

    def delete_element(self, element: Element) -> None:
        """Delete an element."""
        self._removed.setdefault(element.container, []).append(element.key)

    def text(self) -> str:
        """Return it; empty if nothing is to be done."""
        removed = self._element_lines("delete", self._removed)
        added = self._element_lines("add", self._added)
        lines = [*self._setup, *self._flushes, *removed, *self._deletions, *self._rules, *added]
        return "".join(f"{line}\n" for line in lines)

    def _element_lines(self, verb: str, elements: dict[str, list[str]]) -> Iterable[str]:
        for container, texts in elements.items():
            waiting = iter(texts)
            while some := list(islice(waiting, _ELEMENTS_PER_LINE)):
                yield f"{verb} element {self._table} {container} {{ {', '.join(some)} }}"
