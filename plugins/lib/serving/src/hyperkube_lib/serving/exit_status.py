"""How a command's end is told on the error channel.

Version 4 and later of the channel protocols carry a ``Status``; those before carry a text, and nothing means success.
Source: kubernetes apimachinery ``pkg/util/remotecommand/constants.go``, the kubelet's ``remotecommand/exec.go``.
"""

from __future__ import annotations

import orjson
from hyperkube_lib.serving.exchange import Channels

from hyperkube.machinery.objects import Object

ERROR_CHANNEL = 3


def exit_status(code: int) -> Object:
    """Return the ``Status`` of a command that ended with an exit code."""
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: command terminated with exit code {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def failure_status(message: str) -> Object:
    """Return the ``Status`` of a command that could not be run or lost its streams."""
    text = f"Internal error occurred: {message}"
    return {
        "metadata": {},
        "status": "Failure",
        "message": text,
        "reason": "InternalError",
        "details": {"causes": [{"message": message}]},
        "code": 500,
    }


def write_status(channels: Channels, status: Object) -> None:
    """Send a status on the error channel in the way the client's protocol wants it.

    Raises:
        ConnectionError: the client is gone.
    """
    if channels.protocol.startswith(("v4.", "v5.")):
        channels.write(ERROR_CHANNEL, orjson.dumps(status))
    elif status.get("status") != "Success":
        channels.write(ERROR_CHANNEL, str(status.get("message", "")).encode())
