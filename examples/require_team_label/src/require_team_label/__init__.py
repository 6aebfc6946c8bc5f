"""RequireTeamLabel: a pod for which no team answers does not get in."""

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.objects import labels_of
from hyperkube.plugin import Plugin


class RequireTeamLabel(Plugin):
    """Refuses a written pod without the label ``team``."""

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Look at created and updated pods only; the server names the pod in front of the message."""
        if request.writes("pods") and not labels_of(request.written()).get("team"):
            raise Forbidden("label 'team' is missing: say which team answers for this pod")
