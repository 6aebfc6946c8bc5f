"""DenyServiceExternalIPs: a service takes no traffic of an address by naming it.

External addresses that a service already has may stay, so that old services can still be changed.
Source: kubernetes ``plugin/pkg/admission/network/denyserviceexternalips``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin


def _addresses(service: Object | None) -> set[str]:
    return set(((service or {}).get("spec") or {}).get("externalIPs") or ())


class DenyServiceExternalIPs(Plugin):
    """Refuses external addresses that a service does not have yet."""

    may_block = False
    handles = frozenset({"services"})

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Compare with what the service had."""
        if request.writes("services") and not _addresses(request.object) <= _addresses(request.old_object):
            raise Forbidden("Use of external IPs is denied by admission control")
