"""Replacing pods of older templates: by deleting first (``maxUnavailable``), or by creating first (``maxSurge``).

Source: kubernetes ``pkg/controller/daemon/update.go`` (rollingUpdate).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from hyperkube_controller.daemonset.observed import Observed
from hyperkube_controller.daemonset.pods import is_updated, node_should_run_daemon_pod

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.intstr import scaled_or
from hyperkube.machinery.objects import Object, is_being_deleted, name_of


def _rolling(daemon_set: Object) -> Object | None:
    """Return the parameters of a rolling update; None for the strategy ``OnDelete``."""
    strategy = (daemon_set.get("spec") or {}).get("updateStrategy") or {}
    return None if strategy.get("type") == "OnDelete" else strategy.get("rollingUpdate") or {}


def max_surge(daemon_set: Object, desired: int) -> int:
    """Return how many nodes may have a second pod during an update."""
    rolling = _rolling(daemon_set)
    return 0 if rolling is None else scaled_or(rolling.get("maxSurge"), 0, desired, round_up=True)


def max_unavailable(daemon_set: Object, desired: int) -> int:
    """Return how many nodes may be without an available pod during an update."""
    rolling = _rolling(daemon_set)
    if rolling is None or not desired:
        return 0
    limit = scaled_or(rolling.get("maxUnavailable"), 1, desired, round_up=True)
    # Both zero cannot work; the API refuses it, so this is one that was written by another server.
    return limit or (0 if max_surge(daemon_set, desired) else 1)


@dataclass(slots=True)
class Update:
    """Pods of older templates that go now, and nodes that get a second pod now."""

    delete: list[Object] = field(default_factory=list)
    create: list[str] = field(default_factory=list)


def rolling_update(observed: Observed) -> Update:
    """Return the next step of the update, once `manage` has nothing to do."""
    if _rolling(observed.daemon_set) is None:
        return Update()
    wanted = {name_of(node) for node in observed.nodes if node_should_run_daemon_pod(observed.daemon_set, node)[0]}
    places = {**dict.fromkeys(sorted(wanted), ()), **{node: tuple(pods) for node, pods in observed.by_node.items()}}
    surge = max_surge(observed.daemon_set, len(wanted))
    if surge:
        return _surging(observed, places, wanted, surge)
    return Update(delete=_deleting(observed, places, max_unavailable(observed.daemon_set, len(wanted))))


def _find_updated_pods_on_node(
    observed: Observed, pods: Sequence[Object]
) -> tuple[Object | None, Object | None] | None:
    """Return (new pod, old pod) of a node, without those that are being deleted; None when there are more of a kind."""
    new: Object | None = None
    old: Object | None = None
    for pod in pods:
        if is_being_deleted(pod):
            continue
        if is_updated(observed.daemon_set, pod, observed.digest):
            if new is not None:
                return None
            new = pod
        elif old is not None:
            return None
        else:
            old = pod
    return new, old


def _deleting(observed: Observed, places: dict[str, tuple[Object, ...]], limit: int) -> list[Object]:
    """Return the old pods that may be deleted: all that are not available, and as many others as the limit leaves."""
    unavailable = 0
    replaceable: list[Object] = []
    candidates: list[Object] = []
    for pods in places.values():
        pair = _find_updated_pods_on_node(observed, pods)
        if pair is None or (pair[0] is None) == (pair[1] is None):
            # `manage` will create or delete there: until then the node has no available pod.
            unavailable += 1
            continue
        new, old = pair
        if old is None:
            unavailable += new is not None and not observed.is_available(new)
        elif not observed.is_available(old):
            replaceable.append(old)
            unavailable += 1
        else:
            candidates.append(old)
    return replaceable + candidates[: max(0, limit - unavailable)]


def _surging(observed: Observed, places: dict[str, tuple[Object, ...]], wanted: set[str], surge: int) -> Update:
    """Return the nodes that get a new pod beside the old one, and the old pods whose new one is available."""
    update = Update()
    candidates: list[str] = []
    misplaced: list[Object] = []
    surging = available = 0
    for node, pods in places.items():
        pair = _find_updated_pods_on_node(observed, pods)
        if pair is None:
            surging += 1
            continue
        new, old = pair
        counted = old if old is not None else new
        available += counted is not None and observed.is_available(counted)
        if old is None:
            continue  # `manage` looks after the node
        if new is not None:
            if observed.is_available(new):
                update.delete.append(old)
            else:
                surging += 1
        elif node not in wanted:
            (misplaced if observed.is_available(old) else update.delete).append(old)
        elif not observed.is_available(old):
            update.create.append(node)
        else:
            candidates.append(node)
    # With a surge the set is to stay fully available: a pod on a node where it should no longer run goes only when one
    # elsewhere is available in its place.
    update.delete += misplaced[: max(0, available - len(wanted))]
    update.create += candidates[: max(0, surge - surging)]
    return update
