"""The failure of a call, on both sides of it."""

from __future__ import annotations

from hyperkube.machinery.errors import HyperkubeError


class RpcFailed(HyperkubeError):
    """A call failed; `code` is the name of gRPC's status code (``NOT_FOUND``), `details` the other side's text.

    Printed as Go prints it, because messages of Kubernetes quote that: ``rpc error: code = NotFound desc = …``.
    """

    def __init__(self, code: str, details: str) -> None:
        super().__init__(f"rpc error: code = {go_name(code)} desc = {details}")
        self.code = code
        self.details = details


def go_name(code: str) -> str:
    """Return the name that Go's gRPC prints for a status code: ``NOT_FOUND`` is ``NotFound``."""
    if code == "OK":
        return code
    if code == "CANCELLED":
        return "Canceled"
    return "".join(word.capitalize() for word in code.split("_"))
