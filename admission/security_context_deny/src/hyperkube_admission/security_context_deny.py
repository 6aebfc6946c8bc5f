"""SecurityContextDeny: pods may not choose users, groups or SELinux labels.

The policy of the 1.x line, before there were finer ones; `PodSecurity` is its successor.
Source: kubernetes 1.15 ``plugin/pkg/admission/securitycontext/scdeny``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.machinery.errors import Forbidden
from hyperkube.plugin import Plugin

_OF_PODS = (
    ("supplementalGroups", "SupplementalGroups"),
    ("seLinuxOptions", "SELinuxOptions"),
    ("runAsUser", "RunAsUser"),
    ("fsGroup", "FSGroup"),
)
_OF_CONTAINERS = (("seLinuxOptions", "SELinuxOptions"), ("runAsUser", "RunAsUser"))


class SecurityContextDeny(Plugin):
    """Refuses pods whose security contexts say who they run as."""

    may_block = False
    handles = frozenset({"pods"})

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Name the first field that is set."""
        if not request.writes("pods"):
            return
        spec = spec_of(request.written())
        context = spec.get("securityContext") or {}
        for member, title in _OF_PODS:
            if context.get(member) is not None:
                raise Forbidden(f"pod.Spec.SecurityContext.{title} is forbidden")
        for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]:
            own = container.get("securityContext") or {}
            for member, title in _OF_CONTAINERS:
                if own.get(member) is not None:
                    raise Forbidden(f"SecurityContext.{title} is forbidden")
