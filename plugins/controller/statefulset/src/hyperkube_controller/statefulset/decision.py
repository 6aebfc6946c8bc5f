"""What to do about the pods of a stateful set now.

In order (``OrderedReady``), a pod is created only when all before it are available, and deleted only when all after it
are gone; the first thing that is not as it should be ends the sync. In parallel (``Parallel``) nothing waits, but for
updates. Source: kubernetes ``pkg/controller/statefulset/stateful_set_control.go`` (updateStatefulSet).
"""

from __future__ import annotations

from dataclasses import field

from hyperkube_controller.statefulset.claims import (
    claim_names,
    deletes_when_scaled,
    has_stale_owner,
    is_claim_owner_up_to_date,
)
from hyperkube_controller.statefulset.observed import Observed
from hyperkube_controller.statefulset.pods import conformed, is_rolling, ordinal_of, ordinals, pod_of, revision_for
from hyperkube_controller.statefulset.rolling_update import count_unavailable, outdated

from hyperkube.kinds.pods import is_ready, is_terminal, phase
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, is_being_deleted


@dataclass(frozen=True, slots=True)
class CreatePod:
    """Create a pod, and before it the claims that it lacks."""

    ordinal: int
    pod: Object


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete a pod."""

    pod: Object


@dataclass(frozen=True, slots=True)
class UpdatePod:
    """Give a pod its identity and its claims their owners again."""

    ordinal: int
    pod: Object
    conformed: Object


@dataclass(frozen=True, slots=True)
class CreateClaims:
    """Create the claims that a pending pod lacks, and give them their owners."""

    ordinal: int
    pod: Object


@dataclass(frozen=True, slots=True)
class UpdateClaimOwners:
    """Give the claims of a pod that has to go the owners that the retention policy asks for."""

    ordinal: int
    pod: Object


Step = CreatePod | DeletePod | UpdatePod | CreateClaims | UpdateClaimOwners


@dataclass(slots=True)
class Decision:
    """What to do: steps in batches, each of which begins when the one before has succeeded; then updates, one by one.

    `stale_claim` names a claim that has to go before its pod can come; `unavailable` counts the pods that are not
    available when the set's update obeys ``maxUnavailable`` and has come to its turn.
    """

    replicas: list[Step] = field(default_factory=list)
    claims: list[Step] = field(default_factory=list)
    condemned: list[Step] = field(default_factory=list)
    update: list[Object] = field(default_factory=list)
    stale_claim: str = ""
    unavailable: int | None = None


def decide(observed: Observed) -> Decision:
    """Return what to do now; nothing when the set is being deleted."""
    decision = Decision()
    if is_being_deleted(observed.stateful_set):
        return decision
    wanted = ordinals(observed.stateful_set)
    by_ordinal = {ordinal_of(observed.stateful_set, pod): pod for pod in observed.pods}
    for ordinal in wanted:
        if _process_replica(observed, ordinal, by_ordinal.get(ordinal), decision) and not observed.is_parallel:
            return decision
    condemned = sorted((number for number in by_ordinal if number >= 0 and number not in wanted), reverse=True)
    for ordinal in condemned:
        if not _retention_matches(observed, ordinal, by_ordinal[ordinal], scaled_down=True):
            decision.claims.append(UpdateClaimOwners(ordinal, by_ordinal[ordinal]))
    # Those that are wanted are all available by now, where that matters.
    first_unhealthy = next((n for n in reversed(condemned) if observed.is_unavailable(by_ordinal[n])), None)
    for ordinal in condemned:
        pod = by_ordinal[ordinal]
        blocked = not observed.is_available(pod) and ordinal != first_unhealthy
        if not is_being_deleted(pod) and (observed.is_parallel or not blocked):
            decision.condemned.append(DeletePod(pod))
        if not observed.is_parallel:
            return decision
    made = {step.ordinal: step.pod for step in decision.replicas if isinstance(step, CreatePod)}
    replicas = [made.get(ordinal) or by_ordinal.get(ordinal) for ordinal in wanted]
    if observed.has_max_unavailable and is_rolling(observed.stateful_set):
        decision.unavailable = count_unavailable(observed, replicas)
    decision.update = outdated(observed, replicas)
    return decision


def _process_replica(observed: Observed, ordinal: int, pod: Object | None, decision: Decision) -> bool:
    """Add what the pod of an ordinal needs; tell whether the ones after it have to wait."""
    if pod is None:
        return _create(observed, ordinal, decision)
    if is_terminal(pod):
        if not is_being_deleted(pod):
            decision.replicas.append(DeletePod(pod))  # it comes back under its name
        return True
    if phase(pod) == "Pending":
        decision.replicas.append(CreateClaims(ordinal, pod))
    if not observed.is_parallel and (is_being_deleted(pod) or not _runs(pod) or not observed.is_available(pod)):
        return True
    identity = conformed(observed.stateful_set, pod)
    if identity is not None or not _retention_matches(observed, ordinal, pod, scaled_down=False):
        decision.replicas.append(UpdatePod(ordinal, pod, identity or pod))
    return False


def _create(observed: Observed, ordinal: int, decision: Decision) -> bool:
    revision = revision_for(observed.stateful_set, ordinal, observed.current, observed.update)
    pod = pod_of(observed.stateful_set, ordinal, revision)
    if deletes_when_scaled(observed.stateful_set):
        for name in claim_names(observed.stateful_set, ordinal).values():
            claim = observed.claim(name)
            if claim is not None and has_stale_owner(claim, pod):
                # It belongs to a pod of this name that was scaled down, and is about to go with it.
                decision.stale_claim = name
                return True
    decision.replicas.append(CreatePod(ordinal, pod))
    return True


def _runs(pod: Object) -> bool:
    return phase(pod) == "Running" and is_ready(pod)


def _retention_matches(observed: Observed, ordinal: int, pod: Object, *, scaled_down: bool) -> bool:
    claims = [observed.claim(name) for name in claim_names(observed.stateful_set, ordinal).values()]
    return all(
        is_claim_owner_up_to_date(claim, observed.stateful_set, pod, scaled_down=scaled_down)
        for claim in claims
        if claim is not None
    )


__all__ = [
    "CreateClaims",
    "CreatePod",
    "Decision",
    "DeletePod",
    "Step",
    "UpdateClaimOwners",
    "UpdatePod",
    "decide",
]
