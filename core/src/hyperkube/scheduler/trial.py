"""The table as it would be if some pods were gone: what preemption tries out, under the table's lock."""

from __future__ import annotations

from hyperkube.machinery.objects import Object, key_of
from hyperkube.scheduler.cycle import Algorithm
from hyperkube.scheduler.node_table import Nodes
from hyperkube.scheduler.pod_info import QueuedPod


class TableTrial:
    """Takes pods off the real table and puts them back; implements `hyperkube.hookspecs.scheduling.Trial`."""

    def __init__(self, pod: QueuedPod, nodes: Nodes, algorithm: Algorithm) -> None:
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

    def restore(self) -> None:
        """Put everything back."""
        for index, pod in list(self._removed.values()):
            self.put_back(index, pod)
