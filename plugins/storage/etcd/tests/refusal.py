"""An error as grpc raises it, made without a server."""

import grpc


class Refusal(grpc.RpcError):
    """What a call ends with."""

    def __init__(self, code, details):
        super().__init__()
        self._code, self._details = code, details

    def code(self):
        """Return the status code."""
        return self._code

    def details(self):
        """Return the message."""
        return self._details
