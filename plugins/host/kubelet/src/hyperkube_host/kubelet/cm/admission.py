"""Why a pod cannot have what it needs for itself alone.

Source: kubernetes ``pkg/kubelet/cm/admission/errors.go``.
"""

from __future__ import annotations

from hyperkube_host.kubelet.types.pod_status import Failure

from hyperkube.machinery.errors import HyperkubeError

UNEXPECTED = "UnexpectedAdmissionError"


class AllocationFailed(HyperkubeError):
    """A container cannot have its CPUs, memory or devices; `reason` is that of the pod's status."""

    def __init__(self, message: str, reason: str = UNEXPECTED) -> None:
        super().__init__(message)
        self.reason = reason

    def as_failure(self) -> Failure:
        """Return the reason and message for the pod's status."""
        if self.reason == UNEXPECTED:
            return Failure(UNEXPECTED, f"Allocate failed due to {self}, which is unexpected")
        return Failure(self.reason, str(self))
