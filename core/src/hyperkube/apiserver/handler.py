"""The API server as the edge sees it: authenticates, limits, runs the pipeline, writes the answer.

Source of the order: kubernetes apiserver ``pkg/server/config.go`` (DefaultBuildHandlerChain).
"""

from __future__ import annotations

import logging
from random import Random

from hyperkube.apiserver.audit.auditor import Auditor, uri_of
from hyperkube.apiserver.authentication import Authentication
from hyperkube.apiserver.authorization import Authorization
from hyperkube.apiserver.calls import ApiRequest
from hyperkube.apiserver.encode import Encoder
from hyperkube.apiserver.health import text
from hyperkube.apiserver.hot_reads import HotReads
from hyperkube.apiserver.impersonation import impersonated
from hyperkube.apiserver.limits import InFlight
from hyperkube.apiserver.metrics import RequestMetrics
from hyperkube.apiserver.negotiation import PLAIN
from hyperkube.apiserver.pipeline import Pipeline
from hyperkube.apiserver.request_info import RequestInfo, parse
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, InternalError
from hyperkube.machinery.random import unique_id
from hyperkube.machinery.users import UserInfo
from hyperkube.serving.exchange import Answer, HttpRequest, Response, StreamResponse

_LONG_RUNNING_PARTS = frozenset({"log", "exec", "attach", "portforward", "proxy"})
NOBODY = UserInfo("")
"""The user of a request whose credentials were wrong."""


class ApiHandler:
    """The `Handler` of an API server."""

    def __init__(
        self,
        pipeline: Pipeline,
        encoder: Encoder,
        authentication: Authentication,
        authorization: Authorization,
        limits: InFlight,
        metrics: RequestMetrics,
        clock: Clock,
        logger: logging.Logger,
        *,
        local_store: bool,
        audit: Auditor | None = None,
    ) -> None:
        self.audit = audit
        self._pipeline = pipeline
        self._encoder = encoder
        self._authentication = authentication
        self._authorization = authorization
        self._limits = limits
        self._metrics = metrics
        self._clock = clock
        self._logger = logger
        self._random = Random()  # noqa: S311 -- tells requests apart, nothing more
        self._hot_reads: HotReads | None = None
        if local_store:  # else a read has to ask how far the store is
            self._hot_reads = HotReads(pipeline.services, encoder, authentication, authorization, metrics, clock, audit)

    def handle(self, request: HttpRequest) -> Answer:
        """Answer one request; never raises."""
        started = self._clock.monotonic()
        accept = request.headers.get("accept", "")
        audit_id = request.headers.get("audit-id") or unique_id(self._random)
        api: ApiRequest | None = None
        crashed = False
        try:
            user = request.user or self._authentication.authenticate(request)
            api = self._read(request, user, audit_id)
            if self.audit is not None:
                self.audit.begin(api, uri=uri_of(request), peer=request.peer[0])
            api.user = impersonated(request.headers, user, self._authorization)
            if api.trail is not None and api.user is not user:
                api.trail.acting_as = api.user
            answer = self._limited(api)
        except ApiError as error:
            answer = self._encoder.error(api, error, accept)
        except Exception as error:
            crashed = True
            self._logger.exception("%s %s failed", request.method, request.path)
            answer = self._encoder.error(api, InternalError.because(repr(error)), accept)
        self._finish(answer, audit_id, api)
        if self.audit is not None:
            self._record(self.audit, request, api, answer, audit_id, crashed=crashed)
        if api is not None:
            self._metrics.observe(api, answer, self._clock.monotonic() - started)
        return answer

    def _record(
        self,
        audit: Auditor,
        request: HttpRequest,
        api: ApiRequest | None,
        answer: Answer,
        audit_id: str,
        *,
        crashed: bool,
    ) -> None:
        """Record the answer of a request, also of one that nobody could be named for."""
        if api is None:
            audit.refused(request, self._read(request, NOBODY, audit_id), answer)
        elif api.trail is not None:
            audit.complete(api.trail, api, answer, crashed=crashed)

    def _read(self, request: HttpRequest, user: UserInfo, audit_id: str) -> ApiRequest:
        query = request.query() if request.query_string else {}
        info = parse(request.method, request.path, query)
        return ApiRequest(
            method=request.method,
            path=request.path,
            info=info,
            query=query,
            headers=request.headers,
            body=request.body,
            user=user,
            audit_id=audit_id,
        )

    def _limited(self, request: ApiRequest) -> Answer:
        self._pipeline.authorize(request)
        if not self._limits.enter(request):
            refused = text("Too many requests, please try again later.", 429)
            refused.headers.append(("Retry-After", "1"))
            return refused
        try:
            elsewhere = self._pipeline.elsewhere(request)
            if elsewhere is not None:
                return elsewhere
            wanted = PLAIN
            if request.info.is_resource and not self._is_streamed(request.info):
                wanted = self._encoder.check(request)
            return self._encoder.encode(request, self._pipeline.answer(request), wanted)
        finally:
            self._limits.leave(request)

    def _is_streamed(self, info: RequestInfo) -> bool:
        return info.subresource in _LONG_RUNNING_PARTS

    def _finish(self, answer: Answer, audit_id: str, request: ApiRequest | None) -> None:
        if not isinstance(answer, Response | StreamResponse):
            return
        answer.headers.append(("Audit-Id", audit_id))
        if request is not None:
            for warning in request.warnings:
                answer.headers.append(("Warning", f"299 - {quoted(warning)}"))

    def hot(self, request: HttpRequest) -> Response | None:
        """Answer a plain read from memory, or return None; never blocks."""
        return self._hot_reads.answer(request) if self._hot_reads is not None else None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell whether the request may stay open beyond the request timeout."""
        query = request.query() if request.query_string else {}
        info = parse(request.method, request.path, query)
        return info.verb in {"watch", "proxy"} or info.subresource in _LONG_RUNNING_PARTS


def quoted(warning: str) -> str:
    """Return a warning's text as a quoted string of a header; what headers cannot hold is left out."""
    clean = "".join(char if char.isprintable() else " " for char in warning)
    return '"' + clean.replace("\\", "\\\\").replace('"', '\\"') + '"'
