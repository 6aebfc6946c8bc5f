"""How many replicas each replica set gets: a rolling step, a recreation, or a share of a scaling.

Pure functions from what is observed to ``{name: replicas}`` of the replica sets that change.
Source: kubernetes ``pkg/controller/deployment/rolling.go``, ``recreate.go`` and ``sync.go``.
"""

from __future__ import annotations

from hyperkube_controller.deployment.facts import (
    DESIRED,
    MAX,
    Observed,
    number_annotation,
    replicas_of,
    status_count,
    status_total,
    total,
)

from hyperkube.machinery.objects import Object, metadata, name_of

Sizes = dict[str, int]


def is_scaling_event(observed: Observed) -> bool:
    """Tell whether the wanted number changed since the replica sets were sized."""
    return any(
        number_annotation(rs, DESIRED) not in {None, observed.wanted}
        for rs in observed.replica_sets
        if replicas_of(rs) > 0
    )


def new_rs_new_replicas(observed: Observed, new: Object | None) -> int:
    """Return how large the new replica set may be now: all at once for Recreate, else as the surge allows."""
    if not observed.is_rolling:
        return observed.wanted
    surge, _ = observed.resolve_fenceposts()
    current = total(observed.replica_sets)
    limit = observed.wanted + surge
    if current >= limit:
        return replicas_of(new)
    return replicas_of(new) + min(limit - current, observed.wanted - replicas_of(new))


def reconcile_new_replica_set(observed: Observed, new: Object) -> Sizes:
    """Return the next size of the new replica set, if it changes."""
    if replicas_of(new) == observed.wanted:
        return {}
    size = observed.wanted if replicas_of(new) > observed.wanted else new_rs_new_replicas(observed, new)
    return {} if size == replicas_of(new) else {name_of(new): size}


def reconcile_old_replica_sets(observed: Observed, new: Object) -> Sizes:
    """Return smaller sizes for old replica sets: first what is not healthy, then as availability allows."""
    old = observed.old
    if not total(old):
        return {}
    _, unavailable = observed.resolve_fenceposts()
    least = observed.wanted - unavailable
    starting = replicas_of(new) - status_count(new, "availableReplicas")
    max_scaled_down = total([*old, new]) - least - starting
    if max_scaled_down <= 0:
        return {}
    sizes: Sizes = {}
    for rs in old:
        unhealthy = replicas_of(rs) - status_count(rs, "availableReplicas")
        if unhealthy > 0 and max_scaled_down > 0:
            sizes[name_of(rs)] = replicas_of(rs) - min(max_scaled_down, unhealthy)
            max_scaled_down -= min(max_scaled_down, unhealthy)
    excess = status_total([*old, new], "availableReplicas") - least
    for rs in old:
        size = sizes.get(name_of(rs), replicas_of(rs))
        if excess > 0 and size > 0:
            step = min(size, excess)
            sizes[name_of(rs)] = size - step
            excess -= step
    return sizes


def scale(observed: Observed) -> Sizes:
    """Return the sizes after the wanted number changed, or while paused: each its share, the rounding to the first."""
    new, old = observed.new, observed.old
    active = [rs for rs in observed.replica_sets if replicas_of(rs) > 0]
    if len(active) <= 1:
        only = active[0] if active else new or max(old, key=_created, default=None)
        if only is None or replicas_of(only) == observed.wanted:
            return {}
        return {name_of(only): observed.wanted}
    if new is not None and _is_saturated(observed, new):
        return {name_of(rs): 0 for rs in old if replicas_of(rs)}
    return _proportional(observed, active) if observed.is_rolling else {}


def _created(rs: Object) -> tuple[str, str]:
    return str(metadata(rs).get("creationTimestamp", "")), name_of(rs)


def _is_saturated(observed: Observed, new: Object) -> bool:
    return (
        replicas_of(new) == observed.wanted
        and number_annotation(new, DESIRED) == observed.wanted
        and status_count(new, "availableReplicas") == observed.wanted
    )


def _proportional(observed: Observed, active: list[Object]) -> Sizes:
    surge, _ = observed.resolve_fenceposts()
    allowed = observed.wanted + surge if observed.wanted else 0
    to_add = allowed - total(active)
    newest_first = sorted(active, key=_created, reverse=to_add >= 0)
    ordered = sorted(newest_first, key=replicas_of, reverse=True)
    sizes: Sizes = {}
    added = 0
    for rs in ordered:
        share = 0
        if to_add:
            room = to_add - added
            fraction = _replica_set_fraction(observed, rs, surge)
            share = min(fraction, room) if to_add > 0 else max(fraction, room)
        sizes[name_of(rs)] = replicas_of(rs) + share
        added += share
    first = name_of(ordered[0])
    sizes[first] = max(0, sizes[first] + to_add - added)
    return sizes


def _replica_set_fraction(observed: Observed, rs: Object, surge: int) -> int:
    """Return by how much the replica set grows with its deployment, rounded to the nearest."""
    if not observed.wanted:
        return -replicas_of(rs)
    before = number_annotation(rs, MAX) or (observed.deployment.get("status") or {}).get("replicas", 0)
    if not before:
        return 0
    grown = replicas_of(rs) * (observed.wanted + surge)
    return (2 * grown + before) // (2 * before) - replicas_of(rs)
