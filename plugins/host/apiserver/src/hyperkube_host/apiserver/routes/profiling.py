"""What an operator asks a running API server: its flags under ``/configz``, its threads under ``/debug/pprof``.

These paths are not in the index at the root, as in Kubernetes.
"""

from __future__ import annotations

import logging
from urllib.parse import urlencode

from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_lib.serving.endpoints import ServerEndpoints
from hyperkube_lib.serving.exchange import Answer, HttpRequest
from hyperkube_lib.serving.wire import plain

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

PATHS = (
    "/configz",
    "/debug/pprof",
    "/debug/pprof/",
    "/debug/pprof/goroutine",
    "/debug/pprof/profile",
    "/debug/flags/v",
)
_SHOWN = (bool, int, float, str)
_SECRET = ("password", "token", "secret")


class Debugging:
    """Answers these paths by the endpoints that every server has."""

    def __init__(self, options: Options, clock: Clock, logger: logging.Logger) -> None:
        self._values = options.values
        self._endpoints = ServerEndpoints(
            logger=logger,
            clock=clock,
            configz={"apiserver": self._flags},
            profiling=options.features.profiling,
            set_verbosity=lambda level: logger.setLevel(logging.DEBUG if level >= 4 else logging.INFO),
        )

    def _flags(self) -> Object:
        """Return the flags that are plain values, without what could be a credential."""
        return {
            name: value
            for name, value in sorted(self._values.items())
            if isinstance(value, (*_SHOWN, list)) and not any(word in name for word in _SECRET)
        }

    def page(self, request: ApiRequest) -> Answer:
        """Answer a request to one of `PATHS`."""
        asked = HttpRequest(
            method=request.method,
            path=request.path,
            query_string=urlencode([(name, value) for name, values in request.query.items() for value in values]),
            headers=dict(request.headers),
            body=request.body,
            user=request.user,
        )
        return self._endpoints.answer(asked) or plain(404, "404 page not found")
