"""What a driver is for those who call it; importing this costs nothing, reaching a driver does (`csi.client`).

Messages are mappings: original field names, enumeration values by name, defaults left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from hyperkube.hookspecs.volume import VolumeFailed

IDENTITY, CONTROLLER, NODE = "Identity", "Controller", "Node"
_UNCERTAIN = frozenset({"CANCELLED", "DEADLINE_EXCEEDED", "UNAVAILABLE", "RESOURCE_EXHAUSTED", "ABORTED"})


class CsiFailed(VolumeFailed):
    """A call failed, or the driver could not be reached; `code` is the name of gRPC's status code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def is_final(self) -> bool:
        """Whether the call has certainly left nothing behind, and nothing of it is under way.

        Source: kubernetes ``pkg/volume/csi/csi_client.go`` (isFinalError).
        """
        return self.code not in _UNCERTAIN


class CsiCalls(Protocol):
    """A driver that can be called."""

    def call(self, service: str, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method of one of the services.

        Raises:
            CsiFailed: it failed, or the driver could not be reached.
        """

    def capabilities(self, service: str) -> frozenset[str]:
        """Return the names of what the driver's `CONTROLLER` or `NODE` service can do.

        Raises:
            CsiFailed: it does not tell.
        """

    def close(self) -> None:
        """Call no more."""


def read_capabilities(answer: Mapping[str, Any]) -> frozenset[str]:
    """Return the names in an answer of ``NodeGetCapabilities`` or ``ControllerGetCapabilities``."""
    return frozenset(str((row.get("rpc") or {}).get("type", "")) for row in answer.get("capabilities") or ())
