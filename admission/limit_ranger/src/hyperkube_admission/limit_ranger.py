"""LimitRanger: what a namespace gives pods that ask for nothing, and what it lets any of them ask for.

A LimitRange has defaults for containers, and bounds for containers, whole pods and claims.
Source: kubernetes ``plugin/pkg/admission/limitranger``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import container_resources, pod_limits, pod_requests, spec_of
from hyperkube.kinds.resource_lists import ResourceList, read
from hyperkube.kinds.resources import LIMIT_RANGES
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.quantity import Quantity
from hyperkube.plugin import Plugin, PluginContext

_ANNOTATION = "kubernetes.io/limit-ranger"
_KINDS = (("containers", "container"), ("initContainers", "init container"))


def _limits(limit_range: Object, kind: str) -> Iterator[Object]:
    """Yield the items of a LimitRange that are about `kind` (Container, Pod, PersistentVolumeClaim)."""
    for item in (limit_range.get("spec") or {}).get("limits") or ():
        if item.get("type") == kind:
            yield item


def apply_defaults(limit_range: Object, pod: Object) -> None:
    """Write the defaults for containers into a pod, and say so in an annotation."""
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for item in _limits(limit_range, "Container"):
        requests |= item.get("defaultRequest") or {}
        limits |= item.get("default") or {}
    notes = []
    for member, title in _KINDS:
        for container in spec_of(pod).get(member) or ():
            for which, defaults, word in (("requests", requests, "request"), ("limits", limits, "limit")):
                added = _fill(container, which, defaults)
                if added:
                    notes.append(f"{', '.join(added)} {word} for {title} {container.get('name', '')}")
    if notes:
        annotations = pod.setdefault("metadata", {}).setdefault("annotations", {})
        annotations[_ANNOTATION] = "LimitRanger plugin set: " + "; ".join(notes)


def _fill(container: Object, which: str, defaults: dict[str, str]) -> list[str]:
    """Add the missing defaults to a container's requests or limits; return their names."""
    resources = container.get("resources") or {}
    own = resources.get(which) or {}
    missing = sorted(name for name in defaults if name not in own)
    if missing:
        resources[which] = {**own, **{name: defaults[name] for name in missing}}
        container["resources"] = resources
    return missing


def pod_errors(limit_range: Object, pod: Object, /) -> list[str]:
    """Return what a pod asks for against the bounds of a LimitRange."""
    errors: list[str] = []
    for item in (limit_range.get("spec") or {}).get("limits") or ():
        kind = item.get("type")
        if kind == "Container":
            for member, _ in _KINDS:
                for container in spec_of(pod).get(member) or ():
                    requests = container_resources(container, "requests")
                    errors += _bound_errors(item, kind, requests, container_resources(container, "limits"))
        elif kind == "Pod":
            whole = (pod_requests(pod, with_overhead=False), pod_limits(pod, with_overhead=False))
            errors += _bound_errors(item, kind, *whole)
    return errors


def _bound_errors(item: Object, kind: str, requests: ResourceList, limits: ResourceList) -> Iterator[str]:
    for name, least in sorted(read(item.get("min")).items()):
        yield from _min_error(kind, name, least, requests.get(name), limits.get(name))
    for name, most in sorted(read(item.get("max")).items()):
        yield from _max_error(kind, name, most, requests.get(name), limits.get(name))
    for name, ratio in sorted(read(item.get("maxLimitRequestRatio")).items()):
        yield from _ratio_error(kind, name, ratio, requests.get(name), limits.get(name))


def _min_error(
    kind: str, name: str, least: Quantity, request: Quantity | None, limit: Quantity | None
) -> Iterator[str]:
    text = f"minimum {name} usage per {kind} is {least}"
    if request is None:
        yield f"{text}.  No request is specified"
    elif request < least:
        yield f"{text}, but request is {request}"
    elif limit is not None and limit < least:
        yield f"{text}, but limit is {limit}"


def _max_error(kind: str, name: str, most: Quantity, request: Quantity | None, limit: Quantity | None) -> Iterator[str]:
    text = f"maximum {name} usage per {kind} is {most}"
    if limit is None:
        yield f"{text}.  No limit is specified"
    elif limit > most:
        yield f"{text}, but limit is {limit}"
    elif request is not None and request > most:
        yield f"{text}, but request is {request}"


def _ratio_error(
    kind: str, name: str, most: Quantity, request: Quantity | None, limit: Quantity | None
) -> Iterator[str]:
    text = f"{name} max limit to request ratio per {kind} is {most}"
    if not request:
        yield f"{text}, but no request is specified or request is 0"
    elif not limit:
        yield f"{text}, but no limit is specified or limit is 0"
    elif limit.as_float() / request.as_float() > most.as_float():
        yield f"{text}, but provided ratio is {limit.as_float() / request.as_float():.6f}"


def claim_errors(limit_range: Object, claim: Object, /) -> list[str]:
    """Return what a claim asks for against the bounds of a LimitRange."""
    requests = read(((claim.get("spec") or {}).get("resources") or {}).get("requests"))
    errors: list[str] = []
    for item in _limits(limit_range, "PersistentVolumeClaim"):
        for word, bounds in (("minimum", item.get("min")), ("maximum", item.get("max"))):
            for name, bound in sorted(read(bounds).items()):
                text, request = f"{word} {name} usage per PersistentVolumeClaim is {bound}", requests.get(name)
                if request is None:
                    errors.append(f"{text}.  No request is specified")
                elif request < bound if word == "minimum" else request > bound:
                    errors.append(f"{text}, but request is {request}")
    return errors


class LimitRanger(Plugin):
    """Applies the LimitRanges of a namespace to the pods and claims that are written there."""

    may_block = False
    handles = frozenset({"pods", "pods/resize", "persistentvolumeclaims"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._ranges = self.informers.informer(LIMIT_RANGES)
        self.decided_by = (self._ranges,)

    def repeats(self, request: AdmissionRequest) -> bool:
        """Tell that a pod of the same template gets the same while the ranges stay."""
        return True

    def is_idle(self, request: AdmissionRequest) -> bool:
        """Tell whether it is neither a new or resized pod nor a claim."""
        if request.resource.resource != "pods":
            return False
        return not (request.creates("pods") or request.subresource == "resize")

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Give new pods the defaults."""
        if request.creates("pods"):
            for limit_range in self._of(request.namespace):
                apply_defaults(limit_range, request.written())

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Check new and resized pods, and claims."""
        check: Callable[[Object, Object], list[str]]
        if request.creates("pods") or request.updates("pods", subresource="resize"):
            check = pod_errors
        elif request.writes("persistentvolumeclaims"):
            check = claim_errors
        else:
            return
        for limit_range in self._of(request.namespace):
            errors = check(limit_range, request.written())
            if errors:
                raise Forbidden(aggregate(errors))

    def _of(self, namespace: str) -> list[Object]:
        return sorted(self._ranges.list(namespace), key=name_of)
