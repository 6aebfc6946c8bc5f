"""Labels and taints of all nodes as arrays: built when first asked for, then kept up column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hyperkube.machinery.objects import Object, labels_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperkube.hookspecs.node_table import Mask

Taint = tuple[str, str, str]


class _LabelColumn:
    """One label key: a code per node into the values, -1 for none."""

    __slots__ = ("codes", "index", "masks", "values")

    def __init__(self, key: str, nodes: Sequence[Object]) -> None:
        self.values: list[str] = []
        self.index: dict[str, int] = {}
        self.codes = np.fromiter((self._code(labels_of(node).get(key)) for node in nodes), np.int32, len(nodes))
        self.masks: dict[str | None, Mask] = {}

    def _code(self, value: str | None) -> int:
        if value is None:
            return -1
        code = self.index.get(value)
        if code is None:
            code = self.index[value] = len(self.values)
            self.values.append(value)
        return code

    def set(self, column: int, value: str | None) -> None:
        code = self._code(value)
        if code != self.codes[column]:
            self.codes[column] = code
            self.masks.clear()

    def mask(self, value: str | None) -> Mask:
        found = self.masks.get(value)
        if found is None:
            found = self.codes >= 0 if value is None else self.codes == self.index.get(value, -2)
            self.masks[value] = found
        return found


class NodeLabels:
    """The labels and taints of a list of nodes that it shares with the table."""

    def __init__(self, nodes: Sequence[Object]) -> None:
        self._nodes = nodes
        self._labels: dict[str, _LabelColumn] = {}
        self._taints: dict[Taint, Mask] | None = None

    def forget(self) -> None:
        """Drop everything: columns came or went."""
        self._labels.clear()
        self._taints = None

    def change(self, column: int, node: Object) -> None:
        """Take over a node's new labels and taints."""
        labels = labels_of(node)
        for key, known in self._labels.items():
            known.set(column, labels.get(key))
        if self._taints is not None:
            for mask in self._taints.values():
                mask[column] = False
            self._taint(column, node, self._taints)
            self._taints = {key: mask for key, mask in self._taints.items() if mask.any()}

    def codes(self, key: str) -> tuple[NDArray[np.int32], Sequence[str]]:
        """Return a label's code per node, and what the codes mean."""
        column = self._column(key)
        return column.codes, column.values

    def mask(self, key: str, value: str | None) -> Mask:
        """Return which nodes have the label with that value, or at all."""
        return self._column(key).mask(value)

    def taints(self) -> Mapping[Taint, Mask]:
        """Return each distinct taint and which nodes have it."""
        if self._taints is None:
            self._taints = {}
            for column, node in enumerate(self._nodes):
                self._taint(column, node, self._taints)
        return self._taints

    def _column(self, key: str) -> _LabelColumn:
        found = self._labels.get(key)
        if found is None:
            found = self._labels[key] = _LabelColumn(key, self._nodes)
        return found

    def _taint(self, column: int, node: Object, into: dict[Taint, Mask]) -> None:
        for taint in node.get("spec", {}).get("taints") or ():
            key = (taint["key"], taint.get("value", ""), taint["effect"])
            mask = into.get(key)
            if mask is None:
                mask = into[key] = np.zeros(len(self._nodes), dtype=bool)
            mask[column] = True
