"""The loop: every fifteen seconds read the target's scale and the metrics of its pods, then act.

Metrics come from the API group metrics.k8s.io, which a metrics server offers; without one the autoscaler says so in its
conditions and changes nothing. Metrics of the kinds Pods, Object and External are not read.
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperkube_controller.horizontalpodautoscaling.decision import Decision, decide, say
from hyperkube_controller.horizontalpodautoscaling.limits import LONGEST, History
from hyperkube_controller.horizontalpodautoscaling.usage import NoMetric, Proposal, Sample, propose, uses_of

from hyperkube.client.discovery import discover
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import DEPLOYMENTS, PODS, REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.labels import Selector, parse_selector
from hyperkube.machinery.objects import Object, labels_of, namespace_of, split_key
from hyperkube.machinery.times import format_time
from hyperkube.plugin import Plugin

AUTOSCALERS = GroupVersionResource("autoscaling", "v2", "horizontalpodautoscalers")
POD_METRICS = GroupVersionResource("metrics.k8s.io", "v1beta1", "pods")
PERIOD = 15.0
_KNOWN = {
    ("apps", "Deployment"): DEPLOYMENTS,
    ("apps", "ReplicaSet"): REPLICA_SETS,
    ("apps", "StatefulSet"): STATEFUL_SETS,
    ("", "ReplicationController"): REPLICATION_CONTROLLERS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How many seconds pass between two looks at a target."""

    horizontal_pod_autoscaler_sync_period: float = PERIOD


class Horizontalpodautoscaling(Plugin):
    """Scales targets by their pods' use of resources."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._period = self.settings(Settings).horizontal_pod_autoscaler_sync_period
        self._recorder = EventRecorder(self.client, self.context.clock, "horizontal-pod-autoscaler")
        self._histories: dict[str, History] = {}
        self._resources: dict[tuple[str, str], GroupVersionResource] = dict(_KNOWN)
        self._autoscalers = self.informers.informer(AUTOSCALERS)
        self._pods = self.informers.informer(PODS)
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)

        def changed(old: Object, new: Object) -> None:
            if old.get("spec") != new.get("spec"):
                loop.enqueue(new)

        self._autoscalers.add_handler(loop.enqueue, changed, loop.enqueue)
        return loop

    def _sync(self, key: str) -> float | None:
        autoscaler = self._autoscalers.get(*split_key(key))
        if autoscaler is None:
            self._histories.pop(key, None)
            return None
        try:
            resource = self._target(autoscaler)
            name = autoscaler["spec"]["scaleTargetRef"]["name"]
            scale = self.client.get(resource, name, namespace_of(autoscaler), subresource="scale")
        except ApiError as error:
            self._no_scale(autoscaler, error)
            return self._period
        history = self._histories.setdefault(key, History())
        seconds = self.context.clock.monotonic()
        history.forget_before(seconds - LONGEST)
        current = int((scale.get("spec") or {}).get("replicas", 0))
        metrics = autoscaler["spec"].get("metrics") or []
        found = [self._proposal(autoscaler, scale, metric, current) for metric in metrics] if current else []
        decision = decide(autoscaler, current, found, history, self.context.clock.now(), seconds)
        for event in decision.events:
            self._recorder.event(autoscaler, *event)
        try:
            self._rescale(autoscaler, resource, scale, decision, history)
        finally:
            self._write(autoscaler, decision.status)
        return self._period

    def _target(self, autoscaler: Object) -> GroupVersionResource:
        """Return the resource of the target.

        Raises:
            NotFound: the API does not serve its kind.
        """
        reference = autoscaler["spec"]["scaleTargetRef"]
        group = reference.get("apiVersion", "v1").rpartition("/")[0]
        wanted = (group, reference["kind"])
        if wanted not in self._resources:
            for row in discover(self.client).resources:
                self._resources.setdefault((row.gvr.group, row.kind), row.gvr)
        if wanted not in self._resources:
            raise NotFound(f'no matches for kind "{reference["kind"]}" in group "{group}"')
        return self._resources[wanted]

    def _no_scale(self, autoscaler: Object, error: ApiError) -> None:
        status = dict(autoscaler.get("status") or {})
        text = f"the HPA controller was unable to get the target's current scale: {error}"
        say(status, self.context.clock.now(), "AbleToScale", "False", "FailedGetScale", text)
        status.setdefault("desiredReplicas", 0)
        self._recorder.event(autoscaler, "Warning", "FailedGetScale", str(error))
        self._write(autoscaler, status)

    def _proposal(self, autoscaler: Object, scale: Object, metric: Object, current: int) -> Proposal | NoMetric:
        kind = metric["type"]
        source = metric.get({"Resource": "resource", "ContainerResource": "containerResource"}.get(kind, ""))
        if source is None:
            return NoMetric(f"FailedGet{kind}Metric", f"metrics of type {kind!r} are not read by this controller")
        selector = (scale.get("status") or {}).get("selector", "")
        if not selector:
            return NoMetric("InvalidSelector", "the HPA target's scale is missing a selector")
        try:
            sample = self._sample(namespace_of(autoscaler), parse_selector(selector), source)
            return propose(source, sample, current, kind)
        except NoMetric as error:
            text = f"failed to get {source['name']} resource metric value: {error}"
            return NoMetric(error.reason, text)

    def _sample(self, namespace: str, selector: Selector, source: Object) -> Sample:
        pods = tuple(pod for pod in self._pods.list(namespace) if selector.matches(labels_of(pod)))
        try:
            rows = self.client.list(POD_METRICS, namespace, label_selector=str(selector)).items
        except ApiError as error:
            text = f"unable to get metrics for resource {source['name']}: unable to fetch metrics from"
            raise NoMetric("FailedGetResourceMetric", f"{text} resource metrics API: {error}") from error
        if not rows:
            text = f"unable to get metrics for resource {source['name']}: no metrics returned from resource metrics API"
            raise NoMetric("FailedGetResourceMetric", text)
        return Sample(pods, uses_of(rows, source["name"], source.get("container", "")))

    def _rescale(
        self, autoscaler: Object, resource: GroupVersionResource, scale: Object, decision: Decision, history: History
    ) -> None:
        """Change the target, and note in status and history that it was changed.

        Raises:
            ApiError: the change was refused.
        """
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
            say(decision.status, now, "AbleToScale", "False", "FailedUpdateScale", refused)
            decision.status["desiredReplicas"] = before
            raise
        history.changed.append((self.context.clock.monotonic(), decision.replicas - before))
        self._recorder.event(autoscaler, "Normal", "SuccessfulRescale", text)
        done = f"the HPA controller was able to update the target scale to {decision.replicas}"
        say(decision.status, now, "AbleToScale", "True", "SucceededRescale", done)
        decision.status["lastScaleTime"] = format_time(now)

    def _write(self, autoscaler: Object, status: Object) -> None:
        if status != (autoscaler.get("status") or {}):
            changed = {**autoscaler, "status": status}
            self.client.update(AUTOSCALERS, changed, namespace_of(autoscaler), subresource="status")
