"""The table as it would be if some pods were gone: what preemption tries out, under the table's lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.cache.node_table import Nodes
from hyperkube_host.scheduler.cache.pod_info import PreparedPod
from hyperkube_host.scheduler.framework.algorithm import Algorithm

from hyperkube.hookspecs.scheduling import VictimReview, Victims
from hyperkube.machinery.objects import NodeName, Object, key_of

if TYPE_CHECKING:
    from hyperkube_host.scheduler.framework.equivalence_cache import Filters


class NodeTableDryRun:
    """Takes pods off the real table and puts them back; implements `hyperkube.hookspecs.scheduling.DryRun`."""

    def __init__(self, pod: PreparedPod, nodes: Nodes, algorithm: Algorithm, filters: Filters = ()) -> None:
        """Take the parts; those of the filters that have a say in the choice of victims are asked by `review`."""
        self._reviewers = [plugin for _, plugin in filters if isinstance(plugin, VictimReview)]
        self._pod = pod
        self._nodes = nodes
        self._algorithm = algorithm
        self._removed: dict[str, tuple[int, Object]] = {}

    def remove(self, index: int, pod: Object) -> None:
        """Take a pod away from a node, until `restore`."""
        key = key_of(pod)
        self._removed[key] = (index, pod)
        self._nodes.remove_pod(key, self._nodes.names[index])

    def put_back(self, index: int, pod: Object) -> None:
        """Put one back that was taken away."""
        self._removed.pop(key_of(pod), None)
        self._nodes.put_pod(pod, self._nodes.names[index])

    def fits(self, index: int) -> bool:
        """Tell whether all filters keep that node for the pod as things stand."""
        return self._algorithm.fits(self._pod, self._nodes, index)

    def why_not(self, index: int) -> Sequence[str]:
        """Return what the first filter that refuses that node says, as things stand."""
        return self._algorithm.why_not(self._pod, self._nodes, index)

    def review(self, choices: Mapping[NodeName, Victims]) -> Mapping[NodeName, Victims]:
        """Return the choices that all reviewers agree with."""
        for reviewer in self._reviewers:
            if not choices:
                break
            choices = reviewer.review(self._pod, self._nodes, choices)
        return choices

    def restore(self) -> None:
        """Put everything back."""
        for index, pod in list(self._removed.values()):
            self.put_back(index, pod)
