"""What was found on nodes, for claims that ask for the same, until something that a node reaches changes.

Pods of one kind come one after the other: for the next one only the nodes have to be searched again where the last
one went, and those that share a pool with it.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from hyperkube.machinery.objects import NodeName, Object

if TYPE_CHECKING:
    from hyperkube_scheduler.dynamic_resources.allocator import Allocation

QUESTIONS = 16
"""Kinds of pods whose answers are kept."""

Answer: TypeAlias = "tuple[Allocation, ...] | str"
Known: TypeAlias = "dict[NodeName, tuple[Sequence[object], Answer]]"
"""Node → what it reaches and which of this is in use, and what was found there then."""


class Answers:
    """Answers by question; the question that was asked longest ago is forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[object, Known] = OrderedDict()

    def about(self, claims: Sequence[Object], classes: int, nodes: int) -> Known:
        """Return what is known of claims that ask for the same as these, to be added to.

        Args:
            claims: what is to be allocated together.
            classes: the version of the device classes.
            nodes: how many nodes there are.
        """
        question = (classes, *(json.dumps(claim["spec"], sort_keys=True) for claim in claims))
        known = self._known.setdefault(question, {})
        self._known.move_to_end(question)
        if len(self._known) > QUESTIONS:
            self._known.popitem(last=False)
        if len(known) > 2 * nodes:
            known.clear()  # most are of nodes that are gone
        return known
