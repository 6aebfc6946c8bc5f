"""What a daemon set's decisions are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hyperkube.kinds.workloads import is_available
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_controller.daemonset.pods import PodsByNode


@dataclass(frozen=True, slots=True)
class Observed:
    """A daemon set, the nodes, its pods by node, and the hash of its present template.

    `may_replace` tells whether a failed pod of a node may be deleted now, or has to wait for the node's back-off.
    """

    daemon_set: Object
    nodes: Sequence[Object]
    by_node: PodsByNode
    digest: str
    now: datetime
    may_replace: Callable[[str], bool]

    @property
    def min_ready_seconds(self) -> int:
        """The set's ``minReadySeconds``."""
        return int((self.daemon_set.get("spec") or {}).get("minReadySeconds") or 0)

    def is_available(self, pod: Object) -> bool:
        """Tell whether the pod has been ready for long enough."""
        return is_available(pod, self.min_ready_seconds, self.now)
