"""Priority: a pod's priority class becomes a number, and only a class gives one.

A pod may not set the number itself: else every pod would be most important.
Source: kubernetes ``plugin/pkg/admission/priority``.
"""

from __future__ import annotations

from hyperkube.client.informer import cached_or_live
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.resources import PRIORITY_CLASSES
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.objects import Object, name_of
from hyperkube.plugin import Plugin, PluginContext

SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_PREEMPTS = "PreemptLowerPriority"


class Priority(Plugin):
    """Resolves classes on create, keeps the numbers on update, and allows one default class only."""

    may_block = False
    handles = frozenset({"pods", "priorityclasses"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._classes = self.informers.informer(PRIORITY_CLASSES)
        self.decided_by = (self._classes,)

    def repeats(self, request: AdmissionRequest) -> bool:
        """Tell whether the class was known, so that it was not asked for."""
        name = spec_of(request.written()).get("priorityClassName")
        return not name or name in SYSTEM_CLASSES or self._classes.get("", name) is not None

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Write priority and preemption policy into the pod."""
        if request.creates("pods"):
            self._resolve(request.written())
        elif request.updates("pods") and request.old_object is not None:
            spec, old = request.written().setdefault("spec", {}), spec_of(request.old_object)
            for member in ("priority", "preemptionPolicy"):
                if spec.get(member) is None and old.get(member) is not None:
                    spec[member] = old[member]

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Refuse a second default class."""
        if not request.writes("priorityclasses", "scheduling.k8s.io"):
            return
        written = request.written()
        if not written.get("globalDefault"):
            return
        default = self._default()
        if default is not None and (request.operation == "CREATE" or name_of(default) != name_of(written)):
            raise Forbidden(
                f"PriorityClass {name_of(default)} is already marked as default. Only one default can exist"
            )

    def _resolve(self, pod: Object) -> None:
        spec = pod.setdefault("spec", {})
        name, priority, policy = self._class_of(spec.get("priorityClassName") or "")
        given = spec.get("priority")
        if given is not None and given != priority:
            raise Forbidden(
                f"the integer value of priority ({given}) must not be provided in pod spec; "
                f"priority admission controller computed {priority} from the given PriorityClass name"
            )
        given = spec.get("preemptionPolicy")
        if given is not None and given != policy:
            raise Forbidden(
                f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; "
                f"priority admission controller computed {policy} from the given PriorityClass name"
            )
        if name:
            spec["priorityClassName"] = name
        spec["priority"], spec["preemptionPolicy"] = priority, policy

    def _class_of(self, name: str) -> tuple[str, int, str]:
        """Return name, priority and preemption policy of a class; of the default one for an empty name."""
        if not name:
            default = self._default()
            if default is None:
                return "", 0, _PREEMPTS
            return name_of(default), int(default.get("value", 0)), default.get("preemptionPolicy") or _PREEMPTS
        if name in SYSTEM_CLASSES and self._classes.get("", name) is None:
            return name, SYSTEM_CLASSES[name], _PREEMPTS
        try:
            found = cached_or_live(self._classes, self.client, name)
        except NotFound as error:
            raise Forbidden(f"no PriorityClass with name {name} was found") from error
        return name, int(found.get("value", 0)), found.get("preemptionPolicy") or _PREEMPTS

    def _default(self) -> Object | None:
        """Return the default class; of several that a race let in, the least important one."""
        defaults = [known for known in self._classes.list() if known.get("globalDefault")]
        return min(defaults, key=lambda known: int(known.get("value", 0)), default=None)
