"""What scheduling plugins see: the pod to be placed, and all nodes as a struct of arrays.

The scheduler host implements these protocols in its module ``node_table``; they stand apart from the extension points
in `hyperkube.hookspecs.scheduling`, which re-exports them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from hyperkube.machinery.objects import NodeName, Object

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    IntScores: TypeAlias = NDArray[np.int64]
    Mask: TypeAlias = NDArray[np.bool_]


class PodInfo(Protocol):
    """A pod on its way to a node, with what plugins need computed once.

    Pods made of one template share what is computed from `template_key`: a plugin may cache by it.
    """

    pod: Object
    key: str
    template_key: str
    priority: int
    requests: NDArray[np.int64]
    """[resource, 1], in the units of `NodeTable.resources`."""
    non_zero_requests: NDArray[np.int64]
    """[2, 1]: cpu and memory with the defaults for containers that request none, for scoring."""
    state: dict[str, Any]
    """Room for a plugin's pre-filter results within one scheduling cycle, by plugin name."""


class PodCounts(Protocol):
    """The placed pods that selectors and pod affinity cannot tell apart: one namespace, labels and affinity."""

    @property
    def namespace(self) -> str:
        """Their namespace."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Their labels."""

    @property
    def affinity(self) -> Object:
        """Their ``spec.affinity``, empty if they have no pod affinity or anti-affinity."""

    @property
    def deleting(self) -> bool:
        """Whether they have a deletion timestamp."""

    @property
    def counts(self) -> Mapping[int, int]:
        """Column → how many of them are on that node; only columns that have any."""


class NodeTable(Protocol):
    """All nodes as arrays; column *i* of every array is the same node. Read-only for plugins."""

    @property
    def names(self) -> Sequence[NodeName]:
        """The nodes' names."""

    @property
    def resources(self) -> Sequence[str]:
        """Row names: ``cpu`` (milli), ``memory`` and ``ephemeral-storage`` (bytes), ``pods``, then extended ones."""

    @property
    def allocatable(self) -> NDArray[np.int64]:
        """[resource, node]."""

    @property
    def requested(self) -> NDArray[np.int64]:
        """[resource, node]: what the pods there and those assumed there request; row ``pods`` counts them."""

    @property
    def non_zero_requested(self) -> NDArray[np.int64]:
        """[2, node]: cpu and memory with the defaults for pods that request none (100m, 200Mi), for scoring."""

    @property
    def unschedulable(self) -> Mask:
        """[node]: ``spec.unschedulable``."""

    @property
    def generation(self) -> int:
        """Grows with every change of any node or pod on one; caches key on it."""

    @property
    def node_generation(self) -> int:
        """Grows with every change of the nodes themselves, whatever pods do."""

    def __len__(self) -> int:
        """Return the number of nodes."""

    def node(self, index: int) -> Object:
        """Return a node object, shared and read-only."""

    def pods(self, index: int) -> Sequence[Object]:
        """Return the pods on a node (also assumed ones), shared and read-only.

        Of their specs and states only that is kept which scheduling may look at: no environment, probes or addresses.
        """

    def pod_counts(self, *, with_affinity: bool = False, namespace: str | None = None) -> Sequence[PodCounts]:
        """Return all placed pods, or those with pod affinity, in groups that selectors cannot tell apart.

        Those of one namespace, if it is given: a large cluster has thousands of groups.
        In a part of the table (see `Scope`) the groups are of that part.
        """

    def label(self, key: str) -> Sequence[str | None]:
        """Return each node's value of a label, None where it has none."""

    def label_codes(self, key: str) -> tuple[NDArray[np.int32], Sequence[str]]:
        """Return each node's value of a label as an index into the values, -1 where it has none, and the values."""

    def label_equals(self, key: str, value: str) -> Mask:
        """Return which nodes carry a label with that value."""

    def label_exists(self, key: str) -> Mask:
        """Return which nodes carry a label at all."""

    def taints(self) -> Mapping[tuple[str, str, str], Mask]:
        """Return each distinct (key, value, effect) and the nodes that have it."""

    def changed_since(self, generation: int) -> Sequence[int] | None:
        """Return the columns that changed since a generation, or None if all may have (nodes came or went)."""

    def nodes_changed_since(self, generation: int) -> Sequence[int] | None:
        """Return the columns whose nodes changed since a `node_generation`, or None if all may have."""
