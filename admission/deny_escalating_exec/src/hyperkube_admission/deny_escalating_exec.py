"""DenyEscalatingExec: who may exec into a pod shall not get the host's powers by it.

A policy of the 1.x line. Pods with the host's process or IPC namespace and privileged containers are closed.
Source: kubernetes 1.20 ``plugin/pkg/admission/exec/admission.go``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import containers, spec_of
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.plugin import Plugin


class DenyEscalatingExec(Plugin):
    """Refuses exec and attach into pods that have powers of the host."""

    may_block = False
    handles = frozenset({"pods/exec", "pods/attach"})

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Look at the pod that is meant."""
        if request.operation != "CONNECT" or request.resource.group_resource != PODS.group_resource:
            return
        if request.subresource not in {"exec", "attach"}:
            return
        pod = self.client.get(PODS, request.name, request.namespace)
        if spec_of(pod).get("hostPID"):
            raise Forbidden("cannot exec into or attach to a container using host pid")
        if spec_of(pod).get("hostIPC"):
            raise Forbidden("cannot exec into or attach to a container using host ipc")
        if any((container.get("securityContext") or {}).get("privileged") for container in containers(pod)):
            raise Forbidden("cannot exec into or attach to a privileged container")
