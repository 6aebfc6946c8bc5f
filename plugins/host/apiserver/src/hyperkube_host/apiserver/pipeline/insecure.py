"""The insecure port of the 1.x line: every client that reaches it may do everything.

Source: kubernetes 1.5 ``pkg/genericapiserver/config.go`` (BuildInsecureHandlerChain).
"""

from __future__ import annotations

from dataclasses import replace

from hyperkube_host.apiserver.pipeline.handler import ApiHandler
from hyperkube_lib.serving.exchange import Answer, HttpRequest, Response

from hyperkube.machinery.users import AUTHENTICATED_GROUP, PRIVILEGED_GROUP, UserInfo

UNSECURED = UserInfo("system:unsecured", "", (PRIVILEGED_GROUP, AUTHENTICATED_GROUP))


class InsecureHandler:
    """A `Handler` that takes every client for the cluster's administrator."""

    def __init__(self, handler: ApiHandler) -> None:
        self._handler = handler

    def handle(self, request: HttpRequest) -> Answer:
        """Answer one request; never raises."""
        return self._handler.answer(replace(request, user=UNSECURED))

    def hot(self, _request: HttpRequest) -> Response | None:
        """Answer nothing at once: identities are not cached here."""
        return None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell whether the request may stay open beyond the request timeout."""
        return self._handler.is_long_running(request)
