"""AlwaysAdmit: no admission control; kept for the flags of old clusters, where it stood alone."""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.plugin import Plugin


class AlwaysAdmit(Plugin):
    """Lets everything pass as it is."""

    may_block = False

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Refuse nothing."""
