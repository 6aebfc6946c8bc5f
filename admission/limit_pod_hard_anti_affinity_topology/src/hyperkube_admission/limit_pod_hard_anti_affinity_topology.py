"""LimitPodHardAntiAffinityTopology: a pod may keep others off its node, not off its zone.

Source: kubernetes ``plugin/pkg/admission/antiaffinity``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.machinery.errors import Forbidden
from hyperkube.plugin import Plugin

_ALLOWED = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class LimitPodHardAntiAffinityTopology(Plugin):
    """Refuses required pod anti-affinity over anything but single nodes."""

    may_block = False
    handles = frozenset({"pods"})

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Look at the topology key of each required term."""
        if not request.writes("pods"):
            return
        affinity = (spec_of(request.written()).get("affinity") or {}).get("podAntiAffinity") or {}
        for term in affinity.get(_REQUIRED) or ():
            key = term.get("topologyKey", "")
            if key != _ALLOWED:
                raise Forbidden(
                    "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey"
                    f" {key} but only key {_ALLOWED} is allowed"
                )
