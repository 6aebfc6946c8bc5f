"""PodTolerationRestriction: a namespace gives its pods tolerations, and limits the ones they may have.

Annotations of the namespace hold both lists as JSON; without one, the cluster's settings count. Pods that are not best
effort also bear nodes that are short of memory.
Source: kubernetes ``plugin/pkg/admission/podtolerationrestriction``, ``pkg/util/tolerations``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from hyperkube.client.informer import cached_or_live
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.qos import BEST_EFFORT, computed_qos_class
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.kinds.taints import NO_EXECUTE, NO_SCHEDULE
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"
WHITELIST = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
_SHORT_OF_MEMORY = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": NO_SCHEDULE}


class Settings(Record):
    """The settings, as in Kubernetes' ``Configuration`` of ``podtolerationrestriction.admission.k8s.io``.

    Attributes:
        default: tolerations for pods of namespaces that give none.
        whitelist: tolerations that pods of namespaces without a list may have; empty means any.
    """

    default: Sequence[Any] = ()
    whitelist: Sequence[Any] = ()


def covers(wide: Object, narrow: Object) -> bool:
    """Tell whether whatever `narrow` tolerates, `wide` tolerates too."""
    if wide == narrow:
        return True
    if wide.get("key") and wide["key"] != narrow.get("key"):
        return False
    if wide.get("effect") and wide["effect"] != narrow.get("effect"):
        return False
    longest = wide.get("tolerationSeconds")
    if wide.get("effect") == NO_EXECUTE and longest is not None:
        seconds = narrow.get("tolerationSeconds")
        if seconds is None or seconds > longest:
            return False
    if wide.get("operator") == "Exists":
        return True
    return narrow.get("operator") != "Exists" and wide.get("value", "") == narrow.get("value", "")


def merged(first: Iterable[Object], second: Iterable[Object]) -> list[Object]:
    """Return both lists as one, without what another one covers."""
    kept: list[Object] = []
    for toleration in [*first, *second]:
        if any(covers(other, toleration) for other in kept):
            continue
        kept = [*(other for other in kept if not covers(toleration, other)), toleration]
    return kept


class PodTolerationRestriction(Plugin):
    """Adds tolerations to pods and refuses the ones that are not listed."""

    may_block = False
    handles = frozenset({"pods"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._settings = self.settings(Settings)
        self._namespaces = self.informers.informer(NAMESPACES)

    def _listed(self, name: str, annotation: str) -> list[Object] | None:
        """Return the list of a namespace's annotation, None without one."""
        try:
            namespace = cached_or_live(self._namespaces, self.client, name)
        except NotFound as error:
            raise Forbidden(f"namespace {name} does not exist") from error
        text = (metadata(namespace).get("annotations") or {}).get(annotation)
        if text is None:
            return None
        try:
            found = orjson.loads(text or "[]")
        except orjson.JSONDecodeError as error:
            raise Forbidden(f"annotation {annotation} of namespace {name} is no JSON") from error
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise Forbidden(f"annotation {annotation} of namespace {name} is no list of tolerations")
        return found

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Add the defaults to new pods, and to all but best-effort ones what they bear anyway."""
        if not request.writes("pods"):
            return
        pod = request.written()
        spec = spec_of(pod)
        tolerations = list(spec.get("tolerations") or ())
        if request.operation == "CREATE":
            defaults = self._listed(request.namespace, DEFAULTS)
            given = self._settings.default if defaults is None else defaults
            if given:
                tolerations = merged(given, tolerations)
        if computed_qos_class(pod) != BEST_EFFORT:
            tolerations = merged(tolerations, [_SHORT_OF_MEMORY])
        if tolerations:
            spec["tolerations"] = tolerations

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Refuse tolerations that no listed one covers."""
        if not request.writes("pods"):
            return
        tolerations = spec_of(request.written()).get("tolerations") or ()
        if not tolerations:
            return
        allowed, whose = self._listed(request.namespace, WHITELIST), "namespace"
        if allowed is None:
            allowed, whose = list(self._settings.whitelist), "cluster"
        if allowed and not all(any(covers(wide, toleration) for wide in allowed) for toleration in tolerations):
            raise Forbidden(
                "pod tolerations (possibly merged with namespace default tolerations) conflict with its"
                f" {whose} whitelist"
            )
