# ruff: noqa: D102 - tests, whose names are their docstrings
"""What scheduling plugins and algorithm providers promise, as tests.

Subclass `SchedulingContract` for a plugin: name the class, describe nodes and pods. Subclass `ProviderContract` for
an algorithm provider: name the class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from hyperkube_testing.scheduling.tables import node, pod_info, table

from hyperkube.hookspecs import scheduling as specs
from hyperkube.hookspecs.base import Plugin, PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, Filtered, FilterPlugin, SchedulingHooks, ScorePlugin
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.plugin.loader import PluginHost

MANY = 1000
LONGEST_SECONDS = 1.0
"""For `MANY` nodes: generous even for the per-node form on a busy machine."""


class SchedulingContract:
    """The promises of the scheduling plugins that filter and score.

    Attributes:
        plugin: the plugin class.
        settings: its settings.
        nodes: nodes by the keyword arguments of `tables.node`, among which it makes a difference.
        pods: pods for which it makes a difference.
    """

    plugin: ClassVar[type[Plugin]]
    settings: ClassVar[Mapping[str, Any]] = {}
    nodes: ClassVar[Sequence[Mapping[str, Any]]]
    pods: ClassVar[Sequence[Object]]

    def build(self) -> Plugin:
        """Return the plugin."""
        return self.plugin(PluginContext(name=self.plugin.__name__, settings=self.settings))

    def world(self) -> tuple[Any, list[Any]]:
        """Return the table of the nodes, and the pods ready to be scheduled."""
        nodes = table(*(dict(words) for words in self.nodes))
        return nodes, [pod_info(copy_object(pod), nodes) for pod in self.pods]

    def answer(self, built: Plugin, pod: Any, nodes: Any) -> list[Any]:
        """Return what the plugin says of every node, as plain values."""
        said: list[Any] = []
        if isinstance(built, FilterPlugin) and not built.skips(pod):
            kept = built.filter(pod, nodes)
            said += [kept.mask.tolist(), {reason: mask.tolist() for reason, mask in kept.reasons.items()}]
        if isinstance(built, ScorePlugin) and not built.skips(pod):
            raw = built.score(pod, nodes)
            said += [built.normalize(pod, nodes, raw, np.ones(len(nodes), dtype=bool)).tolist()]
        return said

    def test_it_offers_itself(self) -> None:
        built = self.build()

        host: PluginHost[SchedulingHooks] = PluginHost("scheduler", specs, [(built.context.name, built)])
        assert built in host.hook.scheduling_plugins()[0]

    def test_it_makes_a_difference(self) -> None:
        nodes, pods = self.world()

        answers = [self.answer(self.build(), pod, nodes) for pod in pods]

        assert any(len(set(row)) > 1 or False in row for said in answers for row in said if isinstance(row, list))

    def test_the_same_question_has_the_same_answer(self) -> None:
        built = self.build()
        nodes, pods = self.world()

        first = [self.answer(built, pod, nodes) for pod in pods]
        second = [self.answer(built, pod, nodes) for pod in reversed(pods)]

        assert first == second[::-1]

    def test_it_changes_neither_pods_nor_nodes_nor_the_table(self) -> None:
        built = self.build()
        nodes, pods = self.world()
        arrays = [nodes.allocatable.copy(), nodes.requested.copy(), nodes.non_zero_requested.copy()]
        objects = [copy_object(nodes.node(index)) for index in range(len(nodes))]

        for pod in pods:
            before = copy_object(pod.pod)
            self.answer(built, pod, nodes)
            assert pod.pod == before

        assert [nodes.node(index) for index in range(len(nodes))] == objects
        now = [nodes.allocatable, nodes.requested, nodes.non_zero_requested]
        assert all(np.array_equal(one, other) for one, other in zip(arrays, now, strict=True))

    def test_it_keeps_nothing_of_an_earlier_table(self) -> None:
        built = self.build()
        nodes, pods = self.world()
        for pod in pods:
            self.answer(built, pod, nodes)

        nodes.put_node(node("one-more"))

        for pod in self.pods:
            fresh = self.answer(self.build(), pod_info(copy_object(pod), nodes), nodes)
            assert self.answer(built, pod_info(copy_object(pod), nodes), nodes) == fresh

    def test_it_is_quick(self) -> None:
        built, clock = self.build(), SystemClock()
        nodes: Any = table(*({**self.nodes[index % len(self.nodes)], "name": f"n{index}"} for index in range(MANY)))
        pod: Any = pod_info(copy_object(self.pods[0]), nodes)
        self.answer(built, pod, nodes)
        start = clock.monotonic()

        self.answer(built, pod, nodes)

        assert clock.monotonic() - start < LONGEST_SECONDS

    def test_a_filter_says_why_for_exactly_the_nodes_it_refuses(self) -> None:
        built = self.build()
        nodes, pods = self.world()
        for pod in pods:
            if not isinstance(built, FilterPlugin) or built.skips(pod):
                continue

            kept: Filtered = built.filter(pod, nodes)

            assert kept.mask.shape == (len(nodes),)
            assert kept.mask.dtype == bool
            explained = np.zeros(len(nodes), dtype=bool)
            for mask in kept.reasons.values():
                explained |= mask
            assert np.array_equal(explained, ~kept.mask)
            assert kept.unresolvable is None or not (kept.unresolvable & kept.mask).any()

    def test_scores_lie_in_the_range(self) -> None:
        built = self.build()
        nodes, pods = self.world()
        everywhere = np.ones(len(nodes), dtype=bool)
        for pod in pods:
            if not isinstance(built, ScorePlugin) or built.skips(pod):
                continue

            scores = built.normalize(pod, nodes, built.score(pod, nodes), everywhere)

            assert scores.shape == (len(nodes),)
            assert scores.dtype.kind == "i"
            assert scores.min(initial=0) >= 0
            assert scores.max(initial=0) <= MAX_SCORE
