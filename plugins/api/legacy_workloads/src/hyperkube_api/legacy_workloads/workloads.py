"""Older versions of workloads: other defaults, and members for what is kept in annotations today.

Source: kubernetes v1.15 pkg/apis/{apps,extensions}/v1beta{1,2}/{conversion,defaults}.go.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_api.apps.daemon_sets.strategy import TEMPLATE_GENERATION
from hyperkube_api.core.scale import scale
from hyperkube_api.meta.defaults import set_defaults
from hyperkube_api.meta.older_versions import Differences
from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs.api import Call, Subresource
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object, labels_of

NO_LIMIT = 2**31 - 1
"""A limit or deadline that stands for none."""
ROLLBACK = "deprecated.deployment.rollback.to"
"""The annotation for the revision to roll back to."""


def _annotated(obj: Object, name: str, value: str | None) -> Object:
    """Return metadata with an annotation, or without it."""
    meta: Object = dict(obj.get("metadata") or {})
    annotations = {key: text for key, text in (meta.get("annotations") or {}).items() if key != name}
    if value is not None:
        annotations[name] = value
    meta.pop("annotations", None)
    return {**meta, "annotations": annotations} if annotations else meta


def _annotation(obj: Object, name: str) -> str:
    return str(((obj.get("metadata") or {}).get("annotations") or {}).get(name) or "")


def newer_deployment(deployment: Object) -> Object:
    """Return a deployment whose ``spec.rollbackTo`` is an annotation."""
    spec = dict(deployment.get("spec") or {})
    rollback = spec.pop("rollbackTo", None)
    if rollback is None:
        return {**deployment, "spec": spec}
    revision = str(rollback.get("revision") or 0)
    return {**deployment, "metadata": _annotated(deployment, ROLLBACK, revision), "spec": spec}


def older_deployment(deployment: Object) -> Object:
    """Return a deployment whose ``spec.rollbackTo`` is a member."""
    text = _annotation(deployment, ROLLBACK)
    revision = parse_int(text)
    if revision is None:
        return deployment
    spec = {**(deployment.get("spec") or {}), "rollbackTo": {"revision": revision} if revision else {}}
    return {**deployment, "metadata": _annotated(deployment, ROLLBACK, None), "spec": spec}


def newer_daemon_set(daemon_set: Object) -> Object:
    """Return a daemon set whose template's generation is an annotation."""
    spec = dict(daemon_set.get("spec") or {})
    generation = spec.pop("templateGeneration", None) or 0
    return {**daemon_set, "metadata": _annotated(daemon_set, TEMPLATE_GENERATION, str(generation)), "spec": spec}


def older_daemon_set(daemon_set: Object) -> Object:
    """Return a daemon set whose template's generation is a member."""
    text = _annotation(daemon_set, TEMPLATE_GENERATION)
    generation = parse_int(text)
    if generation is None:
        return daemon_set
    spec = dict(daemon_set.get("spec") or {})
    if generation:
        spec["templateGeneration"] = generation
    return {**daemon_set, "metadata": _annotated(daemon_set, TEMPLATE_GENERATION, None), "spec": spec}


def default_labels(workload: Object) -> None:
    """Fill in the selector and the labels of the workload from the labels of the template."""
    spec: Object = workload["spec"]
    labels = labels_of(spec.get("template") or {})
    if not labels:
        return
    if spec.get("selector") is None:
        spec["selector"] = {"matchLabels": dict(labels)}
    meta = workload.setdefault("metadata", {})
    if not meta.get("labels"):
        meta["labels"] = dict(labels)


def _default_update_strategy(workload: Object, member: str, kind: str, **rolling: object) -> None:
    """Fill in the update strategy: its type, and the parameters of rolling updates."""
    strategy: Object = workload["spec"].get(member) or {}
    workload["spec"][member] = strategy
    if not strategy.get("type"):
        strategy["type"] = kind
    if strategy["type"] == "RollingUpdate" and rolling:
        pace: Object = strategy.get("rollingUpdate") or {}
        set_defaults(pace, **rolling)
        strategy["rollingUpdate"] = pace


def default_extensions_deployment(deployment: Object) -> None:
    """Fill in labels, an update of one pod at a time, no limit of old replica sets, and no deadline."""
    default_labels(deployment)
    _default_update_strategy(deployment, "strategy", "RollingUpdate", maxUnavailable=1, maxSurge=1)
    set_defaults(deployment["spec"], revisionHistoryLimit=NO_LIMIT, progressDeadlineSeconds=NO_LIMIT)


def default_extensions_daemon_set(daemon_set: Object) -> None:
    """Fill in the labels and the update strategy ``OnDelete``."""
    default_labels(daemon_set)
    _default_update_strategy(daemon_set, "updateStrategy", "OnDelete")


def default_v1beta1_deployment(deployment: Object) -> None:
    """Fill in labels, and a limit of two old replica sets."""
    default_labels(deployment)
    set_defaults(deployment["spec"], revisionHistoryLimit=2)


def default_v1beta1_stateful_set(stateful_set: Object) -> None:
    """Fill in the labels and the update strategy ``OnDelete``."""
    default_labels(stateful_set)
    _default_update_strategy(stateful_set, "updateStrategy", "OnDelete")


EXTENSIONS_DEPLOYMENT = Differences(
    newer=newer_deployment, older=older_deployment, default=default_extensions_deployment
)
EXTENSIONS_DAEMON_SET = Differences(
    newer=newer_daemon_set, older=older_daemon_set, default=default_extensions_daemon_set
)
EXTENSIONS_REPLICA_SET = Differences(default=default_labels)
V1BETA1_DEPLOYMENT = Differences(newer=newer_deployment, older=older_deployment, default=default_v1beta1_deployment)
V1BETA1_STATEFUL_SET = Differences(default=default_v1beta1_stateful_set)


def own_scale(version: Version, resource: str) -> Subresource:
    """Declare ``/scale`` with the Scale that the version has itself."""
    common = scale(version, resource)
    handle: Callable[[Call], Object] | None = common.handler

    def serve(call: Call) -> Object:
        if handle is None:
            raise RuntimeError("the common scale has no handler")
        return _older_scale(handle(call), version)

    return Subresource(
        name="scale", kind=version.kind("Scale"), verbs=common.verbs, schema=version.schema("Scale"), handler=serve
    )


def _older_scale(shown: Object, version: Version) -> Object:
    """Return a Scale with the selector as a map, as far as it has only equalities, and as text."""
    status = dict(shown["status"])
    text = str(status.pop("selector", ""))
    if text:
        parts = [part.partition("=") for part in text.split(",")]
        if all(separator and key.strip("!( ") == key for key, separator, _ in parts):
            status["selector"] = {key: value for key, _, value in parts}
        status["targetSelector"] = text
    return {**shown, "apiVersion": f"{version.group}/{version.version}", "status": status}
