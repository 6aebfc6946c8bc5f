"""What a stateful set's decisions are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from hyperkube.kinds.workloads import is_available
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, is_being_deleted


@dataclass(frozen=True, slots=True)
class Observed:
    """What there is.

    Attributes:
        stateful_set: the owner.
        pods: its pods; those whose name does not fit are not among them.
        current: the revision that the pods had before an update.
        update: the revision of the present template.
        claim: returns a claim of the set's namespace by name, or None.
        now: pods may be available by now.
        has_max_unavailable: whether ``maxUnavailable`` counts (the feature gate MaxUnavailableStatefulSet).
    """

    stateful_set: Object
    pods: Sequence[Object]
    current: Object
    update: Object
    claim: Callable[[str], Object | None]
    now: datetime
    has_max_unavailable: bool = False

    @property
    def is_parallel(self) -> bool:
        """Whether pods are created and deleted without waiting for each other."""
        return bool((self.stateful_set.get("spec") or {}).get("podManagementPolicy") == "Parallel")

    def is_available(self, pod: Object) -> bool:
        """Tell whether the pod has been ready for long enough."""
        return is_available(pod, (self.stateful_set.get("spec") or {}).get("minReadySeconds", 0), self.now)

    def is_unavailable(self, pod: Object) -> bool:
        """Tell whether the pod is not available, or is being deleted."""
        return is_being_deleted(pod) or not self.is_available(pod)
