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
    """A call failed, or the driver could not be reached.

    Attributes:
        code: the name of gRPC's status code.
        details: the driver's own words, without what gRPC puts before them.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.details = message.partition(" desc = ")[2] or message

    @property
    def is_final(self) -> bool:
        """Whether the call has certainly left nothing behind, and nothing of it is under way.

        Source: kubernetes ``pkg/volume/csi/csi_client.go`` (isFinalError).
        """
        return self.code not in _UNCERTAIN


def refused(code: str, details: str) -> CsiFailed:
    """Return what a driver raises that refuses a call: the same as it reads at the other end of a socket."""
    return CsiFailed(code, f"rpc error: code = {code.title().replace('_', '')} desc = {details}")


def volume_id_of(request: Mapping[str, Any]) -> str:
    """Return the id of the volume that a call is about.

    Raises:
        CsiFailed: it names none.
    """
    found = str(request.get("volume_id") or "")
    if not found:
        raise refused("INVALID_ARGUMENT", "which volume is meant is not said")
    return found


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


def answer(driver: object, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Call the Python method that is named as CSI's, in lower case with underscores (``create_volume``).

    Raises:
        CsiFailed: the driver refuses, or has no such method.
    """
    name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in method).lstrip("_")
    own = getattr(driver, name, None)
    if own is None:
        raise refused("UNIMPLEMENTED", f"unknown method {method}")
    return own(request) or {}
