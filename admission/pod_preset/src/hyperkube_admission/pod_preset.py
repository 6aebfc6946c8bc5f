"""PodPreset: what every pod with certain labels should have, written down once instead of in each pod.

All presets of the namespace whose selector fits add their variables, sources of variables, volumes and mounts to all
containers. If one of them contradicts the pod or another preset, none is applied, and the pod goes its way as it was
written. The API group has to be served for it: ``--runtime-config=settings.k8s.io/v1alpha1=true``.
Source: kubernetes ``plugin/pkg/admission/podpreset/admission.go`` (1.6 to 1.19).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import is_mirror, spec_of
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    copy_object,
    labels_of,
    name_of,
    namespace_of,
    resource_version_of,
)
from hyperkube.plugin import Plugin, PluginContext

POD_PRESETS = GroupVersionResource("settings.k8s.io", "v1alpha1", "podpresets")
_PREFIX = "podpreset.admission.kubernetes.io"
_EXCLUDE = f"{_PREFIX}/exclude"
_VERSION = "settings.k8s.io/v1alpha1"
_SERVED_BY = frozenset({_VERSION, f"api/{_VERSION}", f"{_VERSION}/podpresets", "api/legacy"})


class PresetConflict(Exception):
    """A preset adds under a name something else than is there under it already."""


def merged(
    what: str, there: Sequence[Object], presets: Iterable[Object], part: str, keys: Sequence[str]
) -> Sequence[Object]:
    """Return what is there with what the presets add to it.

    Args:
        what: the word for it in messages.
        there: what the pod or container has.
        presets: what is added, in this order.
        part: the member of a preset's spec.
        keys: the members by which two are the same one; the first decides whether it is added.

    Raises:
        PresetConflict: two are the same one by a key, and differ.
    """
    known = {key: {str(entry.get(key)): entry for entry in there} for key in keys}
    found = list(there)
    for preset in presets:
        for entry in spec_of(preset).get(part) or ():
            if str(entry.get(keys[0])) not in known[keys[0]]:
                found.append(copy_object(entry))
            for key in keys:
                value = str(entry.get(key))
                other = known[key].setdefault(value, entry)
                if other != entry:
                    raise PresetConflict(f"merging {what} for {name_of(preset)} has a conflict on {value}")
    return found


def apply(pod: Object, presets: Sequence[Object]) -> None:
    """Add to a pod, in place, all that the presets say; all or nothing.

    Raises:
        PresetConflict: they contradict the pod or one another.
    """
    spec = spec_of(pod)
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    volumes = merged("volumes", spec.get("volumes") or (), presets, "volumes", ["name"])
    parts = [_of_container(container, presets) for container in containers]
    if volumes:
        spec["volumes"] = volumes
    for container, part in zip(containers, parts, strict=True):
        container.update({member: value for member, value in part.items() if value})
    annotations = pod.setdefault("metadata", {}).setdefault("annotations", {})
    for preset in presets:
        annotations[f"{_PREFIX}/podpreset-{name_of(preset)}"] = str(resource_version_of(preset))


def _of_container(container: Object, presets: Sequence[Object]) -> Object:
    there = list(container.get("envFrom") or ())
    added = [source for preset in presets for source in spec_of(preset).get("envFrom") or ()]
    return {
        "env": merged("env", container.get("env") or (), presets, "env", ["name"]),
        "volumeMounts": merged(
            "volume mounts", container.get("volumeMounts") or (), presets, "volumeMounts", ["name", "mountPath"]
        ),
        "envFrom": there + [copy_object(source) for source in added if source not in there],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Which API groups and versions are served besides the usual ones."""

    runtime_config: Mapping[str, str] = field(default_factory=dict)


class PodPreset(Plugin):
    """Adds to a new pod what the presets of its namespace say, unless it bears the annotation ``…/exclude: "true"``."""

    may_block = False
    handles = frozenset({"pods"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        if not _SERVED_BY.intersection(self.settings(Settings).runtime_config):
            raise UsageError(f"admission plugin PodPreset needs its API: --runtime-config={_VERSION}=true")
        self._presets = self.informers.informer(POD_PRESETS)

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Apply the presets that fit, in the order of their names."""
        if not request.creates("pods"):
            return
        pod = request.written()
        if is_mirror(pod) or annotations_of(pod).get(_EXCLUDE) == "true":
            return
        fitting = [preset for preset in self._presets.list() if self._fits(preset, pod, request.namespace)]
        if not fitting:
            return
        fitting.sort(key=name_of)
        try:
            apply(pod, fitting)
        except PresetConflict as conflict:
            names = ",".join(name_of(preset) for preset in fitting)
            about = pod.get("metadata", {}).get("generateName", "")
            self.context.logger.warning(
                "conflict occurred while applying podpresets: %s on pod: %s err: %s", names, about, conflict
            )

    @staticmethod
    def _fits(preset: Object, pod: Object, namespace: str) -> bool:
        return namespace_of(preset) == namespace and from_label_selector(spec_of(preset).get("selector") or {}).matches(
            labels_of(pod)
        )
