"""RuntimeClass: a pod gets the overhead and the scheduling rules of the runtime it asks for.

Source: kubernetes ``plugin/pkg/admission/runtimeclass``.
"""

from __future__ import annotations

from hyperkube.client.informer import cached_or_live
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.resource_lists import read, same
from hyperkube.kinds.resources import RUNTIME_CLASSES
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.plugin import Plugin, PluginContext


def _set_overhead(spec: Object, runtime_class: Object) -> None:
    fixed = (runtime_class.get("overhead") or {}).get("podFixed")
    if not fixed:
        return
    if spec.get("overhead") and not same(read(spec["overhead"]), read(fixed)):
        raise Forbidden("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    spec["overhead"] = dict(fixed)


def _set_scheduling(spec: Object, runtime_class: Object) -> None:
    scheduling = runtime_class.get("scheduling") or {}
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if key in selector and selector[key] != value:
            raise Forbidden(
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
        selector[key] = value
    if selector:
        spec["nodeSelector"] = selector
    tolerations = list(spec.get("tolerations") or ())
    for toleration in scheduling.get("tolerations") or ():
        if toleration not in tolerations:
            tolerations.append(copy_object(toleration))
    if tolerations:
        spec["tolerations"] = tolerations


class RuntimeClass(Plugin):
    """Writes a runtime class into the pods that name it, and refuses overhead that no class defines."""

    may_block = False
    handles = frozenset({"pods"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._classes = self.informers.informer(RUNTIME_CLASSES)
        self.decided_by = (self._classes,)

    def repeats(self, request: AdmissionRequest) -> bool:
        """Tell whether the class was known, so that it was not asked for."""
        name = spec_of(request.written()).get("runtimeClassName")
        return name is None or self._classes.get("", name) is not None

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Fill overhead, node selector and tolerations in."""
        if not request.creates("pods"):
            return
        runtime_class = self._class_of(request.written())
        if runtime_class is not None:
            spec = request.written()["spec"]
            _set_overhead(spec, runtime_class)
            _set_scheduling(spec, runtime_class)

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Insist on the overhead of the class, and on none without."""
        if not request.creates("pods"):
            return
        pod = request.written()
        runtime_class = self._class_of(pod)
        overhead = spec_of(pod).get("overhead")
        fixed = ((runtime_class or {}).get("overhead") or {}).get("podFixed")
        if fixed and not same(read(overhead), read(fixed)):
            raise Forbidden("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        if not fixed and overhead:
            raise Forbidden("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")

    def _class_of(self, pod: Object) -> Object | None:
        """Return the class that the pod names, from the server when the cache does not have it."""
        name = spec_of(pod).get("runtimeClassName")
        if name is None:
            return None
        try:
            return cached_or_live(self._classes, self.client, name)
        except NotFound as error:
            raise Forbidden(f'pod rejected: RuntimeClass "{name}" not found') from error
