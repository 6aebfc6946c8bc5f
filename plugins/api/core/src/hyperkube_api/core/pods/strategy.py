"""How a pod is created, updated, resized and deleted.

The rules of validation and the warnings are imported with their first use: a server starts without them.

Source: kubernetes pkg/registry/core/pod/strategy.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.core.pods.app_armor import app_armor_warning, apply_app_armor_annotations
from hyperkube_api.core.pods.defaults import default_pod
from hyperkube_api.core.pods.match_label_keys import apply_match_label_keys
from hyperkube_api.meta.specs import OnFirstUse
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.kinds.pods import TERMINAL_PHASES
from hyperkube.kinds.qos import computed_qos_class
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import TEMPLATES, Recent
from hyperkube.machinery.times import format_time

_validate_pod: OnFirstUse[list[FieldError]] = OnFirstUse("hyperkube_api.core.pods.validation.pod:validate_pod")
_name_matters: OnFirstUse[bool] = OnFirstUse("hyperkube_api.core.pods.validation.pod:name_matters")
_validate_pod_update: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.core.pods.validation.updates:validate_pod_update"
)
_validate_pod_status_update: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.core.pods.validation.statuses:validate_pod_status_update"
)
_pod_warnings: OnFirstUse[list[str]] = OnFirstUse("hyperkube_api.core.pods.warnings:pod_warnings")
_validate_ephemeral_containers_update: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.core.pods.validation.updates:validate_ephemeral_containers_update"
)
_validate_resize: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.core.pods.validation.resizes:validate_resize"
)

_classes: Recent[str, str] = Recent(TEMPLATES)


class PodStrategy(StatusStrategy):
    """A pod: pending until bound, mostly immutable, graceful when it goes."""

    generation = True
    returns_deleted_object = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {
        "": ("status",),
        "status": ("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
    }
    leaves_what_stays = True

    def default(self, obj: Object) -> None:
        """Fill in what a pod gets; pod addresses are kept in step."""
        default_pod(obj)
        _mirror_addresses(obj.get("status"))

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Start pending, in the class that the resources earn, held where gates say so."""
        status: Object = {"phase": "Pending", "qosClass": _qos_class(obj)}
        if obj["spec"].get("schedulingGates"):
            status["conditions"] = [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "lastProbeTime": None,
                    "lastTransitionTime": format_time(call.clock.now()),
                    "reason": "SchedulingGated",
                    "message": "Scheduling is blocked due to non-empty scheduling gates",
                }
            ]
        obj["status"] = status
        _drop_gated_sources(call, obj, None)
        _no_negative_grace(obj["spec"])
        apply_match_label_keys(obj)
        call.warnings.extend(map(app_armor_warning, apply_app_armor_annotations(obj)))

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """A negative grace period means one second."""
        _drop_gated_sources(call, obj, old)
        _no_negative_grace(obj["spec"])

    def prepare_status_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep owners and the class; a kubelet that does not know the class may leave it out."""
        status = obj.setdefault("status", {})
        old_status = old.get("status") or {}
        if not status.get("qosClass") and old_status.get("qosClass"):
            status["qosClass"] = old_status["qosClass"]
        owners = (old.get("metadata") or {}).get("ownerReferences")
        if owners:
            obj["metadata"]["ownerReferences"] = owners
        else:
            obj["metadata"].pop("ownerReferences", None)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check a new pod."""
        return _validate_pod.call(obj, privileged=_privileged(call))

    def repeats(self, obj: Object) -> bool:
        """Tell whether no time is written, and whether the pod's name does not matter to what is right."""
        return not obj["spec"].get("schedulingGates") and not _name_matters.call(obj["spec"])

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that only what may change did."""
        return _validate_pod_update.call(obj, old, privileged=_privileged(call))

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check a kubelet's report."""
        return _validate_pod_status_update.call(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but unwise."""
        return _pod_warnings.call(obj, old)

    def grace_seconds(self, call: Call, obj: Object, requested: int | None) -> int | None:
        """Return the seconds a pod gets to end: none if it never ran or has ended."""
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        if requested is not None:
            period = requested
        else:
            declared = spec.get("terminationGracePeriodSeconds")
            period = 30 if declared is None else int(declared)
        if not spec.get("nodeName") or status.get("phase") in TERMINAL_PHASES:
            period = 0
        return 1 if period < 0 else period


def _qos_class(pod: Object) -> str:
    """Return the class that the resources earn; pods of one template earn the same."""
    spec = pod["spec"]
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    key = repr((spec.get("resources"), [container.get("resources") for container in containers]))
    return _classes.get(key) or _classes.keep(key, computed_qos_class(pod))


def _privileged(call: Call) -> bool:
    """Tell whether the cluster allows privileged containers."""
    return call.services.allow_privileged


_SOURCE_GATES = {"podCertificate": "PodCertificateRequest", "clusterTrustBundle": "ClusterTrustBundleProjection"}
"""The source of a projected volume → the gate that it needs."""


def _drop_gated_sources(call: Call, pod: Object, old: Object | None) -> None:
    """Drop sources of projected volumes while their gate is off, unless the pod had some before.

    Source: kubernetes pkg/api/pod/util.go (dropDisabledPodCertificateProjection and its like).
    """
    sources = _projected_sources(pod)
    for member, gate in _SOURCE_GATES.items():
        if not any(member in source for source in sources) or call.gates.get(gate):
            continue
        if old is None or not any(member in source for source in _projected_sources(old)):
            for source in sources:
                source.pop(member, None)


def _projected_sources(pod: Object) -> list[Object]:
    return [
        source
        for volume in pod["spec"].get("volumes") or ()
        for source in (volume.get("projected") or {}).get("sources") or ()
    ]


def _no_negative_grace(spec: Object) -> None:
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1


def _mirror_addresses(status: Object | None) -> None:
    """Keep the old single address equal to the first of the list."""
    if not status:
        return
    addresses = status.get("podIPs")
    if status.get("podIP") and not addresses:
        status["podIPs"] = [{"ip": status["podIP"]}]
    elif addresses and not status.get("podIP"):
        status["podIP"] = addresses[0].get("ip", "")


_KEPT_OF_NEW = frozenset({"resourceVersion", "managedFields"})


class EphemeralContainersStrategy(PodStrategy):
    """``/ephemeralcontainers``: debugging containers are added, never changed or taken away."""

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep everything but the ephemeral containers."""
        added = (obj.get("spec") or {}).get("ephemeralContainers")
        spec = {key: value for key, value in (old.get("spec") or {}).items() if key != "ephemeralContainers"}
        if added:
            spec["ephemeralContainers"] = added
        obj["spec"], obj["status"] = spec, old.get("status") or {}
        meta = {name: value for name, value in old["metadata"].items() if name not in _KEPT_OF_NEW}
        kept = {name: value for name, value in obj["metadata"].items() if name in _KEPT_OF_NEW}
        obj["metadata"] = meta | kept

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the new containers and that the old ones stayed."""
        return _validate_ephemeral_containers_update.call(obj, old, privileged=_privileged(call))


_RESIZED = ("resources", "resizePolicy")


class ResizeStrategy(PodStrategy):
    """``/resize``: cpu and memory of a running pod, container by container."""

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Take the resources of the pod and its containers from the request, keep everything else."""
        wanted = obj.get("spec") or {}
        spec = dict(old.get("spec") or {})
        for member in ("containers", "initContainers"):
            if spec.get(member):
                spec[member] = _resized(spec[member], wanted.get(member) or [])
        if wanted.get("resources") is None:
            spec.pop("resources", None)
        else:
            spec["resources"] = wanted["resources"]
        call.data["resize-wanted"] = wanted
        obj["spec"], obj["status"] = spec, old.get("status") or {}
        obj["metadata"] = {**old["metadata"], "resourceVersion": obj["metadata"].get("resourceVersion", "")}

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that nothing but cpu and memory is asked for, and that the class stays."""
        wanted = call.data.get("resize-wanted") or obj.get("spec") or {}
        return _validate_resize.call(obj, old, wanted, privileged=_privileged(call))


def _resized(containers: Sequence[Object], wanted: Sequence[Object]) -> list[Object]:
    by_name = {container.get("name"): container for container in wanted}
    merged = []
    for container in containers:
        resized = by_name.get(container.get("name"), container)
        merged.append({**container, **{key: resized[key] for key in _RESIZED if key in resized}})
    return merged
