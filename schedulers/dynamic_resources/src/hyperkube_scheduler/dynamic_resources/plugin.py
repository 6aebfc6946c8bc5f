"""The plugin: filters by claims, holds what was found for the chosen node, and writes it before the pod is bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.node_selectors import any_term
from hyperkube_scheduler.dynamic_resources.claims import (
    CHANGES,
    MOST_USERS,
    CannotAllocate,
    DeviceClaims,
    NoClaim,
    may_share,
    reserved_for,
)
from hyperkube_scheduler.dynamic_resources.pools import gather

from hyperkube.hookspecs.scheduling import (
    MAX_SCORE,
    Filtered,
    FilterPlugin,
    NodeTable,
    Nomination,
    PodInfo,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    ReservePlugin,
    ScorePlugin,
    Trial,
)
from hyperkube.kinds.resources import RESOURCE_CLAIMS
from hyperkube.machinery.errors import ApiError, Conflict, NotFound
from hyperkube.machinery.objects import NodeName, Object, copy_object, key_of, name_of, namespace_of, uid_of
from hyperkube.machinery.times import format_time

if TYPE_CHECKING:
    from hyperkube_scheduler.dynamic_resources.allocator import Allocation

    from hyperkube.hookspecs.scheduling import IntScores, Mask

NOT_HERE = "resourceclaim not available on the node"
NOT_ENOUGH = "cannot allocate all claims"
IN_USE = "resourceclaim in use"
FINALIZER = "resource.kubernetes.io/delete-protection"
TRIES = 5


@dataclass(slots=True)
class _Plan:
    """What filtering found out: the pod's claims, those to be allocated, and with what on which node."""

    claims: list[Object]
    pending: list[Object] = field(default_factory=list)
    found: dict[NodeName, list[Allocation]] = field(default_factory=dict)
    elsewhere: list[Object] = field(default_factory=list)


class DynamicResources(PreEnqueuePlugin, FilterPlugin, PostFilterPlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """Allocates the devices of resource.k8s.io/v1 claims.

    Source: kubernetes ``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``. Not there: devices
    that several claims share by capacity, binding conditions, and extended resources backed by classes.
    """

    wakes_on = CHANGES | {"node"}
    skips_by_template = True
    _claims: DeviceClaims | None = None

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look claims, classes and slices up in the shared caches."""
        if self.context.informers is not None:
            self._claims = DeviceClaims(self.context.informers, wake)

    def pre_enqueue(self, pod: Object) -> str:
        """Return which claim the pod waits for."""
        if not _has_claims(pod) or self._claims is None:
            return ""
        try:
            self._claims.of(pod)
        except NoClaim as why:
            return str(why)
        return ""

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has no claim."""
        return not _has_claims(pod.pod)

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that no claim lists alternatives."""
        plan = self._plan(pod)
        return plan is None or not any(
            request.get("firstAvailable")
            for claim in plan.pending
            for request in claim["spec"]["devices"].get("requests") or ()
        )

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes that reach the devices allocated already, and have those still wanted."""
        known = self._claims
        everywhere = np.ones(len(nodes), dtype=bool)
        if known is None:
            return Filtered(everywhere)
        try:
            plan = self._new_plan(pod, known)
            here = self._reached(plan, nodes)
            enough = self._allocate(plan, known, nodes, here)
        except (NoClaim, CannotAllocate) as why:
            return Filtered(~everywhere, {str(why): everywhere}, everywhere)
        rows = ((NOT_HERE, ~here), (NOT_ENOUGH, here & ~enough))
        kept = here & enough
        return Filtered(kept, {text: mask for text, mask in rows if mask.any()}, ~kept)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Prefer the nodes where earlier alternatives were found."""
        plan = self._plan(pod)
        found = {} if plan is None else plan.found
        scores = [sum(each.score for each in found.get(name, ())) for name in nodes.names]
        return np.array(scores, dtype=np.int64)

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Scale the best to the highest score."""
        best = int(scores[feasible].max(initial=0))
        return scores if not best else scores * MAX_SCORE // best

    def post_filter(
        self, pod: PodInfo, nodes: NodeTable, refused: Mapping[str, Filtered], trial: Trial
    ) -> Callable[[], Nomination] | Nomination:
        """Give an allocation back that nobody uses and that keeps the pod from every node."""
        plan = self._plan(pod)
        if plan is None or not plan.elsewhere:
            return Nomination(None, "no new claims to deallocate" if plan is None else "still not schedulable")
        claim = plan.elsewhere[0]
        return lambda: self._deallocate(claim)

    def reserve(self, pod: PodInfo, node: NodeName) -> str:
        """Hold the devices that were found for the node."""
        plan = self._plan(pod)
        if plan is None or self._claims is None or not plan.pending:
            return ""
        found = plan.found.get(node)
        if found is None:
            return "claim allocation not found for node"
        from hyperkube_scheduler.dynamic_resources.allocator import result

        for claim, allocation in zip(plan.pending, found, strict=True):
            self._claims.assume(claim, result(claim, allocation, node))
        return ""

    def unreserve(self, pod: PodInfo, node: NodeName) -> None:
        """Let them go, and the claims that name the pod as a user already."""
        plan = self._plan(pod)
        if plan is None or self._claims is None:
            return
        for claim in plan.pending:
            if self._claims.assumes(claim):
                self._claims.forget(claim)
        for claim in plan.claims:
            current = self._claims.claim(namespace_of(claim), name_of(claim))
            if current is not None and reserved_for(current, pod.pod):
                self._write(claim, lambda status: _without_user(status, pod.pod))

    def may_wait(self, pod: PodInfo) -> bool:
        """Tell that claims have to be written first."""
        return bool(_has_claims(pod.pod))

    def pre_bind(self, pod: PodInfo, node: NodeName) -> str:
        """Write the allocations, and that the pod uses the claims."""
        plan = self._plan(pod)
        if plan is None:
            return ""
        from hyperkube_scheduler.dynamic_resources.allocator import result

        for claim in plan.claims:
            index = next((number for number, each in enumerate(plan.pending) if each is claim), None)
            allocation = None if index is None else result(claim, plan.found[node][index], node)
            why = self._write(claim, lambda status, fresh=allocation: self._with_user(status, pod.pod, fresh))  # type: ignore[misc]  # the default binds the loop's value
            if why:
                return why
        return ""

    def _plan(self, pod: PodInfo) -> _Plan | None:
        plan: _Plan | None = pod.state.get("DynamicResources")
        return plan

    def _new_plan(self, pod: PodInfo, known: DeviceClaims) -> _Plan:
        plan = _Plan(known.of(pod.pod))
        for claim in plan.claims:
            if (claim.get("status") or {}).get("allocation"):
                if not may_share(claim) and not reserved_for(claim, pod.pod):
                    raise NoClaim(IN_USE)
            elif known.assumes(claim):
                raise NoClaim(f"resource claim {key_of(claim)} is in the process of being allocated")
            else:
                plan.pending.append(claim)
        pod.state["DynamicResources"] = plan
        return plan

    def _reached(self, plan: _Plan, nodes: NodeTable) -> Mask:
        """Return which nodes can use what is allocated; remember the claims that exclude some."""
        here = np.ones(len(nodes), dtype=bool)
        for claim in plan.claims:
            status = claim.get("status") or {}
            selector = (status.get("allocation") or {}).get("nodeSelector")
            if selector:
                mask = any_term(selector.get("nodeSelectorTerms") or (), nodes)
                here &= mask
                if not mask.all() and not status.get("reservedFor"):
                    plan.elsewhere.append(claim)
        return here

    def _allocate(self, plan: _Plan, known: DeviceClaims, nodes: NodeTable, here: Mask) -> Mask:
        """Return which nodes have devices for the pending claims; remember which devices."""
        if not plan.pending:
            return np.ones(len(nodes), dtype=bool)
        from hyperkube_scheduler.dynamic_resources.allocator import Allocator  # the engine, for those who need it

        pools = gather(known.slices(), nodes)
        allocator = Allocator(known.device_class, pools, known.taken())
        requests = allocator.check(plan.pending)
        reached = np.zeros(len(nodes), dtype=bool)
        for pool in pools:
            for mask in pool.masks:
                reached |= mask
        enough = np.zeros(len(nodes), dtype=bool)
        for column in (reached & here).nonzero()[0].tolist():
            found = allocator.allocate(column, plan.pending, requests)
            if found is not None:
                plan.found[nodes.names[column]] = found
                enough[column] = True
        return enough

    def _deallocate(self, claim: Object) -> Nomination:
        why = self._write(claim, _deallocated)
        return Nomination(None, why or "deallocation of ResourceClaim completed")

    def _with_user(self, status: Object, pod: Object, allocation: Object | None) -> str:
        if allocation is not None:
            if status.get("allocation"):
                return "claim got allocated in the meantime"
            status["allocation"] = {**allocation, "allocationTimestamp": format_time(self.context.clock.now())}
        elif not status.get("allocation"):
            return "claim got deallocated in the meantime"
        users = [user for user in status.get("reservedFor") or () if user.get("uid") != uid_of(pod)]
        if len(users) >= MOST_USERS:
            return IN_USE
        status["reservedFor"] = [*users, {"resource": "pods", "name": name_of(pod), "uid": uid_of(pod)}]
        return ""

    def _write(self, claim: Object, change: Callable[[Object], str]) -> str:
        """Change a claim's status as it is now; return why that cannot be, or the empty string."""
        for _ in range(TRIES):
            try:
                current = copy_object(self.client.get(RESOURCE_CLAIMS, name_of(claim), namespace_of(claim)))
                if uid_of(current) != uid_of(claim):
                    return f'resourceclaim "{name_of(claim)}" is another one by now'
                status = current.setdefault("status", {})
                why = change(status)
                if why:
                    return why
                finalizers = current["metadata"].get("finalizers") or []
                if status.get("allocation") and FINALIZER not in finalizers:
                    current["metadata"]["finalizers"] = [*finalizers, FINALIZER]
                    stored = self.client.update(RESOURCE_CLAIMS, current)
                    current["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]
                self.client.update(RESOURCE_CLAIMS, current, subresource="status")
            except Conflict:
                continue
            except NotFound:
                return f'resourceclaim "{name_of(claim)}" was deleted'
            except (ApiError, OSError) as error:
                return f"writing resourceclaim {key_of(claim)}: {error}"
            return ""
        return f"writing resourceclaim {key_of(claim)}: it changes all the time"


def _has_claims(pod: Object) -> Sequence[Object]:
    claims: Sequence[Object] = pod.get("spec", {}).get("resourceClaims") or ()
    return claims


def _without_user(status: Object, pod: Object) -> str:
    status["reservedFor"] = [user for user in status.get("reservedFor") or () if user.get("uid") != uid_of(pod)]
    return ""


def _deallocated(status: Object) -> str:
    if status.get("reservedFor"):
        return "still not schedulable"
    status.pop("allocation", None)
    return ""
