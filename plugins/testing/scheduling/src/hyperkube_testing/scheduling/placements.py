# ruff: noqa: D102 - tests, whose names are their docstrings
"""What plugins promise that name or rank the placements of pod groups, as tests.

Subclass `PlacementContract`: name the class, describe nodes and groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from hyperkube_testing.scheduling.tables import table

from hyperkube.hookspecs import scheduling as specs
from hyperkube.hookspecs.base import Plugin, PluginContext
from hyperkube.hookspecs.pod_groups import (
    MAX_SCORE,
    Placement,
    PlacementGeneratePlugin,
    PlacementScorePlugin,
    PodGroupInfo,
)
from hyperkube.hookspecs.scheduling import SchedulingHooks
from hyperkube.machinery.objects import NodeName, Object, copy_object
from hyperkube.plugin.loader import PluginHost

NAMESPACE = "default"


class PlacementContract:
    """The promises of the plugins for placements.

    Attributes:
        plugin: the plugin class.
        settings: its settings.
        nodes: nodes by the keyword arguments of `hyperkube_testing.scheduling.tables.node`.
        groups: PodCountsIndex for which it makes a difference; name and namespace are filled in.
        placed: where some of each group's pods are: name → node.
    """

    plugin: ClassVar[type[Plugin]]
    settings: ClassVar[Mapping[str, Any]] = {}
    nodes: ClassVar[Sequence[Mapping[str, Any]]]
    groups: ClassVar[Sequence[Object]] = ({},)
    placed: ClassVar[Mapping[str, str]] = {}

    def build(self) -> Plugin:
        """Return the plugin."""
        return self.plugin(PluginContext(name=self.plugin.__name__, settings=self.settings))

    def infos(self) -> list[PodGroupInfo]:
        """Return the groups as plugins get them."""
        where = {f"{NAMESPACE}/{name}": NodeName(node) for name, node in self.placed.items()}
        return [PodGroupInfo((NAMESPACE, "group"), copy_object(group), [], where) for group in self.groups]

    def parents(self, count: int) -> list[Placement]:
        """Return what a generator may be given: all nodes, and every other one."""
        some = np.arange(count) % 2 == 0
        return [Placement("all", np.ones(count, dtype=bool)), Placement("some", some)]

    def answers(self, built: Plugin) -> list[Any]:
        """Return everything that the plugin says, as plain values."""
        nodes = table(*(dict(words) for words in self.nodes))
        said: list[Any] = []
        for group in self.infos():
            for parent in self.parents(len(nodes)):
                if isinstance(built, PlacementGeneratePlugin):
                    found = built.generate_placements(group, nodes, parent)
                    said += [(each.name, each.nodes.tolist()) for each in found]
                if isinstance(built, PlacementScorePlugin):
                    raw = [built.score_placement(group, parent, _assigned(count)) for count in (1, 2, 5)]
                    said.append(list(built.normalize_placements(group, raw)))
        return said

    def test_it_offers_itself(self) -> None:
        built = self.build()

        host: PluginHost[SchedulingHooks] = PluginHost("scheduler", specs, [(built.context.name, built)])
        assert built in host.hook.scheduling_plugins()[0]

    def test_the_same_question_has_the_same_answer(self) -> None:
        built = self.build()

        assert self.answers(built) == self.answers(built) == self.answers(self.build())

    def test_it_changes_neither_groups_nor_parents(self) -> None:
        built, nodes = self.build(), table(*(dict(words) for words in self.nodes))

        for group, before in zip(self.infos(), self.groups, strict=True):
            for parent in self.parents(len(nodes)):
                mask = parent.nodes.copy()
                if isinstance(built, PlacementGeneratePlugin):
                    built.generate_placements(group, nodes, parent)
                assert (parent.nodes == mask).all()
            assert group.group == before

    def test_placements_are_parts_of_the_parent_that_do_not_overlap(self) -> None:
        built, nodes = self.build(), table(*(dict(words) for words in self.nodes))
        if not isinstance(built, PlacementGeneratePlugin):
            return

        for group in self.infos():
            for parent in self.parents(len(nodes)):
                found = built.generate_placements(group, nodes, parent)
                together = sum((each.nodes.astype(int) for each in found), np.zeros(len(nodes), dtype=int))
                assert (together <= parent.nodes).all()
                assert all(each.nodes.any() for each in found)

    def test_scores_lie_in_the_range(self) -> None:
        built = self.build()
        if isinstance(built, PlacementScorePlugin):
            assert all(0 <= score <= MAX_SCORE for said in self.answers(built) for score in said)


def _assigned(count: int) -> dict[str, NodeName]:
    return {f"{NAMESPACE}/new-{index}": NodeName("n") for index in range(count)}
