"""The plugin: filters by claims, holds what was found for the chosen node, and writes it before the pod is bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_scheduler.dynamic_resources.answers import Answers
from hyperkube_scheduler.dynamic_resources.claims import CHANGES, DeviceClaims, may_share, reserved_for, version_of
from hyperkube_scheduler.dynamic_resources.extended import backable, claim_for
from hyperkube_scheduler.dynamic_resources.features import Features, Limits
from hyperkube_scheduler.dynamic_resources.reasons import IN_USE, CannotAllocate, NoClaim, NotWritten

from hyperkube.client.events import EventRecorder
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import (
    MAX_SCORE,
    DryRun,
    Filtered,
    FilterPlugin,
    NodeTable,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFiltered,
    ReservePlugin,
    ScorePlugin,
)
from hyperkube.machinery.objects import NodeName, Object, key_of, name_of, namespace_of, uid_of

if TYPE_CHECKING:
    from hyperkube_scheduler.dynamic_resources.allocator import Allocator
    from hyperkube_scheduler.dynamic_resources.plan import Plan, Surveyor
    from hyperkube_scheduler.dynamic_resources.selectors import Selectors
    from hyperkube_scheduler.dynamic_resources.writes import ClaimWriter

    from hyperkube.hookspecs.scheduling import IntScores, Mask

_STATE = "DynamicResources"


class DynamicResources(PreEnqueuePlugin, FilterPlugin, PostFilterPlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """Allocates the devices of resource.k8s.io/v1 claims, and of extended resources that stand for device classes.

    Settings: ``filterTimeout`` (10s), for one pod's search over all nodes; ``bindingTimeout`` (600s), for devices to
    get ready. Source: kubernetes ``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``.
    """

    events_to_register = CHANGES | {"node"}
    skips_by_template = True
    _claims: DeviceClaims | None = None
    _selectors: Selectors | None = None

    def __init__(self, context: PluginContext) -> None:
        """Read gates and settings.

        Raises:
            UsageError: a setting that is not known or not valid.
        """
        super().__init__(context)
        self._features = Features.of(context.gates if context is not None else {})
        self._answers = Answers()
        self._limits = Limits.of(context.settings if context is not None else {}, self._features)

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look claims, classes and slices up in the shared caches."""
        if self.context.informers is not None:
            features = self._features
            self._claims = DeviceClaims(
                self.context.informers, wake, partitions=features.partitions, rules=features.rules
            )

    def pre_enqueue(self, pod: Object) -> str:
        """Return which claim the pod waits for."""
        if not pod.get("spec", {}).get("resourceClaims") or self._claims is None:
            return ""
        self._claims.expect(pod)
        try:
            self._claims.of(pod)
        except NoClaim as why:
            return str(why)
        return ""

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has no claim, and asks for nothing that a device class could stand for."""
        return not pod.pod.get("spec", {}).get("resourceClaims") and not self._backable(pod.pod)

    def skips_filter(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that the pod has no claim, and that no class stands for anything it asks for."""
        if pod.pod.get("spec", {}).get("resourceClaims"):
            return False
        return self._claims is None or not any(
            self._claims.classes.standing_for(resource) for resource in self._backable(pod.pod)
        )

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that no claim lists alternatives."""
        plan = _plan_of(pod)
        return plan is None or not any(
            request.get("firstAvailable")
            for claim in plan.pending
            for request in claim["spec"].get("devices", {}).get("requests") or ()
        )

    def pre_filter(self, pod: PodInfo) -> PreFiltered | None:
        """Look the pod's claims up; tell what is missing."""
        if self._claims is None or self.skips(pod):
            return None
        try:
            self._planned(pod, self._claims)
        except (NoClaim, CannotAllocate) as why:
            return PreFiltered(str(why))
        return None

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes that reach the devices allocated already, and have those still wanted."""
        known = self._claims
        everywhere = np.ones(len(nodes), dtype=bool)
        if known is None:
            return Filtered(everywhere)
        try:
            plan = self._planned(pod, known)
            if plan is None:
                return Filtered(everywhere)
            stamp = (known.usage.version, known.slices.version, known.classes.version, nodes.node_generation)
            if plan.answer is None or plan.answer[0] != (stamp, len(nodes)):
                plan.answer = ((stamp, len(nodes)), self._surveyor(known).ask(plan, nodes))
            return plan.answer[1]
        except (NoClaim, CannotAllocate) as why:
            return Filtered(~everywhere, {str(why): everywhere}, everywhere)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Prefer the nodes where earlier alternatives were found."""
        plan = _plan_of(pod)
        if plan is None:
            return np.zeros(len(nodes), dtype=np.int64)
        found = map(plan.found.get, nodes.names)
        scores = [sum(one.score for one in each.allocations) if each is not None else 0 for each in found]
        return np.array(scores, dtype=np.int64)

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Scale the best to the highest score."""
        best = int(scores[feasible].max(initial=0))
        return scores if not best else scores * MAX_SCORE // best

    def post_filter(
        self, pod: PodInfo, nodes: NodeTable, refused: Mapping[str, Filtered], dry_run: DryRun
    ) -> Callable[[], PostFilterResult] | PostFilterResult:
        """Give an allocation back that no other pod uses and that keeps the pod from every node."""
        plan = _plan_of(pod)
        if plan is None:
            return PostFilterResult(None, "no new claims to deallocate")
        for claim in plan.elsewhere:
            users = (claim.get("status") or {}).get("reservedFor") or ()
            if all(user.get("uid") == uid_of(pod.pod) for user in users):
                return lambda: self._given_back(self._writer.deallocate, claim, "deallocation")
        leftover = plan.leftover
        if leftover is not None:
            return lambda: self._given_back(self._writer.delete, leftover, "deletion")
        return PostFilterResult(None, "still not schedulable")

    def reserve(self, pod: PodInfo, node: NodeName) -> str:
        """Hold the devices that were found for the node."""
        plan = _plan_of(pod)
        if plan is None or self._claims is None:
            return ""
        self._claims.placed(pod.pod)
        found = plan.found.get(node)
        if found is None:
            return "claim allocation not found for node" if plan.pending else ""
        from hyperkube_scheduler.dynamic_resources.results import result  # the engine, for those who need it

        try:
            claims = [*plan.pending, *([] if found.special is None else [found.special])]
            rows = zip(claims, found.allocations, strict=True)
            plan.results = [(claim, result(claim, each, node)) for claim, each in rows]
        except CannotAllocate as why:
            return str(why)
        for claim, allocation in plan.results:
            self._claims.assume(claim, allocation)
        return ""

    def unreserve(self, pod: PodInfo, node: NodeName) -> None:
        """Let them go, and the claims that name the pod as a user already."""
        plan = _plan_of(pod)
        if plan is None or self._claims is None:
            return
        self._claims.expect(pod.pod)
        for claim, _ in plan.results:
            self._claims.forget(claim)
        for claim in plan.claims:
            seen = self._claims.claim(namespace_of(claim), name_of(claim))
            for known in (claim, seen):  # what this attempt wrote may not be seen yet
                if known is not None and reserved_for(known, pod.pod):
                    self._undo(self._writer.release, known, pod.pod)
                    break
        if plan.created is not None:
            self._undo(self._writer.delete, plan.created)

    def may_wait(self, pod: PodInfo) -> bool:
        """Tell that claims have to be written first."""
        plan = _plan_of(pod)
        return plan is not None and bool(plan.claims or plan.results)

    def pre_bind(self, pod: PodInfo, node: NodeName) -> str:
        """Write the allocations, and that the pod uses the claims; then wait until the devices are ready."""
        plan = _plan_of(pod)
        if plan is None or self._claims is None:
            return ""
        from hyperkube_scheduler.dynamic_resources.binding import has_conditions

        try:
            written = self._write(pod.pod, node, plan, self._claims)
        except NotWritten as why:
            return str(why)
        if not self._features.binding or not any(has_conditions(claim) for claim in written):
            return ""
        text = f"waiting for binding conditions for device on node {node}"
        EventRecorder(self.client, self.context.clock, "default-scheduler").event(
            {"kind": "Pod", "apiVersion": "v1", **pod.pod}, "Normal", "BindingConditionsPending", text
        )
        return self._wait(written, self._claims)

    def _write(self, pod: Object, node: NodeName, plan: Plan, known: DeviceClaims) -> list[Object]:
        """Write everything; return the claims as stored."""
        written = []
        allocations = {uid_of(claim): allocation for claim, allocation in plan.results}
        for index, claim in enumerate(plan.claims):
            if reserved_for(claim, pod):
                written.append(claim)
                continue
            stored = self._writer.reserve(claim, pod, allocations.get(uid_of(claim)))
            plan.claims[index] = stored
            known.written(stored)
            plan.results = [row for row in plan.results if uid_of(row[0]) != uid_of(stored)]
            written.append(stored)
        found = plan.found.get(node)
        if found is None or found.special is None:
            return written
        wanted, allocation = plan.results[-1]
        plan.created = stored = self._writer.create(found.special)
        known.assume(stored, allocation)
        known.forget(wanted, quietly=True)
        plan.results[-1] = (stored, allocation)
        stored = self._writer.reserve(stored, pod, allocation)
        plan.created = stored
        known.written(stored)
        plan.results.clear()
        self._writer.tell_pod(pod, stored, found.mappings)
        return [*written, stored]

    def _wait(self, claims: list[Object], known: DeviceClaims) -> str:
        """Wait until all devices are ready; return why they will not be, or the empty string."""
        from hyperkube_scheduler.dynamic_resources.binding import LOOK_SECONDS, failure_of, is_late, is_ready

        clock = self.context.clock
        deadline = clock.monotonic() + self._limits.binding
        with known.news() as news:
            while True:
                news.clear()
                waiting = False
                for claim in claims:
                    current = known.claim(namespace_of(claim), name_of(claim))
                    if current is None or version_of(current) < version_of(claim):
                        waiting = True  # what was just written is not seen yet
                        continue
                    if not (current.get("status") or {}).get("allocation"):
                        return f"claim {key_of(claim)} got deallocated in the meantime"
                    failed = failure_of(current)
                    if failed:
                        return failed
                    if not is_ready(current):
                        if is_late(current, clock.now(), self._limits.binding):
                            return f"claim {name_of(claim)} binding timeout"
                        waiting = True
                if not waiting:
                    return ""
                left = deadline - clock.monotonic()
                if left <= 0:
                    return "device binding timeout"
                clock.wait(news, min(left, LOOK_SECONDS))

    def _planned(self, pod: PodInfo, known: DeviceClaims) -> Plan | None:
        """Return the plan of this cycle, made anew if claims or classes changed; None for a pod that needs none.

        Raises:
            NoClaim: a claim or class is not there, or not to be had.
            CannotAllocate: a claim cannot be understood.
        """
        known.expect(pod.pod)
        claims = known.of(pod.pod)
        classes = {name: known.classes.standing_for(name) for name in self._backable(pod.pod)}
        backed = {name: name_of(each) for name, each in classes.items() if each is not None}
        if not claims and not backed:
            pod.state.pop(_STATE, None)
            return None
        from hyperkube_scheduler.dynamic_resources.plan import Plan, same_claims  # for pods with claims
        from hyperkube_scheduler.dynamic_resources.requests import check_classes

        leftover = known.special_of(pod.pod) if backed else None
        plan = _plan_of(pod)
        if plan is not None and same_claims(plan, claims, backed, leftover):
            return plan
        pod.state.pop(_STATE, None)
        for claim in claims:
            if (claim.get("status") or {}).get("allocation"):
                if not may_share(claim) and not reserved_for(claim, pod.pod):
                    raise NoClaim(IN_USE)
            elif known.assumes(claim):
                raise NoClaim(f"resource claim {key_of(claim)} is in the process of being allocated")
            else:
                check_classes(claim, known.classes.get)
        unbacked = [name for name in classes if name not in backed]
        special = claim_for(pod.pod) if backed else None
        plan = Plan(pod.pod, claims, special, leftover, backed=backed, unbacked=unbacked)
        pod.state[_STATE] = plan
        return plan

    def _surveyor(self, known: DeviceClaims) -> Surveyor:
        from hyperkube_scheduler.dynamic_resources.plan import Surveyor
        from hyperkube_scheduler.dynamic_resources.requests import requests_of

        return Surveyor(
            lambda nodes: self._allocator(nodes, known),
            lambda claim: requests_of(claim, known.classes.get, self._features),
            self._answers,
            known.classes.version,
            self._limits.binding if self._features.binding else None,
            self.context.clock.now(),
        )

    def _allocator(self, nodes: NodeTable, known: DeviceClaims) -> Allocator:
        from hyperkube_scheduler.dynamic_resources.allocator import Allocator  # the engine, for those who need it
        from hyperkube_scheduler.dynamic_resources.selectors import Selectors

        known.know_devices()
        if self._selectors is None:
            self._selectors = Selectors()
        monotonic, seconds = self.context.clock.monotonic, self._limits.searching
        deadline = monotonic() + seconds
        late = (lambda: monotonic() > deadline) if seconds else (lambda: False)
        return Allocator(known.slices.reach(nodes), known.usage, self._selectors, self._features, late)

    def _backable(self, pod: Object) -> list[str]:
        return backable(pod) if self._features.extended else []

    @property
    def _writer(self) -> ClaimWriter:
        from hyperkube_scheduler.dynamic_resources.writes import ClaimWriter

        return ClaimWriter(self.client, self.context.clock)

    def _given_back(self, write: Callable[[Object], None], claim: Object, what: str) -> PostFilterResult:
        try:
            write(claim)
        except NotWritten as why:
            return PostFilterResult(None, str(why))
        return PostFilterResult(None, f"{what} of ResourceClaim completed")

    def _undo(self, write: Callable[..., None], *objects: Object) -> None:
        try:
            write(*objects)
        except NotWritten as why:
            self.context.logger.warning("unreserve: %s", why)  # the next attempt at the pod comes by here again


def _plan_of(pod: PodInfo) -> Plan | None:
    plan: Plan | None = pod.state.get(_STATE)
    return plan
