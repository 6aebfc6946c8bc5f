"""The loop: every fifteen seconds read the target's scale and the metrics, then act.

Metrics come from the API groups metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io, which extension
servers offer; without one the autoscaler says so in its conditions and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hyperkube_controller.horizontalpodautoscaling.metrics import AutoscalerMetrics, Outcome
from hyperkube_controller.horizontalpodautoscaling.metrics_client import POD_METRICS, MetricsClient
from hyperkube_controller.horizontalpodautoscaling.targets import Selectors

from hyperkube.client.discovery import discover
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import DEPLOYMENTS, PODS, REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS
from hyperkube.machinery import quantity
from hyperkube.machinery.errors import ApiError, NotFound, UsageError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, key_of, labels_of, namespace_of, split_key
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import format_time
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from hyperkube_controller.horizontalpodautoscaling.decision import Decision
    from hyperkube_controller.horizontalpodautoscaling.metric_sources import (
        BadSelector,
        Failure,
        MetricSources,
        Proposal,
    )
    from hyperkube_controller.horizontalpodautoscaling.normalize import History
    from hyperkube_controller.horizontalpodautoscaling.replica_calculator import Tolerances

AUTOSCALERS = GroupVersionResource("autoscaling", "v2", "horizontalpodautoscalers")
CONFIGURABLE_TOLERANCE = "HPAConfigurableTolerance"
_KNOWN = {
    ("apps", "Deployment"): DEPLOYMENTS,
    ("apps", "ReplicaSet"): REPLICA_SETS,
    ("apps", "StatefulSet"): STATEFUL_SETS,
    ("", "ReplicationController"): REPLICATION_CONTROLLERS,
    ("", "Pod"): PODS,
}


class Settings(Record):
    """How often, how many at once, and how patiently targets are scaled; durations in seconds."""

    horizontal_pod_autoscaler_sync_period: float = 15.0
    concurrent_horizontal_pod_autoscaler_syncs: int = 5
    horizontal_pod_autoscaler_downscale_stabilization: float = 300.0
    horizontal_pod_autoscaler_tolerance: float = 0.1
    horizontal_pod_autoscaler_cpu_initialization_period: float = 300.0
    horizontal_pod_autoscaler_initial_readiness_delay: float = 30.0


class Horizontalpodautoscaling(Plugin):
    """Scales targets by what they use and what is asked of them."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            UsageError: no autoscaler could be synced.
        """
        self._settings = self.settings(Settings)
        syncs = self._settings.concurrent_horizontal_pod_autoscaler_syncs
        if syncs < 1:
            raise UsageError(f"concurrent-horizontal-pod-autoscaler-syncs must be greater than 0, but got {syncs}")
        self._period = self._settings.horizontal_pod_autoscaler_sync_period
        self._recorder = EventRecorder(self.client, self.context.clock, "horizontal-pod-autoscaler")
        self._measures = AutoscalerMetrics(self.context.clock)
        self._measures.register(self.context)
        self._histories: dict[str, History] = {}
        self._selectors = Selectors()
        self._resources: dict[tuple[str, str], GroupVersionResource] = dict(_KNOWN)
        self._metrics = MetricsClient(self.client, self._resource)
        self._autoscalers = self.informers.informer(AUTOSCALERS)
        self._pods = self.informers.informer(PODS)
        loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=syncs,
        )

        def changed(old: Object, new: Object) -> None:
            if old.get("spec") != new.get("spec"):
                loop.enqueue(new)

        def seen(autoscaler: Object) -> None:
            self._measures.controlled(len(self._autoscalers.list()))
            loop.enqueue(autoscaler)

        self._autoscalers.add_handler(seen, changed, seen)
        return loop

    def _sync(self, key: str) -> float | None:
        autoscaler = self._autoscalers.get(*split_key(key))
        if autoscaler is None:
            self._histories.pop(key, None)
            self._selectors.forget(key)
            self._measures.gone(*split_key(key))
            return None
        with self._measures.reconciliation() as outcome:
            self._reconcile(key, autoscaler, outcome)
        return self._period

    def _reconcile(self, key: str, autoscaler: Object, outcome: Outcome) -> None:
        """Look at the target once.

        Raises:
            ApiError: a change of the target or of the status was refused.
        """
        from hyperkube_controller.horizontalpodautoscaling.decision import Moment, decide
        from hyperkube_controller.horizontalpodautoscaling.normalize import LONGEST, History

        reference = autoscaler["spec"]["scaleTargetRef"]
        try:
            resource = self._resource(reference.get("apiVersion", "v1").rpartition("/")[0], reference["kind"])
            scale = self.client.get(resource, reference["name"], namespace_of(autoscaler), subresource="scale")
        except ApiError as error:
            self._no_scale(autoscaler, error)
            return
        history = self._histories.setdefault(key, History())
        moment = Moment(
            self.context.clock.now(),
            self.context.clock.monotonic(),
            self._settings.horizontal_pod_autoscaler_downscale_stabilization,
        )
        history.forget_before(moment.seconds - LONGEST)
        current = int((scale.get("spec") or {}).get("replicas", 0))
        decision = decide(autoscaler, current, self._proposals(autoscaler, scale, current), history, moment)
        for event in decision.events:
            self._recorder.event(autoscaler, *event)
        outcome.decided(decision.replicas, current, failed=bool(decision.events))
        try:
            self._rescale(autoscaler, resource, scale, decision, history)
            self._measures.desired(autoscaler, int(decision.status.get("desiredReplicas", 0)))
        finally:
            self._write(autoscaler, decision.status)

    def _resource(self, group: str, kind: str) -> GroupVersionResource:
        """Return the resource of a kind.

        Raises:
            NotFound: the API does not serve the kind.
        """
        wanted = (group, kind)
        if wanted not in self._resources:
            for row in discover(self.client).resources:
                self._resources.setdefault((row.gvr.group, row.kind), row.gvr)
        if wanted not in self._resources:
            raise NotFound(f'no matches for kind "{kind}" in group "{group}"')
        return self._resources[wanted]

    def _no_scale(self, autoscaler: Object, error: ApiError) -> None:
        from hyperkube_controller.horizontalpodautoscaling.decision import set_condition

        status = dict(autoscaler.get("status") or {})
        text = f"the HPA controller was unable to get the target's current scale: {error}"
        set_condition(status, self.context.clock.now(), "AbleToScale", "False", "FailedGetScale", text)
        status.setdefault("desiredReplicas", 0)
        self._recorder.event(autoscaler, "Warning", "FailedGetScale", str(error))
        self._write(autoscaler, status)

    def _proposals(self, autoscaler: Object, scale: Object, current: int) -> Sequence[Proposal | Failure] | BadSelector:
        """Return what each metric asks for; nothing where the number of replicas decides alone."""
        from hyperkube_controller.horizontalpodautoscaling.metric_sources import BadSelector, MetricSources, Target
        from hyperkube_controller.horizontalpodautoscaling.replica_calculator import ReplicaCalculator

        spec, namespace = autoscaler["spec"], namespace_of(autoscaler)
        least = spec.get("minReplicas")
        if current > spec["maxReplicas"] or current < (1 if least is None else least):
            return ()
        status = scale.get("status") or {}
        text = status.get("selector", "")
        selector = self._selectors.parsed(key_of(autoscaler), text)
        if isinstance(selector, BadSelector):
            return selector
        pods = [pod for pod in self._pods.list(namespace) if selector.matches(labels_of(pod))]
        ambiguity = self._selectors.ambiguity(key_of(autoscaler), text, pods)
        if ambiguity is not None:
            return ambiguity
        calculator = ReplicaCalculator(
            pods,
            self.context.clock.now(),
            self._tolerances(spec),
            self._settings.horizontal_pod_autoscaler_cpu_initialization_period,
            self._settings.horizontal_pod_autoscaler_initial_readiness_delay,
        )
        target = Target(namespace, selector, current, int(status.get("replicas", 0)))
        sources = MetricSources(self._metrics, calculator, target)
        return [self._computed(sources, metric, current) for metric in spec.get("metrics") or []]

    def _computed(self, sources: MetricSources, metric: Object, current: int) -> Proposal | Failure:
        from hyperkube_controller.horizontalpodautoscaling.metric_sources import Proposal

        with self._measures.computation(metric["type"]) as outcome:
            found = sources.proposal(metric)
            if isinstance(found, Proposal):
                outcome.decided(found.replicas, current)
        return found

    def _tolerances(self, spec: Object) -> Tolerances:
        """Return the tolerances of the autoscaler's behavior, for what it leaves open those of the flag."""
        from hyperkube_controller.horizontalpodautoscaling.replica_calculator import Tolerances

        default = self._settings.horizontal_pod_autoscaler_tolerance
        behavior = spec.get("behavior") or {}
        if not self.context.gates.get(CONFIGURABLE_TOLERANCE, True):
            behavior = {}
        down, up = (
            default if text is None else quantity.parse(text).as_float()
            for text in ((behavior.get(way) or {}).get("tolerance") for way in ("scaleDown", "scaleUp"))
        )
        return Tolerances(down, up)

    def _rescale(
        self, autoscaler: Object, resource: GroupVersionResource, scale: Object, decision: Decision, history: History
    ) -> None:
        """Change the target, and note in status and history that it was changed.

        Raises:
            ApiError: the change was refused.
        """
        from hyperkube_controller.horizontalpodautoscaling.decision import set_condition

        if decision.replicas is None:
            return
        now, text = self.context.clock.now(), f"New size: {decision.replicas}; reason: {decision.reason}"
        before = int((scale.get("spec") or {}).get("replicas", 0))
        wanted = {**scale, "spec": {**(scale.get("spec") or {}), "replicas": decision.replicas}}
        try:
            self.client.update(resource, wanted, namespace_of(autoscaler), subresource="scale")
        except ApiError as error:
            self._recorder.event(autoscaler, "Warning", "FailedRescale", f"{text}; error: {error}")
            refused = f"the HPA controller was unable to update the target scale: {error}"
            set_condition(decision.status, now, "AbleToScale", "False", "FailedUpdateScale", refused)
            decision.status["desiredReplicas"] = (autoscaler.get("status") or {}).get("desiredReplicas", 0)
            raise
        history.changed.append((self.context.clock.monotonic(), decision.replicas - before))
        self._recorder.event(autoscaler, "Normal", "SuccessfulRescale", text)
        done = f"the HPA controller was able to update the target scale to {decision.replicas}"
        set_condition(decision.status, now, "AbleToScale", "True", "SucceededRescale", done)
        decision.status["lastScaleTime"] = format_time(now)

    def _write(self, autoscaler: Object, status: Object) -> None:
        if status != (autoscaler.get("status") or {}):
            changed = {**autoscaler, "status": status}
            try:
                self.client.update(AUTOSCALERS, changed, namespace_of(autoscaler), subresource="status")
            except ApiError as error:
                self._recorder.event(autoscaler, "Warning", "FailedUpdateStatus", str(error))
                raise


__all__ = ["AUTOSCALERS", "POD_METRICS", "Horizontalpodautoscaling", "Settings"]
