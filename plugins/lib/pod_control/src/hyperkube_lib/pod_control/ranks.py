"""Which pods a controller that has too many deletes first.

Source: kubernetes ``pkg/controller/controller_utils.go`` (ActivePodsWithRanks).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from functools import cmp_to_key
from typing import Any

from hyperkube.kinds.pods import is_active, is_ready, is_sidecar, phase, spec_of, status_of
from hyperkube.kinds.workloads import ready_since
from hyperkube.machinery.objects import Object, annotations_of, metadata, uid_of
from hyperkube.machinery.times import parse_time

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASE_RANK = {"Pending": 0, "Unknown": 1, "Running": 2}
_NANOSECONDS = 1_000_000_000


def deletion_order(pods: Iterable[Object], related: Iterable[Object], now: datetime) -> list[Object]:
    """Return the pods in the order in which a controller that has too many deletes them.

    First goes what is missed least: not assigned to a node, pending, not ready, cheap by its annotation, on a node with
    many of its like (`related`), ready for a shorter time, restarted more often, created later. Times are compared by
    the logarithm of how long ago they were, and pods that are about as old by their uid, so that not always the pods of
    the latest scale-up go: they may all be in one zone.
    """
    on_node: dict[str, int] = {}
    for pod in related:
        if is_active(pod):
            node = spec_of(pod).get("nodeName", "")
            on_node[node] = on_node.get(node, 0) + 1

    def rank(pod: Object) -> tuple[Any, ...]:
        node = spec_of(pod).get("nodeName", "")
        return (
            bool(node),
            _PHASE_RANK.get(phase(pod), 0),
            is_ready(pod),
            _deletion_cost(pod),
            -on_node.get(node, 0),
        )

    def compare(one: Object, other: Object) -> int:
        first, second = rank(one), rank(other)
        if first != second:
            return -1 if first < second else 1
        by_readiness = _compare_ages(one, other, ready_since(one), ready_since(other), now) if is_ready(one) else 0
        if by_readiness:
            return by_readiness
        restarts, others = _restarts(one), _restarts(other)
        if restarts != others:
            return -1 if restarts > others else 1
        return _compare_ages(one, other, _created(one), _created(other), now)

    return sorted(pods, key=cmp_to_key(compare))


def _compare_ages(one: Object, other: Object, since: datetime | None, others: datetime | None, now: datetime) -> int:
    """Return -1 if `one` goes first, 1 if `other` does, 0 if both times are the same; an unknown time is the latest."""
    if since == others:
        return 0
    if since is None or others is None:
        return -1 if since is None else 1
    difference = _log_age(since, now) - _log_age(others, now)
    if difference:
        return -1 if difference < 0 else 1
    return -1 if uid_of(one) < uid_of(other) else 1


def _log_age(since: datetime, now: datetime) -> int:
    nanoseconds = (now - since).total_seconds() * _NANOSECONDS
    return int(math.log2(nanoseconds)) if nanoseconds > 0 else -1


def _created(pod: Object) -> datetime | None:
    created = metadata(pod).get("creationTimestamp")
    return parse_time(created) if created else None


def _restarts(pod: Object) -> tuple[int, int]:
    """Return the most restarts of a container, and of a sidecar container."""
    sidecars = {each["name"] for each in spec_of(pod).get("initContainers") or [] if is_sidecar(each)}
    regular = [each.get("restartCount", 0) for each in status_of(pod).get("containerStatuses") or []]
    init = status_of(pod).get("initContainerStatuses") or []
    sidecar = [each.get("restartCount", 0) for each in init if each.get("name") in sidecars]
    return max(regular, default=0), max(sidecar, default=0)


def _deletion_cost(pod: Object) -> int:
    try:
        return int(annotations_of(pod).get(DELETION_COST, "0"))
    except ValueError:
        return 0
