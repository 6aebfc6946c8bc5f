"""Which pods of older revisions are deleted now, to come back of the present one.

Source: kubernetes ``pkg/controller/statefulset/stateful_set_control.go`` (the end of updateStatefulSet,
updateStatefulSetAfterInvariantEstablished).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hyperkube_controller.statefulset.pods import is_rolling, partition, revision_of

from hyperkube.machinery.intstr import scaled_or
from hyperkube.machinery.objects import Object, is_being_deleted, name_of

if TYPE_CHECKING:
    from hyperkube_controller.statefulset.observed import Observed


def outdated(observed: Observed, replicas: Sequence[Object | None]) -> list[Object]:
    """Return the pods to replace now: from the last one down to the partition.

    Args:
        observed: what there is.
        replicas: the pod of each ordinal that the set is to have, those among them that are about to be created; None
            for one that has to wait.
    """
    if not is_rolling(observed.stateful_set):
        return []
    targets = list(reversed(replicas[partition(observed.stateful_set) :]))
    if observed.has_max_unavailable:
        return _within_max_unavailable(observed, replicas, targets)
    for pod in targets:
        if pod is None:
            return []
        if _is_old(observed, pod):
            return [pod]
        if observed.is_unavailable(pod):
            return []
    return []


def _is_old(observed: Observed, pod: Object) -> bool:
    """Tell whether the pod is of an older revision, and is not going already."""
    return revision_of(pod) != name_of(observed.update) and not is_being_deleted(pod)


def max_unavailable(stateful_set: Object, replicas: int) -> int:
    """Return how many pods an update may take away at once: at least one."""
    rolling = ((stateful_set.get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate") or {}
    return max(1, scaled_or(rolling.get("maxUnavailable"), 1, replicas, round_up=False))


def count_unavailable(observed: Observed, replicas: Sequence[Object | None]) -> int:
    """Return how many of the pods that the set is to have are missing or unavailable."""
    return sum(pod is None or observed.is_unavailable(pod) for pod in replicas)


def _within_max_unavailable(
    observed: Observed, replicas: Sequence[Object | None], targets: Sequence[Object | None]
) -> list[Object]:
    """Return the pods to replace now; in parallel, those that are unavailable anyway go first, whatever the limit."""
    spare = max(0, max_unavailable(observed.stateful_set, len(replicas)) - count_unavailable(observed, replicas))
    old = [pod for pod in targets if pod is not None and _is_old(observed, pod)]
    if not observed.is_parallel:
        return old[:spare]
    unavailable_anyway = [pod for pod in old if not observed.is_available(pod)]
    return unavailable_anyway + [pod for pod in old if observed.is_available(pod)][:spare]
