"""AlwaysDeny: refuses every write, to see what a client does then."""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import Forbidden
from hyperkube.plugin import Plugin


class AlwaysDeny(Plugin):
    """Lets nothing pass."""

    may_block = False

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Refuse."""
        raise Forbidden("admission control is denying all modifications")
